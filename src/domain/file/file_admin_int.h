/* SPDX-License-Identifier: MIT */
/* The columns of struct file_admin_record and their reader, for the statements of file_admin.c and file_damage.c. */
#ifndef GATEHOUSE_DOMAIN_FILE_FILE_ADMIN_INT_H
#define GATEHOUSE_DOMAIN_FILE_FILE_ADMIN_INT_H

#include "domain/file/file_admin.h"

struct rows;

#define FILE_ADMIN_COLUMNS                                                                                             \
    "f.id, f.organisation_id, f.hash, f.size, f.status, f.created_at, f.archived_at, f.damaged_at IS NOT NULL"         \
    ", EXISTS (SELECT 1 FROM file_lost x WHERE x.file_id = f.id)"

/* All rows of a SELECT of FILE_ADMIN_COLUMNS. */
void file_admin_page_read(struct arena *arena, const struct rows *rows, struct file_admin_page *page_out);

#endif
