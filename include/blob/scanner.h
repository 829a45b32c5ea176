/* SPDX-License-Identifier: MIT */
/*
 * The virus scanner: ClamAV's daemon behind its socket (clamd(8), INSTREAM). The bytes of a blob that is not yet
 * committed are read back and sent to it, so that it needs no access to the files directory, may run in another
 * container and under any confinement, and judges what has no name yet. Whatever is no clear verdict is an error, never
 * "clean" and never "infected".
 */
#ifndef GATEHOUSE_BLOB_SCANNER_H
#define GATEHOUSE_BLOB_SCANNER_H

#include <stdint.h>

struct arena;
struct blob_writer;
struct error;
struct scanner;

enum scan_result {
    SCAN_CLEAN,
    SCAN_INFECTED,
    SCAN_TOO_LARGE /* for the daemon's StreamMaxLength: it has not been looked at */
};

struct scan_verdict {
    enum scan_result result;
    const char *signature; /* INFECTED: the daemon's name for it, printable ASCII, in the arena */
};

/*
 * A scanner on the daemon's socket; nothing is connected yet. Lives in `arena` (the process's). A conversation may take
 * `timeout_seconds` and one second more for each 16 MiB that it is about.
 */
struct scanner *scanner_new(struct arena *arena, const char *socket_path, int64_t timeout_seconds);

/*
 * Has a blob judged, after blob_writer_digest() and before blob_commit(). STORAGE_UNAVAILABLE with a sentence of its own
 * when the daemon cannot be reached, takes too long, breaks off or says something else than a verdict.
 */
struct error *scanner_scan(struct scanner *scanner, struct arena *arena, struct blob_writer *writer,
                           struct scan_verdict *verdict_out);

/* Whether the daemon is there and answers; the error is that of scanner_scan(). */
struct error *scanner_ping(struct scanner *scanner, struct arena *arena);

#endif
