noinst_LIBRARIES += libghidentity.a
libghidentity_a_SOURCES = \
	include/identity/embedded.h src/identity/embedded_int.h src/identity/embedded.c \
	src/identity/embedded_keys.c src/identity/embedded_login.c src/identity/embedded_session.c \
	include/identity/open.h src/identity/open.c \
	include/identity/provider.h src/identity/provider.c \
	src/identity/refresh_int.h src/identity/refresh.c \
	src/identity/outside_int.h src/identity/outside.c src/identity/outside_check.c src/identity/outside_gate.c src/identity/outside_intent.c src/identity/outside_keys.c src/identity/outside_session.c \
	include/identity/cognito.h src/identity/cognito_int.h src/identity/cognito.c src/identity/cognito_call.c \
	src/identity/cognito_check.c src/identity/cognito_codes.c src/identity/cognito_token.c \
	include/identity/keycloak.h src/identity/keycloak_int.h src/identity/keycloak.c src/identity/keycloak_call.c \
	src/identity/keycloak_check.c src/identity/keycloak_token.c src/identity/keycloak_user.c \
	include/identity/provider_setup.h src/identity/provider_setup_int.h src/identity/provider_setup.c \
	src/identity/cognito_setup_int.h src/identity/cognito_setup.c src/identity/cognito_setup_client.c \
	src/identity/cognito_setup_text.c \
	src/identity/keycloak_setup_int.h src/identity/keycloak_setup.c src/identity/keycloak_setup_client.c \
	src/identity/keycloak_setup_text.c
libghidentity_a_CFLAGS = $(AM_CFLAGS)

# What a program that uses this floor links.
identity_libs = libghidentity.a $(domain_libs)
