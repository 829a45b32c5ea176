/* SPDX-License-Identifier: MIT */
/* The statements that erase a person. */
#include "domain/account/erasure.h"

#include <assert.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "domain/account/email_change.h"
#include "domain/account/embedded_account.h"
#include "domain/account/one_time_code.h"
#include "domain/account/password_intent.h"
#include "domain/account/remote_account.h"
#include "domain/account/throttle.h"
#include "domain/outbox.h"
#include "domain/session/refresh_token.h"
#include "domain/session/session.h"
#include "domain/session/session_family.h"
#include "store/database/database.h"

/* No address: it has no @, so nobody can ask for an account with it. */
#define NO_ADDRESS "CONCAT('erased ', LOWER(HEX(id)))"

static const struct statement begin = {"UPDATE user SET status = 'erased', updated_at = UTC_TIMESTAMP(3)"
                                       " WHERE id = ? AND organisation_id = ? AND status = 'disabled'"};

struct error *erasure_begin(struct database *database, struct arena *arena, struct id organisation, struct id user,
                            bool *begun_out)
{
    struct change change;
    assert(database_in_transaction(database));
    TRY(database_change(database, arena, &begin, VALUES(database_id(user), database_id(organisation)), &change));
    *begun_out = change.affected == 1;
    return NULL;
}

static const struct statement find_begun = {
    "SELECT organisation_id, email FROM user WHERE id = ? AND status = 'erased' AND email <> " NO_ADDRESS};

struct error *erasure_find(struct database *database, struct arena *arena, struct id user, struct erasure **erasure_out)
{
    struct rows *rows;
    *erasure_out = NULL;
    TRY(database_query(database, arena, &find_begun, VALUES(database_id(user)), &rows));
    if (rows->count == 0)
        return NULL;
    *erasure_out = arena_alloc(arena, sizeof **erasure_out);
    **erasure_out = (struct erasure){user, rows_id(rows, 0, 0), rows_text(rows, 0, 1)};
    return NULL;
}

/* ---- the audit trail ----------------------------------------------------------------------------- */

static const struct statement find_portion = {
    "SELECT MAX(x.id) FROM (SELECT a.id FROM audit a WHERE a.user_id = ? AND a.id > ? ORDER BY a.id LIMIT ?) x"};

/* The trigger of the table does it (sql/030-erasure.sql). */
static const struct statement scrub_portion = {
    "INSERT INTO audit_scrub (user_id, after_id, until_id) VALUES (?, ?, ?)"};

struct error *erasure_scrub_audit(struct database *database, struct arena *arena, const struct erasure *erasure,
                                  struct id *after, unsigned limit, bool *more_out)
{
    struct rows *rows;
    struct database_value user = database_id(erasure->user_id);
    TRY(database_query(database, arena, &find_portion, VALUES(user, database_id(*after), database_integer(limit)),
                       &rows));
    *more_out = rows->count == 1 && !rows_is_null(rows, 0, 0);
    if (!*more_out)
        return NULL;
    struct id last = rows_id(rows, 0, 0);
    TRY(database_change(database, arena, &scrub_portion, VALUES(user, database_id(*after), database_id(last)), NULL));
    *after = last;
    return NULL;
}

/* ---- our rows ------------------------------------------------------------------------------------ */

static const struct statement remove_roles = {"DELETE r FROM user_role r JOIN user u ON u.id = r.user_id"
                                              " WHERE u.id = ? AND u.organisation_id = ? AND u.status = 'erased'"};

static const struct statement empty_user = {
    "UPDATE user SET email = " NO_ADDRESS ", email_key = " NO_ADDRESS ", phone = NULL, first_name = '', last_name = '',"
    " permissions = '', email_verified = FALSE, phone_verified = FALSE, provider_subject = NULL, locale = NULL,"
    " last_login_at = NULL, updated_at = UTC_TIMESTAMP(3) WHERE id = ? AND organisation_id = ? AND status = 'erased'"};

static struct error *lift_name(struct database *database, struct arena *arena, const char *address)
{
    struct throttle_key name = throttle_of_name(arena, address);
    return throttle_lift(database, arena, &name);
}

/* The counts of failures under the id, under the address, and under those of the changes that are still known. */
static struct error *lift_throttles(struct database *database, struct arena *arena, const struct erasure *erasure)
{
    struct throttle_key user = throttle_of_user(erasure->user_id);
    struct text_list addresses;
    TRY(throttle_lift(database, arena, &user));
    TRY(lift_name(database, arena, erasure->email));
    TRY(email_change_addresses(database, arena, erasure->user_id, &addresses));
    for (size_t i = 0; i < addresses.count; i++)
        TRY(lift_name(database, arena, addresses.items[i]));
    return NULL;
}

/* Of every provider: the person may have been moved from one to another. Sessions last: others are found by them. */
static struct error *remove_accounts(struct database *database, struct arena *arena, struct id user)
{
    TRY(embedded_account_delete(database, arena, user));
    TRY(password_intent_delete_user(database, arena, user));
    TRY(remote_account_delete(database, arena, user));
    TRY(refresh_token_delete_user(database, arena, user));
    TRY(session_family_delete_user(database, arena, user));
    return session_delete_all(database, arena, user);
}

struct error *erasure_end(struct database *database, struct arena *arena, const struct erasure *erasure)
{
    struct database_value id = database_id(erasure->user_id);
    struct database_value organisation = database_id(erasure->organisation_id);
    assert(database_in_transaction(database));
    TRY(database_change(database, arena, &remove_roles, VALUES(id, organisation), NULL));
    TRY(database_change(database, arena, &empty_user, VALUES(id, organisation), NULL));
    TRY(remove_accounts(database, arena, erasure->user_id));
    TRY(one_time_code_forget(database, arena, erasure->user_id));
    TRY(lift_throttles(database, arena, erasure));
    TRY(email_change_forget(database, arena, erasure->user_id));
    return outbox_forget(database, arena, erasure->user_id);
}
