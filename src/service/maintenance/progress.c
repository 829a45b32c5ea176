/* SPDX-License-Identifier: MIT */
#include "service/maintenance/progress.h"

#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "domain/lease.h"
#include "service/runtime/service.h"

#define SECOND INT64_C(1000000)
#define POLL_MICROSECONDS (SECOND / 5)
#define SHOW_MICROSECONDS (SECOND / 4)

static void sleep_for(int64_t microseconds)
{
    struct timespec wait = {.tv_sec = microseconds / SECOND, .tv_nsec = microseconds % SECOND * 1000};
    (void)nanosleep(&wait, NULL);
}

struct error *lease_try(struct service *service, struct arena *arena, const char *name, struct lease *lease_out,
                        bool *held_out)
{
    *lease_out = (struct lease){
        .service = service, .name = name, .holder = id_new(), .renewed = clock_monotonic()};
    return maintenance_take(service->database, arena, name, lease_out->holder, MAINTENANCE_LEASE_SECONDS, held_out);
}

struct error *lease_take(struct service *service, struct arena *arena, const char *name, unsigned patience,
                         struct lease *lease_out)
{
    int64_t start = clock_monotonic();
    bool held = false;
    for (;;) {
        TRY(lease_try(service, arena, name, lease_out, &held));
        if (held)
            return NULL;
        if (clock_monotonic() - start >= patience * SECOND)
            break;
        sleep_for(POLL_MICROSECONDS);
    }
    struct error *error = error_new(arena, ERROR_INTERNAL, "the lease %s is held by another run", name);
    return error_message(error, "Another run of such a command is at work, here or on another host. Try again when it has"
                                " ended; one that was killed is forgotten within %d seconds.",
                         MAINTENANCE_LEASE_SECONDS);
}

struct error *lease_keep(struct lease *lease, struct arena *arena)
{
    bool held = false;
    int64_t now = clock_monotonic();
    if (now - lease->renewed < MAINTENANCE_LEASE_SECONDS * SECOND / 5)
        return NULL;
    TRY(maintenance_take(lease->service->database, arena, lease->name, lease->holder, MAINTENANCE_LEASE_SECONDS, &held));
    /* Nobody else may have had it in between: then the row is still this holder's, but work has been done without. */
    if (held && now - lease->renewed < MAINTENANCE_LEASE_SECONDS * SECOND) {
        lease->renewed = now;
        return NULL;
    }
    struct error *error = error_new(arena, ERROR_INTERNAL, "the lease %s was not renewed in time", lease->name);
    return error_message(error, "This run stood still for more than %d seconds, so that another one may have been at work."
                                " Run the command again.",
                         MAINTENANCE_LEASE_SECONDS);
}

void lease_end(struct lease *lease, struct arena *arena)
{
    /* Where this fails the lease runs out. */
    (void)maintenance_release(lease->service->database, arena, lease->name, lease->holder);
}

void pace_spend(struct pace *pace, int64_t bytes)
{
    if (pace->bytes_per_second == 0)
        return;
    int64_t now = clock_monotonic();
    if (pace->since == 0)
        pace->since = now;
    pace->bytes += bytes;
    int64_t due = pace->since + (int64_t)((double)pace->bytes / (double)pace->bytes_per_second * (double)SECOND);
    int64_t wait = due - now;
    if (wait > 0)
        sleep_for(wait > SECOND ? SECOND : wait);
}

void watch_show(struct watch *watch, const char *what, int64_t done, int64_t total, int64_t bytes)
{
    int64_t now = clock_monotonic();
    if (watch->progress == NULL || now - watch->shown < SHOW_MICROSECONDS)
        return;
    watch->shown = now;
    watch->progress(watch->context, what, done, total, bytes);
}

bool watch_ends(const struct watch *watch)
{
    return watch->ending != NULL && watch->ending(watch->context);
}
