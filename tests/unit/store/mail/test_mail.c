/* SPDX-License-Identifier: MIT */
/* Composing, checked by another parser than our own (read_mail.py); addresses; nothing can add a header. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/text.h"
#include "store/mail/mail.h"
#include "store/support.h"

#define NOW 1795251120123 /* 2026-11-21T08:52:00.123Z, a Saturday */

#define ELEPHANTS "\xf0\x9f\x90\x98\xf0\x9f\x90\x98\xf0\x9f\x90\x98\xf0\x9f\x90\x98"

static const char id_words[] = "0192f0a1-7b3c-7def-8123-456789abcdef";

static struct mail mail_of(const char *subject, const char *text, const char *html)
{
    struct mail mail = {.to = "zoe@example.org", .subject = subject, .text = text, .html = html};
    assert_true(id_parse(id_words, &mail.id));
    return mail;
}

/* What the other parser finds. */
static const char *parse(struct arena *arena, const char *from, const struct mail *mail)
{
    struct mail_message message;
    help_none(mail_compose(arena, from, mail, NOW, &message));
    const char *path = harness_write(arena, harness_directory(arena), "m", message.bytes, message.length);
    const char *script = harness_source(arena, "tests/unit/store/read_mail.py");
    FILE *pipe = popen(arena_format(arena, "%s '%s' '%s'", GATEHOUSE_PYTHON3, script, path), "re");
    assert_non_null(pipe);
    struct buffer found;
    char chunk[4096];
    buffer_init(&found, arena);
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, pipe)) > 0;)
        buffer_add(&found, chunk, got);
    assert_int_equal(pclose(pipe), 0);
    return found.bytes;
}

static void expect(const char *found, const char *wanted)
{
    if (strstr(found, wanted) == NULL)
        fail_msg("not found: \"%s\" in\n%s", wanted, found);
}

static void a_message_has_all_its_parts(void **state)
{
    struct arena *arena = harness_arena(state);
    struct mail mail = mail_of("Welcome", "Hello,\n\nhttps://gatehouse.example/x?id=1\n", "<p>Hello</p>\n");
    const char *found = parse(arena, "Gatehouse <no-reply@gatehouse.example>", &mail);
    assert_string_equal(found, "from=Gatehouse|no-reply@gatehouse.example\n"
                               "from-words=Gatehouse <no-reply@gatehouse.example>\n"
                               "to=['zoe@example.org']\n"
                               "subject=Welcome\n"
                               "date=1795251120\n"
                               "id=<0192f0a1-7b3c-7def-8123-456789abcdef@gatehouse.example>\n"
                               "headers=Date From To Subject Message-ID Auto-Submitted MIME-Version"
                               " Content-Type\n"
                               "type=multipart/alternative\n"
                               "longest=82\n"
                               "longest-header=82\n"
                               "stray=0\n"
                               "defects=[]\n"
                               "part=text/plain utf-8 7bit\n"
                               "Hello,\n\nhttps://gatehouse.example/x?id=1\n<end>\n"
                               "part=text/html utf-8 7bit\n"
                               "<p>Hello</p>\n<end>\n");
    mail.html = NULL;
    found = parse(arena, "no-reply@gatehouse.example", &mail);
    expect(found, "from=|no-reply@gatehouse.example\n");
    expect(found, "type=text/plain\n");
    expect(found, "part=text/plain utf-8 7bit\nHello,\n\nhttps://gatehouse.example/x?id=1\n<end>\n");
}

static void an_id_is_made_where_none_is_given(void **state)
{
    struct arena *arena = harness_arena(state);
    struct mail mail = {.to = "a@example.org", .subject = "s", .text = "t\n"};
    struct mail_message first, second;
    help_none(mail_compose(arena, "b@example.org", &mail, NOW, &first));
    help_none(mail_compose(arena, "b@example.org", &mail, NOW, &second));
    const char *one = strstr(first.bytes, "Message-ID: <"), *two = strstr(second.bytes, "Message-ID: <");
    assert_non_null(one);
    assert_non_null(two);
    assert_memory_not_equal(one, two, 13 + 36);
}

static void subjects_and_names_come_out_as_they_went_in(void **state)
{
    static const char *const texts[] = {
        "plain",
        "Willkommen, Zo\xc3\xab",
        "\xe6\xac\xa2\xe8\xbf\x8e\xe5\x85\x89\xe4\xb8\xb4\xe6\xac\xa2\xe8\xbf\x8e\xe5\x85\x89\xe4\xb8\xb4"
        "\xe6\xac\xa2\xe8\xbf\x8e\xe5\x85\x89\xe4\xb8\xb4\xe6\xac\xa2\xe8\xbf\x8e\xe5\x85\x89\xe4\xb8\xb4",
        "emoji " ELEPHANTS ELEPHANTS ELEPHANTS " end",
        "a very long subject in plain English letters that goes on and on and on, well beyond one line of a"
        " header and still does not want to end",
        "looks like =?UTF-8?B?YQ==?= an encoded word",
        "Acme \"Best\" Ltd., (London) <not@an.address>; a: b @ c \\ d",
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct mail mail = mail_of(texts[i], "t\n", NULL);
        const char *from = arena_format(arena, "%s <a@example.org>", texts[i]);
        const char *found = parse(arena, from, &mail);
        expect(found, arena_format(arena, "subject=%s\n", texts[i]));
        if (strlen(texts[i]) > 39 && strpbrk(texts[i], "<\"") == NULL)
            expect(found, arena_format(arena, "from-words=%s <a@example.org>\n", texts[i]));
        else
            expect(found, arena_format(arena, "from=%s|a@example.org\n", texts[i]));
        expect(found, "defects=[]\n");
        const char *longest = strstr(found, "longest-header=");
        assert_in_range(strtol(longest + 15, NULL, 10), 1, 90);
    }
    struct mail mail = mail_of("s", "t\n", NULL);
    expect(parse(arena, "\"Quoted Name\" <a@example.org>", &mail), "from=Quoted Name|a@example.org\n");
}

static void each_line_of_the_text_stays_whole_and_alone(void **state)
{
    struct arena *arena = harness_arena(state);
    char *link = arena_alloc(arena, 1500);
    memcpy(link, "https://gatehouse.example/?q=", 29);
    memset(link + 29, 'x', 1400);
    const char *const texts[] = {
        "https://gatehouse.example/first-login?id=0192f0a1-7b3c-7def-8123-456789abcdef&a=b==\n",
        arena_format(arena, "before\n%s\nafter\n", link),
        arena_format(arena, "Zo\xc3\xab\n%s\nafter\n", link),
        "trailing blank \ntrailing tab\t\nend\n",
        ".\n..\n.hidden\n",
        "From here\nFrom there\n",
        "From Zo\xc3\xab\n.Zo\xc3\xab\n",
        "--\n-- \n--=_0\n",
        "tab\tinside = equals =3D\n\n\n\nafter empty lines\n",
        ELEPHANTS ELEPHANTS ELEPHANTS ELEPHANTS ELEPHANTS "\n",
        "bell \a and escape \x1b[31m\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct mail mail = mail_of("s", texts[i], texts[i]);
        const char *found = parse(arena, "a@example.org", &mail);
        const char *plain = strstr(found, "part=text/plain"), *html = strstr(found, "part=text/html");
        assert_non_null(plain);
        assert_non_null(html);
        expect(plain, arena_format(arena, "\n%s<end>\npart=text/html", texts[i]));
        expect(html, arena_format(arena, "\n%s<end>\n", texts[i]));
        expect(found, "stray=0\n");
        expect(found, "defects=[]\n");
        assert_in_range(strtol(strstr(found, "\nlongest=") + 9, NULL, 10), 1, 998);
    }
}

static void line_ends_of_any_kind_become_the_same(void **state)
{
    struct arena *arena = harness_arena(state);
    struct mail mail = mail_of("s", "one\r\ntwo\nthree", NULL);
    expect(parse(arena, "a@example.org", &mail), "7bit\none\ntwo\nthree\n<end>\n");
    mail.text = "lone \r return\n";
    expect(parse(arena, "a@example.org", &mail), "stray=0\n");
    mail.text = "";
    expect(parse(arena, "a@example.org", &mail), "7bit\n\n<end>\n");
}

static void nothing_can_add_a_header(void **state)
{
    static const char *const evil[] = {
        "x\r\nBcc: all@example.org",
        "x\nBcc: all@example.org",
        "x\rBcc: all@example.org",
        "x\n\nbody",
        "\n",
        "x\x7f",
        "tab\tin",
        "x\x1b[2J",
        "\xff\xfe",
        ("\xc0\x8a"
         "Bcc: a@b.example"),
    };
    struct arena *arena = harness_arena(state);
    struct mail_message message;
    for (size_t i = 0; i < sizeof evil / sizeof *evil; i++) {
        struct mail mail = mail_of(evil[i], "t\n", NULL);
        help_error(mail_compose(arena, "a@example.org", &mail, NOW, &message), ERROR_INTERNAL);
        mail = mail_of("s", "t\n", NULL);
        const char *name = arena_format(arena, "%s <a@example.org>", evil[i]);
        help_error(mail_compose(arena, name, &mail, NOW, &message), ERROR_INTERNAL);
        help_error(mail_compose(arena, arena_format(arena, "a@example.org%s", evil[i]), &mail, NOW, &message),
                   ERROR_INTERNAL);
        mail.to = arena_format(arena, "zoe@example.org%s", evil[i]);
        help_error(mail_compose(arena, "a@example.org", &mail, NOW, &message), ERROR_INTERNAL);
        mail.to = arena_format(arena, "%s@example.org", evil[i]);
        help_error(mail_compose(arena, "a@example.org", &mail, NOW, &message), ERROR_INTERNAL);
    }
    struct mail mail = mail_of("", "t\n", NULL);
    help_error(mail_compose(arena, "a@example.org", &mail, NOW, &message), ERROR_INTERNAL);
    mail = mail_of("s", "\xff\n", NULL);
    help_error(mail_compose(arena, "a@example.org", &mail, NOW, &message), ERROR_INTERNAL);
    mail = mail_of("s", "t\n", "\xff\n");
    help_error(mail_compose(arena, "a@example.org", &mail, NOW, &message), ERROR_INTERNAL);
    mail = mail_of("s", "t\n", NULL);
    help_error(mail_compose(arena, "Name <a@example.org", &mail, NOW, &message), ERROR_INTERNAL);
    help_error(mail_compose(arena, "", &mail, NOW, &message), ERROR_INTERNAL);
}

static void addresses_are_told_from_what_only_looks_so(void **state)
{
    static const char *const good[] = {"a@b",
                                       "first.last+tag@sub.example.org",
                                       "o'brien@example.org",
                                       "x!#$%&'*+-/=?^_`{|}~.y@example.org",
                                       "double..dot@example.org",
                                       ("j\xc3\xb6rg@b\xc3\xbc"
                                        "cher.example"),
                                       "a@xn--bcher-kva.example",
                                       "a@1.example"};
    static const char *const bad[] = {"",
                                      "a",
                                      "@b",
                                      "a@",
                                      "a@b@c",
                                      "a b@c",
                                      "a@b c",
                                      "a@b,c@d",
                                      "<a@b>",
                                      "a@b>",
                                      "\"a\"@b",
                                      "a(comment)@b",
                                      "a@[127.0.0.1]",
                                      "a@.b",
                                      "a@b.",
                                      "a@b..c",
                                      "a@-b",
                                      "a@b-",
                                      "a@b-.c",
                                      "a@b.-c",
                                      "a\xc2\x85@b",
                                      "a\xe2\x80\xa8@b",
                                      "a\xe2\x80\xae@b",
                                      "a\xc2\xa0@b",
                                      "a\xe3\x80\x80@b",
                                      "a\xef\xbb\xbf@b",
                                      "a\xe2\x80\x80@b",
                                      "\xff@b",
                                      "a;@b",
                                      "a:b@c",
                                      "a@b\r\n",
                                      "a@b:25"};
    char long_local[80], long_host[300];
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!mail_address_valid(good[i]))
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (mail_address_valid(bad[i]))
            fail_msg("taken: %s", bad[i]);
    (void)snprintf(long_local, sizeof long_local, "%064d@b", 1);
    assert_true(mail_address_valid(long_local));
    (void)snprintf(long_local, sizeof long_local, "%065d@b", 1);
    assert_false(mail_address_valid(long_local));
    (void)snprintf(long_host, sizeof long_host, "a@%0252d", 1);
    assert_true(mail_address_valid(long_host));
    (void)snprintf(long_host, sizeof long_host, "a@%0253d", 1);
    assert_false(mail_address_valid(long_host));
}

static void senders_are_a_name_and_an_address_or_an_address(void **state)
{
    static const char *const good[] = {"a@example.org",        "<a@example.org>",    " <a@example.org>",
                                       "A <a@example.org>",    "A B<a@example.org>", "\"A\" <a@example.org>",
                                       "\"\" <a@example.org>", "\" <a@example.org>", "\"A <a@example.org>",
                                       "A\" <a@example.org>"};
    static const char *const bad[] = {"",        "A",        "A <a@example.org",     "A <>",
                                      "<a@b> C", "a@b, c@d", "A\nB <a@example.org>", "\xff <a@example.org>"};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!mail_sender_valid(arena, good[i]))
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (mail_sender_valid(arena, bad[i]))
            fail_msg("taken: %s", bad[i]);
    struct mail mail = mail_of("s", "t\n", NULL);
    expect(parse(arena, "\"Quoted Name\" <a@example.org>", &mail), "from=Quoted Name|a@example.org\n");
    expect(parse(arena, "<a@example.org>", &mail), "from=|a@example.org\n");
}

static void blanks_at_the_ends_of_a_subject_stay_and_an_empty_one_is_refused(void **state)
{
    static const char *const texts[] = {" leading", "trailing ", " both "};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct mail mail = mail_of(texts[i], "t\n", NULL);
        expect(parse(arena, "a@example.org", &mail), arena_format(arena, "subject=%s\n", texts[i]));
    }
    const struct mail mail = mail_of("", "t\n", NULL);
    struct mail_message message;
    help_error(mail_compose(arena, "a@example.org", &mail, NOW, &message), ERROR_INTERNAL);
}

static void random_text_survives_composing(void **state)
{
    static const char *const pieces[] = {"a",  "=",   " ",   "\t", "\n", ".", "From ", "\xc3\xab", "\xe2\x82\xac",
                                         "--", "=3D", "word"};
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 11};
    struct buffer text;
    buffer_init(&text, arena);
    for (int i = 0; i < 6000; i++)
        buffer_add_text(&text, pieces[harness_random_below(&random, sizeof pieces / sizeof *pieces)]);
    buffer_add_char(&text, '\n');
    struct mail mail = mail_of("s", text.bytes, NULL);
    const char *found = parse(arena, "a@example.org", &mail);
    expect(found, arena_format(arena, "quoted-printable\n%s<end>\n", text.bytes));
    expect(found, "longest=76\n");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_message_has_all_its_parts),
    HARNESS_TEST(an_id_is_made_where_none_is_given),
    HARNESS_TEST(subjects_and_names_come_out_as_they_went_in),
    HARNESS_TEST(each_line_of_the_text_stays_whole_and_alone),
    HARNESS_TEST(line_ends_of_any_kind_become_the_same),
    HARNESS_TEST(nothing_can_add_a_header),
    HARNESS_TEST(addresses_are_told_from_what_only_looks_so),
    HARNESS_TEST(senders_are_a_name_and_an_address_or_an_address),
    HARNESS_TEST(blanks_at_the_ends_of_a_subject_stay_and_an_empty_one_is_refused),
    HARNESS_TEST(random_text_survives_composing),
};
HARNESS_MODULE(mail, cases)
