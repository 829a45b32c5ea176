/* SPDX-License-Identifier: MIT */
/* Counts the living processes of the host from their slots in its shared memory. */
#include "base/host/census.h"

#include <stdio.h>
#include <string.h>

#include "base/host/process.h"
#include "base/host_memory_int.h"
#include "base/text.h"

/* The pool's name from the shared memory, where any bytes may stand, as letters, digits, hyphens and underscores. */
static void read_name(const struct host_process_slot *slot, char name_out[sizeof slot->pool])
{
    size_t length = strnlen(slot->pool, sizeof slot->pool - 1);
    for (size_t i = 0; i < length; i++) {
        char c = slot->pool[i];
        name_out[i] = text_is_alpha(c) || text_is_digit(c) || c == '-' ? c : '_';
    }
    name_out[length] = '\0';
}

static struct host_census_pool *find_pool(struct host_census *census, const char *name)
{
    for (size_t i = 0; i < census->pool_count; i++)
        if (strcmp(census->pools[i].name, name) == 0)
            return &census->pools[i];
    if (census->pool_count == HOST_CENSUS_POOLS)
        return &census->pools[HOST_CENSUS_POOLS - 1];
    struct host_census_pool *pool = &census->pools[census->pool_count++];
    (void)snprintf(pool->name, sizeof pool->name, "%s", name);
    return pool;
}

static void count_worker(struct host_census *census, const struct host_process_slot *slot)
{
    char name[sizeof slot->pool];
    read_name(slot, name);
    struct host_census_pool *pool = find_pool(census, name);
    unsigned busy = atomic_load_explicit(&slot->busy, memory_order_relaxed) != 0;
    pool->workers++;
    pool->busy += busy;
    census->workers++;
    census->busy += busy;
    if (census->oldest == 0 || slot->started < census->oldest)
        census->oldest = slot->started;
}

void host_census_take(struct host_census *census_out)
{
    *census_out = (struct host_census){0};
    for (size_t i = 0; i < LIMIT_METRICS_PROCESSES; i++) {
        const struct host_process_slot *slot = &host_memory()->processes[i];
        if (!host_process_lives(i))
            continue;
        if (slot->role == HOST_PROCESS_WORKER)
            count_worker(census_out, slot);
        else
            census_out->job_runners++;
    }
}
