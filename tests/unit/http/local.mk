check_PROGRAMS += tests/unit/test-http
TESTS += tests/unit/test-http
tests_unit_test_http_SOURCES = \
	tests/unit/http/main.c tests/unit/http/fake_source.h \
	tests/unit/http/fastcgi_client.h tests/unit/http/fastcgi_client.c \
	tests/unit/http/test_accept.c \
	tests/unit/http/test_body_file.c \
	tests/unit/http/test_cookie.c \
	tests/unit/http/test_disposition.c \
	tests/unit/http/test_fastcgi.c \
	tests/unit/http/test_fastcgi_guard.c \
	tests/unit/http/record.h tests/unit/http/record.c \
	tests/unit/http/test_multipart.c \
	tests/unit/http/test_multipart_header.c \
	tests/unit/http/test_range.c \
	tests/unit/http/test_request.c \
	tests/unit/http/test_schema.c \
	tests/unit/http/test_upload_header.c
tests_unit_test_http_CPPFLAGS = $(unit_cppflags) -I$(top_srcdir)/tests/unit/http
tests_unit_test_http_CFLAGS = $(unit_cflags) $(FCGI_CFLAGS)
tests_unit_test_http_LDADD = $(unit_libs) libghhttp.a $(codec_libs) $(FCGI_LIBS) $(CMOCKA_LIBS)
# Calls that fail in a worker.
tests_unit_test_http_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getpeername,--wrap=getsockopt,--wrap=accept4,--wrap=FCGX_Init \
	-Wl,--wrap=fastcgi_input_head
