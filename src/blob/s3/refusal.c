/* SPDX-License-Identifier: MIT */
/* Reads the refusals of the store, and says in sentences for the operator what is wrong. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/s3/s3_int.h"
#include "codec/xml.h"

static bool take_refusal(void *context, const struct xml_element *element)
{
    struct s3_reply *reply = context;
    if (strcmp(element->path, "/Error/Code") == 0)
        (void)snprintf(reply->code, sizeof reply->code, "%s", element->text);
    if (strcmp(element->path, "/Error/Message") == 0)
        (void)snprintf(reply->message, sizeof reply->message, "%s", element->text);
    return true;
}

void s3_read_refusal(struct s3_reply *reply)
{
    if (reply->answer.length > 0)
        (void)xml_read(reply->answer.body, reply->answer.length, take_refusal, reply);
}

#define CLOCKS ": its clock and that of this machine are too far apart for its signatures; set them."

/* What to do about the refusals that an operator meets: "The store at <endpoint>", and these words about the bucket. */
static const struct {
    const char *code;
    const char *words;
    const char *behind; /* the name of the bucket; NULL: it is not named */
} known[] = {
    {"InvalidAccessKeyId", " does not know the access key; check s3_access_key.", NULL},
    {"XAdminUserNotFound", " does not know the access key; check s3_access_key.", NULL},
    {"SignatureDoesNotMatch", " does not accept the signature; check s3_access_key and the key in s3_secret_key_file.",
     NULL},
    {"AuthorizationHeaderMalformed", " does not accept the signature; check s3_region.", NULL},
    {"RequestTimeTooSkewed", CLOCKS, NULL},
    {"RequestExpired", CLOCKS, NULL},
    {"NoSuchBucket", " has no bucket ", "; make it, or check s3_bucket."},
    {"InvalidBucketName", " takes no bucket of the name ", "; check s3_bucket."},
};

static bool is_full(const struct s3_reply *reply)
{
    static const char *const codes[] = {"QuotaExceeded",     "InsufficientCapacity", "InsufficientStorage",
                                        "XMinioStorageFull", "StorageFull",          "NoSpaceLeft"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(reply->code, codes[i]) == 0)
            return true;
    return reply->answer.status == 507;
}

static const char *describe(const struct s3 *s3, struct arena *arena, const struct s3_reply *reply, const char *what)
{
    long status = reply->answer.status;
    const char *place = http_client_answer_header(&reply->answer, "Location");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(reply->code, known[i].code) == 0)
            return arena_format(arena, "The store at %s%s%s%s", reply->endpoint, known[i].words,
                                known[i].behind == NULL ? "" : s3->bucket,
                                known[i].behind == NULL ? "" : known[i].behind);
    if (status / 100 == 3)
        return arena_format(arena,
                            "The store at %s sends requests elsewhere (HTTP %ld%s%s); check s3_endpoint and s3_region.",
                            reply->endpoint, status, place == NULL ? "" : ", ", place == NULL ? "" : place);
    if (status == 403)
        return arena_format(arena, "The store at %s does not allow %s in the bucket %s (HTTP 403%s%s).",
                            reply->endpoint, what, s3->bucket, *reply->code == '\0' ? "" : ", ", reply->code);
    if (*reply->code != '\0')
        return arena_format(arena, "The store at %s refuses %s: HTTP %ld, %s: %s", reply->endpoint, what, status,
                            reply->code, reply->message);
    if (reply->answer.length > 0)
        return arena_format(arena,
                            "What answers at %s is no store of the S3 protocol: HTTP %ld without its XML. Check"
                            " s3_endpoint.",
                            reply->endpoint, status);
    return arena_format(arena, "The store at %s refuses %s: HTTP %ld.", reply->endpoint, what, status);
}

struct error *s3_refusal(const struct s3 *s3, struct arena *arena, const struct s3_reply *reply, const char *what)
{
    return error_new(arena, is_full(reply) ? ERROR_STORAGE_FULL : ERROR_STORAGE_UNAVAILABLE, "%s",
                     describe(s3, arena, reply, what));
}
