/* SPDX-License-Identifier: MIT */
/*
 * Issues tokens. The JWT library assembles and signs them, and parses the PEM text of the key at each call: some 2 ms.
 */
#include <dlfcn.h>
#include <jwt.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "codec/signing_key.h"
#include "codec/signing_key_int.h"
#include "codec/token.h"

static void release(void *jwt)
{
    jwt_free(jwt);
}

/* Each step returns 0 on success. */
static bool add_claims(struct arena *arena, jwt_t *jwt, const struct token_content *content)
{
    return jwt_add_grant(jwt, "iss", content->issuer) == 0 &&
           jwt_add_grant(jwt, "sub", id_text(arena, content->subject)) == 0 &&
           jwt_add_grant(jwt, "aud", content->audience) == 0 &&
           jwt_add_grant(jwt, "sid", id_text(arena, content->session)) == 0 &&
           jwt_add_grant(jwt, "jti", id_text(arena, id_new())) == 0 &&
           jwt_add_grant(jwt, "token_use", content->token_use) == 0 &&
           jwt_add_grant_int(jwt, "iat", (long)content->issued_at) == 0 &&
           jwt_add_grant_int(jwt, "exp", (long)content->expires_at) == 0;
}

static bool add_profile(jwt_t *jwt, const struct token_content *content)
{
    return content->email == NULL ||
           (jwt_add_grant(jwt, "email", content->email) == 0 &&
            jwt_add_grant_bool(jwt, "email_verified", content->email_verified) == 0 &&
            (content->permissions == NULL || jwt_add_grant(jwt, "custom:permissions", content->permissions) == 0));
}

static bool set_key(jwt_t *jwt, const struct signing_key *key)
{
    struct secret pem = signing_key_private_pem(key);
    return jwt_add_header(jwt, "kid", signing_key_kid(key)) == 0 &&
           jwt_set_alg(jwt, JWT_ALG_RS256, pem.bytes, (int)pem.length) == 0;
}

/*
 * libjwt reads what its JSON library, jansson, gives it, also where that is NULL. So jansson gets memory that never is.
 * It is libjwt's affair which library that is: where it is another one, nothing happens here.
 */
static void end_without_memory(void)
{
    void (*set_memory)(void *(*)(size_t), void (*)(void *));
    *(void **)&set_memory = dlsym(RTLD_DEFAULT, "json_set_alloc_funcs");
    if (set_memory != NULL)
        set_memory(memory_get, free);
}

/* Whether OpenSSL lacked memory on its way. Nothing is left in its queue of errors, which keeps texts of its own. */
static bool lacked_memory(void)
{
    bool lacked = false;
    for (unsigned long code; (code = ERR_get_error()) != 0;)
        lacked = lacked || ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE;
    ERR_clear_error();
    return lacked;
}

struct error *token_issue(struct arena *arena, const struct signing_key *key, const struct token_content *content,
                          char **token_out)
{
    if (!signing_key_is_private(key))
        return error_new(arena, ERROR_INTERNAL, "the key %s cannot sign", signing_key_kid(key));
    end_without_memory();
    jwt_t *jwt = NULL;
    if (jwt_new(&jwt) != 0)
        return error_new(arena, ERROR_INTERNAL, "the token library has no memory");
    arena_defer(arena, release, jwt);
    if (!add_claims(arena, jwt, content) || !add_profile(jwt, content) || !set_key(jwt, key))
        return error_new(arena, ERROR_INTERNAL, "the token library refuses a claim or the key");
    char *text = jwt_encode_str(jwt);
    bool lacked = lacked_memory();
    if (text == NULL && lacked)
        memory_end("a signature"); /* some of OpenSSL's own failures for want of memory lose what they had */
    if (text == NULL)
        return error_new(arena, ERROR_INTERNAL, "the token library does not sign");
    size_t length = strlen(text);
    char *token = arena_copy(arena, text, length);
    explicit_bzero(text, length);
    free(text);
    if (length > LIMIT_TOKEN_BYTES)
        return error_new(arena, ERROR_INTERNAL, "the token is %zu bytes long", length);
    *token_out = token;
    return NULL;
}
