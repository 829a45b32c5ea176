/* SPDX-License-Identifier: MIT */
/*
 * The virus scanner: ClamAV's daemon behind its socket (clamd(8), INSTREAM). The bytes of an uncommitted blob are read
 * back and sent to it. So the daemon needs no access to the files directory, may run in another container, and checks a
 * blob before it has a name. Every answer but a clear verdict is an error, never "clean" and never "infected".
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
    SCAN_TOO_LARGE /* longer than the daemon's StreamMaxLength: it was not scanned */
};

struct scan_verdict {
    enum scan_result result;
    const char *signature; /* INFECTED: the daemon's name for it, printable ASCII, in the arena */
};

/*
 * A scanner on the daemon's socket; it does not connect yet. Lives in `arena` (the process's). One scan may take
 * `timeout_seconds`, and one second more for each 16 MiB.
 */
struct scanner *scanner_new(struct arena *arena, const char *socket_path, int64_t timeout_seconds);

/*
 * Scans a blob, after blob_writer_digest() and before blob_commit(). STORAGE_UNAVAILABLE with a sentence of its own
 * when the daemon cannot be reached, takes too long, ends the connection or answers anything but a verdict.
 */
struct error *scanner_scan(struct scanner *scanner, struct arena *arena, struct blob_writer *writer,
                           struct scan_verdict *verdict_out);

/* Whether the daemon answers; the error is that of scanner_scan(). */
struct error *scanner_ping(struct scanner *scanner, struct arena *arena);

#endif
