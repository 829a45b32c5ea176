/* SPDX-License-Identifier: MIT */
/* Makes self-signed certificates for the tests' servers. */
#include "certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

#include "base/arena.h"
#include "harness.h"

#define DAY 86400L

static void add_extension(X509 *certificate, int kind, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    assert_non_null(extension);
    assert_int_equal(X509_add_ext(certificate, extension, -1), 1);
    X509_EXTENSION_free(extension);
}

const char *certificate_make(struct arena *arena, const char *directory, const char *name, const char *host, int days)
{
    const char *path = arena_format(arena, "%s/%s", directory, name);
    EVP_PKEY *key = EVP_RSA_gen(2048);
    X509 *certificate = X509_new();
    assert_non_null(key);
    assert_non_null(certificate);
    (void)X509_set_version(certificate, 2);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    (void)X509_gmtime_adj(X509_getm_notBefore(certificate), days < 0 ? 2 * days * DAY : -DAY);
    (void)X509_gmtime_adj(X509_getm_notAfter(certificate), days * DAY);
    (void)X509_set_pubkey(certificate, key);
    X509_NAME *subject = X509_get_subject_name(certificate);
    (void)X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)host, -1, -1, 0);
    (void)X509_set_issuer_name(certificate, subject);
    add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate, NID_subject_alt_name, arena_format(arena, "DNS:%s", host));
    assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
    FILE *file = fopen(arena_format(arena, "%s-cert.pem", path), "we");
    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, certificate), 1);
    assert_int_equal(fclose(file), 0);
    file = fopen(arena_format(arena, "%s-key.pem", path), "we");
    assert_non_null(file);
    assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    assert_int_equal(fclose(file), 0);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return path;
}
