/* SPDX-License-Identifier: MIT */
/* Sends users' rows to the identity provider, by jobs or at once. */
#include "service/account/provider_sync.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/account/user.h"
#include "domain/outbox.h"
#include "domain/permission/role.h"
#include "identity/provider.h"
#include "service/access/grant.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

/* The provider may be down for hours. None of our decisions depends on the mirror. */
#define ATTEMPTS_MAX 100

/* How often a row that changes while it is sent is read again. */
#define ROUNDS_MAX 10

struct error *provider_sync_queue(struct service *service, struct arena *arena, struct id user, unsigned delay_seconds)
{
    struct outbox_work work = {
        .kind = PROVIDER_SYNC_KIND, .rank = OUTBOX_ORDINARY, .user_id = user, .delay_seconds = delay_seconds};
    return outbox_add(service->database, arena, &work);
}

/* What the row says, as one text: rows with the same text are the same at the provider. */
static const char *describe(struct arena *arena, const struct user *user, const char *mirror)
{
    return arena_format(arena, "%d %d %d %s %s %s", (int)user->status, user->email_verified, user->phone_verified,
                        user->phone == NULL ? "-" : user->phone, user->email, mirror);
}

static struct error *send_row(struct service *service, struct arena *arena, const struct user *user, const char *mirror)
{
    enum provider_outcome outcome;
    bool enabled = user->status != USER_DISABLED;
    struct provider_attributes attributes = {
        .email = user->email,
        .set_verified = true,
        .set_phone = true,
        .set_permissions = true,
        .email_verified = user->email_verified,
        .phone_verified = user->phone_verified,
        .phone = user->phone,
        .permissions = mirror,
    };
    /* First who may sign in: that matters more than the mirror. */
    TRY(provider_set_enabled(service->provider, arena, user->provider_subject, enabled, &outcome));
    if (user->status == USER_ACTIVE)
        TRY(provider_confirm(service->provider, arena, user->provider_subject, &outcome));
    return provider_set_attributes(service->provider, arena, user->provider_subject, &attributes, &outcome);
}

/* The user's row and its mirror; *user_out is NULL where there is nobody to tell the provider of. */
static struct error *read_row(struct service *service, struct arena *arena, struct id id, struct user **user_out,
                              const char **mirror_out)
{
    struct role_list roles;
    struct user *user = NULL;
    *user_out = NULL;
    TRY(user_find_any(service->database, arena, id, &user));
    if (user == NULL || user->provider_subject == NULL)
        return NULL;
    TRY(role_list(service->database, arena, &roles));
    *mirror_out = grant_mirror(arena, &roles, &user->roles, &user->permissions);
    *user_out = user;
    return NULL;
}

struct sending {
    struct service *service;
    struct id user;
};

/* Sends a row that nobody changes meanwhile. */
static struct error *send_held(struct database *database, struct arena *arena, void *context)
{
    const struct sending *sending = context;
    struct user *user = NULL;
    const char *mirror = NULL;
    TRY(user_hold(database, arena, sending->user, true));
    TRY(read_row(sending->service, arena, sending->user, &user, &mirror));
    return user == NULL ? NULL : send_row(sending->service, arena, user, mirror);
}

/* Sends a row that may change meanwhile, until what was sent is what it says. */
static struct error *send_rounds(struct service *service, struct arena *arena, struct id id)
{
    const char *sent = NULL;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        struct user *user = NULL;
        const char *mirror = NULL;
        TRY(read_row(service, arena, id, &user, &mirror));
        if (user == NULL)
            return NULL;
        const char *found = describe(arena, user, mirror);
        if (sent != NULL && strcmp(sent, found) == 0)
            return NULL;
        TRY(send_row(service, arena, user, mirror));
        sent = found;
    }
    return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the row changed faster than it could be sent");
}

struct error *provider_sync_user(struct service *service, struct arena *arena, struct id id)
{
    struct sending sending = {service, id};
    return provider_joins_transaction(service->provider)
               ? database_transaction(service->database, arena, send_held, &sending, NULL)
               : send_rounds(service, arena, id);
}

struct error *provider_sync_run(struct service *service, struct arena *arena, const struct outbox_item *item)
{
    bool dead = false;
    struct error *error = provider_sync_user(service, arena, item->user_id);
    if (error == NULL)
        return outbox_finish(service->database, arena, item, NULL);
    LOG(WARN, JOBS, "the identity provider's mirror was not brought up to date", LOG_INTEGER("number", item->number),
        LOG_TEXT("detail", error->detail));
    return outbox_retry(service->database, arena, item, ATTEMPTS_MAX, error_sentence(error->code), &dead);
}
