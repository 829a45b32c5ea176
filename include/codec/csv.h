/* SPDX-License-Identifier: MIT */
/*
 * Comma-separated values (RFC 4180): cells with commas between them, rows that end with CR LF.
 *
 * Programs for tables take a cell that begins with = + - @ for a formula and calculate it, also one behind a tab or a
 * carriage return. Such a cell gets an apostrophe in front, by which they take it for text.
 */
#ifndef GATEHOUSE_CODEC_CSV_H
#define GATEHOUSE_CODEC_CSV_H

#include <stdbool.h>

struct buffer;

/* Adds a cell, with a comma before it unless it is the `first` of its row. NULL is an empty cell. */
void csv_add_cell(struct buffer *buffer, const char *text, bool first);

/* Ends a row. */
void csv_end_row(struct buffer *buffer);

#endif
