/* SPDX-License-Identifier: MIT */
/* Takes, answers and confirms changes of e-mail addresses. */
#include "service/account/email_change.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/language.h"
#include "base/log.h"
#include "codec/address.h"
#include "codec/seal.h"
#include "domain/account/email_change.h"
#include "domain/account/one_time_code.h"
#include "domain/account/throttle.h"
#include "domain/account/user.h"
#include "domain/audit.h"
#include "domain/outbox.h"
#include "domain/permission/principal.h"
#include "identity/provider.h"
#include "service/access/authority.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/login_throttle.h"
#include "service/account/notification.h"
#include "service/account/password_proof.h"
#include "service/account/provider_sync.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define ASKED "user.emailChangeRequested"
#define CHANGED "user.emailChanged"

#define SEAL_PURPOSE "email-change"
#define ATTEMPTS_MAX 8
#define DAY_MILLISECONDS 86400000

/* The audit row never has an address: it stays when a person is erased. */
static struct error *record(struct service *service, struct arena *arena, const struct caller *caller,
                            const struct user *user, const char *action)
{
    struct audit_entry entry = {
        .action = action,
        .organisation_id = user->organisation_id,
        .target_type = "user",
        .target_id = id_text(arena, user->id),
    };
    return caller_audit(service, arena, caller, &entry);
}

/* The caller's row, locked, of a caller who may still call. */
static struct error *lock_self(struct service *service, struct arena *arena, const struct caller *caller,
                               struct caller *now_out, struct user **user_out)
{
    TRY(authority_hold_self(service, arena, caller, now_out));
    TRY(user_lock(service->database, arena, caller_home(now_out), caller_user(now_out), user_out));
    return *user_out != NULL ? NULL : error_new(arena, ERROR_TOKEN_REVOKED, "the user is gone");
}

/* ---- asking --------------------------------------------------------------------------------------- */

struct asking {
    struct service *service;
    const struct caller *caller;
    const char *email;
    unsigned wait; /* seconds; not 0: the client's address has asked for too many mails */
    bool spent;    /* the account has had the day's mails */
};

/* The payload is the language that the caller's browser asks for, if it asks for one: a job has no browser. */
static struct error *queue_question(struct service *service, struct arena *arena, struct id user)
{
    struct outbox_work work = {.kind = EMAIL_CHANGE_KIND, .rank = OUTBOX_QUESTION, .user_id = user};
    const char *language = service->reader;
    unsigned char *sealed;
    if (language != NULL) {
        TRY(seal(arena, service->master, SEAL_PURPOSE, language, strlen(language), &sealed, &work.payload_length));
        work.payload = sealed;
    }
    return outbox_add(service->database, arena, &work);
}

static struct error *ask_rows(struct database *database, struct arena *arena, void *context)
{
    struct asking *asking = context;
    const char *client = asking->caller->client_address;
    struct caller now;
    struct user *user = NULL;
    bool allowed = false;
    asking->wait = 0;
    TRY(lock_self(asking->service, arena, asking->caller, &now, &user));
    if (client != NULL && *client != '\0') {
        struct throttle_key key = throttle_of_mail(client);
        TRY(throttle_take(database, arena, &key, THROTTLE_MAIL_FREE, &asking->wait));
    }
    if (asking->wait > 0)
        return NULL;
    TRY(one_time_code_mail_allowed(database, arena, user->id, ONE_TIME_CODE_EMAIL, &allowed));
    asking->spent = !allowed;
    if (asking->spent)
        return NULL;
    /* The code of an earlier change was mailed to another address. */
    TRY(one_time_code_void(database, arena, user->id, ONE_TIME_CODE_EMAIL));
    TRY(email_change_insert(database, arena, user, asking->email));
    TRY(queue_question(asking->service, arena, user->id));
    return record(asking->service, arena, &now, user, ASKED);
}

struct error *email_change_ask(struct service *service, struct arena *arena, const struct caller *caller,
                               const char *email, struct secret password)
{
    struct user *user;
    struct asking asking = {.service = service, .caller = caller, .email = email};
    TRY(principal_details(service->database, arena, caller->principal, &user, NULL));
    TRY(password_prove(service, arena, caller, user, password, ASKED));
    if (address_same(arena, user->email, email))
        return NULL;
    TRY(database_transaction(service->database, arena, ask_rows, &asking, NULL));
    if (asking.wait > 0)
        return login_throttle_refuse(arena, asking.wait, METRIC_THROTTLED_MAIL);
    if (!asking.spent)
        return NULL;
    unsigned left = (unsigned)((DAY_MILLISECONDS - clock_now() % DAY_MILLISECONDS) / 1000 + 1);
    return error_message(login_throttle_refuse(arena, left, METRIC_THROTTLED_MAIL),
                         "Your account has had as many e-mails of this kind as it may in a day. Try again tomorrow.");
}

/* ---- answering ------------------------------------------------------------------------------------ */

struct question {
    struct service *service;
    const struct outbox_item *item;
};

/* Tells the owner of the address that somebody tried, at most as often a day as any other mail. */
static struct error *tell_owner(struct service *service, struct arena *arena, struct id id)
{
    struct user *owner = NULL;
    bool allowed = false;
    if (!id_is_none(id))
        TRY(user_find_any(service->database, arena, id, &owner));
    if (owner == NULL || owner->status != USER_ACTIVE)
        return NULL;
    TRY(one_time_code_mail_allowed(service->database, arena, owner->id, NOTIFICATION_EMAIL_TAKEN, &allowed));
    return allowed ? notification_email_taken(service, arena, owner) : NULL;
}

static struct error *mail_both(struct service *service, struct arena *arena, const struct user *user,
                               const struct email_change *change)
{
    struct database *database = service->database;
    struct secret code, cancel;
    struct id owner;
    bool taken;
    TRY(email_change_is_taken(database, arena, change->new_email, user->id, &taken, &owner));
    if (taken) {
        TRY(tell_owner(service, arena, owner));
    } else {
        TRY(one_time_code_issue(database, arena, service->master, user->id, ONE_TIME_CODE_EMAIL, EMAIL_CHANGE_SECONDS,
                                &code));
        TRY(notification_email_change(service, arena, user, change->new_email, code));
    }
    TRY(email_change_issue_code(database, arena, service->master, change, &cancel));
    return notification_email_notice(service, arena, user, change->new_email, cancel);
}

/* A question that a later one has overtaken finds that one, or nothing. */
static struct error *answer_rows(struct database *database, struct arena *arena, void *context)
{
    const struct question *question = context;
    struct id id = question->item->user_id;
    struct email_change *change = NULL;
    struct user *user = NULL;
    TRY(user_hold(database, arena, id, false));
    TRY(email_change_find_waiting(database, arena, id, &change));
    TRY(user_find_any(database, arena, id, &user));
    if (change != NULL && !change->noticed && user != NULL && user->status == USER_ACTIVE)
        TRY(mail_both(question->service, arena, user, change));
    return outbox_finish_ours(database, arena, question->item);
}

/* The language of the mails to somebody whose record names none. */
static struct error *read_language(struct service *service, struct arena *arena, const struct outbox_item *item)
{
    struct secret language;
    service->reader = NULL;
    if (item->payload_length == 0)
        return NULL;
    TRY(unseal(arena, service->master, SEAL_PURPOSE, item->payload, item->payload_length, &language));
    service->reader = language_pick(&service->languages, secret_reveal(language));
    return NULL;
}

struct error *email_change_run(struct service *service, struct arena *arena, const struct outbox_item *item)
{
    struct question question = {service, item};
    bool dead = false;
    struct error *error = read_language(service, arena, item);
    if (error == NULL)
        error = database_transaction(service->database, arena, answer_rows, &question, NULL);
    if (error == NULL)
        return NULL;
    LOG(WARN, JOBS, "a change of an address will be tried again", LOG_INTEGER("number", item->number),
        LOG_TEXT("detail", error->detail));
    return outbox_retry(service->database, arena, item, ATTEMPTS_MAX, error_sentence(error->code), &dead);
}

/* ---- confirming ----------------------------------------------------------------------------------- */

struct confirmation {
    struct service *service;
    const struct caller *caller;
    const struct one_time_code_attempt *attempt;
    const struct email_change *asked; /* the one that waited when the code was tried; NULL: none */
    bool changed;
    bool taken;        /* somebody has got the address meanwhile */
    struct user *user; /* the row afterwards, where it has changed */
};

static struct error *confirm_rows(struct database *database, struct arena *arena, void *context)
{
    struct confirmation *confirmation = context;
    struct email_change *change = NULL;
    struct caller now;
    struct user *user = NULL;
    struct id owner;
    bool spent = false;
    confirmation->changed = confirmation->taken = false;
    TRY(lock_self(confirmation->service, arena, confirmation->caller, &now, &user));
    TRY(email_change_find_waiting(database, arena, user->id, &change));
    /* A later one has a code of its own, which was mailed to another address and which nobody has typed. */
    if (change == NULL || confirmation->asked == NULL || !id_equal(change->id, confirmation->asked->id))
        return NULL;
    TRY(one_time_code_spend(database, arena, confirmation->service->master, confirmation->attempt, NULL, &spent));
    if (!spent)
        return NULL;
    TRY(email_change_is_taken(database, arena, change->new_email, user->id, &confirmation->taken, &owner));
    if (!confirmation->taken)
        TRY(email_change_apply(database, arena, user, change, &confirmation->taken));
    if (confirmation->taken)
        return NULL;
    confirmation->changed = true;
    /* A code to reset the password that went to the old address. */
    TRY(one_time_code_void(database, arena, user->id, ONE_TIME_CODE_RESET));
    TRY(provider_sync_queue(confirmation->service, arena, user->id, PROVIDER_SYNC_PATIENCE_SECONDS));
    TRY(record(confirmation->service, arena, &now, user, CHANGED));
    /* In the transaction: a failure to read it afterwards would answer that a change was not made. */
    return user_find(database, arena, user->organisation_id, user->id, &confirmation->user);
}

static struct error *taken_meanwhile(struct arena *arena)
{
    return error_message(error_plain(arena, ERROR_USER_EXISTS),
                         "Another account has got the address meanwhile. Ask for a change to another one.");
}

/* An account at the provider that nobody here has would keep the provider's copy from following. */
static struct error *check_provider(struct service *service, struct arena *arena, struct id id,
                                    const struct email_change *change)
{
    struct user *user = NULL;
    bool other = false;
    TRY(user_find_any(service->database, arena, id, &user));
    if (change != NULL && user != NULL && user->provider_subject != NULL)
        TRY(provider_holds_address(service->provider, arena, user->provider_subject, id, change->new_email, &other));
    return other ? taken_meanwhile(arena) : NULL;
}

static struct error *confirm(struct confirmation *confirmation, struct arena *arena)
{
    struct service *service = confirmation->service;
    struct id id = caller_user(confirmation->caller);
    struct error *error = check_provider(service, arena, id, confirmation->asked);
    if (error == NULL)
        error = database_transaction(service->database, arena, confirm_rows, confirmation, NULL);
    /* The code was right: it can be tried again when the provider or the database answers. */
    if (error != NULL)
        TRY(one_time_code_give_back(service->database, arena, id, ONE_TIME_CODE_EMAIL));
    TRY(error);
    if (!confirmation->changed)
        return NULL;
    error = provider_sync_user(service, arena, id);
    if (error != NULL)
        LOG(WARN, ACCOUNTS, "the provider will be told of an address later", LOG_TEXT("detail", error->detail));
    return NULL;
}

struct error *email_change_confirm(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *code, struct user **user_out)
{
    struct login_throttle throttle = login_throttle_of_code(caller);
    const struct one_time_code_attempt attempt = {caller_user(caller), id_text(arena, caller_user(caller)),
                                                  ONE_TIME_CODE_EMAIL, code};
    struct confirmation confirmation = {.service = service, .caller = caller, .attempt = &attempt};
    struct email_change *asked = NULL;
    bool good = false;
    TRY(login_throttle_check(service, arena, &throttle));
    TRY(email_change_find_waiting(service->database, arena, caller_user(caller), &asked));
    confirmation.asked = asked;
    TRY(one_time_code_try(service->database, arena, service->master, &attempt, &good));
    if (good)
        TRY(confirm(&confirmation, arena));
    if (confirmation.taken)
        return taken_meanwhile(arena);
    if (!confirmation.changed) {
        TRY(caller_audit_failure(service, arena, caller, CHANGED, &caller->principal->user));
        return login_throttle_failed(service, arena, &throttle, error_plain(arena, ERROR_CODE_MISMATCH));
    }
    *user_out = confirmation.user;
    return NULL;
}
