/* SPDX-License-Identifier: MIT */
/* Checks a caller's own password with the provider, under the throttle of logins. */
#include "service/account/password_proof.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/user.h"
#include "identity/provider.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/access/login_throttle.h"
#include "service/account/provider_change.h"
#include "service/runtime/service.h"

struct error *password_prove(struct service *service, struct arena *arena, const struct caller *caller,
                             const struct user *user, struct secret password, const char *action)
{
    struct login_throttle throttle = login_throttle_of_password(arena, caller, user, user->email, id_none);
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    bool again = false;
    /* With a new password a right one is answered with PERMANENT_PASSWORD, and no session begins. */
    const struct provider_login attempt = {.subject = user->provider_subject,
                                           .user_id = user->id,
                                           .email = user->email,
                                           .password = password,
                                           .new_password_sent = true};
    TRY(login_throttle_check(service, arena, &throttle));
    TRY(provider_login(service->provider, arena, &attempt, &tokens, &challenge, &outcome));
    TRY(provider_change_reconcile(service, arena, user->id, outcome, &again));
    if (again)
        TRY(provider_login(service->provider, arena, &attempt, &tokens, &challenge, &outcome));
    if (outcome == PROVIDER_PERMANENT_PASSWORD)
        return login_throttle_passed(service, arena, &throttle);
    struct error *error = error_new(arena, ERROR_REQUEST_INVALID, "%s", provider_outcome_text(outcome));
    TRY(caller_audit_failure(service, arena, caller, action, user));
    return login_throttle_failed(service, arena, &throttle,
                                 error_entry(error, "password", "mismatch", "is not the current password"));
}
