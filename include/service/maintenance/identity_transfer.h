/* SPDX-License-Identifier: MIT */
/*
 * Moves people from one identity provider to another. Users are our rows and stay; what moves is the provider's account
 * that a row belongs to. An export is JSON lines: the first says what it is, then there is one a user. An import makes,
 * for each user, an account at the provider that is configured now, with a temporary password that is mailed: no
 * password leaves a provider.
 */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_IDENTITY_TRANSFER_H
#define GATEHOUSE_SERVICE_MAINTENANCE_IDENTITY_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct arena;
struct error;
struct service;

/* Writes the export to `output`; *count_out is the number of its users. */
struct error *identity_transfer_export(struct service *service, struct arena *arena, FILE *output, size_t *count_out);

struct identity_transfer {
    bool dry_run;
    unsigned per_second; /* the most accounts that are made in a second */
    /* Called for each user. `deed` is "moved", "left" (moved before) or "failed"; `why` explains a failure. */
    void (*tell)(void *context, const char *deed, const char *email, const char *why);
    void *context;
};

/*
 * Moves the users of an export. All of it is read first: REQUEST_INVALID names every line and member that is wrong, and
 * nothing is moved. Run again, it goes on where it ended. A failure of one user does not keep the others.
 */
struct error *identity_transfer_import(struct service *service, struct arena *arena, FILE *input,
                                       const struct identity_transfer *transfer);

#endif
