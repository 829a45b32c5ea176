/* SPDX-License-Identifier: MIT */
/*
 * Language tags (BCP 47, RFC 5646): language, script, region, variants and extensions, such as de-CH, zh-Hant-TW or
 * sl-rozaj. Private use (x-...) and the irregular tags of earlier times (i-klingon) are refused, and so are languages
 * of more than three letters, since none is registered.
 */
#ifndef GATEHOUSE_CODEC_LANGUAGE_TAG_H
#define GATEHOUSE_CODEC_LANGUAGE_TAG_H

struct arena;

/* The longest tag that is taken (RFC 5646, 4.4.1). */
#define LANGUAGE_TAG_BYTES 35

/*
 * The tag in its usual spelling: the language in small letters, the script with a capital, the region in capitals, the
 * rest in small letters. NULL where `text` is not a well-formed tag.
 */
const char *language_tag_canonical(struct arena *arena, const char *text);

#endif
