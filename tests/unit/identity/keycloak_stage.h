/* SPDX-License-Identifier: MIT */
/* The stage of the tests of Keycloak's adapter. */
#ifndef GATEHOUSE_TEST_KEYCLOAK_STAGE_H
#define GATEHOUSE_TEST_KEYCLOAK_STAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"
#include "identity/keycloak_int.h"
#include "identity/provider.h"

#define TEMPORARY "temporary-password-1"
#define PERMANENT "permanent-password-1"
#define OTHER "another-password-2"

struct realm_stage {
    struct arena *arena;
    struct database *database;
    struct provider *provider;
    const char *directory;
    const char *url;
};

struct realm_person {
    struct id id;
    const char *email;
    const char *subject;
};

/* A realm and a provider that uses it; end it with realm_stage_end(). */
struct realm_stage *realm_stage_new(void **state);
/* For cases that give the realm a fault or read its log: skipped with a real server. */
struct realm_stage *realm_scripted(void **state);
void realm_stage_end(struct realm_stage *stage);
/* Another provider over the same realm. */
struct provider *realm_open_provider(struct realm_stage *stage, struct database *database);
/* Writes a file of the realm's directory (keycloak_server.py says what each does). */
void realm_put(struct realm_stage *stage, const char *name, const char *text);
enum provider_outcome realm_create(struct realm_stage *stage, enum provider_account_kind kind, struct id id,
                                    const char *email, const char *password, const char **subject_out);
/* A user of ours with an account in the realm. */
struct realm_person realm_given(struct realm_stage *stage, enum provider_account_kind kind);
enum provider_outcome realm_login(struct realm_stage *stage, const struct realm_person *person, const char *password,
                                   bool new_password_sent, struct provider_tokens *tokens_out,
                                   struct provider_challenge *challenge_out);
/* Whether the API would take the token: it holds, and its session stands for this user. */
bool realm_opens(struct realm_stage *stage, const struct realm_person *person, const char *token);
/* The next call of that name meets that fault: "grant password html". */
void realm_fault(struct realm_stage *stage, const char *what);
/* How often a call of that name was made. */
size_t realm_calls(struct realm_stage *stage, const char *name);

#endif
