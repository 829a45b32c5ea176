/* SPDX-License-Identifier: MIT */
/* Which characters of a text can be seen. */
#include "codec/visible.h"

#include "harness.h"

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

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_text_is_seen_as_soon_as_one_character_is),
    HARNESS_TEST(what_nobody_sees_is_nothing),
};
HARNESS_MODULE(visible, cases)
