/* SPDX-License-Identifier: MIT */
/* Lists and ends sessions. */
#include "service/account/session_admin.h"

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/account/remote_account.h"
#include "domain/account/user.h"
#include "domain/audit.h"
#include "domain/permission/principal.h"
#include "domain/session/known_device.h"
#include "domain/session/refresh_token.h"
#include "domain/session/session.h"
#include "domain/session/session_family.h"
#include "identity/provider.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/session_use.h"
#include "service/account/member.h"
#include "service/account/member_int.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

/* How many sessions beyond the limit one sign-in ends: each may be a call to the identity provider. */
#define SURPLUS_MAX 8

enum scope { SCOPE_ONE, SCOPE_OTHERS, SCOPE_ALL };

struct ending {
    struct service *service;
    const struct caller *caller;
    const char *required; /* NULL: the caller's own sessions, or those of who signs in */
    const struct user *user;
    enum scope scope;
    struct id session;  /* SCOPE_ONE: the one to end; SCOPE_OTHERS: the one to keep */
    const char *reason; /* for the audit trail */
};

static struct error *unknown_session(struct arena *arena, const char *path)
{
    return error_entry(error_plain(arena, ERROR_SESSION_UNKNOWN), path, "unknown", "is not an open session");
}

/* ---- ending --------------------------------------------------------------------------------------- */

static struct error *audit(const struct ending *ending, struct arena *arena, struct id session)
{
    struct audit_entry entry = {
        .action = "session.end",
        .organisation_id = ending->user->organisation_id,
        .user_id = ending->caller->principal == NULL ? ending->user->id : id_none,
        .target_type = "session",
        .target_id = id_text(arena, session),
        .details = arena_format(arena, "{\"userId\":\"%s\",\"reason\":\"%s\"}", id_text(arena, ending->user->id),
                                ending->reason),
    };
    return caller_audit(ending->service, arena, ending->caller, &entry);
}

static struct error *audit_others(const struct ending *ending, struct arena *arena)
{
    struct audit_entry entry = {
        .action = "user.logoutOthers",
        .target_type = "user",
        .target_id = id_text(arena, ending->user->id),
    };
    return caller_audit(ending->service, arena, ending->caller, &entry);
}

static struct error *end_one(const struct ending *ending, struct arena *arena)
{
    struct database *database = ending->service->database;
    struct session_record *record;
    bool ended = false;
    TRY(session_find(database, arena, ending->user->id, ending->session, false, &record));
    if (record != NULL)
        TRY(session_end(database, arena, ending->session, ending->user->id, &ended));
    if (!ended)
        return unknown_session(arena, ending->required == NULL ? "id" : "sessionId");
    TRY(audit(ending, arena, ending->session));
    TRY(known_device_forget_session(database, arena, ending->user->id, ending->session));
    return session_family_end(database, arena, ending->user->id, ending->session, false);
}

/* Here, and not only when the provider is told: what has ended must not depend on a second transaction. */
static struct error *refuse_unseen(struct service *service, struct arena *arena, struct id user)
{
    if (provider_joins_transaction(service->provider))
        return NULL;
    return remote_account_refuse_older_tokens(service->database, arena, user);
}

struct error *session_admin_end_all(struct service *service, struct arena *arena, struct id user)
{
    TRY(refuse_unseen(service, arena, user));
    return session_end_all(service->database, arena, user, id_none, NULL);
}

static struct error *end_many(const struct ending *ending, struct arena *arena)
{
    struct database *database = ending->service->database;
    struct session_list list;
    unsigned most = (unsigned)ending->service->configuration->limits.sessions_per_user + SURPLUS_MAX;
    TRY(refuse_unseen(ending->service, arena, ending->user->id));
    TRY(session_list(database, arena, ending->user->id, ending->session, most, &list));
    for (size_t i = 0; i < list.count; i++)
        if (!list.items[i].current)
            TRY(audit(ending, arena, list.items[i].id));
    if (ending->scope == SCOPE_OTHERS)
        TRY(audit_others(ending, arena));
    TRY(known_device_forget_all(database, arena, ending->user->id, ending->session));
    return session_family_end(database, arena, ending->user->id, ending->session, true);
}

/* Another's sessions: the rights of the caller, as they are now, must cover everything that the user may do. */
static struct error *check_reach(const struct ending *ending, struct arena *arena)
{
    struct service *service = ending->service;
    const struct user *user = ending->user;
    struct caller now;
    struct user *held = NULL;
    TRY(member_hold(service, arena, ending->caller, ending->required, user->organisation_id, user->id, &now, &held));
    return member_check_reach(service, arena, &now, held, "id");
}

static struct error *end_rows(struct database *database, struct arena *arena, void *context)
{
    const struct ending *ending = context;
    const struct user *user = ending->user;
    if (ending->required != NULL)
        TRY(check_reach(ending, arena));
    TRY((ending->scope == SCOPE_ONE ? end_one : end_many)(ending, arena));
    return refresh_token_delete_ended(database, arena, user->id);
}

static struct error *tell_provider(const struct ending *ending, struct arena *arena)
{
    struct provider *provider = ending->service->provider;
    const char *subject = ending->user->provider_subject;
    if (ending->scope == SCOPE_ALL)
        return provider_logout_all(provider, arena, subject);
    if (ending->scope == SCOPE_OTHERS)
        return provider_logout_others(provider, arena, subject, ending->session);
    return provider_logout(provider, arena, subject, ending->session);
}

static struct error *run(struct ending *ending, struct arena *arena)
{
    TRY(database_transaction(ending->service->database, arena, end_rows, ending, NULL));
    struct error *error = tell_provider(ending, arena);
    if (error != NULL)
        LOG(WARN, ACCOUNTS, "the provider was not told of an ended session", LOG_TEXT("detail", error->detail));
    return NULL;
}

/* ---- one's own ------------------------------------------------------------------------------------ */

struct error *session_admin_current(struct service *service, struct arena *arena, const struct caller *caller,
                                    struct session_record **record_out)
{
    return session_find(service->database, arena, caller_user(caller), caller->principal->session_id, true, record_out);
}

struct error *session_admin_list(struct service *service, struct arena *arena, const struct caller *caller,
                                 struct session_list *list_out)
{
    return session_list(service->database, arena, caller_user(caller), caller->principal->session_id,
                        SESSION_ADMIN_LIST_MAX, list_out);
}

struct error *session_admin_end(struct service *service, struct arena *arena, const struct caller *caller,
                                struct id session)
{
    struct user *user;
    TRY(principal_details(service->database, arena, caller->principal, &user, NULL));
    struct ending ending = {
        .service = service, .caller = caller, .user = user, .scope = SCOPE_ONE, .session = session, .reason = "user"};
    return run(&ending, arena);
}

struct error *session_admin_end_others(struct service *service, struct arena *arena, const struct caller *caller)
{
    struct user *user;
    struct session_record *current;
    TRY(principal_details(service->database, arena, caller->principal, &user, NULL));
    TRY(session_admin_current(service, arena, caller, &current));
    if (current == NULL)
        return error_new(arena, ERROR_TOKEN_REVOKED, "the session ended while the request was on its way");
    struct ending ending = {.service = service,
                            .caller = caller,
                            .user = user,
                            .scope = SCOPE_OTHERS,
                            .session = current->id,
                            .reason = "others"};
    return run(&ending, arena);
}

/* ---- those of others ------------------------------------------------------------------------------ */

struct error *session_admin_list_of(struct service *service, struct arena *arena, const struct caller *caller,
                                    const char *required, struct id id, struct session_list *list_out)
{
    struct user *user;
    TRY(member_find(service, arena, caller, required, id, &user));
    return session_list(service->database, arena, id, caller->principal->session_id, SESSION_ADMIN_LIST_MAX, list_out);
}

struct error *session_admin_end_of(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *required, struct id id, struct id session)
{
    struct user *user;
    TRY(member_find(service, arena, caller, required, id, &user));
    struct ending ending = {.service = service,
                            .caller = caller,
                            .required = required,
                            .user = user,
                            .scope = id_is_none(session) ? SCOPE_ALL : SCOPE_ONE,
                            .session = session,
                            .reason = "administrator"};
    return run(&ending, arena);
}

/* ---- signing in ----------------------------------------------------------------------------------- */

struct error *session_admin_begin(struct service *service, struct arena *arena, const struct caller *caller,
                                  const struct user *user, struct id session, bool in_cookie)
{
    unsigned most = (unsigned)service->configuration->limits.sessions_per_user;
    struct session_client client = session_use_client(arena, caller);
    struct ending ending = {.service = service, .caller = caller, .user = user, .scope = SCOPE_ONE, .reason = "limit"};
    struct id *surplus;
    size_t count;
    TRY(session_describe(service->database, arena, session, &client, in_cookie));
    TRY(session_find_surplus(service->database, arena, user->id, most, SURPLUS_MAX, &surplus, &count));
    for (size_t i = 0; i < count; i++) {
        ending.session = surplus[i];
        struct error *error = run(&ending, arena);
        /* Another sign-in has ended it meanwhile. */
        if (error != NULL && error->code != ERROR_SESSION_UNKNOWN)
            return error;
    }
    return NULL;
}
