/* SPDX-License-Identifier: MIT */
/*
 * Copies the bytes of all files from one kind of store to the other: from the directory to the S3 store, or back.
 *
 * Nothing is taken from where the bytes are, and no row changes; the configuration says which store is used. Each file
 * that arrives has the size and the SHA-256 of its row. What is there already is compared in the same way, so a run
 * that was interrupted is gone on with by running it again. So is one during which files were uploaded.
 */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_BLOB_MOVE_H
#define GATEHOUSE_SERVICE_MAINTENANCE_BLOB_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "service/maintenance/progress.h"

struct arena;
struct error;
struct service;

struct blob_move_options {
    const char *to;           /* BLOB_OPEN_DIRECTORY or BLOB_OPEN_S3 (blob/open.h) */
    int64_t bytes_per_second; /* 0: no bound */
    struct progress *progress;
    /* Told of each file whose right bytes are in neither store. */
    void (*lost)(void *context, struct id id, const char *why);
    void *context;
};

struct blob_move_result {
    int64_t files; /* that are in the other store now */
    int64_t copied;
    int64_t bytes; /* of those that were copied */
    int64_t lost;
    bool interrupted;
};

/*
 * Copies what is missing. `scratch` is reset again and again. Waits up to a minute for a backup or a purge; then an
 * error says that one runs.
 */
struct error *blob_move_run(struct service *service, struct arena *arena, struct arena *scratch,
                            const struct blob_move_options *options, struct blob_move_result *result_out);

#endif
