/* SPDX-License-Identifier: MIT */
/* The form of an upload: the text fields beside the files, and their valid values. */
#include <stddef.h>
#include <string.h>

#include "base/limits.h"
#include "http/schema.h"
#include "service/file/upload.h"
#include "service/file/upload_int.h"

static const struct schema_field form_fields[] = {
    {.name = "bucket",
     .type = SCHEMA_CHOICE,
     .flags = SCHEMA_REQUIRED,
     .choices = UPLOAD_BUCKET_CHOICES,
     .offset = offsetof(struct upload_form, bucket)},
    {.name = "type",
     .type = SCHEMA_CHOICE,
     .flags = SCHEMA_REQUIRED,
     .choices = UPLOAD_TYPE_CHOICES,
     .offset = offsetof(struct upload_form, type),
     .description =
         "An avatar, image or logo is a picture (JPEG, PNG, GIF, WebP, AVIF, HEIC, TIFF, BMP), whatever the bucket."},
    {.name = "name",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_UNCHECKED,
     .maximum = LIMIT_FIELD_BYTES,
     .offset = offsetof(struct upload_form, name),
     .description = "At most " LIMIT_TEXT(
         LIMIT_FILE_NAME_BYTES) " bytes; the client's file name when absent. With one file only."},
    {.name = "tags",
     .type = SCHEMA_TEXTS,
     .flags = SCHEMA_UNIQUE,
     .maximum = LIMIT_TAGS,
     .item_maximum = LIMIT_TAG_CHARACTERS,
     .offset = offsetof(struct upload_form, tags),
     .description = "One part a tag."},
    {.name = "file",
     .type = SCHEMA_FILES,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = LIMIT_FILES,
     .description =
         "One part a file. Its bytes decide what it is; the part's Content-Type and the ending of its name must "
         "not contradict them (code mismatch). Where a virus scanner is set up, it may refuse a file (infected)."},
};

const struct schema upload_form_schema = {
    .name = "UploadForm", SCHEMA_FIELDS(form_fields), .size = sizeof(struct upload_form)};

const struct schema_field *upload_form_files(void)
{
    const struct schema_field *field = form_fields;
    while (field->type != SCHEMA_FILES)
        field++;
    return field;
}

const struct schema_field *upload_form_text(const char *name)
{
    for (size_t i = 0; i < upload_form_schema.count; i++)
        if (form_fields[i].type != SCHEMA_FILES && strcmp(form_fields[i].name, name) == 0)
            return &form_fields[i];
    return NULL;
}
