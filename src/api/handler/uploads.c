/* SPDX-License-Identifier: MIT */
/* Handles resumable uploads, the protocol tus 1.0.0: its headers in, its statuses and headers out. */
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "api/handler/files_int.h"
#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/configuration.h"
#include "base/limits.h"
#include "http/reply.h"
#include "http/schema.h"
#include "http/upload_header.h"
#include "service/file/resumable.h"
#include "service/file/upload_bound.h"
#include "service/runtime/service.h"

#define UPLOADS_PATH "/system/uploads"
#define TUS_VERSION "1.0.0"
#define OFFSET_TYPE "application/offset+octet-stream"
#define DATE_BYTES 64

/* For the OpenAPI document; the handlers read the headers themselves. */
#define VERSION_FIELD                                                                                                  \
    {.name = "Tus-Resumable",                                                                                          \
     .type = SCHEMA_CHOICE,                                                                                            \
     .flags = SCHEMA_REQUIRED,                                                                                         \
     .choices = TUS_VERSION,                                                                                           \
     .description = "The version of the protocol: " TUS_VERSION "."}
#define METADATA_FIELD                                                                                                 \
    {.name = "Upload-Metadata",                                                                                        \
     .type = SCHEMA_TEXT,                                                                                              \
     .flags = SCHEMA_REQUIRED,                                                                                         \
     .maximum = UPLOAD_METADATA_BYTES,                                                                                 \
     .description = "Pairs of a key and a value in base64: bucket, type and filename; name, tags (one a line) and "    \
                    "filetype if need be."}
#define CHECKSUM_FIELD                                                                                                 \
    {.name = "Upload-Checksum",                                                                                        \
     .type = SCHEMA_TEXT,                                                                                              \
     .maximum = 64,                                                                                                    \
     .pattern = "^sha256 [A-Za-z0-9+/]{43}=$",                                                                         \
     .description = "sha256 and the SHA-256 of the body in base64. A body that does not fit does not count."}
#define LENGTH_FIELD(text)                                                                                             \
    {.name = "Upload-Length", .type = SCHEMA_INTEGER, .minimum = 1, .maximum = INT64_MAX, .description = (text)}

static const struct schema_field head_fields[] = {
    VERSION_FIELD,
};
static const struct schema_field create_fields[] = {
    VERSION_FIELD,
    LENGTH_FIELD("Bytes of the file; or Upload-Defer-Length."),
    {.name = "Upload-Defer-Length",
     .type = SCHEMA_INTEGER,
     .minimum = 1,
     .maximum = 1,
     .description = "1: a later request says the length."},
    METADATA_FIELD,
    CHECKSUM_FIELD,
};
static const struct schema_field patch_fields[] = {
    VERSION_FIELD,
    {.name = "Upload-Offset",
     .type = SCHEMA_INTEGER,
     .flags = SCHEMA_REQUIRED,
     .maximum = INT64_MAX,
     .description = "Where the body begins: as many bytes as HEAD has told."},
    LENGTH_FIELD("Bytes of the file, where they were not said before."),
    CHECKSUM_FIELD,
};
const struct schema uploads_head_schema = {.name = "UploadHeaders", SCHEMA_FIELDS(head_fields), .size = 1};
const struct schema uploads_create_schema = {.name = "UploadCreateHeaders", SCHEMA_FIELDS(create_fields), .size = 1};
const struct schema uploads_patch_schema = {.name = "UploadPatchHeaders", SCHEMA_FIELDS(patch_fields), .size = 1};

#define OFFSET_HEADER                                                                                                  \
    {.name = "Upload-Offset",                                                                                          \
     .type = SCHEMA_INTEGER,                                                                                           \
     .flags = SCHEMA_REQUIRED,                                                                                         \
     .maximum = INT64_MAX,                                                                                             \
     .description = "How many bytes are safe: the next piece begins there."}
#define EXPIRES_HEADER                                                                                                 \
    {.name = "Upload-Expires",                                                                                         \
     .type = SCHEMA_TEXT,                                                                                              \
     .description = "When an upload that is not whole ends, as a date of HTTP."}
#define FILE_ID_HEADER {.name = "Upload-File-Id", .type = SCHEMA_ID, .description = "The file, once it is whole."}

static const struct schema_field options_answer_fields[] = {
    VERSION_FIELD,
    {.name = "Tus-Version", .type = SCHEMA_CHOICE, .flags = SCHEMA_REQUIRED, .choices = TUS_VERSION},
    {.name = "Tus-Extension", .type = SCHEMA_TEXT, .flags = SCHEMA_REQUIRED, .description = "Separated by commas."},
    {.name = "Tus-Checksum-Algorithm", .type = SCHEMA_CHOICE, .flags = SCHEMA_REQUIRED, .choices = "sha256"},
    {.name = "Tus-Max-Size",
     .type = SCHEMA_INTEGER,
     .flags = SCHEMA_REQUIRED,
     .minimum = 1,
     .maximum = INT64_MAX,
     .description = "The bytes of the largest file."},
};
static const struct schema_field create_answer_fields[] = {
    VERSION_FIELD,
    {.name = "Location",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .description = "The address of the upload. Its last part is the id."},
    OFFSET_HEADER,
    EXPIRES_HEADER,
    FILE_ID_HEADER,
};
static const struct schema_field head_answer_fields[] = {
    VERSION_FIELD,
    OFFSET_HEADER,
    {.name = "Upload-Length",
     .type = SCHEMA_INTEGER,
     .minimum = 1,
     .maximum = INT64_MAX,
     .description = "Bytes of the file; or Upload-Defer-Length."},
    {.name = "Upload-Defer-Length",
     .type = SCHEMA_INTEGER,
     .minimum = 1,
     .maximum = 1,
     .description = "1: the length is not said yet."},
    {.name = "Upload-Metadata", .type = SCHEMA_TEXT, .description = "As it came when the upload began."},
    EXPIRES_HEADER,
    FILE_ID_HEADER,
};
static const struct schema_field patch_answer_fields[] = {
    VERSION_FIELD,
    OFFSET_HEADER,
    EXPIRES_HEADER,
    FILE_ID_HEADER,
};
const struct schema uploads_options_answer_schema = {
    .name = "UploadOptionsAnswer", SCHEMA_FIELDS(options_answer_fields), .size = 1};
const struct schema uploads_create_answer_schema = {
    .name = "UploadCreateAnswer", SCHEMA_FIELDS(create_answer_fields), .size = 1};
const struct schema uploads_head_answer_schema = {
    .name = "UploadHeadAnswer", SCHEMA_FIELDS(head_answer_fields), .size = 1};
const struct schema uploads_patch_answer_schema = {
    .name = "UploadPatchAnswer", SCHEMA_FIELDS(patch_answer_fields), .size = 1};
/* Every answer names the version. */
const struct schema uploads_delete_answer_schema = {.name = "UploadAnswer", SCHEMA_FIELDS(head_fields), .size = 1};

static bool owns(const struct request *request)
{
    static const char path[] = UPLOADS_PATH;
    size_t length = sizeof path - 1;
    return request->path != NULL && strncmp(request->path, path, length) == 0 &&
           (request->path[length] == '\0' || request->path[length] == '/');
}

void uploads_override_method(struct request *request)
{
    const char *wanted = request_header(request, "X_HTTP_METHOD_OVERRIDE");
    static const enum method methods[] = {METHOD_HEAD, METHOD_PATCH, METHOD_DELETE};
    if (wanted == NULL || request->method != METHOD_POST || !owns(request))
        return;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(wanted, request_method_text(methods[i])) == 0)
            request->method = methods[i];
}

void uploads_set_headers(struct call *call)
{
    struct reply *reply = call->reply;
    bool asked = call->request->method == METHOD_OPTIONS;
    if (!owns(call->request))
        return;
    reply_set_header(reply, "Tus-Resumable", TUS_VERSION);
    if (reply->status == 412 || asked)
        reply_set_header(reply, "Tus-Version", TUS_VERSION);
    if (asked) {
        reply_set_header(reply, "Tus-Extension",
                         "creation,creation-with-upload,creation-defer-length,expiration,checksum,termination");
        reply_set_header(reply, "Tus-Checksum-Algorithm", "sha256");
        reply_format_header(reply, "Tus-Max-Size", "%lld",
                            (long long)call->service->configuration->service.max_file_bytes);
    }
    const char *exposed = reply_find_header(reply, "Access-Control-Expose-Headers");
    if (exposed != NULL)
        reply_format_header(reply, "Access-Control-Expose-Headers",
                            "%s, Location, Tus-Resumable, Tus-Version, Tus-Max-Size, Tus-Extension, "
                            "Tus-Checksum-Algorithm, Upload-Offset, Upload-Length, Upload-Defer-Length, "
                            "Upload-Metadata, Upload-Expires, Upload-File-Id",
                            exposed);
    const char *allowed = reply_find_header(reply, "Access-Control-Allow-Headers");
    if (allowed != NULL)
        reply_format_header(reply, "Access-Control-Allow-Headers",
                            "%s, Tus-Resumable, Upload-Length, Upload-Defer-Length, Upload-Offset, Upload-Metadata, "
                            "Upload-Checksum, X-HTTP-Method-Override, X-Requested-With",
                            allowed);
}

/* ---- headers in ---------------------------------------------------------------------------------- */

struct error *uploads_check_version(struct call *call)
{
    const char *version = request_header(call->request, "TUS_RESUMABLE");
    if (version == NULL || strcmp(version, TUS_VERSION) != 0)
        return error_plain(call->arena, ERROR_UPLOAD_VERSION);
    return NULL;
}

/* Reads a number from a header; `absent` when it is not there. */
static void read_number(const struct call *call, struct validation *validation, const char *cgi, const char *name,
                        int64_t absent, int64_t *number_out)
{
    const char *text = request_header(call->request, cgi);
    *number_out = absent;
    if (text != NULL && (request_header_repeated(call->request, cgi) || !upload_number_read(text, number_out)))
        validation_add(validation, "format", "must be one whole number of 0 or more", "%s", name);
}

/* A client that sends a file in several uploads at once would find each of them stored for itself. */
static struct error *refuse_concatenation(const struct call *call)
{
    if (request_header(call->request, "UPLOAD_CONCAT") == NULL)
        return NULL;
    return error_entry(error_plain(call->arena, ERROR_REQUEST_INVALID), "Upload-Concat", "unexpected",
                       "is of an extension that is not served: send the file in one upload");
}

static void read_length(const struct call *call, struct validation *validation, int64_t *length_out)
{
    int64_t deferred;
    bool said = request_header(call->request, "UPLOAD_LENGTH") != NULL;
    bool later = request_header(call->request, "UPLOAD_DEFER_LENGTH") != NULL;
    read_number(call, validation, "UPLOAD_LENGTH", "Upload-Length", FILE_UPLOAD_LENGTH_UNKNOWN, length_out);
    read_number(call, validation, "UPLOAD_DEFER_LENGTH", "Upload-Defer-Length", 1, &deferred);
    if (!said && !later)
        validation_add(validation, "required", "is missing, and Upload-Defer-Length is, too", "Upload-Length");
    else if (validation_has(validation, "Upload-Defer-Length"))
        return;
    else if (deferred != 1)
        validation_add(validation, "choice", "must be 1", "Upload-Defer-Length");
    else if (said && later)
        validation_add(validation, "unexpected", "must not stand beside Upload-Length", "Upload-Defer-Length");
}

static void read_checksum(const struct call *call, struct validation *validation, struct resumable_piece *piece)
{
    const char *text = request_header(call->request, "UPLOAD_CHECKSUM");
    if (text == NULL)
        return;
    uint8_t *digest = arena_alloc(call->arena, DIGEST_BYTES);
    piece->checksum = digest;
    switch (upload_checksum_read(call->arena, text, digest)) {
    case UPLOAD_CHECKSUM_UNKNOWN_ALGORITHM:
        validation_add(validation, "choice", "names an algorithm other than sha256", "Upload-Checksum");
        break;
    case UPLOAD_CHECKSUM_MALFORMED:
        validation_add(validation, "format", "must be sha256, a blank and a digest in base64", "Upload-Checksum");
        break;
    case UPLOAD_CHECKSUM_GOOD:
        break;
    }
}

/* ---- headers out --------------------------------------------------------------------------------- */

static void set_expiry(struct call *call, const struct file_upload *upload)
{
    char text[DATE_BYTES];
    struct tm parts;
    time_t seconds = (time_t)(upload->expires / 1000);
    if (gmtime_r(&seconds, &parts) != NULL && strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0)
        reply_set_header(call->reply, "Upload-Expires", text);
}

static void set_progress(struct call *call, const struct file_upload *upload)
{
    reply_format_header(call->reply, "Upload-Offset", "%lld", (long long)upload->received);
    if (!id_is_none(upload->file_id))
        reply_set_header(call->reply, "Upload-File-Id", id_text(call->arena, upload->file_id));
    else
        set_expiry(call, upload);
}

/* ---- the requests -------------------------------------------------------------------------------- */

/* The room was taken when the upload began. A client that can only POST asks for HEAD and DELETE, too. */
struct error *uploads_admit(struct call *call)
{
    if (call->request->source.kind != REQUEST_AUTHORISER || call->route->body_kind == BODY_NONE)
        return NULL;
    return upload_bound_begin(call->service, call->arena, call->request);
}

struct error *uploads_options(struct call *call)
{
    call->reply->status = 204;
    return NULL;
}

static struct error *receive(struct call *call, struct resumable_piece *piece, struct id id,
                             struct file_upload **upload_out, struct file_record **record_out)
{
    piece->request = call->request;
    piece->permission = call->route->permission;
    return resumable_receive(call->service, call->arena, &call->caller, id, piece, upload_out, record_out);
}

/* The protocol answers without a body. A client that names JSON is given the record when the file is whole. */
static void give_record(struct call *call, const struct file_record *record)
{
    const char *accept = request_header(call->request, "ACCEPT");
    if (record == NULL || accept == NULL || strstr(accept, "application/json") == NULL)
        return;
    call->reply->status = 200;
    call->result = files_record_view(call, record);
}

struct error *uploads_create(struct call *call)
{
    struct resumable_order order = {.metadata = request_header(call->request, "UPLOAD_METADATA")};
    struct resumable_piece piece = {.length = FILE_UPLOAD_LENGTH_UNKNOWN};
    struct file_record *record = NULL;
    struct file_upload *upload;
    struct validation validation;
    TRY(refuse_concatenation(call));
    bool with_bytes = call->request->content_length != 0;
    if (with_bytes)
        TRY(request_require_type(call->request, OFFSET_TYPE));
    validation_init(&validation, call->arena);
    read_length(call, &validation, &order.length);
    if (with_bytes)
        read_checksum(call, &validation, &piece);
    order.fault = validation.error;
    TRY(resumable_create(call->service, call->arena, &call->caller, &order, &upload));
    struct id id = upload->id;
    if (with_bytes) {
        /* Nobody knows the address of the upload yet, so it ends with the request. */
        struct error *error = receive(call, &piece, id, &upload, &record);
        if (error != NULL) {
            (void)resumable_terminate(call->service, call->arena, &call->caller, id);
            return error;
        }
    }
    call->reply->status = 201;
    reply_format_header(call->reply, "Location", "%s" UPLOADS_PATH "/%s",
                        call->service->configuration->service.base_url, id_text(call->arena, id));
    set_progress(call, upload);
    give_record(call, record);
    return NULL;
}

struct error *uploads_head(struct call *call)
{
    struct file_upload *upload;
    TRY(resumable_find(call->service, call->arena, &call->caller, call->id, &upload));
    if (upload->length == FILE_UPLOAD_LENGTH_UNKNOWN)
        reply_set_header(call->reply, "Upload-Defer-Length", "1");
    else
        reply_format_header(call->reply, "Upload-Length", "%lld", (long long)upload->length);
    if (upload->metadata[0] != '\0')
        reply_set_header(call->reply, "Upload-Metadata", upload->metadata);
    set_progress(call, upload);
    return NULL;
}

struct error *uploads_patch(struct call *call)
{
    struct resumable_piece piece = {0};
    struct file_record *record = NULL;
    struct file_upload *upload;
    struct validation validation;
    TRY(request_require_type(call->request, OFFSET_TYPE));
    validation_init(&validation, call->arena);
    read_number(call, &validation, "UPLOAD_OFFSET", "Upload-Offset", -1, &piece.offset);
    if (request_header(call->request, "UPLOAD_OFFSET") == NULL)
        validation_add(&validation, "required", "is missing", "Upload-Offset");
    read_number(call, &validation, "UPLOAD_LENGTH", "Upload-Length", FILE_UPLOAD_LENGTH_UNKNOWN, &piece.length);
    read_checksum(call, &validation, &piece);
    TRY(validation.error);
    TRY(receive(call, &piece, call->id, &upload, &record));
    call->reply->status = 204;
    set_progress(call, upload);
    give_record(call, record);
    return NULL;
}

struct error *uploads_delete(struct call *call)
{
    TRY(resumable_terminate(call->service, call->arena, &call->caller, call->id));
    call->reply->status = 204;
    return NULL;
}
