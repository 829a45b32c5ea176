noinst_LIBRARIES += libghstore_mail.a
libghstore_mail_a_SOURCES = \
	include/store/mail/mail.h \
	src/store/mail/mail.c \
	src/store/mail/mail_encode_int.h \
	src/store/mail/mail_encode.c \
	src/store/mail/mail_file.c \
	src/store/mail/mail_smtp.c \
	include/store/mail/mail_template.h \
	src/store/mail/mail_template.c
libghstore_mail_a_CFLAGS = $(AM_CFLAGS) $(MARIADB_CFLAGS) $(CURL_CFLAGS) $(LMDB_CFLAGS)
