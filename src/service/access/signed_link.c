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
#include "domain/file/link_key.h"
#include "domain/permission/principal.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/runtime/change_follower.h"
#include "service/runtime/link_key_cache.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define END_BYTES 7
#define SIGNED_BYTES (3 * ID_BYTES + END_BYTES)
#define TOKEN_BYTES (SIGNED_BYTES + DIGEST_BYTES)
#define MAKER_NEEDS "cus:file:r"  /* the permission of the operation that makes a link */
#define LABEL "gatehouse link 2:" /* keeps these signatures apart from any other use of the key */

_Static_assert(TOKEN_BYTES * 4 / 3 == SIGNED_LINK_TOKEN_CHARACTERS && TOKEN_BYTES % 3 == 0,
               "the header states the length");

/* What a link says. */
struct link {
    struct link_ids ids;
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

static struct error *make_key(struct service *service, struct arena *arena, struct id *id_out)
{
    unsigned char *bytes = arena_alloc(arena, DIGEST_BYTES);
    unsigned char *sealed;
    size_t length;
    struct id id = id_new();
    random_bytes(bytes, DIGEST_BYTES);
    TRY(seal(arena, service->master, seal_purpose(arena, id), bytes, DIGEST_BYTES, &sealed, &length));
    struct link_key row = {id, sealed, length};
    TRY(link_key_insert(service->database, arena, &row));
    LOG(INFO, FILES, "made a key for links", LOG_TEXT("key", id_text(arena, id)));
    if (id_out != NULL)
        *id_out = id;
    return NULL;
}

/* The key that signs now. When several first links are made at once, each may make a key, and all of the keys hold. */
static struct error *signing_key(struct service *service, struct arena *arena, const struct open_link_key **key_out)
{
    struct link_key *row = NULL;
    TRY(link_key_find_newest(service->database, arena, &row));
    if (row == NULL) {
        TRY(make_key(service, arena, NULL));
        TRY(link_key_find_newest(service->database, arena, &row));
    }
    if (row == NULL)
        return error_new(arena, ERROR_INTERNAL, "the link key that was just made is missing");
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
    struct id id;
    TRY(make_key(context, arena, &id));
    return link_key_delete_others(database, arena, id);
}

struct error *signed_link_keys_rotate(struct service *service, struct arena *arena)
{
    return database_transaction(service->database, arena, rotate, service, NULL);
}

/* ---- tokens -------------------------------------------------------------------------------------- */

static void sign(const struct open_link_key *key, const unsigned char bytes[SIGNED_BYTES],
                 uint8_t mac_out[DIGEST_BYTES])
{
    unsigned char text[sizeof LABEL - 1 + SIGNED_BYTES];
    memcpy(text, LABEL, sizeof LABEL - 1);
    memcpy(text + sizeof LABEL - 1, bytes, SIGNED_BYTES);
    digest_hmac((struct secret){.bytes = key->bytes, .length = DIGEST_BYTES}, text, sizeof text, mac_out);
}

static char *token_of(struct arena *arena, const struct open_link_key *key, const struct link *link)
{
    unsigned char bytes[TOKEN_BYTES];
    memcpy(bytes, link->ids.key.bytes, ID_BYTES);
    memcpy(bytes + ID_BYTES, link->ids.file.bytes, ID_BYTES);
    memcpy(bytes + 2 * ID_BYTES, link->ids.maker.bytes, ID_BYTES);
    for (unsigned i = 0; i < END_BYTES; i++)
        bytes[3 * ID_BYTES + i] = (unsigned char)((uint64_t)link->end >> (8 * (END_BYTES - 1 - i)));
    sign(key, bytes, bytes + SIGNED_BYTES);
    return base64url_encode(arena, bytes, sizeof bytes);
}

/* Splits a token; *bytes_out is all of it, decoded. False: the text is no token of a link. */
static bool parse(struct arena *arena, const char *token, struct link *link, unsigned char **bytes_out)
{
    size_t length = strnlen(token, SIGNED_LINK_TOKEN_CHARACTERS + 1);
    if (length != SIGNED_LINK_TOKEN_CHARACTERS || !base64url_decode(arena, token, length, bytes_out, &length))
        return false;
    const unsigned char *bytes = *bytes_out;
    uint64_t end = 0;
    memcpy(link->ids.key.bytes, bytes, ID_BYTES);
    memcpy(link->ids.file.bytes, bytes + ID_BYTES, ID_BYTES);
    memcpy(link->ids.maker.bytes, bytes + 2 * ID_BYTES, ID_BYTES);
    for (unsigned i = 0; i < END_BYTES; i++)
        end = end << 8 | bytes[3 * ID_BYTES + i];
    link->end = (int64_t)end;
    return true;
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
                               struct file_record **record_out)
{
    struct link link;
    unsigned char *bytes;
    struct link_target target;
    if (!parse(arena, token, &link, &bytes))
        return refuse(arena, "this is not the token of a link");
    if (link.end <= clock_now())
        return refuse(arena, "the link has expired");
    const struct open_link_key *key = link_key_cache_find(service->link_keys, link.ids.key);
    if (key != NULL)
        TRY(check(arena, key, bytes));
    TRY(link_key_find_target(service->database, arena, &link.ids, &target));
    TRY(change_follower_follow(service, arena, target.change_version));
    if (target.key == NULL)
        return refuse(arena, "the key, the file or the maker of the link does not exist any more");
    if (key == NULL) {
        TRY(adopt(service, arena, target.key, &key));
        TRY(check(arena, key, bytes));
    }
    if (!maker_reads(&target))
        return refuse(arena, "the maker of the link may not read the file any more");
    *record_out = target.file;
    return NULL;
}

struct error *signed_link_make(struct service *service, struct arena *arena, const struct caller *caller,
                               const struct file_record *record, int64_t seconds, const char **url_out,
                               const char **ends_at_out)
{
    const struct open_link_key *key;
    if (record->status != FILE_ACTIVE)
        return error_plain(arena, ERROR_FILE_ARCHIVED);
    TRY(signing_key(service, arena, &key));
    struct link link = {.ids = {.key = key->id, .file = record->id, .maker = caller->principal->user.id},
                        .end = clock_now() + seconds * 1000};
    char *ends_at = arena_alloc(arena, CLOCK_TEXT_BYTES);
    clock_format(link.end, ends_at);
    struct audit_entry entry = {
        .action = "file.link",
        .organisation_id = record->organisation_id,
        .target_type = "file",
        .target_id = id_text(arena, record->id),
        .details = arena_format(arena, "{\"expiresAt\":\"%s\"}", ends_at),
    };
    TRY(caller_audit(service, arena, caller, &entry));
    *url_out = arena_format(arena, "%s" SIGNED_LINK_PATH "%s", service->configuration->service.base_url,
                            token_of(arena, key, &link));
    *ends_at_out = ends_at;
    return NULL;
}
