/* SPDX-License-Identifier: MIT */
/*
 * Bytes as text and back: base64 and base64url (RFC 4648, sections 4 and 5), hexadecimal, percent-encoding (RFC 3986,
 * section 2.1). base64url_decode() accepts exactly one spelling of each value. So a text can stand for the bytes that
 * it encodes: no other spelling escapes a comparison or a signature of the text.
 */
#ifndef GATEHOUSE_CODEC_ENCODING_H
#define GATEHOUSE_CODEC_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

/*
 * The URL-safe alphabet without padding; NUL-terminated in the arena. `bytes` may be NULL when length is 0.
 */
char *base64url_encode(struct arena *arena, const void *bytes, size_t length);

/*
 * Reads canonical base64url: no padding, no character outside the alphabet, no unused bit set, no length of
 * 4n + 1. False leaves the outputs untouched. The bytes are followed by a NUL that *length_out does not
 * count; the empty text is no bytes.
 */
bool base64url_decode(struct arena *arena, const char *text, size_t length, unsigned char **bytes_out,
                      size_t *length_out);

/* The standard alphabet with padding, without line breaks; NUL-terminated in the arena. */
char *base64_encode(struct arena *arena, const void *bytes, size_t length);

/* Two lower-case digits a byte; NUL-terminated in the arena. */
char *hex_encode(struct arena *arena, const void *data, size_t length);

/*
 * Reads an even number of hexadecimal digits, of either case, and nothing else; outputs as with
 * base64url_decode().
 */
bool hex_decode(struct arena *arena, const char *text, size_t length, unsigned char **bytes_out, size_t *length_out);

/*
 * Writes every byte but RFC 3986's unreserved characters as %XX (upper-case digits). The result is a valid ext-value of
 * RFC 8187 as well.
 */
char *percent_encode(struct arena *arena, const void *data, size_t length);

/*
 * Decodes percent-encoding, and `+` to a blank where `plus_is_blank` (a query string). False for a % without two
 * hexadecimal digits, and for a result that holds NUL or is not UTF-8; the outputs are then untouched. The result is
 * NUL-terminated. `length_out` may be NULL.
 */
bool percent_decode(struct arena *arena, const char *text, size_t length, bool plus_is_blank, char **text_out,
                    size_t *length_out);

#endif
