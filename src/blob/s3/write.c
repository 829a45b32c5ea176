/* SPDX-License-Identifier: MIT */
/*
 * Commits a blob, whose bytes the spool has, and reads it back before. The condition If-None-Match makes the store
 * refuse an object that is there already. After a lost answer the bytes are sent again, by libcurl itself where a kept
 * connection was closed. So a refusal may come from our own bytes, which had arrived: the object is compared with what
 * was sent. A server of the store that dies while it writes may leave a name without an object. The name is this
 * upload's own, so the bytes are then sent without the condition.
 */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/s3/s3_int.h"
#include "codec/encoding.h"

struct error *s3_read(struct blob_store *store, struct arena *arena, void *state, uint64_t offset, void *bytes,
                      size_t length, size_t *got_out)
{
    struct blob_store *spool = s3_of(store)->spool;
    const struct s3_pending *pending = state;
    unsigned char *into = bytes;
    *got_out = 0;
    while (*got_out < length && offset + *got_out < pending->first) {
        size_t got = 0;
        TRY(s3_piece_read(s3_of(store), arena, pending, offset + *got_out, into + *got_out, length - *got_out, &got));
        *got_out += got;
    }
    if (*got_out == length)
        return NULL;
    size_t rest = 0;
    TRY(spool->functions->read(spool, arena, pending->spool, offset + *got_out - pending->first, into + *got_out,
                               length - *got_out, &rest));
    *got_out += rest;
    return NULL;
}

/*
 * An answer that the object is there, or none at all. *absent_out: the store has been asked, and it is not there.
 */
static struct error *resolve_commit(struct s3 *s3, struct arena *arena, const struct blob_final *final,
                                    struct error *error, bool *absent_out)
{
    enum s3_state state = S3_ABSENT;
    struct error *unknown = s3_compare(s3, arena, final, true, &state);
    *absent_out = unknown == NULL && state == S3_ABSENT;
    if (unknown == NULL && state == S3_SAME)
        return NULL;
    if (unknown == NULL && state == S3_OTHER)
        return error_new(arena, ERROR_INTERNAL, "blob store: there is a blob %s already", id_text(arena, final->id));
    return error;
}

/* Sends the bytes once. *empty_out: the store refuses them for an object that is not there. */
static struct error *put_and_resolve(struct s3 *s3, struct s3_source *source, const struct blob_final *final,
                                     bool *empty_out)
{
    struct arena *arena = source->arena;
    struct s3_reply reply;
    bool absent = false;
    struct error *error = s3_put(s3, source, s3_key(s3, arena, final->id), final->size,
                                 hex_encode(arena, final->digest, DIGEST_BYTES), &reply);
    bool refused = error == NULL && reply.answer.status == 412;
    bool doubtful = error != NULL || refused || reply.doubtful;
    if (error == NULL && reply.answer.status != 200)
        error = s3_refusal(s3, arena, &reply, "to store an object");
    if (error != NULL && doubtful)
        error = resolve_commit(s3, arena, final, error, &absent);
    *empty_out = refused && absent;
    return error;
}

static struct error *commit_at_once(struct s3 *s3, struct arena *arena, const struct s3_pending *pending,
                                    const struct blob_final *final)
{
    struct s3_source source = {.s3 = s3, .arena = arena, .state = pending->spool};
    bool empty;
    struct error *error = put_and_resolve(s3, &source, final, &empty);
    if (!empty)
        return error;
    source.replaces = true;
    return put_and_resolve(s3, &source, final, &empty);
}

struct error *s3_commit(struct blob_store *store, struct arena *arena, void *state, const struct blob_final *final)
{
    struct s3 *s3 = s3_of(store);
    const struct s3_pending *pending = state;
    bool in_parts = final->size >= s3->multipart_bytes || pending->first > 0;
    TRY(in_parts ? s3_commit_parts(s3, arena, pending, final) : commit_at_once(s3, arena, pending, final));
    s3_abort(store, state); /* the spool's copy */
    return NULL;
}
