/* SPDX-License-Identifier: MIT */
/* Seals and opens values with XChaCha20-Poly1305 under the keys of the secret file. */
#include "codec/seal.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "codec/random.h"

#define VERSION 1
#define NONCE_BYTES crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define TAG_BYTES crypto_aead_xchacha20poly1305_ietf_ABYTES

_Static_assert(SEAL_OVERHEAD_BYTES == 1 + NONCE_BYTES + TAG_BYTES, "the header states the overhead");
_Static_assert(DIGEST_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "a digest serves as the key");

/* Each purpose has a key of its own. A derived key reveals nothing about the master secret or other keys. */
static struct error *derive(struct arena *arena, struct secret master, const char *purpose,
                            uint8_t key_out[DIGEST_BYTES])
{
    if (master.bytes == NULL || master.length < SEAL_MASTER_BYTES)
        return error_new(arena, ERROR_INTERNAL, "the master secret is shorter than %d bytes", SEAL_MASTER_BYTES);
    if (sodium_init() < 0)
        return error_new(arena, ERROR_INTERNAL, "libsodium does not start");
    const char *label = arena_format(arena, "gatehouse seal %d:%s", VERSION, purpose);
    digest_hmac(master, label, strlen(label), key_out);
    return NULL;
}

struct error *seal(struct arena *arena, struct secret master, const char *purpose, const void *bytes, size_t length,
                   unsigned char **sealed_out, size_t *sealed_length_out)
{
    uint8_t key[DIGEST_BYTES];
    TRY(derive(arena, master, purpose, key));
    unsigned char *sealed = arena_alloc(arena, length + SEAL_OVERHEAD_BYTES);
    sealed[0] = VERSION;
    random_bytes(sealed + 1, NONCE_BYTES);
    unsigned long long written = 0;
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(sealed + 1 + NONCE_BYTES, &written, bytes, length,
                                                     (const unsigned char *)purpose, strlen(purpose), NULL, sealed + 1,
                                                     key);
    sodium_memzero(key, sizeof key);
    *sealed_out = sealed;
    *sealed_length_out = 1 + NONCE_BYTES + (size_t)written;
    return NULL;
}

static struct error *open_with(struct arena *arena, struct secret master, const char *purpose,
                               const unsigned char *bytes, size_t length, struct secret *secret_out, bool *opened_out)
{
    uint8_t key[DIGEST_BYTES];
    TRY(derive(arena, master, purpose, key));
    unsigned char *opened = arena_alloc(arena, length - SEAL_OVERHEAD_BYTES + 1);
    unsigned long long written = 0;
    int wrong = crypto_aead_xchacha20poly1305_ietf_decrypt(opened, &written, NULL, bytes + 1 + NONCE_BYTES,
                                                           length - 1 - NONCE_BYTES, (const unsigned char *)purpose,
                                                           strlen(purpose), bytes + 1, key);
    sodium_memzero(key, sizeof key);
    *opened_out = wrong == 0;
    if (wrong == 0)
        *secret_out = (struct secret){.bytes = opened, .length = (size_t)written};
    return NULL;
}

struct error *unseal(struct arena *arena, struct secret master, const char *purpose, const void *sealed, size_t length,
                     struct secret *secret_out)
{
    const unsigned char *bytes = sealed;
    bool opened = false;
    if (length < SEAL_OVERHEAD_BYTES || bytes[0] != VERSION)
        return error_new(arena, ERROR_INTERNAL, "the sealed value for %s is cut or has an unknown version", purpose);
    for (const struct secret *key = &master; key != NULL && !opened; key = key->older)
        TRY(open_with(arena, *key, purpose, bytes, length, secret_out, &opened));
    return opened ? NULL
                  : error_new(arena, ERROR_INTERNAL, "the sealed value for %s does not open with this secret file",
                              purpose);
}

/* ---- the file ------------------------------------------------------------------------------------- */

static struct error *decode_key(struct arena *arena, const char *path, const char *text, struct secret *key_out)
{
    unsigned char *bytes;
    size_t length;
    if (!hex_decode(arena, text, strlen(text), &bytes, &length) || length < SEAL_MASTER_BYTES)
        return error_message(error_new(arena, ERROR_INTERNAL, "the secret file is not hexadecimal or too short"),
                             "The secret file %s must hold at least %d hexadecimal digits in each line.", path,
                             2 * SEAL_MASTER_BYTES);
    *key_out = secret_copy(arena, bytes, length);
    return NULL;
}

struct error *seal_master_read(struct arena *arena, const char *path, struct secret *master_out)
{
    struct secret text;
    struct error *error = secret_read(arena, path, &text);
    if (error != NULL)
        return error_message(error, "The secret file %s cannot be read.%s", path,
                             access(path, F_OK) != 0 && errno == ENOENT ? " Run gatehousectl migrate to make it." : "");
    struct text_list lines = text_words(arena, secret_reveal(text));
    if (lines.count > LIMIT_MASTER_KEYS || strlen(secret_reveal(text)) != text.length)
        return error_message(error_plain(arena, ERROR_INTERNAL),
                             "The secret file %s holds more than %d keys, or a NUL.", path, LIMIT_MASTER_KEYS);
    struct secret *keys = arena_array(arena, lines.count + 1, sizeof *keys);
    for (size_t i = lines.count; i-- > 0;) {
        TRY(decode_key(arena, path, lines.items[i], &keys[i]));
        keys[i].older = i + 1 < lines.count ? &keys[i + 1] : NULL;
    }
    if (lines.count == 0)
        return decode_key(arena, path, "", master_out);
    *master_out = keys[0];
    return NULL;
}
