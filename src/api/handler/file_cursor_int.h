/* SPDX-License-Identifier: MIT */
/*
 * Cursors of the list of files. The cursor of the usual order is the id of the page's last file. Any other holds the
 * order, the id, and that file's key in the order, as base64url; it is good for that order alone.
 */
#ifndef GATEHOUSE_API_HANDLER_FILE_CURSOR_INT_H
#define GATEHOUSE_API_HANDLER_FILE_CURSOR_INT_H

#include <stdbool.h>

#define FILE_CURSOR_CHARACTERS 512

struct arena;
struct file_filter;
struct file_record;

/* The orders, as choices of a schema and as a cursor names them; in the order of enum file_sort. */
#define FILE_SORTS "newest|oldest|name|largest"

/* Where the list of the filter goes on behind `last`, in the arena. */
const char *file_cursor_format(struct arena *arena, const struct file_filter *filter, const struct file_record *last);

/* Sets what the filter has of a cursor. False: the text is no cursor of a list in the filter's order. */
bool file_cursor_parse(struct arena *arena, const char *text, struct file_filter *filter);

#endif
