/* SPDX-License-Identifier: MIT */
/* Tokens made by hand for the tests, good and bad, signed in every way that an attacker (or we) could. */
#ifndef GATEHOUSE_TESTS_CODEC_FORGE_H
#define GATEHOUSE_TESTS_CODEC_FORGE_H

#include <stddef.h>
#include <stdint.h>

#include "codec/signing_key.h"
#include "codec/token.h"

struct arena;

#define FORGE_NOW INT64_C(1700000000)
#define FORGE_ISSUER "https://accounts.example.com"
#define FORGE_AUDIENCE "gatehouse"
#define FORGE_SUBJECT "01890a5d-ac96-774b-bcce-b302099a8057"
#define FORGE_SESSION "01890a5d-ac96-774b-bcce-b302099a8058"

enum forge_signature {
    FORGE_RS256,
    FORGE_RS384,
    FORGE_RS512,
    FORGE_RS1,       /* PKCS #1 v1.5 with SHA-1 */
    FORGE_PS256,     /* RSA-PSS by our key */
    FORGE_OTHER_KEY, /* RS256 by somebody else's key */
    FORGE_HS256_PEM, /* HMAC with our public PEM text as the secret */
    FORGE_HS384_PEM,
    FORGE_HS512_PEM,
    FORGE_HS256_DER, /* HMAC with the bytes inside the PEM */
    FORGE_HS256_EMPTY,
    FORGE_NOTHING, /* no signature bytes */
    FORGE_ZEROS    /* as many zero bytes as the modulus has */
};

/* Keys are made once for the whole program. */
const struct signing_key_pair *forge_pair(void);
const struct signing_key_pair *forge_other_pair(void);
const struct signing_key *forge_private_key(void);
const struct signing_key *forge_other_private_key(void);

/* The header that our own tokens have. */
const char *forge_header(struct arena *arena);

/*
 * A good access token's claims with `name` set to the JSON text `value`: replaced, added, or (value NULL)
 * left out. name NULL changes nothing.
 */
const char *forge_payload(struct arena *arena, const char *name, const char *value);

/* The compact form of header and payload, signed; both are bytes of the given lengths. */
char *forge_bytes(struct arena *arena, const char *header, size_t header_length, const char *payload,
                  size_t payload_length, enum forge_signature signature);
char *forge_token(struct arena *arena, const char *header, const char *payload, enum forge_signature signature);

/* The rules that forge_token(forge_header(), forge_payload(NULL)) follows, with a set of our key alone. */
struct token_rules forge_rules(struct arena *arena);

/* The token must be refused for `wanted`, and nothing be told of its claims. */
void forge_assert_refused(struct arena *arena, const struct token_rules *rules, const char *token, size_t length,
                          const char *wanted, const char *name);

#endif
