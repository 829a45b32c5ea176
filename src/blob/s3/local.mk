noinst_LIBRARIES += libghblob_s3.a
libghblob_s3_a_SOURCES = \
	include/blob/s3/s3.h \
	src/blob/s3/call.c \
	src/blob/s3/compare.c \
	src/blob/s3/key.c \
	src/blob/s3/list.c \
	src/blob/s3/multipart.c \
	src/blob/s3/partial.c \
	src/blob/s3/piece.c \
	src/blob/s3/read.c \
	src/blob/s3/refusal.c \
	src/blob/s3/s3.c \
	src/blob/s3/s3_int.h \
	src/blob/s3/spool.c \
	src/blob/s3/write.c
libghblob_s3_a_CFLAGS = $(AM_CFLAGS)
