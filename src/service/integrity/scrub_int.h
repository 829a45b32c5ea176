/* SPDX-License-Identifier: MIT */
/*
 * What the files of the scrub share: scrub.c runs passes, scrub_read.c reads one file, scrub_mark.c marks it,
 * scrub_position.c saves and loads the position.
 */
#ifndef GATEHOUSE_SERVICE_INTEGRITY_SCRUB_INT_H
#define GATEHOUSE_SERVICE_INTEGRITY_SCRUB_INT_H

#include "codec/digest.h"
#include "domain/file/file_admin.h"
#include "service/integrity/scrub.h"
#include "service/maintenance/lease_holder.h"

enum scrub_verdict {
    SCRUB_VERDICT_NONE, /* the file is not read to its end yet */
    SCRUB_VERDICT_GOOD,
    SCRUB_VERDICT_DAMAGED,   /* the bytes, or their number, differ */
    SCRUB_VERDICT_MISSING,   /* the bytes do not exist */
    SCRUB_VERDICT_UNREADABLE /* the bytes cannot be read */
};

/* A file that is being read. */
struct scrub_reader {
    struct digest *digest;
    unsigned char *block;
    struct blob_reader *blob; /* NULL: none */
    int64_t at;
    bool again; /* it is read a second time: a fault of memory must not condemn a file */
};

struct scrub {
    struct service *service;
    struct scrub_options options;
    struct arena *arena;   /* lives as long as the scrub */
    struct arena *scratch; /* reset for each step */
    struct arena *pages;   /* holds the page */
    struct scrub_rate rate;
    struct scrub_position position;
    struct scrub_reader reader;
    struct lease_holder lease;
    struct lease_holder wish; /* with `patient` */
    bool held;
    bool wished;
    bool asked;    /* the pass that `now` asks for was begun */
    int64_t tried; /* clock_monotonic() of the last try at the lease */
    int64_t saved; /* clock_monotonic() */
    struct file_admin_page page;
    size_t next;          /* the next file of the page */
    bool last;            /* this is the last page */
    struct id damaged_at; /* with `damaged`: the last file that was read */
};

/* Opens the bytes of `kept`. False, with the verdict, where they do not exist or cannot be opened. */
bool scrub_read_begin(struct scrub *scrub, const struct file_admin_record *kept, enum scrub_verdict *verdict_out);

/* Reads one portion and counts it. The verdict is NONE until the file is read to its end; then the file is closed. */
enum scrub_verdict scrub_read_more(struct scrub *scrub, const struct file_admin_record *kept);

/* Closes the open file, if any. */
void scrub_read_end(struct scrub *scrub);

/* Marks the file by the verdict, and the files that share its bytes. */
struct error *scrub_mark(struct scrub *scrub, const struct file_admin_record *kept, enum scrub_verdict verdict);

/* Saves the position of the pass; the lease must be held. */
struct error *scrub_position_save(struct scrub *scrub, struct arena *arena);

#endif
