/* SPDX-License-Identifier: MIT */
/* Metrics: how processes count operations, durations and times. */
#include "base/metrics.h"

#include "config.h"

#include "base/arena.h"
#include "base/host/memory.h"
#include "base/host/process.h"
#include "base/limits.h"
#include "base/support.h"
#include "harness.h"

static void without_a_file_a_process_counts_for_itself(void **state)
{
    (void)state;
    host_process_close();
    uint64_t before = metrics_value(METRIC_UPLOAD_FILES);
    host_process_join(HOST_PROCESS_WORKER, "worker");
    host_process_busy();
    metrics_add(METRIC_UPLOAD_FILES, 2);
    metrics_request(metrics_operation("someOperation"), 200, 3);
    assert_int_equal(metrics_value(METRIC_UPLOAD_FILES), before + 2);
    assert_false(host_memory_is_shared());
    assert_true(support_metrics_have(state, "gatehouse_metrics_shared 0"));
    host_process_close();
}

static void more_operations_than_rows_are_counted_as_other(void **state)
{
    const char *path = support_new_path(state);
    struct arena *arena = harness_arena(state);
    support_open_host(path);
    assert_int_equal(metrics_operation("aNameThatIsFarLongerThanARowOfTheFileTakes"), 0);
    for (int i = 1; i < LIMIT_METRICS_OPERATIONS; i++)
        assert_int_equal(metrics_operation(arena_format(arena, "operation%d", i)), i);
    assert_int_equal(metrics_operation("operation1"), 1);
    assert_int_equal(metrics_operation("oneTooMany"), 0);
    metrics_request(0, 200, 1);
    metrics_request(100000, 200, 1);
    metrics_request(1, 299, 1);
    assert_true(support_metrics_have(state, "gatehouse_requests_total{operation=\"other\",status=\"200\"} 2"));
    assert_true(support_metrics_have(state, "gatehouse_requests_total{operation=\"operation1\",status=\"other\"} 1"));
    host_process_close();
}

static void durations_fall_into_their_buckets(void **state)
{
    const char *path = support_new_path(state);
    support_open_host(path);
    static const int64_t durations[] = {-5, 0, 500, 501, 10000000, 10000001, INT64_C(90000000)};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++)
        metrics_observe(METRIC_DATABASE_ROUND_TRIP, durations[i]);
    static const char *const lines[] = {
        "# TYPE gatehouse_database_round_trip_duration_seconds histogram",
        "gatehouse_database_round_trip_duration_seconds_bucket{le=\"0.0005\"} 3",
        "gatehouse_database_round_trip_duration_seconds_bucket{le=\"0.001\"} 4",
        "gatehouse_database_round_trip_duration_seconds_bucket{le=\"10\"} 5",
        "gatehouse_database_round_trip_duration_seconds_bucket{le=\"+Inf\"} 7",
        "gatehouse_database_round_trip_duration_seconds_sum 110.001002",
        "gatehouse_database_round_trip_duration_seconds_count 7",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!support_metrics_have(state, lines[i]))
            fail_msg("%s is not told in\n%s", lines[i], support_metrics(state));
    host_process_close();
}

static void times_of_day_are_told_as_seconds_once_they_are_known(void **state)
{
    const char *path = support_new_path(state);
    support_open_host(path);
    assert_false(support_metrics_have(state, "gatehouse_outbox_seen_timestamp_seconds 0"));
    assert_true(support_metrics_have(state, "# TYPE gatehouse_outbox_seen_timestamp_seconds gauge"));
    metrics_set(METRIC_OUTBOX_SEEN, 1700000000009);
    assert_true(support_metrics_have(state, "gatehouse_outbox_seen_timestamp_seconds 1700000000.009"));
    assert_true(support_metrics_have(state, "gatehouse_build_info{version=\"" PACKAGE_VERSION "\"} 1"));
    host_process_close();
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(without_a_file_a_process_counts_for_itself),
    HARNESS_TEST(more_operations_than_rows_are_counted_as_other),
    HARNESS_TEST(durations_fall_into_their_buckets),
    HARNESS_TEST(times_of_day_are_told_as_seconds_once_they_are_known),
};
HARNESS_MODULE(metrics, cases)
