noinst_LIBRARIES += libghblob_sniffer.a
libghblob_sniffer_a_SOURCES = \
	include/blob/sniffer/sniffer.h \
	src/blob/sniffer/child.c src/blob/sniffer/child_int.h \
	src/blob/sniffer/keeper.c \
	src/blob/sniffer/message.c src/blob/sniffer/message_int.h \
	src/blob/sniffer/sniffer.c \
	src/blob/sniffer/types.c src/blob/sniffer/types_int.h
libghblob_sniffer_a_CFLAGS = $(AM_CFLAGS)
