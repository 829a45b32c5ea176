/* SPDX-License-Identifier: MIT */
/* Makes, loads and uses the RSA keys that sign and verify tokens. */
#include "codec/signing_key.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "codec/signing_key_int.h"

struct signing_key {
    const char *kid;
    struct key_components components; /* read once: a request need not fail for want of memory */
    EVP_PKEY *key;
    EVP_PKEY_CTX *verifier; /* set up once for RS256; serves any number of verifications */
    size_t signature_bytes;
    struct secret private_pem;
};

/* The library's own message is dropped with its error queue; what counts is which step failed. */
static struct error *refuse(struct arena *arena, const char *what)
{
    ERR_clear_error();
    return error_new(arena, ERROR_INTERNAL, "signing key: %s", what);
}

static void release_key(void *key)
{
    EVP_PKEY_free(key);
}

static void release_verifier(void *verifier)
{
    EVP_PKEY_CTX_free(verifier);
}

static void release_bio(void *bio)
{
    (void)BIO_free(bio);
}

static char *number_text(struct arena *arena, const EVP_PKEY *key, const char *name)
{
    BIGNUM *number = NULL;
    if (EVP_PKEY_get_bn_param(key, name, &number) != 1)
        return NULL;
    int length = BN_num_bytes(number);
    unsigned char *bytes = arena_alloc(arena, (size_t)length);
    (void)BN_bn2bin(number, bytes);
    BN_free(number);
    return base64url_encode(arena, bytes, (size_t)length);
}

static struct error *read_components(struct arena *arena, const EVP_PKEY *key, struct key_components *components_out)
{
    components_out->n = number_text(arena, key, OSSL_PKEY_PARAM_RSA_N);
    components_out->e = number_text(arena, key, OSSL_PKEY_PARAM_RSA_E);
    if (components_out->n == NULL || components_out->e == NULL)
        return refuse(arena, "it has no modulus or exponent");
    return NULL;
}

/* RFC 7638: the digest of the required members in alphabetical order, without blanks. */
static char *thumbprint(struct arena *arena, const struct key_components *components)
{
    const char *members =
        arena_format(arena, "{\"e\":\"%s\",\"kty\":\"RSA\",\"n\":\"%s\"}", components->e, components->n);
    uint8_t digest[DIGEST_BYTES];
    digest_sha256(members, strlen(members), digest);
    return base64url_encode(arena, digest, sizeof digest);
}

static struct error *pem_of(struct arena *arena, EVP_PKEY *key, bool is_private, struct secret *pem_out)
{
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio == NULL)
        return refuse(arena, "no memory");
    arena_defer(arena, release_bio, bio);
    int written = is_private ? PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL)
                             : PEM_write_bio_PUBKEY(bio, key);
    char *bytes = NULL;
    long length = BIO_get_mem_data(bio, &bytes);
    if (written != 1 || length <= 0)
        return refuse(arena, "it cannot be written as PEM");
    *pem_out = secret_copy(arena, bytes, (size_t)length);
    return NULL;
}

struct error *signing_key_generate(struct arena *arena, struct signing_key_pair *pair_out)
{
    EVP_PKEY *key = EVP_RSA_gen(SIGNING_KEY_BITS);
    if (key == NULL)
        return refuse(arena, "none can be made");
    arena_defer(arena, release_key, key);
    struct key_components components;
    TRY(read_components(arena, key, &components));
    struct signing_key_pair pair = {.kid = thumbprint(arena, &components)};
    struct secret public_pem;
    TRY(pem_of(arena, key, true, &pair.private_pem));
    TRY(pem_of(arena, key, false, &public_pem));
    pair.public_pem = secret_reveal(public_pem);
    *pair_out = pair;
    return NULL;
}

/* Without this, the library would ask for the pass phrase of an encrypted key on the terminal. */
static int no_pass_phrase(char *buffer, int size, int writing, void *context)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)context;
    return -1;
}

static struct error *parse(struct arena *arena, struct secret pem, bool is_private, EVP_PKEY **key_out)
{
    static const char head[] = "-----BEGIN ";
    if (pem.length < sizeof head || pem.length > 65536 || memcmp(pem.bytes, head, sizeof head - 1) != 0)
        return refuse(arena, "this is no PEM text");
    BIO *bio = BIO_new_mem_buf(pem.bytes, (int)pem.length);
    if (bio == NULL)
        return refuse(arena, "no memory");
    arena_defer(arena, release_bio, bio);
    EVP_PKEY *key = is_private ? PEM_read_bio_PrivateKey(bio, NULL, no_pass_phrase, NULL)
                               : PEM_read_bio_PUBKEY(bio, NULL, no_pass_phrase, NULL);
    if (key == NULL)
        return refuse(arena, is_private ? "this is no unencrypted private key" : "this is no public key");
    arena_defer(arena, release_key, key);
    const char *rest = NULL;
    long left = BIO_get_mem_data(bio, (char **)(void *)&rest);
    for (long i = 0; i < left; i++)
        if (rest[i] != '\n' && rest[i] != '\r' && rest[i] != ' ')
            return refuse(arena, "there is more than one key in the text");
    *key_out = key;
    return NULL;
}

static struct error *check_key(struct arena *arena, const EVP_PKEY *key)
{
    if (EVP_PKEY_is_a(key, "RSA") != 1)
        return refuse(arena, "it is not an RSA key");
    int bits = EVP_PKEY_get_bits(key);
    if (bits < SIGNING_KEY_BITS || bits > SIGNING_KEY_BITS_MAX)
        return error_new(arena, ERROR_INTERNAL, "signing key: %d bits are not within %d to %d", bits, SIGNING_KEY_BITS,
                         SIGNING_KEY_BITS_MAX);
    BIGNUM *exponent = NULL;
    if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) != 1)
        return refuse(arena, "it has no exponent");
    bool fit = BN_is_odd(exponent) && BN_num_bits(exponent) >= 2 && BN_num_bits(exponent) <= 64;
    BN_free(exponent);
    return fit ? NULL : refuse(arena, "its exponent is even, below 3 or over 64 bits");
}

static bool kid_is_fit(const char *kid)
{
    size_t length = strnlen(kid, SIGNING_KEY_KID_BYTES + 1);
    if (length == 0 || length > SIGNING_KEY_KID_BYTES)
        return false;
    for (const char *at = kid; *at != '\0'; at++)
        if (*at <= ' ' || *at > '~' || *at == '"' || *at == '\\')
            return false;
    return true;
}

/* Sets the verification up once: RS256 is the only algorithm of this key. */
static struct error *prepare(struct arena *arena, struct signing_key *key)
{
    key->verifier = EVP_PKEY_CTX_new_from_pkey(NULL, key->key, NULL);
    if (key->verifier == NULL)
        return refuse(arena, "no memory");
    arena_defer(arena, release_verifier, key->verifier);
    if (EVP_PKEY_verify_init(key->verifier) != 1 ||
        EVP_PKEY_CTX_set_rsa_padding(key->verifier, RSA_PKCS1_PADDING) != 1 ||
        EVP_PKEY_CTX_set_signature_md(key->verifier, EVP_sha256()) != 1)
        return refuse(arena, "it cannot verify RS256");
    key->signature_bytes = (size_t)EVP_PKEY_get_size(key->key);
    return NULL;
}

/* Checks a parsed key and makes its handle. */
static struct error *adopt(struct arena *arena, const char *kid, EVP_PKEY *parsed, struct signing_key **key_out)
{
    struct signing_key *key = arena_alloc(arena, sizeof *key);
    key->key = parsed;
    TRY(check_key(arena, key->key));
    TRY(read_components(arena, key->key, &key->components));
    key->kid = kid != NULL ? arena_text(arena, kid) : thumbprint(arena, &key->components);
    if (!kid_is_fit(key->kid))
        return refuse(arena, "its kid is empty, too long or has odd characters");
    TRY(prepare(arena, key));
    *key_out = key;
    return NULL;
}

static struct error *load(struct arena *arena, const char *kid, struct secret pem, bool is_private,
                          struct signing_key **key_out)
{
    EVP_PKEY *parsed = NULL;
    TRY(parse(arena, pem, is_private, &parsed));
    TRY(adopt(arena, kid, parsed, key_out));
    if (is_private)
        (*key_out)->private_pem = secret_copy(arena, pem.bytes, pem.length);
    return NULL;
}

static EVP_PKEY *assemble(const OSSL_PARAM *parameters)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    if (context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, (OSSL_PARAM *)parameters) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    return key;
}

struct error *signing_key_of_numbers(struct arena *arena, const char *kid, const struct key_number *n,
                                     const struct key_number *e, struct signing_key **key_out)
{
    BIGNUM *modulus = BN_bin2bn(n->bytes, (int)n->length, NULL);
    BIGNUM *exponent = BN_bin2bn(e->bytes, (int)e->length, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    EVP_PKEY *key = NULL;
    if (modulus != NULL && exponent != NULL && builder != NULL &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
        parameters = OSSL_PARAM_BLD_to_param(builder);
    if (parameters != NULL)
        key = assemble(parameters);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_free(modulus);
    BN_free(exponent);
    if (key == NULL)
        return refuse(arena, "its numbers make no key");
    arena_defer(arena, release_key, key);
    TRY(adopt(arena, kid, key, key_out));
    return NULL;
}

struct error *signing_key_load_private(struct arena *arena, const char *kid, struct secret pem,
                                       struct signing_key **key_out)
{
    return load(arena, kid, pem, true, key_out);
}

struct error *signing_key_load_public(struct arena *arena, const char *kid, const char *pem,
                                      struct signing_key **key_out)
{
    return load(arena, kid, secret_of(pem), false, key_out);
}

const char *signing_key_kid(const struct signing_key *key)
{
    return key->kid;
}

bool signing_key_is_private(const struct signing_key *key)
{
    return key->private_pem.bytes != NULL;
}

const struct key_components *signing_key_components(const struct signing_key *key)
{
    return &key->components;
}

struct secret signing_key_private_pem(const struct signing_key *key)
{
    return key->private_pem;
}

bool signing_key_verify(const struct signing_key *key, const void *bytes, size_t length, const unsigned char *signature,
                        size_t signature_length)
{
    if (signature_length != key->signature_bytes)
        return false;
    uint8_t digest[DIGEST_BYTES];
    digest_sha256(bytes, length, digest);
    int verified = EVP_PKEY_verify(key->verifier, signature, signature_length, digest, sizeof digest);
    if (verified != 1)
        ERR_clear_error();
    return verified == 1;
}
