/* SPDX-License-Identifier: MIT */
/* Marks files whose bytes do not match their hash. The bytes of a marked file are never sent. */
#ifndef GATEHOUSE_DOMAIN_FILE_FILE_DAMAGE_H
#define GATEHOUSE_DOMAIN_FILE_FILE_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "domain/file/file_admin.h"

struct arena;
struct database;
struct error;

/* Marks the file, or removes the mark; *changed_out is false when nothing had to change, or the row is gone. */
struct error *file_damage_mark(struct database *database, struct arena *arena, struct id id, bool *changed_out);
struct error *file_damage_clear(struct database *database, struct arena *arena, struct id id, bool *changed_out);

/* How many files are marked. */
struct error *file_damage_count(struct database *database, struct arena *arena, int64_t *count_out);

/* The marked files behind `after` (none: from the start), `limit` of them at most; fewer than that are the last. */
struct error *file_damage_each(struct database *database, struct arena *arena, struct id after, unsigned limit,
                               struct file_admin_page *page_out);

/*
 * The files of the same organisation with the same hash, other than `kept` itself: they may share its bytes. As above.
 */
struct error *file_damage_twins(struct database *database, struct arena *arena, const struct file_admin_record *kept,
                                struct id after, unsigned limit, struct file_admin_page *page_out);

#endif
