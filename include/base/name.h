/* SPDX-License-Identifier: MIT */
/*
 * Names of people and organisations. They stand in e-mails, whose readers' programs make links of what looks like an
 * address. So a name holds none of : / \ < > @, no control character, no line or paragraph separator, and none of the
 * characters that turn the direction of what follows (U+202A to U+202E, U+2066 to U+2069).
 */
#ifndef GATEHOUSE_BASE_NAME_H
#define GATEHOUSE_BASE_NAME_H

#include <stdbool.h>

struct arena;

/* What a name that is refused is told, for a validation entry with the code `format`. */
#define NAME_FORMAT "must not hold any of : / \\ < > @ nor control characters"

/* The same for JSON Schema (ECMA-262, which counts UTF-16 units), as it stands between the quotes of a JSON text. */
#define NAME_PATTERN "^[^\\\\u0000-\\\\u001F:/\\\\\\\\<>@\\\\u007F-\\\\u009F\\\\u2028-\\\\u202E\\\\u2066-\\\\u2069]*$"

/* Whether the text is valid UTF-8 and holds nothing that a name must not hold. Its length is not looked at. */
bool name_is_good(const char *text);

/*
 * A copy with a blank for each character that a name must not hold (in rows from before names were judged), and one
 * after each dot that two letters follow: "www.evil.example", of which mail programs make a link, becomes "www. evil.
 * example".
 */
const char *name_for_mail(struct arena *arena, const char *text);

#endif
