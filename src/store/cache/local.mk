noinst_LIBRARIES += libghstore_cache.a
libghstore_cache_a_SOURCES = \
	include/store/cache/cache.h \
	include/store/cache/cache_prefix.h \
	src/store/cache/cache_int.h \
	src/store/cache/cache.c \
	src/store/cache/cache_entry.c \
	src/store/cache/cache_evict.c \
	src/store/cache/cache_file.c \
	src/store/cache/cache_guard.c \
	src/store/cache/cache_summary.c
libghstore_cache_a_CFLAGS = $(AM_CFLAGS) $(MARIADB_CFLAGS) $(CURL_CFLAGS) $(LMDB_CFLAGS)
