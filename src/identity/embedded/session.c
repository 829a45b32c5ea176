/* SPDX-License-Identifier: MIT */
/*
 * Sessions of the embedded provider. A session is prepared first (ids, a refresh token, signed tokens) and then added
 * by the transaction of the login. A refresh gives the successor of the refresh token and signs new tokens, until the
 * session's fixed end. A logout ends the row and deletes its refresh tokens.
 */
#include "domain/session/session.h"

#include "base/clock.h"
#include "base/error.h"
#include "codec/token.h"
#include "domain/session/refresh_token.h"
#include "identity/embedded/embedded_int.h"

/* ---- beginning ------------------------------------------------------------------------------------ */

/* Signs both tokens. They end no later than the session (`session_ends`, seconds since 1970). */
static struct error *issue(struct embedded *embedded, struct arena *arena, const struct embedded_account *account,
                           struct id session, int64_t session_ends, struct provider_tokens *tokens_out)
{
    const struct signing_key *key;
    char *access;
    char *identity;
    TRY(embedded_signing_keys_signer(embedded, arena, &key));
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

struct error *embedded_session_prepare(struct embedded *embedded, struct arena *arena,
                                       const struct embedded_account *account, struct embedded_new_session *session_out,
                                       struct provider_tokens *tokens_out)
{
    session_out->user = account->id;
    session_out->session = id_new();
    int64_t ends = clock_now() / 1000 + embedded->options.refresh_token_seconds;
    TRY(issue(embedded, arena, account, session_out->session, ends, tokens_out));
    tokens_out->refresh_token = refresh_token_new(arena, session_out->refresh_hash);
    return NULL;
}

/* ---- refreshing ----------------------------------------------------------------------------------- */

struct refreshing {
    struct embedded *embedded;
    const char *presented;
    unsigned char hash[DIGEST_BYTES];
    struct provider_tokens *tokens;
    enum provider_outcome outcome;
};

/* Gives the token's successor, and signed tokens to go with it. */
static struct error *rotate(struct refreshing *refreshing, struct arena *arena, const struct refresh_token *token,
                            const struct embedded_account *account)
{
    const struct embedded_options *options = &refreshing->embedded->options;
    const char *successor;
    TRY(refresh_token_rotate(options->database, arena, options->master, token, refreshing->presented, &successor));
    if (successor == NULL)
        return NULL;
    TRY(issue(refreshing->embedded, arena, account, token->session, token->session_ends, refreshing->tokens));
    refreshing->tokens->refresh_token = successor;
    refreshing->outcome = PROVIDER_OK;
    return NULL;
}

static struct error *refresh_rows(struct database *database, struct arena *arena, void *context)
{
    struct refreshing *refreshing = context;
    struct refresh_token token;
    bool found = false;
    refreshing->outcome = PROVIDER_TOKEN_INVALID;
    TRY(refresh_token_hold(database, arena, refreshing->hash, refreshing->embedded->options.refresh_grace_seconds,
                           &token, &found));
    if (!found)
        return NULL;
    if (token.spent && !token.in_grace) {
        *refreshing->tokens = (struct provider_tokens){.session_id = token.session, .user_id = token.user};
        refreshing->outcome = PROVIDER_TOKEN_REUSED;
        return session_end(database, arena, token.session, token.user, NULL);
    }
    struct embedded_account *account;
    TRY(embedded_account_find(database, arena, token.user, &account));
    if (account == NULL || !account->enabled)
        return NULL;
    return rotate(refreshing, arena, &token, account);
}

struct error *embedded_session_refresh(struct provider *provider, struct arena *arena, const char *refresh_token,
                                       struct provider_tokens *tokens_out, enum provider_outcome *outcome_out)
{
    struct refreshing refreshing = {
        .embedded = embedded_of(provider), .presented = refresh_token, .tokens = tokens_out};
    *outcome_out = PROVIDER_TOKEN_INVALID;
    if (!refresh_token_hash(refresh_token, refreshing.hash))
        return NULL;
    /* Keys may have to be read or made, which must not happen inside the transaction. */
    const struct signing_key *key;
    TRY(embedded_signing_keys_signer(refreshing.embedded, arena, &key));
    TRY(database_transaction(refreshing.embedded->options.database, arena, refresh_rows, &refreshing, NULL));
    *outcome_out = refreshing.outcome;
    return NULL;
}

/* ---- ending --------------------------------------------------------------------------------------- */

struct error *embedded_session_end_all(struct embedded *embedded, struct arena *arena, struct id user, struct id kept)
{
    struct database *database = embedded->options.database;
    TRY(refresh_token_delete_others(database, arena, user, kept));
    return session_end_all(database, arena, user, kept, NULL);
}

struct ending {
    struct embedded *embedded;
    struct id user;
    struct id session;
};

static struct error *end_one_rows(struct database *database, struct arena *arena, void *context)
{
    const struct ending *ending = context;
    TRY(refresh_token_delete_session(database, arena, ending->session, ending->user));
    return session_end(database, arena, ending->session, ending->user, NULL);
}

static struct error *end_all_rows(struct database *database, struct arena *arena, void *context)
{
    const struct ending *ending = context;
    (void)database;
    return embedded_session_end_all(ending->embedded, arena, ending->user, ending->session);
}

struct error *embedded_session_logout(struct provider *provider, struct arena *arena, const char *subject,
                                      struct id session)
{
    struct ending ending = {.embedded = embedded_of(provider), .session = session};
    if (!id_parse(subject, &ending.user))
        return NULL;
    return database_transaction(ending.embedded->options.database, arena, end_one_rows, &ending, NULL);
}

struct error *embedded_session_logout_others(struct provider *provider, struct arena *arena, const char *subject,
                                             struct id kept)
{
    struct ending ending = {.embedded = embedded_of(provider), .session = kept};
    if (!id_parse(subject, &ending.user))
        return NULL;
    return database_transaction(ending.embedded->options.database, arena, end_all_rows, &ending, NULL);
}

struct error *embedded_session_logout_all(struct provider *provider, struct arena *arena, const char *subject)
{
    return embedded_session_logout_others(provider, arena, subject, id_none);
}
