noinst_LIBRARIES += libghservice_integrity.a
libghservice_integrity_a_SOURCES = \
	include/service/integrity/fsck.h \
	src/service/integrity/fsck.c \
	src/service/integrity/fsck_fetch.c \
	src/service/integrity/fsck_int.h \
	src/service/integrity/fsck_report.c \
	src/service/integrity/fsck_store.c \
	include/service/integrity/scrub.h \
	src/service/integrity/scrub.c \
	src/service/integrity/scrub_int.h \
	src/service/integrity/scrub_mark.c \
	src/service/integrity/scrub_position.c \
	src/service/integrity/scrub_read.c
