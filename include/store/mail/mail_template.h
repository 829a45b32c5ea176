/* SPDX-License-Identifier: MIT */
/*
 * Mail templates: <name>.subject, <name>.txt and, optionally, <name>.html, in a folder for each language (en, de, …),
 * with placeholders {{likeThis}}. What stands between {{#likeThis}} and {{/likeThis}} is left out where the value is
 * empty. An operator may change the texts and add languages. An unknown placeholder is an error, not an empty place.
 */
#ifndef GATEHOUSE_STORE_MAIL_MAIL_TEMPLATE_H
#define GATEHOUSE_STORE_MAIL_MAIL_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

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

/* Whether `directory` has the template `name`: its .subject. */
bool mail_template_exists(struct arena *arena, const char *directory, const char *name);

/* The most languages that a folder of templates may have; the names of others are passed over. */
#define MAIL_TEMPLATE_LANGUAGES_MAX 64

/*
 * The names of the language folders in `directory`, in the arena: `first`, whether it is there or not, then the others
 * in order. A directory that cannot be read has none.
 */
struct text_list mail_template_languages(struct arena *arena, const char *directory, const char *first);

#endif
