noinst_LIBRARIES += libghhttp.a
libghhttp_a_SOURCES = \
	include/http/accept.h src/http/accept.c \
	include/http/body_file.h src/http/body_file.c \
	include/http/cookie.h src/http/cookie.c \
	include/http/disposition.h src/http/disposition.c \
	include/http/fastcgi.h src/http/fastcgi.c src/http/fastcgi_deadline.c src/http/fastcgi_deadline_int.h \
	src/http/fastcgi_guard.c src/http/fastcgi_guard_int.h src/http/fastcgi_input.c src/http/fastcgi_input_int.h \
	src/http/fastcgi_send.c src/http/fastcgi_send_int.h \
	include/http/multipart.h src/http/multipart.c src/http/multipart_header.c src/http/multipart_int.h \
	include/http/range.h src/http/range.c \
	include/http/reply.h src/http/reply.c \
	include/http/request.h src/http/request.c \
	include/http/schema.h src/http/schema.c src/http/schema_write.c \
	include/http/upload_header.h src/http/upload_header.c
libghhttp_a_CFLAGS = $(AM_CFLAGS) $(FCGI_CFLAGS)
