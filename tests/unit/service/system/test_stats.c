/* SPDX-License-Identifier: MIT */
/* The minutes of a host: which are written, which are missing, and what the list gives. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/metrics.h"
#include "blob/directory.h"
#include "domain/host_minute.h"
#include "domain/support.h"
#include "service/runtime/service.h"
#include "service/system/stats.h"
#include "support_database.h"

#define MINUTE INT64_C(60000)

/* A host of that name, on an empty table. */
static struct service host_of(struct arena *arena, const char *name)
{
    struct configuration *configuration = arena_alloc(arena, sizeof *configuration);
    configuration->metrics.host = name;
    configuration->testing.stats_seconds = 60;
    struct service service = {.arena = arena, .configuration = configuration, .database = support_database_new()};
    expect_ok(blob_directory_open(arena, harness_directory(arena), NULL, &service.blobs));
    return service;
}

static struct host_minutes rows_since(struct service *service, struct arena *arena, int64_t since, unsigned limit)
{
    struct host_minutes rows;
    expect_ok(host_minute_list(service->database, arena, since, limit, &rows));
    return rows;
}

static void a_whole_minute_is_written_with_its_differences(void **state)
{
    struct arena *arena = harness_arena(state);
    support_database_clear();
    struct service service = host_of(arena, "one");
    struct stats_runner runner = {.begun = false};
    int64_t start = clock_now() / MINUTE * MINUTE;
    metrics_add(METRIC_UPLOAD_FILES, 5);
    expect_ok(stats_step(&service, arena, &runner, start - 3 * MINUTE + 1000));
    metrics_add(METRIC_UPLOAD_FILES, 2);
    expect_ok(stats_step(&service, arena, &runner, start - 3 * MINUTE + 40000));
    assert_int_equal(rows_since(&service, arena, 0, 10).count, 0);
    expect_ok(stats_step(&service, arena, &runner, start - 2 * MINUTE + 20));
    struct host_minutes rows = rows_since(&service, arena, 0, 10);
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.items[0].host, "one");
    assert_int_equal(rows.items[0].uploads, 2);
    assert_int_equal(rows.items[0].p50, HOST_MINUTE_NONE);
    int64_t minute;
    assert_true(clock_parse(rows.items[0].minute, &minute));
    assert_int_equal(minute, start - 3 * MINUTE);
    /* Another runner of the host comes too late for this minute. */
    struct stats_runner second = {.begun = true, .minute = start - 3 * MINUTE};
    expect_ok(stats_step(&service, arena, &second, start - 2 * MINUTE + 30));
    assert_int_equal(rows_since(&service, arena, 0, 10).items[0].uploads, 2);
    database_free(&service.database);
}

static void a_minute_that_was_not_seen_at_both_ends_is_missing(void **state)
{
    struct arena *arena = harness_arena(state);
    support_database_clear();
    struct service service = host_of(arena, "one");
    struct stats_runner runner = {.begun = false};
    int64_t start = clock_now() / MINUTE * MINUTE - 20 * MINUTE;
    expect_ok(stats_step(&service, arena, &runner, start + 35000)); /* too late for the beginning */
    expect_ok(stats_step(&service, arena, &runner, start + MINUTE + 10));
    expect_ok(stats_step(&service, arena, &runner, start + 3 * MINUTE));         /* a minute was passed over */
    expect_ok(stats_step(&service, arena, &runner, start + 4 * MINUTE + 31000)); /* too late for the end */
    assert_int_equal(rows_since(&service, arena, 0, 10).count, 0);
    expect_ok(stats_step(&service, arena, &runner, start + 5 * MINUTE + 10));
    expect_ok(stats_step(&service, arena, &runner, start + 6 * MINUTE + 10));
    assert_int_equal(rows_since(&service, arena, 0, 10).count, 1);
    database_free(&service.database);
}

static void the_list_has_whole_minutes_of_all_hosts_and_old_ones_go(void **state)
{
    static const char *const hosts[] = {"a", "b", "c"};
    struct arena *arena = harness_arena(state);
    support_database_clear();
    struct service service = host_of(arena, "one");
    int64_t start = clock_now() / MINUTE * MINUTE;
    uint64_t count;
    for (int i = 0; i < 12; i++) {
        int64_t age = i < 3 ? INT64_C(49) * 3600000 : (4 - i / 3) * MINUTE;
        expect_ok(host_minute_insert(service.database, arena,
                                     &(struct host_minute){.host = hosts[i % 3], .time = start - age, .requests = i}));
    }
    assert_int_equal(rows_since(&service, arena, 0, 100).count, 12);
    assert_int_equal(rows_since(&service, arena, start - 2 * MINUTE, 100).count, 6);
    assert_int_equal(rows_since(&service, arena, start - 3 * MINUTE, 7).count, 6);
    assert_int_equal(rows_since(&service, arena, start - 3 * MINUTE, 2).count, 2);
    assert_string_equal(rows_since(&service, arena, start - MINUTE, 7).items[2].host, "c");
    expect_ok(host_minute_purge(service.database, arena, 2, &count));
    assert_int_equal(count, 2);
    expect_ok(host_minute_purge(service.database, arena, 2, &count));
    assert_int_equal(count, 1);
    assert_int_equal(rows_since(&service, arena, 0, 100).count, 9);
    database_free(&service.database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_whole_minute_is_written_with_its_differences),
    HARNESS_TEST(a_minute_that_was_not_seen_at_both_ends_is_missing),
    HARNESS_TEST(the_list_has_whole_minutes_of_all_hosts_and_old_ones_go),
};
HARNESS_MODULE(stats, cases)
