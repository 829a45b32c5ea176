/* SPDX-License-Identifier: MIT */
/*
 * Moving people from one identity provider to another. Users are our rows and stay where they are; what moves is whose account a
 * row belongs to. An export is JSON lines: a first one that says what it is, then one a user. An import makes an account at the
 * provider that is configured now for each of them, with a temporary password that is mailed: no password leaves a provider.
 */
#ifndef GATEHOUSE_SERVICE_MAINTENANCE_IDENTITY_TRANSFER_H
#define GATEHOUSE_SERVICE_MAINTENANCE_IDENTITY_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct arena;
struct error;
struct service;

/* Writes the export to `output`; *count_out is how many users it holds. */
struct error *identity_transfer_export(struct service *service, struct arena *arena, FILE *output, size_t *count_out);

struct identity_transfer {
    bool dry_run;
    unsigned per_second; /* accounts made in a second, at most */
    /* Told of each user: "moved", "left" (was moved before) or "failed". */
    void (*tell)(void *context, const char *deed, const char *email, const char *why);
    void *context;
};

/*
 * Moves the users of an export. The whole of it is read first: REQUEST_INVALID names every line and member that is wrong, and
 * then nothing is moved. Done again it goes on where it ended. What fails for one user does not keep the others.
 */
struct error *identity_transfer_import(struct service *service, struct arena *arena, FILE *input,
                                       const struct identity_transfer *transfer);

#endif
