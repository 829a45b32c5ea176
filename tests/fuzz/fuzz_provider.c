/* SPDX-License-Identifier: MIT */
/*
 * Target for the replies of a remote identity provider. The first line chooses the function; then each line that is a
 * number is the status of a reply and the next line its body. When they are spent, no answer comes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "fuzz.h"
#include "identity/cognito/cognito_int.h"
#include "identity/keycloak/keycloak_int.h"
#include "store/http_client.h"

#define LINES 17

static struct {
    const char *lines[LINES];
    size_t at;
} script;

/* The linker puts this in the place of http_client_call() (local.mk). */
enum http_client_outcome __wrap_http_client_call(struct http_client *client, struct arena *arena,
                                                 const struct http_client_call *call,
                                                 struct http_client_answer *answer_out, const char **reason_out);
enum http_client_outcome __wrap_http_client_call(struct http_client *client, struct arena *arena,
                                                 const struct http_client_call *call,
                                                 struct http_client_answer *answer_out, const char **reason_out)
{
    int64_t status;
    (void)client;
    fuzz_expect(call->url != NULL && call->milliseconds > 0, "a call has an address and a deadline");
    if (script.at + 1 >= LINES || !text_to_integer(script.lines[script.at], 100, 599, &status)) {
        *reason_out = "the script has ended";
        return HTTP_CLIENT_UNKNOWN;
    }
    answer_out->status = (long)status;
    answer_out->body = arena_text(arena, script.lines[script.at + 1]);
    answer_out->length = strlen(answer_out->body);
    answer_out->headers[0] = (struct http_client_header){"Location", answer_out->body};
    answer_out->header_count = answer_out->length > 0 ? 1 : 0;
    script.at += 2;
    return HTTP_CLIENT_ANSWERED;
}

/* What lives as long as the program. */
static struct arena *kept(void)
{
    static struct arena *arena;
    if (arena == NULL)
        arena = arena_new();
    return arena;
}

static struct remote *cognito(void)
{
    static struct provider *provider;
    static const struct remote_options remote = {.rest_seconds = 1, .login_milliseconds = 5000};
    static const struct cognito_options options = {.region = "eu-central-1",
                                                   .endpoint = "https://pool.example",
                                                   .issuer = "https://pool.example/p",
                                                   .keys_url = "https://pool.example/p/jwks.json",
                                                   .user_pool_id = "eu-central-1_Tests",
                                                   .client_id = "client",
                                                   .access_key_id = "AKIDEXAMPLE"};
    if (provider == NULL)
        fuzz_expect(cognito_new(kept(), &remote, &options, &provider) == NULL, "the tests' own pool can be made");
    return remote_of(provider);
}

static struct remote *keycloak(void)
{
    static struct provider *provider;
    static const struct remote_options remote = {.rest_seconds = 1, .login_milliseconds = 5000};
    static const struct keycloak_options options = {.url = "https://realm.example",
                                                    .realm = "tests",
                                                    .issuer = "https://realm.example/realms/tests",
                                                    .keys_url = "https://realm.example/keys",
                                                    .client_id = "client",
                                                    .admin_client_id = "admin"};
    if (provider == NULL) {
        fuzz_expect(keycloak_new(kept(), &remote, &options, &provider) == NULL, "the tests' own realm can be made");
        keycloak_of(remote_of(provider))->client_secret = secret_of("secret");
        keycloak_of(remote_of(provider))->admin_secret = secret_of("secret");
    }
    return remote_of(provider);
}

static void run(struct arena *arena, struct remote *remote, char function)
{
    enum provider_outcome outcome = PROVIDER_OUTCOME_COUNT;
    struct remote_grant grant = {0};
    struct remote_account account = {0};
    const char *proof = NULL;
    const struct id user = {{1}};
    const struct provider_login login = {
        .subject = "subject", .user_id = user, .email = "a@example.com", .password = secret_of("a password")};
    struct error *error = NULL;
    switch (function) {
    case 'l':
        error = remote->driver->login(remote, arena, &login, &grant, &proof, &outcome);
        fuzz_expect(error != NULL || outcome < PROVIDER_OUTCOME_COUNT, "a call has an outcome");
        fuzz_expect(error != NULL || outcome != PROVIDER_NEW_PASSWORD_REQUIRED || proof != NULL,
                    "a challenge has a proof");
        break;
    case 'r':
        error = remote->driver->refresh(remote, arena, "subject", secret_of("token"), &grant, &outcome);
        fuzz_expect(error != NULL || outcome < PROVIDER_OUTCOME_COUNT, "a call has an outcome");
        break;
    case 'f':
        error = remote->driver->administration->find(remote, arena, user, "a@example.com", &account);
        fuzz_expect(error != NULL || account.subject != NULL || (!account.ours && !account.used), "nobody is nothing");
        break;
    case 'v':
        error = remote->driver->revoke(remote, arena, secret_of("token"));
        break;
    default:
        error = remote->driver->check(remote, arena);
        break;
    }
    fuzz_expect(error == NULL || error->message != NULL, "an error has a sentence");
}

void fuzz_provider(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *lines[LINES];
    fuzz_lines(arena, bytes, size, lines, LINES);
    memcpy(script.lines, lines + 1, sizeof script.lines - sizeof *script.lines);
    script.lines[LINES - 1] = "";
    script.at = 0;
    struct remote *remote = lines[0][0] == 'k' ? keycloak() : cognito();
    remote->breaker = (struct circuit_breaker){0};
    remote_start(remote, 5000);
    run(arena, remote, lines[0][0] == '\0' ? '\0' : lines[0][1]);
}
