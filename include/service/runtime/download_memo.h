/* SPDX-License-Identifier: MIT */
/*
 * Remembers for a minute who is fetching a file in pieces, so that the pieces are one row of the audit trail
 * (service/file/download_audit.h). A table of fixed size: what it forgets early is a row more.
 */
#ifndef GATEHOUSE_SERVICE_RUNTIME_DOWNLOAD_MEMO_H
#define GATEHOUSE_SERVICE_RUNTIME_DOWNLOAD_MEMO_H

#include <stdbool.h>

#include "base/id.h"

struct arena;
struct download_memo;

/* Who fetches a file: somebody with a token, or whoever has a link. */
struct download_reader {
    struct id file;
    struct id who; /* the caller; the link, or its maker where links have no rows of their own */
    bool by_link;
    char address[46]; /* the client's */
};

/* An empty memo in `arena`, which lives as long as the process. */
struct download_memo *download_memo_new(struct arena *arena);

/* Whether the reader was remembered less than a minute ago. */
bool download_memo_has(const struct download_memo *memo, const struct download_reader *reader);

void download_memo_put(struct download_memo *memo, const struct download_reader *reader);

#endif
