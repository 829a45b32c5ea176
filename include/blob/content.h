/* SPDX-License-Identifier: MIT */
/*
 * What may be stored where and how it is shown: the buckets, the file types and the media types (contract,
 * section 3, Files). Tables only; the schemas and the OpenAPI document read the same lists.
 */
#ifndef GATEHOUSE_BLOB_CONTENT_H
#define GATEHOUSE_BLOB_CONTENT_H

#include <stdbool.h>

struct sniffed;

#define CONTENT_BUCKET_IMAGES "images"
#define CONTENT_BUCKET_FILES "files"

#define CONTENT_PIXELS_MAX 40000000

/* The names, each list ended by NULL. */
extern const char *const content_buckets[];
extern const char *const content_types[];

bool content_bucket_known(const char *bucket);
bool content_type_known(const char *type);

/* Whether files of `type` (avatar, contract, ...) may lie in `bucket`; false when either is unknown. */
bool content_type_fits(const char *type, const char *bucket);

/*
 * The media type to record: what was sniffed, but text/csv where the file name ends in .csv or the client
 * declared text/csv (or an alias), and the bytes are text; and application/x-msi where an OLE container that
 * the sniffer could not see through is named or declared one. `name` and `declared` may be NULL.
 */
const char *content_media_type(const struct sniffed *sniffed, const char *name, const char *declared);

/* Whether the media type is that of a program or an installer: refused in every bucket. */
bool content_is_program(const char *media_type);

/*
 * Whether bytes of this media type may be stored in `bucket`: images takes its allow-list, files all but
 * programs.
 */
bool content_allowed(const char *bucket, const char *media_type);

/*
 * Whether an image is small enough to be decoded by whoever shows it: at most CONTENT_PIXELS_MAX, as far as
 * its header was in sight. A picture of a few kilobytes can ask for gigabytes of memory.
 */
bool content_pixels_allowed(const struct sniffed *sniffed);

/* Whether a browser may show it in place: the image types, PDF and plain text. All else is an attachment. */
bool content_inline(const char *media_type);

#endif
