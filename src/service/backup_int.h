/* SPDX-License-Identifier: MIT */
/* What the files of backup, restore and fsck share: names, manifest, list and bytes of a backup. */
#ifndef GATEHOUSE_SERVICE_BACKUP_INT_H
#define GATEHOUSE_SERVICE_BACKUP_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/id.h"
#include "codec/digest.h"
#include "service/maintenance/pace.h"

struct arena;
struct blob_reader;
struct error;

#define BACKUP_MANIFEST "manifest.json"
#define BACKUP_ROWS "rows.sql"
#define BACKUP_LIST "files.txt"
#define BACKUP_FILES "files"
#define BACKUP_SECRET "secret"
#define BACKUP_PARTIAL ".partial"
#define BACKUP_BLOCK_BYTES ((size_t)256 * 1024)

/* ---- manifest (backup_manifest.c) ---------------------------------------------------------------- */

struct backup_manifest {
    const char *id;
    const char *created_at;
    const char *migration; /* the file name of the newest one applied */
    const char *rows_hash; /* of rows.sql, hexadecimal */
    int64_t rows;
    const char *list_hash; /* of files.txt, hexadecimal */
    int64_t files;
    int64_t bytes;
    int64_t lost;
    const char *secret; /* the fingerprint of the secret file */
    bool secret_included;
};

/* Writes the manifest into the directory, whole and durable or not at all. */
struct error *backup_manifest_write(struct arena *arena, const char *directory, const struct backup_manifest *manifest);

/*
 * Reads the manifest in the directory. INTERNAL, with a sentence for the operator, where there is none or it is not
 * understood.
 */
struct error *backup_manifest_read(struct arena *arena, const char *directory, struct backup_manifest *manifest_out);

/*
 * Makes a fingerprint of the secret file, which tells two secret files apart and reveals nothing else. INTERNAL when it
 * cannot be read.
 */
struct error *backup_fingerprint(struct arena *arena, const char *secret_file, const char **fingerprint_out);

/* Whether one of the keys of the secret file, the first or an older one, has the fingerprint. */
struct error *backup_secret_has(struct arena *arena, const char *secret_file, const char *wanted, bool *has_out);

/* Makes the SHA-256 of a file, hexadecimal, in the arena. */
struct error *backup_hash_file(struct arena *arena, const char *path, const char **hash_out);

/* ---- names (backup_manifest.c) ------------------------------------------------------------------- */

/* The name of the newest complete backup in `directory`; NULL when there is none. */
struct error *backup_newest(struct arena *arena, const char *directory, const char **name_out);

/*
 * The path of a backup: `directory` where that is a complete backup, else the newest one in it. INTERNAL where there is
 * none.
 */
struct error *backup_find(struct arena *arena, const char *directory, const char **path_out);

/* The name of the interrupted backup in `directory`; NULL when there is none. */
struct error *backup_partial(struct arena *arena, const char *directory, const char **name_out);

/*
 * The error of a failed system call about a path, with a sentence for the operator: "PATH cannot be WHAT". STORAGE_FULL
 * or INTERNAL.
 */
struct error *backup_failure(struct arena *arena, int number, const char *what, const char *path)
    __attribute__((returns_nonnull));

/* ---- the list of files (backup_copy.c) ----------------------------------------------------------- */

struct backup_item {
    struct id id;
    uint8_t hash[DIGEST_BYTES];
    int64_t size;
};

/*
 * A line of the list, "<id> <hash> <size>\n", in the arena. All lines have the same length, and stand in the order of
 * their ids.
 */
const char *backup_item_line(struct arena *arena, const struct backup_item *item);

/* Reads the next line; *more_out is false at the end. INTERNAL for a malformed line. */
struct error *backup_item_read(struct arena *arena, FILE *list, struct backup_item *item_out, bool *more_out);

/* Whether the list, open as `fd`, has that id; by binary search. */
struct error *backup_listed(struct arena *arena, int fd, struct id id, bool *listed_out);

/* ---- bytes of several names (backup_names.c) ------------------------------------------------------ */

struct backup_names;

/* An empty table, of 5 MiB, in the arena. */
struct backup_names *backup_names_new(struct arena *arena);

/*
 * Whether the bytes of the file `fd` (-1: of no file) were noted under another id, with the item's size and hash;
 * *first_out is that id.
 */
bool backup_names_find(const struct backup_names *names, int fd, const struct backup_item *item, struct id *first_out);

/* Notes good bytes, which are kept under the item's id now. Bytes with one name are not noted. */
void backup_names_note(struct backup_names *names, int fd, const struct backup_item *item);

/* ---- bytes (backup_copy.c) ----------------------------------------------------------------------- */

struct backup_copy {
    struct digest *digest;
    unsigned char *block;
    struct backup_names *names;
    struct pace pace;
    /* Called for each block; an error ends the copying. */
    struct error *(*step)(void *context, int64_t bytes);
    void *context;
};

enum backup_bytes { BACKUP_GOOD, BACKUP_DIFFERENT, BACKUP_UNREADABLE };

/* Bytes of the store or, where `blob` is NULL, of an open file. */
struct backup_source {
    struct blob_reader *blob;
    int file;
};

/*
 * Reads all of `from`, writes it to `to` unless that is -1, and compares it with the item. Errors are those of writing
 * and of step().
 */
struct error *backup_copy(struct backup_copy *copy, struct arena *arena, const struct backup_item *item,
                          struct backup_source from, int to, enum backup_bytes *bytes_out);

/* Writes all bytes; 0 or an errno. */
int backup_write_all(int fd, const void *bytes, size_t length);

#endif
