/* SPDX-License-Identifier: MIT */
/* The state of a restore: restore.c runs it, restore_files.c restores the bytes. */
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

/* INTERNAL when the store holds a blob that the backup does not have; at the first run, any blob. */
struct error *restore_check_store(struct restore *restore);

/* Puts the bytes of every file of the list into the store. */
struct error *restore_files(struct restore *restore);

#endif
