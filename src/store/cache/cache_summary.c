/* SPDX-License-Identifier: MIT */
/* Counts what is in the file, by prefixes, with a bound on the entries that are looked at. */
#include <string.h>

#include "base/arena.h"
#include "store/cache/cache_int.h"

struct summing {
    struct cache_summary *summary;
    const struct text_list *prefixes;
    size_t budget; /* entries that may still be looked at */
};

/* Counts the live entries under a prefix; -1 when there are more entries than the budget allows. */
static int count_prefix(MDB_cursor *cursor, const char *prefix, size_t *budget, int64_t *count_out)
{
    struct cache_name name;
    MDB_val key = cache_name(&name, 'e', prefix, strlen(prefix));
    MDB_val value;
    *count_out = 0;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (code == 0 && key.mv_size >= name.length && memcmp(key.mv_data, name.bytes, name.length) == 0) {
        if (*budget == 0) {
            *count_out = -1;
            return 0;
        }
        --*budget;
        *count_out += cache_entry_lives(&value);
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    return code == MDB_NOTFOUND ? 0 : code;
}

/* Every entry has two keys. A file has two keys of its own; leases are too few to count. */
static int64_t stored_entries(const MDB_stat *counts)
{
    return counts->ms_entries < 2 ? 0 : (int64_t)(counts->ms_entries - 2) / 2;
}

static int sum_body(struct cache *cache, MDB_txn *txn, void *context)
{
    struct summing *summing = context;
    struct cache_summary *summary = summing->summary;
    size_t budget = summing->budget;
    MDB_cursor *cursor;
    MDB_stat counts;
    int code = mdb_stat(txn, cache->dbi, &counts);
    if (code != 0)
        return code;
    summary->bytes =
        (int64_t)((counts.ms_branch_pages + counts.ms_leaf_pages + counts.ms_overflow_pages) * counts.ms_psize);
    code = mdb_cursor_open(txn, cache->dbi, &cursor);
    if (code != 0)
        return code;
    int64_t sum = 0;
    for (size_t i = 0; code == 0 && i < summing->prefixes->count; i++) {
        code = count_prefix(cursor, summing->prefixes->items[i], &budget, &summary->counts[i]);
        sum = sum < 0 || summary->counts[i] < 0 ? -1 : sum + summary->counts[i];
    }
    mdb_cursor_close(cursor);
    summary->entries = sum < 0 ? stored_entries(&counts) : sum;
    return code;
}

void cache_summarise(struct cache *cache, struct arena *arena, const struct text_list *prefixes, size_t budget,
                     struct cache_summary *summary_out)
{
    struct summing summing = {summary_out, prefixes, budget};
    *summary_out = (struct cache_summary){.counts = arena_array(arena, prefixes->count, sizeof *summary_out->counts)};
    if (cache == NULL || cache->bytes == 0)
        return;
    if (!cache_read(cache, sum_body, &summing)) {
        memset(summary_out->counts, 0, prefixes->count * sizeof *summary_out->counts);
        summary_out->entries = summary_out->bytes = 0;
    }
    summary_out->maximum_bytes = (int64_t)cache->bytes;
}
