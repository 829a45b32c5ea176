noinst_LIBRARIES += libghstore_database.a
libghstore_database_a_SOURCES = \
	src/store/database/connect.c \
	src/store/database/connection.c \
	include/store/database/database.h \
	src/store/database/database_int.h \
	src/store/database/database.c \
	src/store/database/database_failure.c \
	include/store/database/dump.h \
	src/store/database/dump.c \
	src/store/database/dump_load.c \
	include/store/database/grants.def \
	include/store/database/host_list.h \
	src/store/database/host_list.c \
	include/store/database/migrate.h \
	src/store/database/migrate.c \
	src/store/database/migrate_provision.c \
	src/store/database/node.c \
	src/store/database/plugins.c \
	src/store/database/prepared.c \
	src/store/database/retry.c \
	include/store/database/row_lock.h \
	src/store/database/row_lock.c \
	src/store/database/rows.c \
	src/store/source_int.h \
	src/store/database/source.c \
	src/store/database/sql_split_int.h \
	src/store/database/sql_split.c \
	src/store/database/statement_memory.c \
	src/store/database/transaction.c
libghstore_database_a_CFLAGS = $(AM_CFLAGS) $(MARIADB_CFLAGS) $(CURL_CFLAGS) $(LMDB_CFLAGS)
