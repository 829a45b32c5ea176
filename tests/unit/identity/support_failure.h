/* SPDX-License-Identifier: MIT */
/*
 * Operations of a provider in which one step fails: a statement that the database refuses, a call that the provider
 * does not carry out, a call that it carries out without an answer. Each step of an operation fails once.
 */
#ifndef GATEHOUSE_TESTS_IDENTITY_SUPPORT_FAILURE_H
#define GATEHOUSE_TESTS_IDENTITY_SUPPORT_FAILURE_H

#include "identity/support_remote.h"

struct error;

/* FAILURE_EITHER: each second call is not carried out, the others have no answer; in a full run each is both. */
enum failure { FAILURE_STATEMENT, FAILURE_CALL, FAILURE_ANSWER, FAILURE_EITHER };

/* What one pass works on; a flow uses the members that it needs. */
struct ground {
    enum failure failure;
    bool is_met; /* whether something has failed in the pass */
    struct person person;
    struct person neighbour;
    struct provider_tokens tokens;
    struct provider_tokens others;
    struct provider_challenge challenge;
    enum provider_account_kind kind;
    enum provider_outcome outcome;
    const char *text;
    bool flag;
};

struct flow {
    const char *name;
    enum provider_outcome outcome; /* of a run without an error */
    void (*prepare)(struct scene *scene, struct ground *ground);
    struct error *(*run)(struct scene *scene, struct ground *ground);
    /* Looks at what is left. `error` is that of the run, or NULL. Nothing fails any more. */
    void (*check)(struct scene *scene, struct ground *ground, const struct error *error);
};

/*
 * Prepares, runs and checks each flow until nothing fails any more, each time with its next step failing, then ends the
 * scene. An error must be INTERNAL after a refused statement, IDENTITY_UNAVAILABLE after a failed call. Each flow must
 * have a step of that kind.
 */
void flows_fail(struct scene *scene, const struct flow *flows, size_t count, enum failure failure);

/* From now on every lock of the database is another process's, as long as somebody is ready to wait for it. */
void failure_lock_taken(bool taken);

/* Sessions of the person that have not ended. */
int64_t flow_sessions(struct scene *scene, const struct person *person);

/* Whether the password is the account's, temporary or not. */
bool flow_accepts(struct scene *scene, const struct person *person, const char *password);

/* Changes of passwords without an answer are asked about until none is left. */
void flow_reconcile(struct scene *scene, const struct person *person);

#endif
