/* SPDX-License-Identifier: MIT */
/* What a statement on a link's key, file and maker selects, and its reader: file_link.c and link_key.c share both. */
#ifndef GATEHOUSE_DOMAIN_FILE_LINK_TARGET_INT_H
#define GATEHOUSE_DOMAIN_FILE_LINK_TARGET_INT_H

#include "domain/columns_int.h"
#include "domain/file/link_key.h"
#include "domain/principal_int.h"

/* `k` is the row of the key, `f` that of the file; `p` and `v` are those of PRINCIPAL_COLUMNS. */
#define LINK_TARGET_COLUMNS PRINCIPAL_COLUMNS ", p.user_id, k.id, k.key_sealed, " FILE_COLUMNS

/* Runs a statement that selects LINK_TARGET_COLUMNS, and reads its row. */
struct error *link_target_find(struct database *database, struct arena *arena, const struct statement *statement,
                               const struct database_value *values, size_t count, struct link_target *target_out);

#endif
