check_PROGRAMS += tests/unit/test-service
TESTS += tests/unit/test-service
tests_unit_test_service_SOURCES = $(keys_sources) \
	tests/unit/blob/sniffer/support_warm_up.c \
	tests/unit/blob/sniffer/support_warm_up.h \
	tests/unit/domain/support.c \
	tests/unit/domain/support.h \
	tests/unit/http/fake_source.h \
	tests/unit/service/access/test_authority.c \
	tests/unit/service/access/test_grant.c \
	tests/unit/service/access/test_login_throttle.c \
	tests/unit/service/access/support_links.c \
	tests/unit/service/access/support_links.h \
	tests/unit/service/access/test_signed_link.c \
	tests/unit/service/access/test_signed_link_refused.c \
	tests/unit/service/account/test_equal_work.c \
	tests/unit/service/account/test_mail_flood.c \
	tests/unit/service/account/test_mail_queue.c \
	tests/unit/service/account/test_member.c \
	tests/unit/service/account/test_notification.c \
	tests/unit/service/account/test_own_profile.c \
	tests/unit/service/account/test_refused_codes.c \
	tests/unit/service/account/test_refused_people.c \
	tests/unit/service/account/test_refused_sessions.c \
	tests/unit/service/account/test_refused_tries.c \
	tests/unit/service/account/test_sign_in.c \
	tests/unit/service/account/test_sign_up.c \
	tests/unit/service/file/support_files.c \
	tests/unit/service/file/support_files.h \
	tests/unit/service/file/test_file_bulk.c \
	tests/unit/service/file/test_file_update.c \
	tests/unit/service/file/test_refused_files.c \
	tests/unit/service/file/test_resumable.c \
	tests/unit/service/file/test_upload.c \
	tests/unit/service/integrity/test_fsck.c \
	tests/unit/service/integrity/test_scrub.c \
	tests/unit/service/integrity/test_scrub_memory.c \
	tests/unit/service/main.c \
	tests/unit/service/maintenance/test_backup.c \
	tests/unit/service/maintenance/test_backup_manifest.c \
	tests/unit/service/maintenance/test_blob_move.c \
	tests/unit/service/maintenance/test_lease_holder.c \
	tests/unit/service/maintenance/test_maintenance_refusal.c \
	tests/unit/service/maintenance/test_purge.c \
	tests/unit/service/maintenance/test_reseal.c \
	tests/unit/service/runtime/test_change_follower.c \
	tests/unit/service/runtime/test_shared_token_cache.c \
	tests/unit/service/runtime/test_confinement.c \
	tests/unit/service/runtime/test_startup.c \
	tests/unit/service/runtime/test_use_log.c \
	tests/unit/service/support_accounts.c \
	tests/unit/service/support_accounts.h \
	tests/unit/service/support_maintenance.c \
	tests/unit/service/support_maintenance.h \
	tests/unit/service/support_refused.c \
	tests/unit/service/support_refused.h \
	tests/unit/service/system/test_health.c \
	tests/unit/service/system/test_inspect.c \
	tests/unit/service/system/test_inspect_files.c \
	tests/unit/service/system/test_refused_settings.c \
	tests/unit/service/system/test_settings_update.c \
	tests/unit/service/system/test_stats.c \
	tests/unit/store/script_server.c \
	tests/unit/store/script_server.h
tests_unit_test_service_CPPFLAGS = $(unit_cppflags) -DGATEHOUSE_PYTHON3='"$(PYTHON3)"'
tests_unit_test_service_CFLAGS = $(unit_cflags)
tests_unit_test_service_LDFLAGS = $(AM_LDFLAGS) $(refusal_flags) $(keys_flags)
tests_unit_test_service_LDADD = $(support_libs) $(unit_libs) $(service_archives) libghhttp.a $(blob_libs) \
	$(identity_libs) $(CMOCKA_LIBS)
