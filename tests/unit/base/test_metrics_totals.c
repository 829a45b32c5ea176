/* SPDX-License-Identifier: MIT */
/* Totals of all operations: what is added up, differences, and quantiles of durations. */
#include "base/metrics_totals.h"

#include "base/host/process.h"
#include "base/metrics.h"
#include "base/support.h"
#include "harness.h"

static void totals_are_those_of_all_operations(void **state)
{
    support_open_host(support_new_path(state));
    struct metrics_totals totals;
    unsigned login = metrics_operation("login");
    unsigned other = metrics_operation("someOperation");
    metrics_totals_read(&totals);
    assert_int_equal(totals.requests, 0);
    static const int statuses[] = {200, 200, 401, 429, 400, 500, 503, 299};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        metrics_request(login, statuses[i], 400);
    metrics_request(other, 200, 20000);
    metrics_request(other, 500, 90000000);
    metrics_add(METRIC_UPLOAD_FILES, 3);
    metrics_add(METRIC_UPLOAD_BYTES, 1000);
    metrics_totals_read(&totals);
    assert_int_equal(totals.requests, 10);
    assert_int_equal(totals.errors, 3);
    assert_int_equal(totals.logins, 2);
    assert_int_equal(totals.login_failures, 2);
    assert_int_equal(totals.uploads, 3);
    assert_int_equal(totals.upload_bytes, 1000);
    assert_int_equal(totals.durations[0], 8);
    assert_int_equal(totals.durations[METRICS_TOTALS_BUCKETS - 1], 1);
    host_process_close();
}

static void a_number_that_fell_was_counted_anew(void **state)
{
    (void)state;
    const struct metrics_totals earlier = {.requests = 100, .uploads = 5, .durations = {90, 10}};
    const struct metrics_totals later = {.requests = 7, .uploads = 9, .durations = {3, 14}};
    struct metrics_totals difference;
    metrics_totals_subtract(&later, &earlier, &difference);
    assert_int_equal(difference.requests, 7);
    assert_int_equal(difference.uploads, 4);
    assert_int_equal(difference.durations[0], 3);
    assert_int_equal(difference.durations[1], 4);
}

static void quantiles_are_found_inside_the_buckets(void **state)
{
    (void)state;
    struct metrics_totals totals = {.requests = 0};
    assert_int_equal(metrics_totals_quantile(&totals, 500), -1);
    totals.durations[0] = 100; /* up to 500 microseconds */
    assert_int_equal(metrics_totals_quantile(&totals, 500), 250);
    assert_int_equal(metrics_totals_quantile(&totals, 990), 495);
    totals.durations[2] = 100; /* 1 to 2.5 milliseconds */
    assert_int_equal(metrics_totals_quantile(&totals, 500), 500);
    assert_int_equal(metrics_totals_quantile(&totals, 750), 1750);
    totals.durations[0] = totals.durations[2] = 0;
    totals.durations[METRICS_TOTALS_BUCKETS - 1] = 1;
    assert_int_equal(metrics_totals_quantile(&totals, 500), 10000000);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(totals_are_those_of_all_operations),
    HARNESS_TEST(a_number_that_fell_was_counted_anew),
    HARNESS_TEST(quantiles_are_found_inside_the_buckets),
};
HARNESS_MODULE(metrics_totals, cases)
