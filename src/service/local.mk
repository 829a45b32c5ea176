noinst_LIBRARIES += libghservice.a
libghservice_a_SOURCES = \
	include/service/account.h src/service/account.c src/service/account_create.c \
	include/service/adjust.h src/service/adjust.c \
	include/service/authority.h src/service/authority.c \
	include/service/backup.h src/service/backup_int.h src/service/backup_run_int.h src/service/backup.c \
	src/service/backup_copy.c src/service/backup_files.c src/service/backup_manifest.c \
	src/service/backup_names.c \
	include/service/caller.h src/service/caller.c \
	include/service/filing.h src/service/filing.c \
	include/service/transfer.h src/service/transfer.c \
	include/service/fsck.h src/service/fsck_int.h src/service/fsck.c src/service/fsck_fetch.c src/service/fsck_store.c \
	include/service/evict.h src/service/evict.c \
	include/service/grant.h src/service/grant.c \
	include/service/guard.h src/service/guard.c \
	include/service/health.h src/service/health_int.h src/service/health.c src/service/health_apart.c \
	include/service/inspect.h src/service/inspect.c \
	include/service/live.h src/service/live.c \
	include/service/link.h src/service/link.c \
	include/service/maintenance.h src/service/maintenance.c \
	include/service/member.h src/service/member.c \
	include/service/notice.h src/service/notice.c \
	include/service/password.h src/service/password.c \
	include/service/post.h src/service/post.c \
	include/service/purge.h src/service/purge.c \
	include/service/recovery.h src/service/recovery.c \
	include/service/reseal.h src/service/reseal.c \
	include/service/restore.h src/service/restore_int.h src/service/restore.c src/service/restore_files.c \
	include/service/scrub.h src/service/scrub_int.h src/service/scrub.c src/service/scrub_mark.c \
	src/service/scrub_position.c src/service/scrub_read.c \
	include/service/service.h src/service/service.c \
	include/service/setup.h src/service/setup.c \
	include/service/sync.h src/service/sync.c \
	include/service/token_share.h src/service/token_share.c \
	include/service/upload.h src/service/upload_int.h src/service/upload.c src/service/upload_read.c \
	include/service/upload_bound.h src/service/upload_bound.c \
	src/service/upload_scan.c src/service/upload_settle.c src/service/upload_share.c
