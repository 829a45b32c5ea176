/* SPDX-License-Identifier: MIT */
/* Makes tokens by hand, good and bad, for the tests of their verification. */
#include "forge.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/text.h"
#include "codec/encoding.h"
#include "harness.h"

static struct {
    struct arena *arena;
    struct signing_key_pair pair;
    struct signing_key_pair other;
    struct signing_key *key;
    struct signing_key *other_key;
} forge;

static void make_keys(void)
{
    if (forge.arena != NULL)
        return;
    forge.arena = arena_new();
    assert_null(signing_key_generate(forge.arena, &forge.pair));
    assert_null(signing_key_generate(forge.arena, &forge.other));
    assert_null(signing_key_load_private(forge.arena, NULL, forge.pair.private_pem, &forge.key));
    assert_null(signing_key_load_private(forge.arena, NULL, forge.other.private_pem, &forge.other_key));
}

const struct signing_key_pair *forge_pair(void)
{
    make_keys();
    return &forge.pair;
}

const struct signing_key_pair *forge_other_pair(void)
{
    make_keys();
    return &forge.other;
}

const struct signing_key *forge_private_key(void)
{
    make_keys();
    return forge.key;
}

const struct signing_key *forge_other_private_key(void)
{
    make_keys();
    return forge.other_key;
}

const char *forge_header(struct arena *arena)
{
    return arena_format(arena, "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"%s\"}", forge_pair()->kid);
}

const char *forge_payload(struct arena *arena, const char *name, const char *value)
{
    const char *const claims[][2] = {
        {"iss", "\"" FORGE_ISSUER "\""},
        {"sub", "\"" FORGE_SUBJECT "\""},
        {"aud", "\"" FORGE_AUDIENCE "\""},
        {"sid", "\"" FORGE_SESSION "\""},
        {"jti", "\"01890a5d-ac96-774b-bcce-b302099a8059\""},
        {"token_use", "\"access\""},
        {"iat", arena_format(arena, "%lld", (long long)FORGE_NOW - 60)},
        {"exp", arena_format(arena, "%lld", (long long)FORGE_NOW + 840)},
    };
    struct buffer payload;
    buffer_init(&payload, arena);
    bool known = false;
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        bool chosen = name != NULL && strcmp(name, claims[i][0]) == 0;
        known = known || chosen;
        if (chosen && value == NULL)
            continue;
        buffer_add_format(&payload, "%s\"%s\":%s", payload.length == 0 ? "{" : ",", claims[i][0],
                          chosen ? value : claims[i][1]);
    }
    if (name != NULL && !known && value != NULL)
        buffer_add_format(&payload, ",\"%s\":%s", name, value);
    buffer_add_char(&payload, '}');
    return payload.bytes;
}

static char *sign_rsa(struct arena *arena, const char *text, const struct signing_key_pair *pair, const EVP_MD *digest,
                      int padding)
{
    BIO *bio = BIO_new_mem_buf(pair->private_pem.bytes, (int)pair->private_pem.length);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *parameters = NULL;
    unsigned char signature[512];
    size_t length = sizeof signature;
    assert_int_equal(EVP_DigestSignInit(context, &parameters, digest, NULL, key), 1);
    assert_int_equal(EVP_PKEY_CTX_set_rsa_padding(parameters, padding), 1);
    assert_int_equal(EVP_DigestSign(context, signature, &length, (const unsigned char *)text, strlen(text)), 1);
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    (void)BIO_free(bio);
    return base64url_encode(arena, signature, length);
}

static char *sign_hmac(struct arena *arena, const char *text, const void *key, size_t key_length, const EVP_MD *digest)
{
    unsigned char signature[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    assert_non_null(HMAC(digest, key, (int)key_length, (const unsigned char *)text, strlen(text), signature, &length));
    return base64url_encode(arena, signature, length);
}

static char *sign_with_der(struct arena *arena, const char *text)
{
    BIO *bio = BIO_new_mem_buf(forge_pair()->public_pem, -1);
    char *name = NULL;
    char *header = NULL;
    unsigned char *bytes = NULL;
    long length = 0;
    assert_int_equal(PEM_read_bio(bio, &name, &header, &bytes, &length), 1);
    char *signature = sign_hmac(arena, text, bytes, (size_t)length, EVP_sha256());
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(bytes);
    (void)BIO_free(bio);
    return signature;
}

static char *sign(struct arena *arena, const char *text, enum forge_signature signature)
{
    static const unsigned char zeros[SIGNING_KEY_BITS / 8];
    const struct signing_key_pair *pair = forge_pair();
    const char *pem = pair->public_pem;
    switch (signature) {
    case FORGE_RS256:
        return sign_rsa(arena, text, pair, EVP_sha256(), RSA_PKCS1_PADDING);
    case FORGE_RS384:
        return sign_rsa(arena, text, pair, EVP_sha384(), RSA_PKCS1_PADDING);
    case FORGE_RS512:
        return sign_rsa(arena, text, pair, EVP_sha512(), RSA_PKCS1_PADDING);
    case FORGE_RS1:
        return sign_rsa(arena, text, pair, EVP_sha1(), RSA_PKCS1_PADDING);
    case FORGE_PS256:
        return sign_rsa(arena, text, pair, EVP_sha256(), RSA_PKCS1_PSS_PADDING);
    case FORGE_OTHER_KEY:
        return sign_rsa(arena, text, forge_other_pair(), EVP_sha256(), RSA_PKCS1_PADDING);
    case FORGE_HS256_PEM:
        return sign_hmac(arena, text, pem, strlen(pem), EVP_sha256());
    case FORGE_HS384_PEM:
        return sign_hmac(arena, text, pem, strlen(pem), EVP_sha384());
    case FORGE_HS512_PEM:
        return sign_hmac(arena, text, pem, strlen(pem), EVP_sha512());
    case FORGE_HS256_DER:
        return sign_with_der(arena, text);
    case FORGE_HS256_EMPTY:
        return sign_hmac(arena, text, "", 0, EVP_sha256());
    case FORGE_NOTHING:
        return arena_text(arena, "");
    case FORGE_ZEROS:
        return base64url_encode(arena, zeros, sizeof zeros);
    }
    fail();
    return NULL;
}

char *forge_bytes(struct arena *arena, const char *header, size_t header_length, const char *payload,
                  size_t payload_length, enum forge_signature signature)
{
    const char *text = arena_format(arena, "%s.%s", base64url_encode(arena, header, header_length),
                                    base64url_encode(arena, payload, payload_length));
    return arena_format(arena, "%s.%s", text, sign(arena, text, signature));
}

char *forge_token(struct arena *arena, const char *header, const char *payload, enum forge_signature signature)
{
    return forge_bytes(arena, header, strlen(header), payload, strlen(payload), signature);
}

struct token_rules forge_rules(struct arena *arena)
{
    struct signing_key *key = NULL;
    struct key_set *keys = key_set_new(arena);
    assert_null(signing_key_load_public(arena, NULL, forge_pair()->public_pem, &key));
    assert_null(key_set_add(keys, key));
    return (struct token_rules){.keys = keys,
                                .issuer = FORGE_ISSUER,
                                .audience = FORGE_AUDIENCE,
                                .token_use = TOKEN_USE_ACCESS,
                                .session_claim = "sid",
                                .leeway = LIMIT_TOKEN_LEEWAY_SECONDS,
                                .now = FORGE_NOW};
}

void forge_assert_refused(struct arena *arena, const struct token_rules *rules, const char *token, size_t length,
                          const char *wanted, const char *name)
{
    struct token_claims claims;
    struct token_claims untouched;
    memset(&claims, 0x5a, sizeof claims);
    memcpy(&untouched, &claims, sizeof claims);
    const char *reason = NULL;
    /* A dot behind the end: whoever looks there finds another reason. */
    char *followed = arena_copy(arena, token, length + 1);
    followed[length] = '.';
    enum token_result result = token_verify(arena, rules, followed, length, &claims, &reason);
    if (result != TOKEN_INVALID || reason == NULL || strcmp(reason, wanted) != 0)
        fail_msg("%s: result %d, reason %s instead of %s", name, (int)result, reason == NULL ? "none" : reason, wanted);
    assert_memory_equal(&claims, &untouched, sizeof claims);
}
