/* SPDX-License-Identifier: MIT */
/*
 * Keeps what lasts as long as a connection: its prepared statements, and the thing of database_remember().
 *
 * The statements lie in a hash table with open addressing; the key is the address of the SQL text.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "store/database/database_int.h"

static void free_prepared(struct prepared *prepared)
{
    (void)mysql_stmt_close(prepared->handle);
    free(prepared->bound);
    free(prepared->fetched);
    free(prepared->slots);
    free(prepared);
}

/* The place of `sql` in the table (open addressing), or the empty place where it belongs. */
static size_t place_of(const struct database *database, const char *sql)
{
    size_t place = (size_t)(((uintptr_t)sql * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % PREPARED_SLOTS;
    while (database->prepared[place] != NULL && database->prepared[place]->sql != sql)
        place = (place + 1) % PREPARED_SLOTS;
    return place;
}

struct prepared *statement_memory_find(const struct database *database, const char *sql)
{
    return database->prepared[place_of(database, sql)];
}

void statement_memory_add(struct database *database, struct prepared *prepared)
{
    database->prepared[place_of(database, prepared->sql)] = prepared;
    database->prepared_count++;
}

/* A search ends at the first empty place. So the statements behind the emptied one are put in again. */
void statement_memory_remove(struct database *database, struct prepared *prepared)
{
    size_t place = place_of(database, prepared->sql);
    database->prepared[place] = NULL;
    database->prepared_count--;
    free_prepared(prepared);
    for (;;) {
        place = (place + 1) % PREPARED_SLOTS;
        struct prepared *moved = database->prepared[place];
        if (moved == NULL)
            return;
        database->prepared[place] = NULL;
        database->prepared[place_of(database, moved->sql)] = moved;
    }
}

void statement_memory_clear(struct database *database)
{
    for (size_t i = 0; i < PREPARED_SLOTS; i++) {
        if (database->prepared[i] != NULL)
            free_prepared(database->prepared[i]);
        database->prepared[i] = NULL;
    }
    database->prepared_count = 0;
}

/* ---- one thing of the caller's ----------------------------------------------------------------------- */

void database_forget(struct database *database)
{
    arena_free(&database->remembered_memory);
    database->remembered = NULL;
}

void database_remember(struct database *database, struct arena **memory, void *thing)
{
    database_forget(database);
    database->remembered_memory = *memory;
    database->remembered = thing;
    *memory = NULL;
}

void *database_remembered(const struct database *database)
{
    return database->remembered;
}
