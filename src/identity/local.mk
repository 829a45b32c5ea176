noinst_LIBRARIES += libghidentity.a
libghidentity_a_SOURCES = \
	src/identity/json_int.h \
	src/identity/json.c \
	include/identity/provider.h \
	src/identity/provider.c \
	include/identity/provider_open.h \
	src/identity/provider_open.c \
	include/identity/provider_provision.h \
	src/identity/provider_provision_int.h \
	src/identity/provider_provision.c \
	src/identity/provision_common_int.h \
	src/identity/provision_common.c \
	src/identity/remote_int.h
libghidentity_a_CFLAGS = $(AM_CFLAGS)
include $(top_srcdir)/src/identity/cognito/local.mk
include $(top_srcdir)/src/identity/embedded/local.mk
include $(top_srcdir)/src/identity/keycloak/local.mk
include $(top_srcdir)/src/identity/remote/local.mk
identity_archives = libghidentity.a libghidentity_embedded.a libghidentity_remote.a libghidentity_cognito.a \
	libghidentity_keycloak.a \
	libghidentity.a libghidentity_embedded.a libghidentity_remote.a libghidentity_cognito.a libghidentity_keycloak.a

# What a program that uses this floor links.
identity_libs = $(identity_archives) $(domain_libs)
