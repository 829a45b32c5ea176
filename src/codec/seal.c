/* SPDX-License-Identifier: MIT */
#include "codec/seal.h"

#include <sodium.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/digest.h"
#include "codec/random.h"

#define VERSION 1
#define NONCE_BYTES crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define TAG_BYTES crypto_aead_xchacha20poly1305_ietf_ABYTES

_Static_assert(SEAL_OVERHEAD_BYTES == 1 + NONCE_BYTES + TAG_BYTES, "the header states the overhead");
_Static_assert(DIGEST_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "a digest serves as the key");

/* One key a purpose; what is derived says nothing about the master secret or the other keys. */
static struct error *derive(struct arena *arena, struct secret master, const char *purpose,
                            uint8_t key_out[DIGEST_BYTES])
{
    if (master.bytes == NULL || master.length < SEAL_MASTER_BYTES)
        return error_new(arena, ERROR_INTERNAL, "the master secret is shorter than %d bytes",
                         SEAL_MASTER_BYTES);
    if (sodium_init() < 0)
        return error_new(arena, ERROR_INTERNAL, "libsodium does not start");
    const char *label = arena_format(arena, "gatehouse seal %d:%s", VERSION, purpose);
    digest_hmac(master, label, strlen(label), key_out);
    return NULL;
}

struct error *seal(struct arena *arena, struct secret master, const char *purpose, const void *bytes,
                   size_t length, unsigned char **sealed_out, size_t *sealed_length_out)
{
    uint8_t key[DIGEST_BYTES];
    TRY(derive(arena, master, purpose, key));
    unsigned char *sealed = arena_alloc(arena, length + SEAL_OVERHEAD_BYTES);
    sealed[0] = VERSION;
    random_bytes(sealed + 1, NONCE_BYTES);
    unsigned long long written = 0;
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(sealed + 1 + NONCE_BYTES, &written, bytes, length,
                                                     (const unsigned char *)purpose, strlen(purpose), NULL,
                                                     sealed + 1, key);
    sodium_memzero(key, sizeof key);
    *sealed_out = sealed;
    *sealed_length_out = 1 + NONCE_BYTES + (size_t)written;
    return NULL;
}

struct error *unseal(struct arena *arena, struct secret master, const char *purpose, const void *sealed,
                     size_t length, struct secret *secret_out)
{
    const unsigned char *bytes = sealed;
    if (length < SEAL_OVERHEAD_BYTES || bytes[0] != VERSION)
        return error_new(arena, ERROR_INTERNAL, "what is sealed for %s is cut or of an unknown version",
                         purpose);
    uint8_t key[DIGEST_BYTES];
    TRY(derive(arena, master, purpose, key));
    unsigned char *opened = arena_alloc(arena, length - SEAL_OVERHEAD_BYTES + 1);
    unsigned long long written = 0;
    int wrong = crypto_aead_xchacha20poly1305_ietf_decrypt(
        opened, &written, NULL, bytes + 1 + NONCE_BYTES, length - 1 - NONCE_BYTES,
        (const unsigned char *)purpose, strlen(purpose), bytes + 1, key);
    sodium_memzero(key, sizeof key);
    if (wrong != 0)
        return error_new(arena, ERROR_INTERNAL, "what is sealed for %s does not open with this secret file",
                         purpose);
    *secret_out = (struct secret){.bytes = opened, .length = (size_t)written};
    return NULL;
}
