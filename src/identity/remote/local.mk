noinst_LIBRARIES += libghidentity_remote.a
libghidentity_remote_a_SOURCES = \
	src/identity/remote/account.c \
	src/identity/remote/check.c \
	src/identity/remote/circuit_breaker.c \
	src/identity/remote/jwks.c \
	src/identity/remote/login.c \
	src/identity/remote/password.c \
	src/identity/remote/password_intent.c \
	src/identity/remote/provider.c \
	src/identity/remote/session.c
libghidentity_remote_a_CFLAGS = $(AM_CFLAGS)
