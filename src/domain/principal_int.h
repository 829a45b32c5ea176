/* SPDX-License-Identifier: MIT */
/* The columns of a statement that also loads what a user may do. */
#ifndef GATEHOUSE_DOMAIN_PRINCIPAL_INT_H
#define GATEHOUSE_DOMAIN_PRINCIPAL_INT_H

#include "domain/permission/principal.h"
#include "store/database/database.h"

/* The first columns; `p` is the user's row of `principal`, `v` the row of `change_version`. */
#define PRINCIPAL_COLUMNS                                                                                              \
    "p.organisation_id, p.user_status, p.organisation_status, p.permissions, p.roles, v.version, v.roles, "            \
    "p.session_mark"
#define PRINCIPAL_VERSION_COLUMN 5
#define PRINCIPAL_COLUMN_COUNT 8

/*
 * Reads the principal from the first row; `user` is the user that was asked for. The session stays empty and not valid.
 * One more round trip where change_version was emptied.
 */
struct error *principal_read(struct database *database, struct arena *arena, const struct rows *rows, struct id user,
                             struct principal **principal_out);

#endif
