# What tools/bench measures against; built by it, never by `make` or `make check`.
EXTRA_PROGRAMS = tests/bench/null tests/bench/roundtrip tests/bench/mint tests/bench/durable \
	tests/bench/argon tests/bench/start tests/bench/send tests/bench/sniffer tests/bench/storm
tests_bench_null_SOURCES = tests/bench/null.c
tests_bench_null_LDADD = $(FCGI_LIBS)
tests_bench_roundtrip_SOURCES = tests/bench/roundtrip.c
tests_bench_roundtrip_CFLAGS = $(AM_CFLAGS) $(MARIADB_CFLAGS)
tests_bench_roundtrip_LDADD = $(domain_libs) $(FCGI_LIBS)
tests_bench_mint_SOURCES = tests/bench/mint.c
tests_bench_mint_CFLAGS = $(AM_CFLAGS) $(MARIADB_CFLAGS)
tests_bench_mint_LDADD = $(GATEHOUSE_LIBS)
tests_bench_durable_SOURCES = tests/bench/durable.c
tests_bench_durable_LDADD = $(GATEHOUSE_LIBS)
tests_bench_argon_SOURCES = tests/bench/argon.c
tests_bench_argon_CFLAGS = $(AM_CFLAGS) $(SODIUM_CFLAGS)
tests_bench_argon_LDADD = $(GATEHOUSE_LIBS) $(SODIUM_LIBS)
tests_bench_start_SOURCES = tests/bench/start.c
tests_bench_start_LDADD = $(GATEHOUSE_LIBS)
tests_bench_send_SOURCES = tests/bench/send.c
tests_bench_send_LDADD = $(GATEHOUSE_LIBS)
tests_bench_sniffer_SOURCES = tests/bench/sniffer.c
tests_bench_sniffer_LDADD = $(GATEHOUSE_LIBS)
tests_bench_storm_SOURCES = tests/bench/storm.c
tests_bench_storm_LDADD = $(GATEHOUSE_LIBS)
CLEANFILES += $(EXTRA_PROGRAMS)
EXTRA_DIST += tools/bench tests/bench
