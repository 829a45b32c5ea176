/* SPDX-License-Identifier: MIT */
/* Computes and stores the comparison keys of addresses, a page of users at a time. */
#include "domain/account/address_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/address.h"
#include "store/database/database.h"

#define PAGE_ROWS 1000

static const struct statement find_table = {
    "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'user'"};

static const struct statement list_foreign = {
    "SELECT id, email FROM user WHERE id > ? AND LENGTH(email) <> CHAR_LENGTH(email) ORDER BY id LIMIT ?"};

/* An address in ASCII, which is its own key. */
static const struct statement find_plain = {
    "SELECT id, email FROM user WHERE email = ? AND LENGTH(email) = CHAR_LENGTH(email)"};

static const struct statement write_key = {
    "UPDATE user SET email_key = ? WHERE id = ? AND email = ? AND email_key <> ?"};

/* Only a change by hand leaves such a row. */
static const struct statement list_plain = {
    "SELECT id, email FROM user WHERE id > ? AND LENGTH(email) = CHAR_LENGTH(email) AND email_key <> LOWER(email)"
    " ORDER BY id LIMIT ?"};

/* A key that is nobody's address. */
static const struct statement give_up_key = {"UPDATE user SET email_key = HEX(id) WHERE id = ? AND email = ?"};

struct holders {
    struct address_holder *items;
    size_t count;
    size_t capacity;
};

static void add(struct holders *holders, struct arena *arena, const struct address_holder *holder)
{
    if (holders->count == holders->capacity) {
        holders->capacity = holders->capacity == 0 ? PAGE_ROWS : 2 * holders->capacity;
        struct address_holder *items = arena_array(arena, holders->capacity, sizeof *items);
        for (size_t i = 0; i < holders->count; i++)
            items[i] = holders->items[i];
        holders->items = items;
    }
    holders->items[holders->count++] = *holder;
}

static void add_rows(struct holders *holders, struct arena *arena, const struct rows *rows)
{
    for (size_t row = 0; row < rows->count; row++) {
        const char *email = rows_text(rows, row, 1);
        add(holders, arena, &(struct address_holder){rows_id(rows, row, 0), email, address_key(arena, email)});
    }
}

/* Adds all accounts that a statement lists by id: those whose address is not ASCII, or plain ones to be mended. */
static struct error *load(struct database *database, struct arena *arena, const struct statement *statement,
                          struct holders *holders)
{
    struct id after = {{0}};
    struct rows *rows;
    do {
        TRY(database_query(database, arena, statement, VALUES(database_id(after), database_integer(PAGE_ROWS)), &rows));
        add_rows(holders, arena, rows);
        if (rows->count > 0)
            after = rows_id(rows, rows->count - 1, 0);
    } while (rows->count == PAGE_ROWS);
    return NULL;
}

static int by_key(const void *left, const void *right)
{
    const struct address_holder *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order != 0 ? order : memcmp(a->user.bytes, b->user.bytes, sizeof a->user.bytes);
}

static bool same_key(const struct holders *holders, size_t one, size_t other)
{
    return other < holders->count && strcmp(holders->items[one].key, holders->items[other].key) == 0;
}

static void keep_collisions(struct holders *holders)
{
    size_t kept = 0;
    bool before = false;
    for (size_t i = 0; i < holders->count; i++) {
        bool next = same_key(holders, i, i + 1);
        if (before || next)
            holders->items[kept++] = holders->items[i];
        before = next;
    }
    holders->count = kept;
}

struct error *address_keys_collisions(struct database *database, struct arena *arena,
                                      struct address_holder **holders_out, size_t *count_out)
{
    struct holders holders = {0};
    struct rows *rows;
    *count_out = 0;
    TRY(database_query(database, arena, &find_table, NO_VALUES, &rows));
    if (rows_integer(rows, 0, 0) == 0)
        return NULL;
    TRY(load(database, arena, &list_foreign, &holders));
    size_t foreign = holders.count;
    for (size_t i = 0; i < foreign; i++) {
        TRY(database_query(database, arena, &find_plain, VALUES(database_text(holders.items[i].key)), &rows));
        add_rows(&holders, arena, rows);
    }
    if (holders.count > 0)
        qsort(holders.items, holders.count, sizeof *holders.items, by_key);
    keep_collisions(&holders);
    *holders_out = holders.items;
    *count_out = holders.count;
    return NULL;
}

static const struct statement count_plain = {
    "SELECT COUNT(*) FROM user WHERE LENGTH(email) = CHAR_LENGTH(email) AND email_key <> LOWER(email)"};

static const struct statement list_keys = {
    "SELECT id, email, email_key FROM user WHERE id > ? AND LENGTH(email) <> CHAR_LENGTH(email) ORDER BY id LIMIT ?"};

struct error *address_keys_unfilled(struct database *database, struct arena *arena, size_t *count_out)
{
    struct id after = {{0}};
    struct rows *rows;
    TRY(database_query(database, arena, &count_plain, NO_VALUES, &rows));
    *count_out = (size_t)rows_integer(rows, 0, 0);
    do {
        TRY(database_query(database, arena, &list_keys, VALUES(database_id(after), database_integer(PAGE_ROWS)),
                           &rows));
        for (size_t row = 0; row < rows->count; row++) {
            after = rows_id(rows, row, 0);
            *count_out += strcmp(address_key(arena, rows_text(rows, row, 1)), rows_text(rows, row, 2)) != 0;
        }
    } while (rows->count == PAGE_ROWS);
    return NULL;
}

static struct error *write_one(struct database *database, struct arena *arena, const struct address_holder *holder,
                               struct change *change_out)
{
    struct database_value key = database_text(holder->key);
    return database_change(database, arena, &write_key,
                           VALUES(key, database_id(holder->user), database_text(holder->email), key), change_out);
}

/*
 * Writes keys that stood in each other's way: somebody has an address now that was another's, whose own key is not
 * written yet. Nobody sees the state between.
 */
static struct error *write_together(struct database *database, struct arena *arena, void *context)
{
    const struct holders *holders = context;
    struct change change;
    for (size_t i = 0; i < holders->count; i++)
        TRY(database_change(database, arena, &give_up_key,
                            VALUES(database_id(holders->items[i].user), database_text(holders->items[i].email)),
                            &change));
    for (size_t i = 0; i < holders->count; i++) {
        TRY(write_one(database, arena, &holders->items[i], &change));
        if (change.duplicate)
            return error_message(error_plain(arena, ERROR_INTERNAL),
                                 "The address of user %s is another account's, too. Give one of them another.",
                                 id_text(arena, holders->items[i].user));
    }
    return NULL;
}

struct error *address_keys_fill(struct database *database, struct arena *arena, size_t *count_out)
{
    struct holders holders = {0};
    size_t kept = 0;
    *count_out = 0;
    TRY(load(database, arena, &list_foreign, &holders));
    TRY(load(database, arena, &list_plain, &holders));
    for (size_t i = 0; i < holders.count; i++) {
        struct change change;
        TRY(write_one(database, arena, &holders.items[i], &change));
        if (change.duplicate)
            holders.items[kept++] = holders.items[i];
        else
            *count_out += change.affected;
    }
    holders.count = kept;
    if (kept > 0)
        TRY(database_transaction(database, arena, write_together, &holders, NULL));
    *count_out += kept;
    return NULL;
}
