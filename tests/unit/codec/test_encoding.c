/* SPDX-License-Identifier: MIT */
/* Base64, base64url, hexadecimal and percent-encoding: each value has one spelling. */
#include "codec/encoding.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "harness.h"

static const char url_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* RFC 4648, section 10. */
static void base64_follows_the_rfc(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const pairs[][3] = {
        {"", "", ""},
        {"f", "Zg==", "Zg"},
        {"fo", "Zm8=", "Zm8"},
        {"foo", "Zm9v", "Zm9v"},
        {"foob", "Zm9vYg==", "Zm9vYg"},
        {"fooba", "Zm9vYmE=", "Zm9vYmE"},
        {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_string_equal(base64_encode(arena, pairs[i][0], strlen(pairs[i][0])), pairs[i][1]);
        assert_string_equal(base64url_encode(arena, pairs[i][0], strlen(pairs[i][0])), pairs[i][2]);
    }
    assert_string_equal(base64_encode(arena, "\xfb\xff\xfe", 3), "+//+");
    assert_string_equal(base64url_encode(arena, "\xfb\xff\xfe", 3), "-__-");
    assert_string_equal(base64url_encode(arena, NULL, 0), "");
}

static void every_length_comes_back_whole(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 1};
    for (size_t length = 0; length < 300; length++) {
        unsigned char *bytes = calloc(1, length + (length == 0)); /* exactly as many, for the sanitizer */
        for (size_t i = 0; i < length; i++)
            bytes[i] = (unsigned char)harness_random_next(&random);
        const char *text = base64url_encode(arena, bytes, length);
        unsigned char *decoded;
        size_t count;
        assert_true(base64url_decode(arena, text, strlen(text), &decoded, &count));
        assert_int_equal(count, length);
        assert_memory_equal(decoded, bytes, length);
        assert_int_equal(decoded[count], 0);
        const char *hex = hex_encode(arena, bytes, length);
        assert_true(hex_decode(arena, hex, strlen(hex), &decoded, &count));
        assert_int_equal(count, length);
        assert_memory_equal(decoded, bytes, length);
        assert_int_equal(strlen(percent_encode(arena, bytes, length)) >= length, 1);
        free(bytes);
    }
}

/* Of all texts of one to three characters exactly as many pass as there are values: one value, one spelling. */
static void only_the_canonical_spelling_is_read(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= .\n\x80";
    static const size_t values[] = {0, 0, 256, 65536};
    size_t letter_count = sizeof letters; /* with the NUL as a character */
    size_t text_count = 1;
    for (size_t length = 1; length <= 3; length++) {
        size_t passed = 0;
        text_count *= letter_count;
        for (size_t n = 0; n < text_count; n++) {
            const char text[3] = {letters[n % letter_count], letters[n / letter_count % letter_count],
                                  letters[n / letter_count / letter_count % letter_count]};
            unsigned char *bytes;
            size_t count;
            if (base64url_decode(arena, text, length, &bytes, &count)) {
                const char *again = base64url_encode(arena, bytes, count);
                assert_int_equal(strlen(again), length);
                assert_memory_equal(again, text, length);
                passed++;
            }
            if (n % 4096 == 0)
                arena_reset(arena);
        }
        assert_int_equal(passed, values[length]);
    }
}

static void random_texts_pass_only_when_canonical(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 2};
    size_t passed = 0;
    for (unsigned round = 0; round < 20000; round++) {
        char text[24];
        size_t length = harness_random_below(&random, sizeof text);
        for (size_t i = 0; i < length; i++)
            text[i] = url_letters[harness_random_below(&random, 64)];
        unsigned char *bytes;
        size_t count;
        bool good = base64url_decode(arena, text, length, &bytes, &count);
        assert_true(length % 4 != 1 || !good);
        if (good) {
            const char *again = base64url_encode(arena, bytes, count);
            assert_int_equal(strlen(again), length);
            assert_memory_equal(again, text, length);
            passed++;
        } else {
            assert_int_not_equal(length % 4, 0);
        }
        if (round % 256 == 0)
            arena_reset(arena);
    }
    assert_true(passed > 5000);
}

static void junk_in_base64url_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const refused[] = {
        "A",     "Zg==",  "Zg=",   "Zm8=",   "Zm9v=", "Zm9vYg==", "Zh",    "Zm9",        "+//+",
        "Zm 9v", "Zm9v ", " Zm9v", "Zm\n9v", "Zm9v!", "Zm9v.",    "Zm9vA", "\xc3\xa4Zm", "%5Am9"};
    unsigned char *bytes = NULL;
    size_t length = 77;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (base64url_decode(arena, refused[i], strlen(refused[i]), &bytes, &length))
            fail_msg("passed: %s", refused[i]);
    assert_false(base64url_decode(arena, "Zm\0v", 4, &bytes, &length));
    assert_null(bytes);
    assert_int_equal(length, 77);
}

static void hexadecimal_takes_digits_only(void **state)
{
    struct arena *arena = harness_arena(state);
    unsigned char *bytes;
    size_t length;
    assert_string_equal(hex_encode(arena, "\x00\xab\xff", 3), "00abff");
    assert_true(hex_decode(arena, "00ABfF", 6, &bytes, &length));
    assert_memory_equal(bytes, "\x00\xab\xff", 3);
    static const char *const refused[] = {"0", "0g", "0x", " 0", "00 ", "-1", "0:", "/0", "@0", "`0", "G0"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (hex_decode(arena, refused[i], strlen(refused[i]), &bytes, &length))
            fail_msg("passed: %s", refused[i]);
}

static void percent_encoding_leaves_unreserved_characters(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(percent_encode(arena, "aZ09-._~", 8), "aZ09-._~");
    assert_string_equal(percent_encode(arena, "a b/\xc3\xa4'\"%\0", 10), "a%20b%2F%C3%A4%27%22%25%00");
    assert_string_equal(percent_encode(arena, NULL, 0), "");
    /* Whatever valid text goes in comes back. */
    for (unsigned byte = 1; byte < 0x80; byte++) {
        char character = (char)byte;
        const char *text = percent_encode(arena, &character, 1);
        char *decoded;
        assert_true(percent_decode(arena, text, strlen(text), true, &decoded, NULL));
        assert_int_equal(decoded[0], character);
    }
}

static void percent_decoding_is_strict(void **state)
{
    struct arena *arena = harness_arena(state);
    char *text = NULL;
    size_t length = 0;
    assert_true(percent_decode(arena, "a%20b+c%2f%C3%A4", 16, true, &text, &length));
    assert_string_equal(text, "a b c/\xc3\xa4");
    assert_int_equal(length, 8);
    assert_true(percent_decode(arena, "a+b", 3, false, &text, NULL));
    assert_string_equal(text, "a+b");
    assert_true(percent_decode(arena, "", 0, true, &text, &length));
    assert_string_equal(text, "");
    /* Decoded once, never twice. */
    assert_true(percent_decode(arena, "%2541", 5, true, &text, &length));
    assert_string_equal(text, "%41");
    static const char *const refused[] = {"%",         "%2",     "a%",           "%zz",  "%2g",    "%g2",
                                          "%%41",      "%00",    "a%00b",        "%c3",  "%C3%28", "%ff",
                                          "%ed%a0%80", "%c0%af", "%f4%90%80%80", "\xff", "% 20",   "%+1"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (percent_decode(arena, refused[i], strlen(refused[i]), true, &text, &length))
            fail_msg("passed: %s", refused[i]);
    assert_false(percent_decode(arena, "a\0b", 3, true, &text, &length));
    /* The digits must be within the given length. */
    assert_false(percent_decode(arena, "%41", 2, true, &text, &length));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(base64_follows_the_rfc),
    HARNESS_TEST(every_length_comes_back_whole),
    HARNESS_TEST(only_the_canonical_spelling_is_read),
    HARNESS_TEST(random_texts_pass_only_when_canonical),
    HARNESS_TEST(junk_in_base64url_is_refused),
    HARNESS_TEST(hexadecimal_takes_digits_only),
    HARNESS_TEST(percent_encoding_leaves_unreserved_characters),
    HARNESS_TEST(percent_decoding_is_strict),
};
HARNESS_MODULE(encoding, cases)
