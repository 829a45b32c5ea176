/* SPDX-License-Identifier: MIT */
/*
 * What the files of the scrub share: scrub.c does passes, scrub_read.c reads one file, scrub_mark.c writes down what was
 * found, scrub_position.c saves where it stands.
 */
#ifndef GATEHOUSE_SERVICE_INTEGRITY_SCRUB_INT_H
#define GATEHOUSE_SERVICE_INTEGRITY_SCRUB_INT_H

#include "codec/digest.h"
#include "domain/file/file_admin.h"
#include "service/integrity/scrub.h"
#include "service/maintenance/lease_holder.h"

enum scrub_verdict {
    SCRUB_VERDICT_NONE, /* not all of the file is read yet */
    SCRUB_VERDICT_GOOD,
    SCRUB_VERDICT_DAMAGED,   /* bytes that are others, or of another length */
    SCRUB_VERDICT_MISSING,   /* no bytes under this id */
    SCRUB_VERDICT_UNREADABLE /* the storage does not give them */
};

/* A file on its way through. */
struct scrub_reader {
    struct digest *digest;
    unsigned char *block;
    int fd; /* -1: no file is open */
    int64_t at;
    bool again; /* what differs is read twice: a fault of memory must not condemn a file */
};

struct scrub {
    struct service *service;
    struct scrub_options options;
    struct arena *arena;   /* of the scrub */
    struct arena *scratch; /* of a step */
    struct arena *pages;   /* of the page in hand */
    struct scrub_rate rate;
    struct scrub_position position;
    struct scrub_reader reader;
    struct lease_holder lease;
    struct lease_holder wish; /* with `patient` */
    bool held;
    bool wished;
    bool asked;     /* `now` was done */
    int64_t tried;  /* clock_monotonic() of the last try at the lease */
    int64_t saved;  /* clock_monotonic() */
    struct file_kept_page page;
    size_t next; /* of the page */
    bool last;   /* no page comes after this one */
    struct id damaged_at; /* with `damaged`: the last file that was read */
};

/* Opens the bytes of `kept`; false where there are none or they cannot be opened, with the verdict. */
bool scrub_read_begin(struct scrub *scrub, const struct file_kept *kept, enum scrub_verdict *verdict_out);

/* Reads one portion and counts it. The verdict is NONE while there is more; then the file is closed. */
enum scrub_verdict scrub_read_more(struct scrub *scrub, const struct file_kept *kept);

/* Closes the file in hand, if any. */
void scrub_read_end(struct scrub *scrub);

/* Writes down what the verdict means for the file, and for those that share its bytes. */
struct error *scrub_mark(struct scrub *scrub, const struct file_kept *kept, enum scrub_verdict verdict);

struct error *scrub_position_save(struct scrub *scrub, struct arena *arena);

#endif
