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
    struct arena *arena;   /* of the run */
    struct arena *scratch; /* of a page or a portion */
    const struct fsck_options *options;
    struct fsck_result *result;
    struct lease_holder lease;
    struct pace pace;
    struct digest *digest;
    unsigned char *block;
    int64_t before; /* milliseconds since 1970: what is not older is left alone */
    int64_t total;  /* rows, as the server guesses */
    const char *backup; /* where lost bytes are taken from, NULL: nowhere */
    struct id at;   /* the last row that was compared */
    int64_t saved;  /* clock_monotonic() */
    /* Ids from the store that are to be looked up. */
    struct id waiting[FILE_KNOWN_MAX];
    size_t waiting_count;
};

/* Counts a finding and calls found() of the options. */
void fsck_report(struct fsck *fsck, struct fsck_finding *finding);

/*
 * Puts the bytes of a file from the backup into the store, where they are not; *mended_out is false when the backup does
 * not have them, or not as the row says.
 */
struct error *fsck_fetch(struct fsck *fsck, const struct file_kept *kept, bool *mended_out);

/* Everything that is in the store: bytes without a row, temporary files, names of nothing. */
struct error *fsck_store(struct fsck *fsck);

#endif
