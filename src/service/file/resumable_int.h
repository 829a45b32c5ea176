/* SPDX-License-Identifier: MIT */
/* An upload in pieces while one process writes to it. */
#ifndef GATEHOUSE_SERVICE_FILE_RESUMABLE_INT_H
#define GATEHOUSE_SERVICE_FILE_RESUMABLE_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct blob_partial;
struct caller;
struct digest;
struct error;
struct file_record;
struct file_upload;
struct resumable_piece;
struct running_digest;
struct service;
struct upload;

/*
 * How long a writer keeps others out that has died while its lock on the bytes is still there, since its host is lost,
 * or where the store has no locks.
 */
#define RESUMABLE_HOLD_SECONDS 30

struct resumable {
    struct service *service;
    struct arena *arena;
    struct caller *caller;
    const struct resumable_piece *piece;
    struct id holder;
    struct file_upload *upload; /* as its row says */
    struct blob_partial *partial;
    struct running_digest *digest; /* of all bytes written */
    struct digest *piece_digest;   /* of those of a piece with a checksum, which is not right yet; NULL: none */
    int64_t written;               /* bytes, also those that are not durable yet */
    int64_t renewed;               /* when the row was last written (clock_monotonic()) */
};

/* Puts the fields of Upload-Metadata into the form of an upload of one file. REQUEST_INVALID. */
struct error *resumable_read_metadata(struct upload *upload, const char *metadata);

/*
 * Makes `holder` the writer of that upload and opens its bytes; *partial_out is NULL when they are lost. Another writer
 * that holds it still is dead when its lock on the bytes has ended. UPLOAD_LOCKED.
 */
struct error *resumable_hold(struct service *service, struct arena *arena, const struct file_upload *upload,
                             struct id holder, struct blob_partial **partial_out);

/* UPLOAD_LOCKED. */
struct error *resumable_locked(struct arena *arena);

/* All bytes are written: checks everything once more and makes the file. */
struct error *resumable_finish(struct resumable *resumable, struct file_record **record_out);

/* Deletes the row, gives back its reservation, and removes the bytes. With `action`, an audit row says so. */
struct error *resumable_discard(struct service *service, struct arena *arena, const struct caller *caller,
                                const struct file_upload *upload, const char *action);

#endif
