/* SPDX-License-Identifier: MIT */
/* Language tags: which are well-formed, and how they are spelt. */
#include "harness.h"

#include <string.h>

#include "codec/language_tag.h"

static void each_is_spelt_as_usual(void **state)
{
    static const char *const pairs[][2] = {
        {"en", "en"},
        {"EN", "en"},
        {"de-ch", "de-CH"},
        {"DE-at", "de-AT"},
        {"zh-hANT-tw", "zh-Hant-TW"},
        {"es-419", "es-419"},
        {"gsw", "gsw"},
        {"zh-yue-HK", "zh-yue-HK"},
        {"SL-ROZAJ-BISKE", "sl-rozaj-biske"},
        {"de-CH-1901", "de-CH-1901"},
        {"ca-valencia", "ca-valencia"},
        {"sr-latn-RS-ekavsk", "sr-Latn-RS-ekavsk"},
        {"de-DE-U-CO-Phonebk", "de-DE-u-co-phonebk"},
        {"en-a-bbb-b-ccc", "en-a-bbb-b-ccc"},
        {"en-u-hc-h12", "en-u-hc-h12"},
        {"de-DE-u-co-phonebk-nu-arabext-t-aaa", "de-DE-u-co-phonebk-nu-arabext-t-aaa"},
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(language_tag_canonical(arena, pairs[i][0]), pairs[i][1]);
}

static void what_is_no_tag_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "-",
        "e",
        "en-",
        "-en",
        "en--GB",
        "en_GB",
        "en GB",
        " en",
        "en ",
        "english",
        "i-klingon",
        "x-mine",
        "en-x-mine",
        "en-GB-x-a",
        "12",
        "e1",
        "en-G",
        "en-GB-US",
        "en-Latn-Cyrl",
        "en-GB-Latn",
        "zh-yue-gan-HK",
        "de-1901-1901",
        "de-rozaj-ROZAJ",
        "en-u",
        "en-u-",
        "en-u-a",
        "en-u-co-u-nu",
        "en-a-bbb-a-ccc",
        "en-verylongsub",
        "en-\xc3\xa9",
        "de.UTF-8",
        "C",
        "*",
        "en,de",
        "en;q=1",
        "de-DE-u-co-phonebk-nu-arabext-t-aaab",
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(language_tag_canonical(arena, texts[i]));
}

static void its_length_is_bounded(void **state)
{
    char text[4096];
    struct arena *arena = harness_arena(state);
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_null(language_tag_canonical(arena, text));
    for (size_t i = 2; i < sizeof text - 1; i += 3)
        text[i] = '-';
    assert_null(language_tag_canonical(arena, text));
    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = i % 2 == 0 ? 'a' : '-';
    text[LANGUAGE_TAG_BYTES] = '\0';
    assert_null(language_tag_canonical(arena, text));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(each_is_spelt_as_usual),
    HARNESS_TEST(what_is_no_tag_is_refused),
    HARNESS_TEST(its_length_is_bounded),
};
HARNESS_MODULE(language_tag, cases)
