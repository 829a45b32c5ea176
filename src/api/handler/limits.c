/* SPDX-License-Identifier: MIT */
/*
 * Handles the endpoint that tells a client what it must know before it sends anything. Every number comes from
 * base/limits.h, from the configuration or from the table that enforces it, so none of them can differ from what the
 * service does.
 */
#include <stddef.h>

#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/configuration.h"
#include "base/limits.h"
#include "base/text.h"
#include "blob/content.h"
#include "domain/account/organisation.h"
#include "domain/file/file_kind.h"
#include "http/schema.h"
#include "service/access/signed_link.h"
#include "service/runtime/service.h"

#define COUNT(view, text, member, what)                                                                                \
    {.name = (text), .type = SCHEMA_INTEGER, .offset = offsetof(struct view, member), .description = (what)}

/* ---- groups of numbers --------------------------------------------------------------------------- */

struct upload_view {
    int64_t files;
    int64_t parts;
    int64_t field_bytes;
    int64_t form_bytes;
};

static const struct schema_field upload_fields[] = {
    COUNT(upload_view, "files", files, "Files in one request."),
    COUNT(upload_view, "parts", parts, "Parts of the form, the files included."),
    COUNT(upload_view, "fieldBytes", field_bytes, "The value of a part that is no file."),
    COUNT(upload_view, "formBytes", form_bytes, "The whole body without the bytes of the files."),
};

static const struct schema upload_schema = {
    .name = "UploadLimits", SCHEMA_FIELDS(upload_fields), .size = sizeof(struct upload_view)};

struct file_view {
    int64_t name_bytes;
    int64_t tags;
    int64_t tag_characters;
    int64_t megapixels;
};

static const struct schema_field file_fields[] = {
    COUNT(file_view, "nameBytes", name_bytes, "The name, in UTF-8."),
    COUNT(file_view, "tags", tags, "Tags of one file."),
    COUNT(file_view, "tagCharacters", tag_characters, "One tag."),
    COUNT(file_view, "megapixels", megapixels, "The size of a picture, in millions of pixels."),
};

static const struct schema file_schema = {
    .name = "FileLimits", SCHEMA_FIELDS(file_fields), .size = sizeof(struct file_view)};

struct people_view {
    int64_t name_characters;
    int64_t email_bytes;
    int64_t roles;
    int64_t permissions;
    int64_t organisation_name_characters;
};

static const struct schema_field people_fields[] = {
    COUNT(people_view, "nameCharacters", name_characters, "A first name, and a last name."),
    COUNT(people_view, "emailBytes", email_bytes, "An e-mail address."),
    COUNT(people_view, "roles", roles, "Roles of one person."),
    COUNT(people_view, "permissions", permissions, "Permissions of one person, those of roles not counted."),
    COUNT(people_view, "organisationNameCharacters", organisation_name_characters, "The name of an organisation."),
};

static const struct schema people_schema = {
    .name = "PeopleLimits", SCHEMA_FIELDS(people_fields), .size = sizeof(struct people_view)};

struct range_view {
    int64_t minimum;
    int64_t maximum;
    int64_t fallback;
};

static const struct schema_field password_fields[] = {
    COUNT(range_view, "minimum", minimum, NULL),
    COUNT(range_view, "maximum", maximum, NULL),
};

static const struct schema password_schema = {.name = "PasswordLimits",
                                              .description = "The length of a new password, in characters.",
                                              SCHEMA_FIELDS(password_fields),
                                              .size = sizeof(struct range_view)};

static const struct schema_field range_fields[] = {
    COUNT(range_view, "minimum", minimum, NULL),
    COUNT(range_view, "maximum", maximum, NULL),
    COUNT(range_view, "default", fallback, "What holds where nothing is sent."),
};

static const struct schema range_schema = {
    .name = "Range", SCHEMA_FIELDS(range_fields), .size = sizeof(struct range_view)};

/* ---- buckets ------------------------------------------------------------------------------------- */

struct type_view {
    const char *name;
    const char *content;
};

static const struct schema_field type_fields[] = {
    {.name = "name", .type = SCHEMA_CHOICE, .choices = FILE_TYPE_CHOICES, .offset = offsetof(struct type_view, name)},
    {.name = "content",
     .type = SCHEMA_CHOICE,
     .choices = "pictures|anything",
     .offset = offsetof(struct type_view, content),
     .description = "pictures: the media types of pictureTypes. anything: all but programs and installers."},
};

static const struct schema type_schema = {
    .name = "BucketType", SCHEMA_FIELDS(type_fields), .size = sizeof(struct type_view)};

struct bucket_view {
    const char *name;
    struct schema_list types;
};

static const struct schema_field bucket_fields[] = {
    {.name = "name",
     .type = SCHEMA_CHOICE,
     .choices = FILE_BUCKET_CHOICES,
     .offset = offsetof(struct bucket_view, name)},
    {.name = "types", .type = SCHEMA_OBJECTS, .schema = &type_schema, .offset = offsetof(struct bucket_view, types)},
};

static const struct schema bucket_schema = {
    .name = "Bucket", SCHEMA_FIELDS(bucket_fields), .size = sizeof(struct bucket_view)};

static size_t count_words(const char *const *words)
{
    size_t count = 0;
    while (words[count] != NULL)
        count++;
    return count;
}

static struct schema_list types_of(struct arena *arena, const char *bucket)
{
    struct schema_list list = {.count = count_words(file_types)};
    const void **items = arena_array(arena, list.count, sizeof *items);
    for (size_t i = 0; i < list.count; i++) {
        struct type_view *view = arena_alloc(arena, sizeof *view);
        bool pictures = file_content_of(file_types[i], bucket) == FILE_CONTENT_PICTURES;
        *view = (struct type_view){file_types[i], pictures ? "pictures" : "anything"};
        items[i] = view;
    }
    list.items = items;
    return list;
}

static struct schema_list buckets(struct arena *arena)
{
    struct schema_list list = {.count = count_words(file_buckets)};
    const void **items = arena_array(arena, list.count, sizeof *items);
    for (size_t i = 0; i < list.count; i++) {
        struct bucket_view *view = arena_alloc(arena, sizeof *view);
        *view = (struct bucket_view){file_buckets[i], types_of(arena, file_buckets[i])};
        items[i] = view;
    }
    list.items = items;
    return list;
}

/* ---- all of them --------------------------------------------------------------------------------- */

struct limits_view {
    int64_t max_file_bytes;
    int64_t max_json_bytes;
    const struct upload_view *upload;
    const struct file_view *file;
    const struct people_view *people;
    const struct range_view *password;
    const struct range_view *list;
    const struct range_view *link_seconds;
    int64_t bulk_ids;
    struct schema_list buckets;
    struct text_list picture_types;
    struct text_list services;
    struct text_list languages;
};

#define GROUP(text, table, member, what)                                                                               \
    {.name = (text),                                                                                                   \
     .type = SCHEMA_OBJECT,                                                                                            \
     .schema = &(table),                                                                                               \
     .offset = offsetof(struct limits_view, member),                                                                   \
     .description = (what)}

static const struct schema_field fields[] = {
    COUNT(limits_view, "maxFileBytes", max_file_bytes, "The bytes of one file."),
    COUNT(limits_view, "maxJsonBytes", max_json_bytes, "A JSON body."),
    GROUP("upload", upload_schema, upload, NULL),
    GROUP("file", file_schema, file, NULL),
    GROUP("people", people_schema, people, NULL),
    GROUP("password", password_schema, password, NULL),
    GROUP("list", range_schema, list, NULL),
    GROUP("linkSeconds", range_schema, link_seconds, NULL),
    COUNT(limits_view, "bulkIds", bulk_ids, "Files that one request archives or restores."),
    {.name = "buckets",
     .type = SCHEMA_OBJECTS,
     .schema = &bucket_schema,
     .offset = offsetof(struct limits_view, buckets)},
    {.name = "pictureTypes",
     .type = SCHEMA_TEXTS,
     .offset = offsetof(struct limits_view, picture_types),
     .description = "The media types that count as pictures."},
    {.name = "services",
     .type = SCHEMA_TEXTS,
     .choices = ORGANISATION_SERVICES,
     .offset = offsetof(struct limits_view, services)},
    {.name = "languages",
     .type = SCHEMA_TEXTS,
     .offset = offsetof(struct limits_view, languages),
     .description = "The languages of e-mails and pages, as BCP 47 writes them; the installation's own comes first."},
};

const struct schema limits_schema = {.name = "Limits",
                                     .description = "What a client must know before it sends: each number is the most.",
                                     SCHEMA_FIELDS(fields),
                                     .size = sizeof(struct limits_view)};

/* The choices of a schema as a list. */
static struct text_list choice_list(struct arena *arena, const char *choices)
{
    char *text = arena_text(arena, choices);
    for (char *at = text; *at != '\0'; at++)
        if (*at == '|')
            *at = ' ';
    return text_words(arena, text);
}

struct error *limits_get(struct call *call)
{
    static const struct upload_view upload = {LIMIT_FILES, LIMIT_PARTS, LIMIT_FIELD_BYTES, LIMIT_UPLOAD_FORM_BYTES};
    static const struct file_view file = {LIMIT_FILE_NAME_BYTES, LIMIT_TAGS, LIMIT_TAG_CHARACTERS,
                                          LIMIT_PICTURE_MEGAPIXELS};
    static const struct people_view people = {LIMIT_NAME_CHARACTERS, LIMIT_EMAIL_BYTES, LIMIT_USER_ROLES,
                                              LIMIT_USER_PERMISSIONS, LIMIT_ORGANISATION_NAME_CHARACTERS};
    static const struct range_view list = {1, LIMIT_PAGE_MAX, LIMIT_PAGE_DEFAULT};
    static const struct range_view link_seconds = {SIGNED_LINK_SECONDS_MIN, SIGNED_LINK_SECONDS_MAX,
                                                   SIGNED_LINK_SECONDS_DEFAULT};
    const struct configuration *configuration = call->service->configuration;
    struct range_view *password = arena_alloc(call->arena, sizeof *password);
    struct limits_view *view = arena_alloc(call->arena, sizeof *view);
    *password =
        (struct range_view){.minimum = configuration->password.minimum_length, .maximum = LIMIT_PASSWORD_CHARACTERS};
    *view = (struct limits_view){
        .max_file_bytes = configuration->service.max_file_bytes,
        .max_json_bytes = configuration->service.max_json_bytes,
        .upload = &upload,
        .file = &file,
        .people = &people,
        .password = password,
        .list = &list,
        .link_seconds = &link_seconds,
        .bulk_ids = LIMIT_BULK_FILES,
        .buckets = buckets(call->arena),
        .picture_types = content_pictures(call->arena),
        .services = choice_list(call->arena, ORGANISATION_SERVICES),
        .languages = call->service->languages,
    };
    call->result = view;
    return NULL;
}
