/* SPDX-License-Identifier: MIT */
/*
 * Compares names of languages as BCP 47 (RFC 5646) writes them: "en", "de", "pt-BR". A folder of e-mail texts
 * has such a name, and so has a file with the texts of the pages. Only the language itself and a region or script are
 * looked at.
 */
#ifndef GATEHOUSE_BASE_LANGUAGE_H
#define GATEHOUSE_BASE_LANGUAGE_H

#include <stdbool.h>

#include "base/text.h"

/* Whether the text is two or three small letters, and maybe a hyphen and two to four letters or three digits. */
bool language_valid(const char *text);

/*
 * The item of `available` that fits best what a person reads: a tag, or the value of an Accept-Language header (RFC
 * 9110, section 12.5.4). The weights decide, then the order. "de-AT" is served by "de", and "de" by "de-CH" if there is
 * no better one. NULL: none fits, or `wanted` is NULL or says that it does not matter ("*").
 */
const char *language_pick(const struct text_list *available, const char *wanted);

#endif
