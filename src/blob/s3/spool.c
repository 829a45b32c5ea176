/* SPDX-License-Identifier: MIT */
/* Writes bytes to the spool, a directory of this machine, and sends them from there as an object. */
#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "blob/blob.h"
#include "blob/s3/s3_int.h"
#include "codec/encoding.h"

struct error *s3_begin(struct blob_store *store, struct arena *arena, void **state_out)
{
    struct blob_store *spool = s3_of(store)->spool;
    struct s3_pending *pending = arena_alloc(arena, sizeof *pending);
    *pending = (struct s3_pending){.spool = NULL};
    *state_out = pending;
    return spool->functions->begin(spool, arena, &pending->spool);
}

struct error *s3_write(struct blob_store *store, struct arena *arena, void *state, const void *bytes, size_t length)
{
    struct blob_store *spool = s3_of(store)->spool;
    struct s3_pending *pending = state;
    TRY(spool->functions->write(spool, arena, pending->spool, bytes, length));
    pending->written += length;
    return NULL;
}

void s3_abort(struct blob_store *store, void *state)
{
    struct blob_store *spool = s3_of(store)->spool;
    struct s3_pending *pending = state;
    if (pending->spool != NULL)
        spool->functions->abort(spool, pending->spool);
    pending->spool = NULL;
}

struct error *s3_digest_spool(struct s3 *s3, struct arena *arena, void *spool_state, uint64_t first, uint64_t length,
                              const char **digest_out)
{
    struct blob_store *spool = s3->spool;
    unsigned char *block = arena_alloc(arena, LIMIT_BLOB_BLOCK_BYTES);
    struct digest *digest = digest_open(arena);
    uint8_t sum[DIGEST_BYTES];
    struct error *error = NULL;
    for (uint64_t at = 0; at < length && error == NULL;) {
        size_t got = 0;
        size_t wanted = length - at < LIMIT_BLOB_BLOCK_BYTES ? (size_t)(length - at) : LIMIT_BLOB_BLOCK_BYTES;
        error = spool->functions->read(spool, arena, spool_state, first + at, block, wanted, &got);
        if (error == NULL && got == 0)
            error = error_new(arena, ERROR_STORAGE_UNAVAILABLE, "The spool has lost bytes of a file.");
        digest_update(digest, block, got);
        at += got;
    }
    digest_final(digest, sum);
    *digest_out = hex_encode(arena, sum, sizeof sum);
    return error;
}

/* ---- one PUT -------------------------------------------------------------------------------------- */

static struct error *put(struct s3 *s3, struct s3_source *source, const char *key, uint64_t bytes, const char *digest,
                         struct s3_reply *reply_out)
{
    struct s3_call call = {.method = "PUT", .key = key, .source = source, .payload = digest, .bytes = bytes};
    s3_add_header(&call, "Content-Type", "application/octet-stream");
    s3_add_header(&call, S3_DIGEST_HEADER, digest);
    if (!s3->unconditional && !source->replaces)
        s3_add_header(&call, "If-None-Match", "*");
    return s3_send(s3, source->arena, &call, reply_out);
}

struct error *s3_put(struct s3 *s3, struct s3_source *source, const char *key, uint64_t bytes, const char *digest,
                     struct s3_reply *reply_out)
{
    TRY(put(s3, source, key, bytes, digest, reply_out));
    if (reply_out->answer.status != 501 || s3->unconditional)
        return NULL;
    s3->unconditional = true;
    return put(s3, source, key, bytes, digest, reply_out);
}
