/* SPDX-License-Identifier: MIT */
/* Signs links to files, and verifies the links that come back. */
#include "service/access/signed_link.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/log.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "codec/random.h"
#include "codec/seal.h"
#include "domain/audit.h"
#include "domain/file/file.h"
#include "domain/file/file_link.h"
#include "domain/file/link_key.h"
#include "domain/permission/principal.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/runtime/change_follower.h"
#include "service/runtime/link_key_cache.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define MAKER_NEEDS "cus:file:r" /* the permission of the operation that makes a link */

/* The label keeps the signature of a token apart from any other use of the key. */
#define LABEL "gatehouse link 3:"
#define END_BYTES 8
#define SIGNED_BYTES (2 * ID_BYTES + END_BYTES)
#define TOKEN_BYTES (SIGNED_BYTES + DIGEST_BYTES)

_Static_assert(TOKEN_BYTES * 4 / 3 == SIGNED_LINK_TOKEN_CHARACTERS && TOKEN_BYTES % 3 == 0,
               "the header states the length");

/* What a link says. `row` names the file and the maker. */
struct link {
    struct id key;
    struct id row;
    int64_t end;
};

/* ---- keys ---------------------------------------------------------------------------------------- */

static const char *seal_purpose(struct arena *arena, struct id id)
{
    return arena_format(arena, "link-key:%s", id_text(arena, id));
}

/* Opens a sealed key and keeps it; *key_out is the cache's. */
static struct error *adopt(struct service *service, struct arena *arena, const struct link_key *row,
                           const struct open_link_key **key_out)
{
    struct secret secret;
    *key_out = link_key_cache_find(service->link_keys, row->id);
    if (*key_out != NULL)
        return NULL;
    TRY(unseal(arena, service->master, seal_purpose(arena, row->id), row->sealed, row->length, &secret));
    if (secret.length != DIGEST_BYTES)
        return error_new(arena, ERROR_INTERNAL, "the link key %s has %zu bytes", id_text(arena, row->id),
                         secret.length);
    *key_out = link_key_cache_add(service->link_keys, row->id, secret.bytes);
    return NULL;
}

static struct error *make_key(struct service *service, struct arena *arena, struct link_key *key_out)
{
    unsigned char *bytes = arena_alloc(arena, DIGEST_BYTES);
    unsigned char *sealed;
    size_t length;
    struct id id = id_new();
    random_bytes(bytes, DIGEST_BYTES);
    TRY(seal(arena, service->master, seal_purpose(arena, id), bytes, DIGEST_BYTES, &sealed, &length));
    *key_out = (struct link_key){id, sealed, length};
    TRY(link_key_insert(service->database, arena, key_out));
    LOG(INFO, FILES, "made a key for links", LOG_TEXT("key", id_text(arena, id)));
    return NULL;
}

/* The key that signs now. When several first links are made at once, each may make a key, and all of the keys hold. */
static struct error *signing_key(struct service *service, struct arena *arena, const struct open_link_key **key_out)
{
    struct link_key made;
    struct link_key *row = NULL;
    TRY(link_key_find_newest(service->database, arena, &row));
    if (row == NULL) {
        TRY(make_key(service, arena, &made));
        row = &made;
    }
    return adopt(service, arena, row, key_out);
}

struct error *signed_link_keys_open(struct service *service, struct arena *arena)
{
    struct link_key *row = NULL;
    const struct open_link_key *key;
    TRY(link_key_find_newest(service->database, arena, &row));
    return row == NULL ? NULL : adopt(service, arena, row, &key);
}

static struct error *rotate(struct database *database, struct arena *arena, void *context)
{
    struct link_key made;
    TRY(make_key(context, arena, &made));
    return link_key_delete_others(database, arena, made.id);
}

struct error *signed_link_keys_rotate(struct service *service, struct arena *arena)
{
    return database_transaction(service->database, arena, rotate, service, NULL);
}

/* ---- tokens -------------------------------------------------------------------------------------- */

static void sign(const struct open_link_key *key, const unsigned char *bytes, uint8_t mac_out[DIGEST_BYTES])
{
    unsigned char text[sizeof LABEL - 1 + SIGNED_BYTES];
    memcpy(text, LABEL, sizeof LABEL - 1);
    memcpy(text + sizeof LABEL - 1, bytes, SIGNED_BYTES);
    digest_hmac((struct secret){.bytes = key->bytes, .length = DIGEST_BYTES}, text, sizeof text, mac_out);
}

static char *token_of(struct arena *arena, const struct open_link_key *key, const struct link *link)
{
    unsigned char bytes[TOKEN_BYTES];
    memcpy(bytes, link->key.bytes, ID_BYTES);
    memcpy(bytes + ID_BYTES, link->row.bytes, ID_BYTES);
    for (unsigned i = 0; i < END_BYTES; i++)
        bytes[2 * ID_BYTES + i] = (unsigned char)((uint64_t)link->end >> (8 * (END_BYTES - 1 - i)));
    sign(key, bytes, bytes + SIGNED_BYTES);
    return base64url_encode(arena, bytes, sizeof bytes);
}

/* Splits a token; *bytes_out is all of it, decoded. False: the text is no token of a link. */
static bool parse(struct arena *arena, const char *token, struct link *link, unsigned char **bytes_out)
{
    uint64_t end = 0;
    size_t length = strnlen(token, SIGNED_LINK_TOKEN_CHARACTERS + 1);
    if (length != SIGNED_LINK_TOKEN_CHARACTERS || !base64url_decode(arena, token, length, bytes_out, &length))
        return false;
    memcpy(link->key.bytes, *bytes_out, ID_BYTES);
    memcpy(link->row.bytes, *bytes_out + ID_BYTES, ID_BYTES);
    for (unsigned i = 0; i < END_BYTES; i++)
        end = end << 8 | (*bytes_out)[2 * ID_BYTES + i];
    link->end = (int64_t)end;
    return !id_is_none(link->row);
}

static struct error *refuse(struct arena *arena, const char *reason)
{
    return error_new(arena, ERROR_LINK_INVALID, "%s", reason);
}

static struct error *check(struct arena *arena, const struct open_link_key *key, const unsigned char *bytes)
{
    uint8_t mac[DIGEST_BYTES];
    sign(key, bytes, mac);
    return digest_equal(mac, bytes + SIGNED_BYTES) ? NULL : refuse(arena, "the signature of the link is wrong");
}

/* Whether the maker of the link may read the file now. */
static bool maker_reads(const struct link_target *target)
{
    const struct principal *maker = target->maker;
    return principal_is_active(maker) && principal_holds(maker, MAKER_NEEDS) &&
           (id_equal(maker->organisation.id, target->file->organisation_id) ||
            principal_administers(maker, MAKER_NEEDS));
}

struct error *signed_link_open(struct service *service, struct arena *arena, const char *token,
                               struct file_record **record_out, struct id *link_out, struct id *maker_out)
{
    struct link link;
    unsigned char *bytes;
    struct link_target target;
    if (!parse(arena, token, &link, &bytes))
        return refuse(arena, "this is not the token of a link");
    if (link.end <= clock_now())
        return refuse(arena, "the link has expired");
    const struct open_link_key *key = link_key_cache_find(service->link_keys, link.key);
    if (key != NULL)
        TRY(check(arena, key, bytes));
    TRY(file_link_find_target(service->database, arena, link.key, link.row, &target));
    TRY(change_follower_follow(service, arena, target.change_version));
    if (target.key == NULL)
        return refuse(arena, "the link was revoked, or its key, its file or its maker does not exist any more");
    if (key == NULL) {
        TRY(adopt(service, arena, target.key, &key));
        TRY(check(arena, key, bytes));
    }
    if (!maker_reads(&target))
        return refuse(arena, "the maker of the link may not read the file any more");
    *record_out = target.file;
    *link_out = link.row;
    *maker_out = target.maker->user.id;
    return NULL;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* A link and what is done with its row in a transaction. */
struct link_change {
    struct service *service;
    const struct caller *caller;
    const struct file_record *record;
    struct id id;
    int64_t end;         /* making: milliseconds */
    const char *ends_at; /* making: the same as text */
    bool found;          /* revoking */
};

static struct error *write_audit(const struct link_change *change, struct arena *arena, const char *action,
                                 const char *details)
{
    struct audit_entry entry = {
        .action = action,
        .organisation_id = change->record->organisation_id,
        .target_type = "file",
        .target_id = id_text(arena, change->record->id),
        .details = details,
    };
    return caller_audit(change->service, arena, change->caller, &entry);
}

static struct error *insert(struct database *database, struct arena *arena, void *context)
{
    const struct link_change *change = context;
    const struct file_link row = {
        .id = change->id,
        .organisation_id = change->record->organisation_id,
        .file_id = change->record->id,
        .user_id = change->caller->principal->user.id,
    };
    TRY(file_link_insert(database, arena, &row, change->end));
    return write_audit(
        change, arena, "file.link",
        arena_format(arena, "{\"expiresAt\":\"%s\",\"linkId\":\"%s\"}", change->ends_at, id_text(arena, change->id)));
}

struct error *signed_link_make(struct service *service, struct arena *arena, const struct caller *caller,
                               const struct file_record *record, int64_t seconds, const char **url_out,
                               const char **ends_at_out)
{
    const struct open_link_key *key;
    if (record->status != FILE_ACTIVE)
        return error_plain(arena, ERROR_FILE_ARCHIVED);
    TRY(signing_key(service, arena, &key));
    struct link_change change = {service, caller, record, id_new(), clock_now() + seconds * 1000, NULL, false};
    struct link link = {.key = key->id, .row = change.id, .end = change.end};
    char *ends_at = arena_alloc(arena, CLOCK_TEXT_BYTES);
    clock_format(link.end, ends_at);
    change.ends_at = ends_at;
    TRY(database_transaction(service->database, arena, insert, &change, NULL));
    *url_out = arena_format(arena, "%s" SIGNED_LINK_PATH "%s", service->configuration->service.base_url,
                            token_of(arena, key, &link));
    *ends_at_out = ends_at;
    return NULL;
}

static struct error *delete_row(struct database *database, struct arena *arena, void *context)
{
    struct link_change *change = context;
    TRY(file_link_delete(database, arena, change->record->organisation_id, change->record->id, change->id,
                         &change->found));
    if (!change->found)
        return NULL;
    return write_audit(change, arena, "file.unlink",
                       arena_format(arena, "{\"linkId\":\"%s\"}", id_text(arena, change->id)));
}

struct error *signed_link_revoke(struct service *service, struct arena *arena, const struct caller *caller,
                                 const struct file_record *record, struct id link)
{
    struct link_change change = {service, caller, record, link, 0, NULL, false};
    TRY(database_transaction(service->database, arena, delete_row, &change, NULL));
    if (change.found)
        return NULL;
    return error_entry(error_plain(arena, ERROR_LINK_UNKNOWN), "linkId", "unknown",
                       "is not the id of a link to the file");
}

/* ---- counting ------------------------------------------------------------------------------------ */

struct use {
    struct service *service;
    struct id link;
};

static void count_use(void *context)
{
    const struct use *use = context;
    struct arena *arena = arena_new();
    struct error *error = file_link_count(use->service->database, arena, use->link);
    if (error != NULL)
        LOG(WARN, FILES, "the use of a link was not counted", LOG_TEXT("link", id_text(arena, use->link)),
            LOG_TEXT("detail", error->detail));
    arena_free(&arena);
}

void signed_link_count(struct service *service, struct arena *arena, struct id link)
{
    struct use *use = arena_alloc(arena, sizeof *use);
    *use = (struct use){service, link};
    arena_defer(arena, count_use, use);
}
