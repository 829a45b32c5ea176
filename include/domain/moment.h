/* SPDX-License-Identifier: MIT */
/* The database's clock, which gives the times of all rows. */
#ifndef GATEHOUSE_DOMAIN_MOMENT_H
#define GATEHOUSE_DOMAIN_MOMENT_H

#include <stdint.h>

struct arena;
struct database;
struct error;

/* Milliseconds since 1970. */
struct error *moment_now(struct database *database, struct arena *arena, int64_t *milliseconds_out);

#endif
