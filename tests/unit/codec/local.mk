check_PROGRAMS += tests/unit/test-codec
TESTS += tests/unit/test-codec
tests_unit_test_codec_SOURCES = \
	tests/unit/codec/main.c \
	tests/unit/codec/forge.c tests/unit/codec/forge.h \
	tests/unit/codec/test_address.c \
	tests/unit/codec/test_csv.c \
	tests/unit/codec/test_digest.c \
	tests/unit/codec/test_document.c \
	tests/unit/codec/test_document_scan.c \
	tests/unit/codec/test_encoding.c \
	tests/unit/codec/test_key_set_read.c \
	tests/unit/codec/test_language_tag.c \
	tests/unit/codec/test_password_hash.c \
	tests/unit/codec/test_random.c \
	tests/unit/codec/test_running_digest.c \
	tests/unit/codec/test_seal.c \
	tests/unit/codec/test_signing_key.c \
	tests/unit/codec/test_sigv4.c \
	tests/unit/codec/test_token.c \
	tests/unit/codec/test_token_attack.c \
	tests/unit/codec/test_token_library.c \
	tests/unit/codec/test_token_memo.c \
	tests/unit/codec/test_visible.c \
	tests/unit/codec/test_xml.c
tests_unit_test_codec_CPPFLAGS = $(unit_cppflags) -I$(top_srcdir)/src
tests_unit_test_codec_CFLAGS = $(unit_cflags) $(CJSON_CFLAGS) $(JWT_CFLAGS) $(OPENSSL_CFLAGS)
# Calls that test_token_library.c and test_signing_key.c let fail.
tests_unit_test_codec_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=jwt_new,--wrap=jwt_add_grant,--wrap=jwt_add_grant_int \
	-Wl,--wrap=jwt_add_grant_bool,--wrap=jwt_add_header,--wrap=jwt_set_alg,--wrap=jwt_encode_str \
	-Wl,--wrap=cJSON_ParseWithLength,--wrap=dlsym,--wrap=EVP_PKEY_Q_keygen,--wrap=EVP_PKEY_get_bn_param \
	-Wl,--wrap=BIO_new,--wrap=BIO_new_mem_buf,--wrap=PEM_write_bio_PUBKEY,--wrap=PEM_write_bio_PKCS8PrivateKey \
	-Wl,--wrap=EVP_PKEY_CTX_new_from_pkey,--wrap=EVP_PKEY_CTX_new_from_name,--wrap=EVP_PKEY_verify_init \
	-Wl,--wrap=EVP_PKEY_CTX_set_rsa_padding,--wrap=EVP_PKEY_CTX_set_signature_md,--wrap=EVP_PKEY_fromdata_init \
	-Wl,--wrap=EVP_PKEY_fromdata,--wrap=BN_bin2bn,--wrap=OSSL_PARAM_BLD_new,--wrap=OSSL_PARAM_BLD_push_BN \
	-Wl,--wrap=OSSL_PARAM_BLD_to_param
tests_unit_test_codec_LDADD = $(unit_libs) $(codec_libs) $(CMOCKA_LIBS) -lm

# The JSON reader against another strict one.
check_PROGRAMS += tests/unit/validate-documents
tests_unit_validate_documents_SOURCES = tests/unit/codec/validate_documents.c
tests_unit_validate_documents_LDADD = $(codec_libs)
TESTS += tests/unit/compare-documents
EXTRA_DIST += tests/unit/compare-documents
