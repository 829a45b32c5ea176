noinst_LIBRARIES += libghcodec.a
libghcodec_a_SOURCES = \
	include/codec/address.h src/codec/address.c \
	include/codec/csv.h src/codec/csv.c \
	include/codec/digest.h src/codec/digest.c \
	include/codec/document.h src/codec/document.c \
	src/codec/document_int.h src/codec/document_scan.c \
	include/codec/encoding.h src/codec/encoding.c \
	include/codec/language_tag.h src/codec/language_tag.c \
	include/codec/password_hash.h src/codec/password_hash.c src/codec/password_memory_int.h src/codec/password_memory.c \
	include/codec/random.h src/codec/random.c \
	include/codec/seal.h src/codec/seal.c \
	include/codec/signing_key.h src/codec/signing_key.c src/codec/signing_key_int.h \
	src/codec/key_set.c src/codec/key_set_read.c \
	include/codec/sigv4.h src/codec/sigv4.c \
	include/codec/token.h src/codec/token_int.h src/codec/token_issue.c src/codec/token_verify.c src/codec/token_memo.c \
	include/codec/visible.h src/codec/visible.c \
	include/codec/xml.h src/codec/xml.c
libghcodec_a_CFLAGS = $(AM_CFLAGS) $(CJSON_CFLAGS) $(IDN2_CFLAGS) $(JWT_CFLAGS) $(OPENSSL_CFLAGS) $(SODIUM_CFLAGS)

# What a program that uses this floor links.
codec_libs = libghcodec.a $(base_libs) $(CJSON_LIBS) $(IDN2_LIBS) $(UNISTRING_LIBS) $(JWT_LIBS) $(OPENSSL_LIBS) \
	$(SODIUM_LIBS)
