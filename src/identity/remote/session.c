/* SPDX-License-Identifier: MIT */
/*
 * Sessions of a remote provider.
 *
 * - Beginning: the provider gave tokens. The access token is verified, and the session that it names becomes a row. The
 *   provider's refresh token is sealed and kept with the row; the client gets one of ours.
 * - Refreshing: our token is looked up. Where it may be used the provider's token is opened and sent, by one process at
 *   a time, and the answer gives a new access token. Where that names the session anew the name joins the family.
 * - Resolving: a request brings a token. Its subject becomes our user, and a session that began elsewhere gets a row.
 * - Ending: rows end here first, which counts at once. Then the provider is told.
 *
 * Sessions that begin while all sessions of the user are ended. Both write one row (remote_account.h), so each sees
 * what the other one did. A token that comes from elsewhere and was issued before the end begins no session. A sign-in,
 * which is a question and an answer, compares how often all sessions were ended, before and after: the password that
 * the provider has accepted may be the one that the end has replaced.
 */
#include "domain/session/session.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "codec/seal.h"
#include "domain/account/remote_account.h"
#include "domain/account/user.h"
#include "domain/session/refresh_token.h"
#include "domain/session/session_family.h"
#include "identity/remote/jwks_int.h"
#include "identity/remote/session_int.h"
#include "identity/remote/slots_int.h"
#include "store/database/row_lock.h"

/*
 * How long refreshes of one session wait for one another: as long as a call takes. How long the lock of a process that
 * was killed lasts: longer than a refresh has.
 */
#define LOCK_PATIENCE 5000
#define LOCK_SECONDS 30

/* The most tokens that are revoked one by one. */
#define OTHERS_MAX 32

static const char *seal_purpose(struct arena *arena, struct id family)
{
    return arena_format(arena, "provider-refresh:%s", id_text(arena, family));
}

static struct error *tell_revoked(struct remote *remote, struct arena *arena, struct secret refresh_token)
{
    remote->is_notice = true;
    struct error *error = remote->driver->revoke(remote, arena, refresh_token);
    remote->is_notice = false;
    return error;
}

void remote_session_discard(struct remote *remote, struct arena *arena, const struct remote_grant *grant)
{
    if (grant->refresh_token.bytes == NULL)
        return;
    struct error *error = tell_revoked(remote, arena, grant->refresh_token);
    if (error != NULL)
        LOG(WARN, IDENTITY, "a session at the provider was not ended", LOG_TEXT("detail", error->detail));
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
    /* The key may be newer than the set that we have, so the set is read once more. */
    for (int stale = 0; stale < 2 && result == TOKEN_INVALID; stale++) {
        TRY(remote_jwks_get(&remote->provider, arena, stale != 0, &rules.keys));
        result = token_verify(arena, &rules, token, strnlen(token, LIMIT_TOKEN_BYTES + 1), claims, &reason);
    }
    if (result != TOKEN_GOOD)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave a token that is not valid: %s", reason);
    if (strcmp(id_text(arena, claims->subject), subject) != 0)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave the token of somebody else");
    return NULL;
}

/* What a transaction writes for a session that begins or is refreshed. */
struct session_rows {
    struct remote *remote;
    int64_t ends; /* a session that begins: how often all sessions had been ended before the provider was asked */
    bool begun;   /* false: all sessions were ended since */
    struct id session;
    struct id family;
    struct id user;
    int64_t seconds;             /* the session lives so long */
    const unsigned char *sealed; /* the provider's refresh token; NULL: it gave none */
    size_t sealed_length;
    const unsigned char *hash; /* of our refresh token: the session's first one, or the one that was sent */
    const char *presented;     /* our refresh token that was sent; NULL: none */
    const char *successor;     /* the one that it is answered with */
};

static struct error *begin_rows(struct database *database, struct arena *arena, void *context)
{
    struct session_rows *rows = context;
    int64_t ends;
    TRY(remote_account_hold_ends(database, arena, rows->user, &ends));
    rows->begun = ends == rows->ends;
    if (!rows->begun)
        return NULL;
    TRY(session_insert(database, arena, rows->session, rows->user, rows->seconds));
    TRY(session_family_insert(database, arena, rows->session, rows->family, rows->sealed, rows->sealed_length));
    return refresh_token_insert(database, arena, rows->hash, rows->family);
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

static struct error *begin(struct remote *remote, struct arena *arena, const struct remote_session_start *start,
                           const struct remote_grant *grant, struct provider_tokens *tokens_out, bool *begun_out)
{
    struct token_claims claims;
    unsigned char hash[DIGEST_BYTES];
    unsigned char *sealed;
    struct session_rows rows = {
        .remote = remote, .ends = start->ends, .user = start->user, .seconds = remote->options.refresh_token_seconds};
    if (grant->access_token == NULL || grant->id_token == NULL || grant->refresh_token.bytes == NULL)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave no tokens");
    TRY(remote_session_verify(remote, arena, start->subject, grant->access_token, &claims));
    TRY(seal(arena, remote->options.master, seal_purpose(arena, claims.session), grant->refresh_token.bytes,
             grant->refresh_token.length, &sealed, &rows.sealed_length));
    rows.session = claims.session;
    rows.family = claims.session;
    rows.sealed = sealed;
    rows.hash = hash;
    describe(grant, &claims, claims.session, start->user, tokens_out);
    tokens_out->refresh_token = refresh_token_new(arena, hash);
    TRY(database_transaction(remote->options.database, arena, begin_rows, &rows, NULL));
    *begun_out = rows.begun;
    return NULL;
}

struct error *remote_session_begin(struct remote *remote, struct arena *arena, const struct remote_session_start *start,
                                   const struct remote_grant *grant, struct provider_tokens *tokens_out,
                                   bool *begun_out)
{
    *begun_out = false;
    struct error *error = begin(remote, arena, start, grant, tokens_out, begun_out);
    if (!*begun_out)
        remote_session_discard(remote, arena, grant);
    return error;
}

/* ---- ending --------------------------------------------------------------------------------------- */

struct ending {
    struct id user;
    struct id session;
    bool others; /* all but the family of `session`; else that family alone */
};

static struct error *end_rows(struct database *database, struct arena *arena, void *context)
{
    const struct ending *ending = context;
    if (ending->others)
        TRY(remote_account_refuse_older_tokens(database, arena, ending->user));
    TRY(session_family_end(database, arena, ending->user, ending->session, ending->others));
    TRY(refresh_token_delete_ended(database, arena, ending->user));
    return session_family_drop_tokens(database, arena, ending->user);
}

struct error *remote_session_end_all(struct remote *remote, struct arena *arena, struct id user, struct id kept)
{
    struct ending ending = {.user = user, .session = kept, .others = true};
    return database_transaction(remote->options.database, arena, end_rows, &ending, NULL);
}

/* ---- refreshing ----------------------------------------------------------------------------------- */

struct refreshing {
    struct remote *remote;
    const char *presented;
    unsigned char hash[DIGEST_BYTES];
    struct refresh_token token;
    struct provider_tokens *tokens;
    enum provider_outcome outcome;
    bool found;
};

/* Looks our token up. A spent token that comes too late has been copied: it ends its session. */
static struct error *look_up(struct database *database, struct arena *arena, void *context)
{
    struct refreshing *refreshing = context;
    refreshing->outcome = PROVIDER_TOKEN_INVALID;
    TRY(refresh_token_hold(database, arena, refreshing->hash, refreshing->remote->options.refresh_grace_seconds,
                           &refreshing->token, &refreshing->found));
    if (!refreshing->found)
        return NULL;
    refreshing->outcome = PROVIDER_OK;
    if (!refreshing->token.spent || refreshing->token.in_grace)
        return NULL;
    refreshing->outcome = PROVIDER_TOKEN_REUSED;
    *refreshing->tokens =
        (struct provider_tokens){.session_id = refreshing->token.session, .user_id = refreshing->token.user};
    struct ending ending = {.user = refreshing->token.user, .session = refreshing->token.session};
    return end_rows(database, arena, &ending);
}

/* The provider's refresh token of the family, and whose it is; *subject_out is NULL when there is none (any more). */
static struct error *open_family(struct remote *remote, struct arena *arena, struct id family, struct secret *token_out,
                                 const char **subject_out)
{
    struct session_family_token token;
    *subject_out = NULL;
    TRY(session_family_find_token(remote->options.database, arena, family, &token));
    if (token.sealed == NULL)
        return NULL;
    TRY(unseal(arena, remote->options.master, seal_purpose(arena, family), token.sealed, token.length, token_out));
    *subject_out = token.subject;
    return NULL;
}

/*
 * Writes what the answer brought: the family's new name and its new refresh token, where the provider gave one, and the
 * successor of our token. The session may have ended during the call, so the token is looked up again. Another process
 * may have spent it meanwhile; since look_up() accepted it before, its successor is the right answer all the same.
 */
static struct error *renew_rows(struct database *database, struct arena *arena, void *context)
{
    struct session_rows *rows = context;
    struct refresh_token token;
    bool found = false;
    TRY(refresh_token_hold(database, arena, rows->hash, rows->remote->options.refresh_grace_seconds, &token, &found));
    if (!found)
        return error_new(arena, ERROR_TOKEN_REVOKED, "the session ended during the refresh");
    if (rows->sealed != NULL)
        TRY(session_family_set_token(database, arena, rows->family, rows->sealed, rows->sealed_length));
    if (!id_equal(rows->session, rows->family)) {
        TRY(session_insert(database, arena, rows->session, rows->user, rows->seconds));
        TRY(session_family_insert(database, arena, rows->session, rows->family, NULL, 0));
    }
    TRY(refresh_token_rotate(database, arena, rows->remote->options.master, &token, rows->presented, &rows->successor));
    if (rows->successor == NULL)
        return error_new(arena, ERROR_TOKEN_REVOKED, "the successor of the refresh token cannot be told");
    return NULL;
}

static struct error *renew(struct refreshing *refreshing, struct arena *arena, const char *subject,
                           const struct remote_grant *grant)
{
    struct remote *remote = refreshing->remote;
    struct token_claims claims;
    unsigned char *sealed = NULL;
    struct session_rows rows = {.remote = remote,
                                .family = refreshing->token.session,
                                .user = refreshing->token.user,
                                .hash = refreshing->hash,
                                .presented = refreshing->presented};
    if (grant->access_token == NULL || grant->id_token == NULL)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "the provider gave no tokens");
    TRY(remote_session_verify(remote, arena, subject, grant->access_token, &claims));
    if (grant->refresh_token.bytes != NULL)
        TRY(seal(arena, remote->options.master, seal_purpose(arena, rows.family), grant->refresh_token.bytes,
                 grant->refresh_token.length, &sealed, &rows.sealed_length));
    rows.sealed = sealed;
    rows.session = claims.session;
    /* A later name of the session is needed only as long as the token that carries it. */
    rows.seconds = claims.expires_at - clock_now() / 1000 + LIMIT_TOKEN_LEEWAY_SECONDS;
    TRY(database_transaction(remote->options.database, arena, renew_rows, &rows, NULL));
    describe(grant, &claims, rows.family, rows.user, refreshing->tokens);
    refreshing->tokens->refresh_token = rows.successor;
    return NULL;
}

static struct error *ask(struct refreshing *refreshing, struct arena *arena)
{
    struct remote *remote = refreshing->remote;
    struct remote_grant grant = {0};
    struct secret token;
    const char *subject = NULL;
    /* The time runs anew after the wait for the lock: a call that is cut short may have spent the provider's token. */
    remote_start(remote, remote->options.login_milliseconds);
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
    struct id session = refreshing->token.session;
    const struct row_lock lock = row_lock_of(database, "refresh", session.bytes, sizeof session.bytes);
    bool held;
    TRY(row_lock_take(database, arena, &lock, LOCK_SECONDS, LOCK_PATIENCE, &held));
    if (!held)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "another refresh of the session takes too long");
    struct error *error = ask(refreshing, arena);
    row_lock_release(database, arena, &lock);
    return error;
}

/*
 * Refreshes of one session come one after the other: a provider that rotates its own tokens would take the second one
 * for a copy. The lock is a row, so no transaction is open during the call.
 */
struct error *remote_session_refresh(struct provider *provider, struct arena *arena, const char *refresh_token,
                                     struct provider_tokens *tokens_out, enum provider_outcome *outcome_out)
{
    struct remote *remote = remote_of(provider);
    struct refreshing refreshing = {.remote = remote, .presented = refresh_token, .tokens = tokens_out};
    *outcome_out = PROVIDER_TOKEN_INVALID;
    if (!refresh_token_hash(refresh_token, refreshing.hash))
        return NULL;
    TRY(database_transaction(remote->options.database, arena, look_up, &refreshing, NULL));
    *outcome_out = refreshing.outcome;
    if (refreshing.outcome != PROVIDER_OK)
        return NULL;
    remote_start(remote, remote->options.login_milliseconds);
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

/* ---- resolving ------------------------------------------------------------------------------------ */

static struct remote_known_session *place_of(struct remote *remote, struct id session)
{
    uint32_t number;
    memcpy(&number, session.bytes, sizeof number);
    return &remote->known[number % REMOTE_KNOWN_SESSIONS];
}

struct adoption {
    const struct token_claims *claims;
    struct id user;
    int64_t seconds;
    bool may;
};

static struct error *adopt_rows(struct database *database, struct arena *arena, void *context)
{
    struct adoption *adoption = context;
    const struct token_claims *claims = adoption->claims;
    int64_t ends;
    TRY(remote_account_hold_ends(database, arena, adoption->user, &ends));
    TRY(remote_account_may_begin(database, arena, adoption->user, claims->issued_at, &adoption->may));
    return adoption->may ? session_adopt(database, arena, claims->session, adoption->user, adoption->seconds) : NULL;
}

/*
 * A session that began elsewhere (a hosted sign-in page) becomes a row, so that it can be ended here. Not when the user
 * has ended all sessions since its token was issued.
 *
 * The row stays for as long as sessions live, not only as long as its first token. The next tokens name the same
 * session: without the row that says that it has ended they would begin it again. What a token says of its sign-in
 * bounds the session in any case, however long the provider renews it. With a provider that says nothing, it could
 * begin again a day after its end here.
 */
static struct error *adopt(struct remote *remote, struct arena *arena, const struct token_claims *claims,
                           struct id user, bool *known_out)
{
    struct database *database = remote->options.database;
    struct adoption adoption = {.claims = claims, .user = user, .seconds = remote->options.refresh_token_seconds};
    if (claims->signed_in_at != 0 && claims->signed_in_at < clock_now() / 1000)
        adoption.seconds -= clock_now() / 1000 - claims->signed_in_at;
    /* Looked at before as well, so that a token which is refused again and again writes nothing. */
    TRY(remote_account_may_begin(database, arena, user, claims->issued_at, &adoption.may));
    if (adoption.may && adoption.seconds > 0)
        TRY(database_transaction(database, arena, adopt_rows, &adoption, NULL));
    *known_out = adoption.may && adoption.seconds > 0;
    return NULL;
}

struct error *remote_session_resolve(struct provider *provider, struct arena *arena, struct token_claims *claims,
                                     bool *known_out)
{
    struct remote *remote = remote_of(provider);
    struct remote_known_session *known = place_of(remote, claims->session);
    struct id user;
    bool has_row;
    *known_out = id_equal(known->session, claims->session) && id_equal(known->subject, claims->subject);
    if (*known_out) {
        claims->subject = known->user;
        return NULL;
    }
    TRY(user_find_by_subject(remote->options.database, arena, id_text(arena, claims->subject), &user, known_out));
    if (!*known_out)
        return NULL;
    TRY(session_is_known(remote->options.database, arena, claims->session, user, &has_row));
    if (!has_row)
        TRY(adopt(remote, arena, claims, user, known_out));
    if (!*known_out)
        return NULL;
    *known = (struct remote_known_session){claims->session, claims->subject, user};
    claims->subject = user;
    return NULL;
}

/* ---- logging out ---------------------------------------------------------------------------------- */

/* Revokes a token that the rows had. One that is left over was never held by anybody but the provider and us. */
static struct error *revoke(struct remote *remote, struct arena *arena, const struct session_family_token *sealed)
{
    struct secret token = {0};
    TRY(unseal(arena, remote->options.master, seal_purpose(arena, sealed->family), sealed->sealed, sealed->length,
               &token));
    struct error *error = tell_revoked(remote, arena, token);
    if (error != NULL)
        LOG(WARN, IDENTITY, "the provider was not told of a logout", LOG_TEXT("detail", error->detail));
    return NULL;
}

struct error *remote_session_logout(struct provider *provider, struct arena *arena, const char *subject,
                                    struct id session)
{
    struct remote *remote = remote_of(provider);
    struct database *database = remote->options.database;
    struct ending ending = {.session = session};
    struct session_family_token sealed;
    bool found = false;
    remote_start(remote, remote->options.login_milliseconds);
    TRY(user_find_by_subject(database, arena, subject, &ending.user, &found));
    if (!found)
        return NULL;
    TRY(session_family_find_token_of(database, arena, session, &sealed));
    TRY(database_transaction(database, arena, end_rows, &ending, NULL));
    return sealed.sealed == NULL ? NULL : revoke(remote, arena, &sealed);
}

/*
 * Our rows first: they count at once. A provider that cannot end some of an account's sessions gets their tokens one by
 * one, as far as the time reaches.
 */
struct error *remote_session_logout_others(struct provider *provider, struct arena *arena, const char *subject,
                                           struct id kept)
{
    struct remote *remote = remote_of(provider);
    struct database *database = remote->options.database;
    struct session_family_token *sealed = NULL;
    struct id user;
    size_t count = 0;
    bool found = false;
    remote_start(remote, remote->options.admin_milliseconds);
    TRY(user_find_by_subject(database, arena, subject, &user, &found));
    if (!found)
        return NULL;
    if (remote->driver->end_others == NULL)
        TRY(session_family_find_others(database, arena, user, kept, OTHERS_MAX, &sealed, &count));
    TRY(remote_session_end_all(remote, arena, user, kept));
    for (size_t i = 0; i < count && remote_milliseconds_left(remote) > 0; i++)
        TRY(revoke(remote, arena, &sealed[i]));
    remote->is_notice = true;
    struct error *error =
        remote->driver->end_others != NULL ? remote->driver->end_others(remote, arena, subject, kept) : NULL;
    remote->is_notice = false;
    if (error != NULL)
        LOG(WARN, IDENTITY, "the provider was not told of a logout", LOG_TEXT("detail", error->detail));
    return NULL;
}

struct error *remote_session_tidy(struct provider *provider, struct arena *arena)
{
    struct database *database = remote_of(provider)->options.database;
    TRY(refresh_token_tidy(database, arena));
    return session_family_tidy(database, arena);
}
