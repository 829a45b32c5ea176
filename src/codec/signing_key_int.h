/* SPDX-License-Identifier: MIT */
/* What the files of signing keys and key sets share. */
#ifndef GATEHOUSE_CODEC_SIGNING_KEY_INT_H
#define GATEHOUSE_CODEC_SIGNING_KEY_INT_H

#include "base/secret.h"

struct arena;
struct signing_key;

/* The private PEM text, for the library that signs; no secret in a public key. */
struct secret signing_key_private_pem(const struct signing_key *key);

/* Modulus and exponent as JWK members hold them: base64url of the big-endian bytes (RFC 7518, section 6.3.1). */
struct key_components {
    const char *n;
    const char *e;
};

/* Those of a key, for as long as it lives. */
const struct key_components *signing_key_components(const struct signing_key *key);

/* A number as bytes, the most significant first. */
struct key_number {
    const unsigned char *bytes;
    size_t length;
};

/* A public key from its modulus and exponent, as a JWK has them. Otherwise as signing_key_load_public(). */
struct error *signing_key_of_numbers(struct arena *arena, const char *kid, const struct key_number *n,
                                     const struct key_number *e, struct signing_key **key_out);

#endif
