/* SPDX-License-Identifier: MIT */
/*
 * The rows of uploads that arrive in pieces (service/file/resumable.h): how many bytes are durable, the state of their
 * digest, and who may write. The reservation of a row counts as storage in use (domain/file/file_usage.h). Whoever
 * changes it changes the usage in the same transaction.
 */
#ifndef GATEHOUSE_DOMAIN_FILE_FILE_UPLOAD_H
#define GATEHOUSE_DOMAIN_FILE_FILE_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "codec/digest.h"

struct arena;
struct database;
struct error;

#define FILE_UPLOAD_LENGTH_UNKNOWN (-1)

struct file_upload {
    struct id id;
    struct id organisation_id;
    struct id user_id;
    int64_t length; /* FILE_UPLOAD_LENGTH_UNKNOWN: the client has not said it yet */
    int64_t received;
    int64_t reserved;
    const char *metadata; /* as the client sent it */
    uint8_t digest[RUNNING_DIGEST_BYTES];
    struct id file_id; /* none until the file is stored */
    struct id holder;  /* the last writer that has not given the upload back; none: there is none */
    int64_t expires;   /* milliseconds since 1970 */
    bool expired;      /* by the database's clock */
};

/* Adds the row, whose time ends in `seconds`. expires is set by file_upload_find() only. */
struct error *file_upload_insert(struct database *database, struct arena *arena, const struct file_upload *upload,
                                 unsigned seconds);

/* The upload of that user; *upload_out is NULL when there is none. */
struct error *file_upload_find(struct database *database, struct arena *arena, struct id organisation, struct id user,
                               struct id id, struct file_upload **upload_out);

/*
 * Makes `holder` the writer of upload->id of that organisation and user for `seconds`; *held_out is false when another
 * one is, or there is no such row.
 */
struct error *file_upload_hold(struct database *database, struct arena *arena, const struct file_upload *upload,
                               struct id holder, unsigned seconds, bool *held_out);

/* The same where upload->holder holds it still, or nobody does. For a caller who knows that this writer has died. */
struct error *file_upload_take_over(struct database *database, struct arena *arena, const struct file_upload *upload,
                                    struct id holder, unsigned seconds, bool *held_out);

/* Saves received and digest, and lets `holder` hold on for `seconds`; *held_out is false when it does not any more. */
struct error *file_upload_save(struct database *database, struct arena *arena, const struct file_upload *upload,
                               struct id holder, unsigned seconds, bool *held_out);

/* Saves length and reservation; part of a transaction, in which the holder writes. */
struct error *file_upload_reserve(struct database *database, struct arena *arena, const struct file_upload *upload,
                                  struct id holder, bool *held_out);

/* Notes the file that the upload has become; part of the transaction that adds the file. As file_upload_save(). */
struct error *file_upload_finish(struct database *database, struct arena *arena, const struct file_upload *upload,
                                 struct id holder, bool *held_out);

/* Ends the holding. Does nothing when `holder` does not hold it any more. */
struct error *file_upload_release(struct database *database, struct arena *arena, struct id organisation, struct id id,
                                  struct id holder);

/*
 * Reads and locks the row; part of a transaction. *upload_out is NULL when there is none. For whoever deletes it, and
 * gives the reservation back.
 */
struct error *file_upload_lock(struct database *database, struct arena *arena, struct id organisation, struct id id,
                               struct file_upload **upload_out);
struct error *file_upload_delete(struct database *database, struct arena *arena, struct id organisation, struct id id);

/*
 * Takes the names of the files from all uploads of a person who is erased, and ends their time: nobody goes on with
 * them. Their bytes and reservations go as those of all that have expired.
 */
struct error *file_upload_abandon(struct database *database, struct arena *arena, struct id organisation,
                                  struct id user);

/* What an operator sees of one. */
struct file_upload_listed {
    struct file_upload upload;
    const char *created_at;
    const char *expires_at;
    bool held;
};

/*
 * The uploads of all organisations behind `after`, `limit` at most, in the order of their ids; with `expired` only
 * those whose time is over and that nobody holds. For the operator and the job runner.
 */
struct error *file_upload_list(struct database *database, struct arena *arena, bool expired, struct id after,
                               unsigned limit, struct file_upload_listed **items_out, size_t *count_out);

/* Whether there is a row of that id. */
struct error *file_upload_known(struct database *database, struct arena *arena, struct id id, bool *known_out);

#endif
