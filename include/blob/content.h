/* SPDX-License-Identifier: MIT */
/*
 * What may be stored and how it is shown, by the media type of the bytes (docs/files.md, "What may be stored"). The
 * bytes decide. What the client declared, and the name of the file, can only contradict them, and then the file is
 * refused.
 */
#ifndef GATEHOUSE_BLOB_CONTENT_H
#define GATEHOUSE_BLOB_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/text.h"
#include "domain/file/file_kind.h"

struct arena;
struct sniffed;

#define CONTENT_PIXELS_MAX (INT64_C(1000000) * LIMIT_PICTURE_MEGAPIXELS)

/*
 * The media type to record. It is the type that was found, with two exceptions: text/csv for text whose file name ends
 * in .csv or that the client declared as text/csv (or an alias), and application/x-msi for an OLE container that could
 * not be examined and is named or declared as one. `name` and `declared` may be NULL.
 */
const char *content_media_type(const struct sniffed *sniffed, const char *name, const char *declared);

/* Whether the media type is that of a program or an installer; every bucket refuses those. */
bool content_is_program(const char *media_type);

/* Whether an allow-list (domain/file/file_kind.h) holds this media type. */
bool content_allowed(enum file_content list, const char *media_type);

/* The media types of FILE_CONTENT_PICTURES, in the arena. */
struct text_list content_pictures(struct arena *arena);

/*
 * Whether the type that the client declared (the part's Content-Type, NULL: none) or the ending of the file name (NULL:
 * none) belongs to another kind of file than `media_type`, the type of the bytes. A sentence that names both types, in
 * the arena, else NULL. `text` says that all examined bytes are text; true where none were examined.
 *
 * Never a contradiction: application/octet-stream; types and endings that the service does not know (but an unknown
 * image/..., audio/..., video/..., font/... or text/... contradicts a known type of another kind); another name of the
 * same type; one kind of text for another; a bare ZIP or OLE container for a type that uses it; and a document for the
 * ZIP that it is.
 */
const char *content_contradiction(struct arena *arena, const char *media_type, bool text, const char *declared,
                                  const char *name);

/*
 * Whether programs that show the image can decode it safely: by its header it has at most CONTENT_PIXELS_MAX pixels. A
 * picture of a few kilobytes can need gigabytes of memory.
 */
bool content_pixels_allowed(const struct sniffed *sniffed);

/* Whether a browser may show it in place: image types, PDF and plain text. Everything else is an attachment. */
bool content_inline(const char *media_type);

#endif
