/* SPDX-License-Identifier: MIT */
/* Changes existing users. */
#include <assert.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/user.h"
#include "domain/columns_int.h"

static const struct statement lock_user = {"SELECT " USER_COLUMNS ", " USER_ROLES
                                           " FROM user u WHERE u.id = ? AND u.organisation_id = ? AND " USER_SEEN
                                           " FOR UPDATE"};

struct error *user_lock(struct database *database, struct arena *arena, struct id organisation, struct id id,
                        struct user **user_out)
{
    assert(database_in_transaction(database));
    struct rows *rows;
    TRY(database_query(database, arena, &lock_user, VALUES(database_id(id), database_id(organisation)), &rows));
    *user_out = NULL;
    if (rows->count == 0)
        return NULL;
    *user_out = arena_alloc(arena, sizeof **user_out);
    user_read(arena, rows, 0, 0, *user_out);
    (*user_out)->roles = text_words(arena, rows_text(rows, 0, USER_COLUMN_COUNT));
    return NULL;
}

static const struct statement update_user = {
    "UPDATE user SET phone = ?, first_name = ?, last_name = ?, permissions = ?, status = ?, email_verified = ?,"
    " phone_verified = ?, updated_at = UTC_TIMESTAMP(3) WHERE id = ? AND organisation_id = ?"};

struct error *user_update(struct database *database, struct arena *arena, const struct user *user)
{
    assert(database_in_transaction(database));
    TRY(database_change(
        database, arena, &update_user,
        VALUES(database_text(user->phone), database_text(user->first_name), database_text(user->last_name),
               database_text(text_list_join(arena, &user->permissions, " ")),
               database_text(user_status_text(user->status)), database_boolean(user->email_verified),
               database_boolean(user->phone_verified), database_id(user->id), database_id(user->organisation_id)),
        NULL));
    return user_roles_set(database, arena, user->organisation_id, user->id, &user->roles);
}

static const struct statement confirm_user = {
    "UPDATE user SET status = 'active', email_verified = TRUE, updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND organisation_id = ? AND status = 'awaiting-confirmation'"};

struct error *user_confirm(struct database *database, struct arena *arena, struct id organisation, struct id id,
                           bool *changed_out)
{
    struct change change;
    TRY(database_change(database, arena, &confirm_user, VALUES(database_id(id), database_id(organisation)), &change));
    if (changed_out != NULL)
        *changed_out = change.affected == 1;
    return NULL;
}

static const struct statement note_login = {
    "UPDATE user SET last_login_at = UTC_TIMESTAMP(3) WHERE id = ? AND organisation_id = ?"};

struct error *user_note_login(struct database *database, struct arena *arena, struct id organisation, struct id id)
{
    assert(database_in_transaction(database));
    return database_change(database, arena, &note_login, VALUES(database_id(id), database_id(organisation)), NULL);
}

static const struct statement update_profile = {
    "UPDATE user SET phone = ?, first_name = ?, last_name = ?, phone_verified = ?, locale = ?,"
    " updated_at = UTC_TIMESTAMP(3) WHERE id = ? AND organisation_id = ?"};

struct error *user_update_profile(struct database *database, struct arena *arena, const struct user *user)
{
    assert(database_in_transaction(database));
    return database_change(database, arena, &update_profile,
                           VALUES(database_text(user->phone), database_text(user->first_name),
                                  database_text(user->last_name), database_boolean(user->phone_verified),
                                  database_text(user->locale), database_id(user->id),
                                  database_id(user->organisation_id)),
                           NULL);
}
