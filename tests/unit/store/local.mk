# A private MariaDB server, for every floor whose tests need one.
check_LIBRARIES += tests/unit/libdatabase.a
tests_unit_libdatabase_a_SOURCES = \
	tests/unit/support_database.h tests/unit/support_database.c \
	tests/unit/support_refusal.h tests/unit/support_refusal.c
tests_unit_libdatabase_a_CPPFLAGS = $(unit_cppflags)
tests_unit_libdatabase_a_CFLAGS = $(unit_cflags) $(MARIADB_CFLAGS)
support_libs = tests/unit/libdatabase.a
# For programs that use support_keys.h.
keys_sources = tests/unit/support_keys.h tests/unit/support_keys.c
keys_flags = -Wl,--wrap=signing_key_generate

# For programs that use support_refusal.h.
refusal_flags = -Wl,--wrap=mysql_stmt_execute,--wrap=mysql_stmt_errno,--wrap=mysql_stmt_error \
	-Wl,--wrap=mysql_stmt_sqlstate,--wrap=mysql_real_query,--wrap=mysql_errno,--wrap=mysql_error,--wrap=mysql_sqlstate

EXTRA_DIST += tests/unit/store/read_mail.py tests/unit/store/smtp_server.py \
	tests/unit/store/http_server.py tests/unit/store/database_server.py
check_PROGRAMS += tests/unit/test-store
TESTS += tests/unit/test-store
tests_unit_test_store_SOURCES = \
	tests/unit/store/main.c \
	tests/unit/store/support_cache.h tests/unit/store/support_cache.c \
	tests/unit/store/support_cache_calls.h tests/unit/store/support_cache_calls.c \
	tests/unit/store/certificate.h tests/unit/store/certificate.c \
	tests/unit/store/proxy.h tests/unit/store/proxy.c \
	tests/unit/store/script_server.h tests/unit/store/script_server.c \
	tests/unit/store/support.h tests/unit/store/support.c \
	tests/unit/store/support_cut.h tests/unit/store/support_cut.c \
	tests/unit/store/cache/test_cache.c \
	tests/unit/store/cache/test_cache_calls.c \
	tests/unit/store/cache/test_cache_faults.c \
	tests/unit/store/cache/test_cache_loader.c \
	tests/unit/store/cache/test_cache_stuck.c \
	tests/unit/store/database/test_conflict.c \
	tests/unit/store/database/test_connection.c \
	tests/unit/store/database/test_connection_options.c \
	tests/unit/store/database/test_connection_tls.c \
	tests/unit/store/database/test_connect.c \
	tests/unit/store/database/test_cut.c \
	tests/unit/store/database/test_database.c \
	tests/unit/store/database/test_dump.c \
	tests/unit/store/database/test_host_list.c \
	tests/unit/store/database/test_database_failure.c \
	tests/unit/store/mail/test_mail.c \
	tests/unit/store/mail/test_mail_file.c \
	tests/unit/store/mail/test_mail_smtp.c \
	tests/unit/store/mail/test_mail_template.c \
	tests/unit/store/database/test_migrate.c \
	tests/unit/store/database/test_migrate_grants.c \
	tests/unit/store/database/test_node.c \
	tests/unit/store/database/test_row_lock.c \
	tests/unit/store/database/test_sql_split.c \
	tests/unit/store/database/test_transaction.c \
	tests/unit/store/test_http_client.c \
	tests/unit/store/test_http_client_faults.c
tests_unit_test_store_CPPFLAGS = $(unit_cppflags) -DGATEHOUSE_PYTHON3='"$(PYTHON3)"'
tests_unit_test_store_CFLAGS = $(unit_cflags) $(CURL_CFLAGS) $(MARIADB_CFLAGS) $(OPENSSL_CFLAGS) $(LMDB_CFLAGS)
tests_unit_test_store_LDADD = $(support_libs) $(unit_libs) $(store_libs) $(LMDB_LIBS) $(CMOCKA_LIBS)
# Calls of LMDB, of the database's client library and of the system that fail.
tests_unit_test_store_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=mdb_txn_begin,--wrap=mdb_txn_renew,--wrap=mdb_txn_commit \
	-Wl,--wrap=mdb_dbi_open,--wrap=mdb_get,--wrap=mdb_put,--wrap=mdb_del,--wrap=mdb_drop,--wrap=mdb_stat \
	-Wl,--wrap=mdb_cursor_open,--wrap=mdb_cursor_get,--wrap=mdb_cursor_del,--wrap=mdb_env_create \
	-Wl,--wrap=mdb_env_open,--wrap=mdb_env_get_fd,--wrap=clock_monotonic,--wrap=flock,--wrap=fallocate \
	-Wl,--wrap=unlink,--wrap=fchmod,--wrap=timer_create \
	-Wl,--wrap=mysql_real_query,--wrap=mysql_store_result,--wrap=mysql_fetch_row,--wrap=mysql_free_result \
	-Wl,--wrap=mysql_stmt_prepare,--wrap=mysql_stmt_execute,--wrap=mysql_stmt_fetch,--wrap=mysql_ping \
	-Wl,--wrap=mysql_use_result,--wrap=mysql_errno,--wrap=socket,--wrap=connect,--wrap=poll,--wrap=getsockopt \
	-Wl,--wrap=curl_slist_append,--wrap=curl_url,--wrap=curl_easy_init
