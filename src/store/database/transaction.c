/* SPDX-License-Identifier: MIT */
/* Runs transactions: BEGIN, the body, COMMIT or ROLLBACK; the whole of it again after a conflict. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "store/database/database_int.h"

static bool command(struct database *database, const char *sql, struct fault *fault)
{
    return connect_ready(database, fault) && connection_command(database, sql, strlen(sql), fault);
}

/* Nothing has been done yet, so a broken connection may be replaced. */
static struct error *begin(struct database *database, struct arena *arena)
{
    struct fault fault;
    int64_t start = clock_monotonic();
    if (!command(database, "START TRANSACTION", &fault) &&
        (fault.failure != DATABASE_FAILURE_LOST || !retry_in_time(database, start) ||
         !command(database, "START TRANSACTION", &fault)))
        return database_failure_error(arena, &fault, "beginning a transaction");
    database->transaction = TRANSACTION_OPEN;
    return NULL;
}

/* Where ROLLBACK cannot be sent, the connection is closed, and that rolls back as well. */
static void roll_back(struct database *database)
{
    struct fault fault;
    if (!command(database, "ROLLBACK", &fault))
        connection_close(database);
}

/* Whether another try may help: after a conflict, or on another node, which has nothing of what this one did not do. */
static bool may_try_again(const struct database *database, const struct fault *fault, bool maybe_done)
{
    bool left = fault->failure == DATABASE_FAILURE_LOST && !maybe_done && database->hosts.count > 1;
    return fault->failure == DATABASE_FAILURE_CONFLICT || left;
}

/* A node that is about to end refuses COMMIT as it refuses any statement (1047): then nothing is committed. */
static struct error *commit(struct database *database, struct arena *arena, bool *unknown_out, bool *conflict_out)
{
    struct fault fault;
    if (command(database, "COMMIT", &fault))
        return NULL;
    *conflict_out = may_try_again(database, &fault, fault.maybe_done);
    /* Interrupted or out of time while it committed (1317, 1969): the outcome is unknown as well. */
    bool lost = fault.failure == DATABASE_FAILURE_LOST && fault.maybe_done;
    bool unknown = lost || fault.number == 1317 || fault.number == 1969;
    if (unknown_out != NULL)
        *unknown_out = unknown;
    roll_back(database);
    LOG(WARN, STORE, unknown ? "the answer to a COMMIT was lost" : "a COMMIT failed",
        LOG_INTEGER("errorNumber", fault.number));
    return database_failure_error(arena, &fault, "committing");
}

struct body {
    struct error *(*run)(struct database *database, struct arena *arena, void *context);
    void *context;
};

/*
 * Runs the whole transaction once; *conflict_out tells whether another try may help. The transaction counts as open
 * until it is over on the server. As long as it is open, no broken connection is replaced, so that COMMIT cannot go to
 * a new one.
 */
static struct error *transaction_once(struct database *database, struct arena *arena, const struct body *body,
                                      bool *unknown_out, bool *conflict_out)
{
    *conflict_out = false;
    TRY(begin(database, arena));
    struct error *error = body->run(database, arena, body->context);
    if (database->transaction == TRANSACTION_DOOMED) {
        /* A transaction that lost its connection before COMMIT was sent is rolled back: another node may take it. */
        *conflict_out = may_try_again(database, &database->doom, false);
        if (error == NULL)
            error = database_failure_error(arena, &database->doom, "in a transaction");
    }
    if (error != NULL)
        roll_back(database);
    else
        error = commit(database, arena, unknown_out, conflict_out);
    database->transaction = TRANSACTION_NONE;
    return error;
}

struct error *database_transaction(struct database *database, struct arena *arena,
                                   struct error *(*body)(struct database *database, struct arena *arena, void *context),
                                   void *context, bool *unknown_out)
{
    const struct body what = {.run = body, .context = context};
    if (unknown_out != NULL)
        *unknown_out = false;
    if (database->transaction != TRANSACTION_NONE) {
        TRY(body(database, arena, context));
        return NULL;
    }
    int64_t start = clock_monotonic();
    for (unsigned attempt = 0;; attempt++) {
        bool conflict;
        struct error *error = transaction_once(database, arena, &what, unknown_out, &conflict);
        if (!conflict || !retry_allowed(database, attempt, start))
            return error == NULL ? NULL : error_trace(error, __func__, __FILE__, __LINE__);
        LOG(DEBUG, STORE, "a transaction met a conflict, trying again", LOG_INTEGER("attempt", attempt + 1));
        retry_pause(attempt);
    }
}
