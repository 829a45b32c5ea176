noinst_LIBRARIES += libghapi_handler.a
libghapi_handler_a_SOURCES = \
	src/api/handler/accounts.c \
	src/api/handler/audit/audit.c \
	src/api/handler/audit/audit_export.c \
	src/api/handler/audit/audit_int.h \
	src/api/handler/audit/audit_shown.c \
	src/api/handler/authorise.c \
	src/api/handler/cache.c \
	src/api/handler/downloads.c \
	src/api/handler/file_bulk.c \
	src/api/handler/file_cursor_int.h \
	src/api/handler/file_cursor.c \
	src/api/handler/file_list.c \
	src/api/handler/files_int.h \
	src/api/handler/files.c \
	src/api/handlers_int.h \
	src/api/lists_int.h \
	src/api/handler/limits.c \
	src/api/handler/links.c \
	src/api/handler/members_int.h \
	src/api/handler/member_help.c \
	src/api/handler/members.c \
	src/api/handler/organisations.c \
	src/api/handler/own_account.c \
	src/api/handler/passwords.c \
	src/api/handler/permissions.c \
	src/api/session_cookie_int.h \
	src/api/session/session_cookie.c \
	src/api/session/sessions.c \
	src/api/handler/settings.c \
	src/api/handler/system.c \
	src/api/handler/uploads.c \
	src/api/handler/views_int.h \
	src/api/handler/views.c
