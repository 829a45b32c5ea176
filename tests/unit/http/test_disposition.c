/* SPDX-License-Identifier: MIT */
/* File names: cleaned, and written into Content-Disposition. */
#include "http/disposition.h"

#include <string.h>

#include "base/arena.h"
#include "harness.h"

struct example {
    const char *raw;
    const char *name; /* NULL: nothing usable */
};

static const struct example names[] = {
    {"plain.txt", "plain.txt"},
    {"two words.txt", "two words.txt"},
    {"gr\xc3\xb6\xc3\x9f"
     "e \xe2\x82\xac \xf0\x9f\x9a\x9a.pdf",
     "gr\xc3\xb6\xc3\x9f"
     "e \xe2\x82\xac \xf0\x9f\x9a\x9a.pdf"},
    /* paths */
    {"/etc/passwd", "passwd"},
    {"../../etc/passwd", "passwd"},
    {"C:\\Users\\me\\a.txt", "a.txt"},
    {"..\\..\\a.txt", "a.txt"},
    {"a/b\\c/d.txt", "d.txt"},
    {"a\\b/c", "c"},
    {"a//b", "b"},
    {"a/", NULL},
    {"a\\", NULL},
    {"/", NULL},
    {"\\", NULL},
    /* dots */
    {".", NULL},
    {"..", NULL},
    {"...", NULL},
    {" .. ", NULL},
    {"a/..", NULL},
    {".profile", ".profile"},
    {"..a", "..a"},
    {"a..", "a.."},
    /* blanks at the ends */
    {"  a b  ", "a b"},
    {"   ", NULL},
    {"", NULL},
    {NULL, NULL},
    /* control characters, C0, DEL, C1, line separators */
    {"a\r\nb\tc\x01.txt", "abc.txt"},
    {"a\x7f\x1b[2Jb", "a[2Jb"},
    {"a\xc2\x80\xc2\x9f"
     "b\xc2\xa0"
     "c",
     "ab\xc2\xa0"
     "c"},
    {"a\xe2\x80\xa8\xe2\x80\xa9"
     "b",
     "ab"},
    {"\r\n", NULL},
    {"\x01 a \x01", "a"},
    {".\x01.", NULL},
    {"\xef\xbb\xbf"
     "bom.txt",
     "bom.txt"},
    /* marks that turn the order round, but not the joiners that scripts and emoji need */
    {"photo_\xe2\x80\xae"
     "gpj.exe",
     "photo_gpj.exe"},
    {"\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad"
     "a",
     "a"},
    {"\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9\xd8\x9c"
     "a",
     "a"},
    {"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xa7", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xa7"},
    {"\xe2\x80\xad", NULL},
    /* not UTF-8 */
    {"a\xff", NULL},
    {"\xc0\xaf", NULL},
    {"a\xc3", NULL},
    /* quotes and the like are fine */
    {"\"a\" <b> & 'c' %41 ; | * ?", "\"a\" <b> & 'c' %41 ; | * ?"},
};

static void names_lose_what_is_not_part_of_one(void **state)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = disposition_clean_name(harness_arena(state), names[i].raw);
        if (names[i].name == NULL) {
            if (name != NULL)
                fail_msg("\"%s\" gives \"%s\", not nothing", names[i].raw, name);
        } else if (name == NULL || strcmp(name, names[i].name) != 0) {
            fail_msg("\"%s\" gives \"%s\", not \"%s\"", names[i].raw, name == NULL ? "(nothing)" : name, names[i].name);
        }
    }
}

static void cleaning_twice_changes_nothing_more(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 6266};
    static const char *const scraps[] = {".",    "..",           "/",        "\\",          " ", "a",
                                         "\x01", "\xe2\x80\xae", "\xc3\xa4", "\xef\xbb\xbf"};
    for (int i = 0; i < 5000; i++) {
        char raw[64] = "";
        for (uint32_t count = harness_random_below(&random, 8); count > 0; count--)
            strcat(raw, scraps[harness_random_below(&random, sizeof scraps / sizeof *scraps)]);
        const char *once = disposition_clean_name(arena, raw);
        if (once == NULL)
            continue;
        const char *twice = disposition_clean_name(arena, once);
        assert_non_null(twice);
        assert_string_equal(once, twice);
    }
}

static void long_names_are_not_cut(void **state)
{
    char raw[1001];
    memset(raw, 'x', 1000);
    raw[1000] = '\0';
    assert_int_equal(strlen(disposition_clean_name(harness_arena(state), raw)), 1000);
}

struct header_example {
    bool show_inline;
    const char *name;
    const char *value;
};

static void the_header_says_the_name_twice(void **state)
{
    static const struct header_example examples[] = {
        {false, "a.txt", "attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt"},
        {true, "a b.pdf", "inline; filename=\"a b.pdf\"; filename*=UTF-8''a%20b.pdf"},
        {false,
         "gr\xc3\xb6\xc3\x9f"
         "e.csv",
         "attachment; filename=\"gr__e.csv\"; filename*=UTF-8''gr%C3%B6%C3%9Fe.csv"},
        {false, "\xf0\x9f\x9a\x9a", "attachment; filename=\"_\"; filename*=UTF-8''%F0%9F%9A%9A"},
        {false, "a\"; filename=\"b",
         "attachment; filename=\"a_; filename=_b\"; filename*=UTF-8''a%22%3B%20filename%3D%22b"},
        {false, "50%41\\x", "attachment; filename=\"50_41_x\"; filename*=UTF-8''50%2541%5Cx"},
        {false, "a'b*c", "attachment; filename=\"a'b*c\"; filename*=UTF-8''a%27b%2Ac"},
        {true, NULL, "inline"},
        {false, NULL, "attachment"},
        /* never seen after cleaning, yet harmless */
        {false, "a\r\nSet-Cookie: x=y",
         "attachment; filename=\"a__Set-Cookie: x=y\"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20x%3Dy"},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        assert_string_equal(disposition_format(harness_arena(state), examples[i].show_inline, examples[i].name),
                            examples[i].value);
}

static void the_header_is_visible_ascii_whatever_the_name(void **state)
{
    struct harness_random random = {.state = 8187};
    for (int i = 0; i < 2000; i++) {
        char name[32];
        size_t length = harness_random_below(&random, 31);
        for (size_t at = 0; at < length; at++)
            name[at] = (char)(1 + harness_random_below(&random, 255));
        name[length] = '\0';
        const char *value = disposition_format(harness_arena(state), false, name);
        size_t quotes = 0;
        for (const char *at = value; *at != '\0'; at++) {
            assert_in_range(*at, 0x20, 0x7e);
            quotes += *at == '"';
        }
        assert_int_equal(quotes, 2);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(names_lose_what_is_not_part_of_one),
    HARNESS_TEST(cleaning_twice_changes_nothing_more),
    HARNESS_TEST(long_names_are_not_cut),
    HARNESS_TEST(the_header_says_the_name_twice),
    HARNESS_TEST(the_header_is_visible_ascii_whatever_the_name),
};
HARNESS_MODULE(disposition, cases)
