/* SPDX-License-Identifier: MIT */
/* Names and reads the objects of bytes that arrive in pieces (partial.c). */
#include "base/arena.h"
#include "base/error.h"
#include "blob/s3/s3_int.h"

/* The digits keep the order of a list that of the bytes. */
const char *s3_piece_name(struct arena *arena, const char *folder, uint64_t first, uint64_t end)
{
    return arena_format(arena, "%s%020llu-%020llu", folder, (unsigned long long)first, (unsigned long long)end);
}

const char *s3_piece_key(const struct s3 *s3, struct arena *arena, const char *folder, uint64_t first, uint64_t end)
{
    return s3_key_of(s3, arena, s3_piece_name(arena, folder, first, end));
}

struct error *s3_piece_read(struct s3 *s3, struct arena *arena, const struct s3_pending *pending, uint64_t offset,
                            void *bytes, size_t length, size_t *got_out)
{
    struct arena *scratch = arena_new();
    uint64_t first = offset - offset % s3->part_bytes;
    uint64_t left = first + s3->part_bytes - offset;
    size_t step = left < length ? (size_t)left : length;
    const char *key = s3_piece_key(s3, scratch, pending->folder, first, first + s3->part_bytes);
    struct error *error = s3_keep_error(arena, s3_get(s3, scratch, key, offset - first, bytes, step));
    arena_free(&scratch);
    *got_out = error == NULL ? step : 0;
    return error;
}
