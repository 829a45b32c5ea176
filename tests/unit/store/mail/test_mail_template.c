/* SPDX-License-Identifier: MIT */
/* Filling templates, and the shipped ones. */
#include "harness.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "store/mail/mail.h"
#include "store/mail/mail_template.h"
#include "store/support.h"

static const char *directory_with(struct arena *arena, const char *subject, const char *text, const char *html)
{
    const char *directory = harness_directory(arena);
    (void)harness_write(arena, directory, "t.subject", subject, strlen(subject));
    (void)harness_write(arena, directory, "t.txt", text, strlen(text));
    if (html != NULL)
        (void)harness_write(arena, directory, "t.html", html, strlen(html));
    return directory;
}

static const struct mail_template_value values[] = {
    {"name", "Zo\xc3\xab <b>&\"'{{link}}"},
    {"link", "https://gatehouse.example/?a=1&b=2"},
    {"evil", "x\r\nhttps://evil.example/\n\xe2\x80\xa8y\x1b\xc2\x85z\xff"},
    {"empty", ""},
};
#define COUNT (sizeof values / sizeof *values)

static void placeholders_are_filled_and_escaped_for_html(void **state)
{
    struct arena *arena = harness_arena(state);
    struct mail mail = {.to = "kept@example.org"};
    const char *directory =
        directory_with(arena, "Hello {{name}}\nnot this line\n", "{{name}}|{{empty}}|{{link}}\n{}{ }\n",
                       "<a href=\"{{link}}\">{{name}}</a>{{name}}\n");
    help_none(mail_template_fill(arena, directory, "t", values, COUNT, &mail));
    assert_string_equal(mail.subject, "Hello Zo\xc3\xab <b>&\"'{{link}}");
    assert_string_equal(mail.text, "Zo\xc3\xab <b>&\"'{{link}}||https://gatehouse.example/?a=1&b=2\n{}{ }\n");
    assert_string_equal(mail.html, "<a href=\"https://gatehouse.example/?a=1&amp;b=2\">"
                                   "Zo\xc3\xab &lt;b&gt;&amp;&quot;&#39;{{link}}</a>"
                                   "Zo\xc3\xab &lt;b&gt;&amp;&quot;&#39;{{link}}\n");
    assert_string_equal(mail.to, "kept@example.org");
}

static void a_value_stays_on_its_line(void **state)
{
    struct arena *arena = harness_arena(state);
    struct mail mail = {.to = "a@example.org", .html = "old"};
    const char *directory = directory_with(arena, "{{evil}}", "[{{evil}}]\n", NULL);
    help_none(mail_template_fill(arena, directory, "t", values, COUNT, &mail));
    assert_string_equal(mail.subject, "x  https://evil.example/  y  z ");
    assert_string_equal(mail.text, "[x  https://evil.example/  y  z ]\n");
    assert_null(mail.html);
}

static void what_nobody_fills_is_an_error(void **state)
{
    static const char *const texts[] = {"{{unknown}}", "{{name",  "{{name}",  "{{na\nme}}",
                                        "{{}}",        "{{ x }}", "{{Name}}", "{{name}} {{"};
    struct arena *arena = harness_arena(state);
    struct mail mail;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *directory = directory_with(arena, "s", texts[i], NULL);
        struct error *error = mail_template_fill(arena, directory, "t", values, COUNT, &mail);
        help_error(error, ERROR_INTERNAL);
        assert_non_null(strstr(error->detail, "/t.txt"));
        directory = directory_with(arena, "s", "t", texts[i]);
        help_error(mail_template_fill(arena, directory, "t", values, COUNT, &mail), ERROR_INTERNAL);
        directory = directory_with(arena, texts[i], "t", NULL);
        help_error(mail_template_fill(arena, directory, "t", values, COUNT, &mail), ERROR_INTERNAL);
    }
}

static void a_part_is_left_out_where_its_value_is_empty(void **state)
{
    static const char *const wrong[] = {"{{#name}}x", "{{/name}}", "{{#unknown}}x{{/unknown}}",
                                        "{{#empty}}{{#name}}{{/empty}}{{/name}}", "{{#name}}{{unknown}}{{/name}}"};
    struct arena *arena = harness_arena(state);
    struct mail mail;
    const char *directory =
        directory_with(arena, "s{{#empty}}t{{/empty}}", "a{{#empty}}b{{link}}{{/empty}}c{{#link}}<{{link}}>{{/link}}d",
                       "{{#name}}{{#empty}}x{{/empty}}y{{/name}}");
    help_none(mail_template_fill(arena, directory, "t", values, COUNT, &mail));
    assert_string_equal(mail.subject, "s");
    assert_string_equal(mail.text, "ac<https://gatehouse.example/?a=1&b=2>d");
    assert_string_equal(mail.html, "y");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        help_error(mail_template_fill(arena, directory_with(arena, "s", wrong[i], NULL), "t", values, COUNT, &mail),
                   ERROR_INTERNAL);
}

static void the_languages_are_the_folders_and_the_own_one_comes_first(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    static const char *const names[] = {"de", "en", "pt-BR", "EN", "english", "x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(mkdir(arena_format(arena, "%s/%s", directory, names[i]), 0700), 0);
    struct text_list languages = mail_template_languages(arena, directory, "en");
    assert_string_equal(text_list_join(arena, &languages, " "), "en de pt-BR");
    languages = mail_template_languages(arena, directory, "fr");
    assert_string_equal(text_list_join(arena, &languages, " "), "fr de en pt-BR");
    languages = mail_template_languages(arena, "/no/such/folder", "en");
    assert_string_equal(text_list_join(arena, &languages, " "), "en");
}

static void names_and_files_that_cannot_be_are_errors(void **state)
{
    static const char *const names[] = {"", "missing", "../t", "a/b", "T", "t.txt"};
    struct arena *arena = harness_arena(state);
    struct mail mail;
    const char *directory = directory_with(arena, "s", "t", NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        help_error(mail_template_fill(arena, directory, names[i], values, COUNT, &mail), ERROR_INTERNAL);
    directory = directory_with(arena, "s", "\xff", NULL);
    help_error(mail_template_fill(arena, directory, "t", values, COUNT, &mail), ERROR_INTERNAL);
}

/* The lines of a text that are exactly `line`. */
static int lines_that_are(const char *text, const char *line)
{
    int found = 0;
    for (const char *at = text; at != NULL; at = strchr(at, '\n') == NULL ? NULL : strchr(at, '\n') + 1) {
        size_t length = strcspn(at, "\n");
        found += length == strlen(line) && memcmp(at, line, length) == 0;
    }
    return found;
}

static void the_first_login_mail_has_link_and_password_alone_on_a_line(void **state)
{
    static const char link[] = "https://x.example/first-login?id=0192f0a1-7b3c-7def-8123-456789abcdef";
    static const struct mail_template_value shipped[] = {{"firstName", "Zo\xc3\xab"},
                                                         {"lastName", "O'Brien"},
                                                         {"organisation", "Acme & Sons"},
                                                         {"email", "zoe@example.org"},
                                                         {"link", link},
                                                         {"temporaryPassword", "abcdefghjkmnpqrstuvw"},
                                                         {"days", "7"},
                                                         {"product", "Gatehouse"},
                                                         {"accent", "#1d4f7c"},
                                                         {"support", ""},
                                                         {"supportText", ""}};
    struct arena *arena = harness_arena(state);
    struct mail mail = {.to = "zoe@example.org"};
    struct mail_message message;
    help_none(mail_template_fill(arena, harness_source(arena, "share/mail/en"), "first-login", shipped,
                                 sizeof shipped / sizeof *shipped, &mail));
    assert_int_equal(lines_that_are(mail.text, link), 1);
    assert_int_equal(lines_that_are(mail.text, "abcdefghjkmnpqrstuvw"), 1);
    /* No other line could be taken for the password. */
    for (const char *at = mail.text; *at != '\0'; at += strcspn(at, "\n") + 1) {
        size_t length = strcspn(at, " \n");
        bool alone = at[length] == '\n' && length >= 12;
        if (alone && strncmp(at, link, length) != 0 && strncmp(at, "abcdefghjkmnpqrstuvw", length) != 0)
            fail_msg("a line that looks like a password: %.*s", (int)length, at);
    }
    assert_non_null(strstr(mail.html, "Acme &amp; Sons"));
    help_none(mail_compose(arena, "Gatehouse <no-reply@localhost>", &mail, 0, &message));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(placeholders_are_filled_and_escaped_for_html),
    HARNESS_TEST(a_value_stays_on_its_line),
    HARNESS_TEST(what_nobody_fills_is_an_error),
    HARNESS_TEST(a_part_is_left_out_where_its_value_is_empty),
    HARNESS_TEST(the_languages_are_the_folders_and_the_own_one_comes_first),
    HARNESS_TEST(names_and_files_that_cannot_be_are_errors),
    HARNESS_TEST(the_first_login_mail_has_link_and_password_alone_on_a_line),
};
HARNESS_MODULE(mail_template, cases)
