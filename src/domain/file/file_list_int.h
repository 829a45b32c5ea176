/* SPDX-License-Identifier: MIT */
/* What file_list.c and file_list_sorted.c share. */
#ifndef GATEHOUSE_DOMAIN_FILE_FILE_LIST_INT_H
#define GATEHOUSE_DOMAIN_FILE_FILE_LIST_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "domain/file/file.h"

struct rows;

/*
 * How many files an organisation has, from its row `n` of the usage. That counts each upload that arrives in pieces and
 * has no file yet as one. Less than 0 where the usage is wrong.
 */
#define FILE_LIST_TOTAL                                                                                                \
    "CAST(n.files AS SIGNED) - (SELECT COUNT(*) FROM file_upload w WHERE w.organisation_id = n.organisation_id"        \
    " AND w.file_id IS NULL)"

/* The last text that begins with `prefix`. */
const char *file_list_end_of_prefix(struct arena *arena, const char *prefix);

/*
 * A page of any order but newest first without a period, one row more than the limit where there are more:
 * FILE_COLUMNS, and then how many files the organisation has (NULL: none yet).
 */
struct error *file_list_sorted(struct database *database, struct arena *arena, const struct file_filter *filter,
                               struct rows **rows_out);

#endif
