/* SPDX-License-Identifier: MIT */
/*
 * Writes a blob to the spool, and sends it at the commit. The condition If-None-Match makes the store refuse an object
 * that is there already. After a lost answer the bytes are sent again, by libcurl itself where a kept connection was
 * closed. So a refusal may come from our own bytes, which had arrived: the object is compared with what was sent.
 */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/s3/s3_int.h"
#include "codec/encoding.h"

/* ---- the spool ------------------------------------------------------------------------------------ */

struct error *s3_begin(struct blob_store *store, struct arena *arena, void **state_out)
{
    struct blob_store *spool = s3_of(store)->spool;
    return spool->functions->begin(spool, arena, state_out);
}

struct error *s3_write(struct blob_store *store, struct arena *arena, void *state, const void *bytes, size_t length)
{
    struct blob_store *spool = s3_of(store)->spool;
    return spool->functions->write(spool, arena, state, bytes, length);
}

struct error *s3_read(struct blob_store *store, struct arena *arena, void *state, uint64_t offset, void *bytes,
                      size_t length, size_t *got_out)
{
    struct blob_store *spool = s3_of(store)->spool;
    return spool->functions->read(spool, arena, state, offset, bytes, length, got_out);
}

void s3_abort(struct blob_store *store, void *state)
{
    struct blob_store *spool = s3_of(store)->spool;
    spool->functions->abort(spool, state);
}

/* ---- one PUT -------------------------------------------------------------------------------------- */

static struct error *put(struct s3 *s3, struct arena *arena, void *state, const struct blob_final *final,
                         struct s3_reply *reply_out)
{
    struct s3_source source = {.s3 = s3, .arena = arena, .state = state};
    const char *digest = hex_encode(arena, final->digest, DIGEST_BYTES);
    struct s3_call call = {.method = "PUT",
                           .key = s3_key(s3, arena, final->id),
                           .source = &source,
                           .payload = digest,
                           .bytes = final->size};
    s3_add_header(&call, "Content-Type", "application/octet-stream");
    s3_add_header(&call, S3_DIGEST_HEADER, digest);
    if (!s3->unconditional)
        s3_add_header(&call, "If-None-Match", "*");
    return s3_send(s3, arena, &call, reply_out);
}

/* An answer that the object is there, or none at all. */
static struct error *resolve_commit(struct s3 *s3, struct arena *arena, const struct blob_final *final,
                                    struct error *error)
{
    enum s3_state state = S3_ABSENT;
    struct error *unknown = s3_compare(s3, arena, final, true, &state);
    if (unknown == NULL && state == S3_SAME)
        return NULL;
    if (unknown == NULL && state == S3_OTHER)
        return error_new(arena, ERROR_INTERNAL, "blob store: there is a blob %s already", id_text(arena, final->id));
    return error;
}

struct error *s3_commit(struct blob_store *store, struct arena *arena, void *state, const struct blob_final *final)
{
    struct s3 *s3 = s3_of(store);
    struct s3_reply reply;
    struct error *error;
    if (final->size >= s3->multipart_bytes) {
        error = s3_commit_parts(s3, arena, state, final);
    } else {
        error = put(s3, arena, state, final, &reply);
        if (error == NULL && reply.answer.status == 501 && !s3->unconditional) {
            s3->unconditional = true;
            error = put(s3, arena, state, final, &reply);
        }
        bool doubtful = error != NULL || reply.answer.status == 412 || reply.doubtful;
        if (error == NULL && reply.answer.status != 200)
            error = s3_refusal(s3, arena, &reply, "to store an object");
        if (error != NULL && doubtful)
            error = resolve_commit(s3, arena, final, error);
    }
    if (error == NULL)
        s3_abort(store, state); /* the spool's copy */
    return error;
}
