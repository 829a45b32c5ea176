/* SPDX-License-Identifier: MIT */
/*
 * Bytes of blobs that arrive in pieces, over several requests, workers and hosts. What blob_partial_sync() has made
 * durable is there for the next piece; how many bytes that are is for the caller to remember. In the end the bytes
 * become a blob like any other: blob_partial_finish() gives a writer whose commit gives them the name of a blob.
 *
 * Errors as of blob/blob.h. A kind of store that keeps no such bytes has no `partial` in its functions.
 */
#ifndef GATEHOUSE_BLOB_PARTIAL_H
#define GATEHOUSE_BLOB_PARTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "codec/digest.h"

struct arena;
struct blob_partial;
struct blob_store;
struct blob_writer;
struct error;

/* Bytes as blob_partial_each() finds them. */
struct blob_partial_found {
    struct id id;
    uint64_t size;    /* of all that the store has of it */
    int64_t modified; /* milliseconds since 1970 */
};

enum blob_partial_state {
    BLOB_PARTIAL_OPEN,
    BLOB_PARTIAL_BUSY, /* another process has them open */
    BLOB_PARTIAL_LOST  /* they are not there */
};

/* The functions of a kind of store; see the calls of the same name below. `state` is what `open` made. */
struct blob_partial_functions {
    bool locks; /* see blob_partials_lock() */
    struct error *(*create)(struct blob_store *store, struct arena *arena, struct id id);
    struct error *(*open)(struct blob_store *store, struct arena *arena, struct id id, void **state_out,
                          enum blob_partial_state *outcome_out);
    struct error *(*go_on)(struct blob_store *store, struct arena *arena, void *state, uint64_t size, bool *there_out);
    struct error *(*write)(struct blob_store *store, struct arena *arena, void *state, const void *bytes,
                           size_t length);
    struct error *(*sync)(struct blob_store *store, struct arena *arena, void *state);
    void (*close)(struct blob_store *store, void *state);
    struct error *(*remove)(struct blob_store *store, struct arena *arena, struct id id);
    struct error *(*each)(struct blob_store *store, struct arena *arena,
                          struct error *(*visit)(void *context, const struct blob_partial_found *found), void *context);
};

/* Whether the store keeps bytes that arrive in pieces. The other calls are for stores that do. */
bool blob_has_partials(const struct blob_store *store);

/*
 * Whether blob_partial_open() keeps other processes out, so that who has the bytes open knows that no other writer
 * lives. Where it does not, the caller decides who writes.
 */
bool blob_partials_lock(const struct blob_store *store);

/* Makes an empty place for the bytes; INTERNAL when there is one of that id, where the store has places. */
struct error *blob_partial_create(struct blob_store *store, struct arena *arena, struct id id);

/*
 * Opens the bytes, in a store that locks for one process at a time; the lock ends with the process. *partial_out is
 * NULL unless the outcome is BLOB_PARTIAL_OPEN; a reset of the arena closes it.
 */
struct error *blob_partial_open(struct blob_store *store, struct arena *arena, struct id id,
                                struct blob_partial **partial_out, enum blob_partial_state *outcome_out);

/*
 * Goes on behind the first `size` bytes, before anything is written: as many as a blob_partial_sync() has made durable.
 * What was written behind them is dropped. *there_out is false when there are fewer.
 */
struct error *blob_partial_go_on(struct blob_partial *partial, uint64_t size, bool *there_out);

/* Adds bytes. */
struct error *blob_partial_write(struct blob_partial *partial, const void *bytes, size_t length);

/*
 * Makes all bytes durable; the caller notes how many that are before it calls again. After an error nothing more may be
 * made of what was written since the last good call.
 */
struct error *blob_partial_sync(struct blob_partial *partial);

/* Closes; the bytes stay. May be called again, and after blob_partial_finish(). */
void blob_partial_close(struct blob_partial *partial);

/*
 * A writer (blob/blob.h) that has ended with these bytes, `size` of them with that SHA-256. Its commit leaves the
 * place of the bytes for blob_partial_remove(); its abort leaves the bytes as they are.
 */
struct blob_writer *blob_partial_finish(struct blob_partial *partial, uint64_t size,
                                        const uint8_t digest[DIGEST_BYTES]);

/* Removes the bytes; missing ones are no error. */
struct error *blob_partial_remove(struct blob_store *store, struct arena *arena, struct id id);

/* Calls `visit` for every place, in no particular order, until it returns an error, which is returned. */
struct error *blob_partial_each(struct blob_store *store, struct arena *arena,
                                struct error *(*visit)(void *context, const struct blob_partial_found *found),
                                void *context);

#endif
