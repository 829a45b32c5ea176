/* SPDX-License-Identifier: MIT */
/*
 * The permissions of all roles ("the book", change_version.roles), parsed once and remembered with the database's handle by
 * the stamp that stands beside them: sql/016-session-state.sql sees to it that no stamp ever comes back with other
 * permissions. Private to the domain floor.
 */
#ifndef GATEHOUSE_DOMAIN_PRINCIPAL_BOOK_INT_H
#define GATEHOUSE_DOMAIN_PRINCIPAL_BOOK_INT_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct database;
struct principal;
struct principal_book;
struct rows;

/* The book of that stamp, where it is the one that is remembered; else NULL. */
const struct principal_book *principal_book_recall(const struct database *database, int64_t stamp);

/*
 * Parses a column of the first row and remembers it, in place of what was remembered before. Not in a transaction, whose
 * stamp may be rolled back, nor when it is too long: such a book lives as long as `arena` and the rows.
 */
const struct principal_book *principal_book_learn(struct database *database, struct arena *arena,
                                                  const struct rows *rows, size_t column, int64_t stamp);

/* The same without remembering. */
const struct principal_book *principal_book_read(struct arena *arena, const struct rows *rows, size_t column);

/* Fills the principal's roles, from a column of the first row, and what the book says that they grant; all in the arena. */
void principal_book_grants(struct arena *arena, const struct principal_book *book, const struct rows *rows, size_t column,
                           struct principal *principal);

#endif
