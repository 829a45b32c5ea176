bin_PROGRAMS += gatehousectl
gatehousectl_SOURCES = \
	src/ctl/become.c \
	src/ctl/check/check.c \
	src/ctl/check/check_database.c \
	src/ctl/check/check_int.h \
	src/ctl/check/check_mail.c \
	src/ctl/check/check_store.c \
	src/ctl/check/check_tell.c \
	src/ctl/command.c \
	src/ctl/complete.c \
	src/ctl/command/backup.c \
	src/ctl/command/blobs.c \
	src/ctl/command/cache.c \
	src/ctl/command/create_admin.c \
	src/ctl/command/fsck.c \
	src/ctl/command/grants.c \
	src/ctl/command/identity.c \
	src/ctl/command/jobs.c src/ctl/command/jobs_int.h src/ctl/command/jobs_tidy.c \
	src/ctl/command/migrate.c \
	src/ctl/command/mirror.c \
	src/ctl/command/organisation.c \
	src/ctl/command/permissions.c \
	src/ctl/command/purge.c \
	src/ctl/command/uploads.c \
	src/ctl/command/rotate_keys.c \
	src/ctl/command/rotate_secret.c \
	src/ctl/command/scrub.c \
	src/ctl/command/settings.c \
	src/ctl/command/identity_transfer.c \
	src/ctl/command/unlock.c \
	src/ctl/command/user.c \
	src/ctl/ctl_int.h \
	src/ctl/fail.c \
	src/ctl/help.c \
	src/ctl/json.c \
	src/ctl/lost.c \
	src/ctl/main.c \
	src/ctl/progress.c \
	src/ctl/show.c
gatehousectl_LDADD = $(GATEHOUSE_LIBS)
