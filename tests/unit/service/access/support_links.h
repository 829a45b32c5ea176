/* SPDX-License-Identifier: MIT */
/* What the tests of signed links share: a process that serves, with a caller and a file. */
#ifndef GATEHOUSE_TESTS_SERVICE_SUPPORT_LINKS_H
#define GATEHOUSE_TESTS_SERVICE_SUPPORT_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/configuration.h"
#include "domain/file/file.h"
#include "service/access/caller.h"
#include "service/runtime/service.h"

struct arena;

struct links_bench {
    struct arena *arena;
    struct configuration configuration;
    struct service service;
    struct caller caller;
    struct file_record file;
};

struct links_bench *links_bench_new(struct arena *arena);
void links_bench_free(struct links_bench *bench);

/* Another process on the same database: it follows changes already, and remembers no key yet. */
struct service links_process(struct links_bench *bench);

/* The token of a new link. */
const char *links_make(struct links_bench *bench, int64_t seconds);

/* Whether it opens the file; a refusal is always the same one. */
bool links_opens(struct links_bench *bench, struct service *service, const char *token);

#endif
