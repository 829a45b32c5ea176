noinst_LIBRARIES += libghdomain.a
libghdomain_a_SOURCES = \
	include/domain/audit.h \
	src/domain/audit.c \
	src/domain/audit_list.c \
	src/domain/audit_purge.c \
	include/domain/change_log.h \
	src/domain/change_log.c \
	src/domain/columns_int.h \
	src/domain/columns.c \
	include/domain/host_minute.h \
	src/domain/host_minute.c \
	include/domain/lease.h \
	src/domain/lease.c \
	include/domain/moment.h \
	src/domain/moment.c \
	include/domain/outbox.h \
	src/domain/outbox.c \
	src/domain/outbox_list.c \
	include/domain/sealed.h \
	src/domain/sealed.c \
	include/domain/settings.h \
	src/domain/settings.c \
	src/domain/settings_document.c
libghdomain_a_CFLAGS = $(AM_CFLAGS)
# The statements of one wing read columns of another, so the wings add their files to one library.
include $(top_srcdir)/src/domain/account/local.mk
include $(top_srcdir)/src/domain/file/local.mk
include $(top_srcdir)/src/domain/permission/local.mk
include $(top_srcdir)/src/domain/session/local.mk
domain_archives = libghdomain.a

# What a program that uses this floor links.
domain_libs = $(domain_archives) $(store_libs)
