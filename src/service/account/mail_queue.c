/* SPDX-License-Identifier: MIT */
/* Seals mails into the outbox, and sends what was claimed from it. */
#include "service/account/mail_queue.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/language.h"
#include "base/log.h"
#include "base/text.h"
#include "codec/digest.h"
#include "codec/document.h"
#include "codec/seal.h"
#include "service/runtime/service.h"

#define SEAL_PURPOSE "outbox"
#define ATTEMPTS_MAX 12 /* with the waits of the outbox, some two hours */
#define VALUES_MAX 16

/* What the payload says, after it was opened. */
struct letter {
    const char *template;
    const char *to;
    const char *language; /* NULL: none was chosen when it was queued */
    struct mail_template_value values[VALUES_MAX];
    size_t count;
};

/* A mail is urgent when its reader waits for what it brings. */
static enum outbox_rank rank_of(const struct mail_template_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(values[i].name, "code") == 0 || strcmp(values[i].name, "temporaryPassword") == 0)
            return OUTBOX_URGENT;
    return OUTBOX_ORDINARY;
}

struct error *mail_queue_add(struct service *service, struct arena *arena, const char *template, struct id user,
                             const char *to, const char *locale, const struct mail_template_value *values, size_t count)
{
    const char *language = language_pick(&service->languages, locale);
    struct outbox_work work = {.kind = MAIL_QUEUE_KIND, .rank = rank_of(values, count), .user_id = user};
    struct buffer payload;
    buffer_init(&payload, arena);
    buffer_add_text(&payload, "{\"template\":");
    buffer_add_json_text(&payload, template);
    buffer_add_text(&payload, ",\"to\":");
    buffer_add_json_text(&payload, to);
    buffer_add_text(&payload, ",\"language\":");
    buffer_add_json_text(&payload, language != NULL ? language : service->reader);
    buffer_add_text(&payload, ",\"values\":{");
    for (size_t i = 0; i < count; i++) {
        if (i != 0)
            buffer_add_char(&payload, ',');
        buffer_add_json_text(&payload, values[i].name);
        buffer_add_char(&payload, ':');
        buffer_add_json_text(&payload, values[i].value);
    }
    buffer_add_text(&payload, "}}");
    unsigned char *sealed;
    TRY(seal(arena, service->master, SEAL_PURPOSE, payload.bytes, payload.length, &sealed, &work.payload_length));
    work.payload = sealed;
    return outbox_add(service->database, arena, &work);
}

static struct error *open_letter(struct service *service, struct arena *arena, const struct outbox_item *item,
                                 struct letter *letter)
{
    struct secret payload;
    struct document *document;
    TRY(unseal(arena, service->master, SEAL_PURPOSE, item->payload, item->payload_length, &payload));
    TRY(document_parse(arena, secret_reveal(payload), payload.length, &document));
    letter->template = document_text(document_member(document, "template"));
    letter->to = document_text(document_member(document, "to"));
    letter->language = document_text(document_member(document, "language"));
    const struct document *values = document_member(document, "values");
    for (const struct document *value = document_first(values); value != NULL && letter->count < VALUES_MAX;
         value = document_next(value))
        letter->values[letter->count++] = (struct mail_template_value){document_name(value), document_text(value)};
    if (letter->template == NULL || letter->to == NULL)
        return error_new(arena, ERROR_INTERNAL, "the letter names no template or no address");
    return NULL;
}

/*
 * The mail's id, made from the number of its row. It is the same for each attempt, so that a mail sent twice can be
 * recognised.
 */
static struct id message_id(const struct outbox_item *item)
{
    uint8_t digest[DIGEST_BYTES];
    struct id id;
    digest_hmac(secret_of("gatehouse mail"), &item->number, sizeof item->number, digest);
    memcpy(id.bytes, digest, sizeof id.bytes);
    return id;
}

/* The folder with the template: that of the language, else the installation's, else the folder of all languages. */
static const char *folder_of(const struct configuration *configuration, struct arena *arena, const char *language,
                             const char *template)
{
    const char *all = configuration->mail.templates;
    const char *const wanted[] = {language, configuration->service.language};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (wanted[i] == NULL || !language_valid(wanted[i]))
            continue;
        const char *folder = arena_format(arena, "%s/%s", all, wanted[i]);
        if (mail_template_exists(arena, folder, template))
            return folder;
    }
    return all;
}

struct error *mail_queue_fill(const struct configuration *configuration, struct arena *arena, const char *language,
                              const char *template, const struct mail_template_value *values, size_t count,
                              struct mail *mail_out)
{
    const char *support = configuration->branding.support;
    const struct mail_template_value own[] = {
        {"product", configuration->branding.name},
        {"accent", configuration->branding.accent},
        {"support", support == NULL ? "" : support},
        {"supportText", support == NULL                       ? ""
                        : strncmp(support, "mailto:", 7) == 0 ? support + 7
                                                              : support},
    };
    size_t own_count = sizeof own / sizeof *own;
    struct mail_template_value *all = arena_array(arena, count + own_count, sizeof *all);
    memcpy(all, own, sizeof own);
    if (count > 0)
        memcpy(all + own_count, values, count * sizeof *values);
    return mail_template_fill(arena, folder_of(configuration, arena, language, template), template, all,
                              count + own_count, mail_out);
}

static struct error *compose(struct service *service, struct arena *arena, const struct outbox_item *item,
                             struct mail_message *message)
{
    struct letter letter = {0};
    struct mail mail = {.id = message_id(item)};
    TRY(open_letter(service, arena, item, &letter));
    mail.to = letter.to;
    TRY(mail_queue_fill(service->configuration, arena, letter.language, letter.template, letter.values, letter.count,
                        &mail));
    return mail_compose(arena, service->configuration->mail.from, &mail, clock_now(), message);
}

struct error *mail_queue_send(struct service *service, struct arena *arena, const struct mail_transport *transport,
                              const struct outbox_item *item, bool *sent_out)
{
    struct mail_message message;
    const char *reason = NULL;
    bool dead = false;
    *sent_out = false;
    struct error *error = compose(service, arena, item, &message);
    if (error != NULL) {
        /* Tried again: an operator can repair the template meanwhile. */
        LOG(ERROR, MAIL, "a mail could not be composed", LOG_INTEGER("number", item->number),
            LOG_TEXT("detail", error->detail));
        return outbox_retry(service->database, arena, item, ATTEMPTS_MAX, "the mail could not be composed, see the log",
                            &dead);
    }
    enum mail_outcome outcome = mail_send(transport, arena, &message, &reason);
    if (outcome == MAIL_SENT) {
        *sent_out = true;
        LOG(INFO, MAIL, "mail sent", LOG_INTEGER("number", item->number), LOG_INTEGER("attempts", item->attempts));
        return outbox_finish(service->database, arena, item, NULL);
    }
    LOG(WARN, MAIL, "mail not sent", LOG_INTEGER("number", item->number), LOG_INTEGER("attempts", item->attempts),
        LOG_TEXT("reason", reason), LOG_BOOLEAN("refused", outcome == MAIL_REFUSED));
    if (outcome == MAIL_REFUSED)
        return outbox_bury(service->database, arena, item, reason);
    return outbox_retry(service->database, arena, item, ATTEMPTS_MAX, reason, &dead);
}
