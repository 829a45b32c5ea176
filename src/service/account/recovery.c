/* SPDX-License-Identifier: MIT */
/* Queues questions about forgotten passwords and lost mails, and answers them in the job runner. */
#include "service/account/recovery.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/language.h"
#include "base/log.h"
#include "codec/document.h"
#include "codec/random.h"
#include "codec/seal.h"
#include "domain/account/one_time_code.h"
#include "domain/account/provisioning.h"
#include "domain/account/throttle.h"
#include "domain/audit.h"
#include "domain/outbox.h"
#include "identity/provider.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/login_throttle.h"
#include "service/account/notification.h"
#include "service/account/provider_sync.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define SEAL_PURPOSE "recovery"
#define ATTEMPTS_MAX 8
#define STALE_SECONDS 60
#define STALE_USERS 20

/* An opened question, and the user whom it is about. */
struct question {
    struct service *service;
    const struct outbox_item *item;
    const char *client_address;
    const char *request_id;
    const struct user *user;
    const char *organisation;
    struct secret temporary_password;
    bool on_behalf; /* somebody else asked for the user: the mail is counted and recorded already */
};

/* A sealed question that is about to be queued. */
struct asking {
    struct outbox_work work;
    const char *client_address; /* NULL: the web server gave none */
    unsigned wait;              /* seconds to wait; not 0: the address has asked often enough */
};

/* Counts the question and queues it, in one transaction: an address cannot queue more than is counted. */
static struct error *queue_question(struct database *database, struct arena *arena, void *context)
{
    struct asking *asking = context;
    asking->wait = 0;
    if (asking->client_address != NULL && *asking->client_address != '\0') {
        struct throttle_key key = throttle_of_mail(asking->client_address);
        TRY(throttle_take(database, arena, &key, THROTTLE_MAIL_FREE, &asking->wait));
    }
    return asking->wait == 0 ? outbox_add(database, arena, &asking->work) : NULL;
}

static struct error *seal_question(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *username, bool on_behalf, struct outbox_work *work)
{
    struct buffer payload;
    unsigned char *sealed;
    buffer_init(&payload, arena);
    buffer_add_text(&payload, "{\"username\":");
    buffer_add_json_text(&payload, username);
    buffer_add_text(&payload, ",\"clientAddress\":");
    buffer_add_json_text(&payload, caller->client_address);
    buffer_add_text(&payload, ",\"requestId\":");
    buffer_add_json_text(&payload, caller->request_id);
    buffer_add_text(&payload, ",\"language\":");
    buffer_add_json_text(&payload, service->reader);
    buffer_add_format(&payload, ",\"onBehalf\":%s}", on_behalf ? "true" : "false");
    TRY(seal(arena, service->master, SEAL_PURPOSE, payload.bytes, payload.length, &sealed, &work->payload_length));
    work->payload = sealed;
    return NULL;
}

struct error *recovery_send_again(struct service *service, struct arena *arena, const struct caller *caller,
                                  struct id user)
{
    struct outbox_work work = {.kind = RECOVERY_RESEND, .rank = OUTBOX_QUESTION, .user_id = user};
    TRY(seal_question(service, arena, caller, id_text(arena, user), true, &work));
    return outbox_add(service->database, arena, &work);
}

struct error *recovery_ask(struct service *service, struct arena *arena, const struct caller *caller, const char *kind,
                           const char *username)
{
    struct asking asking = {.work = {.kind = kind, .rank = OUTBOX_QUESTION}, .client_address = caller->client_address};
    TRY(seal_question(service, arena, caller, username, false, &asking.work));
    TRY(database_transaction(service->database, arena, queue_question, &asking, NULL));
    return asking.wait == 0 ? NULL : login_throttle_refuse(arena, asking.wait, METRIC_THROTTLED_MAIL);
}

static struct error *record(struct question *question, struct arena *arena, const char *action)
{
    if (question->on_behalf)
        return NULL;
    struct caller asker = {.client_address = question->client_address, .request_id = question->request_id};
    struct audit_entry entry = {
        .action = action,
        .organisation_id = question->user->organisation_id,
        .user_id = question->user->id,
        .target_type = "user",
        .target_id = id_text(arena, question->user->id),
    };
    return caller_audit(question->service, arena, &asker, &entry);
}

/* Counts the mail and tells whether it may be sent. One that was asked for on behalf of the user is counted already. */
static struct error *take_allowance(const struct question *question, struct arena *arena, const char *purpose,
                                    bool *allowed_out)
{
    *allowed_out = true;
    if (question->on_behalf)
        return NULL;
    return one_time_code_mail_allowed(question->service->database, arena, question->user->id, purpose, allowed_out);
}

/* Each of the three answers is one transaction: allowance, code, mail, audit row and the end of the job. */

static struct error *mail_reset(struct database *database, struct arena *arena, void *context)
{
    struct question *question = context;
    struct secret code;
    bool allowed = false;
    struct id id = question->user->id;
    TRY(take_allowance(question, arena, ONE_TIME_CODE_RESET, &allowed));
    if (allowed) {
        TRY(one_time_code_issue(database, arena, question->service->master, id, ONE_TIME_CODE_RESET,
                                ONE_TIME_CODE_RESET_SECONDS, &code));
        TRY(notification_reset(question->service, arena, question->user, code));
        TRY(record(question, arena, "user.forgottenPassword"));
    }
    return outbox_finish_ours(database, arena, question->item);
}

static struct error *mail_confirmation(struct database *database, struct arena *arena, void *context)
{
    struct question *question = context;
    struct secret code;
    bool allowed = false;
    struct id id = question->user->id;
    TRY(take_allowance(question, arena, ONE_TIME_CODE_CONFIRM, &allowed));
    if (allowed) {
        TRY(one_time_code_issue(database, arena, question->service->master, id, ONE_TIME_CODE_CONFIRM,
                                ONE_TIME_CODE_CONFIRM_SECONDS, &code));
        TRY(notification_confirm(question->service, arena, question->user, question->organisation, code));
        TRY(record(question, arena, "user.resendConfirmation"));
    }
    return outbox_finish_ours(database, arena, question->item);
}

static struct error *mail_invitation(struct database *database, struct arena *arena, void *context)
{
    struct question *question = context;
    TRY(notification_first_login(question->service, arena, question->user, question->organisation,
                                 question->temporary_password));
    TRY(record(question, arena, "user.resendInvitation"));
    return outbox_finish_ours(database, arena, question->item);
}

/*
 * Gives the user a new temporary password. The provider first: a mailed password must be one that the provider knows. A
 * crash between the two costs one of the day's mails; the job then runs again with another password.
 */
static struct error *invite_again(struct question *question, struct arena *arena)
{
    struct service *service = question->service;
    enum provider_outcome outcome;
    bool allowed = true;
    /* Counted at the first attempt only. */
    if (question->item->attempts <= 1)
        TRY(take_allowance(question, arena, NOTIFICATION_FIRST_LOGIN, &allowed));
    if (!allowed)
        return outbox_finish(service->database, arena, question->item, NULL);
    question->temporary_password = secret_of(random_text(arena, RANDOM_PASSWORD_CHARACTERS));
    TRY(provider_invite_again(service->provider, arena, question->user->provider_subject, question->temporary_password,
                              &outcome));
    /*
     * The account has a permanent password: an administrator has set it, or the first login has happened and a crash
     * has kept our row from learning of it. Whoever asks has not shown that password, so only a login activates.
     */
    if (outcome == PROVIDER_STATE)
        return outbox_finish(service->database, arena, question->item, NULL);
    if (outcome != PROVIDER_OK)
        return error_new(arena, ERROR_INTERNAL, "provider: %s", provider_outcome_text(outcome));
    return database_transaction(service->database, arena, mail_invitation, question, NULL);
}

/* Confirms our row: the provider has confirmed the account, and a crash has kept our row from learning of it. */
static struct error *catch_up(struct database *database, struct arena *arena, void *context)
{
    struct question *question = context;
    const struct user *user = question->user;
    bool changed = false;
    TRY(user_confirm(database, arena, user->organisation_id, user->id, &changed));
    if (changed)
        TRY(provider_sync_queue(question->service, arena, user->id, 0));
    return outbox_finish_ours(database, arena, question->item);
}

static struct error *record_sending(struct database *database, struct arena *arena, void *context)
{
    struct question *question = context;
    bool forgotten = strcmp(question->item->kind, RECOVERY_FORGOTTEN) == 0;
    TRY(record(question, arena, forgotten ? "user.forgottenPassword" : "user.resendConfirmation"));
    return outbox_finish_ours(database, arena, question->item);
}

/*
 * Has the provider mail the code itself. A call without an answer is made again; then the later code is the valid one.
 */
static struct error *have_sent(struct question *question, struct arena *arena, enum provider_code code)
{
    struct service *service = question->service;
    struct database *database = service->database;
    enum provider_outcome outcome;
    bool allowed = true;
    if (question->item->attempts <= 1)
        TRY(take_allowance(question, arena, code == PROVIDER_CODE_RESET ? ONE_TIME_CODE_RESET : ONE_TIME_CODE_CONFIRM,
                           &allowed));
    if (!allowed)
        return outbox_finish(database, arena, question->item, NULL);
    /* The provider mails to the address that it knows: it must be ours, which may have changed a moment ago. */
    TRY(provider_sync_user(service, arena, question->user->id));
    TRY(provider_send_code(service->provider, arena, question->user->provider_subject, code, &outcome));
    if (outcome == PROVIDER_STATE && code == PROVIDER_CODE_CONFIRM)
        return database_transaction(database, arena, catch_up, question, NULL);
    if (outcome != PROVIDER_OK)
        return error_new(arena, ERROR_INTERNAL, "provider: %s", provider_outcome_text(outcome));
    return database_transaction(database, arena, record_sending, question, NULL);
}

static struct error *open_question(struct question *question, struct arena *arena, const char **username_out)
{
    struct secret payload;
    struct document *document;
    TRY(unseal(arena, question->service->master, SEAL_PURPOSE, question->item->payload, question->item->payload_length,
               &payload));
    TRY(document_parse(arena, secret_reveal(payload), payload.length, &document));
    *username_out = document_text(document_member(document, "username"));
    question->client_address = document_text(document_member(document, "clientAddress"));
    question->request_id = document_text(document_member(document, "requestId"));
    (void)document_boolean(document_member(document, "onBehalf"), &question->on_behalf);
    question->service->reader =
        language_pick(&question->service->languages, document_text(document_member(document, "language")));
    return *username_out != NULL ? NULL : error_new(arena, ERROR_INTERNAL, "the question names nobody");
}

/* Finds who asks, as far as there is such a user in an organisation that is active; NULL otherwise. */
static struct error *find_asking(struct question *question, struct arena *arena, const char *username)
{
    struct service *service = question->service;
    struct user *user = NULL;
    struct organisation *organisation = NULL;
    TRY(user_find_by_username(service->database, arena, username, &user));
    if (user != NULL)
        TRY(organisation_find(service->database, arena, user->organisation_id, &organisation));
    if (organisation == NULL || organisation->status != ORGANISATION_ACTIVE)
        return NULL;
    question->user = user;
    question->organisation = organisation->name;
    return NULL;
}

static struct error *answer(struct question *question, struct arena *arena)
{
    struct service *service = question->service;
    const char *username = NULL;
    TRY(open_question(question, arena, &username));
    TRY(find_asking(question, arena, username));
    const struct user *user = question->user;
    if (user == NULL)
        return outbox_finish(service->database, arena, question->item, NULL);
    bool forgotten = strcmp(question->item->kind, RECOVERY_FORGOTTEN) == 0;
    bool theirs = provider_has_codes(service->provider);
    if (theirs && forgotten && user->status == USER_ACTIVE)
        return have_sent(question, arena, PROVIDER_CODE_RESET);
    if (theirs && !forgotten && user->status == USER_AWAITING_CONFIRMATION)
        return have_sent(question, arena, PROVIDER_CODE_CONFIRM);
    if (forgotten && user->status == USER_ACTIVE)
        return database_transaction(service->database, arena, mail_reset, question, NULL);
    if (!forgotten && user->status == USER_AWAITING_CONFIRMATION)
        return database_transaction(service->database, arena, mail_confirmation, question, NULL);
    if (!forgotten && user->status == USER_AWAITING_FIRST_LOGIN)
        return invite_again(question, arena);
    return outbox_finish(service->database, arena, question->item, NULL);
}

struct error *recovery_run(struct service *service, struct arena *arena, const struct outbox_item *item)
{
    struct question question = {.service = service, .item = item};
    bool dead = false;
    struct error *error = answer(&question, arena);
    if (error == NULL)
        return NULL;
    LOG(WARN, JOBS, "a request for a code will be tried again", LOG_INTEGER("number", item->number),
        LOG_TEXT("detail", error->detail));
    return outbox_retry(service->database, arena, item, ATTEMPTS_MAX, error_sentence(error->code), &dead);
}

static struct error *undo(struct service *service, struct arena *arena, const struct user *user)
{
    TRY(provider_remove(service->provider, arena, user->id, user->email));
    TRY(provisioning_abort(service->database, arena, user));
    LOG(INFO, ACCOUNTS, "a half-made account was removed", LOG_TEXT("undoneUserId", id_text(arena, user->id)));
    return NULL;
}

struct error *recovery_undo_stale(struct service *service, struct arena *arena, size_t *count_out)
{
    struct user *users;
    size_t count;
    struct error *first = NULL;
    *count_out = 0;
    TRY(provisioning_stale(service->database, arena, STALE_SECONDS, STALE_USERS, &users, &count));
    for (size_t i = 0; i < count; i++) {
        bool held = false;
        TRY(provisioning_claim(service->database, arena, &users[i], &held));
        if (!held)
            continue;
        struct error *error = undo(service, arena, &users[i]);
        provisioning_end(service->database, arena, &users[i]);
        *count_out += error == NULL;
        /* An account that cannot be removed must not keep the others from it. */
        first = first != NULL ? first : error;
    }
    return first;
}
