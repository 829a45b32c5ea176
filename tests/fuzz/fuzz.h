/* SPDX-License-Identifier: MIT */
/*
 * The fuzz targets: one function for each parser of bytes that come from outside. A target gives an input to its
 * parser and checks what must hold whatever the input is; fuzz_expect() ends the program where it does not.
 *
 * Two programs use them. `fuzz-replay` (replay.c) runs each target on its corpus as a part of `make check`. `fuzz`
 * (engine.c) is libFuzzer's, made with `configure --enable-fuzzing`; `tools/test fuzz` builds and runs it.
 *
 * A corpus, corpus/<target>.txt, holds one input a line, with C's escapes (corpus.h). dictionary/<target>.dict helps
 * libFuzzer to find words of the format.
 */
#ifndef GATEHOUSE_TESTS_FUZZ_H
#define GATEHOUSE_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#define FUZZ_TARGETS(X)                                                                                                \
    X(fuzz_address)                                                                                                    \
    X(fuzz_claims)                                                                                                     \
    X(fuzz_conditions)                                                                                                 \
    X(fuzz_configuration)                                                                                              \
    X(fuzz_disposition)                                                                                                \
    X(fuzz_document)                                                                                                   \
    X(fuzz_fastcgi)                                                                                                    \
    X(fuzz_host_list)                                                                                                  \
    X(fuzz_key_set)                                                                                                    \
    X(fuzz_log_filter)                                                                                                 \
    X(fuzz_multipart)                                                                                                  \
    X(fuzz_name)                                                                                                       \
    X(fuzz_network)                                                                                                    \
    X(fuzz_part_header)                                                                                                \
    X(fuzz_path)                                                                                                       \
    X(fuzz_permission)                                                                                                 \
    X(fuzz_picture)                                                                                                    \
    X(fuzz_provider)                                                                                                   \
    X(fuzz_query)                                                                                                      \
    X(fuzz_range)                                                                                                      \
    X(fuzz_request)                                                                                                    \
    X(fuzz_schema)                                                                                                     \
    X(fuzz_settings)                                                                                                   \
    X(fuzz_sigv4)                                                                                                      \
    X(fuzz_sniff)                                                                                                      \
    X(fuzz_token)                                                                                                      \
    X(fuzz_upload_header)                                                                                              \
    X(fuzz_xml)

/* One input for one parser. The arena is empty, and it is reset after the call. */
typedef void fuzz_target(struct arena *arena, const uint8_t *bytes, size_t size);

#define FUZZ_DECLARE_(function) fuzz_target function;
FUZZ_TARGETS(FUZZ_DECLARE_)
#undef FUZZ_DECLARE_

/* The name of a target: that of its function without "fuzz_". */
#define FUZZ_NAME(function) (&#function[sizeof "fuzz_" - 1])

/* The target of that name; NULL when there is none. */
fuzz_target *fuzz_find(const char *name);

/* Ends the program with `promise` when it is not kept. */
void fuzz_expect(bool kept, const char *promise);

/* The input as a text: up to its first NUL, in the arena. */
const char *fuzz_text(struct arena *arena, const uint8_t *bytes, size_t size);

/*
 * Splits an input into texts at line ends, for targets that take several values. At most `count` texts; those that
 * are missing are "", and the last one holds the rest, line ends included.
 */
void fuzz_lines(struct arena *arena, const uint8_t *bytes, size_t size, const char **lines_out, size_t count);

/* While it is true every signature of a token holds, so that what lies behind the signature can be reached. */
extern bool fuzz_signatures_hold;

#endif
