/* SPDX-License-Identifier: MIT */
/*
 * Permissions: the matcher against a second reading of the grammar (regular expressions and enumeration) over
 * the full product of patterns and requirements, covering against its definition, and the ways to write a
 * pattern wrongly.
 */
#include "harness.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "domain/permission/permission.h"

static const char *const names[] = {"cus", "inv", "log", "sys", "file", "user", "org", "c", "cus-2", "x9", "rwx"};
#define NAMES (sizeof names / sizeof *names)

static const char *const malformed[] = {
    "",
    "*",
    "*:*",
    "*:*:*",
    "*:*:",
    ":*:w",
    "*::w",
    "inv:*",
    "inv:file",
    "inv::w",
    "inv:*:",
    "inv:*:x",
    "inv:*:rw",
    "inv:*:aw",
    "inv:*:ww",
    "inv:*:W",
    "INV:*:w",
    "Inv:*:w",
    "inv:FILE:w",
    "inv:*:w ",
    " inv:*:w",
    "inv:*:w\n",
    "inv:*:w\t",
    "inv :*:w",
    "inv: *:w",
    "inv:* :w",
    "inv:*: w",
    "1nv:*:w",
    "-inv:*:w",
    "in_v:*:w",
    "in.v:*:w",
    "i*v:*:w",
    "inv*:*:w",
    "**:*:w",
    "*:**:w",
    "*:*:w:",
    "*:*:w:*",
    ":*:*:w",
    "inv;*;w",
    "inv/*/w",
    "*:*:r,*:*:w",
    "*:*:r *:*:w",
    "rwx",
    "rwx:",
    ":*",
    "rwx:**",
    "rwx:*:",
    "rwx:* ",
    " rwx:*",
    "rwx :*",
    "RWX:*",
    "rwX:*",
    "a:*",
    "rwxa:*",
    "arw:*",
    "rrw:*",
    "rwxr:*",
    "xx:*",
    "rwx:a",
    "rwx:-",
    "r-w:*",
    "rw,x:*",
    "\xef\xbc\x8a:*:w",
    "\xef\xbd\x89nv:*:w",
    "inv\xe2\x80\x8b:*:w",
    "inv:*:\xef\xbd\x97",
    "inv\xef\xbc\x9a*:w",
    "%:%:w",
    "?:?:w",
    "inv{:*:w",
    "{:*:w",
    "inv~:*:w",
    "inv:{:w",
    "inv:fi`le:w",
    "inv:*:'w'",
    "inv:*:w;--",
};
#define MALFORMED (sizeof malformed / sizeof *malformed)

/* ---- the reference: a permission as the set of what it grants, by enumeration
 * ------------------------------- */

struct model {
    bool good;
    char module[128];
    char area[128];
    int rank;
};

static struct model model_of(const char *text)
{
    static regex_t three, two;
    static bool compiled;
    if (!compiled) {
        assert_int_equal(regcomp(&three, "^([a-z][a-z0-9-]*|[*]):([a-z][a-z0-9-]*|[*]):([rwa])$", REG_EXTENDED), 0);
        assert_int_equal(regcomp(&two, "^(r|w|x|rw|rx|wr|wx|xr|xw|rwx|rxw|wrx|wxr|xrw|xwr):[*]$", REG_EXTENDED), 0);
        compiled = true;
    }
    struct model model = {.module = "*", .area = "*"};
    regmatch_t part[4];
    if (regexec(&two, text, 2, part, 0) == 0) {
        model.good = true;
        model.rank = strchr(text, 'w') != NULL ? 2 : strchr(text, 'r') != NULL ? 1 : 0;
    } else if (regexec(&three, text, 4, part, 0) == 0) {
        model.good = true;
        (void)snprintf(model.module, sizeof model.module, "%.*s", (int)part[1].rm_eo, text);
        (void)snprintf(model.area, sizeof model.area, "%.*s", (int)(part[2].rm_eo - part[2].rm_so),
                       text + part[2].rm_so);
        model.rank = (int)(strchr("-rwa", text[part[3].rm_so]) - "-rwa");
    }
    return model;
}

static bool model_grants(struct model held, const char *module, const char *area, int rank)
{
    return held.good && held.rank >= rank && (strcmp(held.module, "*") == 0 || strcmp(held.module, module) == 0) &&
           (strcmp(held.area, "*") == 0 || strcmp(held.area, area) == 0);
}

/* ---- the material
 * ------------------------------------------------------------------------------------------- */

/* Every well-formed pattern over `names` and `*`, every two-part form, and everything malformed. */
static struct text_list all_patterns(struct arena *arena)
{
    static const char *const two[] = {"r:*",  "w:*",   "x:*",   "rw:*",  "rx:*",  "wr:*",  "wx:*", "xr:*",
                                      "xw:*", "rwx:*", "rxw:*", "wrx:*", "wxr:*", "xrw:*", "xwr:*"};
    struct text_list list = {arena_array(arena, 1000, sizeof(char *)), 0};
    for (size_t m = 0; m <= NAMES; m++)
        for (size_t a = 0; a <= NAMES; a++)
            for (const char *letter = "arw"; *letter != '\0'; letter++)
                list.items[list.count++] =
                    arena_format(arena, "%s:%s:%c", m == NAMES ? "*" : names[m], a == NAMES ? "*" : names[a], *letter);
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        list.items[list.count++] = two[i];
    for (size_t i = 0; i < MALFORMED; i++)
        list.items[list.count++] = malformed[i];
    assert_true(list.count < 1000);
    return list;
}

static void equals_the_reference_over_the_full_product(void **state)
{
    struct arena *arena = harness_arena(state);
    struct text_list patterns = all_patterns(arena);
    size_t pairs = 0;
    for (size_t p = 0; p < patterns.count; p++) {
        struct model held = model_of(patterns.items[p]);
        struct permission parsed;
        assert_int_equal(permission_parse(patterns.items[p], &parsed), held.good);
        for (size_t m = 0; m < NAMES; m++) {
            for (size_t a = 0; a < NAMES; a++) {
                for (int rank = 1; rank <= 3; rank++, pairs++) {
                    char required[64];
                    (void)snprintf(required, sizeof required, "%s:%s:%c", names[m], names[a], "-rwa"[rank]);
                    bool expected = model_grants(held, names[m], names[a], rank);
                    if (permission_grants(patterns.items[p], required) != expected)
                        fail_msg("'%s' and '%s': expected %d", patterns.items[p], required, expected);
                }
            }
        }
    }
    assert_true(pairs >= 15000);
}

static void grants_nothing_for_anything_malformed(void **state)
{
    struct arena *arena = harness_arena(state);
    struct permission untouched = {.module = "untouched"};
    assert_true(MALFORMED >= 22);
    for (size_t i = 0; i < MALFORMED; i++) {
        assert_false(permission_parse(malformed[i], &untouched));
        assert_string_equal(untouched.module, "untouched");
        assert_false(permission_valid(malformed[i]));
        assert_false(permission_grants(malformed[i], "inv:file:r"));
        assert_false(permission_grants(malformed[i], "cus:file:r"));
        struct text_list held = {(const char *[]){"*:*:a"}, 1};
        assert_false(permission_covers(&held, malformed[i]));
        struct text_list bad = {(const char *[]){malformed[i]}, 1};
        assert_false(permission_covers(&bad, "inv:file:r"));
        struct text_list words = permission_words(arena, malformed[i]);
        for (size_t w = 0; w < words.count && strcmp(malformed[i], "*:*:r *:*:w") != 0; w++)
            assert_false(permission_grants(words.items[w], "inv:file:r"));
    }
}

static void holds_each_letter_and_what_it_implies(void **state)
{
    (void)state;
    assert_true(permission_grants("cus:org:a", "cus:org:w"));
    assert_true(permission_grants("cus:org:a", "cus:org:r"));
    assert_true(permission_grants("cus:org:w", "cus:org:r"));
    assert_false(permission_grants("cus:org:w", "cus:org:a"));
    assert_false(permission_grants("cus:org:r", "cus:org:w"));
    assert_true(permission_grants("rwx:*", "any:thing:w"));
    assert_false(permission_grants("rwx:*", "any:thing:a"));
    assert_false(permission_grants("rx:*", "any:thing:w"));
    assert_false(permission_grants("x:*", "any:thing:r"));
    /* A module may be called rwx; that is the three-part form and nothing else. */
    assert_true(permission_grants("rwx:*:w", "rwx:file:w"));
    assert_false(permission_grants("rwx:*:w", "cus:file:r"));
}

static void a_requirement_has_no_wildcard(void **state)
{
    (void)state;
    static const char *const wild[] = {"*:*:r", "cus:*:r", "*:file:r", "rwx:*", "r:*", "cus:file", "cus:file:x", ""};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        struct permission permission;
        assert_false(permission_parse_concrete(wild[i], &permission));
        assert_false(permission_grants("*:*:a", wild[i]));
    }
}

static void a_name_is_compared_whole(void **state)
{
    (void)state;
    assert_false(permission_grants("cus:fil:r", "cus:file:r"));
    assert_false(permission_grants("cus:files:r", "cus:file:r"));
    assert_false(permission_grants("cu:file:r", "cus:file:r"));
    assert_false(permission_grants("cus-2:file:r", "cus:file:r"));
    assert_false(permission_grants("file:cus:r", "cus:file:r"));
}

static void a_pattern_too_long_is_not_written(void **state)
{
    (void)state;
    char longest[LIMIT_PERMISSION_BYTES + 2];
    memset(longest, 'm', sizeof longest);
    (void)snprintf(longest + LIMIT_PERMISSION_BYTES - 4, 6, ":*:w");
    assert_int_equal(strlen(longest), LIMIT_PERMISSION_BYTES);
    assert_true(permission_valid(longest));
    (void)snprintf(longest + LIMIT_PERMISSION_BYTES - 3, 5, ":*:w");
    assert_int_equal(strlen(longest), LIMIT_PERMISSION_BYTES + 1);
    assert_false(permission_valid(longest));
}

/* By definition: whatever the candidate grants, some pattern held grants. One name stands for all the others.
 */
static bool model_covers(const struct text_list *held, const char *candidate)
{
    static const char *const universe[] = {"cus", "inv", "x9", "some-other"};
    struct model wanted = model_of(candidate);
    if (!wanted.good)
        return false;
    for (size_t m = 0; m < 4; m++)
        for (size_t a = 0; a < 4; a++)
            for (int rank = 1; rank <= 3; rank++) {
                if (!model_grants(wanted, universe[m], universe[a], rank))
                    continue;
                bool granted = false;
                for (size_t i = 0; i < held->count && !granted; i++)
                    granted = model_grants(model_of(held->items[i]), universe[m], universe[a], rank);
                if (!granted)
                    return false;
            }
    return true;
}

static void covers_what_its_definition_says(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const parts[] = {"*", "cus", "inv", "x9"};
    struct text_list patterns = {arena_array(arena, 100, sizeof(char *)), 0};
    for (size_t m = 0; m < 4; m++)
        for (size_t a = 0; a < 4; a++)
            for (const char *letter = "arw"; *letter != '\0'; letter++)
                patterns.items[patterns.count++] = arena_format(arena, "%s:%s:%c", parts[m], parts[a], *letter);
    static const char *const others[] = {"rwx:*", "rw:*", "r:*", "w:*", "x:*", "*:*:*", "cus:*", "cus:*:w "};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        patterns.items[patterns.count++] = others[i];

    struct harness_random random = {7};
    size_t covered = 0;
    for (unsigned round = 0; round < 20000; round++) {
        const char *set[5];
        struct text_list held = {set, harness_random_below(&random, 6)};
        for (size_t i = 0; i < held.count; i++)
            set[i] = patterns.items[harness_random_below(&random, (uint32_t)patterns.count)];
        const char *candidate = patterns.items[harness_random_below(&random, (uint32_t)patterns.count)];
        bool expected = model_covers(&held, candidate);
        covered += expected;
        if (permission_covers(&held, candidate) != expected)
            fail_msg("round %u, candidate '%s': expected %d", round, candidate, expected);
    }
    assert_in_range(covered, 2000, 18000);
}

static void no_union_of_narrow_patterns_covers_a_wide_one(void **state)
{
    (void)state;
    struct text_list held = {(const char *[]){"cus:*:a", "inv:*:a", "*:file:a", "*:user:a", "rw:*"}, 5};
    assert_false(permission_covers(&held, "*:*:a"));
    assert_true(permission_covers(&held, "*:*:w"));
    assert_true(permission_covers(&held, "rwx:*"));
    assert_true(permission_covers(&held, "cus:*:a"));
    assert_true(permission_covers(&held, "sys:file:a"));
    assert_false(permission_covers(&held, "sys:*:a"));
    struct text_list none = {NULL, 0};
    assert_false(permission_covers(&none, "cus:file:r"));
    assert_true(permission_covers(&none, "x:*"));
}

static void splits_a_field_at_single_blanks_only(void **state)
{
    struct arena *arena = harness_arena(state);
    struct text_list words = permission_words(arena, "cus:*:w rwx:* inv:stock:r");
    assert_int_equal(words.count, 3);
    assert_string_equal(words.items[0], "cus:*:w");
    assert_string_equal(words.items[1], "rwx:*");
    assert_string_equal(words.items[2], "inv:stock:r");
    assert_int_equal(permission_words(arena, "").count, 0);
    assert_int_equal(permission_words(arena, NULL).count, 0);

    /* Any other blank belongs to a word and spoils it. */
    static const char *const spoilt[] = {"cus:*:w ",  " cus:*:w",  "  cus:*:w", "cus:*:w  ",
                                         "cus:*:w\t", "\ncus:*:w", " "};
    for (size_t i = 0; i < sizeof spoilt / sizeof *spoilt; i++) {
        words = permission_words(arena, spoilt[i]);
        assert_int_equal(words.count, 1);
        assert_string_equal(words.items[0], spoilt[i]);
        assert_false(permission_grants(words.items[0], "cus:file:r"));
    }
    words = permission_words(arena, "cus:*:w  inv:*:w");
    for (size_t i = 0; i < words.count; i++)
        assert_false(permission_valid(words.items[i]));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(equals_the_reference_over_the_full_product),
    HARNESS_TEST(grants_nothing_for_anything_malformed),
    HARNESS_TEST(holds_each_letter_and_what_it_implies),
    HARNESS_TEST(a_requirement_has_no_wildcard),
    HARNESS_TEST(a_name_is_compared_whole),
    HARNESS_TEST(a_pattern_too_long_is_not_written),
    HARNESS_TEST(covers_what_its_definition_says),
    HARNESS_TEST(no_union_of_narrow_patterns_covers_a_wide_one),
    HARNESS_TEST(splits_a_field_at_single_blanks_only),
};
HARNESS_MODULE(permission, cases)
