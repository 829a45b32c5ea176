/* SPDX-License-Identifier: MIT */
/* Handles downloads, with an access token or by a signed link. */
#include <stddef.h>
#include <string.h>

#include "api/handler/files_int.h"
#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/configuration.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "blob/blob.h"
#include "blob/content.h"
#include "codec/encoding.h"
#include "domain/file/file.h"
#include "http/disposition.h"
#include "http/range.h"
#include "http/reply.h"
#include "http/schema.h"
#include "service/access/signed_link.h"
#include "service/file/download_audit.h"
#include "service/runtime/service.h"

struct download_query {
    bool download;
};

static const struct schema_field download_query_fields[] = {
    {.name = "download",
     .type = SCHEMA_BOOLEAN,
     .fallback = "false",
     .offset = offsetof(struct download_query, download),
     .description = "1 or true: an attachment, whatever the type."},
};

const struct schema downloads_query_schema = {
    .name = "DownloadQuery", SCHEMA_FIELDS(download_query_fields), .size = sizeof(struct download_query)};

static const struct schema_field header_fields[] = {
    {.name = "Content-Disposition",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .description = "inline or attachment, with the name of the file."},
};

const struct schema downloads_headers_schema = {.name = "DownloadHeaders", SCHEMA_FIELDS(header_fields), .size = 1};

static void set_file_headers(struct call *call, const struct file_record *record, const char *etag)
{
    const struct download_query *query = call->query;
    struct reply *reply = call->reply;
    bool show_inline = content_inline(record->content_type) && !query->download;
    /* No charset: nobody has said which one the bytes have. */
    reply_set_header(reply, "Content-Type", record->content_type);
    reply_set_header(reply, "Content-Disposition", disposition_format(call->arena, show_inline, record->name));
    reply_set_header(reply, "Content-Security-Policy", "sandbox; default-src 'none'");
    reply_set_header(reply, "Cross-Origin-Resource-Policy", "same-origin");
    reply_set_header(reply, "Cache-Control", "private");
    reply_set_header(reply, "ETag", etag);
}

/* Opens the bytes of the row and checks their size: missing or cut bytes must not look like a download. */
static struct error *open_bytes(struct call *call, const struct file_record *record, struct blob_reader **bytes_out)
{
    TRY(blob_open(call->service->blobs, call->arena, record->id, bytes_out));
    if (blob_reader_size(*bytes_out) == (uint64_t)record->size)
        return NULL;
    blob_close(*bytes_out);
    return error_new(call->arena, ERROR_STORAGE_UNAVAILABLE, "the bytes of file %s are not of the recorded size",
                     id_text(call->arena, record->id));
}

static bool read_bytes(void *context, uint64_t offset, void *bytes, size_t length, size_t *got_out)
{
    return blob_read(context, offset, bytes, length, got_out) == NULL;
}

/* Has the worker send the bytes itself, for web servers without X-Accel-Redirect and X-Sendfile. */
static void stream(struct call *call, const struct range *range, struct blob_reader *bytes)
{
    struct reply *reply = call->reply;
    reply->stream = read_bytes;
    reply->stream_context = bytes;
    reply->stream_first = (int64_t)range->first;
    reply->stream_length = (int64_t)(range->last - range->first + 1);
    reply_set_header(reply, "Accept-Ranges", "bytes");
    reply_format_header(reply, "Content-Length", "%lld", (long long)reply->stream_length);
}

/* Has the web server fetch the bytes; `part` NULL: all of them, or what it cuts itself from a file. */
static struct error *hand_over(struct call *call, const struct file_record *record, const struct range *part)
{
    struct blob_handover handover;
    struct blob_store *store = call->service->blobs;
    const struct configuration *configuration = call->service->configuration;
    const struct blob_part wanted = {part == NULL ? 0 : part->first, part == NULL ? 0 : part->last};
    const char *method = call->request->method == METHOD_HEAD ? "HEAD" : "GET";
    TRY(blob_hand_over(store, call->arena, record->id, method, part == NULL ? NULL : &wanted, &handover));
    for (size_t i = 0; i < handover.header_count; i++)
        reply_set_header(call->reply, handover.headers[i].name, handover.headers[i].value);
    if (strcmp(configuration->files.delivery, "sendfile") == 0)
        reply_format_header(call->reply, "X-Sendfile", "%s/%s", blob_root(store), handover.path);
    else
        reply_format_header(call->reply, "X-Accel-Redirect", "%s%s", configuration->files.accel_prefix, handover.path);
    return NULL;
}

/*
 * Whether the web server can cut the range. It compares If-Match and If-Range with entity tags of its own, and
 * If-Unmodified-Since with the time of the blob, which is not the file's. It also ignores ranges by rules of its own.
 * In these cases the worker sends what it has decided. From a store without files the web server fetches the part that
 * the worker has decided on, whatever the client has asked for.
 */
static bool server_can_send(const struct call *call, const struct range_conditions *conditions,
                            enum range_answer answer)
{
    if (conditions->if_match != NULL || request_header(call->request, "IF_UNMODIFIED_SINCE") != NULL)
        return false;
    if (!blob_has_files(call->service->blobs))
        return strcmp(call->service->configuration->files.delivery, "accel") == 0;
    return conditions->if_range == NULL &&
           (conditions->range == NULL || (answer == RANGE_ANSWER_PART && range_is_plain(conditions->range)));
}

static void count_bytes(const struct call *call, const struct range *sent, bool by_server)
{
    if (call->request->method != METHOD_HEAD)
        metrics_add(by_server ? METRIC_DOWNLOAD_BYTES_SERVER : METRIC_DOWNLOAD_BYTES_WORKER,
                    sent->last - sent->first + 1);
}

/* Reads ahead: a store that fails now is told with an error, in place of a reply that breaks off. */
static struct error *peek(const struct call *call, struct blob_reader *bytes, uint64_t first)
{
    char byte;
    size_t got;
    return call->request->method == METHOD_HEAD ? NULL : blob_read(bytes, first, &byte, 1, &got);
}

/* Sends the file or a range of it, through the web server where that gives the right reply. */
static struct error *send_bytes(struct call *call, const struct file_record *record,
                                const struct range_conditions *conditions, enum range_answer answer,
                                const struct range *range)
{
    const char *delivery = call->service->configuration->files.delivery;
    const struct range whole = {0, (uint64_t)record->size - 1};
    struct blob_reader *bytes;
    if (record->damaged)
        return error_new(call->arena, ERROR_STORAGE_UNAVAILABLE, "the bytes of file %s are damaged",
                         id_text(call->arena, record->id));
    TRY(open_bytes(call, record, &bytes));
    if (!server_can_send(call, conditions, answer))
        delivery = "stream";
    bool by_server = strcmp(delivery, "stream") != 0;
    if (!by_server)
        TRY(peek(call, bytes, answer == RANGE_ANSWER_PART ? range->first : 0));
    count_bytes(call, answer == RANGE_ANSWER_PART ? range : &whole, by_server);
    if (by_server) {
        blob_close(bytes);
        return hand_over(call, record, answer == RANGE_ANSWER_PART ? range : NULL);
    }
    if (answer == RANGE_ANSWER_PART) {
        call->reply->status = 206;
        reply_set_header(call->reply, "Content-Range", range_format(call->arena, range, (uint64_t)record->size));
        stream(call, range, bytes);
    } else {
        stream(call, &whole, bytes);
    }
    return NULL;
}

/* Adds the row of the download to the audit trail; `part` NULL: all of the file is sent. */
static struct error *audit(struct call *call, const struct file_record *record, const struct range *part)
{
    const struct download download = {
        .file = record,
        .link_maker = call->route->names_link ? &call->link_maker : NULL,
        .link = call->id,
        .first = part == NULL ? -1 : (int64_t)part->first,
        .last = part == NULL ? -1 : (int64_t)part->last,
    };
    return download_audit(call->service, call->arena, &call->caller, &download);
}

/* Answers as the conditions of the request decide. *begins_out: the reply has the bytes from the first one on. */
static struct error *answer(struct call *call, const struct file_record *record, bool *begins_out)
{
    struct range range;
    const struct range_conditions conditions = {
        .if_match = request_header(call->request, "IF_MATCH"),
        .if_none_match = request_header(call->request, "IF_NONE_MATCH"),
        .if_range = request_header(call->request, "IF_RANGE"),
        .range = request_header(call->request, "RANGE"),
    };
    const char *etag = arena_format(call->arena, "\"%s\"", hex_encode(call->arena, record->hash, sizeof record->hash));
    bool get = call->request->method == METHOD_GET;
    enum range_answer decision = range_decide(&conditions, get, etag, (uint64_t)record->size, &range);
    *begins_out = get && (decision == RANGE_ANSWER_WHOLE || (decision == RANGE_ANSWER_PART && range.first == 0));
    if (decision == RANGE_ANSWER_FAILED)
        return error_plain(call->arena, ERROR_PRECONDITION);
    if (decision == RANGE_ANSWER_UNSATISFIABLE) {
        reply_set_header(call->reply, "Content-Range", range_format(call->arena, NULL, (uint64_t)record->size));
        return error_plain(call->arena, ERROR_RANGE);
    }
    set_file_headers(call, record, etag);
    if (decision == RANGE_ANSWER_NOT_MODIFIED) {
        call->reply->status = 304;
        call->reply->no_body = true;
        return NULL;
    }
    TRY(send_bytes(call, record, &conditions, decision, &range));
    return get ? audit(call, record, decision == RANGE_ANSWER_PART ? &range : NULL) : NULL;
}

struct error *downloads_file(struct call *call)
{
    struct file_record *record;
    bool begins;
    TRY(files_find(call, &record));
    if (record->status != FILE_ACTIVE)
        return error_plain(call->arena, ERROR_FILE_ARCHIVED);
    return answer(call, record, &begins);
}

/*
 * Dispatch has opened the link, which stands in for token and permission. A player that fetches a film in many ranges
 * uses the link once.
 */
struct error *downloads_link(struct call *call)
{
    bool begins;
    TRY(answer(call, call->file, &begins));
    if (begins)
        signed_link_count(call->service, call->arena, call->id);
    return NULL;
}
