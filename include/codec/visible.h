/* SPDX-License-Identifier: MIT */
/* What people see of a text. */
#ifndef GATEHOUSE_CODEC_VISIBLE_H
#define GATEHOUSE_CODEC_VISIBLE_H

#include <stdbool.h>
#include <stdint.h>

#define VISIBLE_FORMAT "must have a character that can be seen"

/*
 * Whether somebody sees the code point: no blank, no control character, none that Unicode says to ignore (zero-width
 * ones, marks of direction, fillers, tags), none of private use or not assigned, and none of the few symbols that look
 * like nothing.
 */
bool visible_code_point(uint32_t code_point);

/* Whether a text has at least one such code point. Bytes that are no UTF-8 are not seen. */
bool visible_text(const char *text);

#endif
