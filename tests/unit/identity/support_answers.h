/* SPDX-License-Identifier: MIT */
/*
 * Runs operations of a remote provider whose calls the scripted server answers as a test says (scene_answer()). Each
 * gives an outcome or an error, and takes nothing for a success that is none.
 */
#ifndef GATEHOUSE_TESTS_IDENTITY_SUPPORT_ANSWERS_H
#define GATEHOUSE_TESTS_IDENTITY_SUPPORT_ANSWERS_H

#include "identity/support_remote.h"

struct error;

/* A member with a session, an owner with a temporary password and its challenge. */
struct asking {
    struct person member;
    struct person owner;
    struct provider_tokens tokens;
    struct provider_challenge challenge;
};

typedef struct error *ask_function(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);

/* Each for the member, but ask_answer (the owner) and those that make an account of their own. */
struct error *ask_log_in(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_answer(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_refresh(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_change(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_set(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_confirm(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_describe(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_enable(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_find(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_delete(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_invite(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_sign_up(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_revoke(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);
struct error *ask_sign_out(struct scene *scene, struct asking *asking, enum provider_outcome *outcome);

/* What an answer means: an outcome, or 0 for an error. */
#define AS(outcome) (PROVIDER_##outcome + 1)

struct asking given_asking(struct scene *scene);

/* Asks, and expects that meaning; the texts name the operation and the answer where it has another one. */
void expect_answer(struct scene *scene, struct asking *asking, ask_function *ask, int wanted, const char *name,
                   const char *answer);

/*
 * Ends the scene. Nothing that was refused has changed the two accounts, the session, or our rows.
 */
void expect_unchanged(struct scene *scene, struct asking *asking);

#endif
