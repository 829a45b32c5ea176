/* SPDX-License-Identifier: MIT */
/*
 * Password storage: Argon2id (RFC 9106) in the encoded form "$argon2id$v=19$m=…,t=…,p=1$salt$hash". A hash takes the
 * configured memory and some 40 ms of a core, on purpose; call it from the login pool only.
 */
#ifndef GATEHOUSE_CODEC_PASSWORD_HASH_H
#define GATEHOUSE_CODEC_PASSWORD_HASH_H

#include <stdbool.h>

#include "base/secret.h"

struct arena;
struct error;

enum password_match {
    PASSWORD_WRONG,
    PASSWORD_RIGHT,
    PASSWORD_RIGHT_BUT_WEAK, /* right, but the stored hash has another cost than the configured one: hash again */
    PASSWORD_UNDECIDED       /* not compared: the stored hash is damaged, or there is not enough memory */
};

/* The cost: memory in KiB (at least 8) and passes (at least 1). */
struct password_cost {
    unsigned memory_kib;
    unsigned passes;
};

/*
 * Hashes with a new random salt. Every byte of the password counts. INTERNAL when there is not enough memory or the
 * cost is out of bounds. *hash_out is ASCII of under 128 characters.
 */
struct error *password_hash(struct arena *arena, struct secret password, struct password_cost cost, char **hash_out);

/* Compares a password with a stored hash. The time depends on the cost that the stored hash names. */
enum password_match password_verify(const char *hash, struct secret password, struct password_cost cost);

#endif
