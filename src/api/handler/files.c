/* SPDX-License-Identifier: MIT */
/* Handles the endpoints of files: upload, information, changes. downloads.c sends their bytes. */
#include <stddef.h>
#include <string.h>

#include "api/handler/files_int.h"
#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/limits.h"
#include "codec/encoding.h"
#include "domain/file/file.h"
#include "domain/permission/principal.h"
#include "http/disposition.h"
#include "http/schema.h"
#include "service/access/caller_audit.h"
#include "service/file/file_update.h"
#include "service/file/upload.h"
#include "service/file/upload_bound.h"
#include "service/runtime/service.h"

struct info_view {
    const char *bucket;
    const char *type;
    struct id organisation_id;
    const char *name;
    const char *hash;
    const char *content_type;
    const char *url;
    struct id user_id;
    int64_t size;
};

static const struct schema_field info_fields[] = {
    {.name = "bucket",
     .type = SCHEMA_CHOICE,
     .choices = UPLOAD_BUCKET_CHOICES,
     .offset = offsetof(struct info_view, bucket)},
    {.name = "type", .type = SCHEMA_CHOICE, .choices = UPLOAD_TYPE_CHOICES, .offset = offsetof(struct info_view, type)},
    {.name = "organisationId", .type = SCHEMA_ID, .offset = offsetof(struct info_view, organisation_id)},
    {.name = "name", .type = SCHEMA_TEXT, .offset = offsetof(struct info_view, name)},
    {.name = "hash",
     .type = SCHEMA_TEXT,
     .offset = offsetof(struct info_view, hash),
     .description = "SHA-256 of the bytes in lower-case hexadecimal; in quotes, the ETag of the download."},
    {.name = "contentType",
     .type = SCHEMA_TEXT,
     .offset = offsetof(struct info_view, content_type),
     .description = "What the bytes are, never what the client said."},
    {.name = "url",
     .type = SCHEMA_TEXT,
     .offset = offsetof(struct info_view, url),
     .description = "The download path, relative to the service's base URL; needs the same permission."},
    {.name = "userId", .type = SCHEMA_ID, .offset = offsetof(struct info_view, user_id)},
    {.name = "size", .type = SCHEMA_INTEGER, .offset = offsetof(struct info_view, size)},
};

const struct schema files_info_schema = {.name = "FileInfo",
                                         .description = "File information.",
                                         SCHEMA_FIELDS(info_fields),
                                         .size = sizeof(struct info_view)};

struct record_view {
    struct id id;
    struct text_list tags;
    const struct info_view *info;
    struct id organisation_id;
    struct id user_id;
    const char *type;
    const char *status;
    const char *created_at;
    const char *updated_at;
    const char *archived_at;
    const char *user_name;
};

static const struct schema_field record_fields[] = {
    {.name = "id", .type = SCHEMA_ID, .offset = offsetof(struct record_view, id)},
    {.name = "tags", .type = SCHEMA_TEXTS, .offset = offsetof(struct record_view, tags)},
    {.name = "info", .type = SCHEMA_OBJECT, .schema = &files_info_schema, .offset = offsetof(struct record_view, info)},
    {.name = "organisationId", .type = SCHEMA_ID, .offset = offsetof(struct record_view, organisation_id)},
    {.name = "userId", .type = SCHEMA_ID, .offset = offsetof(struct record_view, user_id)},
    {.name = "type",
     .type = SCHEMA_CHOICE,
     .choices = UPLOAD_TYPE_CHOICES,
     .offset = offsetof(struct record_view, type)},
    {.name = "status",
     .type = SCHEMA_CHOICE,
     .choices = "active|archived",
     .offset = offsetof(struct record_view, status)},
    {.name = "createdAt", .type = SCHEMA_TIME, .offset = offsetof(struct record_view, created_at)},
    {.name = "updatedAt",
     .type = SCHEMA_TIME,
     .offset = offsetof(struct record_view, updated_at),
     .description = "When the record last changed: name, tags or status."},
    {.name = "archivedAt",
     .type = SCHEMA_TIME,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct record_view, archived_at),
     .description = "null while the file is active."},
    {.name = "userName",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct record_view, user_name),
     .description =
         "First and last name of the person who uploaded the file, as they are now; null once the person is erased."},
};

const struct schema files_record_schema = {
    .name = "FileRecord", SCHEMA_FIELDS(record_fields), .size = sizeof(struct record_view)};

static const char *file_path(struct arena *arena, struct id id)
{
    static const char folder[] = "/system/files/";
    char *path = arena_alloc(arena, sizeof folder - 1 + ID_TEXT_BYTES);
    memcpy(path, folder, sizeof folder - 1);
    id_format(id, path + sizeof folder - 1);
    return path;
}

static struct info_view *info_view(struct call *call, const struct file_record *record)
{
    struct info_view *view = arena_alloc(call->arena, sizeof *view);
    *view = (struct info_view){
        .bucket = record->bucket,
        .type = record->type,
        .organisation_id = record->organisation_id,
        .name = record->name,
        .hash = hex_encode(call->arena, record->hash, sizeof record->hash),
        .content_type = record->content_type,
        .url = file_path(call->arena, record->id),
        .user_id = record->user_id,
        .size = record->size,
    };
    return view;
}

const void *files_record_view(struct call *call, const struct file_record *record)
{
    struct record_view *view = arena_alloc(call->arena, sizeof *view);
    *view = (struct record_view){
        .id = record->id,
        .tags = record->tags,
        .info = info_view(call, record),
        .organisation_id = record->organisation_id,
        .user_id = record->user_id,
        .type = record->type,
        .status = file_status_text(record->status),
        .created_at = record->created_at,
        .updated_at = record->updated_at,
        .archived_at = record->archived_at,
        .user_name = record->user_name,
    };
    return view;
}

struct error *files_find(struct call *call, struct file_record **record_out)
{
    *record_out = call->file;
    if (call->file != NULL)
        return NULL;
    if (principal_administers(call->caller.principal, call->route->permission))
        TRY(file_find_any(call->service->database, call->arena, call->id, record_out));
    if (*record_out == NULL)
        return file_update_unknown(call->arena);
    return caller_audit_crossing(call->service, call->arena, &call->caller, (*record_out)->organisation_id, "file",
                                 call->id);
}

struct error *files_upload(struct call *call)
{
    struct file_record *records;
    size_t count;
    TRY(upload_receive(call->service, call->arena, &call->caller, call->route->permission, call->request, &records,
                       &count));
    call->result = files_record_view(call, &records[0]);
    if (count == 1)
        return NULL;
    const void **views = arena_array(call->arena, count, sizeof *views);
    for (size_t i = 0; i < count; i++)
        views[i] = files_record_view(call, &records[i]);
    call->results = views;
    call->result_count = count;
    return NULL;
}

struct error *files_admit(struct call *call)
{
    const struct request *request = call->request;
    TRY(upload_admit(call->service, call->arena, &call->caller, request->announced_length));
    if (request->source.kind != REQUEST_AUTHORISER)
        return NULL;
    return upload_bound_begin(call->service, call->arena, request);
}

struct error *files_info(struct call *call)
{
    struct file_record *record;
    TRY(files_find(call, &record));
    call->result = info_view(call, record);
    return NULL;
}

/* ---- changing ------------------------------------------------------------------------------------ */

struct error *files_archive(struct call *call)
{
    struct file_record *record;
    TRY(files_find(call, &record));
    TRY(file_update_archive(call->service, call->arena, &call->caller, record, &record));
    call->result = files_record_view(call, record);
    return NULL;
}

struct error *files_restore(struct call *call)
{
    struct file_record *record;
    TRY(files_find(call, &record));
    TRY(file_update_restore(call->service, call->arena, &call->caller, record, &record));
    call->result = files_record_view(call, record);
    return NULL;
}

struct patch_body {
    const char *name;
    struct text_list tags;
};

static const struct schema_field patch_fields[] = {
    {.name = "name",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_UNCHECKED,
     .maximum = LIMIT_FIELD_BYTES,
     .offset = offsetof(struct patch_body, name),
     .description = "At most " LIMIT_TEXT(LIMIT_FILE_NAME_BYTES) " bytes, cleaned of paths and control characters; its "
                                                                 "ending must not stand for another kind of file."},
    {.name = "tags",
     .type = SCHEMA_TEXTS,
     .flags = SCHEMA_UNIQUE,
     .maximum = LIMIT_TAGS,
     .item_maximum = LIMIT_TAG_CHARACTERS,
     .offset = offsetof(struct patch_body, tags),
     .description = "All of them: [] leaves none."},
};

const struct schema files_patch_schema = {.name = "FilePatch",
                                          .description = "At least one member.",
                                          .not_empty = true,
                                          SCHEMA_FIELDS(patch_fields),
                                          .size = sizeof(struct patch_body)};

struct error *files_validate_patch(struct call *call, struct validation *validation)
{
    const struct patch_body *body = call->body;
    if (call->body_present == 0 && validation->error == NULL)
        validation_add(validation, "required", "there is nothing to change", "%s", "");
    if (body->name != NULL)
        (void)upload_validate_name(validation, "name", body->name);
    return NULL;
}

struct error *files_patch(struct call *call)
{
    const struct patch_body *body = call->body;
    struct file_record *record;
    struct file_patch patch = {
        .name = body->name == NULL ? NULL : disposition_clean_name(call->arena, body->name),
        .tags = schema_has(&files_patch_schema, call->body_present, "tags") ? &body->tags : NULL,
    };
    TRY(files_find(call, &record));
    TRY(file_update_attributes(call->service, call->arena, &call->caller, record, &patch, &record));
    call->result = files_record_view(call, record);
    return NULL;
}
