noinst_LIBRARIES += libghstore.a
libghstore_a_SOURCES = \
	include/store/http_client.h \
	src/store/http_client.c
libghstore_a_CFLAGS = $(AM_CFLAGS) $(MARIADB_CFLAGS) $(CURL_CFLAGS) $(LMDB_CFLAGS)
include $(top_srcdir)/src/store/cache/local.mk
include $(top_srcdir)/src/store/database/local.mk
include $(top_srcdir)/src/store/mail/local.mk
# Each library stands before those that it needs.
store_archives = libghstore.a libghstore_cache.a libghstore_mail.a libghstore_database.a

# What a program that uses this floor links.
store_libs = $(store_archives) $(codec_libs) $(MARIADB_LIBS) $(CURL_LIBS) $(LMDB_LIBS)

sqldir = $(pkgdatadir)/sql
dist_sql_DATA = sql/001-foundation.sql \
	sql/002-roles.sql \
	sql/003-embedded-identity.sql \
	sql/004-files.sql \
	sql/005-accounts.sql \
	sql/006-changes.sql \
	sql/007-files.sql \
	sql/008-maintenance.sql \
	sql/009-settings.sql \
	sql/010-audit-filters.sql \
	sql/011-principal.sql \
	sql/012-outside-identity.sql \
	sql/013-searches.sql \
	sql/014-password-intents.sql \
	sql/015-password-intents.sql \
	sql/016-session-mark.sql \
	sql/018-worker-rights.sql \
	sql/019-address-keys.sql \
	sql/020-refresh-successors.sql \
	sql/021-mail-flood.sql \
	sql/022-file-damage.sql \
	sql/023-code-decoys.sql \
	sql/024-mail-allowance-day.sql \
	sql/025-file-orders.sql \
	sql/026-user-record.sql \
	sql/027-organisations.sql \
	sql/028-file-links.sql \
	sql/029-file-lost.sql \
	sql/030-erasure.sql \
	sql/031-email-changes.sql \
	sql/032-host-minutes.sql \
	sql/033-sessions.sql \
	sql/034-permission-use.sql \
	sql/035-audit-owners.sql \
	sql/036-file-periods.sql \
	sql/037-known-device.sql \
	sql/038-row-lock.sql \
	sql/039-file-uploads.sql \
	sql/040-session-begins.sql \
	sql/041-uploads-under-way.sql
mailtemplatesdedir = $(pkgdatadir)/mail/de
dist_mailtemplatesde_DATA = \
	share/mail/de/confirm.subject share/mail/de/confirm.txt share/mail/de/confirm.html \
	share/mail/de/email-cancelled.subject share/mail/de/email-cancelled.txt share/mail/de/email-cancelled.html \
	share/mail/de/email-change.subject share/mail/de/email-change.txt share/mail/de/email-change.html \
	share/mail/de/email-notice.subject share/mail/de/email-notice.txt share/mail/de/email-notice.html \
	share/mail/de/email-taken.subject share/mail/de/email-taken.txt share/mail/de/email-taken.html \
	share/mail/de/first-login.subject share/mail/de/first-login.txt share/mail/de/first-login.html \
	share/mail/de/password-changed.subject share/mail/de/password-changed.txt share/mail/de/password-changed.html \
	share/mail/de/reset.subject share/mail/de/reset.txt share/mail/de/reset.html
mailtemplatesendir = $(pkgdatadir)/mail/en
dist_mailtemplatesen_DATA = \
	share/mail/en/confirm.subject share/mail/en/confirm.txt share/mail/en/confirm.html \
	share/mail/en/email-cancelled.subject share/mail/en/email-cancelled.txt share/mail/en/email-cancelled.html \
	share/mail/en/email-change.subject share/mail/en/email-change.txt share/mail/en/email-change.html \
	share/mail/en/email-notice.subject share/mail/en/email-notice.txt share/mail/en/email-notice.html \
	share/mail/en/email-taken.subject share/mail/en/email-taken.txt share/mail/en/email-taken.html \
	share/mail/en/first-login.subject share/mail/en/first-login.txt share/mail/en/first-login.html \
	share/mail/en/password-changed.subject share/mail/en/password-changed.txt share/mail/en/password-changed.html \
	share/mail/en/reset.subject share/mail/en/reset.txt share/mail/en/reset.html
