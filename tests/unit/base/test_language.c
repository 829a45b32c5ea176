/* SPDX-License-Identifier: MIT */
/* Languages: which texts are tags, and what is served to whom. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/language.h"

static void a_tag_is_a_language_and_maybe_a_region_or_script(void **state)
{
    (void)state;
    static const char *const good[] = {"en", "de", "gsw", "pt-BR", "zh-Hant", "es-419"};
    static const char *const bad[] = {"",       "e",     "EN",    "engl",  "en-",     "en-B",
                                      "en-GBR", "en_GB", "en-12", "../en", "en-GB-x", "de-1A"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!language_valid(good[i]))
            fail_msg("%s is a language", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (language_valid(bad[i]))
            fail_msg("%s is no language", bad[i]);
}

static void the_best_language_is_picked(void **state)
{
    struct arena *arena = harness_arena(state);
    struct text_list there = text_words(arena, "en de pt-BR");
    static const struct {
        const char *wanted;
        const char *picked;
    } cases[] = {
        {"de", "de"},
        {"de-AT", "de"},
        {"DE-at", "de"},
        {"pt", "pt-BR"},
        {"pt-PT", "pt-BR"},
        {"pt-br", "pt-BR"},
        {"fr", NULL},
        {"*", NULL},
        {"", NULL},
        {NULL, NULL},
        {"d", NULL},
        {"fr, de;q=0.8, en;q=0.9", "en"},
        {"en;q=0.5,de", "de"},
        {"de,en", "de"},
        {"en , de", "en"},
        {"de;q=0, en;q=0.001", "en"},
        {"de;q=0", NULL},
        {"de;q=1.000,en;q=1.001", "de"},
        {"de;q=x, en;q=0.1", "en"},
        {"de;level=1, en;q=0.1", "en"},
        {"de; q=0.3 ,en ;q=0.2", "de"},
        {"fr-CH, fr;q=0.9, de;q=0.7, *;q=0.5", "de"},
        {",,;,=de", NULL},
        {"averyveryverylonglanguagetag,de;q=0.1", "de"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *picked = language_pick(&there, cases[i].wanted);
        if ((picked == NULL) != (cases[i].picked == NULL) || (picked != NULL && strcmp(picked, cases[i].picked) != 0))
            fail_msg("for %s there is %s", cases[i].wanted, picked == NULL ? "nothing" : picked);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_tag_is_a_language_and_maybe_a_region_or_script),
    HARNESS_TEST(the_best_language_is_picked),
};
HARNESS_MODULE(language, cases)
