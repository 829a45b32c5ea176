/* SPDX-License-Identifier: MIT */
/* What a statement selects that needs to know what a user may do, beside what else it reads. */
#ifndef GATEHOUSE_DOMAIN_PRINCIPAL_INT_H
#define GATEHOUSE_DOMAIN_PRINCIPAL_INT_H

#include "domain/permission/principal.h"
#include "store/database/database.h"

/* The first columns; `p` is the user's row of `principal`, `v` the row of `change_version`. */
#define PRINCIPAL_COLUMNS \
    "p.organisation_id, p.user_status, p.organisation_status, p.permissions, p.roles, v.version, v.roles, p.session_mark"
#define PRINCIPAL_VERSION_COLUMN 5
#define PRINCIPAL_COLUMN_COUNT 8

/*
 * Reads the first row; `user` is whom it was asked for. The session is left empty and not good. One more round trip where
 * change_version was emptied.
 */
struct error *principal_read(struct database *database, struct arena *arena, const struct rows *rows, struct id user,
                             struct principal **principal_out);

#endif
