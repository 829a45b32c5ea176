/* SPDX-License-Identifier: MIT */
/* Adds work to the outbox, claims it and ends it. */
#include "domain/outbox.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/metrics.h"
#include "base/text.h"
#include "codec/random.h"
#include "store/database/database.h"

#define CLAIM_MAX 100
#define WAIT_MIN_MS INT64_C(5000)
#define WAIT_MAX_MS INT64_C(900000)
#define REASON_CHARACTERS 500

static const struct statement insert_item = {"INSERT INTO outbox (kind, priority, user_id, payload, next_attempt_at)"
                                             " VALUES (?, ?, ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)"};

struct error *outbox_add(struct database *database, struct arena *arena, const struct outbox_work *work)
{
    assert(database_in_transaction(database));
    return database_change(
        database, arena, &insert_item,
        VALUES(database_text(work->kind), database_integer(work->rank), database_id_or_null(work->user_id),
               database_bytes(work->payload, work->payload_length), database_integer(work->delay_seconds)),
        NULL);
}

/*
 * One rank at a time: so the index gives the rows in their order, and rows that wait for a later attempt are not read.
 */
static const struct statement find_due = {
    "SELECT id, kind, user_id, payload, attempts FROM outbox FORCE INDEX (outbox_priority)"
    " WHERE status = 'waiting' AND priority = ? AND next_attempt_at <= UTC_TIMESTAMP(3)"
    " ORDER BY next_attempt_at, id LIMIT ? FOR UPDATE SKIP LOCKED"};

static const struct statement lease = {
    "UPDATE outbox SET attempts = attempts + 1, next_attempt_at = UTC_TIMESTAMP(3) + INTERVAL ? SECOND"
    " WHERE id = ?"};

struct claim {
    unsigned limit;
    unsigned lease_seconds;
    struct outbox_items *items;
};

/* Of the highest rank that is due. */
static struct error *find_first(struct database *database, struct arena *arena, unsigned limit, struct rows **rows_out)
{
    for (int rank = OUTBOX_URGENT; rank <= OUTBOX_ORDINARY; rank++) {
        int64_t most = rank == OUTBOX_URGENT ? limit : 1;
        TRY(database_query(database, arena, &find_due, VALUES(database_integer(rank), database_integer(most)),
                           rows_out));
        if ((*rows_out)->count > 0)
            return NULL;
    }
    return NULL;
}

static struct error *claim_items(struct database *database, struct arena *arena, void *context)
{
    const struct claim *claim = context;
    struct rows *rows = NULL;
    TRY(find_first(database, arena, claim->limit, &rows));
    struct outbox_item *items = arena_array(arena, rows->count, sizeof *items);
    for (size_t i = 0; i < rows->count; i++) {
        items[i] = (struct outbox_item){
            .number = (uint64_t)rows_integer(rows, i, 0),
            .kind = rows_text(rows, i, 1),
            .user_id = rows_id(rows, i, 2),
            .attempts = (unsigned)rows_integer(rows, i, 4) + 1,
        };
        items[i].payload = rows_bytes(rows, i, 3, &items[i].payload_length);
        TRY(database_change(database, arena, &lease,
                            VALUES(database_integer(claim->lease_seconds), database_integer((int64_t)items[i].number)),
                            NULL));
    }
    *claim->items = (struct outbox_items){items, rows->count};
    return NULL;
}

struct error *outbox_claim(struct database *database, struct arena *arena, unsigned limit, unsigned lease_seconds,
                           struct outbox_items *items_out)
{
    assert(limit >= 1 && limit <= CLAIM_MAX);
    struct claim claim = {limit, lease_seconds, items_out};
    *items_out = (struct outbox_items){NULL, 0};
    struct error *error = database_transaction(database, arena, claim_items, &claim, NULL);
    if (error != NULL)
        *items_out = (struct outbox_items){NULL, 0};
    return error;
}

/* The attempt is part of the key: a report after the lease has passed to another runner finds no row. */
static const struct statement finish_item = {
    "UPDATE outbox SET status = 'done', payload = '', finished_at = UTC_TIMESTAMP(3), last_error = NULL"
    " WHERE id = ? AND attempts = ? AND status = 'waiting'"};

struct error *outbox_finish(struct database *database, struct arena *arena, const struct outbox_item *item,
                            bool *current_out)
{
    struct change change;
    TRY(database_change(database, arena, &finish_item,
                        VALUES(database_integer((int64_t)item->number), database_integer(item->attempts)), &change));
    metrics_add(METRIC_OUTBOX_DONE, change.affected);
    if (current_out != NULL)
        *current_out = change.affected == 1;
    return NULL;
}

/* Valid UTF-8, at most as long as the column. */
static const char *cut_reason(struct arena *arena, const char *reason)
{
    if (reason == NULL)
        return "";
    size_t left = strlen(reason);
    const unsigned char *at = (const unsigned char *)reason;
    for (unsigned count = 0; left > 0 && count < REASON_CHARACTERS; count++) {
        size_t length = utf8_next(at, left, NULL);
        if (length == 0)
            break;
        at += length;
        left -= length;
    }
    return arena_copy(arena, reason, strlen(reason) - left);
}

static int64_t wait_after(unsigned attempts)
{
    int64_t wait = WAIT_MIN_MS;
    for (unsigned i = 1; i < attempts && wait < WAIT_MAX_MS; i++)
        wait *= 2;
    if (wait > WAIT_MAX_MS)
        wait = WAIT_MAX_MS;
    uint32_t random;
    random_bytes(&random, sizeof random);
    return wait + random % (wait / 5);
}

struct error *outbox_finish_ours(struct database *database, struct arena *arena, const struct outbox_item *item)
{
    bool current = false;
    assert(database_in_transaction(database));
    TRY(outbox_finish(database, arena, item, &current));
    return current ? NULL : error_new(arena, ERROR_INTERNAL, "the lease of the work had run out");
}

static const struct statement postpone_item = {
    "UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND, last_error = ?"
    " WHERE id = ? AND attempts = ? AND status = 'waiting'"};

struct error *outbox_retry(struct database *database, struct arena *arena, const struct outbox_item *item,
                           unsigned attempts_max, const char *reason, bool *dead_out)
{
    struct change change;
    *dead_out = item->attempts >= attempts_max;
    if (*dead_out)
        return outbox_bury(database, arena, item, reason);
    TRY(database_change(database, arena, &postpone_item,
                        VALUES(database_integer(wait_after(item->attempts) * 1000),
                               database_text(cut_reason(arena, reason)), database_integer((int64_t)item->number),
                               database_integer(item->attempts)),
                        &change));
    metrics_add(METRIC_OUTBOX_RETRIED, change.affected);
    return NULL;
}

static const struct statement bury_item = {
    "UPDATE outbox SET status = 'dead', payload = '', finished_at = UTC_TIMESTAMP(3), last_error = ?"
    " WHERE id = ? AND attempts = ? AND status = 'waiting'"};

struct error *outbox_bury(struct database *database, struct arena *arena, const struct outbox_item *item,
                          const char *reason)
{
    struct change change;
    TRY(database_change(database, arena, &bury_item,
                        VALUES(database_text(cut_reason(arena, reason)), database_integer((int64_t)item->number),
                               database_integer(item->attempts)),
                        &change));
    metrics_add(METRIC_OUTBOX_BURIED, change.affected);
    return NULL;
}

static const struct statement forget_items = {"DELETE FROM outbox WHERE user_id = ?"};

struct error *outbox_forget(struct database *database, struct arena *arena, struct id user)
{
    return database_change(database, arena, &forget_items, VALUES(database_id(user)), NULL);
}

static const struct statement find_recent = {
    "SELECT 1 FROM outbox WHERE user_id = ? AND kind IN (?, ?)"
    " AND (status = 'waiting' OR finished_at > UTC_TIMESTAMP(3) - INTERVAL ? SECOND) LIMIT 1"};

struct error *outbox_has_recent(struct database *database, struct arena *arena, struct id user, const char *kind,
                                const char *other_kind, unsigned seconds, bool *found_out)
{
    struct rows *rows;
    TRY(database_query(
        database, arena, &find_recent,
        VALUES(database_id(user), database_text(kind), database_text(other_kind), database_integer(seconds)), &rows));
    *found_out = rows->count > 0;
    return NULL;
}

static const struct statement count_items = {
    "SELECT COALESCE(SUM(status = 'waiting'), 0),"
    " COALESCE(SUM(status = 'waiting' AND next_attempt_at < UTC_TIMESTAMP(3) - INTERVAL 1 MINUTE), 0),"
    " COALESCE(SUM(status = 'dead'), 0) FROM outbox WHERE status IN ('waiting', 'dead')"};

struct error *outbox_count(struct database *database, struct arena *arena, struct outbox_counts *counts_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &count_items, NO_VALUES, &rows));
    *counts_out = (struct outbox_counts){
        .waiting = (uint64_t)rows_integer(rows, 0, 0),
        .overdue = (uint64_t)rows_integer(rows, 0, 1),
        .dead = (uint64_t)rows_integer(rows, 0, 2),
    };
    return NULL;
}

/* By the database's clock, which gave the times; one place of the index. */
static const struct statement find_lag = {
    "SELECT COALESCE(GREATEST(TIMESTAMPDIFF(MICROSECOND, MIN(next_attempt_at), UTC_TIMESTAMP(3)), 0), 0) DIV 1000"
    " FROM outbox WHERE status = 'waiting'"};

struct error *outbox_lag(struct database *database, struct arena *arena, int64_t *milliseconds_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_lag, NO_VALUES, &rows));
    *milliseconds_out = rows_integer(rows, 0, 0);
    return NULL;
}

/* For what is done next_attempt_at is the end of its last lease, and it has an index. */
static const struct statement purge_items = {"DELETE FROM outbox WHERE status = 'done' AND next_attempt_at < "
                                             "UTC_TIMESTAMP(3) - INTERVAL ? DAY LIMIT ?"};

struct error *outbox_purge(struct database *database, struct arena *arena, unsigned days, unsigned limit,
                           uint64_t *count_out)
{
    struct change change;
    TRY(database_change(database, arena, &purge_items, VALUES(database_integer(days), database_integer(limit)),
                        &change));
    *count_out = change.affected;
    return NULL;
}
