/* SPDX-License-Identifier: MIT */
/* A writer that has ended already when it is made. */
#ifndef GATEHOUSE_BLOB_WRITER_INT_H
#define GATEHOUSE_BLOB_WRITER_INT_H

#include <stdint.h>

#include "codec/digest.h"

struct arena;
struct blob_store;
struct blob_writer;

/* The writer of bytes that the store has received before: `state` is as its `begin` makes one. */
struct blob_writer *blob_writer_resume(struct blob_store *store, struct arena *arena, void *state, uint64_t size,
                                       const uint8_t digest[DIGEST_BYTES]);

#endif
