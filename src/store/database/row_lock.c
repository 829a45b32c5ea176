/* SPDX-License-Identifier: MIT */
/* Takes, renews and releases locks that are rows, and waits for those that another process holds. */
#include "store/database/row_lock.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "codec/random.h"
#include "store/database/database_int.h"

/* The longest pause after the first look at a lock that another one holds. It doubles with each look, four times. */
#define PAUSE_MICROSECONDS INT64_C(20000)

struct row_lock row_lock_of(struct database *database, const char *kind, const void *key, size_t length)
{
    struct row_lock lock = {.holder = database->id};
    /* A process and its children may each use a copy of the handle. */
    const pid_t process = getpid();
    for (size_t i = 0; i < sizeof process; i++)
        lock.holder.bytes[sizeof lock.holder.bytes - 1 - i] ^= ((const unsigned char *)&process)[i];
    struct arena *arena = arena_new();
    struct digest *digest = digest_open(arena);
    digest_update(digest, kind, strlen(kind));
    digest_update(digest, "\n", 1);
    digest_update(digest, key, length);
    digest_final(digest, lock.name);
    arena_free(&arena);
    return lock;
}

static struct database_value name_of(const struct row_lock *lock)
{
    return database_bytes(lock->name, sizeof lock->name);
}

static const char make_table[] = "CREATE TABLE IF NOT EXISTS row_lock ("
                                 "name BINARY(32) NOT NULL, "
                                 "holder BINARY(16) NOT NULL, "
                                 "held_until DATETIME(3) NOT NULL, "
                                 "server VARBINARY(255) NOT NULL, "
                                 "connection BIGINT NOT NULL, "
                                 "PRIMARY KEY (name)) "
                                 "ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";

struct error *row_lock_create(struct database *database, struct arena *arena)
{
    return database_execute(database, arena, make_table, sizeof make_table - 1);
}

/* ---- taking -------------------------------------------------------------------------------------- */

/*
 * The server and the account. A node of a cluster has another wsrep_gcomm_uuid each time it starts; a single server has
 * none. An account without the right PROCESS sees its own connections alone.
 */
#define SERVER                                                                                                         \
    "CAST(CONCAT(CURRENT_USER(), ' ', COALESCE((SELECT variable_value FROM information_schema.global_status"           \
    " WHERE variable_name = 'wsrep_gcomm_uuid'), '')) AS BINARY)"

static const struct statement insert_lock = {"INSERT INTO row_lock (name, holder, held_until, server, connection)"
                                             " VALUES (?, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND, " SERVER
                                             ", CONNECTION_ID())"};

static struct error *insert(struct database *database, struct arena *arena, const struct row_lock *lock,
                            unsigned seconds, bool *held_out)
{
    struct change change;
    TRY(database_change(database, arena, &insert_lock,
                        VALUES(name_of(lock), database_id(lock->holder), database_integer(seconds)), &change));
    *held_out = !change.duplicate;
    database->locks += *held_out;
    return NULL;
}

/*
 * The lock's row: its time is over; the holder's connection is one to this server that lives, or has ended. A time that
 * another server's clock has given is over so many seconds later, since this one's may be ahead.
 */
#define CLOCKS_APART_SECONDS "30"
static const struct statement find_holder = {
    "SELECT l.holder, CAST(l.held_until AS CHAR),"
    " l.held_until <= UTC_TIMESTAMP(3) - INTERVAL IF(l.server = " SERVER ", 0, " CLOCKS_APART_SECONDS ") SECOND,"
    " l.server = " SERVER " AND p.id IS NOT NULL, l.server = " SERVER " AND p.id IS NULL FROM row_lock l"
    " LEFT JOIN information_schema.processlist p ON p.id = l.connection WHERE l.name = ?"};

struct found {
    struct id holder;
    const char *until;
    bool over;
    bool lives;
    bool ended;
};

static bool same(const struct found *one, const struct found *other)
{
    return id_equal(one->holder, other->holder) && other->until != NULL && strcmp(one->until, other->until) == 0;
}

/*
 * Whether the lock may be taken from its holder. The time of one that is tied to its connection may be over because the
 * holder's statement blocks every commit of the cluster, the renewal included. So it must be found twice, unchanged.
 */
static bool is_free(const struct row_lock *lock, const struct found *found, const struct found *before)
{
    if (id_equal(found->holder, lock->holder) || found->ended)
        return true;
    if (!lock->tied)
        return found->over;
    return found->over && !found->lives && same(found, before);
}

/* The conditions are false when the holder has renewed the lock, or another process has taken it, meanwhile. */
static const struct statement take_over = {
    "UPDATE row_lock SET holder = ?, held_until = UTC_TIMESTAMP(3) + INTERVAL ? SECOND, server = " SERVER
    ", connection = CONNECTION_ID() WHERE name = ? AND holder = ? AND held_until = ?"};

/* One look at the row. *before is what the look before found, and is replaced. */
static struct error *look(struct database *database, struct arena *arena, const struct row_lock *lock, unsigned seconds,
                          struct found *before, bool *held_out)
{
    struct rows *rows;
    struct change change;
    TRY(database_query(database, arena, &find_holder, VALUES(name_of(lock)), &rows));
    if (rows->count == 0)
        return insert(database, arena, lock, seconds, held_out);
    const struct found found = {.holder = rows_id(rows, 0, 0),
                                .until = rows_text(rows, 0, 1),
                                .over = rows_boolean(rows, 0, 2),
                                .lives = rows_boolean(rows, 0, 3),
                                .ended = rows_boolean(rows, 0, 4)};
    bool may_take = is_free(lock, &found, before);
    *before = found;
    if (!may_take)
        return NULL;
    TRY(database_change(database, arena, &take_over,
                        VALUES(database_id(lock->holder), database_integer(seconds), name_of(lock),
                               database_id(found.holder), database_text(found.until)),
                        &change));
    *held_out = change.affected == 1;
    database->locks += *held_out && !id_equal(found.holder, lock->holder);
    return NULL;
}

/* Between half of the longest pause of this look and all of it, so that those who wait do not look at once. */
static int64_t pause_after(unsigned looks)
{
    uint32_t random;
    int64_t most = PAUSE_MICROSECONDS << (looks < 4 ? looks : 4);
    random_bytes(&random, sizeof random);
    return most / 2 + (int64_t)(random % (uint32_t)(most / 2));
}

struct error *row_lock_take(struct database *database, struct arena *arena, const struct row_lock *lock,
                            unsigned seconds, unsigned patience, bool *held_out)
{
    struct found before = {.until = NULL};
    int64_t until = clock_within_horizon(clock_monotonic() + (int64_t)patience * 1000);
    assert(!database_in_transaction(database));
    TRY(insert(database, arena, lock, seconds, held_out));
    for (unsigned looks = 0; !*held_out; looks++) {
        TRY(look(database, arena, lock, seconds, &before, held_out));
        int64_t pause = pause_after(looks);
        if (*held_out || clock_monotonic() + pause >= until)
            break;
        clock_sleep(pause);
    }
    return NULL;
}

/* ---- keeping and ending -------------------------------------------------------------------------- */

static const struct statement renew_lock = {
    "UPDATE row_lock SET held_until = UTC_TIMESTAMP(3) + INTERVAL ? SECOND WHERE name = ? AND holder = ?"};

struct error *row_lock_renew(struct database *database, struct arena *arena, const struct row_lock *lock,
                             unsigned seconds, bool *held_out)
{
    struct change change;
    TRY(database_change(database, arena, &renew_lock,
                        VALUES(database_integer(seconds), name_of(lock), database_id(lock->holder)), &change));
    *held_out = change.affected == 1;
    return NULL;
}

static const struct statement release_lock = {"DELETE FROM row_lock WHERE name = ? AND holder = ?"};

void row_lock_release(struct database *database, struct arena *arena, const struct row_lock *lock)
{
    database->locks -= database->locks > 0;
    struct error *error =
        database_change(database, arena, &release_lock, VALUES(name_of(lock), database_id(lock->holder)), NULL);
    if (error != NULL)
        LOG(WARN, STORE, "a lock could not be released, and ends by itself", LOG_TEXT("detail", error->detail));
}

static const struct statement purge_locks = {
    "DELETE FROM row_lock WHERE held_until < UTC_TIMESTAMP(3) - INTERVAL 1 DAY ORDER BY name LIMIT ?"};

struct error *row_lock_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out)
{
    struct change change;
    TRY(database_change(database, arena, &purge_locks, VALUES(database_integer(limit)), &change));
    *count_out = change.affected;
    return NULL;
}
