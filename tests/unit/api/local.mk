check_PROGRAMS += tests/unit/test-api
TESTS += tests/unit/test-api
tests_unit_test_api_SOURCES = tests/unit/api/main.c tests/unit/api/test_dispatch.c tests/unit/api/test_route.c \
	tests/unit/api/test_session_cookie.c \
	tests/unit/http/fake_source.h
tests_unit_test_api_CPPFLAGS = $(unit_cppflags)
tests_unit_test_api_CFLAGS = $(unit_cflags)
tests_unit_test_api_LDADD = $(unit_libs) $(GATEHOUSE_LIBS) $(CMOCKA_LIBS)
EXTRA_DIST += docs/openapi.json
