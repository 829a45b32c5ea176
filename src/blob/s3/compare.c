/* SPDX-License-Identifier: MIT */
/* Compares an object with what a commit has sent, which resolves a lost answer. */
#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/s3/s3_int.h"

struct error *s3_compare(struct s3 *s3, struct arena *arena, const struct blob_final *final, bool is_last,
                         enum s3_state *state_out)
{
    struct blob_found found;
    bool there = false;
    TRY(s3_look_at(s3, arena, s3_key(s3, arena, final->id), is_last, &found, &there));
    *state_out = !there ? S3_ABSENT : S3_OTHER;
    if (there && found.size == final->size && found.has_digest && digest_equal(found.digest, final->digest))
        *state_out = S3_SAME;
    return NULL;
}
