/* SPDX-License-Identifier: MIT */
/* What people see of a text. */
#ifndef GATEHOUSE_CODEC_VISIBLE_H
#define GATEHOUSE_CODEC_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#define VISIBLE_FORMAT "must have a character that can be seen"

/*
 * Whether somebody sees the code point: no blank, no control character, none that Unicode says to ignore (zero-width
 * ones, marks of direction, fillers, tags), none of private use or not assigned, and none of the few symbols that look
 * like nothing.
 */
bool visible_code_point(uint32_t code_point);

/* Whether a text has at least one such code point. Bytes that are no UTF-8 are not seen. */
bool visible_text(const char *text);

/*
 * A copy in the arena of what can be seen of a text, with the blanks (U+0020) between: at most `characters` code
 * points, cut between two of them, without blanks at its ends. What is no UTF-8 is dropped, too. NULL when nothing is
 * left.
 */
const char *visible_copy(struct arena *arena, const char *text, size_t characters);

#endif
