/* SPDX-License-Identifier: MIT */
/* Sessions of an outside provider: begun, refreshed, recognised, ended. */
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "codec/seal.h"
#include "domain/account/session.h"
#include "identity/refresh_token_int.h"
#include "identity/remote_int.h"

/* How long refreshes of one session wait for one another: a call. */
#define LOCK_WAIT_SECONDS 5

static const char *seal_purpose(struct arena *arena, struct id family)
{
    return arena_format(arena, "provider-refresh:%s", id_text(arena, family));
}

/* ---- beginning ------------------------------------------------------------------------------------ */

struct error *remote_session_verify(struct remote *remote, struct arena *arena, const char *subject, const char *token,
                                    struct token_claims *claims)
{
    struct token_rules rules = {0};
    const char *reason = NULL;
    enum token_result result = TOKEN_INVALID;
    remote->driver->rules(remote, &rules);
    rules.leeway = LIMIT_TOKEN_LEEWAY_SECONDS;
    rules.now = clock_now() / 1000;
    /* Signed by a key that is newer than ours: read once more. */
    for (int stale = 0; stale < 2 && result == TOKEN_INVALID; stale++) {
        TRY(remote_jwks_get(&remote->provider, arena, stale != 0, &rules.keys));
        result = token_verify(arena, &rules, token, strnlen(token, LIMIT_TOKEN_BYTES + 1), claims, &reason);
    }
    if (result != TOKEN_GOOD)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave a token that does not hold: %s", reason);
    if (strcmp(id_text(arena, claims->subject), subject) != 0)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave the token of somebody else");
    return NULL;
}

struct beginning {
    struct remote *remote;
    struct id session;
    struct id family;
    struct id user;
    int64_t seconds;
    const unsigned char *sealed; /* NULL: a later name of the family */
    size_t sealed_length;
    const unsigned char *hash; /* of our refresh token: the first of the session, or the one that was sent */
    const char *presented;     /* the refresh token that was sent; NULL: none */
    const char *successor;     /* what it is answered with */
};

static const struct statement insert_name = {
    "INSERT INTO outside_session (session_id, family, refresh_sealed) VALUES (?, ?, ?)"
    " ON DUPLICATE KEY UPDATE refresh_sealed = COALESCE(VALUES(refresh_sealed), refresh_sealed)"};
static const struct statement update_refresh = {"UPDATE outside_session SET refresh_sealed = ? WHERE session_id = ?"};

static struct error *begin_rows(struct database *database, struct arena *arena, void *context)
{
    const struct beginning *beginning = context;
    TRY(session_insert(database, arena, beginning->session, beginning->user, beginning->seconds));
    TRY(database_change(database, arena, &insert_name,
                        VALUES(database_id(beginning->session), database_id(beginning->family),
                               database_bytes(beginning->sealed, beginning->sealed_length)),
                        NULL));
    return refresh_token_insert(database, arena, beginning->hash, beginning->family);
}

static void describe(const struct remote_grant *grant, const struct token_claims *claims, struct id family,
                     struct id user, struct provider_tokens *tokens_out)
{
    int64_t left = claims->expires_at - clock_now() / 1000;
    *tokens_out = (struct provider_tokens){
        .access_token = grant->access_token,
        .id_token = grant->id_token,
        .expires_in = left > 0 ? left : 0,
        .session_id = family,
        .user_id = user,
    };
}

static struct error *begin(struct remote *remote, struct arena *arena, const char *subject, struct id user,
                           const struct remote_grant *grant, struct provider_tokens *tokens_out)
{
    struct token_claims claims;
    unsigned char hash[DIGEST_BYTES];
    unsigned char *sealed;
    struct beginning beginning = {.remote = remote, .user = user, .seconds = remote->options.refresh_token_seconds};
    if (grant->access_token == NULL || grant->id_token == NULL || grant->refresh_token.bytes == NULL)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave no tokens");
    TRY(remote_session_verify(remote, arena, subject, grant->access_token, &claims));
    TRY(seal(arena, remote->options.master, seal_purpose(arena, claims.session), grant->refresh_token.bytes,
             grant->refresh_token.length, &sealed, &beginning.sealed_length));
    beginning.session = claims.session;
    beginning.family = claims.session;
    beginning.sealed = sealed;
    beginning.hash = hash;
    describe(grant, &claims, claims.session, user, tokens_out);
    tokens_out->refresh_token = refresh_token_new(arena, hash);
    return database_transaction(remote->options.database, arena, begin_rows, &beginning, NULL);
}

struct error *remote_session_begin(struct remote *remote, struct arena *arena, const char *subject, struct id user,
                                   const struct remote_grant *grant, struct provider_tokens *tokens_out)
{
    struct error *error = begin(remote, arena, subject, user, grant, tokens_out);
    if (error != NULL)
        remote_session_discard(remote, arena, grant);
    return error;
}

/* ---- ending --------------------------------------------------------------------------------------- */

/* The rows of one family, or of a session that has none. */
static const struct statement end_family = {
    "UPDATE session s LEFT JOIN outside_session o ON o.session_id = s.id SET s.ended_at = UTC_TIMESTAMP(3)"
    " WHERE s.user_id = ? AND s.ended_at IS NULL AND COALESCE(o.family, s.id) ="
    " COALESCE((SELECT f.family FROM outside_session f WHERE f.session_id = ?), ?)"};
static const struct statement end_others = {
    "UPDATE session s LEFT JOIN outside_session o ON o.session_id = s.id SET s.ended_at = UTC_TIMESTAMP(3)"
    " WHERE s.user_id = ? AND s.ended_at IS NULL AND COALESCE(o.family, s.id) <>"
    " COALESCE((SELECT f.family FROM outside_session f WHERE f.session_id = ?), ?)"};
static const struct statement set_tokens_from = {
    "INSERT INTO outside_account (user_id, tokens_from) VALUES (?, UTC_TIMESTAMP(3))"
    " ON DUPLICATE KEY UPDATE tokens_from = VALUES(tokens_from)"};
static const struct statement drop_refresh = {"DELETE r FROM identity_refresh r JOIN session s ON s.id = r.session_id"
                                              " WHERE s.user_id = ? AND s.ended_at IS NOT NULL"};
static const struct statement drop_sealed = {
    "UPDATE outside_session o JOIN session s ON s.id = o.session_id SET o.refresh_sealed = NULL"
    " WHERE s.user_id = ? AND s.ended_at IS NOT NULL AND o.refresh_sealed IS NOT NULL"};

struct ending {
    struct remote *remote;
    struct id user;
    struct id session;
    bool others;
};

static struct error *end_rows(struct database *database, struct arena *arena, void *context)
{
    const struct ending *ending = context;
    struct database_value user = database_id(ending->user);
    struct database_value session = database_id(ending->session);
    TRY(database_change(database, arena, ending->others ? &end_others : &end_family, VALUES(user, session, session),
                        NULL));
    if (ending->others)
        TRY(database_change(database, arena, &set_tokens_from, VALUES(user), NULL));
    TRY(database_change(database, arena, &drop_refresh, VALUES(user), NULL));
    return database_change(database, arena, &drop_sealed, VALUES(user), NULL);
}

/* ---- refreshing ----------------------------------------------------------------------------------- */

static const struct statement take_lock = {"SELECT GET_LOCK(SHA2(CONCAT(DATABASE(), '/refresh/', HEX(?)), 256), ?)"};
static const struct statement give_lock = {"SELECT RELEASE_LOCK(SHA2(CONCAT(DATABASE(), '/refresh/', HEX(?)), 256))"};

struct refreshing {
    struct remote *remote;
    const char *presented;
    unsigned char hash[DIGEST_BYTES];
    struct refresh_token token;
    struct provider_tokens *tokens;
    enum provider_outcome outcome;
    bool found;
};

/* What the token is worth; one that was copied ends its session. */
static struct error *look(struct database *database, struct arena *arena, void *context)
{
    struct refreshing *refreshing = context;
    refreshing->outcome = PROVIDER_TOKEN_INVALID;
    TRY(refresh_token_hold(database, arena, refreshing->hash, &refreshing->token, &refreshing->found));
    if (!refreshing->found)
        return NULL;
    refreshing->outcome = PROVIDER_OK;
    if (!refreshing->token.spent || refreshing->token.in_grace)
        return NULL;
    refreshing->outcome = PROVIDER_TOKEN_REUSED;
    *refreshing->tokens =
        (struct provider_tokens){.session_id = refreshing->token.session, .user_id = refreshing->token.user};
    struct ending ending = {
        .remote = refreshing->remote, .user = refreshing->token.user, .session = refreshing->token.session};
    return end_rows(database, arena, &ending);
}

static const struct statement get_family = {
    "SELECT o.refresh_sealed, u.provider_subject FROM outside_session o JOIN session s ON s.id = o.session_id"
    " JOIN user u ON u.id = s.user_id WHERE o.session_id = ? AND s.ended_at IS NULL"};

/* The provider's refresh token of the family and whose it is; *subject_out is NULL when there is none (any more). */
static struct error *open_family(struct remote *remote, struct arena *arena, struct id family, struct secret *token_out,
                                 const char **subject_out)
{
    struct rows *rows;
    size_t length;
    *subject_out = NULL;
    TRY(database_query(remote->options.database, arena, &get_family, VALUES(database_id(family)), &rows));
    if (rows->count == 0 || rows_is_null(rows, 0, 0) || rows_is_null(rows, 0, 1))
        return NULL;
    const void *sealed = rows_bytes(rows, 0, 0, &length);
    TRY(unseal(arena, remote->options.master, seal_purpose(arena, family), sealed, length, token_out));
    *subject_out = rows_text(rows, 0, 1);
    return NULL;
}

/*
 * The answer's rows: the new name of the family where the provider gave one, its new refresh token, the successor of the
 * token that was sent. Looks again whether the session stands: it may have ended during the call. Another process may have
 * spent the token during the call; look() has judged it before, so its successor is the answer whenever that was.
 */
static struct error *renew_rows(struct database *database, struct arena *arena, void *context)
{
    struct beginning *beginning = context;
    struct refresh_token token;
    bool found = false;
    TRY(refresh_token_hold(database, arena, beginning->hash, &token, &found));
    if (!found)
        return error_new(arena, ERROR_TOKEN_REVOKED, "the session ended during the refresh");
    if (beginning->sealed != NULL)
        TRY(database_change(
            database, arena, &update_refresh,
            VALUES(database_bytes(beginning->sealed, beginning->sealed_length), database_id(beginning->family)), NULL));
    if (!id_equal(beginning->session, beginning->family)) {
        TRY(session_insert(database, arena, beginning->session, beginning->user, beginning->seconds));
        TRY(database_change(database, arena, &insert_name,
                            VALUES(database_id(beginning->session), database_id(beginning->family), database_null()),
                            NULL));
    }
    TRY(refresh_token_rotate(database, arena, beginning->remote->options.master, &token, beginning->presented,
                             &beginning->successor));
    if (beginning->successor == NULL)
        return error_new(arena, ERROR_TOKEN_REVOKED, "the successor of the refresh token cannot be told");
    return NULL;
}

static struct error *renew(struct refreshing *refreshing, struct arena *arena, const char *subject,
                           const struct remote_grant *grant)
{
    struct remote *remote = refreshing->remote;
    struct token_claims claims;
    unsigned char *sealed = NULL;
    struct beginning beginning = {.remote = remote,
                                  .family = refreshing->token.session,
                                  .user = refreshing->token.user,
                                  .hash = refreshing->hash,
                                  .presented = refreshing->presented};
    if (grant->access_token == NULL || grant->id_token == NULL)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave no tokens");
    TRY(remote_session_verify(remote, arena, subject, grant->access_token, &claims));
    if (grant->refresh_token.bytes != NULL)
        TRY(seal(arena, remote->options.master, seal_purpose(arena, beginning.family), grant->refresh_token.bytes,
                 grant->refresh_token.length, &sealed, &beginning.sealed_length));
    beginning.sealed = sealed;
    beginning.session = claims.session;
    /* A later name need not live longer than the token that carries it. */
    beginning.seconds = claims.expires_at - clock_now() / 1000 + LIMIT_TOKEN_LEEWAY_SECONDS;
    TRY(database_transaction(remote->options.database, arena, renew_rows, &beginning, NULL));
    describe(grant, &claims, beginning.family, beginning.user, refreshing->tokens);
    refreshing->tokens->refresh_token = beginning.successor;
    return NULL;
}

static struct error *ask(struct refreshing *refreshing, struct arena *arena)
{
    struct remote *remote = refreshing->remote;
    struct remote_grant grant = {0};
    struct secret token;
    const char *subject = NULL;
    /* After the wait for the lock: a call that is given up half-way may have spent the provider's token. */
    remote_start(remote, REMOTE_LOGIN_MILLISECONDS);
    TRY(open_family(remote, arena, refreshing->token.session, &token, &subject));
    refreshing->outcome = PROVIDER_TOKEN_INVALID;
    if (subject == NULL)
        return NULL;
    TRY(remote->driver->refresh(remote, arena, subject, token, &grant, &refreshing->outcome));
    return refreshing->outcome == PROVIDER_OK ? renew(refreshing, arena, subject, &grant) : NULL;
}

/* ask(), while no other process does so for the session. */
static struct error *ask_alone(struct refreshing *refreshing, struct arena *arena)
{
    struct database *database = refreshing->remote->options.database;
    struct database_value name = database_id(refreshing->token.session);
    struct rows *rows;
    TRY(database_query(database, arena, &take_lock, VALUES(name, database_integer(LOCK_WAIT_SECONDS)), &rows));
    if (rows->count == 0 || rows_is_null(rows, 0, 0) || rows_integer(rows, 0, 0) != 1)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "another refresh of the session takes too long");
    struct error *error = ask(refreshing, arena);
    /* A lock that could not be given back went with its connection. */
    (void)database_query(database, arena, &give_lock, VALUES(name), &rows);
    return error;
}

/*
 * One refresh of a session at a time: a provider that rotates its own tokens would take the second for a copy. The lock is
 * the connection's, so no transaction is open during the call.
 */
struct error *remote_session_refresh(struct provider *provider, struct arena *arena, const char *refresh_token,
                                     struct provider_tokens *tokens_out, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct refreshing refreshing = {.remote = remote, .presented = refresh_token, .tokens = tokens_out};
    *outcome_out = PROVIDER_TOKEN_INVALID;
    if (!refresh_token_hash(refresh_token, refreshing.hash))
        return NULL;
    TRY(database_transaction(remote->options.database, arena, look, &refreshing, NULL));
    *outcome_out = refreshing.outcome;
    if (refreshing.outcome != PROVIDER_OK)
        return NULL;
    remote_start(remote, REMOTE_LOGIN_MILLISECONDS);
    if (!remote_slot_take(remote))
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, REMOTE_NO_SLOT);
    struct error *error = ask_alone(&refreshing, arena);
    remote_slot_leave(remote);
    *outcome_out = refreshing.outcome;
    if (error != NULL && error->code == ERROR_TOKEN_REVOKED) {
        *outcome_out = PROVIDER_TOKEN_INVALID;
        return NULL;
    }
    return error;
}

/* ---- recognising ---------------------------------------------------------------------------------- */

static struct remote_known_session *slot_of(struct remote *remote, struct id session)
{
    uint32_t number;
    memcpy(&number, session.bytes, sizeof number);
    return &remote->known[number % REMOTE_KNOWN_SESSIONS];
}

static const struct statement find_session = {"SELECT 1 FROM session WHERE id = ? AND user_id = ?"};
static const struct statement may_begin = {
    "SELECT 1 FROM user u LEFT JOIN outside_account a ON a.user_id = u.id WHERE u.id = ?"
    " AND (a.tokens_from IS NULL OR a.tokens_from < '1970-01-01' + INTERVAL ? SECOND)"};
static const struct statement adopt_session = {
    "INSERT IGNORE INTO session (id, user_id, expires_at) VALUES (?, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)"};

/*
 * A session that began elsewhere (a hosted sign-in page) becomes a row, so that it can be ended here; not when the user
 * has ended all sessions since its token was issued. Seconds are what tokens have: of the very second it is too old.
 * The row stays for as long as sessions live, not as its first token: the next tokens name the session likewise, and without
 * the row that says that it has ended they would begin it anew. What a token says of the sign-in ends it in any case, however
 * long the provider renews it; with a provider that says nothing it could begin again a day after its end here.
 */
static struct error *adopt(struct remote *remote, struct arena *arena, const struct token_claims *claims,
                           struct id user, bool *known_out)
{
    struct database *database = remote->options.database;
    struct rows *rows;
    int64_t seconds = remote->options.refresh_token_seconds;
    if (claims->signed_in_at != 0 && claims->signed_in_at < clock_now() / 1000)
        seconds -= clock_now() / 1000 - claims->signed_in_at;
    TRY(database_query(database, arena, &may_begin, VALUES(database_id(user), database_integer(claims->issued_at)),
                       &rows));
    *known_out = rows->count != 0 && seconds > 0;
    if (!*known_out)
        return NULL;
    return database_change(database, arena, &adopt_session,
                           VALUES(database_id(claims->session), database_id(user), database_integer(seconds)), NULL);
}

struct error *remote_session_resolve(struct provider *provider, struct arena *arena, struct token_claims *claims,
                                     bool *known_out)
{
    struct remote *remote = remote_of(provider);
    struct remote_known_session *slot = slot_of(remote, claims->session);
    struct id user;
    struct rows *rows;
    *known_out = id_equal(slot->session, claims->session) && id_equal(slot->subject, claims->subject);
    if (*known_out) {
        claims->subject = slot->user;
        return NULL;
    }
    TRY(remote_account_user(remote, arena, id_text(arena, claims->subject), &user, known_out));
    if (!*known_out)
        return NULL;
    TRY(database_query(remote->options.database, arena, &find_session,
                       VALUES(database_id(claims->session), database_id(user)), &rows));
    if (rows->count == 0)
        TRY(adopt(remote, arena, claims, user, known_out));
    if (!*known_out)
        return NULL;
    *slot = (struct remote_known_session){claims->session, claims->subject, user};
    claims->subject = user;
    return NULL;
}

/* ---- logging out ---------------------------------------------------------------------------------- */

struct error *remote_session_end_all(struct remote *remote, struct arena *arena, struct id user, struct id keep)
{
    struct ending ending = {.remote = remote, .user = user, .session = keep, .others = true};
    return database_transaction(remote->options.database, arena, end_rows, &ending, NULL);
}

static const struct statement get_sealed = {
    "SELECT h.session_id, h.refresh_sealed FROM outside_session o JOIN outside_session h ON h.session_id = o.family"
    " WHERE o.session_id = ?"};

struct error *remote_session_logout(struct provider *provider, struct arena *arena, const char *subject,
                                    struct id session)
{
    struct remote *remote = remote_of(provider);
    struct ending ending = {.remote = remote, .session = session};
    struct secret token = {0};
    struct rows *rows;
    size_t length;
    bool found = false;
    remote_start(remote, REMOTE_LOGIN_MILLISECONDS);
    TRY(remote_account_user(remote, arena, subject, &ending.user, &found));
    if (!found)
        return NULL;
    TRY(database_query(remote->options.database, arena, &get_sealed, VALUES(database_id(session)), &rows));
    TRY(database_transaction(remote->options.database, arena, end_rows, &ending, NULL));
    if (rows->count == 0 || rows_is_null(rows, 0, 1))
        return NULL;
    const void *sealed = rows_bytes(rows, 0, 1, &length);
    TRY(unseal(arena, remote->options.master, seal_purpose(arena, rows_id(rows, 0, 0)), sealed, length, &token));
    struct error *error = remote->driver->revoke(remote, arena, token);
    /* Nobody but the provider and this process ever held it. */
    if (error != NULL)
        LOG(WARN, IDENTITY, "the provider was not told of a logout", LOG_TEXT("detail", error->detail));
    return NULL;
}

static const struct statement tidy_names = {
    "DELETE FROM outside_session WHERE session_id NOT IN (SELECT id FROM session) LIMIT 2000"};

struct error *remote_session_tidy(struct provider *provider, struct arena *arena)
{
    struct database *database = remote_of(provider)->options.database;
    TRY(refresh_token_tidy(database, arena));
    return database_change(database, arena, &tidy_names, NO_VALUES, NULL);
}
