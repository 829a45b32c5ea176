/* SPDX-License-Identifier: MIT */
/* Gives an account its former address back. */
#include "service/account/email_cancel.h"

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/account/email_change.h"
#include "domain/account/one_time_code.h"
#include "domain/account/throttle.h"
#include "domain/account/user.h"
#include "domain/audit.h"
#include "domain/outbox.h"
#include "identity/provider.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/login_throttle.h"
#include "service/account/notification.h"
#include "service/account/provider_sync.h"
#include "service/account/session_admin.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define CANCELLED "user.emailChangeCancelled"
#define ATTEMPTS_MAX 100

struct cancelling {
    struct service *service;
    const struct caller *caller;
    struct id user; /* zeros: nobody has the name */
    const char *code;
    bool done;
};

/*
 * Tells the old address, and sends it a code for a new password: whoever asked for the change knew the old one. A
 * provider that mails its own codes is asked for one by the job.
 */
static struct error *tell(struct service *service, struct arena *arena, const struct user *user)
{
    struct secret code;
    TRY(notification_email_cancelled(service, arena, user));
    if (user->status != USER_ACTIVE || provider_has_codes(service->provider))
        return NULL;
    TRY(one_time_code_issue(service->database, arena, service->master, user->id, ONE_TIME_CODE_RESET,
                            ONE_TIME_CODE_RESET_SECONDS, &code));
    return notification_reset(service, arena, user, code);
}

static struct error *undo(const struct cancelling *cancelling, struct arena *arena, const struct email_change *change)
{
    struct service *service = cancelling->service;
    struct database *database = service->database;
    struct user *user = NULL;
    TRY(user_find_any(database, arena, cancelling->user, &user));
    if (user == NULL)
        return error_new(arena, ERROR_INTERNAL, "a change of an address is nobody's");
    struct outbox_work work = {.kind = EMAIL_CANCEL_KIND, .rank = OUTBOX_QUESTION, .user_id = user->id};
    struct audit_entry entry = {
        .action = CANCELLED,
        .organisation_id = user->organisation_id,
        .user_id = user->id,
        .target_type = "user",
        .target_id = id_text(arena, user->id),
    };
    TRY(email_change_undo(database, arena, user, change));
    user->email = change->old_email;
    TRY(one_time_code_void(database, arena, user->id, ONE_TIME_CODE_EMAIL));
    TRY(one_time_code_void(database, arena, user->id, ONE_TIME_CODE_RESET));
    TRY(session_admin_end_all(service, arena, user->id));
    TRY(tell(service, arena, user));
    TRY(outbox_add(database, arena, &work));
    return caller_audit(service, arena, cancelling->caller, &entry);
}

static struct error *cancel_rows(struct database *database, struct arena *arena, void *context)
{
    struct cancelling *cancelling = context;
    struct email_change *change = NULL;
    cancelling->done = false;
    TRY(user_hold(database, arena, cancelling->user, false));
    TRY(email_change_find_by_code(database, arena, cancelling->service->master, cancelling->user, cancelling->code,
                                  &change));
    if (change == NULL)
        return NULL;
    TRY(undo(cancelling, arena, change));
    cancelling->done = true;
    return NULL;
}

/* Ends what the provider knows of the sessions, at once: later it would end those that begin from now on. */
static struct error *tell_provider(struct service *service, struct arena *arena, const struct user *user)
{
    TRY(provider_sync_user(service, arena, user->id));
    return user->provider_subject == NULL ? NULL
                                          : provider_logout_all(service->provider, arena, user->provider_subject);
}

/* The address first: then no code that the provider mails from here on goes to the wrong one. */
static struct error *follow(struct service *service, struct arena *arena, struct id id)
{
    struct user *user = NULL;
    enum provider_outcome outcome;
    TRY(provider_sync_user(service, arena, id));
    TRY(user_find_any(service->database, arena, id, &user));
    if (user == NULL || user->status != USER_ACTIVE || !provider_has_codes(service->provider))
        return NULL;
    /* Which also replaces a code of the provider's that was mailed to the other address. */
    return provider_send_code(service->provider, arena, user->provider_subject, PROVIDER_CODE_RESET, &outcome);
}

/*
 * Counts the try at this account by this client before it is compared. Others' tries do not count, so that whoever has
 * the account now cannot use up the tries of its owner.
 */
static struct error *take_try(struct cancelling *cancelling, struct arena *arena, const struct throttle_key *key,
                              bool *taken_out)
{
    struct database *database = cancelling->service->database;
    unsigned wait = 0;
    const char *client = cancelling->caller->client_address;
    bool known = client != NULL && *client != '\0';
    if (known)
        TRY(throttle_take(database, arena, key, THROTTLE_CANCEL_FREE, &wait));
    *taken_out = wait == 0;
    if (wait > 0)
        return NULL;
    TRY(database_transaction(database, arena, cancel_rows, cancelling, NULL));
    /* The change is undone: a try that stays counted must not tell its owner otherwise. */
    struct error *error = known && cancelling->done ? throttle_give_back(database, arena, key) : NULL;
    if (error != NULL)
        LOG(WARN, ACCOUNTS, "a right try stays counted", LOG_TEXT("detail", error->detail));
    return NULL;
}

struct error *email_cancel(struct service *service, struct arena *arena, const struct caller *caller,
                           const char *username, const char *code)
{
    struct login_throttle throttle = login_throttle_of_code(caller);
    struct user *user = NULL;
    bool taken = false;
    TRY(login_throttle_check(service, arena, &throttle));
    TRY(user_find_by_username(service->database, arena, username, &user));
    struct cancelling cancelling = {.service = service, .caller = caller, .code = code};
    if (user != NULL)
        cancelling.user = user->id;
    struct throttle_key account = user != NULL ? throttle_of_user(user->id) : throttle_of_name(arena, username);
    struct throttle_key key =
        throttle_of_cancelling(&account, caller->client_address != NULL ? caller->client_address : "");
    TRY(take_try(&cancelling, arena, &key, &taken));
    if (user == NULL || !cancelling.done) {
        TRY(caller_audit_failure(service, arena, caller, CANCELLED, user));
        return login_throttle_failed(service, arena, &throttle, error_plain(arena, ERROR_CODE_MISMATCH));
    }
    caller_log_actor(arena, user);
    struct error *error = tell_provider(service, arena, user);
    if (error != NULL)
        LOG(WARN, ACCOUNTS, "the provider will be told of an address later", LOG_TEXT("detail", error->detail));
    return NULL;
}

struct error *email_cancel_run(struct service *service, struct arena *arena, const struct outbox_item *item)
{
    bool dead = false;
    struct error *error = follow(service, arena, item->user_id);
    if (error == NULL)
        return outbox_finish(service->database, arena, item, NULL);
    LOG(WARN, JOBS, "the identity provider was not told of an address", LOG_INTEGER("number", item->number),
        LOG_TEXT("detail", error->detail));
    return outbox_retry(service->database, arena, item, ATTEMPTS_MAX, error_sentence(error->code), &dead);
}
