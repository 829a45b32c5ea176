/* SPDX-License-Identifier: MIT */
/*
 * RSA keys that sign tokens (RS256, RFC 7518, section 3.3), and the set of keys that verify them. A key is parsed once
 * and kept, since parsing its PEM text costs twenty times as much as a verification. Loading refuses keys under 2048 or
 * over 8192 bits, keys whose exponent is even or below 3, and keys of any other kind.
 */
#ifndef GATEHOUSE_CODEC_SIGNING_KEY_H
#define GATEHOUSE_CODEC_SIGNING_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/secret.h"

#define SIGNING_KEY_BITS 2048
#define SIGNING_KEY_BITS_MAX 8192

/* The longest kid; the service's own have 43 characters. */
#define SIGNING_KEY_KID_BYTES 64

/* The most keys in a set. */
#define KEY_SET_KEYS 16

struct arena;
struct error;
struct key_set;
struct signing_key;

/* A new pair as it is stored. */
struct signing_key_pair {
    struct secret private_pem; /* PKCS #8, not encrypted: seal it */
    const char *public_pem;    /* SubjectPublicKeyInfo */
    const char *kid;           /* the RFC 7638 thumbprint of the public key, SHA-256, base64url */
};

/* Makes an RSA key pair of SIGNING_KEY_BITS bits (some 100 ms). INTERNAL when the library cannot. */
struct error *signing_key_generate(struct arena *arena, struct signing_key_pair *pair_out);

/*
 * Parses a key into a handle that lives as long as the arena (give it the process's own). `kid` is 1 to
 * SIGNING_KEY_KID_BYTES printable ASCII characters other than `"` and `\`; NULL takes the thumbprint. INTERNAL when the
 * text is not exactly one unencrypted key of the right kind, or when the key is refused (see above).
 */
struct error *signing_key_load_private(struct arena *arena, const char *kid, struct secret pem,
                                       struct signing_key **key_out);
struct error *signing_key_load_public(struct arena *arena, const char *kid, const char *pem,
                                      struct signing_key **key_out);

const char *signing_key_kid(const struct signing_key *key);

/* Whether the handle can sign. */
bool signing_key_is_private(const struct signing_key *key);

/*
 * Whether `signature` is RSASSA-PKCS1-v1_5 with SHA-256 by this key over the bytes. One RSA verification at
 * most, none when the signature's length is not the modulus'.
 */
bool signing_key_verify(const struct signing_key *key, const void *bytes, size_t length, const unsigned char *signature,
                        size_t signature_length);

/* An empty set; it and its keys live as long as the arenas they were made in. */
struct key_set *key_set_new(struct arena *arena);

/* Adds a key. INTERNAL when the set is full or has a key with that kid already. */
struct error *key_set_add(struct key_set *set, const struct signing_key *key);

/* The key with exactly that kid (`length` bytes); NULL when there is none. */
const struct signing_key *key_set_find(const struct key_set *set, const char *kid, size_t length);

size_t key_set_count(const struct key_set *set);

/*
 * A number that stands for this set with these keys: it changes with every key added, and no two sets share one (64
 * random bits). A token that was verified under another generation must be verified again.
 */
uint64_t key_set_generation(const struct key_set *set);

/*
 * The public halves as a JWK Set (RFC 7517, section 5):
 * {"keys":[{"kty":"RSA","use":"sig","alg":"RS256","kid",…}]}.
 */
char *key_set_json(struct arena *arena, const struct key_set *set);

/*
 * Reads a JWK Set that an issuer publishes. It takes the keys that can verify RS256: kty RSA, use sig or none, alg
 * RS256 or none, with a kid. It leaves out all others, and keys that signing_key_load_public() would refuse. INTERNAL
 * when the text is no key set, holds a kid twice, has more than KEY_SET_KEYS usable keys or none at all: such a set
 * must never replace a good one. The set lives as long as the arena.
 */
struct error *key_set_read(struct arena *arena, const char *bytes, size_t length, struct key_set **set_out);

#endif
