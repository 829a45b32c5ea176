noinst_LIBRARIES += libghidentity_embedded.a
libghidentity_embedded_a_SOURCES = \
	src/identity/embedded/embedded_int.h \
	src/identity/embedded/login.c \
	src/identity/embedded/password.c \
	include/identity/embedded/provider.h \
	src/identity/embedded/provider.c \
	src/identity/embedded/session.c \
	src/identity/embedded/signing_keys.c
libghidentity_embedded_a_CFLAGS = $(AM_CFLAGS)
