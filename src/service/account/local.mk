noinst_LIBRARIES += libghservice_account.a
libghservice_account_a_SOURCES = \
	include/service/account/email_cancel.h \
	src/service/account/email_cancel.c \
	include/service/account/email_change.h \
	src/service/account/email_change.c \
	include/service/account/mail_queue.h \
	src/service/account/mail_queue.c \
	include/service/account/member.h \
	src/service/account/member_change.c \
	src/service/account/member_int.h \
	src/service/account/member.c \
	include/service/account/member_erase.h \
	src/service/account/member_erase.c \
	include/service/account/member_help.h \
	src/service/account/member_help.c \
	include/service/account/notification.h \
	src/service/account/notification.c \
	include/service/account/organisation_update.h \
	src/service/account/organisation_update.c \
	include/service/account/own_profile.h \
	src/service/account/own_profile.c \
	include/service/account/password.h \
	include/service/account/password_proof.h \
	src/service/account/password_proof.c \
	src/service/account/password.c \
	include/service/account/provider_change.h \
	src/service/account/provider_change.c \
	include/service/account/provider_sync.h \
	src/service/account/provider_sync.c \
	include/service/account/recovery.h \
	src/service/account/recovery.c \
	include/service/account/session_admin.h \
	src/service/account/session_admin.c \
	include/service/account/sign_in.h \
	src/service/account/sign_in.c \
	include/service/account/sign_up.h \
	src/service/account/sign_up.c
