/* SPDX-License-Identifier: MIT */
/*
 * Files with faults. A file whose bytes do not match its hash is marked as damaged, and its bytes are never sent. A
 * file whose bytes are missing or unreadable is remembered as lost, until they have been read again.
 */
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

/*
 * Remembers the file as lost, or forgets it; *changed_out is false when nothing had to change, the row is gone, or
 * LIMIT_FILES_LOST files are remembered already: on a disk that is not mounted every file is lost.
 */
struct error *file_lost_note(struct database *database, struct arena *arena, struct id id, bool *changed_out);
struct error *file_lost_clear(struct database *database, struct arena *arena, struct id id, bool *changed_out);

struct file_damage_counts {
    int64_t damaged;
    int64_t lost; /* at most LIMIT_FILES_LOST */
};

struct error *file_damage_count(struct database *database, struct arena *arena, struct file_damage_counts *counts_out);

/*
 * The damaged and the lost files behind `after` (none: from the start), `limit` of them at most; fewer than that are
 * the last.
 */
struct error *file_damage_each(struct database *database, struct arena *arena, struct id after, unsigned limit,
                               struct file_admin_page *page_out);

/*
 * The files of the same organisation with the same hash, other than `kept` itself: they may share its bytes. As above.
 */
struct error *file_damage_twins(struct database *database, struct arena *arena, const struct file_admin_record *kept,
                                struct id after, unsigned limit, struct file_admin_page *page_out);

#endif
