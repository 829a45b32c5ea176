/* SPDX-License-Identifier: MIT */
/* Endpoints of files. */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "api/route.h"
#include "base/arena.h"
#include "base/configuration.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "base/log.h"
#include "blob/blob.h"
#include "blob/content.h"
#include "codec/encoding.h"
#include "domain/audit.h"
#include "domain/file.h"
#include "domain/principal.h"
#include "api/handlers_int.h"
#include "http/disposition.h"
#include "http/range.h"
#include "http/reply.h"
#include "http/schema.h"
#include "service/service.h"
#include "service/upload.h"
#include "store/database.h"

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
    {.name = "bucket", .type = SCHEMA_CHOICE, .choices = UPLOAD_BUCKET_CHOICES, .offset = offsetof(struct info_view, bucket)},
    {.name = "type", .type = SCHEMA_CHOICE, .choices = UPLOAD_TYPE_CHOICES, .offset = offsetof(struct info_view, type)},
    {.name = "organisationId", .type = SCHEMA_ID, .offset = offsetof(struct info_view, organisation_id)},
    {.name = "name", .type = SCHEMA_TEXT, .offset = offsetof(struct info_view, name)},
    {.name = "hash", .type = SCHEMA_TEXT, .offset = offsetof(struct info_view, hash),
     .description = "SHA-256 of the bytes in lower-case hexadecimal; in quotes, the ETag of the download."},
    {.name = "contentType", .type = SCHEMA_TEXT, .offset = offsetof(struct info_view, content_type),
     .description = "What the bytes are, never what the client said."},
    {.name = "url", .type = SCHEMA_TEXT, .offset = offsetof(struct info_view, url),
     .description = "The download path, relative to the service's base URL; needs the same permission."},
    {.name = "userId", .type = SCHEMA_ID, .offset = offsetof(struct info_view, user_id)},
    {.name = "size", .type = SCHEMA_INTEGER, .offset = offsetof(struct info_view, size)},
};

const struct schema files_info_schema = {
    .name = "FileInfo", .description = "File information.", SCHEMA_FIELDS(info_fields), .size = sizeof(struct info_view)};

struct record_view {
    struct id id;
    struct text_list tags;
    const struct info_view *info;
    struct id organisation_id;
    struct id user_id;
    const char *type;
    const char *status;
};

static const struct schema_field record_fields[] = {
    {.name = "id", .type = SCHEMA_ID, .offset = offsetof(struct record_view, id)},
    {.name = "tags", .type = SCHEMA_TEXTS, .offset = offsetof(struct record_view, tags)},
    {.name = "info", .type = SCHEMA_OBJECT, .schema = &files_info_schema, .offset = offsetof(struct record_view, info)},
    {.name = "organisationId", .type = SCHEMA_ID, .offset = offsetof(struct record_view, organisation_id)},
    {.name = "userId", .type = SCHEMA_ID, .offset = offsetof(struct record_view, user_id)},
    {.name = "type", .type = SCHEMA_CHOICE, .choices = UPLOAD_TYPE_CHOICES, .offset = offsetof(struct record_view, type)},
    {.name = "status", .type = SCHEMA_CHOICE, .choices = "active|archived", .offset = offsetof(struct record_view, status)},
};

const struct schema files_record_schema = {
    .name = "FileRecord", SCHEMA_FIELDS(record_fields), .size = sizeof(struct record_view)};

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
        .url = arena_format(call->arena, "/system/files/%s", id_text(call->arena, record->id)),
        .user_id = record->user_id,
        .size = record->size,
    };
    return view;
}

static struct record_view *record_view(struct call *call, const struct file_record *record)
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
    };
    return view;
}

/*
 * The file that the path names: the row that came with the principal, or, for internal staff, any organisation's (the
 * crossing is audited). An unknown id and another organisation's are one answer.
 */
static struct error *find_file(struct call *call, struct file_record **record_out)
{
    *record_out = call->file;
    if (call->file != NULL)
        return NULL;
    if (principal_administers(call->caller.principal, call->route->permission))
        TRY(file_find_any(call->service->database, call->arena, call->id, record_out));
    if (*record_out == NULL)
        return error_entry(error_plain(call->arena, ERROR_FILE_UNKNOWN), "id", "unknown", "is not the id of a file");
    return caller_audit_crossing(call->service, call->arena, &call->caller, (*record_out)->organisation_id, "file", call->id);
}

struct error *files_upload(struct call *call)
{
    struct file_record *records;
    size_t count;
    TRY(upload_receive(call->service, call->arena, &call->caller, call->request, &records, &count));
    call->result = record_view(call, &records[0]);
    if (count == 1)
        return NULL;
    const void **views = arena_array(call->arena, count, sizeof *views);
    for (size_t i = 0; i < count; i++)
        views[i] = record_view(call, &records[i]);
    call->results = views;
    call->result_count = count;
    return NULL;
}

struct error *files_info(struct call *call)
{
    struct file_record *record;
    TRY(find_file(call, &record));
    call->result = info_view(call, record);
    return NULL;
}

/* An archiving on its way through the transaction: the row and its audit entry, both or neither. */
struct archiving {
    struct call *call;
    const struct file_record *record;
    enum file_outcome outcome;
};

static struct error *archive(struct database *database, struct arena *arena, void *context)
{
    struct archiving *archiving = context;
    const struct file_record *record = archiving->record;
    TRY(file_archive(database, arena, record->organisation_id, record->id, &archiving->outcome));
    if (archiving->outcome != FILE_CHANGED)
        return NULL;
    struct audit_entry entry = {.action = "file.archive",
                                .organisation_id = record->organisation_id,
                                .target_type = "file",
                                .target_id = id_text(arena, record->id)};
    return caller_audit(archiving->call->service, arena, &archiving->call->caller, &entry);
}

struct error *files_archive(struct call *call)
{
    struct file_record *record;
    TRY(find_file(call, &record));
    struct archiving archiving = {.call = call, .record = record};
    TRY(database_transaction(call->service->database, call->arena, archive, &archiving, NULL));
    if (archiving.outcome == FILE_ABSENT)
        return error_entry(error_plain(call->arena, ERROR_FILE_UNKNOWN), "id", "unknown", "is not the id of a file");
    if (archiving.outcome != FILE_CHANGED)
        return error_plain(call->arena, ERROR_FILE_ARCHIVED);
    record->status = FILE_ARCHIVED;
    call->result = record_view(call, record);
    return NULL;
}

/* ---- download ------------------------------------------------------------------------------------ */

struct download_query {
    bool download;
};

static const struct schema_field download_query_fields[] = {
    {.name = "download", .type = SCHEMA_BOOLEAN, .fallback = "false", .offset = offsetof(struct download_query, download),
     .description = "1 or true: an attachment, whatever the type."},
};

const struct schema files_download_query_schema = {
    .name = "DownloadQuery", SCHEMA_FIELDS(download_query_fields), .size = sizeof(struct download_query)};

static void set_file_headers(struct call *call, const struct file_record *record, const char *etag)
{
    const struct download_query *query = call->query;
    struct reply *reply = call->reply;
    bool show_inline = content_inline(record->content_type) && !query->download;
    /* No charset: the bytes are as they are, and nobody said what they are in. */
    reply_set_header(reply, "Content-Type", record->content_type);
    reply_set_header(reply, "Content-Disposition", disposition_format(call->arena, show_inline, record->name));
    reply_set_header(reply, "Content-Security-Policy", "sandbox; default-src 'none'");
    reply_set_header(reply, "Cross-Origin-Resource-Policy", "same-origin");
    reply_set_header(reply, "Cache-Control", "private");
    reply_set_header(reply, "ETag", etag);
}

/* The file behind the row, checked against it: a row whose bytes are gone or cut must not look like a download. */
static struct error *open_bytes(struct call *call, const struct file_record *record, int *fd_out)
{
    uint64_t size = 0;
    TRY(blob_open(call->service->blobs, call->arena, record->id, fd_out, &size));
    if (size == (uint64_t)record->size)
        return NULL;
    (void)close(*fd_out);
    return error_new(call->arena, ERROR_STORAGE_UNAVAILABLE, "the bytes of file %s are not of the recorded size",
                     id_text(call->arena, record->id));
}

static void close_fd(void *argument)
{
    (void)close(*(int *)argument);
}

/* The worker itself sends the bytes: the fall-back for web servers without X-Accel-Redirect and X-Sendfile. */
static void stream(struct call *call, const struct range *range, int fd)
{
    struct reply *reply = call->reply;
    int *held = arena_alloc(call->arena, sizeof *held);
    *held = fd;
    arena_defer(call->arena, close_fd, held);
    reply->stream_fd = fd;
    reply->stream_first = (int64_t)range->first;
    reply->stream_length = (int64_t)(range->last - range->first + 1);
    reply_set_header(reply, "Accept-Ranges", "bytes");
    reply_format_header(reply, "Content-Length", "%lld", (long long)reply->stream_length);
}

static void hand_over(struct call *call, const struct file_record *record, const char *header, const char *prefix, int fd)
{
    (void)close(fd);
    reply_format_header(call->reply, header, "%s%s", prefix, blob_path(call->arena, record->id));
}

/*
 * Whether the web server can be left to cut the range. It judges If-Match and If-Range by entity tags of its own,
 * If-Unmodified-Since by the time of the blob, which is none of the file's, and ranges that are to be ignored in ways of
 * its own: with those the worker sends what it has decided itself.
 */
static bool server_can_send(const struct call *call, const struct range_conditions *conditions, enum range_answer answer)
{
    return conditions->if_match == NULL && conditions->if_range == NULL &&
           request_header(call->request, "IF_UNMODIFIED_SINCE") == NULL &&
           (conditions->range == NULL || (answer == RANGE_ANSWER_PART && range_is_plain(conditions->range)));
}

static void count_bytes(const struct call *call, const struct range *sent, bool by_server)
{
    if (call->request->method != METHOD_HEAD)
        metrics_add(by_server ? METRIC_DOWNLOAD_BYTES_SERVER : METRIC_DOWNLOAD_BYTES_WORKER, sent->last - sent->first + 1);
}

/* Sends the whole file or a range of it, through the web server where that gives the right answer. */
static struct error *send_bytes(struct call *call, const struct file_record *record,
                                const struct range_conditions *conditions, enum range_answer answer,
                                const struct range *range)
{
    const char *delivery = call->service->configuration->files.delivery;
    const struct range whole = {0, (uint64_t)record->size - 1};
    int fd;
    TRY(open_bytes(call, record, &fd));
    if (!server_can_send(call, conditions, answer))
        delivery = "stream";
    count_bytes(call, answer == RANGE_ANSWER_PART ? range : &whole, strcmp(delivery, "stream") != 0);
    if (strcmp(delivery, "accel") == 0) {
        hand_over(call, record, "X-Accel-Redirect", call->service->configuration->files.accel_prefix, fd);
    } else if (strcmp(delivery, "sendfile") == 0) {
        hand_over(call, record, "X-Sendfile", arena_format(call->arena, "%s/", blob_root(call->service->blobs)), fd);
    } else if (answer == RANGE_ANSWER_PART) {
        call->reply->status = 206;
        reply_set_header(call->reply, "Content-Range", range_format(call->arena, range, (uint64_t)record->size));
        stream(call, range, fd);
    } else {
        stream(call, &whole, fd);
    }
    return NULL;
}

struct error *files_download(struct call *call)
{
    struct file_record *record;
    struct range range;
    TRY(find_file(call, &record));
    if (record->status != FILE_ACTIVE)
        return error_plain(call->arena, ERROR_FILE_ARCHIVED);
    const struct range_conditions conditions = {
        .if_match = request_header(call->request, "IF_MATCH"),
        .if_none_match = request_header(call->request, "IF_NONE_MATCH"),
        .if_range = request_header(call->request, "IF_RANGE"),
        .range = request_header(call->request, "RANGE"),
    };
    const char *etag = arena_format(call->arena, "\"%s\"", hex_encode(call->arena, record->hash, sizeof record->hash));
    bool get = call->request->method == METHOD_GET;
    enum range_answer answer = range_decide(&conditions, get, etag, (uint64_t)record->size, &range);
    if (answer == RANGE_ANSWER_FAILED)
        return error_plain(call->arena, ERROR_PRECONDITION);
    if (answer == RANGE_ANSWER_UNSATISFIABLE) {
        reply_set_header(call->reply, "Content-Range", range_format(call->arena, NULL, (uint64_t)record->size));
        return error_plain(call->arena, ERROR_RANGE);
    }
    set_file_headers(call, record, etag);
    if (answer != RANGE_ANSWER_NOT_MODIFIED)
        return send_bytes(call, record, &conditions, answer, &range);
    call->reply->status = 304;
    call->reply->no_body = true;
    return NULL;
}

/* ---- list ---------------------------------------------------------------------------------------- */

struct list_query {
    const char *bucket;
    const char *type;
    const char *tag;
    const char *name;
    const char *status;
    struct id user_id;
    int64_t limit;
    struct id cursor;
    struct id organisation_id;
};

static const struct schema_field list_query_fields[] = {
    {.name = "bucket", .type = SCHEMA_CHOICE, .choices = UPLOAD_BUCKET_CHOICES, .offset = offsetof(struct list_query, bucket)},
    {.name = "type", .type = SCHEMA_CHOICE, .choices = UPLOAD_TYPE_CHOICES, .offset = offsetof(struct list_query, type)},
    {.name = "tag", .type = SCHEMA_TEXT, .minimum = 1, .maximum = LIMIT_TAG_CHARACTERS, .offset = offsetof(struct list_query, tag)},
    {.name = "name", .type = SCHEMA_TEXT, .minimum = 1, .maximum = LIMIT_FILE_NAME_BYTES, .offset = offsetof(struct list_query, name),
     .description = "What the name starts with."},
    {.name = "status", .type = SCHEMA_CHOICE, .choices = "active|archived|all", .fallback = "active",
     .offset = offsetof(struct list_query, status)},
    {.name = "userId", .type = SCHEMA_ID, .offset = offsetof(struct list_query, user_id)},
    {.name = "limit", .type = SCHEMA_INTEGER, .minimum = 1, .maximum = LIMIT_PAGE_MAX, .fallback = "25",
     .offset = offsetof(struct list_query, limit)},
    {.name = "cursor", .type = SCHEMA_ID, .offset = offsetof(struct list_query, cursor),
     .description = "nextCursor of the page before."},
    {.name = "organisationId", .type = SCHEMA_ID, .offset = offsetof(struct list_query, organisation_id),
     .description = "Another organisation's files; for internal staff."},
};

const struct schema files_list_query_schema = {
    .name = "FileListQuery", SCHEMA_FIELDS(list_query_fields), .size = sizeof(struct list_query)};

struct list_reply {
    struct schema_list items;
    struct id next_cursor;
};

static const struct schema_field list_fields[] = {
    {.name = "items", .type = SCHEMA_OBJECTS, .schema = &files_record_schema, .offset = offsetof(struct list_reply, items)},
    {.name = "nextCursor", .type = SCHEMA_ID, .flags = SCHEMA_NULLABLE, .offset = offsetof(struct list_reply, next_cursor)},
};

const struct schema files_list_schema = {.name = "FileList", SCHEMA_FIELDS(list_fields), .size = sizeof(struct list_reply)};

struct error *files_list(struct call *call)
{
    const struct list_query *query = call->query;
    struct file_page page;
    struct file_filter filter = {
        .bucket = query->bucket,
        .type = query->type,
        .tag = query->tag,
        .name_prefix = query->name,
        .any_status = strcmp(query->status, "all") == 0,
        .status = strcmp(query->status, "archived") == 0 ? FILE_ARCHIVED : FILE_ACTIVE,
        .user_id = query->user_id,
        .before = query->cursor,
        .limit = (unsigned)query->limit,
    };
    TRY(caller_organisation(call->service, call->arena, &call->caller, call->route->permission, query->organisation_id,
                            &filter.organisation_id));
    TRY(file_list(call->service->database, call->arena, &filter, &page));
    struct list_reply *reply = arena_alloc(call->arena, sizeof *reply);
    const void **views = arena_array(call->arena, page.count, sizeof *views);
    for (size_t i = 0; i < page.count; i++)
        views[i] = record_view(call, &page.items[i]);
    reply->items = (struct schema_list){views, page.count};
    if (page.more)
        reply->next_cursor = page.items[page.count - 1].id;
    call->result = reply;
    return NULL;
}
