/* SPDX-License-Identifier: MIT */
/* The statements on leases and saved positions. */
#include "domain/lease.h"

#include <assert.h>

#include "base/error.h"
#include "store/database/database.h"

static const struct statement insert_row = {"INSERT INTO maintenance (name) VALUES (?)"};

/* Makes the row unless it exists. */
static struct error *make_row(struct database *database, struct arena *arena, const char *name)
{
    struct change change;
    TRY(database_change(database, arena, &insert_row, VALUES(database_text(name)), &change));
    return NULL;
}

static const struct statement take_lease = {
    "UPDATE maintenance SET holder = ?, held_until = UTC_TIMESTAMP(3) + INTERVAL ? SECOND"
    " WHERE name = ? AND (holder IS NULL OR held_until <= UTC_TIMESTAMP(3))"};

static struct error *take(struct database *database, struct arena *arena, const char *name, struct id holder,
                          unsigned seconds, bool *held_out)
{
    struct change change;
    TRY(database_change(database, arena, &take_lease,
                        VALUES(database_id(holder), database_integer(seconds), database_text(name)), &change));
    *held_out = change.affected == 1;
    return NULL;
}

struct error *lease_take(struct database *database, struct arena *arena, const char *name, struct id holder,
                         unsigned seconds, bool *held_out)
{
    TRY(take(database, arena, name, holder, seconds, held_out));
    if (*held_out)
        return NULL;
    TRY(make_row(database, arena, name));
    return take(database, arena, name, holder, seconds, held_out);
}

#define HELD " WHERE name = ? AND holder = ? AND held_until > UTC_TIMESTAMP(3)"

static const struct statement renew_lease = {
    "UPDATE maintenance SET held_until = UTC_TIMESTAMP(3) + INTERVAL ? SECOND" HELD};

struct error *lease_renew(struct database *database, struct arena *arena, const char *name, struct id holder,
                          unsigned seconds, bool *held_out)
{
    struct change change;
    TRY(database_change(database, arena, &renew_lease,
                        VALUES(database_integer(seconds), database_text(name), database_id(holder)), &change));
    *held_out = change.affected == 1;
    return NULL;
}

static const struct statement fence = {"SELECT 1 FROM maintenance" HELD " LOCK IN SHARE MODE"};

struct error *lease_fence(struct database *database, struct arena *arena, const char *name, struct id holder,
                          bool *held_out)
{
    struct rows *rows;
    assert(database_in_transaction(database));
    TRY(database_query(database, arena, &fence, VALUES(database_text(name), database_id(holder)), &rows));
    *held_out = rows->count == 1;
    return NULL;
}

static const struct statement release_lease = {
    "UPDATE maintenance SET holder = NULL, held_until = NULL WHERE name = ? AND holder = ?"};

struct error *lease_release(struct database *database, struct arena *arena, const char *name, struct id holder)
{
    TRY(database_change(database, arena, &release_lease, VALUES(database_text(name), database_id(holder)), NULL));
    return NULL;
}

static const struct statement find_holder = {
    "SELECT 1 FROM maintenance WHERE name = ? AND holder IS NOT NULL AND held_until > UTC_TIMESTAMP(3)"};

struct error *lease_held(struct database *database, struct arena *arena, const char *name, bool *held_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_holder, VALUES(database_text(name)), &rows));
    *held_out = rows->count > 0;
    return NULL;
}

static const struct statement save_position = {"UPDATE maintenance SET position = ?" HELD};

struct error *lease_save_position(struct database *database, struct arena *arena, const char *name, struct id holder,
                                  const char *position, bool *held_out)
{
    struct change change;
    TRY(database_change(database, arena, &save_position,
                        VALUES(database_text(position), database_text(name), database_id(holder)), &change));
    *held_out = change.affected == 1;
    return NULL;
}

static const struct statement find_position = {"SELECT position FROM maintenance WHERE name = ?"};

struct error *lease_position(struct database *database, struct arena *arena, const char *name,
                             const char **position_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_position, VALUES(database_text(name)), &rows));
    *position_out = rows->count == 0 ? "" : rows_text(rows, 0, 0);
    return NULL;
}
