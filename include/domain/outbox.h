/* SPDX-License-Identifier: MIT */
/*
 * The outbox: work that must happen once a transaction has committed (mail, copies to the provider). The row is added
 * in that transaction. A runner claims it, does the work with no transaction open, and reports.
 *
 * A claim is a lease: it moves next_attempt_at ahead and counts an attempt. So the work of a runner that dies becomes
 * due again by itself. A report names its attempt; one that comes after the lease has expired changes nothing. Work is
 * done at least once, with at most one repetition for each crash.
 *
 * Work has a rank. While something of a higher rank is due, nothing of a lower one is claimed. So a mail with a code
 * waits only for mails of its own rank and for the one item in progress, however much is queued.
 */
#ifndef GATEHOUSE_DOMAIN_OUTBOX_H
#define GATEHOUSE_DOMAIN_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

enum outbox_rank {
    OUTBOX_URGENT,   /* mails with a code or a temporary password: a user waits for them */
    OUTBOX_QUESTION, /* what may lead to such a mail; strangers can queue many of these */
    OUTBOX_ORDINARY  /* everything else */
};

/* What is added. `payload` is sealed by the caller. */
struct outbox_work {
    const char *kind;
    enum outbox_rank rank;
    struct id user_id; /* zeros: none */
    const void *payload;
    size_t payload_length;
    unsigned delay_seconds; /* not due before */
};

struct outbox_item {
    uint64_t number;
    const char *kind;
    struct id user_id; /* zeros: none */
    const void *payload;
    size_t payload_length;
    unsigned attempts; /* this one included */
};

struct outbox_items {
    struct outbox_item *items;
    size_t count;
};

/* What the outbox holds, for the metrics. */
struct outbox_counts {
    uint64_t waiting;
    uint64_t overdue; /* waiting and due for more than a minute */
    uint64_t dead;
};

/* Adds work that is due at once; part of the transaction it belongs to. */
struct error *outbox_add(struct database *database, struct arena *arena, const struct outbox_work *work);

/*
 * Claims items of the highest rank that is due, oldest first, for `lease_seconds`: up to `limit` (1 to 100) urgent
 * ones, otherwise one, so that the next urgent item waits for no more than that. Parallel runners never get the same
 * item (FOR UPDATE SKIP LOCKED). It is no error when there is none.
 */
struct error *outbox_claim(struct database *database, struct arena *arena, unsigned limit, unsigned lease_seconds,
                           struct outbox_items *items_out);

/* Done: the payload is emptied. *current_out (may be NULL) is false when the lease had passed to another. */
struct error *outbox_finish(struct database *database, struct arena *arena, const struct outbox_item *item,
                            bool *current_out);

/*
 * Ends the item in the transaction that does its work. Where its lease has passed to another runner, which works in our
 * place, the error undoes the transaction.
 */
struct error *outbox_finish_ours(struct database *database, struct arena *arena, const struct outbox_item *item);

/*
 * Reports a failure: the item is tried again after a wait that doubles from 5 s to 15 min with each attempt, plus up to
 * a fifth of jitter. After `attempts_max` attempts the item is dead. `reason` is for the operator: no secrets, cut at
 * 500 characters.
 */
struct error *outbox_retry(struct database *database, struct arena *arena, const struct outbox_item *item,
                           unsigned attempts_max, const char *reason, bool *dead_out);

/* Gives an item up (refused for good, or not readable): it is dead, and its payload is emptied. */
struct error *outbox_bury(struct database *database, struct arena *arena, const struct outbox_item *item,
                          const char *reason);

/* Removes everything that concerns the user, done or not. Reports about it change nothing any more. */
struct error *outbox_forget(struct database *database, struct arena *arena, struct id user);

/*
 * Whether work for the user, of one of the two kinds, waits or was done less than `seconds` ago. A kind may be named
 * twice.
 */
struct error *outbox_has_recent(struct database *database, struct arena *arena, struct id user, const char *kind,
                                const char *other_kind, unsigned seconds, bool *found_out);

/* An item as the operator sees it: never the payload. */
struct outbox_line {
    uint64_t number;
    const char *kind;
    const char *status; /* "waiting" or "dead" */
    unsigned attempts;
    const char *created_at;
    const char *next_attempt_at;
    const char *last_error; /* NULL: none */
};

struct outbox_lines {
    struct outbox_line *items;
    size_t count;
};

/* The oldest items that wait or are dead, at most `limit`; for `gatehousectl jobs --list`. */
struct error *outbox_list(struct database *database, struct arena *arena, unsigned limit,
                          struct outbox_lines *lines_out);

struct error *outbox_count(struct database *database, struct arena *arena, struct outbox_counts *counts_out);

/* How long the oldest waiting item has been due, in milliseconds; 0 when none is. */
struct error *outbox_lag(struct database *database, struct arena *arena, int64_t *milliseconds_out);

/* Removes up to `limit` rows done more than `days` ago. */
struct error *outbox_purge(struct database *database, struct arena *arena, unsigned days, unsigned limit,
                           uint64_t *count_out);

#endif
