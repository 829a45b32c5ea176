/* SPDX-License-Identifier: MIT */
/*
 * A SHA-256 whose state can be kept and taken up again later, by another process or on another host. The kept state is
 * that of the standard (FIPS 180-4, section 6.2), not that of a library: the intermediate hash after the last whole
 * block as eight big-endian words, the number of bytes so far as a big-endian number of 64 bits, and the bytes behind
 * the last whole block. So it does not depend on the version of a library or on the machine.
 */
#ifndef GATEHOUSE_CODEC_RUNNING_DIGEST_H
#define GATEHOUSE_CODEC_RUNNING_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/digest.h"

/* 32 of the intermediate hash, 8 of the length, 64 of the last block (zeros behind its end). */
#define RUNNING_DIGEST_BYTES 104

struct arena;
struct running_digest;

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
