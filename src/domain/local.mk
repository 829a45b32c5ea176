noinst_LIBRARIES += libghdomain.a
libghdomain_a_SOURCES = \
	src/domain/columns_int.h src/domain/columns.c \
	include/domain/address_keys.h src/domain/address_keys.c \
	include/domain/audit.h src/domain/audit.c src/domain/audit_list.c src/domain/audit_purge.c \
	include/domain/moment.h src/domain/moment.c \
	include/domain/change.h src/domain/change.c \
	include/domain/code.h src/domain/code.c \
	include/domain/file.h src/domain/file.c src/domain/file_list.c \
	include/domain/file_keep.h src/domain/file_keep.c src/domain/file_purge.c src/domain/file_keep_int.h \
	include/domain/file_damage.h src/domain/file_damage.c \
	include/domain/file_kind.h src/domain/file_kind.c \
	include/domain/file_usage.h src/domain/file_usage.c \
	include/domain/link_key.h src/domain/link_key.c \
	include/domain/maintenance.h src/domain/maintenance.c \
	include/domain/organisation.h src/domain/organisation.c src/domain/organisation_keep.c \
	include/domain/outbox.h src/domain/outbox.c src/domain/outbox_list.c \
	include/domain/permission.h src/domain/permission.c \
	include/domain/principal.h src/domain/principal.c src/domain/principal_keep.c \
	src/domain/principal_int.h src/domain/principal_probe.c \
	src/domain/session_memo_int.h src/domain/session_memo.c \
	include/domain/provisioning.h src/domain/provisioning.c \
	include/domain/role.h src/domain/role.c \
	include/domain/sealed.h src/domain/sealed.c \
	include/domain/session.h src/domain/session.c \
	include/domain/settings.h src/domain/settings.c src/domain/settings_document.c \
	include/domain/throttle.h src/domain/throttle.c \
	include/domain/user.h src/domain/user.c src/domain/user_change.c src/domain/user_list.c \
	src/domain/user_rights.c
libghdomain_a_CFLAGS = $(AM_CFLAGS)

# What a program that uses this floor links.
domain_libs = libghdomain.a $(store_libs)
