/* SPDX-License-Identifier: MIT */
/* The statements on accounts of the embedded identity provider. */
#include "domain/account/embedded_account.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "store/database/database.h"

static const char *const status_texts[] = {
    [EMBEDDED_ACCOUNT_FORCE_CHANGE] = "force-change",
    [EMBEDDED_ACCOUNT_UNCONFIRMED] = "unconfirmed",
    [EMBEDDED_ACCOUNT_CONFIRMED] = "confirmed",
};

static enum embedded_account_status read_status(const char *text)
{
    if (strcmp(text, status_texts[EMBEDDED_ACCOUNT_FORCE_CHANGE]) == 0)
        return EMBEDDED_ACCOUNT_FORCE_CHANGE;
    return strcmp(text, status_texts[EMBEDDED_ACCOUNT_UNCONFIRMED]) == 0 ? EMBEDDED_ACCOUNT_UNCONFIRMED
                                                                         : EMBEDDED_ACCOUNT_CONFIRMED;
}

#define ACCOUNT_COLUMNS                                                                                                \
    "id, username, password_hash, password_version, password_temporary,"                                               \
    " COALESCE(password_expires_at <= UTC_TIMESTAMP(3), FALSE), status, enabled, email_verified, permissions,"
#define COLUMN_IS_OTHER 10

static const struct statement find_account = {"SELECT " ACCOUNT_COLUMNS " 0 FROM identity_account WHERE id = ?"
                                              " UNION ALL (SELECT " ACCOUNT_COLUMNS
                                              " 1 FROM identity_account ORDER BY id LIMIT 1) LIMIT 1"};

static const struct statement hold_account = {"SELECT " ACCOUNT_COLUMNS
                                              " 0 FROM identity_account WHERE id = ? LOCK IN SHARE MODE"};

static struct error *find(struct database *database, struct arena *arena, const struct statement *statement,
                          struct id id, struct embedded_account **account_out)
{
    struct rows *rows;
    *account_out = NULL;
    TRY(database_query(database, arena, statement, VALUES(database_id(id)), &rows));
    if (rows->count == 0 || rows_boolean(rows, 0, COLUMN_IS_OTHER))
        return NULL;
    struct embedded_account *account = arena_alloc(arena, sizeof *account);
    *account = (struct embedded_account){
        .id = rows_id(rows, 0, 0),
        .username = rows_text(rows, 0, 1),
        .password_hash = rows_text(rows, 0, 2),
        .password_version = rows_integer(rows, 0, 3),
        .password_temporary = rows_boolean(rows, 0, 4),
        .password_expired = rows_boolean(rows, 0, 5),
        .status = read_status(rows_text(rows, 0, 6)),
        .enabled = rows_boolean(rows, 0, 7),
        .email_verified = rows_boolean(rows, 0, 8),
        .permissions = rows_text(rows, 0, 9),
    };
    *account_out = account;
    return NULL;
}

struct error *embedded_account_find(struct database *database, struct arena *arena, struct id id,
                                    struct embedded_account **account_out)
{
    return find(database, arena, &find_account, id, account_out);
}

struct error *embedded_account_hold(struct database *database, struct arena *arena, struct id id,
                                    struct embedded_account **account_out)
{
    assert(database_in_transaction(database));
    return find(database, arena, &hold_account, id, account_out);
}

/* ---- making and deleting -------------------------------------------------------------------------- */

/* Both statements have the same columns in the same order, so that they take the same values. */
static const struct statement insert_account = {
    "INSERT INTO identity_account (username, password_hash, password_temporary, password_expires_at, status,"
    " phone, permissions, email_verified, phone_verified, id)"
    " VALUES (?, ?, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND, ?, ?, ?, ?, ?, ?)"};

static const struct statement overwrite_account = {
    "UPDATE identity_account SET username = ?, password_hash = ?, password_temporary = ?,"
    " password_expires_at = UTC_TIMESTAMP(3) + INTERVAL ? SECOND, status = ?, phone = ?, permissions = ?,"
    " email_verified = ?, phone_verified = ?, password_version = password_version + 1, enabled = TRUE,"
    " updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND NOT EXISTS (SELECT 1 FROM session s WHERE s.user_id = identity_account.id)"};

struct error *embedded_account_write(struct database *database, struct arena *arena,
                                     const struct embedded_account *account, bool *written_out)
{
    const struct database_value values[] = {
        database_text(account->username),
        database_text(account->password_hash),
        database_boolean(account->password_temporary),
        account->password_temporary ? database_integer(account->temporary_seconds) : database_null(),
        database_text(status_texts[account->status]),
        database_text(account->phone),
        database_text(account->permissions),
        database_boolean(account->email_verified),
        database_boolean(account->phone_verified),
        database_id(account->id),
    };
    size_t count = sizeof values / sizeof *values;
    struct change change;
    TRY(database_change(database, arena, &insert_account, values, count, &change));
    if (change.duplicate && strcmp(change.duplicate_key, "PRIMARY") == 0)
        TRY(database_change(database, arena, &overwrite_account, values, count, &change));
    *written_out = change.affected == 1;
    return NULL;
}

static const struct statement delete_account = {"DELETE FROM identity_account WHERE id = ?"};

struct error *embedded_account_delete(struct database *database, struct arena *arena, struct id id)
{
    return database_change(database, arena, &delete_account, VALUES(database_id(id)), NULL);
}

/* ---- changes of state ----------------------------------------------------------------------------- */

/* Runs an UPDATE of one account; *changed_out tells whether a row met its conditions. */
static struct error *update(struct database *database, struct arena *arena, const struct statement *statement,
                            const struct database_value *values, size_t count, bool *changed_out)
{
    struct change change;
    TRY(database_change(database, arena, statement, values, count, &change));
    *changed_out = change.affected == 1;
    return NULL;
}

static const struct statement confirm_account = {
    "UPDATE identity_account SET status = 'confirmed', email_verified = TRUE, updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND status = 'unconfirmed'"};

struct error *embedded_account_confirm(struct database *database, struct arena *arena, struct id id, bool *changed_out)
{
    return update(database, arena, &confirm_account, VALUES(database_id(id)), changed_out);
}

static const struct statement enable_account = {
    "UPDATE identity_account SET enabled = ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ?"};

struct error *embedded_account_enable(struct database *database, struct arena *arena, struct id id, bool enabled,
                                      bool *found_out)
{
    return update(database, arena, &enable_account, VALUES(database_boolean(enabled), database_id(id)), found_out);
}

static const struct statement describe_account = {
    "UPDATE identity_account SET username = COALESCE(IF(?, ?, NULL), username),"
    " email_verified = IF(?, ?, email_verified),"
    " phone_verified = IF(?, ?, phone_verified), phone = IF(?, ?, phone),"
    " permissions = IF(?, ?, permissions), updated_at = UTC_TIMESTAMP(3) WHERE id = ?"};

struct error *embedded_account_describe(struct database *database, struct arena *arena, struct id id,
                                        const struct embedded_account_attributes *attributes, bool *found_out)
{
    struct database_value verified = database_boolean(attributes->set_verified);
    return update(database, arena, &describe_account,
                  VALUES(verified, database_text(attributes->username), verified,
                         database_boolean(attributes->email_verified), verified,
                         database_boolean(attributes->phone_verified), database_boolean(attributes->set_phone),
                         database_text(attributes->phone), database_boolean(attributes->set_permissions),
                         database_text(attributes->permissions), database_id(id)),
                  found_out);
}

/* ---- passwords ------------------------------------------------------------------------------------ */

static const struct statement replace_hash = {
    "UPDATE identity_account SET password_hash = ? WHERE id = ? AND password_hash = ?"};

struct error *embedded_account_rehash(struct database *database, struct arena *arena,
                                      const struct embedded_account *account, const char *hash)
{
    return database_change(database, arena, &replace_hash,
                           VALUES(database_text(hash), database_id(account->id), database_text(account->password_hash)),
                           NULL);
}

/* Assignments run from left to right: the status that they ask about changes last. */
static const struct statement answer_temporary = {
    "UPDATE identity_account SET password_hash = ?, password_version = password_version + 1,"
    " password_temporary = FALSE, password_expires_at = NULL,"
    " email_verified = email_verified OR status = 'force-change',"
    " phone_verified = phone IS NOT NULL AND (phone_verified OR status = 'force-change'),"
    " status = 'confirmed', updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND password_version = ? AND password_temporary AND enabled AND status <> 'unconfirmed'"
    " AND (password_expires_at IS NULL OR password_expires_at > UTC_TIMESTAMP(3))"};

struct error *embedded_account_answer(struct database *database, struct arena *arena, struct id id, int64_t version,
                                      const char *hash, bool *changed_out)
{
    return update(database, arena, &answer_temporary,
                  VALUES(database_text(hash), database_id(id), database_integer(version)), changed_out);
}

static const struct statement change_known = {
    "UPDATE identity_account SET password_hash = ?, password_version = password_version + 1,"
    " password_temporary = FALSE, password_expires_at = NULL, updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND password_version = ?"};

struct error *embedded_account_change(struct database *database, struct arena *arena, struct id id, int64_t version,
                                      const char *hash, bool *changed_out)
{
    return update(database, arena, &change_known,
                  VALUES(database_text(hash), database_id(id), database_integer(version)), changed_out);
}

static const struct statement set_any = {
    "UPDATE identity_account SET password_hash = ?, password_version = password_version + 1,"
    " password_temporary = ?, password_expires_at = UTC_TIMESTAMP(3) + INTERVAL ? SECOND,"
    " status = IF(status = 'force-change' AND NOT password_temporary, 'confirmed', status),"
    " updated_at = UTC_TIMESTAMP(3) WHERE id = ?"};

struct error *embedded_account_set(struct database *database, struct arena *arena, struct id id, const char *hash,
                                   int64_t temporary_seconds, bool *found_out)
{
    bool temporary = temporary_seconds != 0;
    return update(database, arena, &set_any,
                  VALUES(database_text(hash), database_boolean(temporary),
                         temporary ? database_integer(temporary_seconds) : database_null(), database_id(id)),
                  found_out);
}

/* A first login at the same moment wins: the password is then no longer a temporary one. */
static const struct statement set_invitation = {
    "UPDATE identity_account SET password_hash = ?, password_version = password_version + 1,"
    " password_expires_at = UTC_TIMESTAMP(3) + INTERVAL ? SECOND, updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND status = 'force-change' AND password_temporary"};

struct error *embedded_account_invite(struct database *database, struct arena *arena, struct id id, const char *hash,
                                      int64_t temporary_seconds, bool *changed_out)
{
    return update(database, arena, &set_invitation,
                  VALUES(database_text(hash), database_integer(temporary_seconds), database_id(id)), changed_out);
}

/* ---- sessions ------------------------------------------------------------------------------------- */

static const struct statement begin_session = {
    "INSERT INTO session (id, user_id, expires_at)"
    " SELECT ?, id, UTC_TIMESTAMP(3) + INTERVAL ? SECOND FROM identity_account"
    " WHERE id = ? AND password_version = ? AND enabled LOCK IN SHARE MODE"};

struct error *embedded_account_begin_session(struct database *database, struct arena *arena,
                                             const struct embedded_account *account, struct id session, int64_t seconds,
                                             bool *added_out)
{
    return update(database, arena, &begin_session,
                  VALUES(database_id(session), database_integer(seconds), database_id(account->id),
                         database_integer(account->password_version)),
                  added_out);
}
