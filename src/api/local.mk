noinst_LIBRARIES += libghapi.a
libghapi_a_SOURCES = \
	include/api/admission.h \
	src/api/admission.c \
	include/api/dispatch.h \
	src/api/dispatch.c \
	include/api/error_reply.h \
	src/api/error_reply.c \
	include/api/route.h \
	src/api/route.c \
	src/api/route_row.c \
	src/api/routes_int.h \
	src/api/routes.c \
	src/api/routes_accounts.c \
	src/api/routes_files.c \
	src/api/routes_organisations.c \
	src/api/routes_service.c \
	src/api/routes_rights.c \
	src/api/routes_sessions.c \
	src/api/routes_uploads.c
include $(top_srcdir)/src/api/document/local.mk
include $(top_srcdir)/src/api/handler/local.mk
api_archives = libghapi.a libghapi_handler.a libghapi_document.a \
	libghapi.a libghapi_handler.a libghapi_document.a
