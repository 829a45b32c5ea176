/* SPDX-License-Identifier: MIT */
/* Makes refresh tokens and derives their successors; the statements on their rows. */
#include "domain/session/refresh_token.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "codec/encoding.h"
#include "codec/random.h"
#include "codec/seal.h"
#include "store/database/database.h"

#define BYTES 32
#define CHARACTERS 43 /* its text, in base64url */
#define SALT_BYTES 16
#define LABEL "gatehouse refresh successor 1:" /* tells this use of the secret from others */
#define TIDY_ROWS 2000
#define TIDY_ROUNDS 100

const char *refresh_token_new(struct arena *arena, unsigned char hash_out[DIGEST_BYTES])
{
    unsigned char bytes[BYTES];
    random_bytes(bytes, sizeof bytes);
    const char *text = base64url_encode(arena, bytes, sizeof bytes);
    explicit_bzero(bytes, sizeof bytes);
    digest_sha256(text, strlen(text), hash_out);
    return text;
}

bool refresh_token_hash(const char *token, unsigned char hash_out[DIGEST_BYTES])
{
    if (strnlen(token, CHARACTERS + 1) != CHARACTERS)
        return false;
    digest_sha256(token, CHARACTERS, hash_out);
    return true;
}

static const struct statement find_cookie = {
    "SELECT s.in_cookie FROM identity_refresh r JOIN session s ON s.id = r.session_id WHERE r.token_hash = ?"};

struct error *refresh_token_is_in_cookie(struct database *database, struct arena *arena, const char *token,
                                         bool *in_cookie_out)
{
    unsigned char hash[DIGEST_BYTES];
    struct rows *rows;
    *in_cookie_out = false;
    if (!refresh_token_hash(token, hash))
        return NULL;
    TRY(database_query(database, arena, &find_cookie, VALUES(database_bytes(hash, sizeof hash)), &rows));
    *in_cookie_out = rows->count != 0 && rows_boolean(rows, 0, 0);
    return NULL;
}

static const struct statement insert_token = {
    "INSERT INTO identity_refresh (token_hash, session_id, generation) VALUES (?, ?, ?)"};

static struct error *insert(struct database *database, struct arena *arena, const unsigned char hash[DIGEST_BYTES],
                            struct id session, int64_t generation)
{
    return database_change(
        database, arena, &insert_token,
        VALUES(database_bytes(hash, DIGEST_BYTES), database_id(session), database_integer(generation)), NULL);
}

struct error *refresh_token_insert(struct database *database, struct arena *arena,
                                   const unsigned char hash[DIGEST_BYTES], struct id session)
{
    return insert(database, arena, hash, session, 0);
}

/*
 * UTC_TIMESTAMP is the time of the statement's start. So a statement that waited for the lock finds the token spent a
 * little in the future. Only a clock that was set back puts it further ahead.
 */
static const struct statement hold_token = {
    "SELECT r.session_id, s.user_id, s.expires_at, r.spent_at IS NOT NULL,"
    " COALESCE(r.spent_at BETWEEN UTC_TIMESTAMP(3) - INTERVAL ? SECOND"
    " AND UTC_TIMESTAMP(3) + INTERVAL 5 SECOND, FALSE), r.generation, r.successor_salt"
    " FROM identity_refresh r JOIN session s ON s.id = r.session_id"
    " WHERE r.token_hash = ? AND s.ended_at IS NULL AND s.expires_at > UTC_TIMESTAMP(3) FOR UPDATE"};

struct error *refresh_token_hold(struct database *database, struct arena *arena, const unsigned char hash[DIGEST_BYTES],
                                 int64_t grace_seconds, struct refresh_token *token_out, bool *found_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &hold_token,
                       VALUES(database_integer(grace_seconds), database_bytes(hash, DIGEST_BYTES)), &rows));
    *found_out = rows->count != 0;
    if (!*found_out)
        return NULL;
    *token_out = (struct refresh_token){
        .session = rows_id(rows, 0, 0),
        .user = rows_id(rows, 0, 1),
        .session_ends = rows_time_milliseconds(rows, 0, 2) / 1000,
        .spent = rows_boolean(rows, 0, 3),
        .in_grace = rows_boolean(rows, 0, 4),
        .generation = rows_integer(rows, 0, 5),
    };
    size_t length = 0;
    const void *salt = rows_bytes(rows, 0, 6, &length);
    token_out->salt = length == SALT_BYTES ? salt : NULL;
    return NULL;
}

/* ---- the successor ------------------------------------------------------------------------------- */

static const char *derive(struct arena *arena, struct secret master, const char *presented, const unsigned char *salt)
{
    unsigned char text[sizeof LABEL - 1 + SALT_BYTES + CHARACTERS];
    unsigned char bytes[DIGEST_BYTES];
    memcpy(text, LABEL, sizeof LABEL - 1);
    memcpy(text + sizeof LABEL - 1, salt, SALT_BYTES);
    memcpy(text + sizeof LABEL - 1 + SALT_BYTES, presented, CHARACTERS);
    digest_hmac(master, text, sizeof text, bytes);
    const char *successor = base64url_encode(arena, bytes, sizeof bytes);
    explicit_bzero(text, sizeof text);
    explicit_bzero(bytes, sizeof bytes);
    return successor;
}

static const struct statement spend_token = {
    "UPDATE identity_refresh SET spent_at = UTC_TIMESTAMP(3), successor_salt = ? WHERE token_hash = ?"};

/* The first use: spends the token and adds its successor. The last token that a session may have gets none. */
static struct error *spend(struct database *database, struct arena *arena, struct secret master,
                           const struct refresh_token *token, const char *presented, const char **successor_out)
{
    unsigned char spent[DIGEST_BYTES];
    unsigned char made[DIGEST_BYTES];
    unsigned char *salt = arena_alloc(arena, SALT_BYTES);
    int64_t generation = token->generation + 1;
    *successor_out = NULL;
    if (generation >= LIMIT_REFRESH_TOKENS)
        return NULL;
    random_bytes(salt, SALT_BYTES);
    *successor_out = derive(arena, master, presented, salt);
    digest_sha256(presented, CHARACTERS, spent);
    digest_sha256(*successor_out, CHARACTERS, made);
    TRY(database_change(database, arena, &spend_token,
                        VALUES(database_bytes(salt, SALT_BYTES), database_bytes(spent, DIGEST_BYTES)), NULL));
    return insert(database, arena, made, token->session, generation);
}

static const struct statement find_token = {"SELECT 1 FROM identity_refresh WHERE token_hash = ? AND session_id = ?"};

/* Another use: derives the same successor again. There is none when an earlier release made it, or another secret. */
static struct error *repeat(struct database *database, struct arena *arena, struct secret master,
                            const struct refresh_token *token, const char *presented, const char **successor_out)
{
    unsigned char made[DIGEST_BYTES];
    struct rows *rows;
    *successor_out = NULL;
    if (token->salt == NULL)
        return NULL;
    for (const struct secret *key = &master; key != NULL && *successor_out == NULL; key = key->older) {
        const char *successor = derive(arena, *key, presented, token->salt);
        digest_sha256(successor, CHARACTERS, made);
        TRY(database_query(database, arena, &find_token,
                           VALUES(database_bytes(made, DIGEST_BYTES), database_id(token->session)), &rows));
        if (rows->count != 0)
            *successor_out = successor;
    }
    return NULL;
}

struct error *refresh_token_rotate(struct database *database, struct arena *arena, struct secret master,
                                   const struct refresh_token *token, const char *presented, const char **successor_out)
{
    if (master.length < SEAL_MASTER_BYTES)
        return error_new(arena, ERROR_INTERNAL, "the master secret is shorter than %d bytes", SEAL_MASTER_BYTES);
    return (token->spent ? repeat : spend)(database, arena, master, token, presented, successor_out);
}

/* ---- deleting ------------------------------------------------------------------------------------ */

static const struct statement delete_session = {
    "DELETE r FROM identity_refresh r JOIN session s ON s.id = r.session_id WHERE s.id = ? AND s.user_id = ?"};

struct error *refresh_token_delete_session(struct database *database, struct arena *arena, struct id session,
                                           struct id user)
{
    return database_change(database, arena, &delete_session, VALUES(database_id(session), database_id(user)), NULL);
}

static const struct statement delete_others = {"DELETE r FROM identity_refresh r JOIN session s ON s.id = r.session_id"
                                               " WHERE s.user_id = ? AND s.id <> ? AND s.ended_at IS NULL"};

struct error *refresh_token_delete_others(struct database *database, struct arena *arena, struct id user,
                                          struct id kept)
{
    return database_change(database, arena, &delete_others, VALUES(database_id(user), database_id(kept)), NULL);
}

static const struct statement delete_ended = {"DELETE r FROM identity_refresh r JOIN session s ON s.id = r.session_id"
                                              " WHERE s.user_id = ? AND s.ended_at IS NOT NULL"};

struct error *refresh_token_delete_ended(struct database *database, struct arena *arena, struct id user)
{
    return database_change(database, arena, &delete_ended, VALUES(database_id(user)), NULL);
}

static const struct statement delete_user = {
    "DELETE r FROM identity_refresh r JOIN session s ON s.id = r.session_id WHERE s.user_id = ?"};

struct error *refresh_token_delete_user(struct database *database, struct arena *arena, struct id user)
{
    return database_change(database, arena, &delete_user, VALUES(database_id(user)), NULL);
}

static const struct statement tidy_tokens = {
    "DELETE FROM identity_refresh"
    " WHERE session_id IN (SELECT id FROM session WHERE expires_at < UTC_TIMESTAMP(3)) LIMIT ?"};

struct error *refresh_token_tidy(struct database *database, struct arena *arena)
{
    struct change change = {.affected = TIDY_ROWS};
    for (int round = 0; round < TIDY_ROUNDS && change.affected == TIDY_ROWS; round++)
        TRY(database_change(database, arena, &tidy_tokens, VALUES(database_integer(TIDY_ROWS)), &change));
    return NULL;
}
