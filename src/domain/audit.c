/* SPDX-License-Identifier: MIT */
/* Adds rows to the audit trail. */
#include "domain/audit.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "store/database/database.h"

/* The columns' widths (sql/001-foundation.sql). */
#define ACTION_BYTES 64
#define TARGET_TYPE_BYTES 32
#define ADDRESS_BYTES 45
#define REQUEST_ID_BYTES 128
#define OUTCOME_BYTES 16
#define DETAILS_CHARACTERS 4096

/* A text for an ASCII column: cut, and with a question mark for what is not printable ASCII. NULL stays NULL. */
static struct database_value plain(struct arena *arena, const char *text, size_t bytes)
{
    if (text == NULL)
        return database_null();
    char *copy = arena_copy(arena, text, strnlen(text, bytes));
    for (char *at = copy; *at != '\0'; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    return database_text(copy);
}

static const struct statement insert_audit = {
    "INSERT INTO audit (id, at, action, organisation_id, user_id, target_type, target_id, client_address,"
    " request_id, outcome, details) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};

struct error *audit_insert(struct database *database, struct arena *arena, const struct audit_entry *entry)
{
    const char *details = entry->details == NULL ? "{}" : entry->details;
    if (!utf8_valid(details, strlen(details)) || utf8_count(details) > DETAILS_CHARACTERS)
        details = "{\"truncated\":true}";
    /* The time that a reader sees is that of the id, by which rows are found between two moments. */
    struct id id = id_new();
    TRY(database_change(database, arena, &insert_audit,
                        VALUES(database_id(id), database_time(arena, id_time(id)),
                               plain(arena, entry->action, ACTION_BYTES), database_id_or_null(entry->organisation_id),
                               database_id_or_null(entry->user_id), plain(arena, entry->target_type, TARGET_TYPE_BYTES),
                               plain(arena, entry->target_id, AUDIT_TARGET_CHARACTERS),
                               plain(arena, entry->client_address, ADDRESS_BYTES),
                               plain(arena, entry->request_id, REQUEST_ID_BYTES),
                               plain(arena, entry->outcome, OUTCOME_BYTES), database_text(details)),
                        NULL));
    return NULL;
}
