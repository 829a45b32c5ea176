/* SPDX-License-Identifier: MIT */
/* The table of buckets and file types, and the content that each accepts. */
#include "domain/file/file_kind.h"

#include <stddef.h>

#include "base/text.h"
#include "domain/columns_int.h"

#define NAME(name, ...) name,
#define BUCKET_ROW(name, content) FILE_CONTENT_##content,
#define TYPE_ROW(name, images, files) {FILE_CONTENT_##images, FILE_CONTENT_##files},

const char *const file_buckets[] = {FILE_BUCKETS(NAME, ) NULL};
const char *const file_types[] = {FILE_TYPES(NAME, ) NULL};

/* In the order of the names. */
static const enum file_content bucket_contents[] = {FILE_BUCKETS(BUCKET_ROW, )};
static const enum file_content type_contents[][sizeof bucket_contents / sizeof *bucket_contents] = {
    FILE_TYPES(TYPE_ROW, )};

bool file_bucket_known(const char *text)
{
    return columns_word_index(file_buckets, text) >= 0;
}

bool file_type_known(const char *text)
{
    return columns_word_index(file_types, text) >= 0;
}

enum file_content file_content_of(const char *type, const char *bucket)
{
    int row = columns_word_index(file_types, type);
    int column = columns_word_index(file_buckets, bucket);
    return row < 0 || column < 0 ? FILE_CONTENT_NOTHING : type_contents[row][column];
}

enum file_content file_content_of_bucket(const char *bucket)
{
    int row = columns_word_index(file_buckets, bucket);
    return row < 0 ? FILE_CONTENT_NOTHING : bucket_contents[row];
}
