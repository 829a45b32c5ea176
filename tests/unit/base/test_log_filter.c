/* SPDX-License-Identifier: MIT */
/* The grammar of the log's filter (docs/api.md). */
#include "base/log.h"

#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/text.h"
#include "harness.h"

#define OTHERS (-1)

struct expected {
    int module; /* OTHERS: all that were not named before */
    enum log_level level;
};

/* Reads the filter over level info; each module must have the level of the first entry of `expected` that fits it. */
static void expect_levels(const char *filter, const struct expected *expected)
{
    struct log_levels levels;
    if (log_levels_read(LOG_LEVEL_INFO, filter, &levels) != LOG_FILTER_GOOD)
        fail_msg("'%s' is refused", filter);
    for (int module = 0; module < LOG_MODULE_COUNT; module++) {
        const struct expected *entry = expected;
        while (entry->module != OTHERS && entry->module != module)
            entry++;
        if (levels.of[module] != entry->level)
            fail_msg("'%s': module %s", filter, log_module_text((enum log_module)module));
    }
}

#define EXPECT(filter, ...) expect_levels(filter, (const struct expected[]){__VA_ARGS__})

static void an_empty_filter_leaves_the_level(void **state)
{
    (void)state;
    EXPECT("", {OTHERS, LOG_LEVEL_INFO});
    EXPECT(" ", {OTHERS, LOG_LEVEL_INFO});
    EXPECT(" \t ", {OTHERS, LOG_LEVEL_INFO});
}

static void entries_hold_for_the_modules_they_name(void **state)
{
    (void)state;
    EXPECT("files=debug", {LOG_MODULE_FILES, LOG_LEVEL_DEBUG}, {OTHERS, LOG_LEVEL_INFO});
    EXPECT("*=fatal", {OTHERS, LOG_LEVEL_FATAL});
    EXPECT("files=debug,blob=trace,ctl=error", {LOG_MODULE_FILES, LOG_LEVEL_DEBUG}, {LOG_MODULE_BLOB, LOG_LEVEL_TRACE},
           {LOG_MODULE_CTL, LOG_LEVEL_ERROR}, {OTHERS, LOG_LEVEL_INFO});
}

static void the_last_entry_wins(void **state)
{
    (void)state;
    EXPECT("*=warn,files=debug", {LOG_MODULE_FILES, LOG_LEVEL_DEBUG}, {OTHERS, LOG_LEVEL_WARN});
    EXPECT("files=debug,*=warn", {OTHERS, LOG_LEVEL_WARN});
    EXPECT("files=debug,files=error,files=trace", {LOG_MODULE_FILES, LOG_LEVEL_TRACE}, {OTHERS, LOG_LEVEL_INFO});
}

static void blanks_round_words_are_dropped(void **state)
{
    (void)state;
    static const char *const spellings[] = {" *=warn,files=debug", "*=warn ,files=debug ", "*=warn, files=debug",
                                            "\t*=warn\t,\tfiles=debug\t", " * = warn , files = debug "};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        EXPECT(spellings[i], {LOG_MODULE_FILES, LOG_LEVEL_DEBUG}, {OTHERS, LOG_LEVEL_WARN});
}

static void every_module_and_level_can_be_named(void **state)
{
    struct arena *arena = harness_arena(state);
    for (int module = 0; module < LOG_MODULE_COUNT; module++)
        for (int level = 0; level < LOG_LEVEL_COUNT; level++)
            EXPECT(arena_format(arena, "%s=%s", log_module_text((enum log_module)module),
                                log_level_text((enum log_level)level)),
                   {module, (enum log_level)level}, {OTHERS, LOG_LEVEL_INFO});
}

static void what_is_wrong_is_told_and_nothing_is_changed(void **state)
{
    (void)state;
    static const struct {
        const char *filter;
        enum log_filter_result result;
    } cases[] = {
        {"files", LOG_FILTER_SYNTAX},
        {"files=", LOG_FILTER_SYNTAX},
        {"=debug", LOG_FILTER_SYNTAX},
        {"=", LOG_FILTER_SYNTAX},
        {",", LOG_FILTER_SYNTAX},
        {" , ", LOG_FILTER_SYNTAX},
        {"files=debug,", LOG_FILTER_SYNTAX},
        {",files=debug", LOG_FILTER_SYNTAX},
        {"files=debug, ", LOG_FILTER_SYNTAX},
        {"files=debug,,*=warn", LOG_FILTER_SYNTAX},
        {"files:debug", LOG_FILTER_SYNTAX},
        {"*", LOG_FILTER_SYNTAX},
        {"nope=debug", LOG_FILTER_MODULE},
        {"FILES=debug", LOG_FILTER_MODULE},
        {"**=debug", LOG_FILTER_MODULE},
        {"f*=debug", LOG_FILTER_MODULE},
        {"fi les=debug", LOG_FILTER_MODULE},
        {"files\n=debug", LOG_FILTER_MODULE},
        {"\xff=debug", LOG_FILTER_MODULE},
        {"files=loud", LOG_FILTER_LEVEL},
        {"files=DEBUG", LOG_FILTER_LEVEL},
        {"files==debug", LOG_FILTER_LEVEL},
        {"files=debug=warn", LOG_FILTER_LEVEL},
        {"files=*", LOG_FILTER_LEVEL},
        {"files=debug;*=warn", LOG_FILTER_LEVEL},
        {"files=de bug", LOG_FILTER_LEVEL},
        {"files=7", LOG_FILTER_LEVEL},
        {"filesfilesfilesfilesfiles=debug", LOG_FILTER_MODULE},
        {"files=debugdebugdebugdebug", LOG_FILTER_LEVEL},
        {"files=debug,nope=warn", LOG_FILTER_MODULE},
        {"files=debug\n", LOG_FILTER_LEVEL},
    };
    struct log_levels untouched;
    memset(&untouched, 0x55, sizeof untouched);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct log_levels levels = untouched;
        if (log_levels_read(LOG_LEVEL_INFO, cases[i].filter, &levels) != cases[i].result)
            fail_msg("'%s' should be %d", cases[i].filter, cases[i].result);
        assert_memory_equal(&levels, &untouched, sizeof levels);
        assert_non_null(log_filter_sentence(cases[i].result));
    }
    assert_null(log_filter_sentence(LOG_FILTER_GOOD));
}

static void the_longest_filter_is_bounded(void **state)
{
    struct arena *arena = harness_arena(state);
    struct log_levels levels;
    char *filter = arena_alloc(arena, LIMIT_LOG_FILTER_BYTES + 2);
    memset(filter, ' ', LIMIT_LOG_FILTER_BYTES);
    memcpy(filter, "files=debug", 11);
    assert_int_equal(log_levels_read(LOG_LEVEL_INFO, filter, &levels), LOG_FILTER_GOOD);
    filter[LIMIT_LOG_FILTER_BYTES] = ' ';
    assert_int_equal(log_levels_read(LOG_LEVEL_INFO, filter, &levels), LOG_FILTER_TOO_LONG);
}

/* Every byte string ends in one of the results and, where it is good, in a level for each module. */
static void random_filters_are_checked(void **state)
{
    (void)state;
    static const char *const words[] = {"files", "*", "=",  ",",    " ", "debug", "warn",
                                        "blob",  "x", "\t", "info", "=", ","};
    struct harness_random random = {.state = 11};
    unsigned good = 0;
    for (int round = 0; round < 20000; round++) {
        char filter[200] = "";
        size_t length = 0;
        for (uint32_t left = harness_random_below(&random, 10); left > 0; left--) {
            const char *word = words[harness_random_below(&random, sizeof words / sizeof *words)];
            memcpy(filter + length, word, strlen(word) + 1);
            length += strlen(word);
        }
        struct log_levels levels = {{[0 ... LOG_MODULE_COUNT - 1] = LOG_LEVEL_COUNT}};
        bool is_good = log_levels_read(LOG_LEVEL_INFO, filter, &levels) == LOG_FILTER_GOOD;
        for (int module = 0; module < LOG_MODULE_COUNT; module++)
            assert_int_equal(levels.of[module] < LOG_LEVEL_COUNT, is_good);
        good += is_good;
    }
    assert_true(good > 1000);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(an_empty_filter_leaves_the_level),
    HARNESS_TEST(entries_hold_for_the_modules_they_name),
    HARNESS_TEST(the_last_entry_wins),
    HARNESS_TEST(blanks_round_words_are_dropped),
    HARNESS_TEST(every_module_and_level_can_be_named),
    HARNESS_TEST(what_is_wrong_is_told_and_nothing_is_changed),
    HARNESS_TEST(the_longest_filter_is_bounded),
    HARNESS_TEST(random_filters_are_checked),
};
HARNESS_MODULE(log_filter, cases)
