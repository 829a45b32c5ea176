check_PROGRAMS += tests/unit/test-identity
TESTS += tests/unit/test-identity
tests_unit_test_identity_SOURCES = \
	tests/unit/domain/support.h tests/unit/domain/support.c \
	tests/unit/identity/main.c \
	tests/unit/identity/identity_help.h tests/unit/identity/identity_help.c \
	tests/unit/store/script_server.h tests/unit/store/script_server.c \
	tests/unit/identity/test_account.c \
	tests/unit/identity/test_check.c \
	tests/unit/identity/test_codes.c \
	tests/unit/identity/test_cognito.c \
	tests/unit/identity/outside_stage.h tests/unit/identity/outside_stage.c \
	tests/unit/identity/test_gate.c \
	tests/unit/identity/test_intent.c \
	tests/unit/identity/test_keycloak.c \
	tests/unit/identity/test_keycloak_faults.c \
	tests/unit/identity/test_keys.c \
	tests/unit/identity/test_login.c \
	tests/unit/identity/test_outside.c \
	tests/unit/identity/test_refusal.c \
	tests/unit/identity/test_session.c
tests_unit_test_identity_CPPFLAGS = $(unit_cppflags) -I$(top_srcdir)/src -DGATEHOUSE_PYTHON3='"$(PYTHON3)"'
tests_unit_test_identity_CFLAGS = $(unit_cflags) $(OPENSSL_CFLAGS)
EXTRA_DIST += tests/unit/identity/cognito_server.py tests/unit/identity/keycloak_server.py \
	tests/unit/identity/signer.py
tests_unit_test_identity_LDADD = $(fixture_libs) $(unit_libs) $(identity_libs) $(CMOCKA_LIBS)
