check_PROGRAMS += tests/unit/test-service
TESTS += tests/unit/test-service
tests_unit_test_service_SOURCES = \
	tests/unit/domain/support.h tests/unit/domain/support.c \
	tests/unit/service/main.c \
	tests/unit/service/accounts_help.h tests/unit/service/accounts_help.c \
	tests/unit/service/keep_help.h tests/unit/service/keep_help.c \
	tests/unit/service/test_accounts.c \
	tests/unit/service/test_adjust.c \
	tests/unit/service/test_authority.c \
	tests/unit/service/test_backup.c \
	tests/unit/service/test_creation.c \
	tests/unit/service/test_equal_work.c \
	tests/unit/service/test_fsck.c \
	tests/unit/service/test_grant.c \
	tests/unit/service/test_health.c \
	tests/unit/service/test_inspect.c \
	tests/unit/service/test_live.c \
	tests/unit/service/test_link.c \
	tests/unit/service/test_mail_flood.c \
	tests/unit/service/test_member.c \
	tests/unit/service/test_token_share.c \
	tests/unit/domain/account/test_password_policy.c \
	tests/unit/service/test_purge.c tests/unit/service/test_scrub.c
tests_unit_test_service_CPPFLAGS = $(unit_cppflags)
tests_unit_test_service_CFLAGS = $(unit_cflags)
tests_unit_test_service_LDADD = $(fixture_libs) $(unit_libs) libghservice.a libghhttp.a $(blob_libs) $(identity_libs) $(CMOCKA_LIBS)
