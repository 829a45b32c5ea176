/* SPDX-License-Identifier: MIT */
/* A request made of a table of parameters and a body in memory. */
#ifndef GATEHOUSE_TESTS_FAKE_SOURCE_H
#define GATEHOUSE_TESTS_FAKE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "http/request.h"

struct fake_parameter {
    const char *name;
    const char *value;
};

struct fake_source {
    const struct fake_parameter *parameters; /* ended by a NULL name */
    const char *body;
    size_t length;
    size_t at;
    size_t most; /* bytes a read gives at most; 0: as many as asked for */
    enum request_kind kind;
    bool breaks; /* it fails where the body ends */
};

static const char *fake_parameter(void *context, const char *name)
{
    struct fake_source *source = context;
    for (const struct fake_parameter *row = source->parameters; row->name != NULL; row++)
        if (strcmp(row->name, name) == 0)
            return row->value;
    return NULL;
}

static bool fake_repeated(void *context, const char *name)
{
    struct fake_source *source = context;
    unsigned count = 0;
    for (const struct fake_parameter *row = source->parameters; row->name != NULL; row++)
        count += strcmp(row->name, name) == 0 ? 1 : 0;
    return count > 1;
}

static long fake_read(void *context, void *bytes, size_t size)
{
    struct fake_source *source = context;
    size_t left = source->length - source->at;
    size_t take = size < left ? size : left;
    if (source->most != 0 && take > source->most)
        take = source->most;
    if (take == 0)
        return source->breaks ? -1 : 0;
    memcpy(bytes, source->body + source->at, take);
    source->at += take;
    return (long)take;
}

static inline struct request_source fake_request_source(struct fake_source *source)
{
    return (struct request_source){.context = source,
                                   .kind = source->kind,
                                   .parameter = fake_parameter,
                                   .repeated = fake_repeated,
                                   .read = fake_read};
}

#endif
