/* SPDX-License-Identifier: MIT */
/*
 * Counts the uploads under way on this host, and refuses one where a client has too many.
 *
 * Before the web server receives the body of an upload, it asks a worker. The worker takes a slot in the host's shared
 * memory (base/host/memory.h). The upload may then reach another worker, which releases the slot, or none at all: a
 * slot expires when the longest time of its body is over. A slot is one word that changes in one atomic step, so there
 * is no lock, and a process that is killed at any instant leaves a whole slot or none.
 *
 * Without the shared file nothing is counted and nothing refused.
 */
#ifndef GATEHOUSE_BASE_HOST_UPLOAD_SLOTS_H
#define GATEHOUSE_BASE_HOST_UPLOAD_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Who uploads: digests of the access token and of the client's address, under a key that no client knows. 20 bits are
 * kept.
 */
struct upload_slots_owner {
    uint32_t token;
    uint32_t address;
};

/* How many uploads one token and one address may have under way. */
struct upload_slots_bounds {
    int64_t per_token;
    int64_t per_address;
};

/*
 * Takes a slot for an upload that may last `seconds` (LIMIT_UPLOAD_SECONDS at most) from `now` (clock_now(),
 * milliseconds) on. False, and no slot, when the owner's token or address has as many uploads under way as it may. Of
 * processes that ask at the same moment, never too many are admitted, as long as none of them stands still for a second
 * while it looks. Those that stand in each other's way try again for up to 20 ms, so that the last place usually goes
 * to one of them. When all LIMIT_UPLOAD_SLOTS are taken, the slot that expires first is overwritten.
 */
bool upload_slots_take(struct upload_slots_owner owner, const struct upload_slots_bounds *bounds, int64_t seconds,
                       int64_t now);

/* Releases one slot of that owner, the one that expires first, if there is any. */
void upload_slots_release(struct upload_slots_owner owner, int64_t now);

#endif
