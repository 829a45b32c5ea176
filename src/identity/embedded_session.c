/* SPDX-License-Identifier: MIT */
/*
 * Sessions and their refresh tokens: 256 random bits, of which only the SHA-256 is stored.
 *
 * Each use spends a token and gives a new one (rotation). A spent token that comes back has been copied, by
 * whom is not known, so the whole session ends. Honest clients do send one token twice at the same time, when
 * two windows wake up; hence the grace: within GRACE_SECONDS of being spent a token gives tokens of the same
 * session once more.
 */
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "codec/random.h"
#include "codec/token.h"
#include "domain/session.h"
#include "identity/embedded_int.h"

#define GRACE_SECONDS 10
#define REFRESH_BYTES 32
#define REFRESH_CHARACTERS 43 /* of base64url */

_Static_assert(sizeof((struct embedded_opening *)0)->refresh_hash == DIGEST_BYTES, "one digest");

/* ---- opening ------------------------------------------------------------------------------------- */

static const char *new_refresh_token(struct arena *arena, unsigned char hash_out[DIGEST_BYTES])
{
    unsigned char bytes[REFRESH_BYTES];
    random_bytes(bytes, sizeof bytes);
    const char *text = base64url_encode(arena, bytes, sizeof bytes);
    explicit_bzero(bytes, sizeof bytes);
    digest_sha256(text, strlen(text), hash_out);
    return text;
}

/* Signs both tokens. `session_ends` bounds them (seconds since 1970). */
static struct error *issue(struct embedded *embedded, struct arena *arena,
                           const struct embedded_account *account, struct id session, int64_t session_ends,
                           struct provider_tokens *tokens_out)
{
    const struct signing_key *key;
    char *access;
    char *identity;
    TRY(embedded_signer(embedded, arena, &key));
    int64_t now = clock_now() / 1000;
    int64_t ends = now + embedded->options.access_token_seconds;
    struct token_content content = {
        .issuer = embedded->options.issuer,
        .audience = embedded->options.audience,
        .token_use = TOKEN_USE_ACCESS,
        .subject = account->id,
        .session = session,
        .issued_at = now,
        .expires_at = ends < session_ends ? ends : session_ends,
    };
    TRY(token_issue(arena, key, &content, &access));
    content.token_use = TOKEN_USE_ID;
    content.email = account->username;
    content.email_verified = account->email_verified;
    content.permissions = account->permissions;
    TRY(token_issue(arena, key, &content, &identity));
    *tokens_out = (struct provider_tokens){
        .access_token = access,
        .id_token = identity,
        .expires_in = content.expires_at - now,
        .session_id = session,
        .user_id = account->id,
    };
    return NULL;
}

struct error *embedded_open_prepare(struct embedded *embedded, struct arena *arena,
                                    const struct embedded_account *account,
                                    struct embedded_opening *opening_out, struct provider_tokens *tokens_out)
{
    opening_out->user = account->id;
    opening_out->session = id_new();
    int64_t ends = clock_now() / 1000 + embedded->options.refresh_token_seconds;
    TRY(issue(embedded, arena, account, opening_out->session, ends, tokens_out));
    tokens_out->refresh_token = new_refresh_token(arena, opening_out->refresh_hash);
    return NULL;
}

static const struct statement insert_refresh = {
    "INSERT INTO identity_refresh (token_hash, session_id) VALUES (?, ?)"};

static struct error *add_refresh(struct database *database, struct arena *arena,
                                 const unsigned char hash[DIGEST_BYTES], struct id session)
{
    return database_change(database, arena, &insert_refresh,
                           VALUES(database_bytes(hash, DIGEST_BYTES), database_id(session)), NULL);
}

struct error *embedded_open_insert(struct embedded *embedded, struct arena *arena,
                                   const struct embedded_opening *opening)
{
    struct database *database = embedded->options.database;
    TRY(session_insert(database, arena, opening->session, opening->user,
                       embedded->options.refresh_token_seconds));
    return add_refresh(database, arena, opening->refresh_hash, opening->session);
}

/* ---- refreshing ---------------------------------------------------------------------------------- */

struct refreshing {
    struct embedded *embedded;
    unsigned char hash[DIGEST_BYTES];
    struct provider_tokens *tokens;
    enum provider_outcome outcome;
};

/*
 * Locks the token's row and the session's: of those who bring the same token at once, each sees what the one
 * before did, and whoever ends the session meanwhile waits or has been first. The time is that of the statement's start,
 * so whoever waited for the lock finds the token spent a little in the future; further ahead only a stepped clock puts it.
 */
static const struct statement hold_refresh = {
    "SELECT r.session_id, s.user_id, s.expires_at, r.spent_at IS NOT NULL,"
    " COALESCE(r.spent_at BETWEEN UTC_TIMESTAMP(3) - INTERVAL ? SECOND"
    " AND UTC_TIMESTAMP(3) + INTERVAL 5 SECOND, FALSE)"
    " FROM identity_refresh r JOIN session s ON s.id = r.session_id"
    " WHERE r.token_hash = ? AND s.ended_at IS NULL AND s.expires_at > UTC_TIMESTAMP(3) FOR UPDATE"};

static const struct statement spend_refresh = {
    "UPDATE identity_refresh SET spent_at = COALESCE(spent_at, UTC_TIMESTAMP(3)) WHERE token_hash = ?"};

/* A new token in place of the spent one, and signed ones to go with it. */
static struct error *rotate(struct refreshing *refreshing, struct arena *arena, struct id session,
                            const struct embedded_account *account, int64_t session_ends)
{
    struct database *database = refreshing->embedded->options.database;
    unsigned char hash[DIGEST_BYTES];
    TRY(database_change(database, arena, &spend_refresh,
                        VALUES(database_bytes(refreshing->hash, DIGEST_BYTES)), NULL));
    TRY(issue(refreshing->embedded, arena, account, session, session_ends, refreshing->tokens));
    refreshing->tokens->refresh_token = new_refresh_token(arena, hash);
    TRY(add_refresh(database, arena, hash, session));
    refreshing->outcome = PROVIDER_OK;
    return NULL;
}

static struct error *refresh_rows(struct database *database, struct arena *arena, void *context)
{
    struct refreshing *refreshing = context;
    struct rows *rows;
    refreshing->outcome = PROVIDER_TOKEN_INVALID;
    TRY(database_query(
        database, arena, &hold_refresh,
        VALUES(database_integer(GRACE_SECONDS), database_bytes(refreshing->hash, DIGEST_BYTES)), &rows));
    if (rows->count == 0)
        return NULL;
    struct id session = rows_id(rows, 0, 0);
    struct id user = rows_id(rows, 0, 1);
    int64_t session_ends = rows_time_milliseconds(rows, 0, 2) / 1000;
    bool spent = rows_boolean(rows, 0, 3);
    bool in_grace = rows_boolean(rows, 0, 4);
    if (spent && !in_grace) {
        *refreshing->tokens = (struct provider_tokens){.session_id = session, .user_id = user};
        refreshing->outcome = PROVIDER_TOKEN_REUSED;
        return session_end(database, arena, session, user, NULL);
    }
    struct embedded_account *account;
    TRY(embedded_find(refreshing->embedded, arena, user, &account));
    if (account == NULL || !account->enabled)
        return NULL;
    return rotate(refreshing, arena, session, account, session_ends);
}

struct error *embedded_refresh(struct provider *provider, struct arena *arena, const char *refresh_token,
                               struct provider_tokens *tokens_out, enum provider_outcome *outcome_out)
{
    struct refreshing refreshing = {.embedded = embedded_of(provider), .tokens = tokens_out};
    *outcome_out = PROVIDER_TOKEN_INVALID;
    if (strnlen(refresh_token, REFRESH_CHARACTERS + 1) != REFRESH_CHARACTERS)
        return NULL;
    /* Keys may have to be read or made, which does not belong inside the transaction. */
    const struct signing_key *key;
    TRY(embedded_signer(refreshing.embedded, arena, &key));
    digest_sha256(refresh_token, REFRESH_CHARACTERS, refreshing.hash);
    TRY(database_transaction(refreshing.embedded->options.database, arena, refresh_rows, &refreshing, NULL));
    *outcome_out = refreshing.outcome;
    return NULL;
}

/* ---- ending -------------------------------------------------------------------------------------- */

static const struct statement drop_refresh = {"DELETE r FROM identity_refresh r JOIN session s ON s.id = "
                                              "r.session_id WHERE s.id = ? AND s.user_id = ?"};

static const struct statement drop_all_refresh = {
    "DELETE r FROM identity_refresh r JOIN session s ON s.id = r.session_id"
    " WHERE s.user_id = ? AND s.id <> ? AND s.ended_at IS NULL"};

struct error *embedded_end_all(struct embedded *embedded, struct arena *arena, struct id user, struct id keep)
{
    struct database *database = embedded->options.database;
    TRY(database_change(database, arena, &drop_all_refresh, VALUES(database_id(user), database_id(keep)),
                        NULL));
    return session_end_all(database, arena, user, keep, NULL);
}

struct ending {
    struct embedded *embedded;
    struct id user;
    struct id session;
};

static struct error *end_one_rows(struct database *database, struct arena *arena, void *context)
{
    const struct ending *ending = context;
    TRY(database_change(database, arena, &drop_refresh,
                        VALUES(database_id(ending->session), database_id(ending->user)), NULL));
    return session_end(database, arena, ending->session, ending->user, NULL);
}

static struct error *end_all_rows(struct database *database, struct arena *arena, void *context)
{
    const struct ending *ending = context;
    (void)database;
    return embedded_end_all(ending->embedded, arena, ending->user, ending->session);
}

struct error *embedded_logout(struct provider *provider, struct arena *arena, const char *subject,
                              struct id session)
{
    struct ending ending = {.embedded = embedded_of(provider), .session = session};
    if (!id_parse(subject, &ending.user))
        return NULL;
    return database_transaction(ending.embedded->options.database, arena, end_one_rows, &ending, NULL);
}

struct error *embedded_logout_all(struct provider *provider, struct arena *arena, const char *subject)
{
    struct ending ending = {.embedded = embedded_of(provider)};
    if (!id_parse(subject, &ending.user))
        return NULL;
    return database_transaction(ending.embedded->options.database, arena, end_all_rows, &ending, NULL);
}

/* ---- tidying ------------------------------------------------------------------------------------- */

#define TIDY_ROWS 2000
#define TIDY_ROUNDS 100

static const struct statement tidy_refresh = {
    "DELETE FROM identity_refresh"
    " WHERE session_id IN (SELECT id FROM session WHERE expires_at < UTC_TIMESTAMP(3)) LIMIT ?"};

static const struct statement tidy_keys = {
    "DELETE FROM identity_signing_key WHERE retired_at < UTC_TIMESTAMP(3) - INTERVAL 1 DAY"
    " AND retired_at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND"};

struct error *embedded_tidy(struct provider *provider, struct arena *arena)
{
    struct embedded *embedded = embedded_of(provider);
    struct change change = {.affected = TIDY_ROWS};
    /* In portions, so that no statement runs into the query timeout however much has gathered. */
    for (int round = 0; round < TIDY_ROUNDS && change.affected == TIDY_ROWS; round++)
        TRY(database_change(embedded->options.database, arena, &tidy_refresh, VALUES(database_integer(TIDY_ROWS)),
                            &change));
    TRY(database_change(embedded->options.database, arena, &tidy_keys,
                        VALUES(database_integer(2 * embedded->options.access_token_seconds)), NULL));
    return NULL;
}
