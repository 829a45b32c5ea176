libghdomain_a_SOURCES += \
	include/domain/session/known_device.h \
	src/domain/session/known_device.c \
	include/domain/session/refresh_token.h \
	src/domain/session/refresh_token.c \
	include/domain/session/session.h \
	src/domain/session/session.c \
	include/domain/session/session_family.h \
	src/domain/session/session_family.c \
	include/domain/session/session_list.h \
	src/domain/session/session_list.c \
	src/domain/session_memo_int.h \
	src/domain/session/session_memo.c \
	src/domain/session/session_organisation.c
