/* SPDX-License-Identifier: MIT */
/* Handles the endpoints that archive or restore several files. */
#include <stddef.h>

#include "api/handler/files_int.h"
#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "domain/file/file.h"
#include "domain/permission/principal.h"
#include "http/schema.h"
#include "service/access/caller.h"
#include "service/file/file_bulk.h"

struct bulk_body {
    struct text_list ids;
};

static const struct schema_field body_fields[] = {
    {.name = "ids",
     .type = SCHEMA_TEXTS,
     .flags = SCHEMA_REQUIRED | SCHEMA_UNIQUE | SCHEMA_UNCHECKED,
     .pattern = SCHEMA_ID_PATTERN,
     .minimum = 1,
     .maximum = LIMIT_BULK_FILES,
     .item_maximum = LIMIT_FIELD_BYTES,
     .offset = offsetof(struct bulk_body, ids),
     .description = "Ids of files, each once."},
};

const struct schema files_bulk_schema = {
    .name = "FileIds", SCHEMA_FIELDS(body_fields), .size = sizeof(struct bulk_body)};

struct bulk_reply {
    struct schema_list items;
};

static const struct schema_field reply_fields[] = {
    {.name = "items",
     .type = SCHEMA_OBJECTS,
     .schema = &files_record_schema,
     .offset = offsetof(struct bulk_reply, items),
     .description = "The records after the change, in the order of the ids."},
};

const struct schema files_bulk_reply_schema = {
    .name = "FileRecords", SCHEMA_FIELDS(reply_fields), .size = sizeof(struct bulk_reply)};

struct error *files_validate_bulk(struct call *call, struct validation *validation)
{
    const struct bulk_body *body = call->body;
    for (size_t i = 0; i < body->ids.count; i++) {
        struct id id;
        const char *path = arena_format(call->arena, "ids[%zu]", i);
        if ((!id_parse(body->ids.items[i], &id) || id_is_none(id)) && !validation_has(validation, path))
            validation_add(validation, "format", "must be an id", "%s", path);
    }
    return NULL;
}

static struct error *change(struct call *call, enum file_bulk_change change)
{
    const struct bulk_body *body = call->body;
    size_t count = body->ids.count;
    struct id *ids = arena_array(call->arena, count, sizeof *ids);
    struct file_record **records;
    bool anywhere = principal_administers(call->caller.principal, call->route->permission);
    struct id organisation = anywhere ? id_none : caller_home(&call->caller);
    for (size_t i = 0; i < count; i++)
        (void)id_parse(body->ids.items[i], &ids[i]);
    TRY(file_bulk_change(call->service, call->arena, &call->caller, change, organisation, ids, count, &records));
    struct bulk_reply *reply = arena_alloc(call->arena, sizeof *reply);
    const void **views = arena_array(call->arena, count, sizeof *views);
    for (size_t i = 0; i < count; i++)
        views[i] = files_record_view(call, records[i]);
    reply->items = (struct schema_list){views, count};
    call->result = reply;
    return NULL;
}

struct error *files_archive_all(struct call *call)
{
    return change(call, FILE_BULK_ARCHIVE);
}

struct error *files_restore_all(struct call *call)
{
    return change(call, FILE_BULK_RESTORE);
}
