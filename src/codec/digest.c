/* SPDX-License-Identifier: MIT */
/* SHA-256 by OpenSSL, the fastest library at hand: large uploads spend most of their time on hashing. */
#include "codec/digest.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

struct digest {
    EVP_MD_CTX *context;
};

/* SHA-256 fails only when there is no memory. The process then ends, as in the arena. */
static void must(bool done)
{
    if (done)
        return;
    static const char message[] = "gatehouse: SHA-256 failed\n";
    (void)fwrite(message, 1, sizeof message - 1, stderr);
    abort();
}

/* To look the algorithm up by its name costs more than to hash a token, so the process does it once. */
static const EVP_MD *sha256(void)
{
    static EVP_MD *algorithm;
    if (algorithm == NULL)
        algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    must(algorithm != NULL);
    return algorithm;
}

void digest_sha256(const void *bytes, size_t length, uint8_t digest_out[DIGEST_BYTES])
{
    must(EVP_Digest(bytes, length, digest_out, NULL, sha256(), NULL) == 1);
}

static void release(void *context)
{
    EVP_MD_CTX_free(context);
}

struct digest *digest_open(struct arena *arena)
{
    struct digest *digest = arena_alloc(arena, sizeof *digest);
    digest->context = EVP_MD_CTX_new();
    must(digest->context != NULL);
    arena_defer(arena, release, digest->context);
    must(EVP_DigestInit_ex2(digest->context, sha256(), NULL) == 1);
    return digest;
}

void digest_update(struct digest *digest, const void *bytes, size_t length)
{
    must(EVP_DigestUpdate(digest->context, bytes, length) == 1);
}

void digest_final(struct digest *digest, uint8_t digest_out[DIGEST_BYTES])
{
    must(EVP_DigestFinal_ex(digest->context, digest_out, NULL) == 1);
    must(EVP_DigestInit_ex2(digest->context, NULL, NULL) == 1);
}

void digest_hmac(struct secret key, const void *bytes, size_t length, uint8_t digest_out[DIGEST_BYTES])
{
    must(key.bytes != NULL && key.length > 0 && key.length <= INT_MAX);
    must(HMAC(sha256(), key.bytes, (int)key.length, bytes, length, digest_out, NULL) != NULL);
}

bool digest_equal(const uint8_t a[DIGEST_BYTES], const uint8_t b[DIGEST_BYTES])
{
    return CRYPTO_memcmp(a, b, DIGEST_BYTES) == 0;
}
