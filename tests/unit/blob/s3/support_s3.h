/* SPDX-License-Identifier: MIT */
/* An S3 store for the tests, whose server (s3_server.py) misbehaves as it is told. */
#ifndef GATEHOUSE_TESTS_BLOB_S3_SUPPORT_S3_H
#define GATEHOUSE_TESTS_BLOB_S3_SUPPORT_S3_H

#include "blob/blob.h"
#include "blob/s3/s3.h"

struct support_s3 {
    struct arena *arena;
    struct blob_s3_options options;
    struct blob_store *store;
    const char *directory; /* of the server: script, log, objects */
    const char *spool;
};

/* A store with its server; uploads in parts from 200,000 bytes on, of 80,000 each. */
struct support_s3 *support_s3(void **state);

/* Opens the store again, with the options as they are now. */
void support_s3_reopen(struct support_s3 *s3);

/* What the server is to do next: lines of its script. */
void support_s3_script(const struct support_s3 *s3, const char *lines);

/* The server's log and the objects that it has; "" at first. */
const char *support_s3_log(const struct support_s3 *s3);
const char *support_s3_objects(const struct support_s3 *s3);

/* How often `word` is in `text`. */
size_t support_count(const char *text, const char *word);

#endif
