/* SPDX-License-Identifier: MIT */
/* The reader of a key, which the statements on links share. */
#ifndef GATEHOUSE_DOMAIN_FILE_LINK_KEY_INT_H
#define GATEHOUSE_DOMAIN_FILE_LINK_KEY_INT_H

#include "domain/columns_int.h"
#include "domain/file/link_key.h"

/* The key in the first row, at `column` (its id) and the next (its sealed bytes); NULL when there is no row. */
struct link_key *link_key_read(struct arena *arena, const struct rows *rows, size_t column);

#endif
