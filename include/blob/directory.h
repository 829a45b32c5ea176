/* SPDX-License-Identifier: MIT */
/*
 * Keeps blobs in a directory of the local file system (or a shared one):
 *
 *     <root>/<last two hex digits of the id>/<32 hex digits of the id>
 *     <root>/tmp/<32 hex digits>        only where there is no O_TMPFILE
 *     <root>/quarantine/<name>          what fsck has moved aside
 *
 * Bytes go into an unnamed file (open(2), O_TMPFILE), so that a crash leaves nothing; commit is fsync of the
 * file, link to its name, fsync of the directory. A link never replaces anything. All opening is relative to
 * a descriptor of the root and follows no symbolic link below it; no byte of a path comes from a user.
 */
#ifndef GATEHOUSE_BLOB_DIRECTORY_H
#define GATEHOUSE_BLOB_DIRECTORY_H

struct arena;
struct error;
struct blob_io;
struct blob_store;

/*
 * Opens the store in the existing directory `root` (an absolute path). The store lives in `arena` (the process's, not a
 * request's), which closes it. `io` NULL means blob_io_system. STORAGE_UNAVAILABLE when the directory cannot be opened.
 *
 * When another directory appears at `root` later (a file system is mounted there), the next blob_begin() or
 * blob_check() changes to it.
 */
struct error *blob_directory_open(struct arena *arena, const char *root, const struct blob_io *io,
                                  struct blob_store **store_out);

#endif
