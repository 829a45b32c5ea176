/* SPDX-License-Identifier: MIT */
/*
 * Blobs in a bucket of a store that speaks the S3 protocol:
 *
 *     <prefix><last two hex digits of the id>/<32 hex digits of the id>
 *     <prefix>quarantine/<name>         what fsck has moved aside
 *
 * A blob is first written to the spool, a directory of this machine (blob/directory.h), so that its length and its
 * SHA-256 are known before the store hears of it, and so that it can be sent again. The commit sends it: in one PUT, or
 * from BLOB_S3_MULTIPART_BYTES on in parts. The store compares the bytes with the SHA-256 in the signature. The digest
 * is kept beside the object, where blob_look() finds it.
 *
 * Each call has a deadline, in which it is tried again at the other endpoints. Where an answer was lost, the object is
 * looked at and compared. A blob of the same id and the same bytes that is there already counts as committed. After an
 * error of blob_commit() whose reason is a lost answer, the object may appear later; fsck finds it.
 *
 * The store has no second names (blob_link()) and no files (blob_has_files()). Its free space is that of the spool.
 */
#ifndef GATEHOUSE_BLOB_S3_S3_H
#define GATEHOUSE_BLOB_S3_S3_H

#include <stdint.h>

#include "base/text.h"

struct arena;
struct blob_store;
struct error;

/* From this size on a blob is sent in parts, of so many bytes at least. */
#define BLOB_S3_MULTIPART_BYTES (UINT64_C(64) * 1024 * 1024)
#define BLOB_S3_PART_BYTES (UINT64_C(16) * 1024 * 1024)

/* The name of the folder under which the web server knows the store (blob_hand_over()). */
#define BLOB_S3_FOLDER "s3"

struct blob_s3_options {
    struct text_list endpoints; /* https://host[:port], or http for this machine; tried in this order */
    const char *bucket;
    const char *region;
    const char *prefix; /* of all keys; "" or text that ends with a slash */
    const char *access_key;
    const char *secret_key_file;
    const char *ca_file; /* NULL: the system's certificates */
    const char *spool;   /* an existing directory */
    int64_t timeout_seconds;
    uint64_t multipart_bytes; /* 0: BLOB_S3_MULTIPART_BYTES */
    uint64_t part_bytes;      /* 0: BLOB_S3_PART_BYTES */
};

/*
 * Opens the store, without a call to it. The store lives in `arena` (the process's, not a request's). INTERNAL, with a
 * sentence for the operator, for options that cannot be used; STORAGE_UNAVAILABLE when the spool cannot be opened.
 */
struct error *blob_s3_open(struct arena *arena, const struct blob_s3_options *options, struct blob_store **store_out);

#endif
