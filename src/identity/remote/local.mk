noinst_LIBRARIES += libghidentity_remote.a
libghidentity_remote_a_SOURCES = \
	src/identity/remote/call.c \
	src/identity/remote/check.c \
	src/identity/remote/circuit_breaker.c \
	src/identity/remote/circuit_breaker_int.h \
	src/identity/remote/jwks.c \
	src/identity/remote/jwks_int.h \
	src/identity/remote/lock.c \
	src/identity/remote/login.c \
	src/identity/remote/password.c \
	src/identity/remote/password_intent.c \
	src/identity/remote/password_intent_int.h \
	src/identity/remote/provider.c \
	src/identity/remote/provider_int.h \
	src/identity/remote/session.c \
	src/identity/remote/session_int.h \
	src/identity/remote/slots.c \
	src/identity/remote/slots_int.h
libghidentity_remote_a_CFLAGS = $(AM_CFLAGS)
