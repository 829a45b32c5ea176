/* SPDX-License-Identifier: MIT */
#include "domain/principal_book_int.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "domain/principal.h"
#include "store/database.h"

/* A book that is longer is read anew for each request. */
#define BOOK_BYTES_MAX ((size_t)1024 * 1024)

/* The rest of a text of LENGTH:TEXT LENGTH:TEXT ... */
struct items {
    const char *at;
    const char *end;
};

/* A length of more digits than any column's is no length. */
#define ITEM_BYTES_MAX 1000000

struct item {
    const char *bytes;
    size_t length;
};

/* False at the end, and where the text breaks off: then what follows grants nothing. */
static bool next_item(struct items *items, struct item *item_out)
{
    size_t length = 0;
    const char *at = items->at;
    while (at < items->end && *at >= '0' && *at <= '9' && length < ITEM_BYTES_MAX)
        length = length * 10 + (size_t)(*at++ - '0');
    if (at == items->at || at == items->end || *at != ':' || (size_t)(items->end - at) - 1 < length)
        return false;
    *item_out = (struct item){at + 1, length};
    items->at = at + 1 + length;
    return true;
}

static size_t count_items(struct items items)
{
    size_t count = 0;
    struct item item;
    while (next_item(&items, &item))
        count++;
    return count;
}

static struct items items_of(const struct rows *rows, size_t column)
{
    size_t length = 0;
    const char *bytes = rows_bytes(rows, 0, column, &length);
    return bytes == NULL ? (struct items){"", ""} : (struct items){bytes, bytes + length};
}

static bool same_item(struct item one, struct item other)
{
    return one.length == other.length && memcmp(one.bytes, other.bytes, one.length) == 0;
}

/* In the arena. A NUL would cut the text, and what is left might read as a permission: see column_permission(). */
static const char *item_text(struct arena *arena, struct item item)
{
    char *text = arena_copy(arena, item.bytes, item.length);
    for (size_t i = 0; i < item.length; i++)
        if (text[i] == '\0')
            text[i] = '\x01';
    return text;
}

/* Permissions that stand side by side for one role; a role may have several such runs. */
struct run {
    struct item role;
    const struct item *permissions;
    size_t count;
};

struct principal_book {
    int64_t stamp;
    const struct run *runs;
    size_t count;
};

/* The items point into the text, which must live as long as the book. */
static struct principal_book *parse(struct arena *arena, struct items text)
{
    struct principal_book *book = arena_alloc(arena, sizeof *book);
    size_t most = count_items(text) / 2;
    struct run *runs = arena_array(arena, most, sizeof *runs);
    struct item *permissions = arena_array(arena, most, sizeof *permissions);
    struct item role, permission;
    book->runs = runs;
    while (next_item(&text, &role) && next_item(&text, &permission)) {
        if (book->count == 0 || !same_item(runs[book->count - 1].role, role))
            runs[book->count++] = (struct run){role, permissions, 0};
        *permissions++ = permission;
        runs[book->count - 1].count++;
    }
    return book;
}

const struct principal_book *principal_book_recall(const struct database *database, int64_t stamp)
{
    const struct principal_book *book = database_remembered(database);
    return book != NULL && book->stamp == stamp ? book : NULL;
}

const struct principal_book *principal_book_read(struct arena *arena, const struct rows *rows, size_t column)
{
    return parse(arena, items_of(rows, column));
}

const struct principal_book *principal_book_learn(struct database *database, struct arena *arena,
                                                  const struct rows *rows, size_t column, int64_t stamp)
{
    struct items text = items_of(rows, column);
    size_t length = (size_t)(text.end - text.at);
    if (length > BOOK_BYTES_MAX || database_in_transaction(database))
        return parse(arena, text);
    struct arena *memory = arena_new();
    const char *kept = arena_copy(memory, text.at, length);
    struct principal_book *book = parse(memory, (struct items){kept, kept + length});
    book->stamp = stamp;
    database_remember(database, &memory, book);
    return book;
}

/* What the book says of one role, in the arena of the request: the next request may have another book. */
static struct text_list permissions_of(struct arena *arena, const struct principal_book *book, struct item role)
{
    struct text_list list = {NULL, 0};
    size_t count = 0;
    for (size_t i = 0; i < book->count; i++)
        if (same_item(book->runs[i].role, role))
            count += book->runs[i].count;
    list.items = arena_array(arena, count, sizeof *list.items);
    for (size_t i = 0; i < book->count && list.count < count; i++)
        for (size_t k = 0; same_item(book->runs[i].role, role) && k < book->runs[i].count; k++)
            list.items[list.count++] = item_text(arena, book->runs[i].permissions[k]);
    return list;
}

void principal_book_grants(struct arena *arena, const struct principal_book *book, const struct rows *rows, size_t column,
                           struct principal *principal)
{
    struct items roles = items_of(rows, column);
    size_t count = count_items(roles);
    struct item role;
    principal->grants = arena_array(arena, count, sizeof *principal->grants);
    principal->user.roles.items = arena_array(arena, count, sizeof *principal->user.roles.items);
    while (next_item(&roles, &role)) {
        struct role_grant *grant = &principal->grants[principal->grant_count++];
        grant->role = item_text(arena, role);
        grant->permissions = permissions_of(arena, book, role);
        principal->user.roles.items[principal->user.roles.count++] = grant->role;
    }
}
