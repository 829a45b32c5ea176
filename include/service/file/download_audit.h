/* SPDX-License-Identifier: MIT */
/*
 * A row of the audit trail for each download and each opened link, where the configuration asks for it ([audit]).
 *
 * The row is written before the first byte leaves: a download without a row cannot happen, whatever is killed. A file
 * that is fetched in pieces is one row in a minute for each process, since players and download managers ask for
 * hundreds of pieces. The first piece that a process sees is always a row, wherever in the file it lies.
 */
#ifndef GATEHOUSE_SERVICE_FILE_DOWNLOAD_AUDIT_H
#define GATEHOUSE_SERVICE_FILE_DOWNLOAD_AUDIT_H

#include <stdint.h>

#include "base/id.h"

struct arena;
struct caller;
struct error;
struct file_record;
struct service;

/* What is sent. */
struct download {
    const struct file_record *file;
    const struct id *link_maker; /* who made the link that was opened; NULL: the caller downloads with a token */
    struct id link;              /* the row of that link */
    int64_t first;               /* the piece's first and last byte; first -1: all of the file */
    int64_t last;
};

/* Writes the row of a download, unless the bucket has none, or the piece belongs to one that has its row already. */
struct error *download_audit(struct service *service, struct arena *arena, const struct caller *caller,
                             const struct download *download);

#endif
