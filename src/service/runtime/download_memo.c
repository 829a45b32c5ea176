/* SPDX-License-Identifier: MIT */
/* Remembers who is fetching which file: one place for each of 256 last bytes of a file's id. */
#include "service/runtime/download_memo.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"

#define MEMO_MICROSECONDS INT64_C(60000000)

struct download_memo {
    struct {
        struct download_reader reader;
        int64_t until; /* clock_monotonic(); 0: free */
    } slots[256];
};

struct download_memo *download_memo_new(struct arena *arena)
{
    return arena_alloc(arena, sizeof(struct download_memo));
}

static bool is_same(const struct download_reader *one, const struct download_reader *other)
{
    return id_equal(one->file, other->file) && id_equal(one->who, other->who) && one->by_link == other->by_link &&
           strcmp(one->address, other->address) == 0;
}

bool download_memo_has(const struct download_memo *memo, const struct download_reader *reader)
{
    uint8_t slot = reader->file.bytes[ID_BYTES - 1];
    return clock_monotonic() < memo->slots[slot].until && is_same(&memo->slots[slot].reader, reader);
}

void download_memo_put(struct download_memo *memo, const struct download_reader *reader)
{
    uint8_t slot = reader->file.bytes[ID_BYTES - 1];
    memo->slots[slot].reader = *reader;
    memo->slots[slot].until = clock_monotonic() + MEMO_MICROSECONDS;
}
