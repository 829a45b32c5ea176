/* SPDX-License-Identifier: MIT */
/* Networks: addresses and ranges, read and compared. */
#include "base/network.h"

#include "harness.h"

static void ranges_are_told_from_what_only_looks_so(void **state)
{
    (void)state;
    static const char *const good[] = {"127.0.0.1", "127.0.0.0/8",   "0.0.0.0/0", "10.1.2.3/32",          "::1",
                                       "::/0",      "2001:db8::/32", "::1/128",   "::ffff:192.0.2.0/120", "10.1.2.3/8"};
    static const char *const bad[] = {"",
                                      "/",
                                      "/8",
                                      "127.0.0.1/",
                                      "127.0.0.1/33",
                                      "127.0.0.1/-1",
                                      "127.0.0.1/08",
                                      "127.0.0.1/8x",
                                      "127.0.0",
                                      "127.1",
                                      "256.0.0.1",
                                      "localhost",
                                      "::1/129",
                                      ":::1",
                                      "[::1]",
                                      "fe80::1%lo",
                                      "127.0.0.1:80",
                                      " 127.0.0.1",
                                      "127.0.0.1/8/8",
                                      "0x7f.0.0.1",
                                      "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!network_is_range(good[i]))
            fail_msg("%s is no range", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (network_is_range(bad[i]))
            fail_msg("%s is a range", bad[i]);
}

static void an_address_lies_in_its_ranges_only(void **state)
{
    static const struct {
        const char *ranges;
        const char *address;
        bool inside;
    } rows[] = {
        {"127.0.0.0/8 ::1/128", "127.0.0.1", true},
        {"127.0.0.0/8 ::1/128", "127.255.0.9", true},
        {"127.0.0.0/8 ::1/128", "::1", true},
        {"127.0.0.0/8 ::1/128", "::2", false},
        {"127.0.0.0/8 ::1/128", "128.0.0.1", false},
        {"127.0.0.0/8 ::1/128", "::ffff:127.0.0.1", true},
        {"127.0.0.0/8 ::1/128", "::ffff:10.0.0.1", false},
        {"::ffff:10.0.0.0/104", "10.9.9.9", true},
        {"10.0.0.0/9", "10.127.255.255", true},
        {"10.0.0.0/9", "10.128.0.0", false},
        {"10.1.2.3/8", "10.200.0.1", true},
        {"192.0.2.7", "192.0.2.7", true},
        {"192.0.2.7", "192.0.2.6", false},
        {"0.0.0.0/0", "203.0.113.1", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"::/0", "2001:db8::1", true},
        {"2001:db8:8000::/33", "2001:db8:ffff::1", true},
        {"2001:db8:8000::/33", "2001:db8:7fff::1", false},
        {"nonsense 10.0.0.1", "10.0.0.1", true},
        {"nonsense", "10.0.0.1", false},
        {"", "127.0.0.1", false},
        {"0.0.0.0/0 ::/0", "", false},
        {"0.0.0.0/0 ::/0", "unix:", false},
        {"0.0.0.0/0 ::/0", "127.0.0.1 ", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text_list ranges = text_words(harness_arena(state), rows[i].ranges);
        if (network_list_has(&ranges, rows[i].address) != rows[i].inside)
            fail_msg("%s in %s", rows[i].address, rows[i].ranges);
    }
}

static void loopback_is_an_address_or_localhost(void **state)
{
    (void)state;
    static const char *const ours[] = {"localhost", "LOCALHOST", "127.0.0.1",         "127.255.1.2",
                                       "::1",       "[::1]",     "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]"};
    static const char *const others[] = {
        "127.evil.example",
        "127.0.0.1.evil.example",
        "127.",
        "127",
        "127.1",
        "localhost.evil.example",
        "localhost.",
        "xlocalhost",
        "128.0.0.1",
        "10.0.0.1",
        "::2",
        "[::2]",
        "[127.0.0.1]",
        "[::1",
        "::1]",
        "[]",
        "",
        "0.0.0.0",
        "::",
        "127.0.0.1 ",
        "0127.0.0.1",
        "[000000000000000000000000000000000000000000000000000000000000000000000000001]"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!network_is_loopback(ours[i]))
            fail_msg("%s is this machine", ours[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (network_is_loopback(others[i]))
            fail_msg("%s is not this machine", others[i]);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(loopback_is_an_address_or_localhost),
    HARNESS_TEST(ranges_are_told_from_what_only_looks_so),
    HARNESS_TEST(an_address_lies_in_its_ranges_only),
};
HARNESS_MODULE(network, cases)
