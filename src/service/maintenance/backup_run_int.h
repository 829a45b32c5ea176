/* SPDX-License-Identifier: MIT */
/*
 * A backup that is being made: backup.c has the frame and the rows, backup_files.c the bytes,
 * backup_step.c what is done between two blocks.
 */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_BACKUP_RUN_INT_H
#define GATEHOUSE_SERVICE_MAINTENANCE_BACKUP_RUN_INT_H

#include "service/backup_int.h"
#include "service/maintenance/backup.h"
#include "service/maintenance/lease_holder.h"

struct backup {
    struct service *service;
    struct arena *arena;
    struct arena *scratch;
    const struct backup_options *options;
    struct backup_result *result;
    struct lease_holder lease;
    struct backup_manifest manifest;
    struct backup_copy copy;
    const char *work;     /* the directory that is being filled */
    const char *previous; /* files of the backup before, NULL: there is none */
    bool resumed;         /* `work` may hold files of an interrupted backup */
    int64_t done;         /* files, for progress */
};

/* Called all the time: progress, the lease, the pace. An error when somebody wants it to end. */
struct error *backup_step(void *context, int64_t bytes);

/* The bytes of every file of the list. */
struct error *backup_save_files(struct backup *backup);

#endif
