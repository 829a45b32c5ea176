noinst_LIBRARIES += libghservice_system.a
libghservice_system_a_SOURCES = \
	include/service/system/cache_update.h \
	src/service/system/cache_update.c \
	include/service/system/health.h \
	src/service/system/health_int.h \
	src/service/system/health.c \
	src/service/system/health_apart.c \
	include/service/system/inspect.h \
	src/service/system/inspect.c \
	src/service/system/inspect_reporting.c \
	include/service/system/settings_update.h \
	src/service/system/settings_update.c \
	include/service/system/stats.h \
	src/service/system/stats.c
