/* SPDX-License-Identifier: MIT */
/*
 * Bytes that arrive in pieces, in an S3 store. What is durable of them are objects of their own:
 *
 *     <prefix>partial/<32 hex digits of the id>/<first byte>-<end>
 *
 * one for each whole part, and one for the tail, which is no whole part yet. The next piece fetches the tail to the
 * spool, so that parts are all of the same length. In the end the store copies the parts by itself into the object of
 * the blob. An upload in parts of the protocol (multipart.c) could not do it: nobody may read its parts before it is
 * complete, and the virus scanner has to.
 *
 * There is no lock: who writes is for the caller to decide. A writer that was given up may still send an object. It
 * replaces none, by its condition; where its bytes came first and are others, those of the present writer replace them.
 * What belongs to no acknowledged byte goes when the next writer begins.
 */
#include "blob/partial.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "blob/blob.h"
#include "blob/s3/s3_int.h"
#include "codec/encoding.h"

#define FETCH_BYTES ((size_t)1024 * 1024)
#define PUT_TRIES 2

static const char *folder_of(struct arena *arena, struct id id)
{
    char hex[ID_HEX_BYTES];
    id_hex(id, hex);
    return arena_format(arena, S3_PARTIAL "%s/", hex);
}

/* ---- removing ------------------------------------------------------------------------------------- */

static struct error *remove_name(struct s3 *s3, struct arena *arena, const char *name)
{
    struct arena *scratch = arena_new();
    struct error *error = s3_keep_error(arena, s3_remove_key(s3, scratch, s3_key_of(s3, scratch, name)));
    arena_free(&scratch);
    return error;
}

/* For what the next writer or the end of the upload removes otherwise. */
static void remove_or_log(struct s3 *s3, struct arena *arena, const char *name)
{
    struct error *error = remove_name(s3, arena, name);
    if (error != NULL)
        LOG(WARN, BLOB, "a former tail of an upload was left for later", LOG_TEXT("detail", error->detail));
}

struct removal {
    struct s3 *s3;
    struct arena *arena;
};

static struct error *remove_found(void *context, const struct s3_object *object)
{
    const struct removal *removal = context;
    return remove_name(removal->s3, removal->arena, object->key);
}

static struct error *remove_bytes(struct blob_store *store, struct arena *arena, struct id id)
{
    struct removal removal = {s3_of(store), arena};
    return s3_each_object(removal.s3, arena, folder_of(arena, id), remove_found, &removal);
}

/* ---- beginning ------------------------------------------------------------------------------------ */

/* The first bytes make the first object. */
static struct error *create(struct blob_store *store, struct arena *arena, struct id id)
{
    (void)store;
    (void)arena;
    (void)id;
    return NULL;
}

static struct error *open_bytes(struct blob_store *store, struct arena *arena, struct id id, void **state_out,
                                enum blob_partial_state *outcome_out)
{
    struct s3_pending *pending = arena_alloc(arena, sizeof *pending);
    (void)store;
    *pending = (struct s3_pending){.folder = folder_of(arena, id)};
    *state_out = pending;
    *outcome_out = BLOB_PARTIAL_OPEN;
    return NULL;
}

/* Compares the objects that are there with those that must be. */
struct inventory {
    struct s3 *s3;
    struct arena *arena;
    const char *folder;
    uint64_t size;
    uint64_t found; /* bytes from the first one on */
};

static struct error *see_object(void *context, const struct s3_object *object)
{
    struct inventory *inventory = context;
    struct arena *scratch = arena_new();
    uint64_t left = inventory->size - inventory->found;
    uint64_t part = left < inventory->s3->part_bytes ? left : inventory->s3->part_bytes;
    const char *wanted = s3_piece_name(scratch, inventory->folder, inventory->found, inventory->found + part);
    bool good = part > 0 && strcmp(object->key, wanted) == 0 && object->size == (int64_t)part;
    arena_free(&scratch);
    if (!good)
        return remove_name(inventory->s3, inventory->arena, object->key);
    inventory->found += part;
    return NULL;
}

/* Brings the tail to the spool. */
static struct error *fetch_tail(struct s3 *s3, struct arena *scratch, const struct s3_pending *pending, uint64_t end)
{
    struct blob_store *spool = s3->spool;
    const char *key = s3_piece_key(s3, scratch, pending->folder, pending->first, end);
    unsigned char *block = arena_alloc(scratch, FETCH_BYTES);
    for (uint64_t at = pending->first; at < end;) {
        size_t length = end - at < FETCH_BYTES ? (size_t)(end - at) : FETCH_BYTES;
        TRY(s3_get(s3, scratch, key, at - pending->first, block, length));
        TRY(spool->functions->write(spool, scratch, pending->spool, block, length));
        at += length;
    }
    return NULL;
}

static struct error *go_on(struct blob_store *store, struct arena *arena, void *state, uint64_t size, bool *there_out)
{
    struct s3 *s3 = s3_of(store);
    struct s3_pending *pending = state;
    struct inventory inventory = {.s3 = s3, .arena = arena, .folder = pending->folder, .size = size};
    TRY(s3_each_object(s3, arena, pending->folder, see_object, &inventory));
    *there_out = inventory.found == size;
    if (!*there_out)
        return NULL;
    pending->first = size - size % s3->part_bytes;
    pending->written = size;
    TRY(s3->spool->functions->begin(s3->spool, arena, &pending->spool));
    if (size == pending->first)
        return NULL;
    pending->tails[1] = (struct s3_tail){pending->first, size};
    struct arena *scratch = arena_new();
    struct error *error = s3_keep_error(arena, fetch_tail(s3, scratch, pending, size));
    arena_free(&scratch);
    return error;
}

/* ---- writing -------------------------------------------------------------------------------------- */

/* An object of the spool's bytes. */
struct piece {
    const char *key;
    uint64_t length;
    const char *digest;
};

/* What became of bytes that may have arrived. *done_out: they are there, or no other try can help. */
static struct error *resolve_piece(struct s3 *s3, struct arena *scratch, const struct piece *piece, bool refused,
                                   struct s3_source *source, struct error *error, bool *done_out)
{
    struct blob_found found;
    bool there = false;
    *done_out = s3_look_at(s3, scratch, piece->key, true, &found, &there) != NULL || (!there && !refused);
    if (*done_out)
        return error;
    /* A name without an object is left by a server of the store that died. */
    source->replaces = !there;
    if (!there)
        return error;
    *done_out = found.size == piece->length && found.has_digest &&
                strcmp(hex_encode(scratch, found.digest, DIGEST_BYTES), piece->digest) == 0;
    if (*done_out)
        return NULL;
    struct error *stuck = s3_remove_key(s3, scratch, piece->key);
    *done_out = stuck != NULL;
    return stuck != NULL ? stuck : error;
}

/* Sends what the spool has as an object. */
static struct error *send_bytes(struct s3 *s3, struct arena *scratch, const struct s3_pending *pending)
{
    struct piece piece = {.key = s3_piece_key(s3, scratch, pending->folder, pending->first, pending->written),
                          .length = pending->written - pending->first};
    struct s3_source source = {.s3 = s3, .arena = scratch, .state = pending->spool};
    struct error *error = NULL;
    bool done = false;
    TRY(s3_digest_spool(s3, scratch, pending->spool, 0, piece.length, &piece.digest));
    for (unsigned try = 0; try < PUT_TRIES && !done; try++) {
        struct s3_reply reply;
        error = s3_put(s3, &source, piece.key, piece.length, piece.digest, &reply);
        if (error == NULL && reply.answer.status == 200)
            return NULL;
        bool refused = error == NULL && reply.answer.status == 412;
        bool doubtful = error != NULL || refused || reply.doubtful;
        if (error == NULL)
            error = s3_refusal(s3, scratch, &reply, "to store a part of an upload");
        if (!doubtful)
            return error;
        error = resolve_piece(s3, scratch, &piece, refused, &source, error, &done);
    }
    return error;
}

static struct error *send_object(struct s3 *s3, struct arena *arena, const struct s3_pending *pending)
{
    struct arena *scratch = arena_new();
    struct error *error = s3_keep_error(arena, send_bytes(s3, scratch, pending));
    arena_free(&scratch);
    return error;
}

/* The part in the spool is whole. */
static struct error *end_part(struct s3 *s3, struct arena *arena, struct s3_pending *pending)
{
    struct blob_store *spool = s3->spool;
    if (pending->written / s3->part_bytes >= S3_PARTS_MAX)
        return error_message(error_plain(arena, ERROR_TOO_LARGE), "The file store takes no files that large.");
    TRY(send_object(s3, arena, pending));
    spool->functions->abort(spool, pending->spool);
    pending->spool = NULL;
    pending->first = pending->written;
    return spool->functions->begin(spool, arena, &pending->spool);
}

static struct error *write_bytes(struct blob_store *store, struct arena *arena, void *state, const void *bytes,
                                 size_t length)
{
    struct s3 *s3 = s3_of(store);
    struct s3_pending *pending = state;
    const unsigned char *from = bytes;
    while (length > 0) {
        uint64_t free_bytes = pending->first + s3->part_bytes - pending->written;
        size_t step = length < free_bytes ? length : (size_t)free_bytes;
        TRY(s3_write(store, arena, state, from, step));
        from += step;
        length -= step;
        if (step == free_bytes)
            TRY(end_part(s3, arena, pending));
    }
    return NULL;
}

/*
 * The caller has noted the size of the last call by now, so that the tail before that one is not asked for any more.
 */
static struct error *sync_bytes(struct blob_store *store, struct arena *arena, void *state)
{
    struct s3 *s3 = s3_of(store);
    struct s3_pending *pending = state;
    struct s3_tail tail = {pending->first, pending->written};
    const struct s3_tail *former = &pending->tails[0];
    if (tail.end == pending->tails[1].end)
        return NULL;
    if (tail.end == tail.first)
        tail.end = 0;
    else
        TRY(send_object(s3, arena, pending));
    if (former->end != 0)
        remove_or_log(s3, arena, s3_piece_name(arena, pending->folder, former->first, former->end));
    pending->tails[0] = pending->tails[1];
    pending->tails[1] = tail;
    return NULL;
}

/* ---- keeping house -------------------------------------------------------------------------------- */

/* The objects of one upload follow each other in the list. */
struct listing {
    struct error *(*visit)(void *context, const struct blob_partial_found *found);
    void *context;
    struct blob_partial_found found;
    bool any;
};

static struct error *end_listed(struct listing *listing)
{
    bool any = listing->any;
    listing->any = false;
    return any ? listing->visit(listing->context, &listing->found) : NULL;
}

static struct error *list_object(void *context, const struct s3_object *object)
{
    struct listing *listing = context;
    struct id id;
    char hex[ID_HEX_BYTES];
    (void)snprintf(hex, sizeof hex, "%s", object->key + strlen(S3_PARTIAL));
    if (!blob_id_of(hex, &id) || object->key[strlen(S3_PARTIAL) + ID_HEX_BYTES - 1] != '/')
        return NULL;
    if (listing->any && !id_equal(id, listing->found.id))
        TRY(end_listed(listing));
    if (!listing->any)
        listing->found = (struct blob_partial_found){.id = id};
    listing->any = true;
    listing->found.size += (uint64_t)object->size;
    if (object->modified > listing->found.modified)
        listing->found.modified = object->modified;
    return NULL;
}

static struct error *each(struct blob_store *store, struct arena *arena,
                          struct error *(*visit)(void *context, const struct blob_partial_found *found), void *context)
{
    struct listing listing = {.visit = visit, .context = context};
    TRY(s3_each_object(s3_of(store), arena, S3_PARTIAL, list_object, &listing));
    return end_listed(&listing);
}

const struct blob_partial_functions s3_partials = {
    .create = create,
    .open = open_bytes,
    .go_on = go_on,
    .write = write_bytes,
    .sync = sync_bytes,
    .close = s3_abort,
    .remove = remove_bytes,
    .each = each,
};
