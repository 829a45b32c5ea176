/* SPDX-License-Identifier: MIT */
/* Clocks: times as text and back, deadlines, and the clocks of the system. */
#include "base/clock.h"

#include <time.h>

#include "harness.h"

static void times_are_written_as_rfc_3339(void **state)
{
    (void)state;
    static const struct {
        int64_t milliseconds;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1, "1970-01-01T00:00:00.001Z"},
        {951782399999, "2000-02-28T23:59:59.999Z"},
        {951782400000, "2000-02-29T00:00:00.000Z"},
        {1700000000123, "2023-11-14T22:13:20.123Z"},
        {4107542400000, "2100-03-01T00:00:00.000Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[CLOCK_TEXT_BYTES];
        clock_format(rows[i].milliseconds, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void dates_are_those_of_the_c_library(void **state)
{
    (void)state;
    /* Each day of 1970 to 2400, at an hour that changes from day to day. */
    for (int64_t day = 0; day < 157055; day++) {
        int64_t seconds = day * 86400 + day * 7919 % 86400;
        time_t time = (time_t)seconds;
        struct tm parts;
        char text[CLOCK_TEXT_BYTES], wanted[64];
        assert_non_null(gmtime_r(&time, &parts));
        assert_int_not_equal(strftime(wanted, sizeof wanted, "%Y-%m-%dT%H:%M:%S.042Z", &parts), 0);
        clock_format(seconds * 1000 + 42, text);
        assert_string_equal(text, wanted);
    }
}

static void times_are_read_as_rfc_3339(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t milliseconds; /* -1: not a time */
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-21T08:52:00.123Z", INT64_C(1795251120123)},
        {"2026-11-21T08:52:00.1239999Z", INT64_C(1795251120123)},
        {"2026-11-21T10:22:00.5+01:30", INT64_C(1795251120500)},
        {"2026-11-21t08:52:00z", INT64_C(1795251120000)},
        {"2028-02-29T00:00:00Z", INT64_C(1835395200000)},
        {"2016-12-31T23:59:60Z", INT64_C(1483228800000)},
        {"2026-02-29T00:00:00Z", -1},
        {"2026-13-01T00:00:00Z", -1},
        {"2026-00-01T00:00:00Z", -1},
        {"2026-11-21T24:00:00Z", -1},
        {"2026-11-21T08:60:00Z", -1},
        {"2026-11-21T08:52:61Z", -1},
        {"2026-11-21T08:52:00", -1},
        {"2026-11-21T08:52:00.Z", -1},
        {"2026-11-21T08:52:00.0123456789Z", -1},
        {"2026-11-21T08:52:00+1:30", -1},
        {"2026-11-21T08:52:00Zx", -1},
        {"2026-11-21", -1},
        {"", -1},
        {"now", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t milliseconds = -1;
        bool good = clock_parse(rows[i].text, &milliseconds);
        if (good != (rows[i].milliseconds >= 0) || milliseconds != rows[i].milliseconds)
            fail_msg("%s: %lld", rows[i].text, (long long)milliseconds);
    }
}

static void the_wall_clock_is_the_systems(void **state)
{
    (void)state;
    int64_t before = (int64_t)time(NULL);
    int64_t now = clock_now();
    int64_t after = (int64_t)time(NULL);
    /* time(2) may lag by a tick. */
    assert_true(now / 1000 >= before && now / 1000 <= after + 1);
}

static void the_monotonic_clock_counts_microseconds(void **state)
{
    (void)state;
    int64_t begun = clock_monotonic();
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = 20000000};
    (void)nanosleep(&pause, NULL);
    int64_t passed = clock_monotonic() - begun;
    assert_true(passed >= 20000 && passed < 5000000);
}

static void a_horizon_bounds_what_is_later_and_never(void **state)
{
    (void)state;
    assert_int_equal(clock_within_horizon(0), 0);
    assert_int_equal(clock_within_horizon(7), 7);
    clock_set_horizon(5);
    assert_int_equal(clock_within_horizon(0), 5);
    assert_int_equal(clock_within_horizon(7), 5);
    assert_int_equal(clock_within_horizon(3), 3);
    clock_set_horizon(0);
    assert_int_equal(clock_within_horizon(7), 7);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_horizon_bounds_what_is_later_and_never),
    HARNESS_TEST(times_are_written_as_rfc_3339),
    HARNESS_TEST(dates_are_those_of_the_c_library),
    HARNESS_TEST(times_are_read_as_rfc_3339),
    HARNESS_TEST(the_wall_clock_is_the_systems),
    HARNESS_TEST(the_monotonic_clock_counts_microseconds),
};
HARNESS_MODULE(clock, cases)
