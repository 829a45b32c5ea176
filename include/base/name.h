/* SPDX-License-Identifier: MIT */
/*
 * Which names people and organisations may have. Names stand in e-mails, and mail programs turn what looks like an
 * address into a link. So a name holds none of : / \ < > @, no control character, no line or paragraph separator, and
 * no character that changes the direction of the text after it (U+202A to U+202E, U+2066 to U+2069).
 */
#ifndef GATEHOUSE_BASE_NAME_H
#define GATEHOUSE_BASE_NAME_H

#include <stdbool.h>

struct arena;

/* The sentence about a refused name, for a validation entry with the code `format`. */
#define NAME_FORMAT "must not hold any of : / \\ < > @ nor control characters"

/*
 * What a name does not hold, as in a class of characters of a JSON Schema's pattern (ECMA-262, which counts UTF-16
 * units), written as it stands between the quotes of a JSON text.
 */
#define NAME_REFUSED "\\\\u0000-\\\\u001F:/\\\\\\\\<>@\\\\u007F-\\\\u009F\\\\u2028-\\\\u202E\\\\u2066-\\\\u2069"

/* Whether the text is valid UTF-8 and holds only characters that a name may hold. Its length is not checked. */
bool name_is_good(const char *text);

/*
 * A copy that is safe to mail. It has a blank in place of each character that a name must not hold (old rows may hold
 * some), and a blank after each dot that two letters follow: "www.evil.example", which mail programs turn into a link,
 * becomes "www. evil. example".
 */
const char *name_for_mail(struct arena *arena, const char *text);

#endif
