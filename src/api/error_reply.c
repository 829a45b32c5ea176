/* SPDX-License-Identifier: MIT */
/* Writes the body and the headers of a reply to an error. */
#include "api/error_reply.h"

#include "base/arena.h"
#include "base/error.h"
#include "http/reply.h"
#include "http/schema.h"

struct entry_view {
    const char *path;
    const char *message;
    const char *code;
};

struct error_view {
    const char *status;
    const char *message;
    const char *stack;
    const char *code;
    const char *body; /* JSON */
    struct schema_list validation;
};

/* docs/errors.md explains them. */
#define ENTRY_CODES                                                                                                    \
    "required|unknown|unexpected|type|format|choice|length|range|count|duplicate|same|taken|state|syntax|depth|"       \
    "encoding|character|multipart|tooMany|tooLarge|transferEncoding|empty|fileName|contentType|mismatch|pixels|"       \
    "infected|common|personal|provider|notGrantable"

static const struct schema_field entry_fields[] = {
    {.name = "path",
     .type = SCHEMA_TEXT,
     .offset = offsetof(struct entry_view, path),
     .description = "JSON path or part name of what is wrong; empty for the body as a whole."},
    {.name = "message", .type = SCHEMA_TEXT, .offset = offsetof(struct entry_view, message)},
    {.name = "code", .type = SCHEMA_CHOICE, .choices = ENTRY_CODES, .offset = offsetof(struct entry_view, code)},
};

static const struct schema entry_schema = {.name = "ErrorEntry",
                                           .description = "One failing path.",
                                           SCHEMA_FIELDS(entry_fields),
                                           .size = sizeof(struct entry_view)};

static const struct schema_field error_fields[] = {
    {.name = "status", .type = SCHEMA_CHOICE, .choices = "error", .offset = offsetof(struct error_view, status)},
    {.name = "message",
     .type = SCHEMA_TEXT,
     .offset = offsetof(struct error_view, message),
     .description = "One sentence for a person, naming what to do."},
    {.name = "stack",
     .type = SCHEMA_TEXT,
     .offset = offsetof(struct error_view, stack),
     .description = "The call chain of the failure where the operator switched that on, else empty."},
    {.name = "code",
     .type = SCHEMA_TEXT,
     .offset = offsetof(struct error_view, code),
     .description = "Stable, for a program."},
    {.name = "body",
     .type = SCHEMA_RAW,
     .offset = offsetof(struct error_view, body),
     .description = "The request id and what else belongs to the code."},
    {.name = "validation",
     .type = SCHEMA_OBJECTS,
     .schema = &entry_schema,
     .offset = offsetof(struct error_view, validation),
     .description = "Every failing path at once."},
};

const struct schema error_reply_schema = {.name = "ErrorBody",
                                          .description = "What every failure answers.",
                                          SCHEMA_FIELDS(error_fields),
                                          .size = sizeof(struct error_view)};

static const char *write_body(struct arena *arena, const struct error *error, const char *request_id)
{
    struct buffer body;
    buffer_init(&body, arena);
    buffer_add_text(&body, "{\"requestId\":");
    buffer_add_json_text(&body, request_id);
    for (const struct error_member *member = error->members; member != NULL; member = member->next) {
        buffer_add_char(&body, ',');
        buffer_add_json_text(&body, member->name);
        buffer_add_char(&body, ':');
        buffer_add_json_text(&body, member->value);
    }
    buffer_add_char(&body, '}');
    return body.bytes;
}

static struct schema_list list_entries(struct arena *arena, const struct error *error)
{
    const void **items = arena_array(arena, error->entry_count, sizeof *items);
    size_t count = 0;
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next) {
        struct entry_view *view = arena_alloc(arena, sizeof *view);
        *view = (struct entry_view){.path = entry->path, .message = entry->message, .code = entry->code};
        items[count++] = view;
    }
    return (struct schema_list){items, count};
}

static void set_headers(struct reply *reply, const struct error *error)
{
    bool token_sent =
        error->code == ERROR_TOKEN_INVALID || error->code == ERROR_TOKEN_EXPIRED || error->code == ERROR_TOKEN_REVOKED;
    if (reply->status == 401)
        reply_set_header(reply, "WWW-Authenticate", token_sent ? "Bearer error=\"invalid_token\"" : "Bearer");
    if (error->retry_after != 0)
        reply_format_header(reply, "Retry-After", "%u", error->retry_after);
    reply_set_header(reply, "Content-Type", "application/json; charset=utf-8");
}

void error_reply(struct reply *reply, const struct error *error, const char *request_id, bool expose_stack)
{
    struct error_view view = {
        .status = "error",
        .message = error->message,
        .stack = expose_stack ? error->stack : "",
        .code = error_code_text(error->code),
        .body = write_body(reply->arena, error, request_id),
        .validation = list_entries(reply->arena, error),
    };
    /* Two headers belong to an error reply that only the failing place knows; they are kept. */
    const char *allow = reply_find_header(reply, "Allow");
    const char *content_range = reply_find_header(reply, "Content-Range");
    reply_clear(reply);
    reply->status = error_status(error->code);
    set_headers(reply, error);
    if (allow != NULL && reply->status == 405)
        reply_set_header(reply, "Allow", allow);
    if (content_range != NULL && reply->status == 416)
        reply_set_header(reply, "Content-Range", content_range);
    schema_write(&reply->body, &error_reply_schema, &view);
}
