/* SPDX-License-Identifier: MIT */
/* What the tests of the embedded provider share. Passwords are hashed at the least cost there is. */
#ifndef GATEHOUSE_TESTS_IDENTITY_SUPPORT_H
#define GATEHOUSE_TESTS_IDENTITY_SUPPORT_H

#include "codec/token.h"
#include "identity/provider.h"

struct arena;
struct database;
struct embedded_options;

#define ISSUER "https://gatehouse.test"
#define AUDIENCE "gatehouse"
#define TEMPORARY "temporary-password-1"
#define PERMANENT "permanent-password-1"

/* The options of the tests' provider on that database. */
struct embedded_options options_for(struct database *database);

/* A provider on it; the caller frees it. */
struct provider *given_provider(struct arena *arena, struct database *database);

/* A new account's subject: invited with TEMPORARY, or of another kind with PERMANENT. */
const char *given_account(struct provider *provider, struct arena *arena, enum provider_account_kind kind);

/* Logs in; `subject` NULL is nobody. tokens_out and challenge_out may be NULL. */
enum provider_outcome log_in(struct provider *provider, struct arena *arena, const char *subject, const char *password,
                             struct provider_tokens *tokens_out, struct provider_challenge *challenge_out);

/* The same, expected to succeed. */
struct provider_tokens signed_in(struct provider *provider, struct arena *arena, const char *subject,
                                 const char *password);

enum provider_outcome refresh(struct provider *provider, struct arena *arena, const char *token,
                              struct provider_tokens *tokens_out);

/* What a token says by the provider's own keys. */
enum token_result verify_token(struct provider *provider, struct arena *arena, const char *text, const char *token_use,
                               struct token_claims *claims_out);

/* Whether the access token's session is good now. */
bool session_stands(struct database *database, struct arena *arena, const struct provider_tokens *tokens);

/* Sessions of the account that have not ended. */
int64_t open_sessions(struct database *database, struct arena *arena, const char *subject);

/* The subject as an SQL literal. */
const char *sql_subject(struct arena *arena, const char *subject);

enum provider_outcome answer_challenge(struct provider *provider, struct arena *arena,
                                       const struct provider_challenge *challenge, const char *new_password,
                                       struct provider_tokens *tokens_out);

#endif
