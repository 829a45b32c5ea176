/* SPDX-License-Identifier: MIT */
/*
 * fsck: whether rows and bytes agree, while the service runs.
 *
 * First every row, in the order of ids: are its bytes there, of the recorded size, with the recorded hash? Then
 * every organisation: is the count of its files right? Then every name in the blob store: is there a row? Memory is the same for one file and for a million: rows come by the page,
 * bytes by the block, names one after the other.
 *
 * Nothing is ever deleted but what nobody was told of (parts of uploads) and what a purge had begun to delete. Under
 * `repair`, bytes that do not belong where they are go to the store's quarantine: those without a row, and those that
 * are not the file's any more, so that a download is refused (500 storage.unavailable) instead of sending something
 * else. The row of a file whose bytes are lost stays as it is: nothing about the file is lost with it, and the file is
 * whole again as soon as its bytes are put back from a backup.
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
    FSCK_MISSING,    /* a row whose bytes are not there */
    FSCK_SIZE,       /* bytes of another length than the row says */
    FSCK_HASH,       /* bytes with another hash than the row says */
    FSCK_UNREADABLE, /* bytes that the disk does not give */
    FSCK_USAGE,      /* an organisation's count of its files is wrong, and with it its quota */
    FSCK_ORPHAN,     /* bytes without a row */
    FSCK_REMOVAL,    /* bytes that a purge had begun to remove: no fault, the next one goes on */
    FSCK_TEMPORARY,  /* part of an upload that a crash left */
    FSCK_STRAY,      /* a name among the blobs that is none of a blob */
    FSCK_KINDS
};

struct fsck_finding {
    enum fsck_kind kind;
    struct id id;              /* of the file or the bytes; none for TEMPORARY and STRAY */
    struct id organisation_id; /* of the row, where there is one */
    const char *path;          /* relative to the blob directory; NULL for USAGE */
    bool mended;               /* all is well now */
    const char *moved_to;      /* relative to the blob directory; NULL: not moved */
};

struct fsck_options {
    bool repair;
    const char *from;         /* with `repair`: a backup to take lost bytes from, or a directory of several; may be NULL */
    bool quick;               /* sizes only, no hashes */
    bool resume;              /* go on where the last run was interrupted */
    int64_t min_age_seconds;  /* what is younger is left alone; 0: nothing is */
    int64_t bytes_per_second; /* reading at most so fast; 0: no bound */
    /* Called at each finding; may be NULL. */
    void (*found)(void *context, const struct fsck_finding *finding);
    void *context;
    struct progress *progress;
};

struct fsck_result {
    int64_t files;   /* rows compared, those before the interruption included */
    int64_t bytes;   /* bytes read */
    int64_t young;   /* left alone for their age */
    int64_t blobs;   /* names seen in the store */
    int64_t unmended;
    int64_t counts[FSCK_KINDS];
    bool interrupted; /* progress_ends(): the position is kept for `resume` */
};

/* A word for each kind: "missing", "size", … */
const char *fsck_kind_text(enum fsck_kind kind);

/*
 * `scratch` is reset again and again. Errors are those that keep fsck from its work: no database, no blob directory,
 * another fsck at work. The position is kept then, too.
 */
struct error *fsck_run(struct service *service, struct arena *arena, struct arena *scratch,
                       const struct fsck_options *options, struct fsck_result *result_out);

#endif
