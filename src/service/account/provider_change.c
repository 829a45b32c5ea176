/* SPDX-License-Identifier: MIT */
/* Finishes changes that are on their way to a remote provider, before it is asked again for a password. */
#include "service/account/provider_change.h"

#include "base/error.h"
#include "base/log.h"
#include "domain/outbox.h"
#include "service/account/email_cancel.h"
#include "service/account/provider_sync.h"
#include "service/runtime/service.h"

/* What began while an account was changed at a remote provider may end this much later. */
#define CHANGING_SECONDS 10

struct error *provider_change_reconcile(struct service *service, struct arena *arena, struct id user,
                                        enum provider_outcome outcome, bool *ask_again_out)
{
    *ask_again_out = false;
    if (outcome != PROVIDER_BAD_CREDENTIALS || provider_joins_transaction(service->provider))
        return NULL;
    TRY(outbox_has_recent(service->database, arena, user, PROVIDER_SYNC_KIND, EMAIL_CANCEL_KIND, CHANGING_SECONDS,
                          ask_again_out));
    if (!*ask_again_out)
        return NULL;
    struct error *error = provider_sync_user(service, arena, user);
    if (error != NULL)
        LOG(WARN, ACCOUNTS, "the provider was not told of a change before a password was checked",
            LOG_TEXT("detail", error->detail));
    return NULL;
}
