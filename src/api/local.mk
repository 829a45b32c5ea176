noinst_LIBRARIES += libghapi.a
libghapi_a_SOURCES = \
	include/api/admission.h src/api/admission.c \
	include/api/dispatch.h src/api/dispatch.c \
	include/api/failure.h src/api/failure.c \
	src/api/examples_int.h src/api/examples.c \
	include/api/openapi.h src/api/openapi.c \
	include/api/route.h src/api/route.c src/api/route_errors.c \
	src/api/routes_int.h src/api/routes.c src/api/routes_accounts.c src/api/routes_files.c src/api/routes_service.c \
	src/api/handlers_int.h src/api/views_int.h src/api/views.c \
	src/api/accounts.c src/api/caching.c src/api/downloads.c src/api/files_int.h src/api/files.c src/api/members.c src/api/passwords.c src/api/settings.c src/api/system.c src/api/trail.c
