/* SPDX-License-Identifier: MIT */
/* SHA-256 by OpenSSL, the fastest library at hand: large uploads spend most of their time on hashing. */
#include "codec/digest.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"

struct digest {
    EVP_MD_CTX *context;
};

/* SHA-256 fails only when there is no memory. */
static void must(bool done)
{
    if (!done)
        memory_end("SHA-256");
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

void digest_load(void)
{
    (void)OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL);
    (void)sha256();
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

/* ---- a digest that is put away and taken up again ------------------------------------------------ */

/*
 * The blocks go through OpenSSL's SHA256_CTX, whose members are public: h is the intermediate hash, Nl and Nh the
 * number of bits. OpenSSL 3 discourages it for the interface above it, which cannot give its state away. Only whole
 * blocks are handed over, so the context never keeps bytes of its own.
 */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define BLOCK_BYTES 64
#define WORDS 8

struct running_digest {
    SHA256_CTX blocks;
    uint64_t length;
    uint8_t tail[BLOCK_BYTES]; /* the bytes behind the last whole block */
};

struct running_digest *running_digest_new(struct arena *arena)
{
    struct running_digest *digest = arena_alloc(arena, sizeof *digest);
    (void)SHA256_Init(&digest->blocks);
    return digest;
}

uint64_t running_digest_length(const struct running_digest *digest)
{
    return digest->length;
}

void running_digest_update(struct running_digest *digest, const void *bytes, size_t length)
{
    const uint8_t *from = bytes;
    size_t kept = digest->length % BLOCK_BYTES;
    digest->length += length;
    if (kept > 0) {
        size_t free_bytes = BLOCK_BYTES - kept;
        size_t step = length < free_bytes ? length : free_bytes;
        memcpy(digest->tail + kept, from, step);
        from += step;
        length -= step;
        if (step < free_bytes)
            return;
        (void)SHA256_Update(&digest->blocks, digest->tail, BLOCK_BYTES);
    }
    size_t whole = length - length % BLOCK_BYTES;
    (void)SHA256_Update(&digest->blocks, from, whole);
    if (length > whole)
        memcpy(digest->tail, from + whole, length - whole);
}

static void write_number(uint8_t *out, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(number >> (8 * (bytes - 1 - i)));
}

static uint64_t read_number(const uint8_t *from, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number = number << 8 | from[i];
    return number;
}

void running_digest_save(const struct running_digest *digest, uint8_t state_out[RUNNING_DIGEST_BYTES])
{
    memset(state_out, 0, RUNNING_DIGEST_BYTES);
    for (size_t i = 0; i < WORDS; i++)
        write_number(state_out + 4 * i, digest->blocks.h[i], 4);
    write_number(state_out + DIGEST_BYTES, digest->length, 8);
    memcpy(state_out + DIGEST_BYTES + 8, digest->tail, digest->length % BLOCK_BYTES);
}

struct running_digest *running_digest_load(struct arena *arena, const void *state, size_t length)
{
    const uint8_t *from = state;
    if (length != RUNNING_DIGEST_BYTES)
        return NULL;
    struct running_digest *digest = running_digest_new(arena);
    digest->length = read_number(from + DIGEST_BYTES, 8);
    size_t kept = digest->length % BLOCK_BYTES;
    for (size_t i = kept; i < BLOCK_BYTES; i++)
        if (from[DIGEST_BYTES + 8 + i] != 0)
            return NULL;
    for (size_t i = 0; i < WORDS; i++)
        digest->blocks.h[i] = (SHA_LONG)read_number(from + 4 * i, 4);
    uint64_t bits = (digest->length - kept) * 8;
    digest->blocks.Nl = (SHA_LONG)(bits & 0xffffffff);
    digest->blocks.Nh = (SHA_LONG)(bits >> 32);
    memcpy(digest->tail, from + DIGEST_BYTES + 8, kept);
    return digest;
}

void running_digest_result(const struct running_digest *digest, uint8_t digest_out[DIGEST_BYTES])
{
    SHA256_CTX last = digest->blocks;
    (void)SHA256_Update(&last, digest->tail, digest->length % BLOCK_BYTES);
    (void)SHA256_Final(digest_out, &last);
}
