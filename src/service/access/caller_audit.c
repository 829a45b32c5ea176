/* SPDX-License-Identifier: MIT */
/* Writes the audit rows of requests. */
#include "service/access/caller_audit.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "codec/visible.h"
#include "domain/audit.h"
#include "service/access/caller.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

struct error *caller_audit(struct service *service, struct arena *arena, const struct caller *caller,
                           const struct audit_entry *entry)
{
    struct audit_entry whole = *entry;
    if (id_is_none(whole.organisation_id))
        whole.organisation_id = caller_home(caller);
    if (id_is_none(whole.user_id))
        whole.user_id = caller_user(caller);
    if (whole.outcome == NULL)
        whole.outcome = "success";
    whole.client_address = caller->client_address;
    whole.request_id = caller->request_id;
    return audit_insert(service->database, arena, &whole);
}

void caller_reason_validate(const char *reason, struct validation *validation)
{
    const unsigned char *at = (const unsigned char *)reason;
    size_t left = strlen(reason);
    size_t count = 0;
    bool seen = false;
    for (size_t step; left > 0; left -= step, at += step, count++) {
        uint32_t code_point;
        step = utf8_next(at, left, &code_point);
        if (step == 0 || (code_point != ' ' && !visible_code_point(code_point))) {
            validation_add(validation, "format", "must be text in UTF-8, with blanks and characters that can be seen",
                           CALLER_REASON_HEADER);
            return;
        }
        seen = seen || code_point != ' ';
    }
    if (!seen || count > LIMIT_REASON_CHARACTERS)
        validation_add(validation, "length", "must have 1 to " LIMIT_TEXT(LIMIT_REASON_CHARACTERS) " characters",
                       CALLER_REASON_HEADER);
}

struct error *caller_check_reason(struct arena *arena, const struct caller *caller)
{
    if (!caller->reason_required || caller->reason != NULL)
        return NULL;
    return error_entry(error_plain(arena, ERROR_REQUEST_INVALID), CALLER_REASON_HEADER, "required",
                       "is missing: say why you look into another organisation");
}

/* What is told of a crossing beside its target. */
static const char *describe_crossing(struct arena *arena, const struct caller *caller)
{
    struct buffer details;
    buffer_init(&details, arena);
    buffer_add_text(&details, "{\"operation\":");
    buffer_add_json_text(&details, caller->operation);
    buffer_add_text(&details, ",\"reason\":");
    buffer_add_json_text(&details, caller->reason);
    buffer_add_char(&details, '}');
    return details.bytes;
}

struct error *caller_audit_crossing(struct service *service, struct arena *arena, const struct caller *caller,
                                    struct id organisation, const char *target_type, struct id target)
{
    TRY(caller_check_reason(arena, caller));
    struct audit_entry entry = {
        .details = describe_crossing(arena, caller),
        .action = CALLER_CROSSING,
        .organisation_id = organisation,
        .target_type = target_type,
        .target_id = id_is_none(target) ? NULL : id_text(arena, target),
    };
    return caller_audit(service, arena, caller, &entry);
}

struct crossings {
    struct service *service;
    const struct caller *caller;
    const struct id *organisations;
    size_t count;
};

static struct error *cross_rows(struct database *database, struct arena *arena, void *context)
{
    (void)database;
    const struct crossings *crossings = context;
    for (size_t i = 0; i < crossings->count; i++)
        TRY(caller_audit_crossing(crossings->service, arena, crossings->caller, crossings->organisations[i],
                                  "organisation", crossings->organisations[i]));
    return NULL;
}

struct error *caller_audit_crossings(struct service *service, struct arena *arena, const struct caller *caller,
                                     const struct id *organisations, size_t count)
{
    struct crossings crossings = {service, caller, organisations, count};
    return count == 0 ? NULL : database_transaction(service->database, arena, cross_rows, &crossings, NULL);
}

struct error *caller_audit_failure(struct service *service, struct arena *arena, const struct caller *caller,
                                   const char *action, const struct user *user)
{
    struct audit_entry entry = {.action = action, .target_type = "user", .outcome = "failure"};
    if (user != NULL) {
        entry.organisation_id = user->organisation_id;
        entry.user_id = user->id;
        entry.target_id = id_text(arena, user->id);
    }
    return caller_audit(service, arena, caller, &entry);
}
