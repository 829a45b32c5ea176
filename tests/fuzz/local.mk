# The fuzz targets (tests/fuzz/fuzz.h): fuzz-replay runs them on their corpora in `make check`; with --enable-fuzzing
# there is libFuzzer's program, too.
fuzz_sources = tests/fuzz/fuzz.h tests/fuzz/targets.c \
	tests/fuzz/fuzz_codec.c tests/fuzz/fuzz_fastcgi.c tests/fuzz/fuzz_files.c tests/fuzz/fuzz_host.c \
	tests/fuzz/fuzz_http.c \
	tests/fuzz/fuzz_permission.c tests/fuzz/fuzz_provider.c tests/fuzz/fuzz_token.c
fuzz_wrap = -Wl,--wrap=signing_key_verify -Wl,--wrap=http_client_call

check_PROGRAMS += tests/fuzz/fuzz-replay
TESTS += tests/fuzz/fuzz-replay
tests_fuzz_fuzz_replay_SOURCES = tests/fuzz/replay.c tests/fuzz/corpus.h tests/fuzz/corpus.c $(fuzz_sources)
tests_fuzz_fuzz_replay_CPPFLAGS = $(AM_CPPFLAGS) -DGATEHOUSE_TOP_SRCDIR='"$(abs_top_srcdir)"'
tests_fuzz_fuzz_replay_LDFLAGS = $(AM_LDFLAGS) $(fuzz_wrap)
tests_fuzz_fuzz_replay_LDADD = $(GATEHOUSE_LIBS)

if FUZZING
check_PROGRAMS += tests/fuzz/fuzz
tests_fuzz_fuzz_SOURCES = tests/fuzz/engine.c $(fuzz_sources)
tests_fuzz_fuzz_LDFLAGS = $(AM_LDFLAGS) $(fuzz_wrap) -fsanitize=fuzzer
tests_fuzz_fuzz_LDADD = $(GATEHOUSE_LIBS)
endif

EXTRA_DIST += tests/fuzz/local.mk tests/fuzz/corpus tests/fuzz/dictionary
