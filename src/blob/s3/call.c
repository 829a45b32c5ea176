/* SPDX-License-Identifier: MIT */
/*
 * Makes calls to the store. A call is signed anew for each try, since the signature holds the host and the time. It
 * goes to the endpoint that answered last. Where that one does not answer, the next one is asked at once; when all were
 * asked, there is a pause, which grows. Every call may be tried again: those that write have a condition, or say the
 * same as before.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/s3/s3_int.h"
#include "codec/encoding.h"
#include "codec/random.h"

#define EMPTY_PAYLOAD "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define MICROSECONDS INT64_C(1000)
#define PAUSE_MICROSECONDS INT64_C(50000)
#define PAUSE_DOUBLINGS 5
#define HEADERS_ADDED 1

void s3_add_query(struct s3_call *call, const char *name, const char *value)
{
    call->query[call->query_count++] = (struct sigv4_pair){name, value};
}

void s3_add_header(struct s3_call *call, const char *name, const char *value)
{
    call->headers[call->header_count++] = (struct http_client_header){name, value};
}

struct error *s3_keep_error(struct arena *arena, const struct error *error)
{
    return error == NULL ? NULL : error_new(arena, error->code, "%s", error->detail);
}

/* ---- addresses ------------------------------------------------------------------------------------ */

const char *s3_path(const struct s3 *s3, struct arena *arena, const char *key)
{
    struct buffer path;
    buffer_init(&path, arena);
    buffer_add_format(&path, "/%s", s3->bucket);
    for (const char *at = key; at != NULL; at = strchr(at, '/') == NULL ? NULL : strchr(at, '/') + 1)
        buffer_add_format(&path, "/%s", percent_encode(arena, at, strcspn(at, "/")));
    return path.bytes;
}

const char *s3_host(struct arena *arena, const char *endpoint)
{
    const char *host = strstr(endpoint, "://") + 3;
    const char *usual = strncmp(endpoint, "https:", 6) == 0 ? ":443" : ":80";
    size_t length = strcspn(host, "/");
    if (length > strlen(usual) && strncmp(host + length - strlen(usual), usual, strlen(usual)) == 0)
        length -= strlen(usual);
    return arena_copy(arena, host, length);
}

/* ---- one try -------------------------------------------------------------------------------------- */

static bool give_source(void *context, uint64_t offset, void *bytes, size_t length)
{
    struct s3_source *source = context;
    struct blob_store *spool = source->s3->spool;
    size_t got = 0;
    if (source->error == NULL)
        source->error =
            spool->functions->read(spool, source->arena, source->state, source->first + offset, bytes, length, &got);
    if (source->error == NULL && got < length)
        source->error = error_new(source->arena, ERROR_STORAGE_UNAVAILABLE, "The spool has lost bytes of a file.");
    return source->error == NULL;
}

static enum http_client_outcome try_once(struct s3 *s3, struct arena *arena, const struct s3_call *call, int64_t until,
                                         struct s3_reply *reply, const char **reason_out)
{
    struct arena *scratch = arena_new();
    struct http_client_header headers[S3_HEADERS_MAX + HEADERS_ADDED];
    char payload[SIGV4_PAYLOAD_BYTES] = EMPTY_PAYLOAD;
    const char *query = sigv4_query(scratch, call->query, call->query_count);
    if (call->source != NULL)
        (void)snprintf(payload, sizeof payload, "%s", call->payload);
    else if (call->body != NULL)
        sigv4_payload(call->body, strlen(call->body), payload);
    memcpy(headers, call->headers, sizeof call->headers);
    headers[call->header_count] = (struct http_client_header){"x-amz-content-sha256", payload};
    const struct http_client_signature signature = {s3->region, "s3", s3->access_key, s3->key, payload};
    int64_t left = (until - clock_monotonic()) / MICROSECONDS;
    int64_t share = s3->milliseconds / 3;
    bool transfers = call->source != NULL || call->into != NULL;
    const struct http_client_call http = {
        .method = call->method,
        .url = arena_format(scratch, "%s%s%s%s", reply->endpoint, s3_path(s3, scratch, call->key),
                            *query == '\0' ? "" : "?", query),
        .headers = headers,
        .header_count = call->header_count + HEADERS_ADDED,
        .body = call->body,
        .body_length = call->source != NULL ? (size_t)call->bytes
                       : call->body != NULL ? strlen(call->body)
                                            : 0,
        .source = call->source != NULL ? give_source : NULL,
        .source_context = call->source,
        .into = call->into,
        .into_bytes = call->into != NULL ? (size_t)call->bytes : 0,
        .signature = &signature,
        .milliseconds = call->bytes > 0 || left < share ? left : share,
        .tick = s3->watch->tell,
        .tick_context = s3->watch->context,
        .stall_seconds = transfers ? (unsigned)(s3->milliseconds / 2000) + 1 : 0,
    };
    enum http_client_outcome outcome = http_client_call(s3->client, arena, &http, &reply->answer, reason_out);
    arena_free(&scratch);
    return outcome;
}

/* Whether the same call may have another answer in a moment. */
static bool is_passing(const struct s3_reply *reply)
{
    static const char *const codes[] = {"RequestTimeout", "ConditionalRequestConflict", "OperationAborted", "SlowDown"};
    long status = reply->answer.status;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(reply->code, codes[i]) == 0)
            return true;
    return status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

/* ---- all tries ------------------------------------------------------------------------------------ */

/* When the call must have ended. */
static int64_t deadline(const struct s3 *s3, const struct s3_call *call)
{
    int64_t milliseconds = call->is_last ? s3->milliseconds / 3 : s3->milliseconds;
    milliseconds += (int64_t)(call->bytes * 1000 / S3_BYTES_PER_SECOND);
    return clock_within_horizon(clock_monotonic() + milliseconds * MICROSECONDS);
}

/* Changes to the next endpoint, after a pause when all have been tried. False: the time is over. */
static bool wait_for_next(struct s3 *s3, size_t tries, int64_t until)
{
    s3->current = (s3->current + 1) % s3->endpoints.count;
    int64_t left = until - clock_monotonic();
    if (tries % s3->endpoints.count == 0) {
        size_t round = tries / s3->endpoints.count;
        int64_t most = PAUSE_MICROSECONDS << (round < PAUSE_DOUBLINGS ? round : PAUSE_DOUBLINGS);
        uint32_t drawn;
        random_bytes(&drawn, sizeof drawn);
        int64_t pause = most / 2 + (int64_t)(drawn % (uint32_t)(most / 2));
        if (pause >= left)
            return false;
        clock_sleep(pause);
    }
    return until - clock_monotonic() > MICROSECONDS;
}

struct error *s3_send(struct s3 *s3, struct arena *arena, struct s3_call *call, struct s3_reply *reply_out)
{
    int64_t until = deadline(s3, call);
    enum http_client_outcome outcome;
    const char *reason = "no time was left for it";
    size_t tries = 0;
    *reply_out = (struct s3_reply){.doubtful = false};
    do {
        reply_out->endpoint = s3->endpoints.items[s3->current];
        reply_out->code[0] = '\0';
        reply_out->message[0] = '\0';
        outcome = try_once(s3, arena, call, until, reply_out, &reason);
        if (call->source != NULL && call->source->error != NULL)
            return call->source->error;
        if (outcome == HTTP_CLIENT_ANSWERED && reply_out->answer.status >= 300)
            s3_read_refusal(reply_out);
        if (outcome == HTTP_CLIENT_ANSWERED && !is_passing(reply_out))
            return NULL;
        reply_out->doubtful = reply_out->doubtful || outcome != HTTP_CLIENT_UNREACHABLE;
        tries++;
    } while (wait_for_next(s3, tries, until));
    if (outcome == HTTP_CLIENT_ANSWERED)
        return NULL;
    return error_new(arena, ERROR_STORAGE_UNAVAILABLE, "The store at %s gives no answer: %s.", reply_out->endpoint,
                     reason);
}
