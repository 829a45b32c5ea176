/* SPDX-License-Identifier: MIT */
/*
 * Changes the master secret. The secret file holds one key a line: the first one seals, all of them open. What was
 * sealed with a later key is sealed anew here: the keys of tokens and links, waiting mail, tokens and passwords of
 * remote identity providers. Codes are only hashed with the key; they expire within a day.
 */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_RESEAL_H
#define GATEHOUSE_SERVICE_MAINTENANCE_RESEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/secret.h"

struct arena;
struct error;
struct service;

struct reseal {
    uint64_t done;    /* sealed anew */
    uint64_t fine;    /* sealed with the first key already */
    uint64_t unknown; /* no key of the file opens it; it stays as it is */
};

/*
 * Seals everything anew that needs it, a row at a time, while workers run. A row that changes meanwhile is left to the
 * one who changed it. After an error, what was done stays done.
 */
struct error *reseal_all(struct service *service, struct arena *arena, struct reseal *reseal_out);

/* Whether anything is sealed with this very key; older keys behind it are not tried. */
struct error *reseal_finds(struct service *service, struct arena *arena, struct secret key, bool *found_out);

#endif
