noinst_LIBRARIES += libghservice_maintenance.a
libghservice_maintenance_a_SOURCES = \
	include/service/maintenance/backup.h \
	src/service/maintenance/backup.c \
	src/service/maintenance/backup_copy.c \
	src/service/maintenance/backup_files.c \
	src/service/backup_int.h \
	src/service/maintenance/backup_manifest.c \
	src/service/maintenance/backup_names.c \
	src/service/maintenance/backup_run_int.h \
	src/service/maintenance/backup_step.c \
	include/service/maintenance/blob_move.h \
	src/service/maintenance/blob_move.c \
	include/service/maintenance/identity_transfer.h \
	src/service/maintenance/identity_transfer.c \
	include/service/maintenance/lease_holder.h \
	src/service/maintenance/lease_holder.c \
	include/service/maintenance/pace.h \
	src/service/maintenance/pace.c \
	include/service/maintenance/progress.h \
	src/service/maintenance/progress.c \
	include/service/maintenance/purge.h \
	src/service/maintenance/purge.c \
	include/service/maintenance/reseal.h \
	src/service/maintenance/reseal.c \
	include/service/maintenance/restore.h \
	src/service/maintenance/restore.c \
	src/service/maintenance/restore_files.c \
	src/service/maintenance/restore_int.h
