noinst_LIBRARIES += libghidentity_cognito.a
libghidentity_cognito_a_SOURCES = \
	src/identity/cognito/check.c \
	src/identity/cognito/client.c \
	src/identity/cognito/codes.c \
	src/identity/cognito/cognito_int.h \
	src/identity/cognito/login.c \
	src/identity/cognito/password.c \
	include/identity/cognito/provider.h \
	src/identity/cognito/provider.c \
	src/identity/cognito/provision_int.h \
	src/identity/cognito/provision.c \
	src/identity/cognito/provision_call.c \
	src/identity/cognito/provision_client.c \
	src/identity/cognito/provision_wanted.c \
	src/identity/cognito/session.c \
	src/identity/cognito/user.c
libghidentity_cognito_a_CFLAGS = $(AM_CFLAGS)
