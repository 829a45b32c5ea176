/* SPDX-License-Identifier: MIT */
/*
 * Authenticated encryption of what we store for ourselves (signing keys): XChaCha20-Poly1305 with a fresh
 * random nonce. The key is derived from the service's master secret and the purpose, and the purpose is
 * authenticated too, so that a sealed thing opens only where it was meant to be. Name the row in the purpose
 * ("signing-key:<kid>"): then one row's sealed value cannot be put in another's place either.
 *
 * Sealed form: one version byte (1), 24 bytes of nonce, the ciphertext with its 16-byte tag.
 */
#ifndef GATEHOUSE_CODEC_SEAL_H
#define GATEHOUSE_CODEC_SEAL_H

#include <stddef.h>

#include "base/secret.h"

/* What sealing adds to the length. */
#define SEAL_OVERHEAD_BYTES 41

/* The master secret holds at least this many bytes. */
#define SEAL_MASTER_BYTES 32

struct arena;
struct error;

/*
 * Reads the secret file: one key a line, each of at least SEAL_MASTER_BYTES in hexadecimal digits, at most LIMIT_MASTER_KEYS.
 * The first seals; those behind it are `older` and only open. INTERNAL with a sentence for the operator otherwise.
 */
struct error *seal_master_read(struct arena *arena, const char *path, struct secret *master_out);

/* Seals `length` bytes into the arena. INTERNAL when the master secret is missing or too short. */
struct error *seal(struct arena *arena, struct secret master, const char *purpose, const void *bytes,
                   size_t length, unsigned char **sealed_out, size_t *sealed_length_out);

/*
 * Opens what seal() made with the same master secret, or an older one of it, and purpose. INTERNAL when it does not open: another
 * secret, another purpose, a changed or cut value.
 */
struct error *unseal(struct arena *arena, struct secret master, const char *purpose, const void *sealed,
                     size_t length, struct secret *secret_out);

#endif
