/* SPDX-License-Identifier: MIT */
/*
 * The slot of this process in the host's shared memory, and what it learns there of the others.
 *
 * To take slot i a process locks byte i of the file; then it writes its process id into the slot. To look whether a
 * process lives, another one asks whether the byte is locked. A slot with a process id and without a lock belongs to a
 * dead process.
 */
#include "base/host/process.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host/hints.h"
#include "base/host_memory_int.h"
#include "base/metrics_int.h"

#define FOLLOW_MICROSECONDS 10000000
#define NO_SLOT (-1)

static struct {
    const char *path;
    int64_t followed; /* clock_monotonic() of the last look at the path */
    int slot;
    enum host_process_role role;
    const char *pool;
} state = {.slot = NO_SLOT};

/* Takes the dead process's id out of the slot. Only the process that succeeds counts the death, so it counts once. */
static void bury(struct host_process_slot *slot, uint32_t pid)
{
    if (pid != 0 && atomic_compare_exchange_strong(&slot->pid, &pid, 0))
        metrics_add(METRIC_PROCESS_DEATHS, 1);
}

bool host_process_lives(size_t index)
{
    struct host_process_slot *slot = &host_memory()->processes[index];
    uint32_t pid = atomic_load(&slot->pid);
    if (pid == 0)
        return false;
    if ((int)index == state.slot || !host_memory_is_shared() || !host_memory_byte_is_free(index))
        return true;
    bury(slot, pid);
    return false;
}

static void take_slot(int index)
{
    struct host_process_slot *slot = &host_memory()->processes[index];
    bury(slot, atomic_load(&slot->pid));
    state.slot = index;
    slot->role = (uint32_t)state.role;
    slot->started = clock_now();
    (void)snprintf(slot->pool, sizeof slot->pool, "%s", state.pool);
    atomic_store(&slot->busy, 0);
    atomic_store(&slot->pid, (uint32_t)getpid());
}

static void join(void)
{
    state.slot = NO_SLOT;
    for (int i = 0; i < LIMIT_METRICS_PROCESSES && state.slot == NO_SLOT; i++)
        if (!host_memory_is_shared() || host_memory_lock_byte((size_t)i))
            take_slot(i);
}

/* Frees the slot. In a forked child the slot is still its parent's and stays. */
static void leave(void)
{
    uint32_t own = (uint32_t)getpid();
    if (state.slot != NO_SLOT)
        (void)atomic_compare_exchange_strong(&host_memory()->processes[state.slot].pid, &own, 0);
    state.slot = NO_SLOT;
}

bool host_process_open(const char *path, const char **problem_out)
{
    struct host_memory_file file;
    state.path = path;
    if (!host_memory_find(path, &file, problem_out))
        return false;
    leave();
    host_memory_use(&file);
    return true;
}

void host_process_join(enum host_process_role role, const char *pool)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    bool good = pool != NULL && *pool != '\0' && pool[strspn(pool, allowed)] == '\0' &&
                strlen(pool) < sizeof(((struct host_process_slot *)NULL)->pool);
    state.role = role;
    state.pool = good ? pool : "worker";
    join();
    metrics_add(METRIC_PROCESS_STARTS, 1);
}

void host_process_close(void)
{
    leave();
    host_memory_close();
    metrics_rows_forget();
    state.path = NULL;
    state.pool = NULL;
}

void host_process_follow(int64_t now)
{
    const char *problem;
    if (state.path == NULL || now - state.followed < FOLLOW_MICROSECONDS)
        return;
    state.followed = now;
    if (host_memory_is_file(state.path))
        return;
    uint64_t version = host_hints_change_version();
    if (!host_process_open(state.path, &problem))
        return;
    metrics_rows_find();
    if (state.pool != NULL)
        join();
    host_hints_publish_change_version(version);
}

/* ---- workers ---------------------------------------------------------------------------------------- */

bool host_process_in_pool(const char *pool)
{
    return state.slot != NO_SLOT && state.role == HOST_PROCESS_WORKER && strcmp(state.pool, pool) == 0;
}

unsigned host_process_pool_workers(void)
{
    unsigned count = 0;
    if (!host_memory_is_shared() || state.slot == NO_SLOT || state.role != HOST_PROCESS_WORKER)
        return 0;
    for (size_t i = 0; i < LIMIT_METRICS_PROCESSES; i++) {
        const struct host_process_slot *slot = &host_memory()->processes[i];
        count += atomic_load(&slot->pid) != 0 && slot->role == HOST_PROCESS_WORKER &&
                 strncmp(slot->pool, state.pool, sizeof slot->pool) == 0 && host_process_lives(i);
    }
    return count;
}

static void set_busy(uint32_t busy)
{
    if (state.slot != NO_SLOT)
        atomic_store_explicit(&host_memory()->processes[state.slot].busy, busy, memory_order_relaxed);
}

void host_process_busy(void)
{
    set_busy(1);
}

void host_process_idle(void)
{
    set_busy(0);
}
