/* SPDX-License-Identifier: MIT */
/*
 * Signing keys of the embedded provider. All workers of all hosts share them through the table identity_signing_key.
 * The private half is sealed under the service's secret and the key's own name (kid). The newest key that has not
 * retired signs. A retired key stays in the published set until the last token that it can have signed has expired.
 *
 * To parse a key takes long, so a process keeps what it read. It reads the table again after REREAD_SECONDS, or when a
 * token of an unknown key came, but that at most once in STRANGE_SECONDS: a flood of made-up tokens costs nothing. When
 * the table cannot be read, the keys in memory stay in use.
 *
 * The public halves lie in the service cache as well, so that of all processes of a host that start or read again only
 * one asks the database. Private halves never do, sealed or not: a process that is to sign reads the table.
 */
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "codec/document.h"
#include "codec/seal.h"
#include "codec/signing_key.h"
#include "domain/account/signing_key_row.h"
#include "domain/change_log.h"
#include "identity/embedded/embedded_int.h"
#include "store/cache/cache.h"
#include "store/cache/cache_prefix.h"
#include "store/database/row_lock.h"

#define REREAD_SECONDS 300
#define STRANGE_SECONDS 30

/* How long a process waits while another makes a key, in milliseconds, and how long the lock lasts. */
#define LOCK_PATIENCE 4000
#define LOCK_SECONDS 30

/* How long it may take at the end of a check of the service to store the key that was made. */
#define KEEP_MICROSECONDS INT64_C(3000000)

/*
 * How long the cache keeps the public halves: a process may read a change that nobody announced so much later than
 * after REREAD_SECONDS. And how long a process may take to read them.
 */
#define CACHE_SECONDS 60
#define LEASE_SECONDS 10

static int64_t seconds_since(int64_t monotonic)
{
    return (clock_monotonic() - monotonic) / 1000000;
}

static const char *seal_purpose(struct arena *arena, const char *kid)
{
    return arena_format(arena, "signing-key:%s", kid);
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* The keys as they were read, the one that signs first; from the cache they have no private half. */
struct key_rows {
    struct signing_key_row *items;
    size_t count;
};

/* How long a retired key stays in the published set: so long may somebody sign with it, and its tokens be valid. */
static int64_t published_seconds(const struct embedded *embedded)
{
    return embedded->options.access_token_seconds + REREAD_SECONDS + CACHE_SECONDS;
}

static struct error *list_keys(struct embedded *embedded, struct arena *arena, struct key_rows *keys_out)
{
    return signing_key_row_list(embedded->options.database, arena, published_seconds(embedded), KEY_SET_KEYS,
                                &keys_out->items, &keys_out->count);
}

/* Whether this process has in memory what was read, so that nothing must be parsed. */
static bool unchanged(const struct embedded_signing_keys *keys, const struct key_rows *rows)
{
    if (keys->arena == NULL || rows->count != key_set_count(keys->set))
        return false;
    if (strcmp(keys->signer_kid, rows->items[0].kid) != 0 || (keys->signer == NULL && rows->items[0].sealed != NULL))
        return false;
    for (size_t i = 0; i < rows->count; i++)
        if (key_set_find(keys->set, rows->items[i].kid, strlen(rows->items[i].kid)) == NULL)
            return false;
    return true;
}

/* Parses all keys into `keys`, which has an arena of its own. */
static struct error *parse_keys(struct embedded *embedded, struct arena *arena, const struct key_rows *rows,
                                struct embedded_signing_keys *keys)
{
    struct secret pem;
    struct signing_key *key;
    keys->set = key_set_new(keys->arena);
    keys->signer = NULL;
    keys->signer_kid = arena_text(keys->arena, rows->items[0].kid);
    for (size_t i = 0; i < rows->count; i++) {
        const struct signing_key_row *row = &rows->items[i];
        const char *kid = arena_text(keys->arena, row->kid);
        if (i > 0 || row->sealed == NULL) {
            TRY(signing_key_load_public(keys->arena, kid, row->public_pem, &key));
        } else {
            TRY(unseal(arena, embedded->options.master, seal_purpose(arena, kid), row->sealed, row->sealed_length,
                       &pem));
            TRY(signing_key_load_private(keys->arena, kid, pem, &key));
            keys->signer = key;
        }
        TRY(key_set_add(keys->set, key));
    }
    return NULL;
}

static void digest_rows(struct arena *arena, const struct key_rows *rows, uint8_t digest_out[DIGEST_BYTES])
{
    struct buffer buffer;
    buffer_init(&buffer, arena);
    for (size_t i = 0; i < rows->count; i++)
        buffer_add_format(&buffer, "%zu:%s%zu:%s", strlen(rows->items[i].kid), rows->items[i].kid,
                          strlen(rows->items[i].public_pem), rows->items[i].public_pem);
    digest_sha256(buffer.bytes, buffer.length, digest_out);
}

/* Takes forgotten keys back into use where the same bytes were read again. The private half is always read anew. */
static void recall_keys(struct embedded *embedded, const uint8_t digest[DIGEST_BYTES])
{
    struct embedded_signing_keys *forgotten = &embedded->forgotten;
    if (embedded->keys.arena == NULL && forgotten->arena != NULL &&
        memcmp(forgotten->digest, digest, DIGEST_BYTES) == 0) {
        embedded->keys = *forgotten;
        embedded->keys.signer = NULL;
        embedded->keys.asked = false;
    } else {
        arena_free(&forgotten->arena);
    }
    *forgotten = (struct embedded_signing_keys){.arena = NULL};
}

static struct error *adopt_keys(struct embedded *embedded, struct arena *arena, const struct key_rows *rows)
{
    struct embedded_signing_keys *keys = &embedded->keys;
    uint8_t digest[DIGEST_BYTES];
    digest_rows(arena, rows, digest);
    recall_keys(embedded, digest);
    if (!unchanged(keys, rows)) {
        struct embedded_signing_keys fresh = *keys;
        fresh.arena = arena_new();
        memcpy(fresh.digest, digest, sizeof fresh.digest);
        struct error *error = parse_keys(embedded, arena, rows, &fresh);
        if (error != NULL) {
            /* The error may lie in the arena that is freed here, so it is copied into the caller's. */
            struct error *copy = error_new(arena, ERROR_INTERNAL, "signing key: %s", error->detail);
            arena_free(&fresh.arena);
            return copy;
        }
        arena_free(&keys->arena);
        *keys = fresh;
    }
    keys->read_at = clock_monotonic();
    return NULL;
}

/* ---- making -------------------------------------------------------------------------------------- */

static struct error *make_key(struct embedded *embedded, struct arena *arena, struct signing_key_row *row_out)
{
    struct signing_key_pair pair;
    unsigned char *sealed;
    TRY(signing_key_generate(arena, &pair));
    *row_out = (struct signing_key_row){.kid = pair.kid, .public_pem = pair.public_pem};
    TRY(seal(arena, embedded->options.master, seal_purpose(arena, pair.kid), pair.private_pem.bytes,
             pair.private_pem.length, &sealed, &row_out->sealed_length));
    row_out->sealed = sealed;
    return NULL;
}

static struct error *add_key(struct database *database, struct arena *arena, const struct signing_key_row *row)
{
    TRY(signing_key_row_insert(database, arena, row));
    LOG(INFO, IDENTITY, "made a signing key", LOG_TEXT("kid", row->kid));
    return NULL;
}

/*
 * Runs `body` under a lock that all processes of all hosts share, so that only one makes a key at a time. Where `body`
 * has moved the horizon, it is set back once the lock is released.
 */
static struct error *with_lock(struct embedded *embedded, struct arena *arena,
                               struct error *(*body)(struct embedded *, struct arena *))
{
    struct database *database = embedded->options.database;
    const struct row_lock lock = row_lock_of(database, "signing-key", "", 0);
    bool held;
    TRY(row_lock_take(database, arena, &lock, LOCK_SECONDS, LOCK_PATIENCE, &held));
    if (!held)
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "another process is making a signing key");
    int64_t horizon = clock_within_horizon(0);
    struct error *error = body(embedded, arena);
    row_lock_release(database, arena, &lock);
    clock_set_horizon(horizon);
    return error;
}

static bool has_signer(const struct key_rows *rows)
{
    return rows->count > 0 && rows->items[0].current;
}

/*
 * On a slow machine a key takes longer than a check of the service may. If it were thrown away then, each check would
 * make another one, and the service would never be ready.
 */
static void allow_time_to_keep(void)
{
    int64_t until = clock_monotonic() + KEEP_MICROSECONDS;
    if (clock_within_horizon(until) < until)
        clock_set_horizon(until);
}

/* Where making the key outlasts the lock, another process may have made one meanwhile: ours is not stored then. */
static struct error *make_first(struct embedded *embedded, struct arena *arena)
{
    struct key_rows rows;
    struct signing_key_row row;
    TRY(list_keys(embedded, arena, &rows));
    if (has_signer(&rows))
        return NULL;
    TRY(make_key(embedded, arena, &row));
    allow_time_to_keep();
    TRY(list_keys(embedded, arena, &rows));
    if (has_signer(&rows))
        return NULL;
    return add_key(embedded->options.database, arena, &row);
}

/*
 * A set holds KEY_SET_KEYS keys. One more would push out the oldest, whose tokens may still be valid and would be
 * refused.
 */
static struct error *check_capacity(struct embedded *embedded, struct arena *arena)
{
    struct key_rows rows;
    TRY(list_keys(embedded, arena, &rows));
    if (rows.count < KEY_SET_KEYS)
        return NULL;
    return error_message(error_new(arena, ERROR_INTERNAL, NULL),
                         "There are %d keys whose tokens may still be valid, and another key would end those of the "
                         "oldest. It goes %d s after it was replaced; rotate again then.",
                         KEY_SET_KEYS, (int)published_seconds(embedded));
}

/* The change log last: its row is locked until the commit. */
static struct error *rotate_body(struct database *database, struct arena *arena, void *context)
{
    const struct signing_key_row *row = context;
    TRY(add_key(database, arena, row));
    TRY(signing_key_row_retire_others(database, arena, row->kid));
    return change_log_append(database, arena, CHANGE_LOG_SECRETS, "{}", NULL);
}

static struct error *make_next(struct embedded *embedded, struct arena *arena)
{
    struct signing_key_row row;
    TRY(check_capacity(embedded, arena));
    TRY(make_key(embedded, arena, &row));
    return database_transaction(embedded->options.database, arena, rotate_body, &row, NULL);
}

/* ---- reading them into use ----------------------------------------------------------------------------------- */

/* The rows of the table, of which there is at least one: the first start makes a key. */
static struct error *find_keys(struct embedded *embedded, struct arena *arena, struct key_rows *rows_out)
{
    TRY(list_keys(embedded, arena, rows_out));
    if (has_signer(rows_out))
        return NULL;
    TRY(with_lock(embedded, arena, make_first));
    TRY(list_keys(embedded, arena, rows_out));
    if (!has_signer(rows_out))
        return error_new(arena, ERROR_INTERNAL, "the signing key just made is not there");
    return NULL;
}

static struct error *read_keys(struct embedded *embedded, struct arena *arena)
{
    struct key_rows rows;
    TRY(find_keys(embedded, arena, &rows));
    return adopt_keys(embedded, arena, &rows);
}

/* ---- through the cache --------------------------------------------------------------------------- */

/* [{"kid":…,"public":…},…], the key that signs first. */
static struct error *load_public(struct arena *arena, void *context, void **bytes_out, size_t *length_out)
{
    struct key_rows rows;
    struct buffer buffer;
    struct signing_key *key;
    TRY(find_keys(context, arena, &rows));
    /* A row that nobody can use must not get into the cache: once it is corrected, it is then read at once. */
    for (size_t i = 0; i < rows.count; i++)
        TRY(signing_key_load_public(arena, rows.items[i].kid, rows.items[i].public_pem, &key));
    buffer_init(&buffer, arena);
    for (size_t i = 0; i < rows.count; i++) {
        buffer_add_text(&buffer, i == 0 ? "[{\"kid\":" : ",{\"kid\":");
        buffer_add_json_text(&buffer, rows.items[i].kid);
        buffer_add_text(&buffer, ",\"public\":");
        buffer_add_json_text(&buffer, rows.items[i].public_pem);
        buffer_add_char(&buffer, '}');
    }
    buffer_add_char(&buffer, ']');
    *bytes_out = buffer.bytes;
    *length_out = buffer.length;
    return NULL;
}

static bool read_public(struct arena *arena, const void *bytes, size_t length, struct key_rows *rows_out)
{
    struct document *document = NULL;
    rows_out->count = 0;
    if (document_parse(arena, bytes, length, &document) != NULL || document_count(document) > KEY_SET_KEYS)
        return false;
    rows_out->items = arena_array(arena, document_count(document), sizeof *rows_out->items);
    for (const struct document *key = document_first(document); key != NULL; key = document_next(key)) {
        struct signing_key_row *row = &rows_out->items[rows_out->count++];
        *row = (struct signing_key_row){.kid = document_text(document_member(key, "kid")),
                                        .public_pem = document_text(document_member(key, "public"))};
        if (row->kid == NULL || row->public_pem == NULL)
            return false;
    }
    return rows_out->count > 0;
}

static struct error *read_cached(struct embedded *embedded, struct arena *arena)
{
    const struct cache_loader loader = {load_public, embedded, CACHE_SECONDS, LEASE_SECONDS};
    struct key_rows rows;
    void *bytes;
    size_t length;
    TRY(cache_fetch(embedded->options.cache, arena, CACHE_KEYS_EMBEDDED, &loader, &bytes, &length));
    /* Whatever is wrong with what lies there, the table has the keys. */
    if (read_public(arena, bytes, length, &rows) && adopt_keys(embedded, arena, &rows) == NULL)
        return NULL;
    return read_keys(embedded, arena);
}

/* Reads the keys where it is time to. A failure is an error only while there are no keys in memory. */
static struct error *ensure_keys(struct embedded *embedded, struct arena *arena, bool stale)
{
    struct embedded_signing_keys *keys = &embedded->keys;
    bool strange = false;
    bool due = keys->arena == NULL || seconds_since(keys->read_at) >= REREAD_SECONDS;
    if (stale && (!keys->asked || seconds_since(keys->asked_at) >= STRANGE_SECONDS)) {
        keys->asked = true;
        keys->asked_at = clock_monotonic();
        strange = true;
    }
    if (!due && !strange)
        return NULL;
    bool cached = embedded->options.cache != NULL && !strange;
    struct error *error = cached ? read_cached(embedded, arena) : read_keys(embedded, arena);
    if (error == NULL || keys->arena == NULL)
        return error;
    keys->read_at = clock_monotonic();
    LOG(WARN, IDENTITY, "the signing keys could not be read; those in memory stay in use",
        LOG_TEXT("detail", error->detail));
    return NULL;
}

struct error *embedded_signing_keys_get(struct provider *provider, struct arena *arena, bool stale,
                                        const struct key_set **keys_out)
{
    struct embedded *embedded = embedded_of(provider);
    TRY(ensure_keys(embedded, arena, stale));
    *keys_out = embedded->keys.set;
    return NULL;
}

struct error *embedded_signing_keys_signer(struct embedded *embedded, struct arena *arena,
                                           const struct signing_key **key_out)
{
    /* Inside a transaction nothing is read; whoever opened it has called this function before. */
    if (embedded->keys.signer == NULL || !database_in_transaction(embedded->options.database))
        TRY(ensure_keys(embedded, arena, false));
    if (embedded->keys.signer == NULL)
        TRY(read_keys(embedded, arena));
    *key_out = embedded->keys.signer;
    return NULL;
}

struct error *embedded_signing_keys_check(struct provider *provider, struct arena *arena)
{
    struct embedded *embedded = embedded_of(provider);
    struct key_rows rows;
    struct secret pem;
    if (embedded->keys.signer != NULL || embedded->opened)
        return NULL;
    TRY(find_keys(embedded, arena, &rows));
    const struct signing_key_row *row = &rows.items[0];
    TRY(unseal(arena, embedded->options.master, seal_purpose(arena, row->kid), row->sealed, row->sealed_length, &pem));
    embedded->opened = true;
    return NULL;
}

void embedded_signing_keys_forget(struct provider *provider)
{
    struct embedded *embedded = embedded_of(provider);
    embedded->opened = false;
    if (embedded->keys.arena == NULL)
        return;
    arena_free(&embedded->forgotten.arena);
    embedded->forgotten = embedded->keys;
    embedded->keys = (struct embedded_signing_keys){.arena = NULL};
}

struct error *embedded_signing_keys_tidy(struct embedded *embedded, struct arena *arena)
{
    return signing_key_row_purge(embedded->options.database, arena, 2 * embedded->options.access_token_seconds);
}

void embedded_signing_keys_free(struct embedded *embedded)
{
    arena_free(&embedded->keys.arena);
    arena_free(&embedded->forgotten.arena);
}

struct error *embedded_signing_keys_rotate(struct provider *provider, struct arena *arena)
{
    struct embedded *embedded = embedded_of(provider);
    TRY(with_lock(embedded, arena, make_next));
    return read_keys(embedded, arena);
}
