/* SPDX-License-Identifier: MIT */
/* A restore that is going on: restore.c has the frame, restore_files.c the bytes. */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_RESTORE_INT_H
#define GATEHOUSE_SERVICE_MAINTENANCE_RESTORE_INT_H

#include "service/backup_int.h"
#include "service/maintenance/restore.h"

struct restore {
    struct arena *arena;
    struct arena *scratch;
    const struct configuration *configuration;
    const struct restore_options *options;
    struct restore_result *result;
    struct backup_manifest manifest;
    struct backup_copy copy;
    struct database *database;
    struct blob_store *blobs;
    bool resumed; /* the store may hold files of an interrupted run */
    int64_t done;
};

/* INTERNAL when there is a blob that the backup does not know (or, at the first run, any). */
struct error *restore_check_store(struct restore *restore);

/* Puts the bytes of every file of the list into the store. */
struct error *restore_files(struct restore *restore);

#endif
