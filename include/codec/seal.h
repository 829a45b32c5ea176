/* SPDX-License-Identifier: MIT */
/*
 * Authenticated encryption of what the service stores for itself, such as signing keys: XChaCha20-Poly1305 with a new
 * random nonce.
 *
 * The key is derived from the service's master secret and the purpose, and the purpose is authenticated too. So a
 * sealed value opens only for its own purpose. Name the row in the purpose ("signing-key:<kid>"): then the sealed value
 * of one row cannot take the place of another's.
 *
 * Sealed form: one version byte (1), 24 bytes of nonce, the ciphertext with its 16-byte tag.
 */
#ifndef GATEHOUSE_CODEC_SEAL_H
#define GATEHOUSE_CODEC_SEAL_H

#include <stddef.h>

#include "base/secret.h"

/* What sealing adds to the length. */
#define SEAL_OVERHEAD_BYTES 41

/* The least length of the master secret. */
#define SEAL_MASTER_BYTES 32

struct arena;
struct error;

/*
 * Reads the secret file: one key a line, each of at least SEAL_MASTER_BYTES in hexadecimal digits, at most
 * LIMIT_MASTER_KEYS. The first one seals; the others are `older` and only open. INTERNAL with a sentence for the
 * operator otherwise.
 */
struct error *seal_master_read(struct arena *arena, const char *path, struct secret *master_out);

/* Seals `length` bytes into the arena. INTERNAL when the master secret is missing or too short. */
struct error *seal(struct arena *arena, struct secret master, const char *purpose, const void *bytes, size_t length,
                   unsigned char **sealed_out, size_t *sealed_length_out);

/*
 * Opens what seal() made for the same purpose with the same master secret or an older key of it. INTERNAL when it does
 * not open: another secret, another purpose, a changed or cut value.
 */
struct error *unseal(struct arena *arena, struct secret master, const char *purpose, const void *sealed, size_t length,
                     struct secret *secret_out);

#endif
