/* SPDX-License-Identifier: MIT */
/*
 * Uploads that arrive in pieces (tus 1.0.0). A row holds what is durable, one process at a time writes, and bytes that
 * came before a connection broke or a worker died are there for the next piece. The caller is checked at each piece and
 * once more when the last byte is there. Then the file goes through every rule of an ordinary upload
 * (service/file/upload.h), by the same functions. The memory is the same for every size.
 *
 * Errors beside those named: DATABASE_UNAVAILABLE, STORAGE_UNAVAILABLE (also where the store takes no such uploads),
 * STORAGE_FULL.
 */
#ifndef GATEHOUSE_SERVICE_FILE_RESUMABLE_H
#define GATEHOUSE_SERVICE_FILE_RESUMABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/digest.h"
#include "domain/file/file_upload.h"

struct arena;
struct caller;
struct error;
struct file_record;
struct request;
struct service;

/* What is wanted of a new upload. */
struct resumable_order {
    int64_t length;       /* FILE_UPLOAD_LENGTH_UNKNOWN: it comes later */
    const char *metadata; /* the header, NULL: none */
    struct error *fault;  /* REQUEST_INVALID for other headers, to which the metadata's faults are added; NULL: none */
};

/* One piece. */
struct resumable_piece {
    struct request *request;
    const char *permission; /* which the caller needs once more at the end */
    int64_t offset;
    int64_t length;          /* of the whole, said now; FILE_UPLOAD_LENGTH_UNKNOWN: not said */
    const uint8_t *checksum; /* SHA-256 of the piece, which counts only when it is right; NULL: none */
};

/*
 * Reserves the quota and makes the upload. REQUEST_INVALID with every failing path, TOO_LARGE, QUOTA_EXCEEDED.
 */
struct error *resumable_create(struct service *service, struct arena *arena, const struct caller *caller,
                               const struct resumable_order *order, struct file_upload **upload_out);

/* UPLOAD_UNKNOWN when the caller has no such upload, UPLOAD_EXPIRED. */
struct error *resumable_find(struct service *service, struct arena *arena, const struct caller *caller, struct id id,
                             struct file_upload **upload_out);

/*
 * Receives one piece. *record_out is the file when the last byte has come, else NULL. As resumable_find(), and
 * UPLOAD_LOCKED, UPLOAD_OFFSET, UPLOAD_CHECKSUM, TOO_LARGE, QUOTA_EXCEEDED, REQUEST_MALFORMED; at the end all errors of
 * caller_authenticate(), caller_require() and upload_receive(). A file that the rules refuse is gone afterwards, and so
 * is its reservation.
 */
struct error *resumable_receive(struct service *service, struct arena *arena, struct caller *caller, struct id id,
                                const struct resumable_piece *piece, struct file_upload **upload_out,
                                struct file_record **record_out);

/* Ends an upload and gives back its bytes and its reservation. As resumable_find(), and UPLOAD_LOCKED. */
struct error *resumable_terminate(struct service *service, struct arena *arena, const struct caller *caller,
                                  struct id id);

/*
 * For the job runner and the operator: ends at most `limit` uploads whose time is over, and removes bytes without a row
 * that are older than a day. *count_out is how many uploads were ended.
 */
struct error *resumable_expire(struct service *service, struct arena *arena, unsigned limit, uint64_t *count_out);

#endif
