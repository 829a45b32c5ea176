/* SPDX-License-Identifier: MIT */
/* What the tests of the identity floor share: databases, users, tokens. */
#include "identity/support.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "codec/random.h"
#include "domain/session/session.h"
#include "domain/support.h"
#include "harness.h"
#include "identity/embedded/provider.h"

struct embedded_options options_for(struct database *database)
{
    return (struct embedded_options){
        .database = database,
        .master = secret_of("0123456789abcdef0123456789abcdef"),
        .issuer = ISSUER,
        .audience = AUDIENCE,
        .access_token_seconds = 900,
        .refresh_token_seconds = 2592000,
        .refresh_grace_seconds = 10,
        .temporary_password_seconds = 604800,
        .cost = {.memory_kib = 8, .passes = 1},
    };
}

struct provider *given_provider(struct arena *arena, struct database *database)
{
    struct embedded_options options = options_for(database);
    struct provider *provider;
    expect_ok(embedded_new(arena, &options, &provider));
    return provider;
}

const char *given_account(struct provider *provider, struct arena *arena, enum provider_account_kind kind)
{
    struct provider_account account = {
        .kind = kind,
        .user_id = id_new(),
        .email = arena_format(arena, "%s@example.com", random_code(arena, 18)),
        .permissions = "rwx:*",
        .password = secret_of(kind == PROVIDER_INVITED ? TEMPORARY : PERMANENT),
    };
    const char *subject;
    enum provider_outcome outcome;
    expect_ok(provider_create(provider, arena, &account, &subject, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    return subject;
}

enum provider_outcome log_in(struct provider *provider, struct arena *arena, const char *subject, const char *password,
                             struct provider_tokens *tokens_out, struct provider_challenge *challenge_out)
{
    struct provider_login login = {.subject = subject, .password = secret_of(password)};
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    expect_ok(provider_login(provider, arena, &login, tokens_out != NULL ? tokens_out : &tokens,
                             challenge_out != NULL ? challenge_out : &challenge, &outcome));
    return outcome;
}

struct provider_tokens signed_in(struct provider *provider, struct arena *arena, const char *subject,
                                 const char *password)
{
    struct provider_tokens tokens;
    assert_string_equal(provider_outcome_text(log_in(provider, arena, subject, password, &tokens, NULL)), "ok");
    return tokens;
}

enum provider_outcome refresh(struct provider *provider, struct arena *arena, const char *token,
                              struct provider_tokens *tokens_out)
{
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    expect_ok(provider_refresh(provider, arena, token, tokens_out != NULL ? tokens_out : &tokens, &outcome));
    return outcome;
}

enum token_result verify_token(struct provider *provider, struct arena *arena, const char *text, const char *token_use,
                               struct token_claims *claims_out)
{
    const struct key_set *keys;
    expect_ok(provider_keys(provider, arena, false, &keys));
    struct token_rules rules = {
        .keys = keys,
        .issuer = ISSUER,
        .audience = AUDIENCE,
        .token_use = token_use,
        .session_claim = "sid",
        .leeway = LIMIT_TOKEN_LEEWAY_SECONDS,
        .now = clock_now() / 1000,
    };
    return token_verify(arena, &rules, text, strlen(text), claims_out, NULL);
}

bool session_stands(struct database *database, struct arena *arena, const struct provider_tokens *tokens)
{
    bool good;
    expect_ok(session_check(database, arena, tokens->session_id, tokens->user_id, &good));
    return good;
}

const char *sql_subject(struct arena *arena, const char *subject)
{
    struct id id;
    assert_true(id_parse(subject, &id));
    return sql_id(arena, id);
}

int64_t open_sessions(struct database *database, struct arena *arena, const char *subject)
{
    return sql_integer(database, arena, "SELECT COUNT(*) FROM session WHERE user_id = %s AND ended_at IS NULL",
                       sql_subject(arena, subject));
}

enum provider_outcome answer_challenge(struct provider *provider, struct arena *arena,
                                       const struct provider_challenge *challenge, const char *new_password,
                                       struct provider_tokens *tokens_out)
{
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    expect_ok(provider_answer_new_password(provider, arena, challenge, secret_of(new_password),
                                           tokens_out != NULL ? tokens_out : &tokens, &outcome));
    return outcome;
}
