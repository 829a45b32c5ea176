noinst_LIBRARIES += libghservice_access.a
libghservice_access_a_SOURCES = \
	include/service/access/authority.h \
	src/service/access/authority.c \
	include/service/access/caller.h \
	src/service/access/caller.c \
	include/service/access/caller_audit.h \
	src/service/access/caller_audit.c \
	include/service/access/grant.h \
	src/service/access/grant.c \
	include/service/access/login_throttle.h \
	src/service/access/login_throttle.c \
	include/service/access/session_use.h \
	src/service/access/session_use.c \
	include/service/access/signed_link.h \
	src/service/access/signed_link.c
