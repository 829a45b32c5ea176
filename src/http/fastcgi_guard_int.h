/* SPDX-License-Identifier: MIT */
/*
 * What a FastCGI peer may send. A guard sees every byte of a connection before libfcgi does, and lets through only what
 * a web server sends for one request after the other: FCGI_BEGIN_REQUEST, the parameters, the body (FastCGI
 * specification, sections 3.3 and 5). It does not read from the connection itself (fastcgi_input.c does).
 *
 * libfcgi 2.4.2 writes behind a buffer of 64 bytes when FCGI_GET_VALUES names a value often, ends the process when the
 * lengths of a parameter are large, and loses its place when an empty record has padding. So management records and
 * padding do not reach it, and the lengths that it allocates memory for are bounded.
 */
#ifndef GATEHOUSE_HTTP_FASTCGI_GUARD_INT_H
#define GATEHOUSE_HTTP_FASTCGI_GUARD_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FASTCGI_HEAD_BYTES 8

/* What may come next. */
enum fastcgi_stage {
    FASTCGI_STAGE_BEGIN, /* the first record of a request, or a question about the process (FCGI_GET_VALUES) */
    FASTCGI_STAGE_PARAMETERS,
    FASTCGI_STAGE_BODY,
    FASTCGI_STAGE_ENDED, /* nothing, before fastcgi_guard_next() */
    FASTCGI_STAGE_BROKEN /* nothing any more */
};

/* The part of a parameter that is being read. */
enum fastcgi_part { FASTCGI_PART_NAME_LENGTH, FASTCGI_PART_VALUE_LENGTH, FASTCGI_PART_NAME, FASTCGI_PART_VALUE };

struct fastcgi_guard {
    enum fastcgi_stage stage;
    const char *problem; /* why it is broken */
    bool asked;          /* the one question that a connection may ask has come */
    bool begun;          /* the request's first record has come */
    bool whole;          /* all its parameters have come */

    /* the record */
    unsigned char head[FASTCGI_HEAD_BYTES];
    size_t head_length; /* so much of it has come; then it is complete, and 0 */
    unsigned char type;
    unsigned request; /* the id of the request */
    size_t content;   /* what is still to come of the record */
    size_t padding;

    /* the parameters */
    enum fastcgi_part part;
    size_t number; /* a length that is being read */
    unsigned more; /* so many bytes of it are still to come */
    size_t name_left, value_left;
    size_t bytes, count; /* of all parameters of the request */
    char name[16];       /* of a value that is asked for */
    size_t name_length;
    unsigned values; /* those that were asked for */
};

/* The longest answer to a question about the process. */
#define FASTCGI_ANSWER_BYTES 72

/* For a new connection. */
void fastcgi_guard_start(struct fastcgi_guard *guard);

/*
 * For the next request of a kept connection. The guard is broken when the one before was not read to its end: what
 * follows would be taken for records although it may be part of a body.
 */
void fastcgi_guard_next(struct fastcgi_guard *guard);

/* So many bytes of a record's head are kept back until it is whole; fewer than FASTCGI_HEAD_BYTES. */
size_t fastcgi_guard_held(const struct fastcgi_guard *guard);

/*
 * Looks at `length` bytes that have come. They stand behind the first fastcgi_guard_held() bytes of `bytes`, which are
 * free. Returns how many bytes, from the beginning of `bytes`, may go on to libfcgi; these have no padding and no
 * management record. Where the guard breaks, they end before the first byte that is wrong.
 */
size_t fastcgi_guard_pass(struct fastcgi_guard *guard, unsigned char *bytes, size_t length);

/*
 * The answer to a question about the process that has come meanwhile, whole records; 0 bytes when there was none. Each
 * is given once.
 */
size_t fastcgi_guard_answer(struct fastcgi_guard *guard, unsigned char answer_out[FASTCGI_ANSWER_BYTES]);

#endif
