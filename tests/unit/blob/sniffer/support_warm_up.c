/* SPDX-License-Identifier: MIT */
/* Has the machine read libmagic's data. */
#include "blob/sniffer/support_warm_up.h"

#include "base/arena.h"
#include "base/sandbox/sandbox.h"
#include "blob/sniffer/sniffer.h"
#include "harness.h"

#define STARTS 3

static void start_until_ready(void *context)
{
    struct arena *arena = arena_new();
    struct sniff_process *process;
    struct sandbox_walls walls;
    bool ready = false;
    (void)context;
    for (int i = 0; i < STARTS && !ready; i++)
        ready = sniff_process_fork(arena, NULL, &process) == NULL &&
                sniff_process_start(process, arena, true, &walls) == NULL;
    arena_free(&arena);
}

void support_sniffer_warm_up(void)
{
    static bool done;
    if (!done)
        (void)harness_fork(start_until_ready, NULL);
    done = true;
}
