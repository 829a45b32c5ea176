/* SPDX-License-Identifier: MIT */
/* Writes the audit rows of requests. */
#include "service/access/caller_audit.h"

#include "base/error.h"
#include "domain/audit.h"
#include "service/access/caller.h"
#include "service/runtime/service.h"

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

struct error *caller_audit_crossing(struct service *service, struct arena *arena, const struct caller *caller,
                                    struct id organisation, const char *target_type, struct id target)
{
    struct audit_entry entry = {
        .action = "access.crossOrganisation",
        .organisation_id = organisation,
        .target_type = target_type,
        .target_id = id_text(arena, target),
    };
    return caller_audit(service, arena, caller, &entry);
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
