/* SPDX-License-Identifier: MIT */
/* Ids: their form, their order, and their text. */
#include "base/id.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "harness.h"

static void a_new_id_is_a_version_7_uuid_of_now(void **state)
{
    (void)state;
    int64_t before = clock_now();
    struct id id = id_new();
    int64_t after = clock_now();
    int64_t time = 0;
    for (int i = 0; i < 6; i++)
        time = time << 8 | id.bytes[i];
    assert_true(time >= before && time <= after);
    assert_int_equal(id.bytes[6] >> 4, 7);
    assert_int_equal(id.bytes[8] >> 6, 2);
    assert_false(id_is_none(id));
}

static void ids_do_not_repeat(void **state)
{
    struct arena *arena = harness_arena(state);
    enum { COUNT = 3000 };
    struct id *ids = arena_array(arena, COUNT, sizeof *ids);
    unsigned char changed[ID_BYTES] = {0};
    for (size_t i = 0; i < COUNT; i++) {
        ids[i] = id_new();
        for (size_t j = 0; j < i; j++)
            assert_false(id_equal(ids[i], ids[j]));
        for (size_t j = 0; j < ID_BYTES; j++)
            changed[j] |= (unsigned char)(ids[i].bytes[j] ^ ids[0].bytes[j]);
    }
    /* All 62 random bits move. */
    assert_int_equal(changed[8], 0x3f);
    for (size_t j = 9; j < ID_BYTES; j++)
        assert_int_equal(changed[j], 0xff);
}

static void ids_of_one_process_ascend(void **state)
{
    (void)state;
    struct id before = id_new();
    for (int i = 0; i < 100000; i++) {
        struct id id = id_new();
        assert_true(memcmp(before.bytes, id.bytes, ID_BYTES) < 0);
        assert_int_equal(id.bytes[6] >> 4, 7);
        before = id;
    }
}

/* The other process: for each byte that comes, an id. */
static void answer_with_ids(int requests, int replies)
{
    char byte;
    while (read(requests, &byte, 1) == 1) {
        struct id id = id_new();
        if (write(replies, id.bytes, ID_BYTES) != ID_BYTES)
            break;
    }
    _exit(0);
}

/* Workers that serve one request after the other: the next one begins within the same millisecond. */
static void ids_of_two_processes_ascend(void **state)
{
    int requests[2], replies[2], status;
    (void)state;
    /* Whoever has made many at once has them ahead of time: the 100,000 of the test before by 25 ms at most. */
    clock_sleep(50000);
    assert_int_equal(pipe(requests) + pipe(replies), 0);
    pid_t other = fork();
    assert_true(other >= 0);
    (void)close(other == 0 ? requests[1] : requests[0]);
    if (other == 0)
        answer_with_ids(requests[0], replies[1]);
    (void)close(replies[1]);
    for (int i = 0; i < 2000; i++) {
        struct id before = id_new(), between;
        clock_sleep(2);
        assert_int_equal(write(requests[1], "", 1), 1);
        assert_int_equal(read(replies[0], between.bytes, ID_BYTES), ID_BYTES);
        clock_sleep(2);
        struct id after = id_new();
        assert_true(memcmp(before.bytes, between.bytes, ID_BYTES) < 0);
        assert_true(memcmp(between.bytes, after.bytes, ID_BYTES) < 0);
    }
    (void)(close(requests[1]) + close(replies[0]));
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
}

static void a_text_and_its_id_are_the_same(void **state)
{
    struct arena *arena = harness_arena(state);
    for (int i = 0; i < 200; i++) {
        struct id id = id_new();
        char text[ID_TEXT_BYTES];
        id_format(id, text);
        assert_int_equal(strlen(text), 36);
        assert_string_equal(text, id_text(arena, id));
        struct id again;
        assert_true(id_parse(text, &again));
        assert_true(id_equal(id, again));
    }
    struct id id;
    assert_true(id_parse("01890a5d-ac96-774b-bcce-b302099a8057", &id));
    static const uint8_t bytes[ID_BYTES] = {0x01, 0x89, 0x0a, 0x5d, 0xac, 0x96, 0x77, 0x4b,
                                            0xbc, 0xce, 0xb3, 0x02, 0x09, 0x9a, 0x80, 0x57};
    assert_memory_equal(id.bytes, bytes, ID_BYTES);
    char hex[ID_HEX_BYTES];
    id_hex(id, hex);
    assert_string_equal(hex, "01890a5dac96774bbcceb302099a8057");
}

static void only_the_canonical_text_is_read(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "",
        "-",
        "01890a5d",
        "01890A5D-AC96-774B-BCCE-B302099A8057",
        "01890a5d-ac96-774b-bcce-b302099a805",
        "01890a5d-ac96-774b-bcce-b302099a80570",
        "01890a5d-ac96-774b-bcce-b302099a805g",
        "01890a5d-ac96-774b-bcce-b302099a805 ",
        " 01890a5d-ac96-774b-bcce-b302099a8057",
        "01890a5d-ac96-774b-bcce-b302099a8057 ",
        "01890a5d-ac96-774b-bcce-b302099a8057\n",
        "{01890a5d-ac96-774b-bcce-b302099a8057}",
        "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057",
        "01890a5dac96774bbcceb302099a8057",
        "01890a5-dac96-774b-bcce-b302099a8057",
        "01890a5d_ac96_774b_bcce_b302099a8057",
        "01890a5d--c96-774b-bcce-b302099a8057",
        "01890a5d-ac96-774b-bcce--302099a8057",
        ("\xef\xbc\x90"
         "1890a5d-ac96-774b-bcce-b302099a8057"),
    };
    struct id id;
    memset(&id, 0x5a, sizeof id);
    struct id untouched = id;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (id_parse(refused[i], &id))
            fail_msg("read: %s", refused[i]);
    assert_true(id_equal(id, untouched));
}

static void an_id_tells_its_time_and_follows_the_first_of_it(void **state)
{
    (void)state;
    static const int64_t end = (INT64_C(1) << 48) - 1;
    static const int64_t times[] = {0, 1, 255, 256, 0x01a207ec0663, end};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_int_equal(id_time(id_first_at(times[i])), times[i]);
    assert_int_equal(id_time(id_first_at(INT64_MIN)), 0);
    assert_int_equal(id_time(id_first_at(INT64_MAX)), end);
    for (int i = 0; i < 1000; i++) {
        struct id id = id_new();
        struct id first = id_first_at(id_time(id));
        struct id next = id_first_at(id_time(id) + 1);
        assert_true(memcmp(first.bytes, id.bytes, ID_BYTES) < 0 && memcmp(id.bytes, next.bytes, ID_BYTES) < 0);
    }
}

static void none_is_all_zero(void **state)
{
    (void)state;
    struct id none = {{0}};
    assert_true(id_is_none(none));
    for (size_t i = 0; i < ID_BYTES; i++) {
        struct id other = none;
        other.bytes[i] = 1;
        assert_false(id_is_none(other));
        assert_false(id_equal(none, other));
    }
}

static void a_given_id_is_never_none(void **state)
{
    (void)state;
    struct id id;
    assert_true(id_parse_given("00000000-0000-0000-0000-000000000000", &id));
    for (size_t i = 0; i < ID_BYTES; i++)
        assert_int_equal(id.bytes[i], 0xff);
    struct id other;
    assert_true(id_parse_given("01890a5d-ac96-774b-bcce-b302099a8057", &id));
    assert_true(id_parse("01890a5d-ac96-774b-bcce-b302099a8057", &other));
    assert_true(id_equal(id, other));
    assert_false(id_parse_given("0", &id));
    assert_true(id_equal(id, other));
}

/* Last: the ids that follow have another time. */
static void ids_follow_a_clock_that_hosts_share(void **state)
{
    (void)state;
    enum { APART = 30000 };
    (void)id_new();
    int64_t before = clock_now();
    id_follow_clock((before - APART) * 1000);
    struct id behind = id_new();
    assert_true(id_time(behind) >= before - APART && id_time(behind) <= clock_now() - APART + 1);
    id_follow_clock((before + APART) * 1000);
    struct id ahead = id_new();
    assert_true(id_time(ahead) >= before + APART && id_time(ahead) <= clock_now() + APART + 1);
    /* The same clock, told a little less exactly: ids still ascend. */
    id_follow_clock((id_time(ahead) - 500) * 1000);
    struct id next = id_new();
    assert_true(memcmp(ahead.bytes, next.bytes, ID_BYTES) < 0);
    /* Another server's clock, which is behind: ids have its time. */
    id_follow_clock((before - APART) * 1000);
    struct id back = id_new();
    assert_true(id_time(back) >= before - APART && id_time(back) <= clock_now() - APART + 1);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_new_id_is_a_version_7_uuid_of_now),
    HARNESS_TEST(ids_do_not_repeat),
    HARNESS_TEST(ids_of_one_process_ascend),
    HARNESS_TEST(ids_of_two_processes_ascend),
    HARNESS_TEST(a_text_and_its_id_are_the_same),
    HARNESS_TEST(only_the_canonical_text_is_read),
    HARNESS_TEST(none_is_all_zero),
    HARNESS_TEST(a_given_id_is_never_none),
    HARNESS_TEST(an_id_tells_its_time_and_follows_the_first_of_it),
    HARNESS_TEST(ids_follow_a_clock_that_hosts_share),
};
HARNESS_MODULE(id, cases)
