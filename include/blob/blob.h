/* SPDX-License-Identifier: MIT */
/*
 * The blob store keeps the bytes of files, under ids that the service made. A committed blob survives a crash and a
 * power cut; an uncommitted one leaves nothing behind.
 *
 *     TRY(blob_begin(store, arena, &writer));
 *     TRY(blob_write(writer, bytes, length));      as often as needed
 *     blob_writer_digest(writer, digest);          SHA-256 of all bytes
 *     TRY(blob_commit(writer, id));
 *
 * Errors of all calls: STORAGE_FULL when the disk or a quota is full (ENOSPC, EDQUOT), STORAGE_UNAVAILABLE for every
 * other failure of the storage. Details, file names included, go to the log only.
 *
 *     TRY(blob_open(store, arena, id, &reader));
 *     TRY(blob_read(reader, offset, bytes, length, &got));
 *     blob_close(reader);
 *
 * A store is a struct of functions. There are two kinds: a directory (blob/directory.h), and a bucket of a store that
 * speaks the S3 protocol (blob/s3/s3.h). A store, its writers and its readers belong to one thread.
 */
#ifndef GATEHOUSE_BLOB_BLOB_H
#define GATEHOUSE_BLOB_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "codec/digest.h"

struct arena;
struct error;
struct blob_partial_functions;
struct blob_reader;
struct blob_store;
struct blob_writer;

/* "ab/" and 32 hexadecimal digits, with the NUL. */
#define BLOB_PATH_BYTES (3 + ID_HEX_BYTES)

/* Free space under which blob_check() reports STORAGE_FULL. */
#define BLOB_FREE_BYTES_MIN ((uint64_t)64 * 1024 * 1024)

/* A blob as blob_each() finds it. */
struct blob_found {
    struct id id;
    uint64_t size;
    int64_t modified;             /* milliseconds since 1970 */
    bool has_digest;              /* the store has kept a checksum; only blob_look() tells it */
    uint8_t digest[DIGEST_BYTES]; /* SHA-256 */
};

/* A blob whose bytes are all there, as a kind of store commits it. */
struct blob_final {
    struct id id;
    uint64_t size;
    uint8_t digest[DIGEST_BYTES];
};

/* Bytes `first` to `last`, both included. */
struct blob_part {
    uint64_t first;
    uint64_t last;
};

/* What the web server needs to fetch a blob by itself. */
#define BLOB_HANDOVER_HEADERS 8
struct blob_handover {
    const char *path; /* below the folder of files that the web server knows */
    struct {
        const char *name;
        const char *value;
    } headers[BLOB_HANDOVER_HEADERS]; /* for the web server alone */
    size_t header_count;
};

/* Free space of the storage. */
struct blob_space {
    uint64_t free_bytes; /* that the service may still use */
    uint64_t total_bytes;
};

/* A name in the store that belongs to no blob, as blob_each_stray() finds it. */
struct blob_stray {
    const char *folder; /* relative to the root */
    const char *name;
    bool temporary;   /* among the temporary files */
    bool is_file;     /* a regular file; others are never moved */
    int64_t modified; /* milliseconds since 1970 */
};

/* The functions of a kind of store; see the calls of the same name below. `state` is what `begin` made. */
struct blob_functions {
    struct error *(*begin)(struct blob_store *store, struct arena *arena, void **state_out);
    struct error *(*write)(struct blob_store *store, struct arena *arena, void *state, const void *bytes,
                           size_t length);
    /* Only after the last write. Returns fewer bytes than asked for only at the end. */
    struct error *(*read)(struct blob_store *store, struct arena *arena, void *state, uint64_t offset, void *bytes,
                          size_t length, size_t *got_out);
    struct error *(*commit)(struct blob_store *store, struct arena *arena, void *state, const struct blob_final *final);
    /* Also after a failed commit; never after a good one. */
    void (*abort)(struct blob_store *store, void *state);
    struct error *(*remove)(struct blob_store *store, struct arena *arena, struct id id);
    struct error *(*link)(struct blob_store *store, struct arena *arena, struct id from, struct id to, uint64_t size,
                          bool *linked_out);
    struct error *(*open)(struct blob_store *store, struct arena *arena, struct id id, struct blob_reader *reader_out);
    struct error *(*fetch)(struct blob_reader *reader, uint64_t offset, void *bytes, size_t length, size_t *got_out);
    void (*close)(struct blob_reader *reader);
    /* NULL: the store has no bytes that a web server could fetch in parts by itself. */
    struct error *(*hand_over)(struct blob_store *store, struct arena *arena, struct id id, const char *method,
                               const struct blob_part *part, struct blob_handover *handover_out);
    /* NULL: nothing to do. */
    struct error *(*give)(struct blob_store *store, struct arena *arena, struct id id);
    struct error *(*renew)(struct blob_store *store, struct arena *arena);
    struct error *(*each_endpoint)(struct blob_store *store, struct arena *arena,
                                   void (*visit)(void *context, const char *endpoint, struct error *error),
                                   void *context);
    struct error *(*check)(struct blob_store *store, struct arena *arena);
    struct error *(*space)(struct blob_store *store, struct arena *arena, struct blob_space *space_out);
    struct error *(*sweep)(struct blob_store *store, struct arena *arena, int64_t before, size_t *count_out);
    struct error *(*each)(struct blob_store *store, struct arena *arena,
                          struct error *(*visit)(void *context, const struct blob_found *found), void *context);
    struct error *(*look)(struct blob_store *store, struct arena *arena, struct id id, struct blob_found *found_out,
                          bool *there_out);
    struct error *(*each_stray)(struct blob_store *store, struct arena *arena,
                                struct error *(*visit)(void *context, const struct blob_stray *stray), void *context);
    struct error *(*set_aside)(struct blob_store *store, struct arena *arena, const char *folder, const char *name,
                               const char **where_out);
    const struct blob_partial_functions *partial; /* blob/partial.h; NULL: the store has none */
};

/*
 * Tells somebody that a long call is still at work. `tell` is called at each blob_writer_read(), while a scanner is
 * waited for (blob/scanner.h), and about once a second while a store elsewhere is; often more. It must not call the
 * store.
 */
struct blob_watch {
    void (*tell)(void *context);
    void *context;
};

struct blob_store {
    const struct blob_functions *functions;
    const char *root;     /* for messages; the directory's path, or the bucket's address */
    bool has_files;       /* each blob is a file below `root`, at blob_path() */
    void *context;        /* for the functions alone */
    bool reads_back;      /* written bytes are read before the commit, and should stay in memory until then */
    unsigned char *block; /* the spare gathering block, NULL while a writer has it */
    struct blob_watch watch;
};

/*
 * Starts a blob. Memory comes from `arena`; when that is reset before blob_commit(), the blob is aborted and
 * nothing of it is left.
 */
struct error *blob_begin(struct blob_store *store, struct arena *arena, struct blob_writer **writer_out);

/*
 * Adds bytes, which go to the storage in blocks of LIMIT_BLOB_BLOCK_BYTES. After an error the blob is aborted, and each
 * further call on the writer returns the same error. Not after blob_writer_digest().
 */
struct error *blob_write(struct blob_writer *writer, const void *bytes, size_t length);

/*
 * How many bytes complete the next block, LIMIT_BLOB_BLOCK_BYTES at most. A caller that hands over exactly that many
 * avoids a copy: a whole block goes to the storage from where it lies.
 */
size_t blob_writer_room(const struct blob_writer *writer);

/* Bytes written so far. */
uint64_t blob_writer_size(const struct blob_writer *writer);

/* The SHA-256 of all bytes. The first call ends the writing; the call may be repeated. */
void blob_writer_digest(struct blob_writer *writer, uint8_t digest_out[DIGEST_BYTES]);

/*
 * Reads bytes back before the commit: `length` from `offset` on, fewer where the blob ends, 0 behind its end. Only
 * after blob_writer_digest() and before blob_commit().
 */
struct error *blob_writer_read(struct blob_writer *writer, uint64_t offset, void *bytes, size_t length,
                               size_t *got_out);

/* Has `watch` hear of the calls of this store from now on, in place of who heard of them before; NULL: nobody. */
void blob_watch(struct blob_store *store, const struct blob_watch *watch);

/* Tells who watches the store that the writer's bytes are still at work. */
void blob_writer_tell(const struct blob_writer *writer);

/*
 * Makes the bytes durable under `id`: when this returns NULL they survive a power cut. INTERNAL when there is
 * a blob of that id already (it is left as it is). After any error nothing of this blob is left.
 */
struct error *blob_commit(struct blob_writer *writer, struct id id);

/* Discards an uncommitted blob; a reset of the arena does the same. Does nothing after a commit. */
void blob_abort(struct blob_writer *writer);

/*
 * Gives the blob `from`, of `size` bytes, the second name `to`. The bytes are stored once, each name is removed by
 * itself, and the same guarantees hold as for a commit. *linked_out is false, and nothing was done, where that is
 * impossible: `from` is gone (a purge) or not of that size, it has as many names as the file system allows, or the
 * store has no second names. Then commit the bytes themselves. INTERNAL when there is a blob `to` already.
 *
 * The link sets the time of the bytes (struct blob_found, modified) to now. A sweep of blobs without a row leaves young
 * ones alone, and the row of this one is not written yet.
 */
struct error *blob_link(struct blob_store *store, struct arena *arena, struct id from, struct id to, uint64_t size,
                        bool *linked_out);

/* Removes a blob; a missing one is no error. */
struct error *blob_remove(struct blob_store *store, struct arena *arena, struct id id);

/*
 * Opens a blob for reading. STORAGE_UNAVAILABLE also when there is no blob with that id: a row without bytes is a fault
 * of the storage. The reader lives in the arena.
 */
struct error *blob_open(struct blob_store *store, struct arena *arena, struct id id, struct blob_reader **reader_out);

/*
 * Reads `length` bytes from `offset` on; fewer only where the blob ends, none behind its end. Reading from the
 * beginning to the end is the fastest way.
 */
struct error *blob_read(struct blob_reader *reader, uint64_t offset, void *bytes, size_t length, size_t *got_out);

uint64_t blob_reader_size(const struct blob_reader *reader);

/*
 * The file that holds the bytes, for what only files have: advice to the kernel, and names that share their bytes. -1
 * where the store has no files.
 */
int blob_reader_file(const struct blob_reader *reader);

/* Ends the reading; a reset of the arena does the same. May be called again. NULL is fine. */
void blob_close(struct blob_reader *reader);

/*
 * Whether the store gives blobs second names. Where it does not, blob_link() never links, and a comparison before it
 * would be wasted.
 */
bool blob_has_links(const struct blob_store *store);

/*
 * Whether each blob is a file below blob_root(), at blob_path(), so that a web server can send it and cut it, and a
 * backup can link to it.
 */
bool blob_has_files(const struct blob_store *store);

/*
 * For a store without files: what the web server needs to fetch the blob, or a part of it (NULL: all of it), with the
 * method GET or HEAD.
 */
struct error *blob_hand_over(struct blob_store *store, struct arena *arena, struct id id, const char *method,
                             const struct blob_part *part, struct blob_handover *handover_out);

/*
 * When root has written a blob: gives it to the user whom the store belongs to. Does nothing for other users and for
 * stores without files.
 */
struct error *blob_give(struct blob_store *store, struct arena *arena, struct id id);

/* Reads the store's secrets again. Where they cannot be read, the former ones stay in use. */
struct error *blob_renew(struct blob_store *store, struct arena *arena);

/* Calls `visit` for each address of the store with what is wrong with it (NULL: nothing). Nothing for a directory. */
struct error *blob_each_endpoint(struct blob_store *store, struct arena *arena,
                                 void (*visit)(void *context, const char *endpoint, struct error *error),
                                 void *context);

/* The blob's path relative to blob_root(): "ab/" and 32 hexadecimal digits, made from the id alone. */
char *blob_path(struct arena *arena, struct id id);

/* Reads an id from the last part of such a path; false where it is no id. */
bool blob_id_of(const char *name, struct id *id_out);

/* The store's root as configured, without a trailing slash. */
const char *blob_root(const struct blob_store *store);

/*
 * Whether the store can take blobs now: it exists, is writable, and has more than BLOB_FREE_BYTES_MIN free. Leaves
 * nothing behind.
 */
struct error *blob_check(struct blob_store *store, struct arena *arena);

/* The free space. */
struct error *blob_space(struct blob_store *store, struct arena *arena, struct blob_space *space_out);

/* Removes temporary files that a crash has left: those last written before `before` (milliseconds since 1970). */
struct error *blob_sweep(struct blob_store *store, struct arena *arena, int64_t before, size_t *count_out);

/* Calls `visit` for every blob, in no particular order, until it returns an error, which is returned. */
struct error *blob_each(struct blob_store *store, struct arena *arena,
                        struct error *(*visit)(void *context, const struct blob_found *found), void *context);

/* Whether there is a blob with that id, and what blob_each() would report of it. */
struct error *blob_look(struct blob_store *store, struct arena *arena, struct id id, struct blob_found *found_out,
                        bool *there_out);

/* Calls `visit` for every name among blobs and temporary files that belongs to no blob, as blob_each() does. */
struct error *blob_each_stray(struct blob_store *store, struct arena *arena,
                              struct error *(*visit)(void *context, const struct blob_stray *stray), void *context);

/*
 * Moves a blob, or the stray `name` of `folder`, to the quarantine of the store, where nothing is looked up, replaced
 * or deleted. *where_out is its path there, relative to the root; NULL when it is no longer there.
 */
struct error *blob_set_aside(struct blob_store *store, struct arena *arena, struct id id, const char **where_out);
struct error *blob_set_stray_aside(struct blob_store *store, struct arena *arena, const char *folder, const char *name,
                                   const char **where_out);

#endif
