/* SPDX-License-Identifier: MIT */
/*
 * A run of a long command as the holder of a lease (domain/lease.h). The lease says on all hosts that such a run is at
 * work. The run takes it, renews it all the time while it works, and gives it back. When the run dies, the lease ends
 * by itself.
 */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_LEASE_HOLDER_H
#define GATEHOUSE_SERVICE_MAINTENANCE_LEASE_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct error;
struct service;

/* How long the lease of a run that died lasts. A run renews it after a fifth of that. */
#define LEASE_HOLDER_SECONDS 30

struct lease_holder {
    struct service *service;
    const char *name; /* of the lease (domain/lease.h) */
    struct id id;
    int64_t renewed; /* clock_monotonic() */
};

/*
 * Takes the lease. Waits up to `patience` seconds while another run holds it. INTERNAL, with a sentence for the
 * operator, when that run still holds it then.
 */
struct error *lease_holder_take(struct service *service, struct arena *arena, const char *name, unsigned patience,
                                struct lease_holder *holder_out);

/* Takes the lease without waiting. *held_out is false when another run holds it. */
struct error *lease_holder_try(struct service *service, struct arena *arena, const char *name,
                               struct lease_holder *holder_out, bool *held_out);

/*
 * Renews the lease when that is due; call it often. INTERNAL when it is lost, because the program stood still for long:
 * another run may hold it, or may have held it.
 */
struct error *lease_holder_renew(struct lease_holder *holder, struct arena *arena);

/* Renews the lease at once, before something that only the holder may do. INTERNAL as above. */
struct error *lease_holder_check(struct lease_holder *holder, struct arena *arena);

/*
 * Part of a transaction: nobody can take the lease until it ends. INTERNAL as above; the transaction then writes
 * nothing.
 */
struct error *lease_holder_fence(const struct lease_holder *holder, struct arena *arena);

/* Saves the position of the run; "" deletes it. INTERNAL as above, and the position stays the other run's. */
struct error *lease_holder_save(const struct lease_holder *holder, struct arena *arena, const char *position);

/* Gives the lease back. Where that fails, the lease ends by itself. */
void lease_holder_release(struct lease_holder *holder, struct arena *arena);

#endif
