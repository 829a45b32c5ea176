check_PROGRAMS += tests/unit/test-identity
TESTS += tests/unit/test-identity
tests_unit_test_identity_SOURCES = $(keys_sources) \
	tests/unit/domain/support.h tests/unit/domain/support.c \
	tests/unit/identity/main.c \
	tests/unit/identity/support.h tests/unit/identity/support.c \
	tests/unit/identity/support_answers.h tests/unit/identity/support_answers.c \
	tests/unit/identity/support_failure.h tests/unit/identity/support_failure.c \
	tests/unit/store/script_server.h tests/unit/store/script_server.c \
	tests/unit/identity/test_provider_open.c \
	tests/unit/identity/embedded/test_account.c \
	tests/unit/identity/remote/test_check.c \
	tests/unit/identity/cognito/test_answers.c \
	tests/unit/identity/cognito/test_calls.c \
	tests/unit/identity/cognito/test_codes.c \
	tests/unit/identity/cognito/test_provider.c \
	tests/unit/identity/support_remote.h tests/unit/identity/support_remote.c \
	tests/unit/identity/remote/test_account_failure.c \
	tests/unit/identity/remote/test_circuit_breaker.c \
	tests/unit/identity/remote/test_meeting.c \
	tests/unit/identity/remote/test_password_intent.c \
	tests/unit/identity/remote/test_session_failure.c \
	tests/unit/identity/keycloak/test_answers.c \
	tests/unit/identity/keycloak/test_provider.c \
	tests/unit/identity/keycloak/test_faults.c \
	tests/unit/identity/embedded/test_key_failure.c \
	tests/unit/identity/embedded/test_signing_keys.c \
	tests/unit/identity/embedded/test_login.c \
	tests/unit/identity/embedded/test_password.c \
	tests/unit/identity/remote/test_provider.c \
	tests/unit/identity/embedded/test_refusal.c \
	tests/unit/identity/embedded/test_session.c \
	tests/unit/identity/embedded/test_session_end.c \
	tests/unit/identity/embedded/test_strange.c
tests_unit_test_identity_CPPFLAGS = $(unit_cppflags) -I$(top_srcdir)/src -DGATEHOUSE_PYTHON3='"$(PYTHON3)"'
tests_unit_test_identity_CFLAGS = $(unit_cflags) $(OPENSSL_CFLAGS)
EXTRA_DIST += tests/unit/identity/answers.py tests/unit/identity/cognito_server.py \
	tests/unit/identity/keycloak_server.py tests/unit/identity/signer.py
tests_unit_test_identity_LDFLAGS = $(AM_LDFLAGS) $(refusal_flags) $(keys_flags) -Wl,--wrap=row_lock_take
tests_unit_test_identity_LDADD = $(support_libs) $(unit_libs) $(identity_libs) $(CMOCKA_LIBS)
