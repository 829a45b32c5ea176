/* SPDX-License-Identifier: MIT */
/* What libFuzzer calls: the target that GATEHOUSE_FUZZ_TARGET names. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct arena *arena;
static fuzz_target *run;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    const char *name = getenv("GATEHOUSE_FUZZ_TARGET");
    run = name == NULL ? NULL : fuzz_find(name);
    if (run == NULL) {
        fputs("GATEHOUSE_FUZZ_TARGET names no target\n", stderr);
        exit(2);
    }
    log_set_level(LOG_LEVEL_FATAL);
    arena = arena_new();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    run(arena, bytes, size);
    arena_reset(arena);
    return 0;
}
