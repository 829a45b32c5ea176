/* SPDX-License-Identifier: MIT */
/* Takes, renews and releases the lease of a run. */
#include "service/maintenance/lease_holder.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "domain/lease.h"
#include "service/runtime/service.h"

#define SECOND INT64_C(1000000)
#define POLL_MICROSECONDS (SECOND / 5)

struct error *lease_holder_try(struct service *service, struct arena *arena, const char *name,
                               struct lease_holder *holder_out, bool *held_out)
{
    *holder_out = (struct lease_holder){.service = service, .name = name, .id = id_new(), .renewed = clock_monotonic()};
    return lease_take(service->database, arena, name, holder_out->id, LEASE_HOLDER_SECONDS, held_out);
}

struct error *lease_holder_take(struct service *service, struct arena *arena, const char *name, unsigned patience,
                                struct lease_holder *holder_out)
{
    int64_t start = clock_monotonic();
    bool held = false;
    for (;;) {
        TRY(lease_holder_try(service, arena, name, holder_out, &held));
        if (held)
            return NULL;
        if (clock_monotonic() - start >= patience * SECOND)
            break;
        clock_sleep(POLL_MICROSECONDS);
    }
    struct error *error = error_new(arena, ERROR_INTERNAL, "the lease %s is held by another run", name);
    return error_message(error,
                         "Another run of such a command is at work, here or on another host. Try again when it has"
                         " ended; one that was killed is forgotten within %d seconds.",
                         LEASE_HOLDER_SECONDS);
}

static struct error *lost(const struct lease_holder *holder, struct arena *arena)
{
    struct error *error = error_new(arena, ERROR_INTERNAL, "the lease %s was not renewed in time", holder->name);
    return error_message(error,
                         "This run stood still for more than %d seconds, so that another one may have been at work."
                         " Run the command again.",
                         LEASE_HOLDER_SECONDS);
}

struct error *lease_holder_check(struct lease_holder *holder, struct arena *arena)
{
    bool held = false;
    int64_t now = clock_monotonic();
    TRY(lease_renew(holder->service->database, arena, holder->name, holder->id, LEASE_HOLDER_SECONDS, &held));
    if (!held)
        return lost(holder, arena);
    holder->renewed = now;
    return NULL;
}

struct error *lease_holder_renew(struct lease_holder *holder, struct arena *arena)
{
    if (clock_monotonic() - holder->renewed < LEASE_HOLDER_SECONDS * SECOND / 5)
        return NULL;
    return lease_holder_check(holder, arena);
}

struct error *lease_holder_fence(const struct lease_holder *holder, struct arena *arena)
{
    bool held = false;
    TRY(lease_fence(holder->service->database, arena, holder->name, holder->id, &held));
    return held ? NULL : lost(holder, arena);
}

struct error *lease_holder_save(const struct lease_holder *holder, struct arena *arena, const char *position)
{
    bool held = false;
    TRY(lease_save_position(holder->service->database, arena, holder->name, holder->id, position, &held));
    return held ? NULL : lost(holder, arena);
}

void lease_holder_release(struct lease_holder *holder, struct arena *arena)
{
    (void)lease_release(holder->service->database, arena, holder->name, holder->id);
}
