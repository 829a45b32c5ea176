/* SPDX-License-Identifier: MIT */
/*
 * Mail templates: <name>.subject, <name>.txt and, optionally, <name>.html in one directory, with placeholders
 * {{likeThis}}. An operator may change the texts. An unknown placeholder is an error, not an empty place.
 */
#ifndef GATEHOUSE_STORE_MAIL_MAIL_TEMPLATE_H
#define GATEHOUSE_STORE_MAIL_MAIL_TEMPLATE_H

#include <stddef.h>

struct arena;
struct error;
struct mail;

struct mail_template_value {
    const char *name;
    const char *value;
};

/*
 * Fills the templates of `name` and sets subject, text and html of *mail_out (html NULL where there is no .html file);
 * the other members stay. Values are escaped in .html. Control characters in values become blanks everywhere, so that a
 * value stays on its line. INTERNAL: a missing file, an unknown or unclosed placeholder, bytes that are not UTF-8.
 */
struct error *mail_template_fill(struct arena *arena, const char *directory, const char *name,
                                 const struct mail_template_value *values, size_t count, struct mail *mail_out);

#endif
