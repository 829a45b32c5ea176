noinst_LIBRARIES += libghidentity.a
libghidentity_a_SOURCES = \
	include/identity/embedded.h src/identity/embedded_int.h src/identity/embedded.c \
	src/identity/embedded_keys.c src/identity/embedded_login.c src/identity/embedded_session.c \
	include/identity/provider.h src/identity/provider.c \
	src/identity/refresh_int.h src/identity/refresh.c
libghidentity_a_CFLAGS = $(AM_CFLAGS)

# What a program that uses this floor links.
identity_libs = libghidentity.a $(domain_libs)
