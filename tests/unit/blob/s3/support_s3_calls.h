/* SPDX-License-Identifier: MIT */
/*
 * The calls of the S3 store, counted, and one of them answered by the test. Where a call gets no answer the time for it
 * is over at once: the clock of the tests goes on by an hour, and nobody waits.
 */
#ifndef GATEHOUSE_TESTS_BLOB_S3_SUPPORT_S3_CALLS_H
#define GATEHOUSE_TESTS_BLOB_S3_SUPPORT_S3_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "store/http_client.h"

enum support_s3_fault {
    S3_FAULT_UNREACHABLE, /* the call does not arrive */
    S3_FAULT_LOST,        /* it is carried out, and the answer is lost */
    S3_FAULT_BUSY,        /* 503 until the time is over */
    S3_FAULT_REFUSED,     /* 403 */
    S3_FAULT_PAGE,        /* 200 and a page, without the headers of an object */
    S3_FAULT_OTHER,       /* 200 and the XML of something else */
    S3_FAULT_SAID,        /* what support_s3_calls.said says */
    S3_FAULT_KINDS
};

struct support_s3_said {
    long status;
    const char *body;
    struct http_client_header headers[4]; /* up to the first without a name */
};

struct support_s3_calls {
    size_t calls;   /* made so far */
    size_t fail_at; /* the call, counted from 1, that meets the fault; 0: none */
    bool and_later; /* so does each one behind it */
    enum support_s3_fault fault;
    const struct support_s3_said *said;
    bool happened;
    bool no_client; /* the next client cannot be made */
};
extern struct support_s3_calls support_s3_calls;

/* No call fails from here on, and none has been made. */
void support_s3_calls_clear(void);

/* The `call`th call from here on meets the fault. */
void support_s3_calls_fail(size_t call, enum support_s3_fault fault);

/* The next call, or that one and all behind it, is answered so. */
void support_s3_calls_say(const struct support_s3_said *said, bool and_later);

#endif
