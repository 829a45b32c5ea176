/* SPDX-License-Identifier: MIT */
/* The statements on changes of e-mail addresses, and on the address in the user's row. */
#include "domain/account/email_change.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "codec/address.h"
#include "codec/digest.h"
#include "codec/random.h"
#include "domain/account/one_time_code.h"
#include "domain/account/user.h"
#include "store/database/database.h"

#define CHANGE_COLUMNS "c.id, c.number, c.old_email, c.new_email, c.old_verified, c.cancel_hash"
#define HASH_COLUMN 5

static struct email_change *read_change(struct arena *arena, const struct rows *rows, size_t row)
{
    struct email_change *change = arena_alloc(arena, sizeof *change);
    *change = (struct email_change){
        .id = rows_id(rows, row, 0),
        .number = rows_integer(rows, row, 1),
        .old_email = rows_text(rows, row, 2),
        .new_email = rows_text(rows, row, 3),
        .old_verified = rows_boolean(rows, row, 4),
        .noticed = !rows_is_null(rows, row, HASH_COLUMN),
    };
    return change;
}

/* ---- asking --------------------------------------------------------------------------------------- */

static const struct statement insert_change = {
    "INSERT INTO email_change (id, user_id, number, old_email, old_key, old_verified, new_email, expires_at)"
    " SELECT ?, u.id, COALESCE((SELECT MAX(c.number) FROM email_change c WHERE c.user_id = u.id), 0) + 1, u.email,"
    " u.email_key, u.email_verified, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND FROM user u"
    " WHERE u.id = ? AND u.organisation_id = ?"};

struct error *email_change_insert(struct database *database, struct arena *arena, const struct user *user,
                                  const char *new_email)
{
    assert(database_in_transaction(database));
    return database_change(database, arena, &insert_change,
                           VALUES(database_id(id_new()), database_text(address_clean(arena, new_email)),
                                  database_integer(EMAIL_CHANGE_SECONDS), database_id(user->id),
                                  database_id(user->organisation_id)),
                           NULL);
}

/* The latest change, unless it is confirmed already. */
static const struct statement find_waiting = {
    "SELECT " CHANGE_COLUMNS " FROM email_change c WHERE c.user_id = ? AND c.changed_at IS NULL"
    " AND c.expires_at > UTC_TIMESTAMP(3)"
    " AND c.number = (SELECT MAX(m.number) FROM email_change m WHERE m.user_id = c.user_id)"};

struct error *email_change_find_waiting(struct database *database, struct arena *arena, struct id user,
                                        struct email_change **change_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_waiting, VALUES(database_id(user)), &rows));
    *change_out = rows->count == 0 ? NULL : read_change(arena, rows, 0);
    return NULL;
}

/* ---- the code of the notice ----------------------------------------------------------------------- */

static void hash_code(struct arena *arena, struct secret master, struct id change, const char *code,
                      uint8_t hash_out[DIGEST_BYTES])
{
    char hex[ID_HEX_BYTES];
    id_hex(change, hex);
    const char *text = arena_format(arena, "gatehouse cancel %s %s", hex, code);
    digest_hmac(master, text, strlen(text), hash_out);
}

static const struct statement write_code = {"UPDATE email_change SET cancel_hash = ? WHERE id = ?"};

struct error *email_change_issue_code(struct database *database, struct arena *arena, struct secret master,
                                      const struct email_change *change, struct secret *code_out)
{
    uint8_t hash[DIGEST_BYTES];
    const char *code = random_code(arena, ONE_TIME_CODE_DIGITS);
    hash_code(arena, master, change->id, code, hash);
    TRY(database_change(database, arena, &write_code,
                        VALUES(database_bytes(hash, sizeof hash), database_id(change->id)), NULL));
    *code_out = secret_of(code);
    return NULL;
}

static const struct statement list_noticed = {"SELECT " CHANGE_COLUMNS
                                              " FROM email_change c WHERE c.user_id = ? AND c.cancel_hash IS NOT NULL"
                                              " AND c.expires_at > UTC_TIMESTAMP(3) ORDER BY c.number FOR UPDATE"};

static bool has_code(struct arena *arena, struct secret master, const struct rows *rows, size_t row, const char *code)
{
    uint8_t hash[DIGEST_BYTES];
    size_t length = 0;
    bool same = false;
    const void *stored = rows_bytes(rows, row, HASH_COLUMN, &length);
    for (const struct secret *key = &master; key != NULL; key = key->older) {
        hash_code(arena, *key, rows_id(rows, row, 0), code, hash);
        same |= length == sizeof hash && digest_equal(stored, hash);
    }
    return same;
}

struct error *email_change_find_by_code(struct database *database, struct arena *arena, struct secret master,
                                        struct id user, const char *code, struct email_change **change_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_noticed, VALUES(database_id(user)), &rows));
    *change_out = NULL;
    for (size_t i = rows->count; i > 0; i--)
        if (has_code(arena, master, rows, i - 1, code))
            *change_out = read_change(arena, rows, i - 1);
    return NULL;
}

/* ---- changing and undoing ------------------------------------------------------------------------- */

static const struct statement set_email = {
    "UPDATE user SET email = ?, email_key = ?, email_verified = ?, updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND organisation_id = ?"};

static struct error *write_email(struct database *database, struct arena *arena, const struct user *user,
                                 const char *email, bool verified, bool *taken_out)
{
    struct change change;
    assert(database_in_transaction(database));
    TRY(database_change(database, arena, &set_email,
                        VALUES(database_text(address_clean(arena, email)), database_text(address_key(arena, email)),
                               database_boolean(verified), database_id(user->id), database_id(user->organisation_id)),
                        &change));
    *taken_out = change.duplicate;
    return NULL;
}

static const struct statement mark_changed = {
    "UPDATE email_change SET changed_at = UTC_TIMESTAMP(3), expires_at = UTC_TIMESTAMP(3) + INTERVAL ? SECOND"
    " WHERE id = ?"};

struct error *email_change_apply(struct database *database, struct arena *arena, const struct user *user,
                                 const struct email_change *change, bool *taken_out)
{
    TRY(write_email(database, arena, user, change->new_email, true, taken_out));
    if (*taken_out)
        return NULL;
    return database_change(database, arena, &mark_changed,
                           VALUES(database_integer(EMAIL_CHANGE_SECONDS), database_id(change->id)), NULL);
}

static const struct statement delete_from = {"DELETE FROM email_change WHERE user_id = ? AND number >= ?"};

struct error *email_change_undo(struct database *database, struct arena *arena, const struct user *user,
                                const struct email_change *change)
{
    bool taken = false;
    if (!address_same(arena, user->email, change->old_email))
        TRY(write_email(database, arena, user, change->old_email, change->old_verified, &taken));
    if (taken)
        return error_new(arena, ERROR_INTERNAL, "the reserved address of a user was given to another account");
    return database_change(database, arena, &delete_from,
                           VALUES(database_id(user->id), database_integer(change->number)), NULL);
}

/* ---- who has an address --------------------------------------------------------------------------- */

static const struct statement find_owner = {
    "SELECT u.id FROM user u WHERE u.email_key = ? AND u.id <> ?"
    " UNION ALL SELECT NULL FROM email_change c WHERE c.old_key = ? AND c.user_id <> ? AND c.changed_at IS NOT NULL"
    " AND c.expires_at > UTC_TIMESTAMP(3) LIMIT 1"};

struct error *email_change_is_taken(struct database *database, struct arena *arena, const char *email, struct id user,
                                    bool *taken_out, struct id *owner_out)
{
    struct rows *rows;
    struct database_value key = database_text(address_key(arena, email));
    TRY(database_query(database, arena, &find_owner, VALUES(key, database_id(user), key, database_id(user)), &rows));
    *taken_out = rows->count != 0;
    *owner_out = rows->count == 0 || rows_is_null(rows, 0, 0) ? id_none : rows_id(rows, 0, 0);
    return NULL;
}

/* ---- removing ------------------------------------------------------------------------------------- */

static const struct statement list_addresses = {
    "SELECT old_email, new_email FROM email_change WHERE user_id = ? ORDER BY number"};

struct error *email_change_addresses(struct database *database, struct arena *arena, struct id user,
                                     struct text_list *addresses_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_addresses, VALUES(database_id(user)), &rows));
    *addresses_out = (struct text_list){arena_array(arena, 2 * rows->count, sizeof *addresses_out->items), 0};
    for (size_t i = 0; i < rows->count; i++) {
        addresses_out->items[addresses_out->count++] = rows_text(rows, i, 0);
        addresses_out->items[addresses_out->count++] = rows_text(rows, i, 1);
    }
    return NULL;
}

static const struct statement delete_all = {"DELETE FROM email_change WHERE user_id = ?"};

struct error *email_change_forget(struct database *database, struct arena *arena, struct id user)
{
    return database_change(database, arena, &delete_all, VALUES(database_id(user)), NULL);
}

static const struct statement purge_changes = {"DELETE FROM email_change WHERE expires_at < UTC_TIMESTAMP(3) LIMIT ?"};

struct error *email_change_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out)
{
    struct change change;
    TRY(database_change(database, arena, &purge_changes, VALUES(database_integer(limit)), &change));
    *count_out = change.affected;
    return NULL;
}
