/* SPDX-License-Identifier: MIT */
/*
 * Slots: only so many processes of a host may wait for the provider at the same time, so that a slow one cannot take
 * every worker. There are calls_max of them, but never one for the last worker of a pool that has other work as well.
 *
 * A slot is a lock on one of the first bytes of slots_file, which the kernel releases with its process. Processes of
 * such a pool take the first slots, of which they may use fewer than they have workers; the others begin with the last
 * ones. A process that finds all slots taken waits a moment if the provider seems to be well, and is told at once if it
 * does not.
 */
#include <fcntl.h>
#include <time.h>

#include "base/host/process.h"
#include "identity/remote/circuit_breaker_int.h"
#include "identity/remote/slots_int.h"

/* The pool that calls the provider all the time (gatehouse(8), "Two pools"): nothing else waits for its workers. */
#define SIGN_IN_POOL "login"
/* So long after a process took a slot, it may be expected to leave it. */
#define CALL_MICROSECONDS INT64_C(2000000)
#define PAUSE_NANOSECONDS 10000000

/* How many of the slots this process may take, and whether it begins with the first of them. */
static int64_t slots_of(const struct remote *remote, bool *first_out)
{
    int64_t most = remote->options.calls_max;
    int64_t workers = host_process_in_pool(SIGN_IN_POOL) ? 0 : (int64_t)host_process_pool_workers();
    *first_out = workers != 0;
    if (workers == 0 || most < workers)
        return most;
    return workers > 1 ? workers - 1 : 1;
}

/* Without the file there is no bound. */
static bool take(struct remote *remote)
{
    bool first;
    if (remote->slots_fd < 0)
        return true;
    int64_t most = slots_of(remote, &first);
    for (int64_t i = 0; i < most; i++) {
        int64_t slot = first ? i : most - 1 - i;
        if (circuit_breaker_lock_byte(remote, slot, F_WRLCK)) {
            remote->slot = slot;
            (void)circuit_breaker_note(remote, CIRCUIT_BREAKER_SLOT);
            return true;
        }
    }
    return false;
}

/* Whether those who hold the slots may be expected to leave them soon. */
static bool will_free_up(struct remote *remote)
{
    (void)circuit_breaker_note(remote, CIRCUIT_BREAKER_LOOK);
    return remote->breaker.failures == 0 && clock_monotonic() - remote->breaker.slot_taken_at < CALL_MICROSECONDS;
}

bool remote_slot_take(struct remote *remote)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NANOSECONDS};
    int64_t patience = clock_monotonic() + CALL_MICROSECONDS;
    if (remote->slot_depth++ != 0)
        return true;
    circuit_breaker_open_file(remote);
    while (!take(remote)) {
        if (clock_monotonic() >= patience || remote_milliseconds_left(remote) <= 0 || !will_free_up(remote)) {
            remote->slot_depth = 0;
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

void remote_slot_leave(struct remote *remote)
{
    if (--remote->slot_depth == 0 && remote->slots_fd >= 0)
        (void)circuit_breaker_lock_byte(remote, remote->slot, F_UNLCK);
}
