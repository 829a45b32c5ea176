/* SPDX-License-Identifier: MIT */
/*
 * Which password holds after a call whose answer was lost? Before each call that sets one, the intent is written down: the
 * password itself (sealed), whether it is temporary, which session goes on. A definite answer takes the intent away. One that
 * stays is settled by the job runner, who asks the provider with the very password; what follows from the change (sessions,
 * the time of a temporary password) is then made up for. Sessions do not wait for that: they end with the answer that was
 * lost.
 */
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "codec/seal.h"
#include "identity/outside_int.h"

/* A call that is under way takes no longer; what is older has lost its answer or its process. */
#define UNDER_WAY_SECONDS 20

static const char *purpose_of(struct arena *arena, struct id user)
{
    return arena_format(arena, "password asked for %s", id_text(arena, user));
}

static const struct statement write_intent = {
    "INSERT INTO outside_account (user_id, asked_at, asked_sealed, asked_temporary, asked_keep)"
    " VALUES (?, UTC_TIMESTAMP(3), ?, ?, ?) ON DUPLICATE KEY UPDATE asked_at = VALUES(asked_at),"
    " asked_sealed = VALUES(asked_sealed), asked_temporary = VALUES(asked_temporary), asked_keep = VALUES(asked_keep)"};

/* Of two changes at once the first to be answered must not take the other's intent: no two are sealed alike. */
static const struct statement drop_intent = {
    "UPDATE outside_account SET asked_at = NULL, asked_sealed = NULL, asked_temporary = FALSE, asked_keep = NULL"
    " WHERE user_id = ? AND COALESCE(asked_sealed = ?, TRUE)"};

struct error *outside_intend(struct outside *outside, struct arena *arena, struct outside_intent *intent)
{
    unsigned char *sealed;
    TRY(seal(arena, outside->options.master, purpose_of(arena, intent->user), intent->password.bytes,
             intent->password.length, &sealed, &intent->sealed_length));
    intent->sealed = sealed;
    return database_change(outside->options.database, arena, &write_intent,
                           VALUES(database_id(intent->user), database_bytes(sealed, intent->sealed_length),
                                  database_integer(intent->temporary), database_id_or_null(intent->keep)),
                           NULL);
}

static struct error *drop(struct outside *outside, struct arena *arena, const struct outside_intent *intent)
{
    struct database_value sealed =
        intent->sealed != NULL ? database_bytes(intent->sealed, intent->sealed_length) : database_null();
    return database_change(outside->options.database, arena, &drop_intent, VALUES(database_id(intent->user), sealed), NULL);
}

struct error *outside_carried_out(struct outside *outside, struct arena *arena, const struct outside_intent *intent)
{
    TRY(outside_note_password(outside, arena, intent->user, intent->temporary));
    TRY(outside_end_all(outside, arena, intent->user, intent->keep));
    return drop(outside, arena, intent);
}

struct error *outside_answered(struct outside *outside, struct arena *arena, const struct outside_intent *intent,
                               struct error *error, enum provider_outcome outcome)
{
    if (error == NULL && outcome == PROVIDER_OK)
        return outside_carried_out(outside, arena, intent);
    struct error *later = NULL;
    if (error != NULL && outside->is_unknown) {
        LOG(WARN, IDENTITY, "a change of a password got no answer; its sessions end, and the provider will be asked what holds",
            LOG_TEXT("provider", outside->wire->name));
        later = outside_end_all(outside, arena, intent->user, intent->keep);
    } else {
        later = drop(outside, arena, intent);
    }
    return error != NULL ? error : later;
}

/* ---- settling ------------------------------------------------------------------------------------- */

static const struct statement find_intents = {
    "SELECT a.user_id FROM outside_account a WHERE a.asked_at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND ORDER BY a.asked_at LIMIT ?"};

struct error *outside_unsettled(struct provider *provider, struct arena *arena, unsigned limit, struct id **users_out,
                                size_t *count_out)
{
    struct rows *rows;
    TRY(database_query(outside_of(provider)->options.database, arena, &find_intents,
                       VALUES(database_integer(UNDER_WAY_SECONDS), database_integer(limit)), &rows));
    *count_out = rows->count;
    *users_out = arena_array(arena, rows->count + 1, sizeof **users_out);
    for (size_t i = 0; i < rows->count; i++)
        (*users_out)[i] = rows_id(rows, i, 0);
    return NULL;
}

static const struct statement read_intent = {
    "SELECT a.asked_sealed, a.asked_temporary, a.asked_keep, u.provider_subject, u.email FROM outside_account a"
    " JOIN user u ON u.id = a.user_id WHERE a.user_id = ? AND a.asked_at IS NOT NULL"};

static struct error *load(struct outside *outside, struct arena *arena, struct id user, struct outside_intent *intent_out,
                          struct provider_login *attempt_out, bool *found_out)
{
    struct rows *rows;
    size_t length;
    TRY(database_query(outside->options.database, arena, &read_intent, VALUES(database_id(user)), &rows));
    *found_out = rows->count == 1 && !rows_is_null(rows, 0, 0) && !rows_is_null(rows, 0, 3);
    if (!*found_out)
        return NULL;
    const void *sealed = rows_bytes(rows, 0, 0, &length);
    *intent_out = (struct outside_intent){
        .user = user, .temporary = rows_boolean(rows, 0, 1), .sealed = sealed, .sealed_length = length};
    if (!rows_is_null(rows, 0, 2))
        intent_out->keep = rows_id(rows, 0, 2);
    TRY(unseal(arena, outside->options.master, purpose_of(arena, user), sealed, length, &intent_out->password));
    *attempt_out = (struct provider_login){.subject = rows_text(rows, 0, 3),
                                           .user_id = user,
                                           .email = rows_text(rows, 0, 4),
                                           .password = intent_out->password};
    return NULL;
}

struct error *outside_settle(struct provider *provider, struct arena *arena, struct id user,
                             enum provider_settlement *settlement_out)
{
    struct outside *outside = outside_of(provider);
    struct outside_intent intent = {.user = user};
    struct outside_grant grant = {0};
    struct provider_login attempt;
    enum provider_outcome outcome;
    const char *proof = NULL;
    bool found = false;
    *settlement_out = PROVIDER_NOT_CHANGED;
    outside_start(outside, OUTSIDE_ADMIN_MILLISECONDS);
    TRY(load(outside, arena, user, &intent, &attempt, &found));
    if (!found)
        return drop(outside, arena, &intent);
    TRY(outside->wire->login(outside, arena, &attempt, &grant, &proof, &outcome));
    outside_give_up(outside, arena, &grant);
    if (outcome == PROVIDER_BAD_CREDENTIALS)
        return drop(outside, arena, &intent);
    *settlement_out = intent.temporary                     ? PROVIDER_CHANGED_TO_TEMPORARY
                      : id_equal(intent.keep, (struct id){{0}}) ? PROVIDER_CHANGED
                                                           : PROVIDER_CHANGED_BY_OWNER;
    return outside_carried_out(outside, arena, &intent);
}
