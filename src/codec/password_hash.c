/* SPDX-License-Identifier: MIT */
/* Hashes and verifies passwords with Argon2id. */
#include "codec/password_hash.h"

#include <sodium.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/password_memory_int.h"

/* The longest hash that is compared, in bytes; the library makes 32. */
#define HASH_MAX 64
/* So many digits fit in an unsigned int. */
#define NUMBER_DIGITS 9

/*
 * To start the library selects the fast code of the processor; without it hashing is right but slow. Later calls cost
 * nothing.
 */
static bool ready(void)
{
    return sodium_init() >= 0;
}

static size_t memory_bytes(struct password_cost cost)
{
    return (size_t)cost.memory_kib * 1024;
}

static bool make(char *hash_out, struct secret password, struct password_cost cost)
{
    password_memory_begin();
    int status = crypto_pwhash_argon2id_str(hash_out, (const char *)password.bytes, password.length, cost.passes,
                                            memory_bytes(cost));
    password_memory_end();
    return status == 0;
}

/* What stands in "$argon2id$v=19$m=…,t=…,p=1$salt$hash". */
struct encoded {
    struct password_cost cost;
    unsigned char salt[crypto_pwhash_argon2id_SALTBYTES];
    unsigned char hash[HASH_MAX];
    size_t length;
};

/* Goes past the words, which must stand there. */
static bool skip(const char **at, const char *words)
{
    size_t length = strlen(words);
    if (strncmp(*at, words, length) != 0)
        return false;
    *at += length;
    return true;
}

/* Reads a number of one to NUMBER_DIGITS digits. */
static bool read_number(const char **at, unsigned *out)
{
    size_t digits = strspn(*at, "0123456789");
    if (digits == 0 || digits > NUMBER_DIGITS)
        return false;
    *out = 0;
    for (const char *end = *at + digits; *at < end; (*at)++)
        *out = *out * 10 + (unsigned)(**at - '0');
    return true;
}

/* Decodes a field that ends at '$', or with the text. */
static bool decode(unsigned char *out, size_t size, const char **at, size_t *length_out)
{
    const char *end = *at + strcspn(*at, "$");
    return sodium_base642bin(out, size, *at, (size_t)(end - *at), NULL, length_out, at,
                             sodium_base64_VARIANT_ORIGINAL_NO_PADDING) == 0 &&
           *at == end;
}

static bool parse(const char *text, struct encoded *encoded)
{
    const char *at = text;
    size_t salt = 0;
    return skip(&at, "$argon2id$v=19$m=") && read_number(&at, &encoded->cost.memory_kib) && skip(&at, ",t=") &&
           read_number(&at, &encoded->cost.passes) && skip(&at, ",p=1$") &&
           decode(encoded->salt, sizeof encoded->salt, &at, &salt) && salt == sizeof encoded->salt && skip(&at, "$") &&
           decode(encoded->hash, sizeof encoded->hash, &at, &encoded->length) && *at == '\0' &&
           encoded->length >= crypto_pwhash_argon2id_BYTES_MIN;
}

/*
 * The library's own crypto_pwhash_str_verify() tells "no memory" as a mismatch, which would count as a wrong password
 * and lock people out. So the hash is made anew, which fails or not, and is compared here.
 */
static enum password_match compare(const struct encoded *encoded, const char *bytes, size_t length)
{
    unsigned char hash[HASH_MAX];
    password_memory_begin();
    int status = crypto_pwhash_argon2id(hash, encoded->length, bytes, length, encoded->salt, encoded->cost.passes,
                                        memory_bytes(encoded->cost), crypto_pwhash_argon2id_ALG_ARGON2ID13);
    password_memory_end();
    enum password_match match = PASSWORD_UNDECIDED;
    if (status == 0)
        match = sodium_memcmp(hash, encoded->hash, encoded->length) == 0 ? PASSWORD_RIGHT : PASSWORD_WRONG;
    sodium_memzero(hash, sizeof hash);
    return match;
}

struct error *password_hash(struct arena *arena, struct secret password, struct password_cost cost, char **hash_out)
{
    if (password.bytes == NULL)
        return error_new(arena, ERROR_INTERNAL, "there is no password to hash");
    char *hash = arena_alloc(arena, crypto_pwhash_argon2id_STRBYTES);
    if (!ready() || !make(hash, password, cost))
        return error_new(arena, ERROR_INTERNAL, "Argon2id fails with %u KiB and %u passes", cost.memory_kib,
                         cost.passes);
    *hash_out = hash;
    return NULL;
}

enum password_match password_verify(const char *hash, struct secret password, struct password_cost cost)
{
    struct encoded encoded;
    if (!ready() || !parse(hash, &encoded))
        return PASSWORD_UNDECIDED;
    /* A missing password is compared like a wrong one, and takes as long. */
    const char *bytes = password.bytes != NULL ? (const char *)password.bytes : "";
    enum password_match match = compare(&encoded, bytes, password.length);
    if (match == PASSWORD_RIGHT && password.bytes == NULL)
        return PASSWORD_WRONG;
    bool same = encoded.cost.memory_kib == cost.memory_kib && encoded.cost.passes == cost.passes;
    return match == PASSWORD_RIGHT && !same ? PASSWORD_RIGHT_BUT_WEAK : match;
}
