/* SPDX-License-Identifier: MIT */
/*
 * Signing keys. They lie in identity_signing_key, the private half sealed under the service's secret and the
 * key's own kid, and are shared by all workers of all hosts. The newest key that is not retired signs; a
 * retired one stays in the published set until the last token it can have signed has expired.
 *
 * Parsing a key is dear, so a process keeps what it read and reads the table again when REREAD_SECONDS have
 * passed, or when a token came that no key opens, but that at most once in STRANGE_SECONDS: a flood of
 * made-up tokens costs nothing. When the table cannot be read, what was read before goes on.
 */
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "codec/seal.h"
#include "codec/signing_key.h"
#include "identity/embedded_int.h"

#define REREAD_SECONDS 300
#define STRANGE_SECONDS 30
#define LOCK_WAIT_SECONDS 4

static int64_t seconds_since(int64_t monotonic)
{
    return (clock_monotonic() - monotonic) / 1000000;
}

static const char *seal_purpose(struct arena *arena, const char *kid)
{
    return arena_format(arena, "signing-key:%s", kid);
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* Newest first, those in use before the retired. A worker may sign with a retired key until it reads again.
 */
static const struct statement list_keys = {
    "SELECT kid, private_key_sealed, public_key, retired_at IS NULL FROM identity_signing_key"
    " WHERE retired_at IS NULL OR retired_at > UTC_TIMESTAMP(3) - INTERVAL ? SECOND"
    " ORDER BY retired_at IS NOT NULL, created_at DESC, kid LIMIT ?"};

static struct error *query_keys(struct embedded *embedded, struct arena *arena, struct rows **rows_out)
{
    int64_t published = embedded->options.access_token_seconds + REREAD_SECONDS + 60;
    return database_query(embedded->options.database, arena, &list_keys,
                          VALUES(database_integer(published), database_integer(KEY_SET_KEYS)), rows_out);
}

/* Whether the table holds what the process has in memory, so that nothing need be parsed. */
static bool unchanged(const struct embedded_keys *keys, const struct rows *rows)
{
    if (keys->arena == NULL || rows->count != key_set_count(keys->set))
        return false;
    if (strcmp(keys->signer_kid, rows_text(rows, 0, 0)) != 0)
        return false;
    for (size_t i = 0; i < rows->count; i++) {
        const char *kid = rows_text(rows, i, 0);
        if (key_set_find(keys->set, kid, strlen(kid)) == NULL)
            return false;
    }
    return true;
}

/* Parses all keys into `keys`, which has an arena of its own. */
static struct error *parse_keys(struct embedded *embedded, struct arena *arena, const struct rows *rows,
                                struct embedded_keys *keys)
{
    size_t length;
    struct secret pem;
    struct signing_key *key;
    keys->set = key_set_new(keys->arena);
    for (size_t i = 0; i < rows->count; i++) {
        const char *kid = arena_text(keys->arena, rows_text(rows, i, 0));
        if (i > 0) {
            TRY(signing_key_load_public(keys->arena, kid, rows_text(rows, i, 2), &key));
        } else {
            const void *sealed = rows_bytes(rows, i, 1, &length);
            TRY(unseal(arena, embedded->options.master, seal_purpose(arena, kid), sealed, length, &pem));
            TRY(signing_key_load_private(keys->arena, kid, pem, &key));
            keys->signer = key;
            keys->signer_kid = kid;
        }
        TRY(key_set_add(keys->set, key));
    }
    return NULL;
}

static struct error *adopt_keys(struct embedded *embedded, struct arena *arena, const struct rows *rows)
{
    struct embedded_keys *keys = &embedded->keys;
    if (!unchanged(keys, rows)) {
        struct embedded_keys fresh = *keys;
        fresh.arena = arena_new();
        struct error *error = parse_keys(embedded, arena, rows, &fresh);
        if (error != NULL) {
            /* What the error says lies in the caller's arena or in this one; only the first may go on. */
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

static const struct statement take_lock = {
    "SELECT GET_LOCK(SHA2(CONCAT(DATABASE(), '/signing-key'), 256), ?)"};
static const struct statement give_lock = {
    "SELECT RELEASE_LOCK(SHA2(CONCAT(DATABASE(), '/signing-key'), 256))"};

static const struct statement insert_key = {
    "INSERT INTO identity_signing_key (kid, private_key_sealed, public_key) VALUES (?, ?, ?)"};
static const struct statement retire_keys = {
    "UPDATE identity_signing_key SET retired_at = UTC_TIMESTAMP(3) WHERE retired_at IS NULL AND kid <> ?"};

static struct error *make_key(struct embedded *embedded, struct arena *arena, const char **kid_out)
{
    struct signing_key_pair pair;
    unsigned char *sealed;
    size_t length;
    TRY(signing_key_generate(arena, &pair));
    TRY(seal(arena, embedded->options.master, seal_purpose(arena, pair.kid), pair.private_pem.bytes,
             pair.private_pem.length, &sealed, &length));
    TRY(database_change(
        embedded->options.database, arena, &insert_key,
        VALUES(database_text(pair.kid), database_bytes(sealed, length), database_text(pair.public_pem)),
        NULL));
    LOG(INFO, IDENTITY, "made a signing key", LOG_TEXT("kid", pair.kid));
    *kid_out = pair.kid;
    return NULL;
}

/* Runs `body` while no other process makes a key. */
static struct error *with_lock(struct embedded *embedded, struct arena *arena,
                               struct error *(*body)(struct embedded *, struct arena *))
{
    struct rows *rows;
    TRY(database_query(embedded->options.database, arena, &take_lock,
                       VALUES(database_integer(LOCK_WAIT_SECONDS)), &rows));
    if (!rows_boolean(rows, 0, 0))
        return error_new(arena, ERROR_IDENTITY_UNAVAILABLE, "another process is making a signing key");
    struct error *error = body(embedded, arena);
    struct error *unlock = database_query(embedded->options.database, arena, &give_lock, NO_VALUES, &rows);
    return error != NULL ? error : unlock;
}

static bool has_signer(const struct rows *rows)
{
    return rows->count > 0 && rows_boolean(rows, 0, 3);
}

static struct error *make_first(struct embedded *embedded, struct arena *arena)
{
    struct rows *rows;
    const char *kid;
    TRY(query_keys(embedded, arena, &rows));
    return has_signer(rows) ? NULL : make_key(embedded, arena, &kid);
}

static struct error *make_next(struct embedded *embedded, struct arena *arena)
{
    const char *kid;
    struct change change;
    TRY(make_key(embedded, arena, &kid));
    return database_change(embedded->options.database, arena, &retire_keys, VALUES(database_text(kid)),
                           &change);
}

/* ---- the faces ----------------------------------------------------------------------------------- */

static struct error *read_keys(struct embedded *embedded, struct arena *arena)
{
    struct rows *rows;
    TRY(query_keys(embedded, arena, &rows));
    if (!has_signer(rows)) {
        TRY(with_lock(embedded, arena, make_first));
        TRY(query_keys(embedded, arena, &rows));
        if (!has_signer(rows))
            return error_new(arena, ERROR_INTERNAL, "the signing key just made is not there");
    }
    return adopt_keys(embedded, arena, rows);
}

/* Reads where it is time to; a failure counts only when there is nothing to go on with. */
static struct error *ensure_keys(struct embedded *embedded, struct arena *arena, bool stale)
{
    struct embedded_keys *keys = &embedded->keys;
    bool due = keys->arena == NULL || seconds_since(keys->read_at) >= REREAD_SECONDS;
    if (stale && (!keys->asked || seconds_since(keys->asked_at) >= STRANGE_SECONDS)) {
        keys->asked = true;
        keys->asked_at = clock_monotonic();
        due = true;
    }
    if (!due)
        return NULL;
    struct error *error = read_keys(embedded, arena);
    if (error == NULL || keys->arena == NULL)
        return error;
    keys->read_at = clock_monotonic();
    LOG(WARN, IDENTITY, "the signing keys could not be read; going on with those in memory",
        LOG_TEXT("detail", error->detail));
    return NULL;
}

struct error *embedded_keys_get(struct provider *provider, struct arena *arena, bool stale,
                                const struct key_set **keys_out)
{
    struct embedded *embedded = embedded_of(provider);
    TRY(ensure_keys(embedded, arena, stale));
    *keys_out = embedded->keys.set;
    return NULL;
}

struct error *embedded_signer(struct embedded *embedded, struct arena *arena,
                              const struct signing_key **key_out)
{
    /* Inside a transaction nothing is read: whoever opened it has asked before. */
    if (embedded->keys.arena == NULL || !database_in_transaction(embedded->options.database))
        TRY(ensure_keys(embedded, arena, false));
    *key_out = embedded->keys.signer;
    return NULL;
}

void embedded_forget(struct provider *provider)
{
    struct embedded *embedded = embedded_of(provider);
    arena_free(&embedded->keys.arena);
    embedded->keys = (struct embedded_keys){.arena = NULL};
}

struct error *embedded_rotate_keys(struct provider *provider, struct arena *arena)
{
    struct embedded *embedded = embedded_of(provider);
    TRY(with_lock(embedded, arena, make_next));
    return read_keys(embedded, arena);
}
