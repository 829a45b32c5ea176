/* SPDX-License-Identifier: MIT */
/*
 * Changing the master secret. The secret file holds one key a line; the first seals, all open. What was sealed under a key that
 * is not the first any more is sealed anew here: the keys of tokens and links, waiting mail, tokens and passwords of identity
 * providers outside. Codes are only hashed under the key: they run out by themselves within a day.
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
    uint64_t fine;    /* sealed under the first key already */
    uint64_t unknown; /* no key of the file opens it; left as it is */
};

/*
 * Goes over everything that is sealed, a row at a time, while workers run: a row that changes meanwhile is left to who changed
 * it. What was done stays done when it ends early.
 */
struct error *reseal_all(struct service *service, struct arena *arena, struct reseal *reseal_out);

/* Whether anything is sealed under this very key; keys behind it are not tried. */
struct error *reseal_finds(struct service *service, struct arena *arena, struct secret key, bool *found_out);

#endif
