noinst_LIBRARIES += libghblob.a
libghblob_a_SOURCES = \
	include/blob/blob.h src/blob/blob.c \
	include/blob/content.h src/blob/content.c \
	include/blob/directory.h src/blob/directory_int.h src/blob/directory.c src/blob/directory_read.c \
	src/blob/directory_root.c src/blob/directory_partial.c \
	src/blob/directory_sweep.c src/blob/directory_write.c \
	include/blob/io.h src/blob/io.c \
	include/blob/open.h src/blob/open.c \
	include/blob/partial.h src/blob/partial.c src/blob/writer_int.h \
	src/blob/reader_int.h \
	include/blob/scanner.h src/blob/scanner.c \
	include/blob/sniff.h src/blob/sniff.c \
	src/blob/image_int.h src/blob/image.c \
	src/blob/media_int.h src/blob/media.c \
	src/blob/signature_int.h src/blob/signature.c
libghblob_a_CFLAGS = $(AM_CFLAGS) $(MAGIC_CFLAGS)

include $(top_srcdir)/src/blob/s3/local.mk
include $(top_srcdir)/src/blob/sniffer/local.mk
# Each needs the other: the store is opened by the floor, and uses its directory as a spool.
blob_archives = libghblob_sniffer.a libghblob.a libghblob_s3.a libghblob.a

# What a program that uses this floor links.
blob_libs = $(blob_archives) $(store_libs) $(MAGIC_LIBS)
