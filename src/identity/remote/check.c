/* SPDX-License-Identifier: MIT */
/*
 * Finds out what is wrong with the settings of a remote provider and says it in a sentence, for `gatehousectl check`.
 * First the driver checks its own settings, then the key set is fetched.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "codec/signing_key.h"
#include "identity/remote/circuit_breaker_int.h"
#include "identity/remote/provider_int.h"

#define CHECK_MILLISECONDS 30000
#define GET_MILLISECONDS 5000

struct error *remote_check_failed(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *sentence = arena_format_list(arena, format, arguments);
    va_end(arguments);
    return error_message(error_plain(arena, ERROR_IDENTITY_UNAVAILABLE), "%s", sentence);
}

/* Tokens and signatures are valid for a short time only, so the clocks must agree. */
static struct error *check_clock(struct arena *arena, const char *name, const struct http_client_answer *answer)
{
    struct tm parts = {0};
    const char *date = http_client_answer_header(answer, "Date");
    if (date == NULL || strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &parts) == NULL)
        return NULL;
    long long seconds = (long long)timegm(&parts) - (long long)(clock_now() / 1000);
    if (llabs(seconds) <= LIMIT_TOKEN_LEEWAY_SECONDS)
        return NULL;
    return remote_check_failed(arena,
                               "The clocks of this host and of %s differ by %lld seconds; set this host's by NTP.",
                               name, llabs(seconds));
}

struct error *remote_check_get(struct remote *remote, struct arena *arena, const char *setting, const char *url,
                               struct http_client_answer *answer_out)
{
    const char *name = remote->driver->name;
    const char *reason = NULL;
    struct http_client_call call = {.method = "GET", .url = url, .milliseconds = GET_MILLISECONDS};
    if (http_client_call(remote->http, arena, &call, answer_out, &reason) == HTTP_CLIENT_ANSWERED)
        return check_clock(arena, name, answer_out);
    if (strstr(reason, "SSL") != NULL)
        return remote_check_failed(
            arena,
            "The TLS connection to %s (%s in [%s]) fails: %s. Name the certificates that verify it with ca_file, or "
            "correct its certificate.",
            url, setting, name, reason);
    return remote_check_failed(
        arena, "Nothing answers at %s (%s in [%s]): %s. Is the address right, and may this host connect to it?", url,
        setting, name, reason);
}

static struct error *check_keys(struct remote *remote, struct arena *arena)
{
    struct http_client_answer answer;
    struct key_set *set;
    const char *url = remote->driver->keys_url(remote);
    TRY(remote_check_get(remote, arena, "jwks_url", url, &answer));
    if (answer.status == 200 && key_set_read(arena, answer.body, answer.length, &set) == NULL)
        return NULL;
    return remote_check_failed(
        arena, "%s (jwks_url in [%s]) answers with status %ld and no key set for RS256; correct the address.", url,
        remote->driver->name, answer.status);
}

struct error *remote_check(struct provider *provider, struct arena *arena)
{
    struct remote *remote = remote_of(provider);
    /* What other processes have seen would only say that the provider fails, not why. So these calls ignore it. */
    circuit_breaker_close_file(remote);
    remote->options.slots_file = NULL;
    remote->breaker = (struct circuit_breaker){0};
    remote_start(remote, CHECK_MILLISECONDS);
    TRY(remote->driver->check(remote, arena));
    return check_keys(remote, arena);
}
