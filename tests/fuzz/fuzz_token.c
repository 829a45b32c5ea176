/* SPDX-License-Identifier: MIT */
/* Targets for tokens: the whole text, the claims behind a signature that holds, and an issuer's key set. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "codec/encoding.h"
#include "codec/signing_key.h"
#include "codec/token.h"
#include "fuzz.h"

#define NOW INT64_C(1700000000)
#define ISSUER "https://accounts.example.com"
#define KEYS                                                                                                           \
    "{\"keys\":[{\"kty\":\"RSA\",\"use\":\"sig\",\"alg\":\"RS256\",\"kid\":\"k\",\"e\":\"AQAB\",\"n\":\"" MODULUS      \
    "\"}]}"
#define MODULUS                                                                                                        \
    "1CIjmwnZ1magb-eZcJv7M3Y_O-LTJv3XowofD7TYUii6CXbtn2Z6BFhNiYidFflkgCqK0-6xpHmm42gPp_jgP0QGuzNgQwmt7nDy"             \
    "KFlLhSjjF5SOjNX2_fa1Kw8iJoiDiQXtD-S8RxOph9cKoF2KHHm_gZCouNP7FJ1nR6KkJsrXJMEOQxHU68aw6lv2dEEaLFVtVVTk"             \
    "xVmYz2cQKQypRLufeC2IJ391c6rRPdWM9nW5YMnDW-d1RJ2rKnT2ANv-xoWOzEVKfOIToUvvylmkH65KUuBpmYg9J2_TYBFBTJYc"             \
    "x5Gzzv0EE3Tr6YJhnmLLgveW5XvVQXQJsRcG1we2vQ"

static struct token_rules rules(void)
{
    static struct arena *kept;
    static struct key_set *keys;
    if (kept == NULL) {
        kept = arena_new();
        fuzz_expect(key_set_read(kept, KEYS, strlen(KEYS), &keys) == NULL, "the tests' own key set is good");
    }
    return (struct token_rules){.keys = keys,
                                .issuer = ISSUER,
                                .audience = "gatehouse",
                                .token_use = TOKEN_USE_ACCESS,
                                .session_claim = "sid",
                                .leeway = LIMIT_TOKEN_LEEWAY_SECONDS,
                                .now = NOW};
}

/* Nobody has the private key, so no text is a good token. */
void fuzz_token(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct token_rules wanted = rules();
    struct token_claims claims = {.issued_at = -1};
    const char *reason = NULL;
    enum token_result result = token_verify(arena, &wanted, (const char *)bytes, size, &claims, &reason);
    fuzz_expect(result == TOKEN_INVALID, "a token without a signature is refused");
    fuzz_expect(reason != NULL && claims.issued_at == -1, "a refusal has a reason and tells nothing");
}

static void check_claims(const struct token_rules *wanted, const struct token_claims *claims)
{
    fuzz_expect(!id_is_none(claims->subject) && !id_is_none(claims->session), "a good token names user and session");
    fuzz_expect(claims->issued_at >= 0 && claims->expires_at > claims->issued_at, "a good token ends after its begin");
    fuzz_expect(claims->expires_at > wanted->now - wanted->leeway, "a good token has not expired");
    fuzz_expect(claims->issued_at <= wanted->now + wanted->leeway && claims->not_before <= wanted->now + wanted->leeway,
                "a good token has begun");
}

/* The input is the payload; with other rules it may be one of a remote issuer. */
void fuzz_claims(struct arena *arena, const uint8_t *bytes, size_t size)
{
    static const char *const names[] = {"origin_jti", "jti", NULL};
    const char *header = "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"k\"}";
    const char *text = arena_format(arena, "%s.%s.c2ln", base64url_encode(arena, header, strlen(header)),
                                    base64url_encode(arena, bytes, size));
    struct token_claims claims;
    struct token_rules wanted = rules();
    fuzz_signatures_hold = true;
    if (token_verify(arena, &wanted, text, strlen(text), &claims, NULL) == TOKEN_GOOD) {
        check_claims(&wanted, &claims);
        const char *payload = arena_copy(arena, bytes, size);
        fuzz_expect(strlen(text) <= LIMIT_TOKEN_BYTES, "a token is bounded");
        fuzz_expect(utf8_valid(payload, size), "claims are UTF-8");
    }
    wanted.session_claim = NULL;
    wanted.session_names = names;
    wanted.audience_claim = "azp";
    wanted.use_claim = "typ";
    wanted.token_use = "Bearer";
    if (token_verify(arena, &wanted, text, strlen(text), &claims, NULL) == TOKEN_GOOD)
        check_claims(&wanted, &claims);
    fuzz_signatures_hold = false;
}

void fuzz_key_set(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct key_set *keys;
    struct key_set *again;
    if (key_set_read(arena, (const char *)bytes, size, &keys) != NULL)
        return;
    fuzz_expect(key_set_count(keys) > 0 && key_set_count(keys) <= KEY_SET_KEYS, "a key set has 1 to 16 keys");
    const char *json = key_set_json(arena, keys);
    fuzz_expect(key_set_read(arena, json, strlen(json), &again) == NULL && key_set_count(again) == key_set_count(keys),
                "a key set that is written can be read");
}
