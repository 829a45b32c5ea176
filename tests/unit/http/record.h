/* SPDX-License-Identifier: MIT */
/*
 * A multipart handler that writes down what it is told, and readers that feed it a body whole, cut at every
 * place, and byte by byte; all must give the same events and the same outcome. Pieces are handed over in
 * blocks of their very size, so that a sanitizer sees a read beyond one.
 */
#ifndef GATEHOUSE_TESTS_HTTP_RECORD_H
#define GATEHOUSE_TESTS_HTTP_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "http/multipart.h"

struct arena;
struct error;

#define RECORD_BOUNDARY "XbX"

/* What the handler saw, as text: "begin ...", "data ...", "end", and how it went in the end. */
struct record {
    struct buffer events;
    bool in_data;
    int calls_left; /* the handler fails when this reaches 0; negative: never */
    struct error *failure;
};

extern const struct multipart_handler record_handler;

/* The events of the body cut into pieces that end at `cuts` and at its end, and the outcome behind them. */
struct buffer record_run(struct arena *arena, const char *boundary, const char *body, size_t length, const size_t *cuts,
                         size_t cut_count);

void record_assert_same(const struct buffer *a, const struct buffer *b);

/* The events of the body, after a check that they do not depend on how it is cut. */
struct buffer record_every_way(struct arena *arena, const char *body, size_t length);

/* A body and the events that it must give. */
struct example {
    const char *body;
    const char *events;
};

void record_check_all(void **state, const struct example *examples, size_t count);

#define CHECK_ALL(state, examples) record_check_all((state), (examples), sizeof(examples) / sizeof *(examples))

/* A part "a" with this Content-Disposition rest, header lines and content; and the body round it. */
#define HEAD(rest) "--XbX\r\nContent-Disposition: form-data" rest "\r\n\r\n"
#define ONE(rest, content) HEAD(rest) content "\r\n--XbX--\r\n"
#define A(content) ONE("; name=\"a\"", content)
#define FILE_A(rest) ONE("; name=\"a\"; " rest, "x")
#define GIVES(name, content) "begin [" name "]\ndata " content "\nend\ngood"
#define BAD(what) "request.malformed: " what

#endif
