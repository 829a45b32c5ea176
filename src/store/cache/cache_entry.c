/* SPDX-License-Identifier: MIT */
/* How entries, leases and the version are stored in the file. Every function here runs inside a transaction. */
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "codec/digest.h"
#include "store/cache/cache_int.h"

#define FORMAT "gatehouse cache 2"
#define FORMAT_BYTES (sizeof FORMAT + CACHE_TAG_BYTES)

/* The share of the file that entries may take. The rest is for pages that readers still hold, and for writing. */
#define FULL_PERCENT 50
#define TRIMMED_PERCENT 40

/* The head of a value. */
struct entry_head {
    uint8_t tag[CACHE_TAG_BYTES]; /* authenticates the key and everything behind this tag */
    int64_t stored_at;            /* cache_clock() */
    int64_t stored_wall;          /* clock_now() */
    int64_t ttl;                  /* microseconds */
};

/* The key of an entry in the order of ages begins with this: 'a' and the time. */
#define PLACE_BYTES 9

#define SIGNED_OFFSET offsetof(struct entry_head, stored_at)

int64_t cache_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

MDB_val cache_name(struct cache_name *name, char kind, const char *key, size_t length)
{
    name->bytes[0] = (unsigned char)kind;
    if (length > 0)
        memcpy(name->bytes + 1, key, length);
    name->length = length + 1;
    return (MDB_val){.mv_data = name->bytes, .mv_size = name->length};
}

static MDB_val age_name(struct cache_name *name, int64_t stored_at, const char *key, size_t length)
{
    name->bytes[0] = 'a';
    for (unsigned i = 0; i < 8; i++)
        name->bytes[1 + i] = (unsigned char)((uint64_t)stored_at >> (56 - 8 * i));
    memcpy(name->bytes + PLACE_BYTES, key, length);
    name->length = PLACE_BYTES + length;
    return (MDB_val){.mv_data = name->bytes, .mv_size = name->length};
}

/* HMAC over the digest of the key, the head behind the tag, and the digest of the value. */
static void make_tag(const struct cache *cache, const char *key, size_t key_length, const struct entry_head *head,
                     const void *bytes, size_t length, uint8_t tag_out[CACHE_TAG_BYTES])
{
    uint8_t text[2 * DIGEST_BYTES + sizeof *head - SIGNED_OFFSET];
    uint8_t digest[DIGEST_BYTES];
    struct secret secret = {.bytes = cache->key, .length = sizeof cache->key};
    digest_sha256(key, key_length, text);
    digest_sha256(bytes, length, text + DIGEST_BYTES);
    memcpy(text + 2 * DIGEST_BYTES, (const uint8_t *)head + SIGNED_OFFSET, sizeof *head - SIGNED_OFFSET);
    digest_hmac(secret, text, sizeof text, digest);
    memcpy(tag_out, digest, CACHE_TAG_BYTES);
}

/* ---- the file ------------------------------------------------------------------------------------ */

static MDB_val meta_name(struct cache_name *name, const char *what)
{
    return cache_name(name, 'm', what, strlen(what));
}

/* Stored twice, once with every bit inverted: if a bit flipped, evicted entries could seem current. */
struct version_record {
    int64_t version;
    int64_t turned;
};

int cache_get_version(struct cache *cache, MDB_txn *txn, int64_t *version_out)
{
    struct cache_name name;
    struct version_record record;
    MDB_val key = meta_name(&name, "version");
    MDB_val found;
    *version_out = 0;
    int code = mdb_get(txn, cache->dbi, &key, &found);
    if (code != 0 || found.mv_size != sizeof record)
        return code == 0 || code == MDB_NOTFOUND ? MDB_CORRUPTED : code;
    memcpy(&record, found.mv_data, sizeof record);
    if (record.turned != ~record.version)
        return MDB_CORRUPTED;
    *version_out = record.version;
    return 0;
}

int cache_put_version(struct cache *cache, MDB_txn *txn, int64_t version)
{
    struct cache_name name;
    struct version_record record = {version, ~version};
    MDB_val key = meta_name(&name, "version");
    MDB_val value = {.mv_data = &record, .mv_size = sizeof record};
    return mdb_put(txn, cache->dbi, &key, &value, 0);
}

static void make_format(const struct cache *cache, unsigned char format_out[FORMAT_BYTES])
{
    static const struct entry_head none;
    memcpy(format_out, FORMAT, sizeof FORMAT);
    make_tag(cache, FORMAT, sizeof FORMAT, &none, "", 0, format_out + sizeof FORMAT);
}

/* Whether a key is an entry's key in the order of ages. */
static bool is_place(const MDB_val *key)
{
    return key->mv_size >= PLACE_BYTES && key->mv_size <= CACHE_KEY_MAX && *(const char *)key->mv_data == 'a';
}

/* Opens a cursor at the oldest entry; MDB_NOTFOUND when there is none. The cursor is open only when the answer is 0. */
static int open_oldest(struct cache *cache, MDB_txn *txn, MDB_cursor **cursor_out, MDB_val *place_out)
{
    MDB_val value;
    int code = mdb_cursor_open(txn, cache->dbi, cursor_out);
    if (code != 0)
        return code;
    *place_out = (MDB_val){.mv_data = (void *)"a", .mv_size = 1};
    code = mdb_cursor_get(*cursor_out, place_out, &value, MDB_SET_RANGE);
    if (code == 0 && !is_place(place_out))
        code = MDB_NOTFOUND;
    if (code != 0)
        mdb_cursor_close(*cursor_out);
    return code;
}

/* Every entry has two keys, one of them by its age. All other keys are leases and the file's own data. */
static int count_entries(struct cache *cache, MDB_txn *txn, uint64_t *count_out)
{
    MDB_cursor *cursor;
    MDB_val place, value;
    int code = open_oldest(cache, txn, &cursor, &place);
    if (code != 0)
        return code == MDB_NOTFOUND ? 0 : code;
    while (code == 0 && is_place(&place)) {
        ++*count_out;
        code = mdb_cursor_get(cursor, &place, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

static int empty_to(struct cache *cache, MDB_txn *txn, int64_t version)
{
    struct cache_name name;
    unsigned char format[FORMAT_BYTES];
    make_format(cache, format);
    MDB_val key = meta_name(&name, "format");
    MDB_val value = {.mv_data = format, .mv_size = sizeof format};
    int code = count_entries(cache, txn, &cache->removed.told);
    if (code == 0)
        code = mdb_drop(txn, cache->dbi, 0);
    if (code == 0)
        code = mdb_put(txn, cache->dbi, &key, &value, 0);
    return code != 0 ? code : cache_put_version(cache, txn, version);
}

int cache_empty(struct cache *cache, MDB_txn *txn, void *context)
{
    const int64_t *version = context;
    return empty_to(cache, txn, *version);
}

int cache_prepare(struct cache *cache, MDB_txn *txn, void *context)
{
    struct cache_name name;
    unsigned char format[FORMAT_BYTES];
    MDB_val key = meta_name(&name, "format");
    MDB_val found;
    (void)context;
    make_format(cache, format);
    int code = mdb_get(txn, cache->dbi, &key, &found);
    if (code == 0 && found.mv_size == sizeof format && memcmp(found.mv_data, format, sizeof format) == 0)
        return 0;
    return code == 0 || code == MDB_NOTFOUND ? empty_to(cache, txn, 0) : code;
}

/* ---- entries ------------------------------------------------------------------------------------- */

/* Copies the head of an entry; false when it is too short to have one. */
static bool read_head(const MDB_val *found, struct entry_head *head_out)
{
    if (found->mv_size < sizeof *head_out)
        return false;
    memcpy(head_out, found->mv_data, sizeof *head_out);
    return true;
}

/* Its remaining time to live; not positive when it has expired. */
static int64_t time_left(const struct entry_head *head)
{
    int64_t age = cache_clock() - head->stored_at;
    int64_t age_wall = (clock_now() - head->stored_wall) * 1000;
    if (age < 0)
        return 0; /* stored before the machine was last started */
    return head->ttl - (age > age_wall ? age : age_wall);
}

bool cache_entry_lives(const MDB_val *stored)
{
    struct entry_head head;
    return read_head(stored, &head) && time_left(&head) > 0;
}

static int find_value(struct cache *cache, MDB_txn *txn, const char *key, size_t key_length,
                      struct entry_head *head_out, struct cache_value *value_out)
{
    struct cache_name name;
    MDB_val wanted = cache_name(&name, 'e', key, key_length);
    MDB_val found;
    int code = mdb_get(txn, cache->dbi, &wanted, &found);
    if (code != 0)
        return code;
    if (!read_head(&found, head_out))
        return MDB_CORRUPTED;
    *value_out = (struct cache_value){
        .bytes = (unsigned char *)found.mv_data + sizeof *head_out,
        .length = found.mv_size - sizeof *head_out,
        .left = time_left(head_out),
    };
    return value_out->left <= 0 ? MDB_NOTFOUND : 0;
}

int cache_peek(struct cache *cache, MDB_txn *txn, const char *key, size_t key_length, struct cache_value *value_out)
{
    struct entry_head head;
    return find_value(cache, txn, key, key_length, &head, value_out);
}

/* The head is copied first and checked then: the mapping may change between the two when the file is overwritten. */
int cache_get(struct cache *cache, MDB_txn *txn, struct arena *arena, const char *key, struct cache_value *value_out)
{
    struct entry_head head;
    uint8_t tag[CACHE_TAG_BYTES];
    size_t key_length = strlen(key);
    int code = find_value(cache, txn, key, key_length, &head, value_out);
    if (code != 0)
        return code;
    if (value_out->length > LIMIT_CACHE_VALUE_BYTES)
        return MDB_CORRUPTED;
    value_out->bytes = (unsigned char *)arena_copy(arena, value_out->bytes, value_out->length);
    make_tag(cache, key, key_length, &head, value_out->bytes, value_out->length, tag);
    return memcmp(tag, head.tag, sizeof tag) == 0 ? 0 : MDB_CORRUPTED;
}

static int delete_one(struct cache *cache, MDB_txn *txn, MDB_val *key)
{
    int code = mdb_del(txn, cache->dbi, key, NULL);
    return code == MDB_NOTFOUND ? 0 : code;
}

/* Removes an entry and its key in the order of ages. */
static int delete_entry(struct cache *cache, MDB_txn *txn, const char *key, size_t length, uint64_t *counter)
{
    struct cache_name name, age;
    struct entry_head head;
    MDB_val wanted = cache_name(&name, 'e', key, length);
    MDB_val found;
    int code = mdb_get(txn, cache->dbi, &wanted, &found);
    if (code != 0)
        return code == MDB_NOTFOUND ? 0 : code;
    if (read_head(&found, &head)) {
        MDB_val place = age_name(&age, head.stored_at, key, length);
        code = delete_one(cache, txn, &place);
    }
    if (code == 0)
        code = delete_one(cache, txn, &wanted);
    if (code == 0 && counter != NULL)
        ++*counter;
    return code;
}

int cache_remove(struct cache *cache, MDB_txn *txn, const char *key, size_t length, uint64_t *counter)
{
    struct cache_name name;
    MDB_val lease = cache_name(&name, 'l', key, length);
    int code = delete_one(cache, txn, &lease);
    return code != 0 ? code : delete_entry(cache, txn, key, length, counter);
}

/* ---- the bound ----------------------------------------------------------------------------------- */

static int used_bytes(struct cache *cache, MDB_txn *txn, size_t *used_out)
{
    MDB_stat counts;
    int code = mdb_stat(txn, cache->dbi, &counts);
    if (code == 0)
        *used_out = (counts.ms_branch_pages + counts.ms_leaf_pages + counts.ms_overflow_pages) * counts.ms_psize;
    return code;
}

static int delete_oldest(struct cache *cache, MDB_txn *txn)
{
    char name[LIMIT_CACHE_KEY_BYTES];
    MDB_cursor *cursor;
    MDB_val place;
    int code = open_oldest(cache, txn, &cursor, &place);
    if (code != 0)
        return code;
    size_t length = place.mv_size - PLACE_BYTES;
    memcpy(name, (const char *)place.mv_data + PLACE_BYTES, length);
    code = mdb_cursor_del(cursor, 0);
    mdb_cursor_close(cursor);
    return code != 0 ? code : delete_entry(cache, txn, name, length, &cache->removed.room);
}

/* Removes the oldest entries until there is clearly less than the file may hold. */
static int trim(struct cache *cache, MDB_txn *txn)
{
    size_t used = 0;
    int code = used_bytes(cache, txn, &used);
    if (code != 0 || used <= cache->bytes / 100 * FULL_PERCENT)
        return code;
    while (code == 0 && used > cache->bytes / 100 * TRIMMED_PERCENT) {
        code = delete_oldest(cache, txn);
        if (code == 0)
            code = used_bytes(cache, txn, &used);
    }
    /* The file is full without an entry: its own data are wrong. */
    return code == MDB_NOTFOUND ? MDB_CORRUPTED : code;
}

/* ---- writing ------------------------------------------------------------------------------------- */

int cache_put(struct cache *cache, MDB_txn *txn, const char *key, const void *bytes, size_t length,
              unsigned ttl_seconds)
{
    struct cache_name name, age;
    size_t key_length = strlen(key);
    struct entry_head head = {
        .stored_at = cache_clock(), .stored_wall = clock_now(), .ttl = (int64_t)ttl_seconds * 1000000};
    int code = delete_entry(cache, txn, key, key_length, NULL);
    if (code != 0)
        return code;
    make_tag(cache, key, key_length, &head, bytes, length, head.tag);
    MDB_val wanted = cache_name(&name, 'e', key, key_length);
    MDB_val value = {.mv_size = sizeof head + length};
    code = mdb_put(txn, cache->dbi, &wanted, &value, MDB_RESERVE);
    if (code != 0)
        return code;
    memcpy(value.mv_data, &head, sizeof head);
    memcpy((unsigned char *)value.mv_data + sizeof head, bytes, length);
    MDB_val place = age_name(&age, head.stored_at, key, key_length);
    MDB_val nothing = {.mv_size = 0};
    code = mdb_put(txn, cache->dbi, &place, &nothing, 0);
    return code != 0 ? code : trim(cache, txn);
}
