/* SPDX-License-Identifier: MIT */
/* The headers of resumable uploads (tus 1.0.0): Upload-Metadata, Upload-Checksum, and numbers. Pure functions. */
#ifndef GATEHOUSE_HTTP_UPLOAD_HEADER_H
#define GATEHOUSE_HTTP_UPLOAD_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/digest.h"

struct arena;

#define UPLOAD_METADATA_BYTES 8192
#define UPLOAD_METADATA_PAIRS 16

/* One pair of Upload-Metadata. Both are texts in the arena, the value UTF-8 without NUL. */
struct upload_metadata_pair {
    const char *key;
    const char *value;
};

struct upload_metadata {
    struct upload_metadata_pair pairs[UPLOAD_METADATA_PAIRS];
    size_t count;
};

/*
 * Reads "key base64,key base64,key": at most UPLOAD_METADATA_BYTES and UPLOAD_METADATA_PAIRS, each key once. NULL when
 * it is well formed, else what is wrong, as a phrase.
 */
const char *upload_metadata_read(struct arena *arena, const char *header, struct upload_metadata *metadata_out);

enum upload_checksum { UPLOAD_CHECKSUM_GOOD, UPLOAD_CHECKSUM_UNKNOWN_ALGORITHM, UPLOAD_CHECKSUM_MALFORMED };

/* Reads "sha256 base64". */
enum upload_checksum upload_checksum_read(struct arena *arena, const char *header, uint8_t digest_out[DIGEST_BYTES]);

/* Reads a whole number of 0 or more: digits alone. */
bool upload_number_read(const char *header, int64_t *number_out);

#endif
