bin_PROGRAMS += gatehousectl
gatehousectl_SOURCES = \
	src/ctl/ctl_int.h src/ctl/main.c \
	src/ctl/backup.c src/ctl/become.c src/ctl/cache.c src/ctl/check_int.h src/ctl/check.c src/ctl/check_database.c src/ctl/check_tell.c src/ctl/check_mail.c src/ctl/command.c src/ctl/create_admin.c src/ctl/fail.c src/ctl/fsck.c src/ctl/grants.c src/ctl/help.c src/ctl/identity.c src/ctl/jobs.c src/ctl/json.c src/ctl/migrate.c \
	src/ctl/mirror.c src/ctl/organisation.c src/ctl/purge.c src/ctl/rotate_keys.c src/ctl/rotate_secret.c src/ctl/scrub.c src/ctl/settings.c src/ctl/show.c src/ctl/transfer.c src/ctl/unlock.c src/ctl/user.c src/ctl/watch.c
gatehousectl_LDADD = $(GATEHOUSE_LIBS)
