/* SPDX-License-Identifier: MIT */
/* Ranges and conditions of downloads. */
#include "http/range.h"

#include <string.h>

#include "base/arena.h"
#include "harness.h"

#define NONE RANGE_NONE, 0, 0
#define BEYOND RANGE_UNSATISFIABLE, 0, 0
#define OK(first, last) RANGE_OK, first, last
#define HUGE_NUMBER "99999999999999999999999999"

struct range_example {
    const char *header;
    uint64_t size;
    enum range_result result;
    uint64_t first, last;
};

static const struct range_example ranges[] = {
    {NULL, 100, NONE},
    {"", 100, NONE},
    {"bytes=0-0", 100, OK(0, 0)},
    {"bytes=0-99", 100, OK(0, 99)},
    {"bytes=0-100", 100, OK(0, 99)},
    {"bytes=0-", 100, OK(0, 99)},
    {"bytes=99-", 100, OK(99, 99)},
    {"bytes=99-99", 100, OK(99, 99)},
    {"bytes=99-1000", 100, OK(99, 99)},
    {"bytes=50-60", 100, OK(50, 60)},
    {"bytes=100-", 100, BEYOND},
    {"bytes=100-100", 100, BEYOND},
    {"bytes=101-200", 100, BEYOND},
    {"bytes=-1", 100, OK(99, 99)},
    {"bytes=-99", 100, OK(1, 99)},
    {"bytes=-100", 100, OK(0, 99)},
    {"bytes=-101", 100, OK(0, 99)},
    {"bytes=-0", 100, BEYOND},
    {"bytes=-000", 100, BEYOND},
    {"bytes=007-008", 100, OK(7, 8)},
    {"bytes=0-" HUGE_NUMBER, 100, OK(0, 99)},
    {"bytes=" HUGE_NUMBER "-", 100, BEYOND},
    {"bytes=" HUGE_NUMBER "-" HUGE_NUMBER, 100, BEYOND},
    {"bytes=-" HUGE_NUMBER, 100, OK(0, 99)},
    {"bytes=18446744073709551615-", 100, BEYOND},
    {"bytes=18446744073709551616-", 100, BEYOND},
    {"bytes=0-18446744073709551615", 100, OK(0, 99)},
    {"bytes=5-4", 100, NONE},
    {"bytes=200-100", 100, NONE},
    {"bytes=0-0", 1, OK(0, 0)},
    {"bytes=1-1", 1, BEYOND},
    {"bytes=-1", 1, OK(0, 0)},
    {"bytes=0-", 0, BEYOND},
    {"bytes=0-0", 0, BEYOND},
    {"bytes=-1", 0, NONE},
    {"bytes=-0", 0, BEYOND},
    {"bytes=4294967295-4294967296", UINT64_C(5368709120), OK(UINT64_C(4294967295), UINT64_C(4294967296))},
    {"bytes=-1", UINT64_C(5368709120), OK(UINT64_C(5368709119), UINT64_C(5368709119))},
    {"BYTES=0-1", 100, OK(0, 1)},
    {"Bytes=0-1", 100, OK(0, 1)},
    {" bytes=0-1 ", 100, OK(0, 1)},
    {"bytes= 0-1", 100, OK(0, 1)},
    {"bytes=,0-1,", 100, OK(0, 1)},
    {"bytes=0-1 , ", 100, OK(0, 1)},
    /* more than one range: the whole file, whatever they are */
    {"bytes=0-1,3-4", 100, NONE},
    {"bytes=0-1,0-1", 100, NONE},
    {"bytes=0-99,0-99,0-99,0-99", 100, NONE},
    {"bytes=200-,300-", 100, NONE},
    {"bytes=0-0,-1", 100, NONE},
    {"bytes=0-1, 200-", 100, NONE},
    /* no syntax that we know */
    {"bytes", 100, NONE},
    {"bytes=", 100, NONE},
    {"bytes=,", 100, NONE},
    {"bytes=-", 100, NONE},
    {"bytes=--1", 100, NONE},
    {"bytes=1", 100, NONE},
    {"bytes=a-b", 100, NONE},
    {"bytes=0-b", 100, NONE},
    {"bytes=0-1x", 100, NONE},
    {"bytes=0-1;2-3", 100, NONE},
    {"bytes=0 - 1", 100, NONE},
    {"bytes=0- 1", 100, NONE},
    {"bytes=0x0-1", 100, NONE},
    {"bytes=+0-1", 100, NONE},
    {"bytes=0-+1", 100, NONE},
    {"bytes=-1-2", 100, NONE},
    {"bytes=0-1-2", 100, NONE},
    {"bytes =0-1", 100, NONE},
    {"bytes:0-1", 100, NONE},
    {"octets=0-1", 100, NONE},
    {"bytesx=0-1", 100, NONE},
    {"=0-1", 100, NONE},
    {"0-1", 100, NONE},
    {"bytes=1.5-2", 100, NONE},
    {"bytes=0-1,x", 100, NONE},
    {"bytes=\xd9\xa0-\xd9\xa1", 100, NONE},
};

static void ranges_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct range_example *example = &ranges[i];
        struct range range = {7, 7};
        enum range_result result = range_parse(example->header, example->size, &range);
        if (result != example->result)
            fail_msg("\"%s\" gives %d, not %d", example->header, (int)result, (int)example->result);
        if (result != RANGE_OK)
            continue;
        if (range.first != example->first || range.last != example->last)
            fail_msg("\"%s\" gives %llu-%llu", example->header, (unsigned long long)range.first,
                     (unsigned long long)range.last);
    }
}

static void a_range_never_leaves_the_file(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 9110};
    size_t within = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t size = harness_random_below(&random, 20);
        unsigned first = harness_random_below(&random, 25);
        unsigned last = harness_random_below(&random, 25);
        const char *forms[] = {
            arena_format(arena, "bytes=%u-%u", first, last),
            arena_format(arena, "bytes=%u-", first),
            arena_format(arena, "bytes=-%u", last),
        };
        uint32_t form = harness_random_below(&random, 3);
        struct range range;
        bool wanted = form == 2 ? last > 0 && size > 0 : first < size && (form == 1 || first <= last);
        assert_int_equal(range_parse(forms[form], size, &range) == RANGE_OK, wanted);
        if (!wanted)
            continue;
        within++;
        uint64_t end = size - 1;
        assert_int_equal(range.first, form != 2 ? first : last > size ? 0 : size - last);
        assert_int_equal(range.last, form == 0 && last < end ? last : end);
    }
    assert_true(within > 5000);
}

static void plain_ranges_are_told_from_those_that_servers_read_in_ways_of_their_own(void **state)
{
    static const char *const plain[] = {"bytes=0-0",
                                        "bytes=5-",
                                        "bytes=-5",
                                        "BYTES=10-20",
                                        "bytes=9-1",
                                        "bytes=999999999999999999-999999999999999999",
                                        "bytes=-000000000000000005"};
    static const char *const others[] = {"",
                                         "bytes",
                                         "bytes=",
                                         "bytes=-",
                                         "bytes=5",
                                         "bytes=0-1,",
                                         "bytes=,0-1",
                                         "bytes=0-1 ",
                                         " bytes=0-1",
                                         "bytes= 0-1",
                                         "bytes=0 -1",
                                         "bytes=0-1,3-4",
                                         "bytes=0--1",
                                         "bytes=a-b",
                                         "lines=0-1",
                                         "bytes=0-1000000000000000000",
                                         "bytes=-0000000000000000005"};
    (void)state;
    assert_false(range_is_plain(NULL));
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!range_is_plain(plain[i]))
            fail_msg("'%s' is plain", plain[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (range_is_plain(others[i]))
            fail_msg("'%s' is not plain", others[i]);
}

static void content_range_is_written(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(range_format(arena, &(struct range){0, 9}, 100), "bytes 0-9/100");
    assert_string_equal(
        range_format(arena, &(struct range){UINT64_C(4294967296), UINT64_C(5368709119)}, UINT64_C(5368709120)),
        "bytes 4294967296-5368709119/5368709120");
    assert_string_equal(range_format(arena, NULL, 100), "bytes */100");
}

#define TAG "\"abc\""

#define WHOLE RANGE_ANSWER_WHOLE, 0, 0
#define PART(first, last) RANGE_ANSWER_PART, first, last
#define SAME RANGE_ANSWER_NOT_MODIFIED, 0, 0
#define FAILED RANGE_ANSWER_FAILED, 0, 0
#define OUTSIDE RANGE_ANSWER_UNSATISFIABLE, 0, 0

struct condition_example {
    bool get;
    struct range_conditions conditions; /* If-Match, If-None-Match, If-Range, Range */
    enum range_answer answer;
    uint64_t first, last;
};

static const struct condition_example conditions[] = {
    {true, {NULL, NULL, NULL, NULL}, WHOLE},
    {false, {NULL, NULL, NULL, NULL}, WHOLE},
    {true, {NULL, NULL, NULL, "bytes=0-1"}, PART(0, 1)},
    {false, {NULL, NULL, NULL, "bytes=0-1"}, WHOLE},
    {true, {NULL, NULL, NULL, "bytes=100-"}, OUTSIDE},
    {false, {NULL, NULL, NULL, "bytes=100-"}, WHOLE},
    {true, {NULL, NULL, NULL, "bytes=0-1,3-4"}, WHOLE},
    {true, {NULL, NULL, NULL, "lines=1"}, WHOLE},
    /* If-Match: strong */
    {true, {"\"abc\"", NULL, NULL, NULL}, WHOLE},
    {false, {"\"abc\"", NULL, NULL, NULL}, WHOLE},
    {true, {"*", NULL, NULL, NULL}, WHOLE},
    {true, {" * ", NULL, NULL, NULL}, WHOLE},
    {true, {"\"x\"", NULL, NULL, NULL}, FAILED},
    {false, {"\"x\"", NULL, NULL, NULL}, FAILED},
    {true, {"W/\"abc\"", NULL, NULL, NULL}, FAILED},
    {true, {"\"x\", \"abc\"", NULL, NULL, NULL}, WHOLE},
    {true, {"\"x\",\"abc\",\"y\"", NULL, NULL, NULL}, WHOLE},
    {true, {",, \"abc\" ,", NULL, NULL, NULL}, WHOLE},
    {true, {"\"x\" , W/\"abc\"", NULL, NULL, NULL}, FAILED},
    {true, {"", NULL, NULL, NULL}, FAILED},
    {true, {",", NULL, NULL, NULL}, FAILED},
    {true, {"abc", NULL, NULL, NULL}, FAILED},
    {true, {"\"abc", NULL, NULL, NULL}, FAILED},
    {true, {"\"abc\" junk", NULL, NULL, NULL}, FAILED},
    {true, {"\"abc\"\"x\"", NULL, NULL, NULL}, FAILED},
    {true, {"* junk", NULL, NULL, NULL}, FAILED},
    {true, {"*, \"abc\"", NULL, NULL, NULL}, FAILED},
    {true, {"\"ABC\"", NULL, NULL, NULL}, FAILED},
    {true, {"\"abcd\"", NULL, NULL, NULL}, FAILED},
    {true, {"\"ab\"", NULL, NULL, NULL}, FAILED},
    {true, {"\"a b\"", NULL, NULL, NULL}, FAILED},
    /* If-None-Match: weak */
    {true, {NULL, "\"abc\"", NULL, NULL}, SAME},
    {false, {NULL, "\"abc\"", NULL, NULL}, SAME},
    {true, {NULL, "W/\"abc\"", NULL, NULL}, SAME},
    {true, {NULL, "*", NULL, NULL}, SAME},
    {true, {NULL, "\"x\"", NULL, NULL}, WHOLE},
    {true, {NULL, "\"x\", W/\"abc\"", NULL, NULL}, SAME},
    {true, {NULL, "\"x\",\"y\",\"abc\"", NULL, NULL}, SAME},
    {true, {NULL, "w/\"abc\"", NULL, NULL}, WHOLE},
    {true, {NULL, "W/abc", NULL, NULL}, WHOLE},
    {true, {NULL, "abc", NULL, NULL}, WHOLE},
    {true, {NULL, "", NULL, NULL}, WHOLE},
    {true, {NULL, "\"abc\", junk", NULL, NULL}, WHOLE},
    {true, {NULL, "\"\"", NULL, NULL}, WHOLE},
    /* If-Range: strong, one tag, a date never */
    {true, {NULL, NULL, "\"abc\"", "bytes=0-1"}, PART(0, 1)},
    {true, {NULL, NULL, " \"abc\" ", "bytes=0-1"}, PART(0, 1)},
    {true, {NULL, NULL, "\"x\"", "bytes=0-1"}, WHOLE},
    {true, {NULL, NULL, "W/\"abc\"", "bytes=0-1"}, WHOLE},
    {true, {NULL, NULL, "*", "bytes=0-1"}, WHOLE},
    {true, {NULL, NULL, "\"x\", \"abc\"", "bytes=0-1"}, WHOLE},
    {true, {NULL, NULL, "\"abc\", \"x\"", "bytes=0-1"}, WHOLE},
    {true, {NULL, NULL, "Sat, 29 Oct 1994 19:43:31 GMT", "bytes=0-1"}, WHOLE},
    {true, {NULL, NULL, "", "bytes=0-1"}, WHOLE},
    {true, {NULL, NULL, "\"x\"", "bytes=100-"}, WHOLE},
    {true, {NULL, NULL, "\"abc\"", "bytes=100-"}, OUTSIDE},
    {true, {NULL, NULL, "\"abc\"", NULL}, WHOLE},
    {true, {NULL, NULL, "\"x\"", NULL}, WHOLE},
    {false, {NULL, NULL, "\"abc\"", "bytes=0-1"}, WHOLE},
    /* in this order */
    {true, {"\"x\"", "\"abc\"", NULL, "bytes=0-1"}, FAILED},
    {true, {"\"abc\"", "\"abc\"", NULL, "bytes=0-1"}, SAME},
    {true, {"\"abc\"", "\"x\"", NULL, "bytes=0-1"}, PART(0, 1)},
    {true, {"\"abc\"", "\"x\"", "\"abc\"", "bytes=-1"}, PART(99, 99)},
    {true, {"\"abc\"", "\"x\"", "\"x\"", "bytes=-1"}, WHOLE},
    {true, {NULL, "\"abc\"", "\"x\"", "bytes=100-"}, SAME},
    {true, {"\"x\"", NULL, "\"abc\"", "bytes=100-"}, FAILED},
};

static void conditions_are_checked_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        const struct condition_example *example = &conditions[i];
        struct range range = {0, 0};
        enum range_answer answer = range_decide(&example->conditions, example->get, TAG, 100, &range);
        if (answer != example->answer || range.first != example->first || range.last != example->last)
            fail_msg("condition %zu gives %d (%llu-%llu), not %d", i, (int)answer, (unsigned long long)range.first,
                     (unsigned long long)range.last, (int)example->answer);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(ranges_are_read),
    HARNESS_TEST(a_range_never_leaves_the_file),
    HARNESS_TEST(plain_ranges_are_told_from_those_that_servers_read_in_ways_of_their_own),
    HARNESS_TEST(content_range_is_written),
    HARNESS_TEST(conditions_are_checked_in_order),
};
HARNESS_MODULE(range, cases)
