/* SPDX-License-Identifier: MIT */
/*
 * Erases people. The first transaction makes the person invisible and queues the job; the rest is done at once by
 * whoever asked, and by the job where that has failed or was killed.
 */
#include "service/account/member_erase.h"

#include <limits.h>

#include "base/error.h"
#include "base/log.h"
#include "domain/account/erasure.h"
#include "domain/account/user.h"
#include "domain/audit.h"
#include "domain/file/file_upload.h"
#include "domain/outbox.h"
#include "domain/permission/permission_use.h"
#include "identity/provider.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/account/member.h"
#include "service/account/member_int.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define AUDIT_ROWS_AT_ONCE 1000

/* The job waits while the request does the work itself: a call of a provider takes some seconds at most. */
#define JOB_DELAY_SECONDS 15

/* ---- the steps after the first ------------------------------------------------------------------- */

static struct error *end_rows(struct database *database, struct arena *arena, void *context)
{
    const struct erasure *erasure = context;
    TRY(permission_use_forget(database, arena, erasure->user_id));
    TRY(file_upload_abandon(database, arena, erasure->organisation_id, erasure->user_id));
    return erasure_end(database, arena, erasure);
}

static struct error *finish(struct service *service, struct arena *arena, struct id id)
{
    struct erasure *erasure = NULL;
    struct id after = {{0}};
    bool more = true;
    TRY(erasure_find(service->database, arena, id, &erasure));
    if (erasure == NULL)
        return NULL;
    TRY(provider_remove(service->provider, arena, id, erasure->email));
    while (more)
        TRY(erasure_scrub_audit(service->database, arena, erasure, &after, AUDIT_ROWS_AT_ONCE, &more));
    TRY(database_transaction(service->database, arena, end_rows, erasure, NULL));
    LOG(INFO, ACCOUNTS, "a person was erased", LOG_TEXT("erasedUserId", id_text(arena, id)));
    return NULL;
}

struct error *member_erase_run(struct service *service, struct arena *arena, const struct outbox_item *item)
{
    bool dead = false;
    struct error *error = finish(service, arena, item->user_id);
    /* The last step has removed the item. Where another was faster, it is gone as well. */
    if (error == NULL)
        return outbox_finish(service->database, arena, item, NULL);
    LOG(WARN, JOBS, "a person was not erased wholly; it will be tried again", LOG_INTEGER("number", item->number),
        LOG_TEXT("detail", error->detail));
    return outbox_retry(service->database, arena, item, UINT_MAX, error_sentence(error->code), &dead);
}

/* ---- the first step ------------------------------------------------------------------------------ */

struct erasing {
    struct service *service;
    const struct caller *caller;
    const char *required;
    struct id organisation;
    struct id id;
    struct caller now;
};

static struct error *begin_rows(struct database *database, struct arena *arena, void *context)
{
    struct erasing *erasing = context;
    struct user *user = NULL;
    bool begun = false;
    struct outbox_work work = {.kind = MEMBER_ERASE_KIND,
                               .rank = OUTBOX_ORDINARY,
                               .user_id = erasing->id,
                               .payload = "",
                               .delay_seconds = JOB_DELAY_SECONDS};
    struct audit_entry entry = {
        .action = "user.erase",
        .organisation_id = erasing->organisation,
        .target_type = "user",
        .target_id = id_text(arena, erasing->id),
    };
    TRY(member_hold(erasing->service, arena, erasing->caller, erasing->required, erasing->organisation, erasing->id,
                    &erasing->now, &user));
    TRY(member_check_reach(erasing->service, arena, &erasing->now, user, "id"));
    if (id_equal(erasing->id, caller_user(&erasing->now)))
        return error_plain(arena, ERROR_USER_SELF);
    TRY(erasure_begin(database, arena, erasing->organisation, erasing->id, &begun));
    if (!begun)
        return error_plain(arena, ERROR_USER_STATE);
    TRY(outbox_add(database, arena, &work));
    return caller_audit(erasing->service, arena, &erasing->now, &entry);
}

struct error *member_erase(struct service *service, struct arena *arena, const struct caller *caller,
                           const char *required, struct id id, bool *finished_out)
{
    struct user *user = NULL;
    struct erasing erasing = {.service = service, .caller = caller, .required = required, .id = id};
    TRY(member_find(service, arena, caller, required, id, &user));
    erasing.organisation = user->organisation_id;
    TRY(database_transaction(service->database, arena, begin_rows, &erasing, NULL));
    struct error *error = finish(service, arena, id);
    *finished_out = error == NULL;
    if (error != NULL)
        LOG(WARN, ACCOUNTS, "a person will be erased wholly by a job", LOG_TEXT("detail", error->detail));
    return NULL;
}
