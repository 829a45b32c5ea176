/* SPDX-License-Identifier: MIT */
/* A reader as the kinds of stores see it: they fill it in when they open a blob. */
#ifndef GATEHOUSE_BLOB_READER_INT_H
#define GATEHOUSE_BLOB_READER_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct blob_store;

struct blob_reader {
    struct blob_store *store;
    struct arena *arena;
    struct id id;
    uint64_t size;
    int file;    /* -1: the store has no files */
    void *state; /* the kind's own */
    bool open;
};

#endif
