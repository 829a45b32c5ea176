/* SPDX-License-Identifier: MIT */
/* Stands between the S3 store and its HTTP client. */
#include "blob/s3/support_s3_calls.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"

#define HOUR_MICROSECONDS INT64_C(3600000000)
#define PAGE "<!DOCTYPE html><html><body>It works!</body></html>"
#define REFUSAL "<Error><Code>%s</Code><Message>no</Message></Error>"

struct support_s3_calls support_s3_calls;
static int64_t passed; /* that the tests' clock is ahead; a clock never goes back */

int64_t __real_clock_monotonic(void);
int64_t __wrap_clock_monotonic(void);
struct error *__real_http_client_new(struct arena *arena, const char *ca_file, struct http_client **client_out);
struct error *__wrap_http_client_new(struct arena *arena, const char *ca_file, struct http_client **client_out);
enum http_client_outcome __real_http_client_call(struct http_client *client, struct arena *arena,
                                                 const struct http_client_call *call,
                                                 struct http_client_answer *answer_out, const char **reason_out);
enum http_client_outcome __wrap_http_client_call(struct http_client *client, struct arena *arena,
                                                 const struct http_client_call *call,
                                                 struct http_client_answer *answer_out, const char **reason_out);

int64_t __wrap_clock_monotonic(void)
{
    return __real_clock_monotonic() + passed;
}

struct error *__wrap_http_client_new(struct arena *arena, const char *ca_file, struct http_client **client_out)
{
    if (!support_s3_calls.no_client)
        return __real_http_client_new(arena, ca_file, client_out);
    support_s3_calls.no_client = false;
    return error_new(arena, ERROR_INTERNAL, "no client for this test");
}

void support_s3_calls_clear(void)
{
    support_s3_calls = (struct support_s3_calls){0};
}

void support_s3_calls_fail(size_t call, enum support_s3_fault fault)
{
    support_s3_calls = (struct support_s3_calls){.fail_at = call, .fault = fault};
}

void support_s3_calls_say(const struct support_s3_said *said, bool and_later)
{
    support_s3_calls =
        (struct support_s3_calls){.fail_at = 1, .fault = S3_FAULT_SAID, .said = said, .and_later = and_later};
}

/* Whether 200 alone says that the call was carried out: nobody could tell a lie then. */
static bool is_believed(const struct http_client_call *call)
{
    if (strcmp(call->method, "DELETE") == 0)
        return true;
    bool copies = false;
    for (size_t i = 0; i < call->header_count; i++)
        copies = copies || strcmp(call->headers[i].name, "x-amz-copy-source") == 0;
    return strcmp(call->method, "PUT") == 0 && !copies && strstr(call->url, "partNumber") == NULL;
}

static bool meets_fault(const struct http_client_call *call)
{
    struct support_s3_calls *calls = &support_s3_calls;
    calls->calls++;
    if (calls->fail_at == 0 || calls->calls < calls->fail_at || (calls->calls > calls->fail_at && !calls->and_later))
        return false;
    if ((calls->fault == S3_FAULT_PAGE || calls->fault == S3_FAULT_OTHER) && is_believed(call))
        return false;
    return calls->happened = true;
}

static enum http_client_outcome answer(struct arena *arena, const struct http_client_call *call,
                                       struct http_client_answer *answer_out, long status, const char *body)
{
    const char *said = strcmp(call->method, "HEAD") == 0 || (call->into != NULL && status / 100 == 2) ? "" : body;
    *answer_out = (struct http_client_answer){.status = status, .length = strlen(said)};
    answer_out->body = arena_text(arena, said);
    return HTTP_CLIENT_ANSWERED;
}

static enum http_client_outcome say(struct arena *arena, const struct http_client_call *call,
                                    struct http_client_answer *answer_out)
{
    const struct support_s3_said *said = support_s3_calls.said;
    const char *body = said->body == NULL ? "" : said->body;
    (void)answer(arena, call, answer_out, said->status, body);
    if (call->into != NULL && said->status / 100 == 2) {
        answer_out->length = strlen(body) < call->into_bytes ? strlen(body) : call->into_bytes;
        memcpy(call->into, body, answer_out->length);
    }
    for (size_t i = 0; i < 4 && said->headers[i].name != NULL; i++)
        answer_out->headers[answer_out->header_count++] = said->headers[i];
    return HTTP_CLIENT_ANSWERED;
}

enum http_client_outcome __wrap_http_client_call(struct http_client *client, struct arena *arena,
                                                 const struct http_client_call *call,
                                                 struct http_client_answer *answer_out, const char **reason_out)
{
    if (!meets_fault(call))
        return __real_http_client_call(client, arena, call, answer_out, reason_out);
    *reason_out = "the test says so";
    switch (support_s3_calls.fault) {
    case S3_FAULT_REFUSED:
        return answer(arena, call, answer_out, 403, arena_format(arena, REFUSAL, "AccessDenied"));
    case S3_FAULT_PAGE:
        return answer(arena, call, answer_out, 200, PAGE);
    case S3_FAULT_OTHER:
        return answer(arena, call, answer_out, 200, "<Other><Key>a</Key></Other>");
    case S3_FAULT_SAID:
        return say(arena, call, answer_out);
    case S3_FAULT_BUSY:
        passed += HOUR_MICROSECONDS;
        return answer(arena, call, answer_out, 503, arena_format(arena, REFUSAL, "SlowDown"));
    case S3_FAULT_LOST:
        (void)__real_http_client_call(client, arena, call, answer_out, reason_out);
        passed += HOUR_MICROSECONDS;
        return HTTP_CLIENT_UNKNOWN;
    default:
        passed += HOUR_MICROSECONDS;
        return HTTP_CLIENT_UNREACHABLE;
    }
}
