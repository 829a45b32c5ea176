noinst_LIBRARIES += libghidentity_keycloak.a
libghidentity_keycloak_a_SOURCES = \
	src/identity/keycloak/check.c \
	src/identity/keycloak/client.c \
	src/identity/keycloak/grant.c \
	src/identity/keycloak/keycloak_int.h \
	src/identity/keycloak/login.c \
	src/identity/keycloak/password.c \
	include/identity/keycloak/provider.h \
	src/identity/keycloak/provider.c \
	src/identity/keycloak/provision_int.h \
	src/identity/keycloak/provision.c \
	src/identity/keycloak/provision_call.c \
	src/identity/keycloak/provision_client.c \
	src/identity/keycloak/provision_wanted.c \
	src/identity/keycloak/session.c \
	src/identity/keycloak/user.c
libghidentity_keycloak_a_CFLAGS = $(AM_CFLAGS)
