/* SPDX-License-Identifier: MIT */
/* Checks mail for `gatehousectl check`, and sends one mail for `check --mail`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "ctl/check/check_int.h"
#include "service/account/mail_queue.h"
#include "service/runtime/startup.h"
#include "service/system/inspect.h"
#include "store/mail/mail.h"
#include "store/mail/mail_template.h"

#define MAIL_SECONDS 10

/* Checks the templates that this version sends, filled with examples, in each language. */
static struct error *check_templates(struct checks *checks)
{
    const struct configuration *configuration = checks->configuration;
    static const char *const names[] = {"first-login",  "confirm",      "reset",       "password-changed",
                                        "email-change", "email-notice", "email-taken", "email-cancelled"};
    static const struct mail_template_value values[] = {{"firstName", "A"},
                                                        {"lastName", "B"},
                                                        {"organisation", "C"},
                                                        {"email", "a@example.org"},
                                                        {"newEmail", "b@example.org"},
                                                        {"code", "123456"},
                                                        {"temporaryPassword", "P"},
                                                        {"link", "https://example.org/"},
                                                        {"days", "7"},
                                                        {"hours", "24"},
                                                        {"minutes", "60"},
                                                        {"time", "2026-11-21 08:52 UTC"}};
    struct mail mail = {0};
    struct text_list languages =
        mail_template_languages(checks->arena, configuration->mail.templates, configuration->service.language);
    for (size_t i = 0; i < languages.count; i++) {
        const char *folder = arena_format(checks->arena, "%s/%s", configuration->mail.templates, languages.items[i]);
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            if (!mail_template_exists(checks->arena, folder, names[j]))
                return error_message(error_plain(checks->arena, ERROR_INTERNAL),
                                     "The language folder %s lacks the mail \"%s\".", folder, names[j]);
            TRY(mail_queue_fill(configuration, checks->arena, languages.items[i], names[j], values,
                                sizeof values / sizeof *values, &mail));
        }
    }
    return NULL;
}

void check_mail(struct checks *checks)
{
    const struct configuration *configuration = checks->configuration;
    bool by_file = strcmp(configuration->mail.transport, "file") == 0;
    (void)check_tell(checks, "mail texts", CHECK_ERROR, check_templates(checks),
                     "Put the files of [mail] templates in order.");
    (void)check_tell(checks, "mail sender", CHECK_ERROR, inspect_mail_sender(checks->arena, configuration),
                     "Set from in [mail].");
    (void)check_tell(
        checks, "mail", CHECK_ERROR, inspect_mail_way(checks->arena, configuration, MAIL_SECONDS),
        by_file
            ? "Check [mail] directory and who owns it."
            : "Check that the mail server runs, and [mail] smtp_url, smtp_tls, smtp_user and smtp_password_file. Until "
              "then mail waits in the outbox.");
}

static struct error *send_mail(struct run *run, const char *to, const char **where_out)
{
    struct configuration *configuration;
    struct mail_transport *transport;
    struct mail_message message;
    const char *reason;
    TRY(startup_load(run->arena, run->config, NULL, &configuration));
    struct mail mail = {.to = to,
                        .subject = "Gatehouse: a mail to try the way",
                        .text = arena_format(run->arena,
                                             "This mail was sent by \"gatehousectl check --mail\" for\n\n%s\n\n"
                                             "Who reads it knows that mail of this installation arrives.\n",
                                             configuration->service.base_url)};
    bool by_file = strcmp(configuration->mail.transport, "file") == 0;
    *where_out = by_file ? configuration->mail.directory : configuration->mail.smtp_url;
    TRY(mail_transport_load(run->arena, configuration, &transport));
    TRY(mail_compose(run->arena, configuration->mail.from, &mail, clock_now(), &message));
    enum mail_outcome outcome = mail_send(transport, run->arena, &message, &reason);
    if (outcome == MAIL_SENT)
        return NULL;
    return error_message(error_plain(run->arena, ERROR_INTERNAL), "%s: %s.",
                         outcome == MAIL_REFUSED ? "The mail was refused for good" : "The mail was not taken", reason);
}

int check_try_mail(struct run *run, const char *to)
{
    const char *where = NULL;
    if (!mail_address_valid(to))
        return ctl_usage(run, "\"%s\" is no e-mail address", to);
    struct error *error = send_mail(run, to, &where);
    if (run->json) {
        struct ctl_json json = {.arena = run->arena};
        check_write(&json, "mail", error == NULL ? CHECK_OK : CHECK_ERROR, error, NULL);
        return error == NULL ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (error != NULL)
        return ctl_fail(error);
    (void)printf("the mail to %s was taken by %s\n", to, where);
    return EXIT_SUCCESS;
}
