/* SPDX-License-Identifier: MIT */
/* Passwords that are about to be set: what is known of them when an answer is lost. */
#ifndef GATEHOUSE_IDENTITY_REMOTE_PASSWORD_INTENT_INT_H
#define GATEHOUSE_IDENTITY_REMOTE_PASSWORD_INTENT_INT_H

#include "identity/remote_int.h"

/* A password that is about to be set. */
struct remote_intent {
    struct id user;
    const char *subject;
    struct secret password;
    bool temporary;
    struct id kept_session; /* the session that goes on; none: all end */
    struct id id;           /* of its row */
};

/* Writes the row, before the call, and sets intent->id. */
struct error *remote_intent_write(struct remote *remote, struct arena *arena, struct remote_intent *intent);

/*
 * After the call, with what came of it; passes `error` on. The password was set: remote_intent_apply(). It was refused,
 * or the call was never sent: the row goes. The answer was lost: the sessions end, and the row stays for
 * remote_intent_reconcile().
 */
struct error *remote_intent_resolve(struct remote *remote, struct arena *arena, const struct remote_intent *intent,
                                    struct error *error, enum provider_outcome outcome);

/*
 * Does what follows from a password that was set: its time, if it is temporary, is noted, sessions end here and at the
 * provider, and the row goes. A failure to end sessions at the provider is only logged.
 */
struct error *remote_intent_apply(struct remote *remote, struct arena *arena, const struct remote_intent *intent);

/* Functions of the provider: provider_unreconciled() and provider_reconcile(). */
struct error *remote_intent_list(struct provider *provider, struct arena *arena, unsigned limit, struct id **users_out,
                                 size_t *count_out);
struct error *remote_intent_reconcile(struct provider *provider, struct arena *arena, struct id user,
                                      enum provider_reconciliation *reconciliation_out);

#endif
