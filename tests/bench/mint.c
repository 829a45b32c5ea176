/* SPDX-License-Identifier: MIT */
/*
 * Access tokens by the thousand, signed with the service's own key, for reads with tokens that no worker has seen.
 *
 *     mint CONFIGURATION COUNT < SESSIONS > TOKENS
 *
 * SESSIONS holds lines "user session", each id in 32 hexadecimal digits, and is gone through again and again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "codec/token.h"
#include "identity/embedded/embedded_int.h"
#include "service/runtime/service.h"
#include "service/runtime/startup.h"

#define SESSIONS_MAX 4096
#define LIFETIME_SECONDS 7200

struct login {
    struct id user;
    struct id session;
};

static struct login logins[SESSIONS_MAX];
static size_t login_count;

static void read_id(const char *hex, struct id *id_out)
{
    for (size_t i = 0; i < ID_BYTES; i++) {
        unsigned value = 0;
        (void)sscanf(hex + 2 * i, "%2x", &value);
        id_out->bytes[i] = (unsigned char)value;
    }
}

static struct error *mint(struct service *service, struct arena *arena, size_t number)
{
    const struct signing_key *key;
    char *token;
    const struct login *login = &logins[number % login_count];
    TRY(embedded_signing_keys_signer(embedded_of(service->provider), arena, &key));
    int64_t now = clock_now() / 1000;
    struct token_content content = {
        .issuer = service->configuration->identity.issuer,
        .audience = service->configuration->identity.audience,
        .token_use = TOKEN_USE_ACCESS,
        .subject = login->user,
        .session = login->session,
        .issued_at = now,
        .expires_at = now + LIFETIME_SECONDS,
    };
    TRY(token_issue(arena, key, &content, &token));
    (void)puts(token);
    return NULL;
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_new();
    struct arena *scratch = arena_new();
    struct configuration *configuration;
    struct service service;
    char user[33], session[33];
    if (argc != 3) {
        (void)fprintf(stderr, "usage: mint CONFIGURATION COUNT < SESSIONS\n");
        return 2;
    }
    while (login_count < SESSIONS_MAX && scanf("%32s %32s", user, session) == 2) {
        read_id(user, &logins[login_count].user);
        read_id(session, &logins[login_count++].session);
    }
    struct error *error = startup_load(arena, argv[1], NULL, &configuration);
    if (error == NULL)
        error = service_open(arena, configuration, &service);
    size_t count = (size_t)strtoul(argv[2], NULL, 10);
    for (size_t i = 0; error == NULL && login_count > 0 && i < count; i++) {
        error = mint(&service, scratch, i);
        if (error == NULL)
            arena_reset(scratch);
    }
    if (error == NULL && login_count > 0)
        return 0;
    if (error != NULL)
        startup_report(error);
    return 1;
}
