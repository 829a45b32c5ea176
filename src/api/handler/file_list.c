/* SPDX-License-Identifier: MIT */
/* Handles the list of files. */
#include <stddef.h>
#include <string.h>

#include "api/handler/file_cursor_int.h"
#include "api/handler/files_int.h"
#include "api/handlers_int.h"
#include "api/lists_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "domain/file/file.h"
#include "http/schema.h"
#include "service/access/caller.h"
#include "service/file/upload.h"
#include "service/runtime/service.h"

struct list_query {
    const char *bucket;
    const char *type;
    const char *tag;
    const char *name;
    const char *status;
    struct id user_id;
    const char *sort;
    const char *since;
    const char *until;
    int64_t limit;
    const char *cursor;
    struct id organisation_id;
};

static const struct schema_field list_query_fields[] = {
    {.name = "bucket",
     .type = SCHEMA_CHOICE,
     .choices = UPLOAD_BUCKET_CHOICES,
     .offset = offsetof(struct list_query, bucket)},
    {.name = "type",
     .type = SCHEMA_CHOICE,
     .choices = UPLOAD_TYPE_CHOICES,
     .offset = offsetof(struct list_query, type)},
    {.name = "tag",
     .type = SCHEMA_TEXT,
     .minimum = 1,
     .maximum = LIMIT_TAG_CHARACTERS,
     .offset = offsetof(struct list_query, tag)},
    {.name = "name",
     .type = SCHEMA_TEXT,
     .minimum = 1,
     .maximum = LIMIT_FILE_NAME_BYTES,
     .offset = offsetof(struct list_query, name),
     .description = "What the name starts with."},
    {.name = "status",
     .type = SCHEMA_CHOICE,
     .choices = "active|archived|all",
     .fallback = "active",
     .offset = offsetof(struct list_query, status)},
    {.name = "userId", .type = SCHEMA_ID, .offset = offsetof(struct list_query, user_id)},
    {.name = "sort",
     .type = SCHEMA_CHOICE,
     .choices = FILE_SORTS,
     .fallback = "newest",
     .offset = offsetof(struct list_query, sort)},
    {.name = "since",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_READ_AS_TIME,
     .minimum = 20,
     .maximum = 35,
     .offset = offsetof(struct list_query, since),
     .description = "RFC 3339: files that were added then or later."},
    {.name = "until",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_READ_AS_TIME,
     .minimum = 20,
     .maximum = 35,
     .offset = offsetof(struct list_query, until),
     .description = "RFC 3339: files that were added before."},
    {LISTS_LIMIT(struct list_query)},
    {.name = "cursor",
     .type = SCHEMA_TEXT,
     .minimum = 1,
     .maximum = FILE_CURSOR_CHARACTERS,
     .offset = offsetof(struct list_query, cursor),
     .description = "nextCursor of the page before, which had the same sort and filters."},
    {.name = "organisationId",
     .type = SCHEMA_ID,
     .offset = offsetof(struct list_query, organisation_id),
     .description = "Another organisation's files; for internal staff."},
};

const struct schema files_list_query_schema = {
    .name = "FileListQuery", SCHEMA_FIELDS(list_query_fields), .size = sizeof(struct list_query)};

struct list_reply {
    struct schema_list items;
    const char *next_cursor;
    int64_t total;
};

static const struct schema_field list_fields[] = {
    {.name = "items",
     .type = SCHEMA_OBJECTS,
     .schema = &files_record_schema,
     .offset = offsetof(struct list_reply, items)},
    {.name = "nextCursor",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct list_reply, next_cursor)},
    {.name = "total",
     .type = SCHEMA_INTEGER,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct list_reply, total),
     .description =
         "How many files all pages hold together; null where only counting would tell. It is known on a first "
         "page that holds all, and with status=all where no other filter is set."},
};

const struct schema files_list_schema = {
    .name = "FileList", SCHEMA_FIELDS(list_fields), .size = sizeof(struct list_reply)};

static enum file_sort read_sort(const char *word)
{
    if (strcmp(word, "oldest") == 0)
        return FILE_OLDEST;
    if (strcmp(word, "name") == 0)
        return FILE_BY_NAME;
    return strcmp(word, "largest") == 0 ? FILE_LARGEST : FILE_NEWEST;
}

/* The schema has checked it. */
static void read_time(const char *text, int64_t *milliseconds_out)
{
    if (text != NULL)
        (void)clock_parse(text, milliseconds_out);
}

/* All of the filter but organisation and cursor. */
static void read_filter(const struct list_query *query, struct file_filter *filter)
{
    *filter = (struct file_filter){
        .bucket = query->bucket,
        .type = query->type,
        .tag = query->tag,
        .name_prefix = query->name,
        .any_status = strcmp(query->status, "all") == 0,
        .status = strcmp(query->status, "archived") == 0 ? FILE_ARCHIVED : FILE_ACTIVE,
        .user_id = query->user_id,
        .period = query->since != NULL || query->until != NULL,
        .since = INT64_MIN,
        .until = INT64_MAX,
        .sort = read_sort(query->sort),
        .limit = (unsigned)query->limit,
    };
    read_time(query->since, &filter->since);
    read_time(query->until, &filter->until);
}

/* Which cursors are good depends on the order, where that is known. */
struct error *files_validate_list(struct call *call, struct validation *validation)
{
    const struct list_query *query = call->query;
    struct file_filter filter;
    if (query->cursor == NULL || validation_has(validation, "cursor") || validation_has(validation, "sort") ||
        validation_has(validation, "status"))
        return NULL;
    read_filter(query, &filter);
    if (!file_cursor_parse(call->arena, query->cursor, &filter))
        validation_add(validation, "format", "must be nextCursor of the page before, with the same sort and filters",
                       "%s", "cursor");
    return NULL;
}

struct error *files_list(struct call *call)
{
    const struct list_query *query = call->query;
    struct file_page page;
    struct file_filter filter;
    read_filter(query, &filter);
    if (query->cursor != NULL)
        (void)file_cursor_parse(call->arena, query->cursor, &filter);
    TRY(caller_organisation(call->service, call->arena, &call->caller, call->route->permission, query->organisation_id,
                            &filter.organisation_id));
    TRY(file_list(call->service->database, call->arena, &filter, &page));
    struct list_reply *reply = arena_alloc(call->arena, sizeof *reply);
    const void **views = arena_array(call->arena, page.count, sizeof *views);
    for (size_t i = 0; i < page.count; i++)
        views[i] = files_record_view(call, &page.items[i]);
    reply->items = (struct schema_list){views, page.count};
    reply->total = page.total == FILE_TOTAL_UNKNOWN ? SCHEMA_NO_INTEGER : page.total;
    if (page.more)
        reply->next_cursor = file_cursor_format(call->arena, &filter, &page.items[page.count - 1]);
    call->result = reply;
    return NULL;
}
