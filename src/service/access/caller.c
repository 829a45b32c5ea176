/* SPDX-License-Identifier: MIT */
/* Authenticates the caller of a request by a bearer token, and checks permissions. */
#include "service/access/caller.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "codec/token.h"
#include "domain/account/organisation.h"
#include "domain/file/file.h"
#include "domain/permission/principal.h"
#include "identity/provider.h"
#include "service/access/caller_audit.h"
#include "service/access/session_use.h"
#include "service/runtime/change_follower.h"
#include "service/runtime/service.h"

/*
 * The token behind "Bearer", which is read without regard to case (RFC 9110, section 11.1), and blanks. NULL: the value
 * has another form.
 */
static const char *bearer_token(const char *authorization)
{
    static const char scheme[] = "bearer";
    for (size_t i = 0; i < sizeof scheme - 1; i++)
        if (text_lower(authorization[i]) != scheme[i])
            return NULL;
    const char *token = authorization + sizeof scheme - 1;
    if (*token != ' ')
        return NULL;
    return token + strspn(token, " ");
}

/* Verifies a token with the keys that the provider has now. `stale`: the provider may fetch them again. */
static struct error *verify_with_keys(struct service *service, struct arena *arena, const char *token, bool stale,
                                      struct token_claims *claims, enum token_result *result_out,
                                      const char **reason_out)
{
    struct token_rules rules;
    const struct key_set *keys = NULL;
    TRY(provider_keys(service->provider, arena, stale, &keys));
    provider_rules(service->provider, &rules);
    rules.keys = keys;
    rules.leeway = LIMIT_TOKEN_LEEWAY_SECONDS;
    rules.now = clock_now() / 1000;
    *result_out = token_memo_verify(service->memo, arena, &rules, token, strnlen(token, LIMIT_TOKEN_BYTES + 1), claims,
                                    reason_out);
    return NULL;
}

/*
 * Verifies a token, which another host may have signed with a key that this process does not know yet. The change log
 * tells of new keys, and reading it takes one row. A key that the log does not tell of is found by fetching the
 * provider's keys again; the provider bounds how often strangers can cause that.
 */
static struct error *verify_text(struct service *service, struct arena *arena, const char *token,
                                 struct token_claims *claims, enum token_result *result_out, const char **reason_out)
{
    /* On the first request of a process: follow the log first, so that what is read for this request is kept. */
    if (!service->changes.known)
        TRY(change_follower_catch_up(service, arena));
    TRY(verify_with_keys(service, arena, token, false, claims, result_out, reason_out));
    if (*result_out != TOKEN_INVALID || strcmp(*reason_out, TOKEN_UNKNOWN_KEY) != 0)
        return NULL;
    TRY(change_follower_catch_up(service, arena));
    TRY(verify_with_keys(service, arena, token, false, claims, result_out, reason_out));
    if (*result_out != TOKEN_INVALID || strcmp(*reason_out, TOKEN_UNKNOWN_KEY) != 0)
        return NULL;
    return verify_with_keys(service, arena, token, true, claims, result_out, reason_out);
}

static struct error *verify(struct service *service, struct arena *arena, const char *authorization,
                            struct token_claims *claims)
{
    if (authorization == NULL || *authorization == '\0')
        return error_plain(arena, ERROR_TOKEN_MISSING);
    const char *token = bearer_token(authorization);
    if (token == NULL || *token == '\0')
        return error_new(arena, ERROR_TOKEN_INVALID, "the Authorization header is not a bearer token");
    const char *reason = NULL;
    enum token_result result = TOKEN_INVALID;
    TRY(verify_text(service, arena, token, claims, &result, &reason));
    if (result == TOKEN_GOOD)
        return NULL;
    return error_new(arena, result == TOKEN_EXPIRED ? ERROR_TOKEN_EXPIRED : ERROR_TOKEN_INVALID, "%s", reason);
}

/*
 * Follows the changes up to the version that came with the caller's row. The token was verified before that: where
 * following dropped the keys, it is verified again.
 */
static struct error *follow(struct service *service, struct arena *arena, const char *authorization, int64_t version)
{
    struct token_claims claims;
    unsigned before = service->changes.keys;
    TRY(change_follower_follow(service, arena, version));
    return service->changes.keys == before ? NULL : verify(service, arena, authorization, &claims);
}

struct error *caller_authenticate(struct service *service, struct arena *arena, const char *authorization,
                                  const struct id *file, struct caller *caller, struct file_record **file_out)
{
    struct token_claims claims;
    struct principal *principal = NULL;
    *file_out = NULL;
    bool known = false;
    TRY(verify(service, arena, authorization, &claims));
    TRY(provider_resolve(service->provider, arena, &claims, &known));
    if (!known)
        return error_new(arena, ERROR_TOKEN_REVOKED,
                         "the token belongs to nobody, or its user has ended all sessions since");
    if (file != NULL)
        TRY(principal_load_with_file(service->database, arena, claims.subject, claims.session, *file, &principal,
                                     file_out));
    else
        TRY(principal_load(service->database, arena, claims.subject, claims.session, &principal));
    if (!principal_stands(principal))
        return error_new(arena, ERROR_TOKEN_REVOKED, "the session has ended or the user may not call");
    TRY(follow(service, arena, authorization, principal->change_version));
    caller->principal = principal;
    session_use_note(service, arena, caller, claims.session);
    return NULL;
}

void caller_log_actor(struct arena *arena, const struct user *user)
{
    log_actor(id_text(arena, user->id), id_text(arena, user->organisation_id));
}

struct error *caller_require(struct arena *arena, const struct caller *caller, const char *required)
{
    if (caller->principal != NULL && principal_holds(caller->principal, required))
        return NULL;
    struct error *error = error_new(arena, ERROR_PERMISSION, "the caller lacks %s", required);
    return error_member(error, "required", required);
}

struct error *caller_organisation(struct service *service, struct arena *arena, const struct caller *caller,
                                  const char *required, struct id asked, struct id *organisation_out)
{
    struct id home = caller_home(caller);
    *organisation_out = home;
    if (id_is_none(asked) || id_equal(asked, home))
        return NULL;
    if (!principal_administers(caller->principal, required)) {
        /* The permission that the caller needs for another organisation: letter `a` on the same module and area. */
        char *lifting = arena_text(arena, required);
        lifting[strlen(lifting) - 1] = 'a';
        struct error *error = error_new(arena, ERROR_PERMISSION, "another organisation was asked for");
        return error_member(error, "required", lifting);
    }
    struct organisation *organisation;
    TRY(organisation_find(service->database, arena, asked, &organisation));
    if (organisation == NULL)
        return error_entry(error_plain(arena, ERROR_ORGANISATION_UNKNOWN), "organisationId", "unknown",
                           "is not an organisation");
    *organisation_out = asked;
    return caller_audit_crossing(service, arena, caller, asked, "organisation", asked);
}
