/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/encoding.h"
#include "codec/random.h"
#include "identity/refresh_int.h"
#include "store/database.h"

#define BYTES 32
#define CHARACTERS 43 /* of base64url */
#define TIDY_ROWS 2000
#define TIDY_ROUNDS 100

const char *refresh_new(struct arena *arena, unsigned char hash_out[DIGEST_BYTES])
{
    unsigned char bytes[BYTES];
    random_bytes(bytes, sizeof bytes);
    const char *text = base64url_encode(arena, bytes, sizeof bytes);
    explicit_bzero(bytes, sizeof bytes);
    digest_sha256(text, strlen(text), hash_out);
    return text;
}

bool refresh_hash(const char *token, unsigned char hash_out[DIGEST_BYTES])
{
    if (strnlen(token, CHARACTERS + 1) != CHARACTERS)
        return false;
    digest_sha256(token, CHARACTERS, hash_out);
    return true;
}

static const struct statement insert_token = {"INSERT INTO identity_refresh (token_hash, session_id) VALUES (?, ?)"};

struct error *refresh_insert(struct database *database, struct arena *arena, const unsigned char hash[DIGEST_BYTES],
                             struct id session)
{
    return database_change(database, arena, &insert_token,
                           VALUES(database_bytes(hash, DIGEST_BYTES), database_id(session)), NULL);
}

/*
 * The time is that of the statement's start, so whoever waited for the lock finds the token spent a little in the future;
 * further ahead only a stepped clock puts it.
 */
static const struct statement hold_token = {
    "SELECT r.session_id, s.user_id, s.expires_at, r.spent_at IS NOT NULL,"
    " COALESCE(r.spent_at BETWEEN UTC_TIMESTAMP(3) - INTERVAL ? SECOND"
    " AND UTC_TIMESTAMP(3) + INTERVAL 5 SECOND, FALSE)"
    " FROM identity_refresh r JOIN session s ON s.id = r.session_id"
    " WHERE r.token_hash = ? AND s.ended_at IS NULL AND s.expires_at > UTC_TIMESTAMP(3) FOR UPDATE"};

struct error *refresh_hold(struct database *database, struct arena *arena, const unsigned char hash[DIGEST_BYTES],
                           struct refresh_token *token_out, bool *found_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &hold_token,
                       VALUES(database_integer(REFRESH_GRACE_SECONDS), database_bytes(hash, DIGEST_BYTES)), &rows));
    *found_out = rows->count != 0;
    if (*found_out)
        *token_out = (struct refresh_token){
            .session = rows_id(rows, 0, 0),
            .user = rows_id(rows, 0, 1),
            .session_ends = rows_time_milliseconds(rows, 0, 2) / 1000,
            .spent = rows_boolean(rows, 0, 3),
            .in_grace = rows_boolean(rows, 0, 4),
        };
    return NULL;
}

static const struct statement spend_token = {
    "UPDATE identity_refresh SET spent_at = COALESCE(spent_at, UTC_TIMESTAMP(3)) WHERE token_hash = ?"};

struct error *refresh_spend(struct database *database, struct arena *arena, const unsigned char hash[DIGEST_BYTES])
{
    return database_change(database, arena, &spend_token, VALUES(database_bytes(hash, DIGEST_BYTES)), NULL);
}

static const struct statement tidy_tokens = {
    "DELETE FROM identity_refresh"
    " WHERE session_id IN (SELECT id FROM session WHERE expires_at < UTC_TIMESTAMP(3)) LIMIT ?"};

struct error *refresh_tidy(struct database *database, struct arena *arena)
{
    struct change change = {.affected = TIDY_ROWS};
    for (int round = 0; round < TIDY_ROUNDS && change.affected == TIDY_ROWS; round++)
        TRY(database_change(database, arena, &tidy_tokens, VALUES(database_integer(TIDY_ROWS)), &change));
    return NULL;
}
