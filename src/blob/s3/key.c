/* SPDX-License-Identifier: MIT */
/* The keys of objects. */
#include "base/arena.h"
#include "blob/blob.h"
#include "blob/s3/s3_int.h"

struct s3 *s3_of(struct blob_store *store)
{
    return store->context;
}

const char *s3_key_of(const struct s3 *s3, struct arena *arena, const char *name)
{
    return arena_format(arena, "%s%s", s3->prefix, name);
}

const char *s3_key(const struct s3 *s3, struct arena *arena, struct id id)
{
    return s3_key_of(s3, arena, blob_path(arena, id));
}
