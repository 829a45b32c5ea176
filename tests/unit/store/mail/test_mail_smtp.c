/* SPDX-License-Identifier: MIT */
/* Mail over SMTP against a server that does as it is told (smtp_server.py). */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/certificate.h"
#include "store/mail/mail.h"
#include "store/script_server.h"
#include "store/support.h"

struct server {
    struct arena *arena;
    const char *directory; /* where it notes what it gets */
    const char *port;
};

/* Starts a server with these arguments (NULL-terminated), which ends with the arena. */
static struct server *start(struct arena *arena, const char *const *arguments)
{
    struct server *server = arena_alloc(arena, sizeof *server);
    server->arena = arena;
    server->directory = harness_directory(arena);
    server->port = script_server_start(arena, "tests/unit/store/smtp_server.py", server->directory, arguments);
    return server;
}

#define START(arena, ...) start((arena), (const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static const char *noted(const struct server *server)
{
    const char *path = arena_format(server->arena, "%s/log", server->directory);
    return access(path, F_OK) == 0 ? harness_read(server->arena, path, NULL) : "";
}

static struct mail_smtp_options options_for(const struct server *server)
{
    return (struct mail_smtp_options){.url = arena_format(server->arena, "smtp://localhost:%s", server->port),
                                      .connect_timeout_seconds = 30,
                                      .timeout_seconds = 30};
}

static const char text[] = "Hello,\n\n.\n..\n.dotted\nhttps://gatehouse.example/?id=1\n";

static enum mail_outcome send_with(struct arena *arena, const struct mail_smtp_options *options, const char **reason)
{
    struct mail mail = {.to = "zoe@example.org", .subject = "s", .text = text};
    struct mail_message message;
    struct mail_transport *transport;
    help_none(mail_compose(arena, "Gatehouse <no-reply@gatehouse.example>", &mail, 0, &message));
    help_none(mail_transport_smtp(arena, options, &transport));
    enum mail_outcome outcome = mail_send(transport, arena, &message, reason);
    if (outcome == MAIL_SENT)
        assert_null(*reason);
    else
        assert_non_null(*reason);
    return outcome;
}

/* ---- in the clear -------------------------------------------------------------------------------- */

static void a_message_arrives_as_it_was_composed(void **state)
{
    struct arena *arena = harness_arena(state);
    struct server *server = START(arena);
    struct mail_smtp_options options = options_for(server);
    const char *reason;
    assert_int_equal(send_with(arena, &options, &reason), MAIL_SENT);
    assert_non_null(strstr(noted(server), "plain MAIL FROM:<no-reply@gatehouse.example>"));
    assert_non_null(strstr(noted(server), "plain RCPT TO:<zoe@example.org>"));
    const char *message = harness_read(arena, arena_format(arena, "%s/message", server->directory), NULL);
    assert_non_null(strstr(message, "\r\n\r\nHello,\r\n\r\n.\r\n..\r\n.dotted\r\nhttps://gatehouse."));
    assert_int_equal(strncmp(message, "Date: ", 6), 0);
    assert_int_equal(send_with(arena, &options, &reason), MAIL_SENT);
}

static void outcomes_follow_from_the_reply_and_its_place(void **state)
{
    static const struct {
        const char *reply;
        enum mail_outcome outcome;
    } table[] = {
        {"GREETING:421 busy", MAIL_LATER},
        {"GREETING:554 go away", MAIL_LATER},
        {"MAIL:451 later", MAIL_LATER},
        {"MAIL:550 not from you", MAIL_LATER},
        {"MAIL:530 login first", MAIL_LATER},
        {"RCPT:450 mailbox busy", MAIL_LATER},
        {"RCPT:550 5.1.1 nobody", MAIL_REFUSED},
        {"RCPT:553 no", MAIL_REFUSED},
        {"RCPT:530 login first", MAIL_LATER},
        {"DATA:451 later", MAIL_LATER},
        {"DATA:554 no recipients", MAIL_REFUSED},
        {"MESSAGE:452 full", MAIL_LATER},
        {"MESSAGE:421 shutting down", MAIL_LATER},
        {"MESSAGE:554 5.7.1 spam", MAIL_REFUSED},
        {"MESSAGE:250 2.0.0 taken", MAIL_SENT},
    };
    struct arena *arena = harness_arena(state);
    struct server *server = START(arena);
    struct mail_smtp_options options = options_for(server);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *reason;
        (void)harness_write(arena, server->directory, "reply", table[i].reply, strlen(table[i].reply));
        enum mail_outcome outcome = send_with(arena, &options, &reason);
        if (outcome != table[i].outcome)
            fail_msg("%s gave %d", table[i].reply, (int)outcome);
        if (outcome != MAIL_SENT)
            assert_non_null(strstr(reason, strchr(table[i].reply, ':') + 1));
    }
}

static void a_silent_server_is_given_up_in_time(void **state)
{
    static const char *const steps[] = {"GREETING", "RCPT", "MESSAGE"};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct server *server = START(arena, "--silent", steps[i]);
        struct mail_smtp_options options = options_for(server);
        const char *reason;
        options.connect_timeout_seconds = 1;
        options.timeout_seconds = 1;
        int64_t start_time = clock_monotonic();
        assert_int_equal(send_with(arena, &options, &reason), MAIL_LATER);
        /* The server is silent for a minute. */
        assert_in_range((clock_monotonic() - start_time) / 1000, 900, 30000);
    }
}

static void nobody_there_is_for_later(void **state)
{
    struct arena *arena = harness_arena(state);
    struct mail_smtp_options options = {.url = "smtp://127.0.0.1:1"};
    const char *reason;
    assert_int_equal(send_with(arena, &options, &reason), MAIL_LATER);
    options.url = "smtps://host.invalid:465";
    assert_int_equal(send_with(arena, &options, &reason), MAIL_LATER);
}

/* ---- TLS ----------------------------------------------------------------------------------------- */

static void starttls_with_a_good_certificate_is_taken(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *good = certificate_make(arena, harness_directory(arena), "good", "localhost", 30);
    struct server *server = START(arena, "--certificate", good);
    struct mail_smtp_options options = options_for(server);
    const char *reason;
    options.tls = MAIL_TLS_REQUIRED;
    options.ca_file = arena_format(arena, "%s-cert.pem", good);
    assert_int_equal(send_with(arena, &options, &reason), MAIL_SENT);
    assert_non_null(strstr(noted(server), "tls MAIL"));
    assert_null(strstr(noted(server), "plain MAIL"));
}

static void smtps_is_always_checked(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *good = certificate_make(arena, harness_directory(arena), "good", "localhost", 30);
    struct server *server = START(arena, "--certificate", good, "--smtps");
    struct mail_smtp_options options = options_for(server);
    const char *reason;
    options.url = arena_format(arena, "smtps://localhost:%s", server->port);
    assert_int_equal(send_with(arena, &options, &reason), MAIL_LATER);
    assert_string_equal(noted(server), "");
    options.ca_file = arena_format(arena, "%s-cert.pem", good);
    assert_int_equal(send_with(arena, &options, &reason), MAIL_SENT);
    assert_non_null(strstr(noted(server), "tls MAIL"));
}

/* With TLS required, not even the sender's address goes out in the clear or to a stranger. */
static void required_tls_sends_nothing_without_it(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *good = certificate_make(arena, directory, "good", "localhost", 30);
    const char *other = certificate_make(arena, directory, "other", "localhost", 30);
    const char *elsewhere = certificate_make(arena, directory, "elsewhere", "elsewhere.example", 30);
    const char *expired = certificate_make(arena, directory, "expired", "localhost", -1);
    struct server *const servers[] = {
        START(arena),
        START(arena, "--certificate", good, "--hide-starttls"),
        START(arena, "--certificate", good, "--reply", "STARTTLS:454 not now"),
        START(arena, "--certificate", other),
        START(arena, "--certificate", elsewhere),
        START(arena, "--certificate", expired),
    };
    const char *const authorities[] = {good, good, good, good, elsewhere, expired};
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        struct mail_smtp_options options = options_for(servers[i]);
        const char *reason;
        options.tls = MAIL_TLS_REQUIRED;
        options.user = "user";
        options.password = secret_of("Canary-1234");
        options.ca_file = arena_format(arena, "%s-cert.pem", authorities[i]);
        assert_int_equal(send_with(arena, &options, &reason), MAIL_LATER);
        assert_null(strstr(noted(servers[i]), "MAIL"));
        assert_null(strstr(noted(servers[i]), "AUTH"));
        assert_null(strstr(reason, "Canary"));
    }
}

static void opportunistic_tls_takes_what_is_offered(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *own = certificate_make(arena, harness_directory(arena), "own", "elsewhere.example", 30);
    struct server *with = START(arena, "--certificate", own);
    struct server *without = START(arena);
    struct mail_smtp_options options = options_for(with);
    const char *reason;
    options.tls = MAIL_TLS_OPPORTUNISTIC;
    assert_int_equal(send_with(arena, &options, &reason), MAIL_SENT);
    assert_non_null(strstr(noted(with), "tls MAIL"));
    options = options_for(without);
    options.tls = MAIL_TLS_OPPORTUNISTIC;
    assert_int_equal(send_with(arena, &options, &reason), MAIL_SENT);
    assert_non_null(strstr(noted(without), "plain MAIL"));
}

/* ---- logging in ---------------------------------------------------------------------------------- */

static void a_login_is_made_behind_tls(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *good = certificate_make(arena, harness_directory(arena), "good", "localhost", 30);
    struct server *server = START(arena, "--certificate", good, "--auth", "user:Canary-1234");
    struct mail_smtp_options options = options_for(server);
    const char *reason;
    options.tls = MAIL_TLS_REQUIRED;
    options.ca_file = arena_format(arena, "%s-cert.pem", good);
    options.user = "user";
    options.password = secret_of("Canary-1234");
    assert_int_equal(send_with(arena, &options, &reason), MAIL_SENT);
    assert_non_null(strstr(noted(server), "tls LOGIN user"));
    /*
     * A wrong password can be corrected; the mail must not be lost for it, nor the password told by a server's
     * echo.
     */
    options.password = secret_of("Canary-5678");
    assert_int_equal(send_with(arena, &options, &reason), MAIL_LATER);
    assert_non_null(strstr(reason, "535"));
    assert_null(strstr(reason, "Canary"));
}

/* A server that offers no login may still take the mail; if it does not, the mail waits. */
static void a_login_that_is_not_offered_is_not_made(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *good = certificate_make(arena, harness_directory(arena), "good", "localhost", 30);
    struct server *server = START(arena, "--certificate", good, "--reply", "RCPT:530 5.7.0 login first");
    struct mail_smtp_options options = options_for(server);
    const char *reason;
    options.tls = MAIL_TLS_REQUIRED;
    options.ca_file = arena_format(arena, "%s-cert.pem", good);
    options.user = "user";
    options.password = secret_of("p");
    assert_int_equal(send_with(arena, &options, &reason), MAIL_LATER);
    assert_non_null(strstr(reason, "530 5.7.0 login first"));
    assert_null(strstr(noted(server), "AUTH"));
}

/* ---- options ------------------------------------------------------------------------------------- */

static void options_that_contradict_each_other_are_refused(void **state)
{
    static const struct {
        const char *url, *user, *password;
        enum mail_tls tls;
        bool good;
    } table[] = {
        {"smtp://localhost:25", NULL, NULL, MAIL_TLS_NONE, true},
        {"smtp://127.0.0.1", NULL, NULL, MAIL_TLS_NONE, true},
        {"smtp://[::1]:25", "u", "p", MAIL_TLS_NONE, true},
        {"smtp://localhost:25", "u", NULL, MAIL_TLS_REQUIRED, false},
        {"smtp://mail.example:587", NULL, NULL, MAIL_TLS_NONE, false},
        {"smtp://127.evil.example:587", NULL, NULL, MAIL_TLS_NONE, false},
        {"smtp://127.evil.example:587", "u", "p", MAIL_TLS_OPPORTUNISTIC, false},
        {"smtp://localhost.example:587", NULL, NULL, MAIL_TLS_NONE, false},
        {"smtp://mail.example:587", NULL, NULL, MAIL_TLS_OPPORTUNISTIC, true},
        {"smtp://mail.example:587", "u", "p", MAIL_TLS_OPPORTUNISTIC, false},
        {"smtp://mail.example:587", "u", "p", MAIL_TLS_REQUIRED, true},
        {"smtps://mail.example:465", "u", "p", MAIL_TLS_NONE, true},
        {"http://mail.example", NULL, NULL, MAIL_TLS_REQUIRED, false},
        {"file:///etc/passwd", NULL, NULL, MAIL_TLS_REQUIRED, false},
        {"smtp://user:secret@mail.example", NULL, NULL, MAIL_TLS_REQUIRED, false},
        {"smtp://mail.example/path", NULL, NULL, MAIL_TLS_REQUIRED, false},
        {"smtp://mail.example?x=y", NULL, NULL, MAIL_TLS_REQUIRED, false},
        {"mail.example:25", NULL, NULL, MAIL_TLS_REQUIRED, false},
        {"smtp://", NULL, NULL, MAIL_TLS_REQUIRED, false},
        {"", NULL, NULL, MAIL_TLS_REQUIRED, false},
        {NULL, NULL, NULL, MAIL_TLS_REQUIRED, false},
    };
    struct arena *arena = harness_arena(state);
    struct mail_transport *transport;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct mail_smtp_options options = {
            .url = table[i].url, .user = table[i].user, .password = secret_of(table[i].password), .tls = table[i].tls};
        struct error *error = mail_transport_smtp(arena, &options, &transport);
        if ((error == NULL) != table[i].good)
            fail_msg("row %zu: %s", i, error == NULL ? "taken" : error->message);
        if (error != NULL)
            assert_non_null(strstr(error->message, "[mail]"));
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_message_arrives_as_it_was_composed),
    HARNESS_TEST(outcomes_follow_from_the_reply_and_its_place),
    HARNESS_TEST(a_silent_server_is_given_up_in_time),
    HARNESS_TEST(nobody_there_is_for_later),
    HARNESS_TEST(starttls_with_a_good_certificate_is_taken),
    HARNESS_TEST(smtps_is_always_checked),
    HARNESS_TEST(required_tls_sends_nothing_without_it),
    HARNESS_TEST(opportunistic_tls_takes_what_is_offered),
    HARNESS_TEST(a_login_is_made_behind_tls),
    HARNESS_TEST(a_login_that_is_not_offered_is_not_made),
    HARNESS_TEST(options_that_contradict_each_other_are_refused),
};
HARNESS_MODULE(mail_smtp, cases)
