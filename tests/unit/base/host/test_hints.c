/* SPDX-License-Identifier: MIT */
/* Hints and the change version that the processes of a host share. */
#include "base/host/hints.h"

#include "base/host/process.h"
#include "base/support.h"
#include "harness.h"

static void the_newest_version_never_goes_back(void **state)
{
    const char *path = support_new_path(state);
    support_open_host(path);
    assert_int_equal(host_hints_change_version(), 0);
    static const uint64_t versions[] = {3, 2, 10, 9, 0, UINT64_MAX, 11};
    uint64_t newest = 0;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        newest = versions[i] > newest ? versions[i] : newest;
        host_hints_publish_change_version(versions[i]);
        assert_true(host_hints_change_version() == newest);
    }
    host_process_close();
}

static void a_hint_of_one_process_is_seen_by_the_others(void **state)
{
    const char *path = support_new_path(state);
    const uint64_t value = UINT64_C(0x123456789abcdef0);
    assert_true(host_hints_has(value)); /* nobody to ask */
    support_open_host(path);
    assert_false(host_hints_has(value));
    host_hints_put(value);
    host_process_close();
    support_open_host(path);
    assert_true(host_hints_has(value));
    assert_false(host_hints_has(value ^ UINT64_C(1) << 40));
    assert_false(host_hints_has(value ^ 1));
    host_hints_put(value ^ UINT64_C(1) << 40); /* takes its place */
    assert_false(host_hints_has(value));
    host_process_close();
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_newest_version_never_goes_back),
    HARNESS_TEST(a_hint_of_one_process_is_seen_by_the_others),
};
HARNESS_MODULE(host_hints, cases)
