check_PROGRAMS += tests/unit/test-base
TESTS += tests/unit/test-base
tests_unit_test_base_SOURCES = \
	tests/unit/base/host/test_hints.c \
	tests/unit/base/host/test_memory.c \
	tests/unit/base/host/test_memory_faults.c \
	tests/unit/base/host/test_process.c \
	tests/unit/base/host/test_upload_slots.c \
	tests/unit/base/main.c \
	tests/unit/base/support.h \
	tests/unit/base/support.c \
	tests/unit/base/test_arena.c \
	tests/unit/base/test_clock.c \
	tests/unit/base/test_configuration.c \
	tests/unit/base/test_error.c \
	tests/unit/base/test_folder.c \
	tests/unit/base/test_id.c \
	tests/unit/base/test_language.c \
	tests/unit/base/test_log.c \
	tests/unit/base/test_log_file.c \
	tests/unit/base/test_log_filter.c \
	tests/unit/base/test_metrics.c \
	tests/unit/base/test_metrics_totals.c \
	tests/unit/base/test_name.c \
	tests/unit/base/test_network.c \
	tests/unit/base/sandbox/support_walls.c \
	tests/unit/base/sandbox/support_walls.h \
	tests/unit/base/sandbox/test_sandbox.c \
	tests/unit/base/sandbox/test_sandbox_duties.c \
	tests/unit/base/sandbox/test_sandbox_faults.c \
	tests/unit/base/sandbox/test_sandbox_libraries.c \
	tests/unit/base/test_secret.c \
	tests/unit/base/test_text.c
tests_unit_test_base_CPPFLAGS = $(unit_cppflags)
tests_unit_test_base_CFLAGS = $(unit_cflags) $(CJSON_CFLAGS) $(SECCOMP_CFLAGS)
tests_unit_test_base_LDADD = $(unit_libs) $(base_libs) $(CJSON_LIBS) $(CMOCKA_LIBS) -lm
# A kernel that offers less, calls that fail, and what another process does in between.
tests_unit_test_base_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=syscall,--wrap=prctl,--wrap=seccomp_api_get \
	-Wl,--wrap=seccomp_init,--wrap=seccomp_rule_add_array,--wrap=seccomp_load \
	-Wl,--wrap=posix_fallocate,--wrap=fchmod,--wrap=mmap,--wrap=linkat,--wrap=flock,--wrap=lstat,--wrap=unlink \
	-Wl,--wrap=fcntl,--wrap=nanosleep,--wrap=setrlimit
