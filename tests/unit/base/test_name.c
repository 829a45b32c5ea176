/* SPDX-License-Identifier: MIT */
/* Names: which are refused, and which copies are safe to mail. */
#include "harness.h"

#include "base/arena.h"
#include "base/name.h"

static void names_of_all_scripts_are_good(void **state)
{
    (void)state;
    static const char *const names[] = {
        "Olivia",   "O'Neill", "Jean-Luc",          "Müller & Söhne GmbH", "李小龍",           "محمد", "Ægir Ørsted",
        "J. R. R.", "Nguyễn",  "می‌خواهم", "AT&T \"West\" (2)",   "1 + 1 = 2; 100 %", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!name_is_good(names[i]))
            fail_msg("\"%s\" is refused", names[i]);
}

static void what_makes_a_link_or_breaks_a_line_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const marks[] = {":",        "/",        "\\",     "<",      ">",           "@",
                                        "\x01",     "\t",       "\n",     "\r",     "\x1f",        "\x7f",
                                        "\xc2\x80", "\xc2\x9f", "\u2028", "\u2029", "\u202a",      "\u202e",
                                        "\u2066",   "\u2069",   "\xff",   "\xc3",   "\xed\xa0\x80"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *places[] = {marks[i], arena_format(arena, "%sa", marks[i]), arena_format(arena, "a%sb", marks[i]),
                                arena_format(arena, "ab%s", marks[i])};
        for (size_t place = 0; place < 4; place++)
            if (name_is_good(places[place]))
                fail_msg("mark %zu at place %zu is taken", i, place);
    }
    /* Their neighbours are no marks. */
    static const char *const neighbours[] = {" ", ".", ";",        "?",      "=",      "A",      "[",     "]",
                                             "`", "~", "\xc2\xa0", "\u2027", "\u202f", "\u2065", "\u206a"};
    for (size_t i = 0; i < sizeof neighbours / sizeof *neighbours; i++)
        if (!name_is_good(neighbours[i]))
            fail_msg("neighbour %zu is refused", i);
}

static void an_old_name_is_mailed_without_its_marks(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(name_for_mail(arena, "Olivia"), "Olivia");
    assert_string_equal(name_for_mail(arena, "https://evil.example/a"), "https   evil. example a");
    assert_string_equal(name_for_mail(arena, "<a@b>\u202eé\xff"), " a b  é ");
}

static void a_name_is_mailed_so_that_no_host_is_read_in_it(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(name_for_mail(arena, "www.evil.example"), "www. evil. example");
    assert_string_equal(name_for_mail(arena, "Win at Evil.example now"), "Win at Evil. example now");
    assert_string_equal(name_for_mail(arena, "a.éx"), "a. éx");
    /* Most names with dots are as they were. */
    static const char *const names[] = {"J.R.R.", "J. R. R.", "Smith Ltd.", "St. John", "No.1", "a..", ".", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(name_for_mail(arena, names[i]), names[i]);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(names_of_all_scripts_are_good),
    HARNESS_TEST(what_makes_a_link_or_breaks_a_line_is_refused),
    HARNESS_TEST(an_old_name_is_mailed_without_its_marks),
    HARNESS_TEST(a_name_is_mailed_so_that_no_host_is_read_in_it),
};
HARNESS_MODULE(name, cases)
