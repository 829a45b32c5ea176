/* SPDX-License-Identifier: MIT */
/*
 * Receives a piece of an upload. Bytes go into the store as they come. From time to time they are made durable, and
 * only then the row says so: what a client is told of is there after any crash. The writer renews its hold while it
 * waits for the client, and makes sure before each write that the hold is young. It renews it as well while it makes a
 * file of the bytes, which takes long where the store is elsewhere or a virus scanner reads them. The lock of a store
 * that has locks keeps others out anyway.
 *
 * The last bytes are never noted in the row by themselves: either the file is stored with them, or the client is told
 * of the point before and sends them again. So there is no upload that has all its bytes and waits for nobody.
 */
#include <stddef.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/limits.h"
#include "blob/blob.h"
#include "blob/partial.h"
#include "domain/file/file.h"
#include "domain/file/file_usage.h"
#include "http/request.h"
#include "service/access/caller.h"
#include "service/file/resumable.h"
#include "service/file/resumable_int.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define RENEW_MICROSECONDS INT64_C(5000000)
/* So much may be written before it is made durable. */
#define SAVE_BYTES ((int64_t)32 * 1024 * 1024)
/* So much is waited for at a time: the slowest line that is served brings it before the hold is over. */
#define STEP_BYTES ((size_t)32 * 1024)
/* By so much the reservation of an upload grows whose length nobody knows yet. */
#define RESERVE_BYTES ((int64_t)8 * 1024 * 1024)

static bool is_complete(const struct resumable *resumable)
{
    return resumable->written == resumable->upload->length;
}

/* Makes durable what may be told of, and renews the hold. */
static struct error *save(struct resumable *resumable)
{
    struct file_upload *upload = resumable->upload;
    bool held = false;
    if (resumable->written > upload->received && resumable->piece_digest == NULL && !is_complete(resumable)) {
        TRY(blob_partial_sync(resumable->partial));
        upload->received = resumable->written;
        running_digest_save(resumable->digest, upload->digest);
    }
    TRY(file_upload_save(resumable->service->database, resumable->arena, upload, resumable->holder,
                         RESUMABLE_HOLD_SECONDS, &held));
    resumable->renewed = clock_monotonic();
    return held ? NULL : resumable_locked(resumable->arena);
}

/* ---- the reservation ----------------------------------------------------------------------------- */

struct reservation {
    const struct resumable *resumable;
    struct file_upload wanted;
};

static struct error *reserve_row(struct database *database, struct arena *arena, void *context)
{
    const struct reservation *order = context;
    bool held = false;
    bool exceeded = false;
    struct file_usage more = {.bytes = order->wanted.reserved - order->resumable->upload->reserved};
    struct id organisation = order->wanted.organisation_id;
    TRY(file_upload_reserve(database, arena, &order->wanted, order->resumable->holder, &held));
    if (!held)
        return resumable_locked(arena);
    if (more.bytes < 0)
        return file_usage_release(database, arena, organisation, (struct file_usage){.bytes = -more.bytes});
    TRY(file_usage_take(database, arena, organisation, more, &exceeded));
    return exceeded ? error_plain(arena, ERROR_QUOTA_EXCEEDED) : NULL;
}

static struct error *reserve(struct resumable *resumable, int64_t length, int64_t reserved)
{
    struct reservation order = {resumable, *resumable->upload};
    order.wanted.length = length;
    order.wanted.reserved = reserved;
    TRY(database_transaction(resumable->service->database, resumable->arena, reserve_row, &order, NULL));
    resumable->upload->length = length;
    resumable->upload->reserved = reserved;
    return NULL;
}

static struct error *too_large(const struct resumable *resumable, int64_t most)
{
    return error_message(error_plain(resumable->arena, ERROR_TOO_LARGE),
                         "The upload has %lld bytes at most, and this piece has more than are left.", (long long)most);
}

/* Whether the upload may have `bytes` bytes, and the organisation has room for them. */
static struct error *make_room(struct resumable *resumable, int64_t bytes)
{
    const struct file_upload *upload = resumable->upload;
    int64_t most = resumable->service->configuration->service.max_file_bytes;
    if (upload->length != FILE_UPLOAD_LENGTH_UNKNOWN)
        most = upload->length;
    if (bytes > most)
        return too_large(resumable, most);
    if (bytes <= upload->reserved)
        return NULL;
    int64_t wanted = bytes + RESERVE_BYTES < most ? bytes + RESERVE_BYTES : most;
    return reserve(resumable, upload->length, wanted);
}

/* ---- the bytes ----------------------------------------------------------------------------------- */

/* Reads until the block is full, the body ends, or the hold must be renewed. */
static struct error *read_block(struct resumable *resumable, size_t *filled_out, bool *ended_out)
{
    unsigned char *block = resumable->service->block;
    size_t got = 0;
    size_t step = STEP_BYTES;
    *filled_out = 0;
    *ended_out = false;
    while (*filled_out < LIMIT_BLOB_BLOCK_BYTES && clock_monotonic() - resumable->renewed < RENEW_MICROSECONDS) {
        step = LIMIT_BLOB_BLOCK_BYTES - *filled_out < step ? LIMIT_BLOB_BLOCK_BYTES - *filled_out : step;
        TRY(request_read(resumable->piece->request, block + *filled_out, step, &got));
        *filled_out += got;
        *ended_out = got == 0;
        if (*ended_out)
            break;
    }
    return NULL;
}

static struct error *add(struct resumable *resumable, size_t length)
{
    const unsigned char *block = resumable->service->block;
    if (length == 0)
        return NULL;
    TRY(make_room(resumable, resumable->written + (int64_t)length));
    TRY(blob_partial_write(resumable->partial, block, length));
    running_digest_update(resumable->digest, block, length);
    if (resumable->piece_digest != NULL)
        digest_update(resumable->piece_digest, block, length);
    resumable->written += (int64_t)length;
    return NULL;
}

static struct error *check_piece(struct resumable *resumable)
{
    uint8_t digest[DIGEST_BYTES];
    if (resumable->piece_digest == NULL)
        return NULL;
    digest_final(resumable->piece_digest, digest);
    if (!digest_equal(digest, resumable->piece->checksum))
        return error_plain(resumable->arena, ERROR_UPLOAD_CHECKSUM);
    resumable->piece_digest = NULL;
    return NULL;
}

static bool is_due(const struct resumable *resumable)
{
    return clock_monotonic() - resumable->renewed >= RENEW_MICROSECONDS ||
           (resumable->piece_digest == NULL && resumable->written - resumable->upload->received >= SAVE_BYTES);
}

static struct error *receive(struct resumable *resumable)
{
    bool ended = false;
    while (!ended) {
        size_t filled;
        struct error *broken = read_block(resumable, &filled, &ended);
        if (is_due(resumable))
            TRY(save(resumable));
        TRY(add(resumable, filled));
        if (broken == NULL)
            continue;
        TRY(save(resumable)); /* what has come is kept */
        return broken;
    }
    return check_piece(resumable);
}

/* ---- the upload ---------------------------------------------------------------------------------- */

static struct error *wrong_offset(const struct resumable *resumable)
{
    struct error *error = error_plain(resumable->arena, ERROR_UPLOAD_OFFSET);
    return error_member(error, "offset",
                        arena_format(resumable->arena, "%lld", (long long)resumable->upload->received));
}

/* Takes the length that is said now. */
static struct error *take_length(struct resumable *resumable)
{
    const struct file_upload *upload = resumable->upload;
    int64_t length = resumable->piece->length;
    if (length == FILE_UPLOAD_LENGTH_UNKNOWN || length == upload->length)
        return NULL;
    if (upload->length != FILE_UPLOAD_LENGTH_UNKNOWN || length == 0 || length < upload->received)
        return error_entry(error_plain(resumable->arena, ERROR_REQUEST_INVALID), "Upload-Length", "mismatch",
                           upload->length != FILE_UPLOAD_LENGTH_UNKNOWN ? "is not the length that was said before"
                                                                        : "is less than what has come already");
    if (length > resumable->service->configuration->service.max_file_bytes)
        return too_large(resumable, resumable->service->configuration->service.max_file_bytes);
    return reserve(resumable, length, length);
}

static struct error *check_bounds(struct resumable *resumable)
{
    const struct request *request = resumable->piece->request;
    bool exceeds = false;
    TRY(file_usage_exceeds(resumable->service->database, resumable->arena, caller_home(resumable->caller),
                           (struct file_usage){0, 0}, &exceeds));
    if (exceeds)
        return error_plain(resumable->arena, ERROR_QUOTA_EXCEEDED);
    TRY(take_length(resumable));
    if (request->content_length <= 0 || request->content_length == REQUEST_LENGTH_UNSAID)
        return NULL;
    return make_room(resumable, resumable->written + request->content_length);
}

static struct error *open_bytes(struct resumable *resumable)
{
    struct file_upload *upload = resumable->upload;
    bool there = false;
    if (resumable->partial != NULL)
        TRY(blob_partial_go_on(resumable->partial, (uint64_t)upload->received, &there));
    resumable->digest = running_digest_load(resumable->arena, upload->digest, sizeof upload->digest);
    /* Rows that were restored from a backup have no bytes. */
    if (!there || resumable->digest == NULL || running_digest_length(resumable->digest) != (uint64_t)upload->received)
        return error_plain(resumable->arena, ERROR_UPLOAD_EXPIRED);
    if (resumable->piece->checksum != NULL)
        resumable->piece_digest = digest_open(resumable->arena);
    return NULL;
}

/* A hold that is lost shows when the row is finished; one that could not be renewed is tried again later. */
static void keep_hold(void *context)
{
    struct resumable *resumable = context;
    if (clock_monotonic() - resumable->renewed < RENEW_MICROSECONDS)
        return;
    (void)save(resumable);
    resumable->renewed = clock_monotonic();
}

/* The bytes become a file, and the hold is renewed for as long as that takes. */
static struct error *finish(struct resumable *resumable, struct file_record **record_out)
{
    struct blob_store *blobs = resumable->service->blobs;
    const struct blob_watch watch = {keep_hold, resumable};
    blob_watch(blobs, &watch);
    struct error *error = resumable_finish(resumable, record_out);
    blob_watch(blobs, NULL);
    return error;
}

static struct error *write_piece(struct resumable *resumable, struct file_record **record_out)
{
    TRY(open_bytes(resumable));
    TRY(check_bounds(resumable));
    TRY(receive(resumable));
    if (is_complete(resumable))
        return finish(resumable, record_out);
    return save(resumable);
}

static struct error *find_file(struct resumable *resumable, struct file_record **record_out)
{
    return file_find(resumable->service->database, resumable->arena, caller_home(resumable->caller),
                     resumable->upload->file_id, record_out);
}

/* The row as it is now that nobody else writes it. */
static struct error *look_again(struct resumable *resumable, struct file_record **record_out)
{
    TRY(resumable_find(resumable->service, resumable->arena, resumable->caller, resumable->upload->id,
                       &resumable->upload));
    resumable->written = resumable->upload->received;
    if (resumable->piece->offset != resumable->upload->received)
        return wrong_offset(resumable);
    if (!id_is_none(resumable->upload->file_id))
        return find_file(resumable, record_out);
    return write_piece(resumable, record_out);
}

struct error *resumable_receive(struct service *service, struct arena *arena, struct caller *caller, struct id id,
                                const struct resumable_piece *piece, struct file_upload **upload_out,
                                struct file_record **record_out)
{
    struct resumable resumable = {
        .service = service, .arena = arena, .caller = caller, .piece = piece, .holder = id_new()};
    *record_out = NULL;
    TRY(resumable_find(service, arena, caller, id, &resumable.upload));
    TRY(resumable_hold(service, arena, resumable.upload, resumable.holder, &resumable.partial));
    resumable.renewed = clock_monotonic();
    struct id organisation = resumable.upload->organisation_id;
    struct error *error = look_again(&resumable, record_out);
    if (resumable.partial != NULL)
        blob_partial_close(resumable.partial);
    *upload_out = resumable.upload;
    /* A hold that cannot be given back ends by itself. */
    (void)file_upload_release(service->database, arena, organisation, id, resumable.holder);
    return error;
}
