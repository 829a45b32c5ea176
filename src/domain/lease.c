/* SPDX-License-Identifier: MIT */
/* The statements on leases and saved positions. */
#include "domain/lease.h"

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
    " WHERE name = ? AND (holder IS NULL OR holder = ? OR held_until <= UTC_TIMESTAMP(3))"};

static struct error *take(struct database *database, struct arena *arena, const char *name, struct id holder,
                          unsigned seconds, bool *held_out)
{
    struct change change;
    TRY(database_change(
        database, arena, &take_lease,
        VALUES(database_id(holder), database_integer(seconds), database_text(name), database_id(holder)), &change));
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

static const struct statement save_position = {"UPDATE maintenance SET position = ? WHERE name = ?"};

struct error *lease_save_position(struct database *database, struct arena *arena, const char *name,
                                  const char *position)
{
    struct change change;
    const struct database_value text = database_text(position);
    TRY(database_change(database, arena, &save_position, VALUES(text, database_text(name)), &change));
    if (change.affected == 1)
        return NULL;
    TRY(make_row(database, arena, name));
    TRY(database_change(database, arena, &save_position, VALUES(text, database_text(name)), NULL));
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
