/* SPDX-License-Identifier: MIT */
/* The statements on users. */
#include "domain/account/user.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/address.h"
#include "domain/columns_int.h"
#include "domain/permission/permission.h"

static const char *const statuses[] = {
    "provisioning", "awaiting-first-login", "awaiting-confirmation", "active", "disabled", "erased", NULL};

const char *user_status_text(enum user_status status)
{
    return statuses[status];
}

bool user_status_parse(const char *text, enum user_status *status_out)
{
    int status = columns_word_index(statuses, text);
    if (status < 0 || status == USER_PROVISIONING || status == USER_ERASED)
        return false;
    *status_out = (enum user_status)status;
    return true;
}

const char *user_email_canonical(struct arena *arena, const char *email)
{
    return address_clean(arena, email);
}

enum user_status user_status_read(const char *text)
{
    int status = columns_word_index(statuses, text);
    return status < 0 ? USER_DISABLED : (enum user_status)status;
}

void user_read(struct arena *arena, const struct rows *rows, size_t row, size_t first, struct user *user_out)
{
    *user_out = (struct user){
        .id = rows_id(rows, row, first),
        .organisation_id = rows_id(rows, row, first + 1),
        .email = rows_text(rows, row, first + 2),
        .phone = rows_text(rows, row, first + 3),
        .first_name = rows_text(rows, row, first + 4),
        .last_name = rows_text(rows, row, first + 5),
        .permissions = permission_words(arena, columns_permission(arena, rows, row, first + 6)),
        .status = user_status_read(rows_text(rows, row, first + 7)),
        .email_verified = rows_boolean(rows, row, first + 8),
        .phone_verified = rows_boolean(rows, row, first + 9),
        .provider_subject = rows_text(rows, row, first + 10),
        .created_at = rows_time(rows, row, first + 11),
        .updated_at = rows_time(rows, row, first + 12),
        .locale = rows_text(rows, row, first + 13),
        .last_login_at = rows_time(rows, row, first + 14),
    };
}

void user_read_waits(const struct rows *rows, size_t row, size_t first, struct user *user)
{
    user->invitation_expires_at = rows_time(rows, row, first);
    user->locked_until = rows_time(rows, row, first + 1);
}

/* The first row of a SELECT of USER_COLUMNS, USER_ROLES, with `waits` USER_WAITS as well; NULL when there is none. */
static struct user *read_one(struct arena *arena, const struct rows *rows, bool waits)
{
    if (rows->count == 0)
        return NULL;
    struct user *user = arena_alloc(arena, sizeof *user);
    user_read(arena, rows, 0, 0, user);
    user->roles = text_words(arena, rows_text(rows, 0, USER_COLUMN_COUNT));
    if (waits)
        user_read_waits(rows, 0, USER_COLUMN_COUNT + 1, user);
    return user;
}

/*
 * By what a caller without a token has typed. The time of the statement must not tell who has an account. So it does
 * the same work for every name: it looks for the name and for the first user of all, then reads one whole row. That row
 * is the first user's where the name is nobody's, and the last column is 0.
 */
#define FIRST_USER "(SELECT s.id FROM user s ORDER BY s.id LIMIT 1)"
#define ONE_OF(candidates) "u.id = SUBSTRING(CONCAT(" candidates ", " FIRST_USER "), 1, 16)"

#define CANDIDATE(column) "COALESCE((SELECT k.id FROM user k WHERE k." column " = ?), '')"

static const struct statement find_by_key = {"SELECT " USER_COLUMNS ", " USER_ROLES ", u.email_key = ? AND " USER_SEEN
                                             " FROM user u"
                                             " WHERE " ONE_OF(CANDIDATE("email_key"))};
static const struct statement find_by_id = {"SELECT " USER_COLUMNS ", " USER_ROLES ", u.id = ? AND " USER_SEEN
                                            " FROM user u"
                                            " WHERE " ONE_OF(CANDIDATE("id"))};

static const struct statement find_any = {"SELECT " USER_COLUMNS ", " USER_ROLES ", " USER_WAITS
                                          " FROM user u WHERE u.id = ? AND " USER_SEEN};

struct error *user_find_by_username(struct database *database, struct arena *arena, const char *username,
                                    struct user **user_out)
{
    struct id id;
    struct rows *rows;
    *user_out = NULL;
    if (id_parse(username, &id)) {
        struct database_value value = database_id(id);
        TRY(database_query(database, arena, &find_by_id, VALUES(value, value), &rows));
    } else {
        struct database_value key = database_text(address_key(arena, username));
        TRY(database_query(database, arena, &find_by_key, VALUES(key, key), &rows));
    }
    struct user *user = read_one(arena, rows, false);
    *user_out = user != NULL && rows_boolean(rows, 0, USER_COLUMN_COUNT + 1) ? user : NULL;
    return NULL;
}

static const struct statement find_user = {"SELECT " USER_COLUMNS ", " USER_ROLES ", " USER_WAITS
                                           " FROM user u WHERE u.id = ? AND u.organisation_id = ? AND " USER_SEEN};

struct error *user_find(struct database *database, struct arena *arena, struct id organisation, struct id id,
                        struct user **user_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_user, VALUES(database_id(id), database_id(organisation)), &rows));
    *user_out = read_one(arena, rows, true);
    return NULL;
}

struct error *user_find_any(struct database *database, struct arena *arena, struct id id, struct user **user_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_any, VALUES(database_id(id)), &rows));
    *user_out = read_one(arena, rows, true);
    return NULL;
}

static const struct statement insert_user = {
    "INSERT INTO user (id, organisation_id, email, email_key, phone, first_name, last_name, permissions, status,"
    " email_verified, phone_verified, provider_subject) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};

struct error *user_insert(struct database *database, struct arena *arena, const struct user *user, bool *duplicate_out)
{
    assert(database_in_transaction(database));
    struct change change;
    TRY(database_change(database, arena, &insert_user,
                        VALUES(database_id(user->id), database_id(user->organisation_id),
                               database_text(user_email_canonical(arena, user->email)),
                               database_text(address_key(arena, user->email)), database_text(user->phone),
                               database_text(user->first_name), database_text(user->last_name),
                               database_text(text_list_join(arena, &user->permissions, " ")),
                               database_text(statuses[user->status]), database_boolean(user->email_verified),
                               database_boolean(user->phone_verified), database_text(user->provider_subject)),
                        &change));
    *duplicate_out = change.duplicate;
    if (change.duplicate && strcmp(change.duplicate_key, "user_email") != 0 &&
        strcmp(change.duplicate_key, "user_email_key") != 0)
        return error_new(arena, ERROR_INTERNAL, "user: key %s was there already", change.duplicate_key);
    if (change.missing_reference)
        return error_new(arena, ERROR_INTERNAL, "user: there is no such organisation");
    if (change.duplicate)
        return NULL;
    return user_roles_set(database, arena, user->organisation_id, user->id, &user->roles);
}

static const struct statement delete_roles = {
    "DELETE r FROM user_role r JOIN user u ON u.id = r.user_id WHERE u.id = ? AND u.organisation_id = ?"};

static const struct statement insert_role = {"INSERT INTO user_role (user_id, role_id, position)"
                                             " SELECT u.id, ?, ? FROM user u WHERE u.id = ? AND u.organisation_id = ?"};

struct error *user_roles_set(struct database *database, struct arena *arena, struct id organisation, struct id id,
                             const struct text_list *roles)
{
    assert(database_in_transaction(database));
    TRY(database_change(database, arena, &delete_roles, VALUES(database_id(id), database_id(organisation)), NULL));
    for (size_t i = 0; i < roles->count; i++) {
        struct change change; /* a role named twice is held once */
        TRY(database_change(database, arena, &insert_role,
                            VALUES(database_text(roles->items[i]), database_integer((int64_t)i), database_id(id),
                                   database_id(organisation)),
                            &change));
    }
    return NULL;
}

static const struct statement move_user = {"UPDATE user SET provider_subject = ?, status = ?, updated_at = "
                                           "UTC_TIMESTAMP(3) WHERE id = ? AND organisation_id = ?"};

struct error *user_move(struct database *database, struct arena *arena, struct id organisation, struct id id,
                        const char *subject, enum user_status status)
{
    return database_change(database, arena, &move_user,
                           VALUES(database_text(subject), database_text(user_status_text(status)), database_id(id),
                                  database_id(organisation)),
                           NULL);
}

static const struct statement activate_user = {
    "UPDATE user SET status = 'active', email_verified = TRUE, phone_verified = phone IS NOT NULL,"
    " updated_at = UTC_TIMESTAMP(3) WHERE id = ? AND organisation_id = ? AND status = "
    "'awaiting-first-login'"};

struct error *user_activate(struct database *database, struct arena *arena, struct id organisation, struct id id,
                            bool *changed_out)
{
    struct change change;
    TRY(database_change(database, arena, &activate_user, VALUES(database_id(id), database_id(organisation)), &change));
    if (changed_out != NULL)
        *changed_out = change.affected == 1;
    return NULL;
}
