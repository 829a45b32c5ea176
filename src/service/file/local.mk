noinst_LIBRARIES += libghservice_file.a
libghservice_file_a_SOURCES = \
	include/service/file/download_audit.h \
	src/service/file/download_audit.c \
	include/service/file/file_bulk.h \
	src/service/file/file_bulk.c \
	include/service/file/file_update.h \
	src/service/file/file_update.c \
	include/service/file/resumable.h \
	src/service/file/resumable_int.h \
	src/service/file/resumable.c \
	src/service/file/resumable_finish.c \
	src/service/file/resumable_receive.c \
	include/service/file/upload.h \
	src/service/file/upload_int.h \
	src/service/file/upload.c \
	include/service/file/upload_bound.h \
	src/service/file/upload_bound.c \
	src/service/file/upload_deduplicate.c \
	src/service/file/upload_form.c \
	src/service/file/upload_read.c \
	src/service/file/upload_resolve_commit.c \
	src/service/file/upload_scan.c
