/* SPDX-License-Identifier: MIT */
/* RSA keys: which are loaded, which are refused, and the key set. */
#include "codec/signing_key.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/digest.h"
#include "codec/document.h"
#include "codec/encoding.h"
#include "codec/signing_key_int.h"
#include "forge.h"
#include "harness.h"

static const char *pem_text(struct arena *arena, BIO *bio)
{
    char *bytes = NULL;
    long length = BIO_get_mem_data(bio, &bytes);
    char *text = arena_copy(arena, bytes, (size_t)length);
    (void)BIO_free(bio);
    return text;
}

static const char *private_pem(struct arena *arena, EVP_PKEY *key, const EVP_CIPHER *cipher)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char pass_phrase[] = "pass phrase";
    assert_int_equal(PEM_write_bio_PKCS8PrivateKey(bio, key, cipher, cipher != NULL ? pass_phrase : NULL,
                                                   cipher != NULL ? 11 : 0, NULL, NULL),
                     1);
    return pem_text(arena, bio);
}

static const char *public_pem(struct arena *arena, EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_PUBKEY(bio, key), 1);
    return pem_text(arena, bio);
}

static void assert_refused(struct arena *arena, const char *pem, bool is_private)
{
    struct signing_key *key = NULL;
    struct error *error = is_private ? signing_key_load_private(arena, NULL, secret_of(pem), &key)
                                     : signing_key_load_public(arena, NULL, pem, &key);
    if (error == NULL)
        fail_msg("loaded: %s", pem);
    assert_int_equal(error->code, ERROR_INTERNAL);
    assert_null(key);
}

static void a_pair_loads_and_both_halves_have_one_kid(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct signing_key_pair *pair = forge_pair();
    struct signing_key *private_key = NULL;
    struct signing_key *public_key = NULL;
    assert_int_equal(strncmp(secret_reveal(pair->private_pem), "-----BEGIN PRIVATE KEY-----\n", 28), 0);
    assert_int_equal(strncmp(pair->public_pem, "-----BEGIN PUBLIC KEY-----\n", 27), 0);
    assert_int_equal(strlen(pair->kid), 43);
    assert_null(signing_key_load_private(arena, NULL, pair->private_pem, &private_key));
    assert_null(signing_key_load_public(arena, NULL, pair->public_pem, &public_key));
    assert_string_equal(signing_key_kid(private_key), pair->kid);
    assert_string_equal(signing_key_kid(public_key), pair->kid);
    assert_true(signing_key_is_private(private_key));
    assert_false(signing_key_is_private(public_key));
    assert_string_not_equal(forge_other_pair()->kid, pair->kid);
}

static void a_signature_holds_for_its_key_and_text_only(void **state)
{
    struct arena *arena = harness_arena(state);
    struct signing_key *key = NULL;
    assert_null(signing_key_load_public(arena, NULL, forge_pair()->public_pem, &key));
    char *token = forge_token(arena, "{}", "{}", FORGE_RS256);
    char *dot = strrchr(token, '.');
    size_t text_length = (size_t)(dot - token);
    unsigned char *signature = NULL;
    size_t length = 0;
    assert_true(base64url_decode(arena, dot + 1, strlen(dot + 1), &signature, &length));
    assert_int_equal(length, 256);
    assert_true(signing_key_verify(key, token, text_length, signature, length));
    assert_true(signing_key_verify(key, token, text_length, signature, length));
    assert_false(signing_key_verify(forge_other_private_key(), token, text_length, signature, length));
    assert_false(signing_key_verify(key, token, text_length - 1, signature, length));
    assert_false(signing_key_verify(key, token, text_length, signature, length - 1));
    assert_false(signing_key_verify(key, token, text_length, signature, 0));
    for (size_t i = 0; i < length; i++) {
        signature[i] ^= 1;
        assert_false(signing_key_verify(key, token, text_length, signature, length));
        signature[i] ^= 1;
    }
    /* A failure must not spoil the handle for the next, nor be found by whoever uses the library after us. */
    assert_int_equal(ERR_peek_error(), 0);
    assert_true(signing_key_verify(key, token, text_length, signature, length));
}

/* RFC 7638, section 3.1. */
static const char rfc_modulus[] = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFF"
                                  "xuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMs"
                                  "tn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_"
                                  "FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5haj"
                                  "rn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_"
                                  "xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";

static EVP_PKEY *key_of_modulus(struct arena *arena, const char *modulus, unsigned long exponent)
{
    unsigned char *bytes = NULL;
    size_t length = 0;
    assert_true(base64url_decode(arena, modulus, strlen(modulus), &bytes, &length));
    BIGNUM *n = BN_bin2bn(bytes, (int)length, NULL);
    BIGNUM *e = BN_new();
    assert_int_equal(BN_set_word(e, exponent), 1);
    /* The parameter block, by hand: the exponent is what these tests choose. */
    unsigned char n_native[1100];
    unsigned char e_native[8];
    OSSL_PARAM parameters[3] = {
        OSSL_PARAM_construct_BN("n", n_native, (size_t)BN_num_bytes(n)),
        OSSL_PARAM_construct_BN("e", e_native, sizeof e_native),
        OSSL_PARAM_construct_end(),
    };
    assert_int_equal(BN_bn2nativepad(n, n_native, BN_num_bytes(n)), BN_num_bytes(n));
    assert_int_equal(BN_bn2nativepad(e, e_native, sizeof e_native), (int)sizeof e_native);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    EVP_PKEY *key = NULL;
    assert_int_equal(EVP_PKEY_fromdata_init(context), 1);
    assert_int_equal(EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters), 1);
    EVP_PKEY_CTX_free(context);
    BN_free(n);
    BN_free(e);
    return key;
}

static void the_kid_is_the_rfcs_thumbprint(void **state)
{
    struct arena *arena = harness_arena(state);
    EVP_PKEY *rfc = key_of_modulus(arena, rfc_modulus, 65537);
    struct signing_key *key = NULL;
    assert_null(signing_key_load_public(arena, NULL, public_pem(arena, rfc), &key));
    EVP_PKEY_free(rfc);
    assert_string_equal(signing_key_kid(key), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
}

static void weak_exponents_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    static const unsigned long exponents[] = {1, 2, 4, 65536};
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        EVP_PKEY *key = key_of_modulus(arena, rfc_modulus, exponents[i]);
        const char *pem = public_pem(arena, key);
        EVP_PKEY_free(key);
        assert_refused(arena, pem, false);
    }
    EVP_PKEY *key = key_of_modulus(arena, rfc_modulus, 3);
    struct signing_key *loaded = NULL;
    assert_null(signing_key_load_public(arena, NULL, public_pem(arena, key), &loaded));
    EVP_PKEY_free(key);
}

static void short_and_giant_keys_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    EVP_PKEY *weak = EVP_RSA_gen(1024);
    assert_refused(arena, private_pem(arena, weak, NULL), true);
    assert_refused(arena, public_pem(arena, weak), false);
    EVP_PKEY_free(weak);
    /* One bit short of 2048. */
    char *modulus = arena_text(arena, rfc_modulus);
    modulus[0] = 'P';
    EVP_PKEY *almost = key_of_modulus(arena, modulus, 65537);
    assert_int_equal(EVP_PKEY_get_bits(almost), 2046);
    assert_refused(arena, public_pem(arena, almost), false);
    EVP_PKEY_free(almost);
    /* 1024 bytes pass, 1025 do not: a verification would cost sixteen times and more. */
    char *largest = arena_alloc(arena, 1367);
    memset(largest, '_', 1366);
    largest[1365] = 'w';
    EVP_PKEY *still = key_of_modulus(arena, largest, 65537);
    struct signing_key *loaded = NULL;
    assert_int_equal(EVP_PKEY_get_bits(still), 8192);
    assert_null(signing_key_load_public(arena, NULL, public_pem(arena, still), &loaded));
    EVP_PKEY_free(still);
    char *giant = arena_alloc(arena, 1368);
    memset(giant, '_', 1367);
    giant[1366] = '8';
    EVP_PKEY *large = key_of_modulus(arena, giant, 65537);
    assert_refused(arena, public_pem(arena, large), false);
    EVP_PKEY_free(large);
}

static void other_kinds_of_keys_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    EVP_PKEY *curve = EVP_EC_gen("P-256");
    assert_refused(arena, private_pem(arena, curve, NULL), true);
    assert_refused(arena, public_pem(arena, curve), false);
    EVP_PKEY_free(curve);
    EVP_PKEY *edwards = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    assert_refused(arena, public_pem(arena, edwards), false);
    EVP_PKEY_free(edwards);
}

/* Were the library left to itself, it would ask for the pass phrase on the terminal and hang. */
static void an_encrypted_key_is_refused_without_asking(void **state)
{
    struct arena *arena = harness_arena(state);
    BIO *bio = BIO_new_mem_buf(forge_pair()->private_pem.bytes, (int)forge_pair()->private_pem.length);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    (void)BIO_free(bio);
    const char *encrypted = private_pem(arena, key, EVP_aes_256_cbc());
    EVP_PKEY_free(key);
    assert_non_null(strstr(encrypted, "ENCRYPTED"));
    assert_refused(arena, encrypted, true);
}

static void texts_that_are_not_exactly_one_key_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *public_text = forge_pair()->public_pem;
    const char *private_text = secret_reveal(forge_pair()->private_pem);
    assert_refused(arena, public_text, true);
    assert_refused(arena, private_text, false);
    assert_refused(arena, "", false);
    assert_refused(arena, "secret", true);
    assert_refused(arena, "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n", false);
    assert_refused(arena, "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n", false);
    assert_refused(arena, arena_format(arena, " %s", public_text), false);
    assert_refused(arena, arena_format(arena, "%s%s", public_text, forge_other_pair()->public_pem), false);
    assert_refused(arena, arena_format(arena, "%sx", public_text), false);
    assert_refused(arena, arena_format(arena, "%.100s", public_text), false);
    char *changed = arena_text(arena, public_text);
    changed[40] = '!';
    assert_refused(arena, changed, false);
    struct signing_key *key = NULL;
    assert_non_null(signing_key_load_private(arena, NULL, (struct secret){0}, &key));
    assert_non_null(signing_key_load_public(arena, NULL, NULL, &key));
    assert_null(signing_key_load_public(arena, NULL, arena_format(arena, "%s\r\n \n", public_text), &key));
}

static void a_kid_may_be_given_within_bounds(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *pem = forge_pair()->public_pem;
    const char *longest = arena_format(arena, "%064d", 7);
    struct signing_key *key = NULL;
    assert_null(signing_key_load_public(arena, "!key~1", pem, &key));
    assert_string_equal(signing_key_kid(key), "!key~1");
    assert_null(signing_key_load_public(arena, longest, pem, &key));
    const char *const refused[] = {"",    "a b",       "a\"",  "a\\",
                                   "a\n", "k\xc3\xa9", "\x7f", arena_format(arena, "%065d", 7)};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (signing_key_load_public(arena, refused[i], pem, &key) == NULL)
            fail_msg("taken: %s", refused[i]);
}

static struct signing_key *named(struct arena *arena, const char *kid)
{
    struct signing_key *key = NULL;
    assert_null(signing_key_load_public(arena, kid, forge_pair()->public_pem, &key));
    return key;
}

static void a_set_finds_by_the_exact_kid(void **state)
{
    struct arena *arena = harness_arena(state);
    struct key_set *set = key_set_new(arena);
    struct signing_key *abc = named(arena, "abc");
    struct signing_key *ab = named(arena, "ab");
    assert_null(key_set_add(set, abc));
    assert_null(key_set_add(set, ab));
    assert_int_equal(key_set_count(set), 2);
    assert_ptr_equal(key_set_find(set, "abc", 3), abc);
    assert_ptr_equal(key_set_find(set, "abc", 2), ab);
    assert_null(key_set_find(set, "abc", 1));
    assert_null(key_set_find(set, "abc", 0));
    assert_null(key_set_find(set, "abc\0", 4));
    assert_null(key_set_find(set, "ABC", 3));
}

static void a_set_has_room_for_sixteen_and_no_twins(void **state)
{
    struct arena *arena = harness_arena(state);
    struct key_set *set = key_set_new(arena);
    for (int i = 0; i < KEY_SET_KEYS; i++)
        assert_null(key_set_add(set, named(arena, arena_format(arena, "key-%d", i))));
    assert_non_null(key_set_add(set, named(arena, "one-more")));
    assert_int_equal(key_set_count(set), KEY_SET_KEYS);
    struct key_set *twins = key_set_new(arena);
    assert_null(key_set_add(twins, named(arena, "twin")));
    assert_non_null(key_set_add(twins, named(arena, "twin")));
    assert_int_equal(key_set_count(twins), 1);
}

static void every_change_is_a_new_generation(void **state)
{
    struct arena *arena = harness_arena(state);
    struct key_set *one = key_set_new(arena);
    struct key_set *other = key_set_new(arena);
    assert_true(key_set_generation(one) != key_set_generation(other));
    uint64_t before = key_set_generation(one);
    assert_true(key_set_generation(one) == before);
    assert_null(key_set_add(one, named(arena, "a")));
    assert_true(key_set_generation(one) != before);
}

static void the_published_set_is_the_public_half(void **state)
{
    struct arena *arena = harness_arena(state);
    struct key_set *set = key_set_new(arena);
    assert_string_equal(key_set_json(arena, set), "{\"keys\":[]}");
    assert_null(key_set_add(set, forge_private_key()));
    assert_null(key_set_add(set, forge_other_private_key()));
    const char *text = key_set_json(arena, set);
    struct document *document = NULL;
    assert_null(document_parse(arena, text, strlen(text), &document));
    const struct document *keys = document_member(document, "keys");
    assert_int_equal(document_count(document), 1);
    assert_int_equal(document_count(keys), 2);
    const struct document *key = document_first(keys);
    assert_int_equal(document_count(key), 6);
    assert_string_equal(document_text(document_member(key, "kty")), "RSA");
    assert_string_equal(document_text(document_member(key, "use")), "sig");
    assert_string_equal(document_text(document_member(key, "alg")), "RS256");
    assert_string_equal(document_text(document_member(key, "kid")), forge_pair()->kid);
    assert_string_equal(document_text(document_member(key, "e")), "AQAB");
    const char *n = document_text(document_member(key, "n"));
    assert_int_equal(strlen(n), 342);
    /* A reader who makes a key of n and e gets the key that verifies, with the kid that names it. */
    EVP_PKEY *again = key_of_modulus(arena, n, 65537);
    struct signing_key *loaded = NULL;
    assert_null(signing_key_load_public(arena, NULL, public_pem(arena, again), &loaded));
    EVP_PKEY_free(again);
    assert_string_equal(signing_key_kid(loaded), forge_pair()->kid);
    assert_string_equal(document_text(document_member(document_next(key), "kid")), forge_other_pair()->kid);
}

/* ---- a library that fails under us ---------------------------------------------------------------- */

/* The program is linked with --wrap for these calls. */
static struct {
    unsigned nth; /* the call that fails; 0: none */
    unsigned count;
} failing;

static bool fails(void)
{
    failing.count++;
    return failing.count == failing.nth;
}

#define WRAPPED(type, name, failure, parameters, arguments)                                                            \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        return fails() ? (failure) : __real_##name arguments;                                                          \
    }

WRAPPED(int, EVP_PKEY_get_bn_param, 0, (const EVP_PKEY *key, const char *name, BIGNUM **number), (key, name, number))
WRAPPED(BIO *, BIO_new, NULL, (const BIO_METHOD *method), (method))
WRAPPED(BIO *, BIO_new_mem_buf, NULL, (const void *bytes, int length), (bytes, length))
WRAPPED(int, PEM_write_bio_PUBKEY, 0, (BIO * bio, const EVP_PKEY *key), (bio, key))
WRAPPED(int, PEM_write_bio_PKCS8PrivateKey, 0,
        (BIO * bio, const EVP_PKEY *key, const EVP_CIPHER *cipher, const char *phrase, int length, pem_password_cb *ask,
         void *context),
        (bio, key, cipher, phrase, length, ask, context))
WRAPPED(EVP_PKEY_CTX *, EVP_PKEY_CTX_new_from_pkey, NULL, (OSSL_LIB_CTX * library, EVP_PKEY *key, const char *query),
        (library, key, query))
WRAPPED(EVP_PKEY_CTX *, EVP_PKEY_CTX_new_from_name, NULL, (OSSL_LIB_CTX * library, const char *name, const char *query),
        (library, name, query))
WRAPPED(int, EVP_PKEY_verify_init, 0, (EVP_PKEY_CTX * context), (context))
WRAPPED(int, EVP_PKEY_CTX_set_rsa_padding, 0, (EVP_PKEY_CTX * context, int padding), (context, padding))
WRAPPED(int, EVP_PKEY_CTX_set_signature_md, 0, (EVP_PKEY_CTX * context, const EVP_MD *algorithm), (context, algorithm))
WRAPPED(int, EVP_PKEY_fromdata_init, 0, (EVP_PKEY_CTX * context), (context))
WRAPPED(int, EVP_PKEY_fromdata, 0, (EVP_PKEY_CTX * context, EVP_PKEY **key, int selection, OSSL_PARAM parameters[]),
        (context, key, selection, parameters))
WRAPPED(BIGNUM *, BN_bin2bn, NULL, (const unsigned char *bytes, int length, BIGNUM *number), (bytes, length, number))
WRAPPED(OSSL_PARAM_BLD *, OSSL_PARAM_BLD_new, NULL, (void), ())
WRAPPED(int, OSSL_PARAM_BLD_push_BN, 0, (OSSL_PARAM_BLD * builder, const char *name, const BIGNUM *number),
        (builder, name, number))
WRAPPED(OSSL_PARAM *, OSSL_PARAM_BLD_to_param, NULL, (OSSL_PARAM_BLD * builder), (builder))

EVP_PKEY *__real_EVP_PKEY_Q_keygen(OSSL_LIB_CTX *library, const char *query, const char *type, ...);
EVP_PKEY *__wrap_EVP_PKEY_Q_keygen(OSSL_LIB_CTX *library, const char *query, const char *type, ...);
EVP_PKEY *__wrap_EVP_PKEY_Q_keygen(OSSL_LIB_CTX *library, const char *query, const char *type, ...)
{
    va_list more;
    va_start(more, type);
    size_t bits = strcmp(type, "RSA") == 0 ? va_arg(more, size_t) : 0;
    char *curve = strcmp(type, "EC") == 0 ? va_arg(more, char *) : NULL;
    va_end(more);
    if (fails())
        return NULL;
    return bits != 0 ? __real_EVP_PKEY_Q_keygen(library, query, type, bits)
                     : __real_EVP_PKEY_Q_keygen(library, query, type, curve);
}

static struct error *generate(struct arena *arena, struct signing_key **key_out)
{
    struct signing_key_pair pair = {.kid = NULL};
    struct error *error = signing_key_generate(arena, &pair);
    if (error != NULL)
        assert_true(pair.kid == NULL && pair.public_pem == NULL && pair.private_pem.bytes == NULL);
    if (error != NULL)
        return error;
    const unsigned count = failing.count;
    failing.nth = 0;
    error = signing_key_load_private(arena, NULL, pair.private_pem, key_out);
    failing.count = count;
    return error;
}

static struct error *load_private(struct arena *arena, struct signing_key **key_out)
{
    return signing_key_load_private(arena, NULL, forge_pair()->private_pem, key_out);
}

static struct error *load_public(struct arena *arena, struct signing_key **key_out)
{
    return signing_key_load_public(arena, NULL, forge_pair()->public_pem, key_out);
}

static struct error *of_numbers(struct arena *arena, struct signing_key **key_out)
{
    static const unsigned char three[] = {3};
    static unsigned char modulus[256];
    memset(modulus, 0xff, sizeof modulus);
    return signing_key_of_numbers(arena, "kid", &(struct key_number){modulus, sizeof modulus},
                                  &(struct key_number){three, sizeof three}, key_out);
}

/* Whichever call of the library fails: there is no key, half of one neither, and what was there goes with the arena. */
static void a_library_that_fails_gives_no_key(void **state)
{
    static struct error *(*const calls[])(struct arena *, struct signing_key **) = {generate, load_private, load_public,
                                                                                    of_numbers};
    (void)state;
    (void)forge_pair();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        bool done = false;
        for (unsigned nth = 1; !done; nth++) {
            struct arena *arena = arena_new();
            struct signing_key *key = NULL;
            failing.nth = nth;
            failing.count = 0;
            struct error *error = calls[i](arena, &key);
            done = failing.count < nth;
            failing.nth = 0;
            if (done)
                assert_true(error == NULL && nth > 4);
            else
                assert_true(error != NULL && error->code == ERROR_INTERNAL && key == NULL);
            ERR_clear_error();
            arena_free(&arena);
        }
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_pair_loads_and_both_halves_have_one_kid),
    HARNESS_TEST(a_signature_holds_for_its_key_and_text_only),
    HARNESS_TEST(the_kid_is_the_rfcs_thumbprint),
    HARNESS_TEST(weak_exponents_are_refused),
    HARNESS_TEST(short_and_giant_keys_are_refused),
    HARNESS_TEST(other_kinds_of_keys_are_refused),
    HARNESS_TEST(an_encrypted_key_is_refused_without_asking),
    HARNESS_TEST(texts_that_are_not_exactly_one_key_are_refused),
    HARNESS_TEST(a_kid_may_be_given_within_bounds),
    HARNESS_TEST(a_set_finds_by_the_exact_kid),
    HARNESS_TEST(a_set_has_room_for_sixteen_and_no_twins),
    HARNESS_TEST(every_change_is_a_new_generation),
    HARNESS_TEST(the_published_set_is_the_public_half),
    HARNESS_TEST(a_library_that_fails_gives_no_key),
};
HARNESS_MODULE(signing_key, cases)
