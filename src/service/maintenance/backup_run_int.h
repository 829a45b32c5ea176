/* SPDX-License-Identifier: MIT */
/*
 * The state of a backup that is being made: backup.c runs it and saves the rows, backup_files.c saves the bytes,
 * backup_step.c does what is done between two blocks.
 */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_BACKUP_RUN_INT_H
#define GATEHOUSE_SERVICE_MAINTENANCE_BACKUP_RUN_INT_H

#include "service/backup_int.h"
#include "service/maintenance/backup.h"
#include "service/maintenance/lease_holder.h"
#include "store/database/row_lock.h"

struct backup {
    struct service *service;
    struct arena *arena;
    struct arena *scratch;
    const struct backup_options *options;
    struct backup_result *result;
    struct lease_holder lease;
    struct row_lock migrations; /* while rows are read, the lock that keeps migrations away ... */
    int64_t migrations_renewed; /* ... and when it was renewed last; 0: it is not held */
    struct backup_manifest manifest;
    struct backup_copy copy;
    const char *work;     /* the directory of this backup */
    const char *previous; /* the files of the backup before; NULL: none */
    bool resumed;         /* `work` may hold files of an interrupted backup */
    int64_t done;         /* files that are saved, for the progress */
};

/* Call it after each block: shows the progress, renews the lease. An error when the backup has been told to end. */
struct error *backup_step(void *context, int64_t bytes);

/* Saves the bytes of every file of the list. */
struct error *backup_save_files(struct backup *backup);

#endif
