/* SPDX-License-Identifier: MIT */
/*
 * What the files of fsck share: fsck.c compares rows, fsck_store.c looks for what has no row,
 * fsck_fetch.c takes bytes from a backup, fsck_report.c counts and reports findings.
 */
#ifndef GATEHOUSE_SERVICE_INTEGRITY_FSCK_INT_H
#define GATEHOUSE_SERVICE_INTEGRITY_FSCK_INT_H

#include "codec/digest.h"
#include "domain/file/file_admin.h"
#include "service/integrity/fsck.h"
#include "service/maintenance/lease_holder.h"
#include "service/maintenance/pace.h"

#define FSCK_BLOCK_BYTES ((size_t)256 * 1024)

struct fsck {
    struct service *service;
    struct arena *arena;   /* lives as long as the run */
    struct arena *scratch; /* reset for each page or portion */
    const struct fsck_options *options;
    struct fsck_result *result;
    struct lease_holder lease;
    struct pace pace;
    struct digest *digest;
    unsigned char *block;
    int64_t before;     /* milliseconds since 1970: what is as young as this or younger is skipped */
    int64_t total;      /* number of rows, as the server estimates it */
    const char *backup; /* a backup with lost bytes; NULL: none */
    struct id at;       /* the last row that was compared */
    int64_t saved;      /* clock_monotonic() of the last save */
    /* Ids from the store whose rows are to be looked up. */
    struct id waiting[FILE_ADMIN_KNOWN_MAX];
    size_t waiting_count;
};

/* Counts a finding and calls found() of the options. */
void fsck_report(struct fsck *fsck, struct fsck_finding *finding);

/*
 * Puts the bytes of a file from the backup into the store, where they are missing. *repaired_out is false when the
 * backup does not have them, or has others than the row says.
 */
struct error *fsck_fetch(struct fsck *fsck, const struct file_admin_record *kept, bool *repaired_out);

/* Goes through the store: bytes without a row, temporary files, names that no blob can have. */
struct error *fsck_store(struct fsck *fsck);

#endif
