libghdomain_a_SOURCES += \
	include/domain/account/address_keys.h \
	src/domain/account/address_keys.c \
	include/domain/account/one_time_code.h \
	src/domain/account/one_time_code.c \
	include/domain/account/organisation.h \
	src/domain/account/organisation.c \
	src/domain/account/organisation_admin.c \
	include/domain/account/password_policy.h \
	src/domain/account/password_policy.c \
	include/domain/account/provisioning.h \
	src/domain/account/provisioning.c \
	include/domain/account/session.h \
	src/domain/account/session.c \
	src/domain/session_memo_int.h \
	src/domain/account/session_memo.c \
	include/domain/account/throttle.h \
	src/domain/account/throttle.c \
	include/domain/account/user.h \
	src/domain/account/user.c \
	src/domain/account/user_change.c \
	src/domain/account/user_list.c \
	src/domain/account/user_rights.c
