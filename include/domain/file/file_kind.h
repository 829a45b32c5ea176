/* SPDX-License-Identifier: MIT */
/*
 * The buckets, the file types, and the allow-list of content that applies to a file of a type in a bucket, in one
 * table. Schemas, the OpenAPI document and the rules of content all read these rows; blob/content.h says what the
 * allow-lists hold.
 */
#ifndef GATEHOUSE_DOMAIN_FILE_FILE_KIND_H
#define GATEHOUSE_DOMAIN_FILE_FILE_KIND_H

#include <stdbool.h>

enum file_content {
    FILE_CONTENT_NOTHING,  /* the type or the bucket is unknown */
    FILE_CONTENT_PICTURES, /* pictures that every browser can show, and their successors */
    FILE_CONTENT_ANYTHING  /* all but programs and installers */
};

/* BUCKET(name, allow-list of the bucket), with AND between the rows. */
#define FILE_BUCKETS(BUCKET, AND) BUCKET("images", PICTURES) AND BUCKET("files", ANYTHING)

/* TYPE(name, allow-list in images, allow-list in files), with AND between the rows. */
#define FILE_TYPES(TYPE, AND)                                                                                          \
    TYPE("sample", PICTURES, ANYTHING) AND TYPE("avatar", PICTURES, PICTURES)                                          \
    AND TYPE("weighbridge", PICTURES, ANYTHING)                                                                        \
    AND TYPE("contract", PICTURES, ANYTHING)                                                                           \
    AND TYPE("image", PICTURES, PICTURES)                                                                              \
    AND TYPE("logo", PICTURES, PICTURES)                                                                               \
    AND TYPE("misc", PICTURES, ANYTHING)                                                                               \
    AND TYPE("vehicle", PICTURES, ANYTHING)                                                                            \
    AND TYPE("terms-conditions", PICTURES, ANYTHING)                                                                   \
    AND TYPE("logistics-delivery", PICTURES, ANYTHING)                                                                 \
    AND TYPE("logistics-load", PICTURES, ANYTHING)

/* The names with | between them, as schemas take choices. */
#define FILE_KIND_NAME_(name, ...) name
#define FILE_BUCKET_CHOICES FILE_BUCKETS(FILE_KIND_NAME_, "|")
#define FILE_TYPE_CHOICES FILE_TYPES(FILE_KIND_NAME_, "|")

/* The names, each list ended by NULL. */
extern const char *const file_buckets[];
extern const char *const file_types[];

bool file_bucket_known(const char *text);
bool file_type_known(const char *text);

/* The allow-list for files of `type` in `bucket`; NOTHING also when either is unknown. */
enum file_content file_content_of(const char *type, const char *bucket);

/* The bucket's own allow-list, for a file whose type is not known; NOTHING when the bucket is unknown. */
enum file_content file_content_of_bucket(const char *bucket);

#endif
