/* SPDX-License-Identifier: MIT */
/* The steps that create an account in our rows and at the identity provider. */
#include "domain/account/provisioning.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/address.h"
#include "domain/account/email_change.h"
#include "domain/columns_int.h"
#include "store/database/row_lock.h"

/*
 * How long a request waits for another that makes the same account; making one takes some 100 ms. How long the lock of
 * a request lasts: longer than a provider may take.
 */
#define LOCK_PATIENCE 2000
#define LOCK_SECONDS 30

static const struct statement find_address = {
    "SELECT u.id, u.organisation_id, u.status, o.status FROM user u"
    " JOIN organisation o ON o.id = u.organisation_id WHERE u.email_key = ? FOR UPDATE"};

static const struct statement overwrite_user = {
    "UPDATE user SET phone = ?, first_name = ?, last_name = ?, permissions = ?, updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND organisation_id = ? AND status = 'provisioning'"};

static const struct statement overwrite_organisation = {
    "UPDATE organisation SET name = ?, services = ?, updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND status = 'provisioning'"};

/*
 * The context of the transaction in provisioning_begin(). It keeps the given ids, since the transaction may run more
 * than once.
 */
struct beginning {
    struct organisation *organisation;
    struct user *user;
    struct id organisation_id;
    struct id user_id;
    struct provisioning_limit *limit; /* NULL: none */
    enum provisioning_outcome outcome;
};

/* Whether the found row is left over from the account that is being created now. */
static bool is_ours(const struct beginning *beginning, const struct rows *rows)
{
    bool customer = strcmp(rows_text(rows, 0, 3), "provisioning") == 0;
    if (strcmp(rows_text(rows, 0, 2), "provisioning") != 0)
        return false;
    if (beginning->organisation != NULL)
        return customer;
    return !customer && id_equal(rows_id(rows, 0, 1), beginning->organisation_id);
}

static struct error *take_over(struct database *database, struct arena *arena, const struct rows *rows,
                               struct beginning *beginning)
{
    struct user *user = beginning->user;
    user->id = rows_id(rows, 0, 0);
    user->organisation_id = rows_id(rows, 0, 1);
    if (beginning->organisation != NULL) {
        struct organisation *organisation = beginning->organisation;
        organisation->id = user->organisation_id;
        TRY(database_change(database, arena, &overwrite_organisation,
                            VALUES(database_text(organisation->name),
                                   database_text(text_list_join(arena, &organisation->services, " ")),
                                   database_id(organisation->id)),
                            NULL));
    }
    TRY(database_change(database, arena, &overwrite_user,
                        VALUES(database_text(user->phone), database_text(user->first_name),
                               database_text(user->last_name),
                               database_text(text_list_join(arena, &user->permissions, " ")), database_id(user->id),
                               database_id(user->organisation_id)),
                        NULL));
    beginning->outcome = PROVISIONING_RESUMED;
    return user_roles_set(database, arena, user->organisation_id, user->id, &user->roles);
}

/*
 * Counts the account, or the answer that its address is taken. *wait_out is not 0 when either count is used up. Both
 * are looked at in one order: then the wait, too, does not tell which of them it would have been.
 */
static struct error *count_answer(struct database *database, struct arena *arena,
                                  const struct provisioning_limit *limit, bool taken, unsigned *wait_out)
{
    const struct throttle_key refusals = throttle_of_taken(&limit->key);
    TRY(throttle_look(database, arena, &limit->key, limit->most, wait_out));
    if (*wait_out == 0)
        TRY(throttle_look(database, arena, &refusals, limit->most, wait_out));
    if (*wait_out > 0)
        return NULL;
    return throttle_take(database, arena, taken ? &refusals : &limit->key, limit->most, wait_out);
}

/* Finds whether the address belongs to an account, or is kept for one that may go back to it. */
static struct error *find_taken(struct database *database, struct arena *arena, const struct beginning *beginning,
                                struct rows **rows_out, bool *taken_out)
{
    struct id owner;
    const struct user *user = beginning->user;
    struct database_value key = database_text(address_key(arena, user->email));
    TRY(database_query(database, arena, &find_address, VALUES(key), rows_out));
    *taken_out = (*rows_out)->count > 0;
    return *taken_out ? NULL : email_change_is_taken(database, arena, user->email, id_none, taken_out, &owner);
}

static struct error *begin_rows(struct database *database, struct arena *arena, void *context)
{
    struct beginning *beginning = context;
    struct user *user = beginning->user;
    user->id = beginning->user_id;
    user->organisation_id = beginning->organisation_id;
    if (beginning->organisation != NULL)
        beginning->organisation->id = beginning->organisation_id;

    struct rows *rows;
    bool taken;
    struct provisioning_limit *limit = beginning->limit;
    TRY(find_taken(database, arena, beginning, &rows, &taken));
    if (rows->count == 1 && is_ours(beginning, rows))
        return take_over(database, arena, rows, beginning);
    bool within = rows->count > 0 && id_equal(rows_id(rows, 0, 1), beginning->organisation_id);
    unsigned wait = 0;
    if (limit != NULL && !within) {
        TRY(count_answer(database, arena, limit, taken, &wait));
        limit->wait = wait;
    }
    beginning->outcome = wait > 0 ? PROVISIONING_LIMITED : PROVISIONING_TAKEN;
    if (taken || wait > 0)
        return NULL;
    if (beginning->organisation != NULL)
        TRY(organisation_insert(database, arena, beginning->organisation));
    bool duplicate;
    TRY(user_insert(database, arena, user, &duplicate));
    beginning->outcome = duplicate ? PROVISIONING_TAKEN : PROVISIONING_NEW;
    /* Another request came first, past the lock: the organisation's row must not stay. */
    return duplicate ? error_plain(arena, ERROR_USER_EXISTS) : NULL;
}

static struct row_lock lock_of(struct database *database, struct arena *arena, const struct user *user)
{
    const char *address = address_key(arena, user->email);
    return row_lock_of(database, "address", address, strlen(address));
}

static struct error *take_lock(struct database *database, struct arena *arena, const struct user *user,
                               unsigned patience, bool *held_out)
{
    const struct row_lock lock = lock_of(database, arena, user);
    return row_lock_take(database, arena, &lock, LOCK_SECONDS, patience, held_out);
}

struct error *provisioning_begin(struct database *database, struct arena *arena, struct organisation *organisation,
                                 struct user *user, struct provisioning_limit *limit,
                                 enum provisioning_outcome *outcome_out)
{
    bool held;
    user->email = user_email_canonical(arena, user->email);
    user->status = USER_PROVISIONING;
    user->email_verified = false;
    user->phone_verified = false;
    user->provider_subject = NULL;
    if (organisation != NULL)
        organisation->status = ORGANISATION_PROVISIONING;

    TRY(take_lock(database, arena, user, LOCK_PATIENCE, &held));
    *outcome_out = PROVISIONING_BUSY;
    if (!held)
        return NULL;

    struct beginning beginning = {
        .organisation = organisation,
        .user = user,
        .organisation_id = organisation != NULL ? organisation->id : user->organisation_id,
        .user_id = user->id,
        .limit = limit,
    };
    struct error *error = database_transaction(database, arena, begin_rows, &beginning, NULL);
    if (error != NULL && error->code == ERROR_USER_EXISTS)
        error = NULL;
    if (error != NULL || beginning.outcome == PROVISIONING_TAKEN || beginning.outcome == PROVISIONING_LIMITED)
        provisioning_end(database, arena, user);
    TRY(error);
    *outcome_out = beginning.outcome;
    return NULL;
}

static const struct statement activate_user = {
    "UPDATE user SET status = ?, provider_subject = ?, email_verified = ?, phone_verified = ?,"
    " updated_at = UTC_TIMESTAMP(3) WHERE id = ? AND organisation_id = ? AND status = 'provisioning'"};

struct error *provisioning_activate(struct database *database, struct arena *arena, const struct user *user,
                                    const char *provider_subject, enum user_status status, bool *won_out)
{
    assert(database_in_transaction(database));
    assert(status != USER_PROVISIONING);
    /* The operator vouches for a user who may sign in at once (the first administrator). */
    bool verified = status == USER_ACTIVE;
    struct change change;
    TRY(database_change(database, arena, &activate_user,
                        VALUES(database_text(user_status_text(status)), database_text(provider_subject),
                               database_boolean(verified), database_boolean(verified && user->phone != NULL),
                               database_id(user->id), database_id(user->organisation_id)),
                        &change));
    *won_out = change.affected == 1;
    return *won_out ? organisation_activate(database, arena, user->organisation_id, NULL) : NULL;
}

static const struct statement remove_roles = {
    "DELETE r FROM user_role r JOIN user u ON u.id = r.user_id"
    " WHERE u.id = ? AND u.organisation_id = ? AND u.status = 'provisioning'"};

static const struct statement remove_user = {
    "DELETE FROM user WHERE id = ? AND organisation_id = ? AND status = 'provisioning'"};

static const struct statement remove_organisation = {
    "DELETE FROM organisation WHERE id = ? AND status = 'provisioning'"};

static struct error *abort_rows(struct database *database, struct arena *arena, void *context)
{
    const struct user *user = context;
    struct database_value id = database_id(user->id);
    struct database_value organisation = database_id(user->organisation_id);
    struct change change; /* a member's organisation stays: it is not provisioning */
    TRY(database_change(database, arena, &remove_roles, VALUES(id, organisation), NULL));
    TRY(database_change(database, arena, &remove_user, VALUES(id, organisation), NULL));
    TRY(database_change(database, arena, &remove_organisation, VALUES(organisation), &change));
    return NULL;
}

struct error *provisioning_abort(struct database *database, struct arena *arena, const struct user *user)
{
    struct user copy = *user;
    return database_transaction(database, arena, abort_rows, &copy, NULL);
}

void provisioning_end(struct database *database, struct arena *arena, const struct user *user)
{
    const struct row_lock lock = lock_of(database, arena, user);
    row_lock_release(database, arena, &lock);
}

static const struct statement list_stale = {
    "SELECT " USER_COLUMNS " FROM user u WHERE u.status = 'provisioning'"
    " AND u.updated_at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND ORDER BY u.id LIMIT ?"};

struct error *provisioning_stale(struct database *database, struct arena *arena, unsigned seconds, unsigned limit,
                                 struct user **users_out, size_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_stale, VALUES(database_integer(seconds), database_integer(limit)),
                       &rows));
    *count_out = rows->count;
    *users_out = arena_array(arena, rows->count, sizeof **users_out);
    for (size_t i = 0; i < rows->count; i++)
        user_read(arena, rows, i, 0, &(*users_out)[i]);
    return NULL;
}

static const struct statement still_provisioning = {
    "SELECT 1 FROM user WHERE id = ? AND organisation_id = ? AND status = 'provisioning'"};

struct error *provisioning_claim(struct database *database, struct arena *arena, const struct user *user,
                                 bool *held_out)
{
    struct rows *rows;
    TRY(take_lock(database, arena, user, 0, held_out));
    if (!*held_out)
        return NULL;
    struct error *error = database_query(database, arena, &still_provisioning,
                                         VALUES(database_id(user->id), database_id(user->organisation_id)), &rows);
    *held_out = error == NULL && rows->count == 1;
    if (!*held_out)
        provisioning_end(database, arena, user);
    return error;
}
