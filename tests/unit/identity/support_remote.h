/* SPDX-License-Identifier: MIT */
/*
 * What the tests of remote providers share: a strict server of the tests' own (cognito_server.py,
 * keycloak_server.py, which say what their files do), a database, a provider that uses both, people with accounts.
 */
#ifndef GATEHOUSE_TESTS_IDENTITY_SUPPORT_REMOTE_H
#define GATEHOUSE_TESTS_IDENTITY_SUPPORT_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"
#include "identity/cognito/provider.h"
#include "identity/keycloak/provider.h"
#include "identity/provider.h"
#include "identity/remote_int.h"

#define TEMPORARY "temporary-password-1"
#define PERMANENT "permanent-password-1"
#define OTHER "another-password-2"
#define POOL_ACCESS_KEY "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define POOL_KEYS_PATH "/eu-central-1_Tests/.well-known/jwks.json"

/* What the server's log calls these. */
struct scene_calls {
    const char *login, *refresh, *revoke, *sign_out, *set_password;
    const char *keys_fault, *keys; /* of the key set: in a fault, in the log */
};

struct scene {
    struct arena *arena;
    struct database *database;
    struct provider *provider;
    const char *directory;
    const char *url;
    const struct scene_calls *calls;
    bool is_scripted; /* not a real server */
};

struct person {
    struct id id;
    const char *email;
    const char *subject;
};

/* A pool, and a provider that uses it; end it with scene_end(), as the next ones. */
struct scene *cognito_scene_new(void **state);

/* The same with a pool that mails codes itself. */
struct scene *cognito_codes_scene_new(void **state);

/* The embedded provider, which has no server: `url` and `calls` are NULL. */
struct scene *embedded_scene_new(void **state);

/* A realm; with GATEHOUSE_TEST_KEYCLOAK, the address of a real server, the one there. */
struct scene *keycloak_scene_new(void **state);

/* For cases that give the realm a fault or read its log: skipped with a real server. */
struct scene *keycloak_scripted(void **state);

void scene_end(struct scene *scene);

/* Another provider over the same realm. */
struct provider *keycloak_scene_provider(struct scene *scene, struct database *database);

/* What those of the scene are made with. */
struct cognito_options cognito_scene_options(const struct scene *scene);
struct keycloak_options keycloak_scene_options(const struct scene *scene);

/* Writes a file of the server's directory; its path. */
const char *scene_put(struct scene *scene, const char *name, const char *text);

/* Makes an account with a telephone number and the permission rwx:*. */
enum provider_outcome scene_create(struct scene *scene, enum provider_account_kind kind, struct id id,
                                   const char *email, const char *password, const char **subject_out);

/* A user of ours with an account: invited with TEMPORARY, or of another kind with PERMANENT. */
struct person scene_given(struct scene *scene, enum provider_account_kind kind);

/* `person` NULL is nobody; tokens_out and challenge_out may be NULL. */
enum provider_outcome scene_login(struct scene *scene, const struct person *person, const char *password,
                                  bool new_password_sent, struct provider_tokens *tokens_out,
                                  struct provider_challenge *challenge_out);

/* Whether the API would take the token: it holds, and its session stands for this user. */
bool scene_opens(struct scene *scene, const struct person *person, const char *token);

/* The next call of that name meets that fault. */
void scene_fault(struct scene *scene, const char *call, const char *kind);

/* All calls of that name are answered so, until the next such answer or scene_answer_end(); `body` is JSON or "". */
void scene_answer(struct scene *scene, const char *call, int status, const char *body);
void scene_answer_end(struct scene *scene);

/* The circuit breaker forgets all failures. */
void scene_forget_failures(struct scene *scene);

/* What was called: all of it, how often one name was, and that it was so often (not asked of a real server). */
const char *scene_log(struct scene *scene);
size_t scene_count(struct scene *scene, const char *call);
void scene_expect_calls(struct scene *scene, const char *call, size_t count);

#endif
