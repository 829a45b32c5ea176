noinst_LIBRARIES += libghservice_runtime.a
libghservice_runtime_a_SOURCES = \
	include/service/runtime/change_follower.h \
	src/service/runtime/change_follower.c \
	include/service/runtime/service.h \
	src/service/runtime/service.c \
	include/service/runtime/shared_token_cache.h \
	src/service/runtime/shared_token_cache.c \
	include/service/runtime/startup.h \
	src/service/runtime/startup.c
