/* SPDX-License-Identifier: MIT */
/* Which characters of a text can be seen. */
#include "codec/visible.h"

#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "codec/random.h"

static void a_text_is_seen_as_soon_as_one_character_is(void **state)
{
    (void)state;
    static const char *const seen[] = {"a",
                                       " a",
                                       "\xe2\x80\x8b"
                                       "b",
                                       "\xc3\x89",
                                       "\xe5\x8c\x97\xe4\xba\xac",
                                       "\xf0\x9f\x98\x80",
                                       "-",
                                       "\xff"
                                       "a",
                                       "\xd8\xb9"};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        if (!visible_text(seen[i]))
            fail_msg("%zu", i);
}

/*
 * Blanks of every width, zero width, a filler, marks of direction, tags, a variation selector, Braille's blank, private
 * use.
 */
static void what_nobody_sees_is_nothing(void **state)
{
    (void)state;
    static const char *const unseen[] = {"",
                                         " ",
                                         "\t",
                                         "\x7f",
                                         "\xc2\xa0",
                                         "\xe2\x80\x83",
                                         "\xe3\x80\x80",
                                         "\xe2\x80\x8b",
                                         "\xe3\x85\xa4",
                                         "\xcd\x8f",
                                         "\xe1\xa0\x8e",
                                         "\xe2\x80\xae",
                                         "\xf3\xa0\x81\x81",
                                         "\xef\xb8\x8f",
                                         "\xe2\xa0\x80",
                                         "\xee\x80\x80",
                                         " \xe2\x80\x8b \xe3\x85\xa4",
                                         "\xff"};
    for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++)
        if (visible_text(unseen[i]))
            fail_msg("%zu", i);
}

static void a_copy_has_what_is_seen_and_is_cut_between_characters(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct {
        const char *text, *copy;
        size_t most;
    } rows[] = {
        {"Mozilla/5.0 (X11; Linux)", "Mozilla/5.0 (X11; Linux)", 200},
        {"  a  b  ", "a  b", 200},
        {"a\tb\x01\x7f"
         "c\xc2\x85",
         "abc", 200},
        {"a\xe2\x80\xae\xe2\x80\x8b\xef\xbb\xbf"
         "b\xf3\xa0\x81\x81",
         "ab", 200},
        {"\xff\xfe"
         "a\xe2\x82\xc3",
         "a", 200},
        {"\xc3\xa9\xc3\xa9\xc3\xa9", "\xc3\xa9\xc3\xa9", 2},
        {"\xf0\x9f\x98\x80\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", 1},
        {"ab cd", "ab", 3},
        {"", NULL, 200},
        {" \t ", NULL, 200},
        {"a", NULL, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *copy = visible_copy(arena, rows[i].text, rows[i].most);
        if ((copy == NULL) != (rows[i].copy == NULL) || (copy != NULL && strcmp(copy, rows[i].copy) != 0))
            fail_msg("%zu: \"%s\"", i, copy);
    }
}

/* Whatever comes in: what comes out is UTF-8, not too long, of characters that are seen, and itself its copy. */
static void a_copy_of_random_bytes_is_text(void **state)
{
    static const char *const pieces[] = {"a",    " ",        "\t",   "\xc3\xa9", "\xe2\x80\x8b", "\xf0\x9f\x98\x80",
                                         "\xff", "\xe2\x82", "\x01", "/5.0",     "\xc2\xa0",     "\xed\xa0\x80"};
    struct arena *arena = harness_arena(state);
    for (unsigned round = 0; round < 2000; round++) {
        struct buffer text;
        unsigned char random[64];
        random_bytes(random, sizeof random);
        buffer_init(&text, arena);
        for (size_t i = 0; i < sizeof random; i++)
            buffer_add_text(&text, pieces[random[i] % (sizeof pieces / sizeof *pieces)]);
        const char *copy = visible_copy(arena, text.bytes, 20);
        if (copy == NULL)
            continue;
        assert_true(utf8_valid(copy, strlen(copy)) && utf8_count(copy) <= 20 && visible_text(copy));
        assert_string_equal(visible_copy(arena, copy, 20), copy);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_text_is_seen_as_soon_as_one_character_is),
    HARNESS_TEST(what_nobody_sees_is_nothing),
    HARNESS_TEST(a_copy_has_what_is_seen_and_is_cut_between_characters),
    HARNESS_TEST(a_copy_of_random_bytes_is_text),
};
HARNESS_MODULE(visible, cases)
