/* SPDX-License-Identifier: MIT */
/*
 * Cuts the text of a migration into statements, since the server accepts only one at a time (multi-statements are off).
 */
#ifndef GATEHOUSE_STORE_DATABASE_SQL_SPLIT_INT_H
#define GATEHOUSE_STORE_DATABASE_SQL_SPLIT_INT_H

#include <stddef.h>

struct arena;
struct error;

/* One statement of a file, without its semicolon; not NUL-terminated. */
struct sql_piece {
    const char *text;
    size_t length;
    unsigned line; /* where it begins, from 1 */
};

/*
 * Cuts SQL at the semicolons outside quotes and comments. Pieces of only blanks and comments are dropped. DELIMITER is
 * not supported. INTERNAL with the line for a quote or a comment that does not end.
 */
struct error *sql_split(struct arena *arena, const char *text, size_t length, struct sql_piece **pieces_out,
                        size_t *count_out);

#endif
