/* SPDX-License-Identifier: MIT */
/* Notes the bodies of uploads under way, by token and by address. */
#include "service/file/upload_bound.h"

#include <string.h>

#include "base/clock.h"
#include "base/configuration.h"
#include "base/host/upload_slots.h"
#include "base/limits.h"
#include "codec/digest.h"
#include "domain/account/throttle.h"
#include "http/request.h"
#include "service/access/login_throttle.h"
#include "service/runtime/service.h"

#define RETRY_SECONDS 5

/* A number for bytes, keyed with the master secret, so that nobody can make bytes that get another one's number. */
static uint32_t keyed(const struct service *service, const char *purpose, const void *bytes, size_t length)
{
    static const size_t most = 32;
    uint8_t text[32 + DIGEST_BYTES] = {0};
    uint8_t digest[DIGEST_BYTES];
    uint32_t number;
    memcpy(text, purpose, strnlen(purpose, most));
    digest_sha256(bytes, length, text + most);
    digest_hmac(service->master, text, sizeof text, digest);
    memcpy(&number, digest, sizeof number);
    return number;
}

/*
 * The owner is what the token signs. Neither the spelling of the scheme nor the signature counts, since they can be
 * written in several ways. A token with a false signature is never noted.
 */
static uint32_t owner_of_token(const struct service *service, const struct request *request)
{
    const char *authorization = request_header(request, "AUTHORIZATION");
    const char *token = authorization == NULL ? NULL : strrchr(authorization, ' ');
    token = token == NULL ? "" : token;
    const char *signature = strrchr(token, '.');
    size_t length = signature == NULL ? strlen(token) : (size_t)(signature - token);
    return keyed(service, "gatehouse upload token", token, length);
}

static struct upload_slots_owner owner_of(const struct service *service, const struct request *request)
{
    struct throttle_key address = throttle_of_address(request->client_address);
    return (struct upload_slots_owner){
        .token = owner_of_token(service, request),
        .address = keyed(service, "gatehouse upload address", address.subject, sizeof address.subject),
    };
}

/* How long the body may take. A body in chunks has no length: it is taken to be as long as any. */
static int64_t seconds_of(const struct configuration *configuration, int64_t announced)
{
    int64_t length = announced >= 0 ? announced : configuration->service.max_file_bytes + LIMIT_UPLOAD_FORM_BYTES;
    int64_t seconds = LIMIT_UPLOAD_START_SECONDS + length / LIMIT_UPLOAD_BYTES_PER_SECOND;
    int64_t most = configuration->limits.upload_seconds;
    return seconds < most ? seconds : most;
}

struct error *upload_bound_begin(struct service *service, struct arena *arena, const struct request *question)
{
    const struct configuration *configuration = service->configuration;
    const struct upload_slots_bounds bounds = {
        .per_token = configuration->limits.uploads_per_token,
        .per_address = configuration->limits.uploads_per_address,
    };
    int64_t seconds = seconds_of(configuration, question->announced_length);
    if (upload_slots_take(owner_of(service, question), &bounds, seconds, clock_now()))
        return NULL;
    return login_throttle_refuse(arena, RETRY_SECONDS, METRIC_THROTTLED_UPLOAD);
}

void upload_bound_end(struct service *service, const struct request *request)
{
    upload_slots_release(owner_of(service, request), clock_now());
}
