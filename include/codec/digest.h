/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4), at once or as a stream, and HMAC with it (RFC 2104). */
#ifndef GATEHOUSE_CODEC_DIGEST_H
#define GATEHOUSE_CODEC_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/secret.h"

#define DIGEST_BYTES 32

struct arena;
struct digest;

/* The digest of `length` bytes. When the library has no memory, the process ends. */
void digest_sha256(const void *bytes, size_t length, uint8_t digest_out[DIGEST_BYTES]);

/* Starts a stream; it is released with the arena. */
struct digest *digest_open(struct arena *arena);
void digest_update(struct digest *digest, const void *bytes, size_t length);

/* The digest of everything added. The stream then starts again and can take the next text. */
void digest_final(struct digest *digest, uint8_t digest_out[DIGEST_BYTES]);

/* HMAC-SHA-256 of `length` bytes; the key holds at least one byte. */
void digest_hmac(struct secret key, const void *bytes, size_t length, uint8_t digest_out[DIGEST_BYTES]);

/* Whether two digests are the same, in constant time. */
bool digest_equal(const uint8_t a[DIGEST_BYTES], const uint8_t b[DIGEST_BYTES]);

#endif
