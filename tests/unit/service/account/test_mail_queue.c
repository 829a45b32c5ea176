/* SPDX-License-Identifier: MIT */
/* Mails that wait are composed and handed over; what comes of each is in the outbox, whatever the mail server says. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/seal.h"
#include "domain/outbox.h"
#include "service/account/mail_queue.h"
#include "service/support_accounts.h"
#include "store/database/database.h"
#include "store/mail/mail.h"

#define TO "ada@example.com"
/* Words of the template in each language. */
#define ENGLISH "Kind regards"
#define GERMAN "Mit freundlichen Gr"

/* A mail server that answers what it is told to, and keeps what it was given. */
struct server {
    enum mail_outcome outcome;
    unsigned mails;
    const char *bytes;
};

static enum mail_outcome receive(void *context, struct arena *arena, const struct mail_message *message,
                                 const char **reason_out)
{
    struct server *server = context;
    server->mails++;
    server->bytes = arena_copy(arena, message->bytes, message->length);
    assert_string_equal(message->to, TO);
    *reason_out = server->outcome == MAIL_SENT ? NULL : "the test's server does not want it";
    return server->outcome;
}

/* What is queued: a letter of ours, or bytes that somebody has written by hand. */
struct queued {
    struct scene *scene;
    const char *locale;
    const char *payload; /* NULL: a letter */
    bool sealed;         /* the payload is */
};

static struct error *add(struct database *database, struct arena *arena, void *context)
{
    const struct queued *queued = context;
    static const struct mail_template_value values[] = {
        {"firstName", "Ada"}, {"lastName", "Quill"},         {"email", TO},
        {"code", "246810"},   {"link", "https://a.example"}, {"minutes", "60"}};
    struct outbox_work work = {.kind = MAIL_QUEUE_KIND, .payload = queued->payload};
    if (queued->payload == NULL)
        return mail_queue_add(&queued->scene->service, arena, "reset", (struct id){{0}}, TO, queued->locale, values,
                              sizeof values / sizeof *values);
    work.payload_length = strlen(queued->payload);
    unsigned char *sealed = NULL;
    if (queued->sealed)
        TRY(seal(arena, queued->scene->service.master, "outbox", queued->payload, work.payload_length, &sealed,
                 &work.payload_length));
    if (queued->sealed)
        work.payload = sealed;
    return outbox_add(database, arena, &work);
}

static struct outbox_item *claim(struct scene *scene)
{
    struct outbox_items items;
    sql(scene->database, scene->arena, "UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");
    expect_ok(outbox_claim(scene->database, scene->arena, 1, 600, &items));
    assert_int_equal(items.count, 1);
    return &items.items[0];
}

/* Whether the mail was sent; then the status of its row, its attempts and its error. */
static bool send(struct scene *scene, const struct outbox_item *item, struct server *server, const char *row)
{
    struct mail_transport transport = {.send = receive, .context = server};
    bool sent = false;
    expect_ok(mail_queue_send(&scene->service, scene->arena, &transport, item, &sent));
    assert_string_equal(sql_text(scene->database, scene->arena,
                                 "SELECT CONCAT_WS(' ', status, attempts, last_error) FROM outbox ORDER BY id DESC"
                                 " LIMIT 1"),
                        row);
    return sent;
}

static struct outbox_item *given(struct scene *scene, struct queued queued)
{
    queued.scene = scene;
    sql(scene->database, scene->arena, "DELETE FROM outbox");
    expect_ok(database_transaction(scene->database, scene->arena, add, &queued, NULL));
    return claim(scene);
}

static void what_the_mail_server_says_is_in_the_outbox(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct server server = {.outcome = MAIL_LATER};
    assert_false(send(scene, given(scene, (struct queued){.locale = NULL}), &server,
                      "waiting 1 the test's server does not want it"));
    server.outcome = MAIL_SENT;
    assert_true(send(scene, claim(scene), &server, "done 2"));
    assert_int_equal(server.mails, 2);
    server.outcome = MAIL_REFUSED;
    assert_false(send(scene, given(scene, (struct queued){.locale = NULL}), &server,
                      "dead 1 the test's server does not want it"));
    assert_int_equal(
        sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM outbox WHERE LENGTH(payload) > 0"), 0);
}

static void a_letter_that_cannot_be_read_goes_nowhere_and_waits(void **state)
{
    static const struct queued rows[] = {
        {.payload = "by hand"},
        {.payload = "{", .sealed = true},
        {.payload = "{}", .sealed = true},
        {.payload = "{\"template\":\"reset\",\"values\":{}}", .sealed = true},
        {.payload = "{\"to\":\"" TO "\",\"values\":{}}", .sealed = true},
        {.payload = "{\"template\":\"none\",\"to\":\"" TO "\",\"values\":{}}", .sealed = true},
        {.payload = "{\"template\":\"reset\",\"to\":\"nobody\",\"values\":{}}", .sealed = true},
    };
    struct scene *scene = scene_new(harness_arena(state));
    struct server server = {.outcome = MAIL_SENT};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_false(
            send(scene, given(scene, rows[i]), &server, "waiting 1 the mail could not be composed, see the log"));
    assert_int_equal(server.mails, 0);
}

static void expect_language(struct scene *scene, const char *locale, const char *word)
{
    struct server server = {.outcome = MAIL_SENT};
    assert_true(send(scene, given(scene, (struct queued){.locale = locale}), &server, "done 1"));
    if (strstr(server.bytes, word) == NULL)
        fail_msg("%s: no %s in %.400s", locale == NULL ? "no language" : locale, word, server.bytes);
}

/* The person's language, else that of the request, else the installation's; a language without templates counts not. */
static void a_mail_is_in_a_language_that_there_is(void **state)
{
    static const char *languages[] = {"en", "de", "xx"};
    struct scene *scene = scene_new(harness_arena(state));
    scene->service.languages = (struct text_list){languages, 3};
    expect_language(scene, "de-AT", GERMAN);
    expect_language(scene, NULL, ENGLISH);
    expect_language(scene, "xx", ENGLISH);
    scene->service.reader = "de";
    expect_language(scene, NULL, GERMAN);
    scene->service.reader = NULL;
    scene->configuration.service.language = "de";
    expect_language(scene, NULL, GERMAN);
}

static void the_support_is_named_as_people_write_it(void **state)
{
    static const struct {
        const char *support;
        const char *text;
    } rows[] = {{NULL, NULL},
                {"mailto:help@example.org", "help@example.org"},
                {"https://example.org/help", "https://example.org/help"}};
    struct scene *scene = scene_new(harness_arena(state));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mail mail = {.to = TO};
        static const struct mail_template_value values[] = {
            {"firstName", "Ada"}, {"lastName", "Quill"},         {"email", TO},
            {"code", "246810"},   {"link", "https://a.example"}, {"minutes", "60"}};
        scene->configuration.branding.support = rows[i].support;
        expect_ok(mail_queue_fill(&scene->configuration, scene->arena, "en", "reset", values,
                                  sizeof values / sizeof *values, &mail));
        assert_int_equal(rows[i].text != NULL && strstr(mail.text, rows[i].text) != NULL, rows[i].text != NULL);
        assert_null(strstr(mail.text, "mailto:"));
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_the_mail_server_says_is_in_the_outbox),
    HARNESS_TEST(a_letter_that_cannot_be_read_goes_nowhere_and_waits),
    HARNESS_TEST(a_mail_is_in_a_language_that_there_is),
    HARNESS_TEST(the_support_is_named_as_people_write_it),
};
HARNESS_MODULE(mail_queue, cases)
