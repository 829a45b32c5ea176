/* SPDX-License-Identifier: MIT */
/* Lets one step of an operation fail after the other. */
#include "identity/support_failure.h"

#include "harness.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/support.h"
#include "store/database/row_lock.h"
#include "support_refusal.h"

#define STEPS_MAX 60
#define QUESTIONS_MAX 5

static bool lock_taken;

struct error *__real_row_lock_take(struct database *database, struct arena *arena, const struct row_lock *lock,
                                   unsigned seconds, unsigned patience, bool *held_out);
struct error *__wrap_row_lock_take(struct database *database, struct arena *arena, const struct row_lock *lock,
                                   unsigned seconds, unsigned patience, bool *held_out);

/* The program is linked with --wrap for it: nobody wants to wait as long as it does. */
struct error *__wrap_row_lock_take(struct database *database, struct arena *arena, const struct row_lock *lock,
                                   unsigned seconds, unsigned patience, bool *held_out)
{
    *held_out = false;
    return lock_taken ? NULL : __real_row_lock_take(database, arena, lock, seconds, patience, held_out);
}

void failure_lock_taken(bool taken)
{
    lock_taken = taken;
}

/* What the provider's process remembers of failures, and of what it has fetched before. */
static void forget(struct scene *scene)
{
    provider_forget(scene->provider);
    if (scene->calls == NULL)
        return;
    scene_forget_failures(scene);
    remote_of(scene->provider)->keys.failed = false;
}

static void arm(struct scene *scene, enum failure failure, unsigned nth)
{
    const char *kind = failure == FAILURE_ANSWER ? "lost" : "status-500";
    forget(scene);
    if (failure == FAILURE_STATEMENT)
        refusal_begin(nth);
    else
        (void)scene_put(scene, "nth", arena_format(scene->arena, "%u %s", nth, kind));
}

/* Whether a step has failed. */
static bool disarm(struct scene *scene, enum failure failure)
{
    bool met = failure == FAILURE_STATEMENT ? refusal_end()
                                            : unlink(arena_format(scene->arena, "%s/nth", scene->directory)) != 0;
    forget(scene);
    return met;
}

static void expect_clean(struct scene *scene, const struct flow *flow, const struct ground *ground,
                         const struct error *error, unsigned nth)
{
    enum error_code wanted = ground->failure == FAILURE_STATEMENT ? ERROR_INTERNAL : ERROR_IDENTITY_UNAVAILABLE;
    if (error != NULL && !ground->is_met)
        fail_msg("%s: nothing failed: %s", flow->name, error->detail);
    if (error != NULL && error->code != wanted)
        fail_msg("%s: step %u: %s: %s", flow->name, nth, error_code_text(error->code), error->detail);
    if (error == NULL && ground->outcome != flow->outcome)
        fail_msg("%s: step %u: %s", flow->name, nth, provider_outcome_text(ground->outcome));
    assert_false(database_in_transaction(scene->database));
}

static enum failure failure_of(enum failure failure, unsigned nth)
{
    if (failure != FAILURE_EITHER)
        return failure;
    return nth % 2 == 0 ? FAILURE_CALL : FAILURE_ANSWER;
}

static void flow_fails(struct scene *scene, const struct flow *flow, enum failure failure)
{
    for (unsigned nth = 1; nth <= STEPS_MAX; nth++) {
        struct ground ground = {.failure = failure_of(failure, nth), .kind = PROVIDER_CONFIRMED_ALREADY};
        flow->prepare(scene, &ground);
        arm(scene, ground.failure, nth);
        struct error *error = flow->run(scene, &ground);
        ground.is_met = disarm(scene, ground.failure);
        expect_clean(scene, flow, &ground, error, nth);
        flow->check(scene, &ground, error);
        if (ground.is_met)
            continue;
        if (nth == 1)
            fail_msg("%s has no step of that kind", flow->name);
        return;
    }
    fail_msg("%s has more than %d steps", flow->name, STEPS_MAX);
}

void flows_fail(struct scene *scene, const struct flow *flows, size_t count, enum failure failure)
{
    bool whole = failure == FAILURE_EITHER && getenv("GATEHOUSE_TEST_FULL") != NULL;
    log_set_level(LOG_LEVEL_FATAL);
    for (size_t i = 0; i < count; i++) {
        flow_fails(scene, &flows[i], whole ? FAILURE_CALL : failure);
        if (whole)
            flow_fails(scene, &flows[i], FAILURE_ANSWER);
    }
    log_set_level(LOG_LEVEL_INFO);
    scene_end(scene);
}

int64_t flow_sessions(struct scene *scene, const struct person *person)
{
    return sql_integer(scene->database, scene->arena,
                       "SELECT COUNT(*) FROM session WHERE user_id = %s AND ended_at IS NULL",
                       sql_id(scene->arena, person->id));
}

bool flow_accepts(struct scene *scene, const struct person *person, const char *password)
{
    enum provider_outcome outcome = scene_login(scene, person, password, false, NULL, NULL);
    if (outcome != PROVIDER_OK && outcome != PROVIDER_NEW_PASSWORD_REQUIRED)
        assert_int_equal(outcome, PROVIDER_BAD_CREDENTIALS);
    return outcome != PROVIDER_BAD_CREDENTIALS;
}

void flow_reconcile(struct scene *scene, const struct person *person)
{
    for (int i = 0; i < QUESTIONS_MAX; i++) {
        struct id *users;
        size_t count;
        enum provider_reconciliation reconciliation;
        sql(scene->database, scene->arena,
            "UPDATE outside_intent SET asked_at = asked_at - INTERVAL 1 HOUR, due_at = due_at - INTERVAL 1 HOUR");
        expect_ok(provider_unreconciled(scene->provider, scene->arena, 1, &users, &count));
        if (count == 0)
            return;
        assert_true(id_equal(users[0], person->id));
        expect_ok(provider_reconcile(scene->provider, scene->arena, person->id, &reconciliation));
    }
    fail_msg("changes of passwords stay without an answer");
}
