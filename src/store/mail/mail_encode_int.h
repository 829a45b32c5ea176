/* SPDX-License-Identifier: MIT */
/*
 * The encodings of a message: words in headers (RFC 2047), bodies as 7bit or quoted-printable (RFC 2045),
 * dates.
 */
#ifndef GATEHOUSE_STORE_MAIL_MAIL_ENCODE_INT_H
#define GATEHOUSE_STORE_MAIL_MAIL_ENCODE_INT_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buffer;

/* Whether `text` is UTF-8 on one line, without control characters. */
bool mail_text_is_line(const char *text);

/*
 * The text as an unstructured header value: as it is when short printable ASCII, else as encoded words of at
 * most 75 characters, folded, none of which cuts a character. `text` is such a line.
 */
void mail_add_words(struct buffer *out, const char *text);

/* A display name before an address: bare, quoted, or as encoded words. `name` is such a line. */
void mail_add_phrase(struct buffer *out, const char *name);

/* "Sat, 21 Nov 2026 08:52:00 +0000" (RFC 5322, section 3.3), from milliseconds. */
void mail_add_date(struct buffer *out, int64_t milliseconds);

/*
 * Writes Content-Transfer-Encoding, the empty line, and the body: as it is where every line is ASCII that no relay
 * alters, else quoted-printable. Lines of `text` end with \n or \r\n, the written ones with \r\n; the last one is ended
 * too.
 */
void mail_add_body(struct buffer *out, const char *text);

#endif
