/* SPDX-License-Identifier: MIT */
/* Hashes and verifies passwords with Argon2id. */
#include "codec/password_hash.h"

#include <errno.h>
#include <sodium.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/password_memory_int.h"

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

/* Whether it was compared is told by errno, as the library does. */
static bool compare(const char *hash, const char *bytes, size_t length)
{
    password_memory_begin();
    errno = 0;
    int status = crypto_pwhash_argon2id_str_verify(hash, bytes, length);
    password_memory_end();
    return status == 0;
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
    if (!ready())
        return PASSWORD_UNDECIDED;
    /* A missing password is compared like a wrong one, and takes as long. */
    const char *bytes = password.bytes != NULL ? (const char *)password.bytes : "";
    if (!compare(hash, bytes, password.length))
        return errno == EINVAL ? PASSWORD_WRONG : PASSWORD_UNDECIDED;
    if (password.bytes == NULL)
        return PASSWORD_WRONG;
    bool weak = crypto_pwhash_argon2id_str_needs_rehash(hash, cost.passes, memory_bytes(cost)) != 0;
    return weak ? PASSWORD_RIGHT_BUT_WEAK : PASSWORD_RIGHT;
}
