/* SPDX-License-Identifier: MIT */
/*
 * Permissions (docs/permissions.md): pure functions over text, which allocate nothing while a request is decided.
 *
 *     pattern   = three-part | two-part
 *     three-part = name ":" name ":" letter        letter is a, r or w; name is [a-z][a-z0-9-]* or *
 *     two-part  = letters ":*"                     distinct letters of r, w and x, in any order
 *
 * `a` implies `w`, `w` implies `r`, so what a pattern grants is a set of (module, area) pairs and one
 * level. The two-part form means every module and area; its level is that of its highest letter (`x` alone
 * grants nothing). Whatever does not follow the grammar to the byte grants nothing and is no error.
 */
#ifndef GATEHOUSE_DOMAIN_PERMISSION_PERMISSION_H
#define GATEHOUSE_DOMAIN_PERMISSION_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct arena;

/* Admin on every module and area: what internal staff hold. No other pattern covers it. */
#define PERMISSION_EVERYTHING "*:*:a"

/* What permission_parse() and permission_parse_concrete() take, as regular expressions for the document. */
#define PERMISSION_CONCRETE_PATTERN "^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*:[arw]$"
#define PERMISSION_PATTERN                                                                                             \
    "^(([a-z][a-z0-9-]*|[*]):([a-z][a-z0-9-]*|[*]):[arw]"                                                              \
    "|([rwx]|r[wx]|w[rx]|x[rw]|rwx|rxw|wrx|wxr|xrw|xwr):[*])$"

/* Each level includes those before it. */
enum permission_level { PERMISSION_NOTHING, PERMISSION_READ, PERMISSION_WRITE, PERMISSION_ADMIN };

/* A well-formed pattern: slices of the text it was read from, which must live as long. */
struct permission {
    const char *module; /* NULL: every module */
    size_t module_length;
    const char *area; /* NULL: every area */
    size_t area_length;
    enum permission_level level;
};

/*
 * Reads a pattern; false, with *permission_out untouched, when `text` (not NULL) does not follow the
 * grammar.
 */
bool permission_parse(const char *text, struct permission *permission_out);

/* The same, and there is no wildcard and no two-part form in it: what an endpoint requires. */
bool permission_parse_concrete(const char *text, struct permission *permission_out);

/*
 * Whether `text` may be written into a user or a role: well-formed and at most LIMIT_PERMISSION_BYTES long.
 */
bool permission_valid(const char *text);

/* Whether a holder of `held` may do what `required` (concrete) names. */
bool permission_matches(const struct permission *held, const struct permission *required);

/* The same over texts: false when `held` is malformed or `required` is not concrete. */
bool permission_grants(const char *held, const char *required);

/*
 * Whether everything that `candidate` grants is granted by the patterns of `held` taken together: the test
 * before a permission is given to someone. False for a malformed candidate. A candidate that grants nothing
 * (`x:*`) is covered.
 */
bool permission_covers(const struct text_list *held, const char *candidate);

/*
 * Splits a stored permissions field at single blanks, in the arena. Blanks that are not single separators
 * stay part of a word, which is malformed then and grants nothing: a trailing blank never passes for none.
 * NULL or "" gives no words.
 */
struct text_list permission_words(struct arena *arena, const char *field);

#endif
