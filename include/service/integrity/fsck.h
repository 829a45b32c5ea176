/* SPDX-License-Identifier: MIT */
/*
 * fsck compares the rows of files with their bytes, while the service runs.
 *
 * First every row, in the order of ids: do its bytes exist, with the recorded size and the recorded hash? Then every
 * organisation: is its count of files right? Then every name in the blob store: is there a row? Memory is the same for
 * one file and for a million: rows come by the page, bytes by the block, names one after the other.
 *
 * fsck deletes only parts of uploads, which nobody was told of, and bytes that a purge has begun to delete. Under
 * `repair` it moves bytes that do not belong where they are into the store's quarantine: bytes without a row, and bytes
 * that are not those of their file. A download of such a file is then refused (500 storage.unavailable) and never sends
 * other bytes. The row of a file whose bytes are lost stays as it is, and the file is whole again when its bytes are
 * put back from a backup.
 */
#ifndef GATEHOUSE_SERVICE_INTEGRITY_FSCK_H
#define GATEHOUSE_SERVICE_INTEGRITY_FSCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "service/maintenance/progress.h"

struct arena;
struct error;
struct service;

enum fsck_kind {
    FSCK_MISSING,    /* a row whose bytes do not exist */
    FSCK_SIZE,       /* bytes of another length than the row says */
    FSCK_HASH,       /* bytes with another hash than the row says */
    FSCK_UNREADABLE, /* bytes that the disk cannot read */
    FSCK_USAGE,      /* an organisation's count of its files, and so its quota, is wrong */
    FSCK_ORPHAN,     /* bytes without a row */
    FSCK_REMOVAL,    /* bytes that a purge has begun to remove; not a fault, the next purge goes on */
    FSCK_TEMPORARY,  /* part of an upload, left by a crash */
    FSCK_STRAY,      /* a name in the store that no blob can have */
    FSCK_KINDS
};

struct fsck_finding {
    enum fsck_kind kind;
    struct id id;              /* of the file or the bytes; none for TEMPORARY, STRAY and USAGE */
    struct id organisation_id; /* of the row; none without a row */
    const char *path;          /* relative to the blob directory; NULL for USAGE */
    bool repaired;             /* fsck has repaired it */
    const char *moved_to;      /* relative to the blob directory; NULL: not moved */
};

struct fsck_options {
    bool repair;
    const char *from;         /* with `repair`: a backup with lost bytes, or a directory of backups; may be NULL */
    bool quick;               /* sizes only, no hashes */
    bool resume;              /* go on where the last run was interrupted */
    int64_t min_age_seconds;  /* what is younger is skipped; 0: nothing is */
    int64_t bytes_per_second; /* read no more than this; 0: no bound */
    /* Called at each finding; may be NULL. */
    void (*found)(void *context, const struct fsck_finding *finding);
    void *context;
    struct progress *progress;
};

struct fsck_result {
    int64_t files; /* rows compared, also before an interruption */
    int64_t bytes; /* bytes read */
    int64_t young; /* skipped for their age */
    int64_t blobs; /* names seen in the store */
    int64_t unrepaired;
    int64_t counts[FSCK_KINDS];
    bool interrupted; /* progress_ends(): the position is saved for `resume` */
};

/* The word for a kind: "missing", "size", … */
const char *fsck_kind_text(enum fsck_kind kind);

/*
 * Runs fsck. `scratch` is reset again and again. Errors are those that stop fsck: no database, no blob directory,
 * another fsck at work. The position is saved then as well.
 */
struct error *fsck_run(struct service *service, struct arena *arena, struct arena *scratch,
                       const struct fsck_options *options, struct fsck_result *result_out);

#endif
