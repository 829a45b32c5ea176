/* SPDX-License-Identifier: MIT */
/* Text: buffers, JSON escapes, UTF-8 and numbers. */
#include "base/text.h"

#include <string.h>

#include "base/arena.h"
#include "harness.h"

static void a_buffer_grows_and_stays_terminated(void **state)
{
    struct arena *arena = harness_arena(state);
    struct buffer buffer;
    buffer_init(&buffer, arena);
    assert_string_equal(buffer.bytes, "");
    for (int i = 0; i < 5000; i++) {
        buffer_add_format(&buffer, "%d,", i % 10);
        assert_int_equal(buffer.bytes[buffer.length], 0);
        assert_int_equal(buffer.length, 2 * (i + 1));
    }
    for (int i = 0; i < 5000; i++)
        assert_int_equal(buffer.bytes[2 * i], '0' + i % 10);
    buffer_init(&buffer, arena);
    buffer_add(&buffer, "a\0b", 3);
    buffer_add_char(&buffer, 'c');
    buffer_add_text(&buffer, "");
    assert_int_equal(buffer.length, 4);
    assert_memory_equal(buffer.bytes, "a\0bc", 5);
}

static void integers_are_written_as_printf_does(void **state)
{
    struct arena *arena = harness_arena(state);
    static const int64_t rows[] = {0, 1, -1, 9, 10, -10, 99, 100, 1234567890123, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer buffer;
        buffer_init(&buffer, arena);
        buffer_add_integer(&buffer, rows[i]);
        assert_string_equal(buffer.bytes, arena_format(arena, "%lld", (long long)rows[i]));
    }
}

/* Each byte at each place of a text of each length, and none beyond the length is looked at. */
static void a_plain_run_ends_at_the_first_byte_that_is_not_plain(void **state)
{
    (void)state;
    for (size_t length = 0; length <= 20; length++)
        for (size_t at = 0; at < length; at++)
            for (int byte = 0; byte < 256; byte++) {
                char text[21];
                memset(text, '"', sizeof text);
                memset(text, at % 2 == 0 ? ' ' : '~', length);
                text[at] = (char)byte;
                bool plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
                assert_int_equal(text_plain_length(text, length), plain ? length : at);
            }
}

/* Two buffers and other allocations take turns, so that a byte written beyond one is found in another. */
static void buffers_do_not_run_into_their_neighbours(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 9};
    for (int round = 0; round < 50; round++) {
        struct buffer buffers[2];
        size_t lengths[2] = {0, 0};
        buffer_init(&buffers[0], arena);
        buffer_init(&buffers[1], arena);
        for (int step = 0; step < 60; step++) {
            char chunk[200];
            size_t which = harness_random_below(&random, 2);
            size_t length = harness_random_below(&random, step % 3 == 0 ? 3 : sizeof chunk);
            memset(chunk, which == 0 ? 'a' : 'b', length);
            buffer_add(&buffers[which], chunk, length);
            lengths[which] += length;
            memset(arena_alloc(arena, 16), 'c', 16);
        }
        for (size_t which = 0; which < 2; which++) {
            assert_int_equal(buffers[which].length, lengths[which]);
            assert_int_equal(strspn(buffers[which].bytes, which == 0 ? "a" : "b"), lengths[which]);
            assert_int_equal(strlen(buffers[which].bytes), lengths[which]);
        }
        arena_reset(arena);
    }
    /* Every length round a capacity's end. */
    for (size_t length = 200; length < 1100; length++) {
        struct buffer buffer;
        buffer_init(&buffer, arena);
        for (size_t i = 0; i < length; i++)
            buffer_add_char(&buffer, 'a');
        memset(arena_alloc(arena, 16), 'c', 16);
        assert_int_equal(strlen(buffer.bytes), length);
        buffer_init(&buffer, arena);
        buffer_reserve(&buffer, length);
        char *reserved = buffer.bytes;
        char *chunk = arena_alloc(arena, length);
        memset(chunk, 'b', length);
        buffer_add(&buffer, chunk, length);
        assert_ptr_equal(buffer.bytes, reserved);
        assert_int_equal(strspn(buffer.bytes, "b"), length);
        arena_reset(arena);
    }
}

static const char *json(struct arena *arena, const char *bytes, size_t length)
{
    struct buffer buffer;
    buffer_init(&buffer, arena);
    buffer_add_json(&buffer, bytes, length);
    return buffer.bytes;
}

static void json_texts_are_escaped(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(json(arena, "", 0), "\"\"");
    assert_string_equal(json(arena, "plain text", 10), "\"plain text\"");
    assert_string_equal(json(arena, "\"\\/", 3), "\"\\\"\\\\/\"");
    assert_string_equal(json(arena, "\b\t\n\f\r", 5), "\"\\b\\t\\n\\f\\r\"");
    assert_string_equal(json(arena, "\v\x01\x1f\x7f", 4), "\"\\u000b\\u0001\\u001f\\u007f\"");
    assert_string_equal(json(arena, "a\0b", 3), "\"a\\u0000b\"");
    assert_string_equal(json(arena, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9),
                        "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    assert_string_equal(json(arena, "\xe2\x80\xa8\xe2\x80\xa9\xc2\x85", 8), "\"\\u2028\\u2029\\u0085\"");
    assert_string_equal(json(arena, "\xc2\x9f\xc2\xa0", 4), "\"\\u009f\xc2\xa0\"");
    struct buffer buffer;
    buffer_init(&buffer, arena);
    buffer_add_json_text(&buffer, NULL);
    buffer_add_json_text(&buffer, "x");
    assert_string_equal(buffer.bytes, "null\"x\"");
}

static void invalid_bytes_become_the_replacement_character(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(json(arena,
                             "a\xff"
                             "b",
                             3),
                        "\"a\xef\xbf\xbd"
                        "b\"");
    assert_string_equal(json(arena, "\xc3", 1), "\"\xef\xbf\xbd\"");
    assert_string_equal(json(arena, "\xc3\"", 2), "\"\xef\xbf\xbd\\\"\"");
    assert_string_equal(json(arena, "\xc0\x80", 2), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    assert_string_equal(json(arena, "\xed\xa0\x80", 3), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

/*
 * Whatever bytes go in, the result is one line of valid UTF-8 between quotes, with nothing of JSON's left
 * bare.
 */
static void any_bytes_give_one_valid_json_text(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 5};
    for (int round = 0; round < 3000; round++) {
        char bytes[40];
        size_t length = harness_random_below(&random, sizeof bytes);
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)harness_random_below(&random, round % 2 == 0 ? 256 : 48);
        const char *text = json(arena, bytes, length);
        size_t end = strlen(text) - 1;
        assert_true(text[0] == '"' && text[end] == '"' && end > 0);
        assert_true(utf8_valid(text, end + 1));
        for (size_t i = 1; i < end; i++) {
            assert_true((unsigned char)text[i] >= 0x20 && text[i] != '"');
            if (text[i] == '\\')
                i++;
        }
        if (round % 256 == 0)
            arena_reset(arena);
    }
}

/* Every code point, encoded by the rule of RFC 3629, is read back; every sequence outside it is refused. */
static void utf8_is_exactly_rfc_3629(void **state)
{
    (void)state;
    for (uint32_t code_point = 0; code_point < 0x110000; code_point++) {
        unsigned char bytes[4];
        size_t length = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
        static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
        uint32_t rest = code_point;
        for (size_t i = length - 1; i > 0; i--, rest >>= 6)
            bytes[i] = (unsigned char)(0x80 | (rest & 0x3f));
        bytes[0] = (unsigned char)(first[length] | rest);
        bool surrogate = code_point >= 0xd800 && code_point < 0xe000;
        uint32_t read = 0;
        size_t got = utf8_next(bytes, length, &read);
        if (got != (surrogate ? 0 : length) || (!surrogate && read != code_point))
            fail_msg("U+%04X: %zu, U+%04X", (unsigned)code_point, got, (unsigned)read);
        assert_int_equal(utf8_next(bytes, length - 1, NULL), 0);
    }
    static const char *const refused[] = {"\x80",
                                          "\xbf",
                                          "\xc0\x80",
                                          "\xc1\xbf",
                                          "\xc3(",
                                          "\xe0\x80\x80",
                                          "\xe0\x9f\xbf",
                                          "\xe2\x28\xa1",
                                          "\xe2\x82(",
                                          "\xf0\x80\x80\x80",
                                          "\xf0\x8f\xbf\xbf",
                                          "\xf4\x90\x80\x80",
                                          "\xf5\x80\x80\x80",
                                          "\xf8\x88\x80\x80\x80",
                                          "\xfe",
                                          "\xff"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_false(utf8_valid(refused[i], strlen(refused[i])));
    assert_true(utf8_valid("", 0));
    assert_true(utf8_valid("a\0b", 3));
    assert_int_equal(utf8_count("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), 4);
    assert_int_equal(utf8_count(""), 0);
}

static void letters_are_ascii_only(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(text_lowered(arena, "ABCxyz-\xc3\x84[@`{"), "abcxyz-\xc3\x84[@`{");
    assert_true(text_equal_ignoring_case("Content-Type", "cONTENT-tYPE"));
    assert_false(text_equal_ignoring_case("abc", "abcd"));
    assert_false(text_equal_ignoring_case("abcd", "abc"));
    assert_false(text_equal_ignoring_case("[", "{"));
    assert_false(text_equal_ignoring_case("@", "`"));
    for (int i = 0; i < 256; i++) {
        char character = (char)i;
        assert_int_equal(text_is_digit(character), i >= '0' && i <= '9');
        assert_int_equal(text_is_alpha(character), (i >= 'a' && i <= 'z') || (i >= 'A' && i <= 'Z'));
    }
}

static void integers_are_read_whole_or_not_at_all(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } read[] = {{"0", 0},
                {"7", 7},
                {"-7", -7},
                {"100", 100},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
        int64_t value = 1234;
        assert_true(text_to_integer(read[i].text, INT64_MIN, INT64_MAX, &value));
        assert_int_equal(value, read[i].value);
    }
    static const char *const refused[] = {"",
                                          "-",
                                          "+1",
                                          "01",
                                          "00",
                                          "-0",
                                          "-01",
                                          " 1",
                                          "1 ",
                                          "1\n",
                                          "1.0",
                                          "1e2",
                                          "0x1",
                                          "1a",
                                          "a",
                                          "--1",
                                          "9223372036854775808",
                                          "-9223372036854775809",
                                          "99999999999999999999999",
                                          "\xd9\xa1"};
    int64_t value = 1234;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (text_to_integer(refused[i], INT64_MIN, INT64_MAX, &value))
            fail_msg("read: %s", refused[i]);
    assert_true(text_to_integer("5", 5, 7, &value));
    assert_true(text_to_integer("7", 5, 7, &value));
    assert_false(text_to_integer("4", 5, 7, &value));
    assert_false(text_to_integer("8", 5, 7, &value));
    assert_int_equal(value, 7);
}

static void words_are_split_at_blanks(void **state)
{
    struct arena *arena = harness_arena(state);
    struct text_list list = text_words(arena, "  one\ttwo \r\n three ");
    assert_int_equal(list.count, 3);
    assert_string_equal(text_list_join(arena, &list, "|"), "one|two|three");
    assert_true(text_list_has(&list, "two"));
    assert_false(text_list_has(&list, "tw"));
    assert_false(text_list_has(&list, "Two"));
    assert_int_equal(text_words(arena, NULL).count, 0);
    assert_int_equal(text_words(arena, "").count, 0);
    assert_int_equal(text_words(arena, " \n").count, 0);
    list = text_words(arena, "a b c d e f g h");
    assert_int_equal(list.count, 8);
    list = (struct text_list){0};
    assert_string_equal(text_list_join(arena, &list, " "), "");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_buffer_grows_and_stays_terminated),
    HARNESS_TEST(integers_are_written_as_printf_does),
    HARNESS_TEST(a_plain_run_ends_at_the_first_byte_that_is_not_plain),
    HARNESS_TEST(buffers_do_not_run_into_their_neighbours),
    HARNESS_TEST(json_texts_are_escaped),
    HARNESS_TEST(invalid_bytes_become_the_replacement_character),
    HARNESS_TEST(any_bytes_give_one_valid_json_text),
    HARNESS_TEST(utf8_is_exactly_rfc_3629),
    HARNESS_TEST(letters_are_ascii_only),
    HARNESS_TEST(integers_are_read_whole_or_not_at_all),
    HARNESS_TEST(words_are_split_at_blanks),
};
HARNESS_MODULE(text, cases)
