/* SPDX-License-Identifier: MIT */
/* Calls of LMDB and of the system that fail under the service cache, and a clock that the test moves on. */
#ifndef GATEHOUSE_TESTS_STORE_SUPPORT_CACHE_CALLS_H
#define GATEHOUSE_TESTS_STORE_SUPPORT_CACHE_CALLS_H

#include <stdbool.h>
#include <stddef.h>

enum cache_call { KIND_LMDB, KIND_ENV_OPEN, KIND_ENV_FD, KIND_LOCK, KIND_ALLOCATE, KIND_UNLINK, KIND_MODE, KIND_TIMER };

struct cache_calls {
    enum cache_call kind;
    size_t calls;   /* of this kind, made so far */
    size_t fail_at; /* counted from 1; 0: none */
    bool and_later;
    int code; /* what it answers: of LMDB, or an errno */
};
extern struct cache_calls cache_calls;

void cache_calls_fail(enum cache_call kind, size_t call, bool and_later, int code);

/* Everything works, and every pause of the cache is over. */
void cache_calls_clear(void);

/* Every pause of the cache is over. */
void cache_calls_wait(void);

#endif
