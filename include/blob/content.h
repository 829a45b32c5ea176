/* SPDX-License-Identifier: MIT */
/*
 * What may be stored and how it is shown, by the media type of the bytes (docs/files.md, "What may be stored"). The
 * bytes decide: what the client declared and how it named the file can only contradict them, and is refused then.
 */
#ifndef GATEHOUSE_BLOB_CONTENT_H
#define GATEHOUSE_BLOB_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "domain/file/file_kind.h"

struct arena;
struct sniffed;

#define CONTENT_PIXELS_MAX (INT64_C(1000000) * LIMIT_PICTURE_MEGAPIXELS)

/*
 * The media type to record: what was sniffed, but text/csv where the file name ends in .csv or the client
 * declared text/csv (or an alias), and the bytes are text; and application/x-msi where an OLE container that
 * the sniffer could not see through is named or declared one. `name` and `declared` may be NULL.
 */
const char *content_media_type(const struct sniffed *sniffed, const char *name, const char *declared);

/* Whether the media type is that of a program or an installer: refused in every bucket. */
bool content_is_program(const char *media_type);

/* Whether an allow-list (domain/file/file_kind.h) holds this media type. */
bool content_allowed(enum file_content list, const char *media_type);

/*
 * Whether what the client declared (the part's Content-Type, NULL: nothing) or the ending of the file name
 * (NULL: none) stands for another kind of file than `media_type`, which the bytes are: a sentence that names
 * both types, in the arena, else NULL. `text` tells that all bytes seen are text; true where nobody looked.
 *
 * Nothing is contradicted by application/octet-stream, types and endings that the house does not know (but an
 * unknown image/..., audio/..., video/..., font/... or text/... cannot be of a known type of another kind), another
 * name of the same type, any kind of text for any other, a bare ZIP or OLE container for what is kept in one, and a
 * document for the ZIP that it is.
 */
const char *content_contradiction(struct arena *arena, const char *media_type, bool text, const char *declared,
                                  const char *name);

/*
 * Whether an image is small enough to be decoded by whoever shows it: at most CONTENT_PIXELS_MAX, as far as
 * its header says. A picture of a few kilobytes can ask for gigabytes of memory.
 */
bool content_pixels_allowed(const struct sniffed *sniffed);

/* Whether a browser may show it in place: the image types, PDF and plain text. All else is an attachment. */
bool content_inline(const char *media_type);

#endif
