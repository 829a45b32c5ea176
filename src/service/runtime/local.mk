noinst_LIBRARIES += libghservice_runtime.a
libghservice_runtime_a_SOURCES = \
	include/service/runtime/cache_eviction.h \
	src/service/runtime/cache_eviction.c \
	include/service/runtime/change_follower.h \
	src/service/runtime/change_follower.c \
	include/service/runtime/confinement.h \
	src/service/runtime/confinement.c \
	include/service/runtime/download_memo.h \
	src/service/runtime/download_memo.c \
	include/service/runtime/link_key_cache.h \
	src/service/runtime/link_key_cache.c \
	include/service/runtime/service.h \
	src/service/runtime/service.c \
	include/service/runtime/settings_apply.h \
	src/service/runtime/settings_apply.c \
	include/service/runtime/shared_token_cache.h \
	src/service/runtime/shared_token_cache.c \
	include/service/runtime/startup.h \
	src/service/runtime/startup.c \
	include/service/runtime/use_log.h \
	src/service/runtime/use_log.c
