check_PROGRAMS += tests/unit/test-domain
TESTS += tests/unit/test-domain
tests_unit_test_domain_SOURCES = \
	tests/unit/domain/main.c \
	tests/unit/domain/support.h tests/unit/domain/support.c \
	tests/unit/domain/test_address_keys.c \
	tests/unit/domain/test_audit_list.c \
	tests/unit/domain/test_change.c \
	tests/unit/domain/test_code.c \
	tests/unit/domain/test_file.c \
	tests/unit/domain/test_file_list.c \
	tests/unit/domain/test_file_usage.c \
	tests/unit/domain/test_link_key.c \
	tests/unit/domain/test_outbox.c \
	tests/unit/domain/test_permission.c \
	tests/unit/domain/test_principal.c \
	tests/unit/domain/test_principal_keep.c \
	tests/unit/domain/test_provisioning.c \
	tests/unit/domain/test_role.c \
	tests/unit/domain/test_session.c \
	tests/unit/domain/test_session_mark.c \
	tests/unit/domain/test_settings.c \
	tests/unit/domain/test_statements.c \
	tests/unit/domain/test_throttle.c \
	tests/unit/domain/test_throttle_use.c \
	tests/unit/domain/test_user.c \
	tests/unit/domain/test_user_change.c \
	tests/unit/domain/test_user_list.c
tests_unit_test_domain_CPPFLAGS = $(unit_cppflags)
tests_unit_test_domain_CFLAGS = $(unit_cflags)
tests_unit_test_domain_LDADD = $(fixture_libs) $(unit_libs) $(domain_libs) $(CMOCKA_LIBS)
