/* SPDX-License-Identifier: MIT */
/*
 * Signs requests by AWS Signature Version 4. Both sides build the same text, the canonical request: method, path,
 * query, headers and digest of the body, each on a line. Its digest goes into the text to sign. That text is signed
 * with a key derived from the secret, the day, the region and the service.
 */
#include "codec/sigv4.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "codec/encoding.h"

#define ALGORITHM "AWS4-HMAC-SHA256"
#define DAY_LENGTH 8

void sigv4_time(int64_t milliseconds, char time_out[SIGV4_TIME_BYTES])
{
    char text[CLOCK_TEXT_BYTES];
    size_t length = 0;
    clock_format(milliseconds, text);
    for (const char *at = text; *at != '.' && length < SIGV4_TIME_BYTES - 2; at++)
        if (*at != '-' && *at != ':')
            time_out[length++] = *at;
    time_out[length++] = 'Z';
    time_out[length] = '\0';
}

void sigv4_payload(const void *body, size_t length, char payload_out[SIGV4_PAYLOAD_BYTES])
{
    uint8_t digest[DIGEST_BYTES];
    struct arena *scratch = arena_new();
    digest_sha256(body != NULL ? body : "", length, digest);
    memcpy(payload_out, hex_encode(scratch, digest, sizeof digest), SIGV4_PAYLOAD_BYTES);
    arena_free(&scratch);
}

static int by_name_and_value(const void *a, const void *b)
{
    const struct sigv4_pair *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : strcmp(left->value, right->value);
}

static const char *encoded(struct arena *arena, const char *text)
{
    return percent_encode(arena, text, strlen(text));
}

const char *sigv4_query(struct arena *arena, const struct sigv4_pair *parameters, size_t count)
{
    struct sigv4_pair *sorted = arena_alloc(arena, (count + 1) * sizeof *sorted);
    struct buffer query;
    buffer_init(&query, arena);
    buffer_reserve(&query, 0);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct sigv4_pair){encoded(arena, parameters[i].name), encoded(arena, parameters[i].value)};
    qsort(sorted, count, sizeof *sorted, by_name_and_value);
    for (size_t i = 0; i < count; i++)
        buffer_add_format(&query, "%s%s=%s", i == 0 ? "" : "&", sorted[i].name, sorted[i].value);
    return query.bytes;
}

/* ---- headers -------------------------------------------------------------------------------------- */

/* A value without blanks at its ends, and with one blank in place of several. */
static const char *trimmed(struct arena *arena, const char *value)
{
    char *text = arena_alloc(arena, strlen(value) + 1);
    size_t length = 0;
    for (const char *at = value; *at != '\0'; at++)
        if (*at != ' ' || (length > 0 && text[length - 1] != ' '))
            text[length++] = *at;
    if (length > 0 && text[length - 1] == ' ')
        length--;
    text[length] = '\0';
    return text;
}

/* A header and its position: values of one name keep their order. */
struct header {
    const char *name;
    const char *value;
    size_t place;
};

static int by_name_and_place(const void *a, const void *b)
{
    const struct header *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* Adds the headers to the canonical request, each on a line; returns their names, joined by semicolons. */
static const char *add_headers(struct arena *arena, struct buffer *text, const struct sigv4_request *request)
{
    struct header *sorted = arena_alloc(arena, (request->header_count + 1) * sizeof *sorted);
    struct buffer names;
    buffer_init(&names, arena);
    buffer_reserve(&names, 0);
    for (size_t i = 0; i < request->header_count; i++)
        sorted[i] = (struct header){text_lowered(arena, request->headers[i].name),
                                    trimmed(arena, request->headers[i].value), i};
    qsort(sorted, request->header_count, sizeof *sorted, by_name_and_place);
    for (size_t i = 0; i < request->header_count; i++) {
        if (i > 0 && strcmp(sorted[i].name, sorted[i - 1].name) == 0) {
            buffer_add_format(text, ",%s", sorted[i].value);
            continue;
        }
        buffer_add_format(text, "%s%s:%s", i == 0 ? "" : "\n", sorted[i].name, sorted[i].value);
        buffer_add_format(&names, "%s%s", i == 0 ? "" : ";", sorted[i].name);
    }
    return names.bytes;
}

/* ---- signing -------------------------------------------------------------------------------------- */

/* "20150830/us-east-1/s3/aws4_request". */
static const char *scope_text(struct arena *arena, const struct sigv4_scope *scope, const char *time)
{
    return arena_format(arena, "%.*s/%s/%s/aws4_request", DAY_LENGTH, time, scope->region, scope->service);
}

/* The key for the day, the region and the service: the result of each HMAC is the key of the next. */
static void derive(struct arena *arena, const struct sigv4_scope *scope, const char *time, uint8_t key[DIGEST_BYTES])
{
    const char *const steps[] = {scope->region, scope->service, "aws4_request"};
    const char *first = arena_format(arena, "AWS4%s", secret_reveal(scope->key));
    digest_hmac(secret_of(first), time, DAY_LENGTH, key);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct secret link = secret_copy(arena, key, DIGEST_BYTES);
        digest_hmac(link, steps[i], strlen(steps[i]), key);
    }
}

/* The signature of a request with this query. *names_out are the signed headers. */
static const char *sign(struct arena *arena, const struct sigv4_scope *scope, const struct sigv4_request *request,
                        const char *query, const char **names_out)
{
    uint8_t digest[DIGEST_BYTES], key[DIGEST_BYTES];
    struct buffer text;
    buffer_init(&text, arena);
    buffer_add_format(&text, "%s\n%s\n%s\n", request->method, request->path, query);
    *names_out = add_headers(arena, &text, request);
    buffer_add_format(&text, "\n\n%s\n%s", *names_out, request->payload);
    digest_sha256(text.bytes, text.length, digest);
    const char *to_sign =
        arena_format(arena, ALGORITHM "\n%s\n%s\n%s", request->time, scope_text(arena, scope, request->time),
                     hex_encode(arena, digest, sizeof digest));
    derive(arena, scope, request->time, key);
    digest_hmac(secret_copy(arena, key, sizeof key), to_sign, strlen(to_sign), digest);
    explicit_bzero(key, sizeof key);
    return hex_encode(arena, digest, sizeof digest);
}

const char *sigv4_authorization(struct arena *arena, const struct sigv4_scope *scope,
                                const struct sigv4_request *request)
{
    struct arena *scratch = arena_new(); /* the derived keys are wiped with it */
    const char *names = NULL;
    const char *signature = sign(scratch, scope, request, request->query, &names);
    const char *value = arena_format(arena, ALGORITHM " Credential=%s/%s, SignedHeaders=%s, Signature=%s",
                                     scope->key_id, scope_text(scratch, scope, request->time), names, signature);
    arena_free(&scratch);
    return value;
}

/* The names of the signed headers, needed before the signature itself. */
static const char *signed_names(struct arena *arena, const struct sigv4_request *request)
{
    struct buffer unused;
    buffer_init(&unused, arena);
    return add_headers(arena, &unused, request);
}

const char *sigv4_presign(struct arena *arena, const struct sigv4_scope *scope, const struct sigv4_request *request,
                          const struct sigv4_pair *parameters, size_t count, unsigned seconds)
{
    struct arena *scratch = arena_new();
    const char *credential = arena_format(scratch, "%s/%s", scope->key_id, scope_text(scratch, scope, request->time));
    const struct sigv4_pair added[] = {
        {"X-Amz-Algorithm", ALGORITHM},
        {"X-Amz-Credential", credential},
        {"X-Amz-Date", request->time},
        {"X-Amz-Expires", arena_format(scratch, "%u", seconds)},
        {"X-Amz-SignedHeaders", signed_names(scratch, request)},
    };
    enum { ADDED = sizeof added / sizeof *added };
    struct sigv4_pair *all = arena_alloc(scratch, (count + ADDED) * sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = parameters[i];
    memcpy(all + count, added, sizeof added);
    const char *query = sigv4_query(scratch, all, count + ADDED);
    const char *names = NULL;
    const char *signature = sign(scratch, scope, request, query, &names);
    const char *whole = arena_format(arena, "%s&X-Amz-Signature=%s", query, signature);
    arena_free(&scratch);
    return whole;
}
