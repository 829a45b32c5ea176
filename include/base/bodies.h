/* SPDX-License-Identifier: MIT */
/*
 * How many bodies of uploads are under way on this host: let in by one process, still being received by the web
 * server, and to reach another process or none. Each has a note in the shared file (base/metrics.h). A note is one
 * word that is put and taken with one atomic step, so there is no lock, and a process killed at any instant leaves a
 * note or none. A note whose body never arrives, since it broke off, is forgotten when its time is over.
 *
 * Without the shared file nothing is counted, and everything is let in.
 */
#ifndef GATEHOUSE_BASE_BODIES_H
#define GATEHOUSE_BASE_BODIES_H

#include <stdbool.h>
#include <stdint.h>

/* Whose body it is: digests under a key that no client knows. 20 bits of each are kept. */
struct bodies_owner {
    uint32_t token;
    uint32_t address;
};

struct bodies_bounds {
    int64_t per_token;
    int64_t per_address;
};

/*
 * Notes a body that may take `seconds` (LIMIT_UPLOAD_SECONDS at most) from `now` (clock_now()) on. False, and no note,
 * when its token or its address has as many under way as it may. Of processes that ask at the same moment more may be
 * refused than need be, but never more let in. When all LIMIT_UPLOAD_NOTES are taken, the note nearest to its end
 * makes room.
 */
bool bodies_begin(struct bodies_owner owner, const struct bodies_bounds *bounds, int64_t seconds, int64_t now);

/* Takes away one note of that owner, the one nearest to its end, if there is any. */
void bodies_end(struct bodies_owner owner, int64_t now);

#endif
