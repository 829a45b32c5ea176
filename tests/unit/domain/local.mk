check_PROGRAMS += tests/unit/test-domain
TESTS += tests/unit/test-domain
tests_unit_test_domain_SOURCES = \
	tests/unit/domain/main.c \
	tests/unit/domain/support.h tests/unit/domain/support.c \
	tests/unit/domain/account/test_address_keys.c \
	tests/unit/domain/test_audit_list.c \
	tests/unit/domain/test_change_log.c \
	tests/unit/domain/account/test_one_time_code.c \
	tests/unit/domain/test_refused_statements.c \
	tests/unit/domain/file/test_file.c \
	tests/unit/domain/file/test_file_list.c \
	tests/unit/domain/file/test_file_list_sorted.c \
	tests/unit/domain/file/test_file_usage.c \
	tests/unit/domain/file/test_link_key.c \
	tests/unit/domain/test_outbox.c \
	tests/unit/domain/permission/test_permission.c \
	tests/unit/domain/permission/test_permission_use.c \
	tests/unit/domain/permission/test_principal.c \
	tests/unit/domain/permission/test_principal_rebuild.c \
	tests/unit/domain/account/test_password_policy.c \
	tests/unit/domain/account/test_provisioning.c \
	tests/unit/domain/permission/test_role.c \
	tests/unit/domain/session/test_known_device.c \
	tests/unit/domain/session/test_refresh_token.c \
	tests/unit/domain/session/test_session.c \
	tests/unit/domain/session/test_session_list.c \
	tests/unit/domain/session/test_session_memo.c \
	tests/unit/domain/test_settings.c \
	tests/unit/domain/test_statements.c \
	tests/unit/domain/account/test_throttle.c \
	tests/unit/domain/account/test_throttle_use.c \
	tests/unit/domain/account/test_user.c \
	tests/unit/domain/account/test_user_change.c \
	tests/unit/domain/account/test_user_list.c \
	tests/unit/domain/test_migrate_refusal.c
tests_unit_test_domain_CPPFLAGS = $(unit_cppflags)
tests_unit_test_domain_CFLAGS = $(unit_cflags)
tests_unit_test_domain_LDFLAGS = $(AM_LDFLAGS) $(refusal_flags)
tests_unit_test_domain_LDADD = $(support_libs) $(unit_libs) $(domain_libs) $(CMOCKA_LIBS)
