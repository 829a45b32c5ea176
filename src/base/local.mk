noinst_LIBRARIES += libghbase.a
libghbase_a_SOURCES = \
	include/base/arena.h src/base/arena.c \
	include/base/clock.h src/base/clock.c \
	include/base/configuration.h src/base/configuration.c src/base/configuration_environment.c \
	src/base/configuration_rows.c \
	include/base/error.h include/base/errors.def src/base/error.c \
	include/base/folder.h src/base/folder.c \
	include/base/host/census.h src/base/host/census.c \
	include/base/host/hints.h src/base/host/hints.c \
	include/base/host/memory.h src/base/host/memory.c src/base/host_memory_int.h \
	include/base/host/process.h src/base/host/process.c \
	include/base/host/upload_slots.h src/base/host/upload_slots.c \
	include/base/id.h src/base/id.c \
	include/base/language.h src/base/language.c \
	include/base/limits.h \
	include/base/log.h src/base/log.c src/base/log_filter.c \
	include/base/memory.h src/base/memory.c \
	include/base/metrics.h include/base/metrics.def src/base/metrics.c src/base/metrics_int.h \
	src/base/metrics_layout.c src/base/metrics_int.h src/base/metrics_text.c \
	include/base/metrics_totals.h src/base/metrics_totals.c \
	include/base/name.h src/base/name.c \
	include/base/network.h src/base/network.c \
	include/base/sandbox/sandbox.h src/base/sandbox/sandbox.c src/base/sandbox/sandbox_int.h \
	src/base/sandbox/calls.c src/base/sandbox/landlock.c src/base/sandbox/libraries.c \
	include/base/secret.h src/base/secret.c \
	include/base/text.h src/base/text.c
libghbase_a_CFLAGS = $(AM_CFLAGS) $(INIH_CFLAGS) $(SECCOMP_CFLAGS)

# What a program that uses this floor links.
base_libs = libghbase.a $(INIH_LIBS) $(SECCOMP_LIBS)
