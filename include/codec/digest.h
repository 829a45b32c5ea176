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
struct running_digest;

/* Starts OpenSSL with what its configuration names, for a process that may load no library later. */
void digest_load(void);

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

/*
 * A SHA-256 whose state can be kept and taken up again later, by another process or on another host. The kept state is
 * that of the standard (FIPS 180-4, section 6.2), not that of a library: the intermediate hash after the last whole
 * block as eight big-endian words, the number of bytes so far as a big-endian number of 64 bits, and the bytes behind
 * the last whole block. So it does not depend on the version of a library or on the machine.
 */

/* 32 of the intermediate hash, 8 of the length, 64 of the last block (zeros behind its end). */
#define RUNNING_DIGEST_BYTES 104

/* The digest of nothing yet, in the arena. */
struct running_digest *running_digest_new(struct arena *arena);

void running_digest_update(struct running_digest *digest, const void *bytes, size_t length);

/* Bytes added so far. */
uint64_t running_digest_length(const struct running_digest *digest);

/* Writes the state, from which running_digest_load() goes on. */
void running_digest_save(const struct running_digest *digest, uint8_t state_out[RUNNING_DIGEST_BYTES]);

/* NULL when `length` is not RUNNING_DIGEST_BYTES, or the bytes behind the last block are not zeros. */
struct running_digest *running_digest_load(struct arena *arena, const void *state, size_t length);

/* The digest of all that was added. It may still be saved or added to afterwards. */
void running_digest_result(const struct running_digest *digest, uint8_t digest_out[DIGEST_BYTES]);

#endif
