/* SPDX-License-Identifier: MIT */
/* What is wrong with a provider's configuration, in a sentence; for `gatehousectl check`. It goes past the gate and leaves no trace there. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "codec/signing_key.h"
#include "identity/remote_int.h"

#define CHECK_MILLISECONDS 30000
#define GET_MILLISECONDS 5000

struct error *outside_wrong(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *sentence = arena_format_list(arena, format, arguments);
    va_end(arguments);
    return error_message(error_plain(arena, ERROR_IDENTITY_UNAVAILABLE), "%s", sentence);
}

/* Tokens and signatures are only good for a while. */
static struct error *check_clock(struct arena *arena, const char *name, const struct web_answer *answer)
{
    struct tm parts = {0};
    const char *date = web_answer_header(answer, "Date");
    if (date == NULL || strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &parts) == NULL)
        return NULL;
    long long seconds = (long long)timegm(&parts) - (long long)(clock_now() / 1000);
    if (llabs(seconds) <= LIMIT_TOKEN_LEEWAY_SECONDS)
        return NULL;
    return outside_wrong(arena, "The clocks of this host and of %s differ by %lld seconds; set this host's by NTP.", name,
                         llabs(seconds));
}

struct error *outside_check_get(struct outside *outside, struct arena *arena, const char *setting, const char *url,
                                struct web_answer *answer_out)
{
    const char *name = outside->wire->name;
    const char *reason = NULL;
    struct web_call call = {.method = "GET", .url = url, .milliseconds = GET_MILLISECONDS};
    if (web_call(outside->web, arena, &call, answer_out, &reason) == WEB_ANSWERED)
        return check_clock(arena, name, answer_out);
    if (strstr(reason, "SSL") != NULL)
        return outside_wrong(arena,
                             "The TLS connection to %s (%s in [%s]) fails: %s. Name the certificates that it is to be judged by "
                             "with ca_file, or mend its certificate.",
                             url, setting, name, reason);
    return outside_wrong(arena, "Nothing answers at %s (%s in [%s]): %s. Is the address right, and may this host connect to it?",
                         url, setting, name, reason);
}

static struct error *check_keys(struct outside *outside, struct arena *arena)
{
    struct web_answer answer;
    struct key_set *set;
    const char *url = outside->wire->keys_url(outside);
    TRY(outside_check_get(outside, arena, "jwks_url", url, &answer));
    if (answer.status == 200 && key_set_read(arena, answer.body, answer.length, &set) == NULL)
        return NULL;
    return outside_wrong(arena, "%s (jwks_url in [%s]) answers with status %ld and no key set for RS256; correct the address.", url,
                         outside->wire->name, answer.status);
}

struct error *outside_check(struct provider *provider, struct arena *arena)
{
    struct outside *outside = outside_of(provider);
    /* What the others have seen of the provider would only say that it fails, not why. */
    outside_gate_free(outside);
    outside->options.places_file = NULL;
    outside->gate = (struct outside_gate){0};
    outside_start(outside, CHECK_MILLISECONDS);
    TRY(outside->wire->check(outside, arena));
    return check_keys(outside, arena);
}
