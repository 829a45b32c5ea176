/* SPDX-License-Identifier: MIT */
/*
 * Writes the OpenAPI document straight from the tables: paths from the route rows, components from every schema that a
 * row reaches, each once by its name.
 */
#include "api/document/openapi.h"

#include <string.h>

#include "api/dispatch.h"
#include "api/document/examples_int.h"
#include "api/document/headers_int.h"
#include "api/error_reply.h"
#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/text.h"
#include "http/schema.h"
#include "service/access/caller_audit.h"
#include "service/access/signed_link.h"

#define COMPONENTS_MAX 128

struct writer {
    struct buffer text;
    const struct schema *components[COMPONENTS_MAX];
    bool input[COMPONENTS_MAX];
    size_t component_count;
};

static void add(struct writer *writer, const char *text)
{
    buffer_add_text(&writer->text, text);
}

static void add_json(struct writer *writer, const char *text)
{
    buffer_add_json_text(&writer->text, text);
}

static void collect(struct writer *writer, const struct schema *schema, bool input)
{
    if (schema == NULL)
        return;
    for (size_t i = 0; i < writer->component_count; i++)
        if (writer->components[i] == schema)
            return;
    if (writer->component_count == COMPONENTS_MAX)
        return;
    writer->components[writer->component_count] = schema;
    writer->input[writer->component_count++] = input;
    for (size_t i = 0; i < schema->count; i++)
        collect(writer, schema->fields[i].schema, input);
}

static void add_reference(struct writer *writer, const struct schema *schema)
{
    buffer_add_format(&writer->text, "{\"$ref\":\"#/components/schemas/%s\"}", schema->name);
}

/* ---- parameters ---------------------------------------------------------------------------------- */

/* Adds the fields of a schema (may be NULL) as parameters. Returns the separator that the next one needs. */
static const char *add_fields(struct writer *writer, const struct schema *schema, const char *place,
                              const char *separator)
{
    for (size_t i = 0; schema != NULL && i < schema->count; i++) {
        const struct schema_field *field = &schema->fields[i];
        add(writer, separator);
        add(writer, "{\"name\":");
        add_json(writer, field->name);
        add(writer, ",\"in\":");
        add_json(writer, place);
        add(writer, (field->flags & SCHEMA_REQUIRED) != 0 ? ",\"required\":true,\"schema\":"
                                                          : ",\"required\":false,\"schema\":");
        schema_describe_field(&writer->text, field, true);
        add(writer, "}");
        separator = ",";
    }
    return separator;
}

/* Every row that asks for a token takes it. Blanks around the value of a header do not belong to it (RFC 9110, 5.5). */
static const struct schema_field reason_fields[] = {
    {.name = CALLER_REASON_HEADER,
     .type = SCHEMA_TEXT,
     .minimum = 1,
     .maximum = LIMIT_REASON_CHARACTERS,
     .pattern = "^[^ \\\\u0000-\\\\u001F\\\\u007F-\\\\u009F][^\\\\u0000-\\\\u001F\\\\u007F-\\\\u009F]*$",
     .description =
         "Why internal staff look into another organisation, in UTF-8: it is kept in the audit trail of that "
         "organisation. Others need not send it."},
};
static const struct schema reason_schema = {.name = "Reason", SCHEMA_FIELDS(reason_fields), .size = 1};

static void add_parameters(struct writer *writer, const struct route *route)
{
    static const struct schema_field id = {.type = SCHEMA_ID};
    static const struct schema_field token = {
        .type = SCHEMA_TEXT, .minimum = SIGNED_LINK_TOKEN_CHARACTERS, .maximum = SIGNED_LINK_TOKEN_CHARACTERS};
    const char *separator = "";
    const char *word;
    add(writer, "\"parameters\":[");
    for (size_t i = 0; (word = route_word(writer->text.arena, route, i)) != NULL; i++) {
        add(writer, separator);
        buffer_add_format(&writer->text, "{\"name\":\"%s\",\"in\":\"path\",\"required\":true,\"schema\":", word);
        schema_describe_field(&writer->text, route->names_link ? &token : &id, true);
        add(writer, "}");
        separator = ",";
    }
    separator = add_fields(writer, route->query, "query", separator);
    separator = add_fields(writer, route->headers, "header", separator);
    if (route->access != ACCESS_PUBLIC)
        (void)add_fields(writer, &reason_schema, "header", separator);
    add(writer, "],");
}

/* ---- bodies -------------------------------------------------------------------------------------- */

/* Whether the body may be missing: where an empty object would be valid. */
static bool may_lack_body(const struct route *route)
{
    for (size_t i = 0; i < route->body->count; i++)
        if ((route->body->fields[i].flags & SCHEMA_REQUIRED) != 0)
            return false;
    return route->body_kind == BODY_JSON && route->validate == NULL;
}

static void add_body(struct writer *writer, const struct route *route)
{
    if (route->body_kind == BODY_NONE)
        return;
    if (route->body_kind == BODY_BYTES) {
        /* A new upload may come without its first bytes. */
        add(writer, route->method == METHOD_PATCH ? "\"requestBody\":{\"required\":true,\"content\":{"
                                                  : "\"requestBody\":{\"required\":false,\"content\":{");
        add(writer, "\"application/offset+octet-stream\":{\"schema\":"
                    "{\"type\":\"string\",\"format\":\"binary\"},\"example\":\"the next bytes of the file\"}}},");
        return;
    }
    add(writer, may_lack_body(route) ? "\"requestBody\":{\"required\":false,\"content\":{"
                                     : "\"requestBody\":{\"required\":true,\"content\":{");
    add_json(writer, route->body_kind == BODY_MULTIPART ? "multipart/form-data" : "application/json");
    add(writer, ":{\"schema\":");
    add_reference(writer, route->body);
    add(writer, ",\"example\":");
    examples_write(&writer->text, route->body, true);
    /* Each item of a list is a part of its own. Makers of clients join the items unless they are told. */
    if (route->body_kind == BODY_MULTIPART)
        add(writer, ",\"encoding\":{\"tags\":{\"style\":\"form\",\"explode\":true}}");
    add(writer, "}}},");
}

/* ---- replies ------------------------------------------------------------------------------------- */

/* Adds the member "example" of a reply's content, where there is an example. */
static void add_reply_example(struct writer *writer, const struct route *route)
{
    const char *json = examples_of_operation(route->operation);
    if (route->reply == NULL && json == NULL)
        return;
    add(writer, ",\"example\":");
    if (json != NULL)
        add(writer, json);
    else
        examples_write(&writer->text, route->reply, false);
}

/* The forms of an export; each has an example of its own. */
static const char *const export_types[] = {"text/csv", "application/x-ndjson"};

/* Begins a schema of two forms. The title is what makers of clients name its type by. */
static void add_choice(struct writer *writer, const struct route *route)
{
    buffer_add_format(&writer->text, "{\"title\":\"%sOrList\",\"oneOf\":[", route->reply->name);
}

static void add_json_content(struct writer *writer, const struct route *route)
{
    add(writer, ",\"content\":{\"application/json\":{\"schema\":");
    if (route->reply_kind == REPLY_JSON) {
        add(writer, "{\"type\":\"object\"}");
    } else if (route->reply_kind == REPLY_OBJECT_OR_LIST) {
        add_choice(writer, route);
        add_reference(writer, route->reply);
        add(writer, ",{\"type\":\"array\",\"items\":");
        add_reference(writer, route->reply);
        add(writer, "}]}");
    } else if (route->reply_kind == REPLY_ONE_OF_TWO) {
        add_choice(writer, route);
        add_reference(writer, route->reply);
        add(writer, ",");
        add_reference(writer, route->other_reply);
        add(writer, "]}");
    } else {
        add_reference(writer, route->reply);
    }
    add_reply_example(writer, route);
    add(writer, "}");
    if (route->exports)
        for (size_t i = 0; i < sizeof export_types / sizeof *export_types; i++)
            buffer_add_format(&writer->text, ",\"%s\":{\"schema\":{\"type\":\"string\"},\"example\":%s}",
                              export_types[i], examples_of_operation(export_types[i]));
    add(writer, "}");
}

static void add_plain_content(struct writer *writer, const struct route *route, const char *media, const char *schema)
{
    buffer_add_format(&writer->text, ",\"content\":{\"%s\":{\"schema\":%s", media, schema);
    add_reply_example(writer, route);
    add(writer, "}}");
}

static void begin_success(struct writer *writer, const struct route *route, int status, const char *meaning)
{
    buffer_add_format(&writer->text, "\"%d\":{\"description\":\"%s\"", status, meaning);
    headers_write(&writer->text, route, status);
}

/* The protocol's own status, and 200 for the record of a finished file. */
static void add_upload_success(struct writer *writer, const struct route *route)
{
    begin_success(writer, route, route->success, "Success.");
    add(writer, "}");
    if (route->reply == NULL)
        return;
    add(writer, ",");
    begin_success(writer, route, 200, "The file is whole, and Accept names application/json.");
    add_json_content(writer, route);
    add(writer, "}");
}

static void add_success(struct writer *writer, const struct route *route)
{
    if (route->reply_kind == REPLY_UPLOAD) {
        add_upload_success(writer, route);
        return;
    }
    if (route->reply_kind == REPLY_TEXT) {
        begin_success(writer, route, 200, "Success.");
        add_plain_content(writer, route, "text/plain", "{\"type\":\"string\"}");
        add(writer, "}");
        return;
    }
    static const char bytes[] = "{\"type\":\"string\",\"format\":\"binary\"}";
    if (route->reply_kind == REPLY_FILE) {
        begin_success(writer, route, 200, "The bytes.");
        add_plain_content(writer, route, "*/*", bytes);
        add(writer, "},");
        begin_success(writer, route, 206, "The bytes of the range.");
        add_plain_content(writer, route, "*/*", bytes);
        add(writer, "},");
        begin_success(writer, route, 304, "The client has these bytes already.");
        add(writer, "}");
        return;
    }
    begin_success(writer, route, 200, "Success.");
    add_json_content(writer, route);
    add(writer, "}");
    if (route->tagged) {
        add(writer, ",");
        begin_success(writer, route, 304, "The client has this reply already.");
        add(writer, "}");
    }
}

static const char *status_meaning(int status)
{
    switch (status) {
    case 400:
        return "The input cannot be read or is not valid, or names what does not exist.";
    case 401:
        return "There is no token, it does not hold, or the credentials are wrong.";
    case 403:
        return "The caller may not do this.";
    case 409:
        return "The state of the thing, or another thing, stands in the way.";
    case 404:
        return "There is no such thing of the caller.";
    case 410:
        return "Its time is over.";
    case 423:
        return "Another request has it.";
    case 460:
        return "The bytes do not fit their checksum.";
    case 412:
        return "A condition of the request does not hold.";
    case 413:
        return "The body is too large.";
    case 415:
        return "The type of the body is not taken.";
    case 416:
        return "The range lies outside the file.";
    case 429:
        return "Too many tries; Retry-After says how long to wait.";
    case 500:
        return "A fault of the service, or a part that it needs is down.";
    default:
        return "The request failed.";
    }
}

/* Adds the response of one status with those of `codes` that have it; nothing, and false, where none has. */
static bool add_failure(struct writer *writer, const struct route *route, int status, const enum error_code *codes,
                        size_t count)
{
    const char *separator = "";
    for (size_t i = 0; i < count; i++) {
        if (error_status(codes[i]) != status)
            continue;
        if (*separator == '\0') {
            buffer_add_format(&writer->text, ",\"%d\":{\"description\":\"%s\"", status, status_meaning(status));
            headers_write(&writer->text, route, status);
            add(writer, ",\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/ErrorBody\","
                        "\"properties\":{\"code\":{\"enum\":[");
        }
        add(writer, separator);
        add_json(writer, error_code_text(codes[i]));
        separator = ",";
    }
    if (*separator != '\0')
        add(writer, "]}}}}}}");
    return *separator != '\0';
}

static void add_failures(struct writer *writer, const struct route *route)
{
    enum error_code codes[ERROR_CODE_COUNT];
    size_t count = route_errors(route, codes);
    for (int status = 400; status <= 500; status++)
        if (!add_failure(writer, route, status, codes, count) && status == 409 && route->reserves_conflict) {
            add(writer, ",\"409\":{\"description\":\"Reserved: this version answers no conflict here.\"");
            headers_write(&writer->text, route, 409);
            add(writer,
                ",\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/ErrorBody\"}}}}");
        }
}

/* ---- the document -------------------------------------------------------------------------------- */

static void add_operation(struct writer *writer, const struct route *route)
{
    add_json(writer, text_lowered(writer->text.arena, request_method_text(route->method)));
    add(writer, ":{\"operationId\":");
    add_json(writer, route->operation);
    add(writer, ",\"tags\":[");
    add_json(writer, route->tag);
    add(writer, "],\"summary\":");
    add_json(writer, route->summary);
    add(writer, ",");
    if (route->description != NULL) {
        add(writer, "\"description\":");
        add_json(writer, route->description);
        add(writer, ",");
    }
    if (route->access == ACCESS_PERMISSION) {
        add(writer, "\"x-permission\":");
        add_json(writer, route->permission);
        add(writer, ",");
    }
    add(writer, route->access == ACCESS_PUBLIC ? "\"security\":[]," : "\"security\":[{\"jwt\":[]}],");
    add_parameters(writer, route);
    add_body(writer, route);
    add(writer, "\"responses\":{");
    add_success(writer, route);
    add_failures(writer, route);
    add(writer, "}}");
}

/* The tags that sort the rows. */
static const struct {
    const char *name;
    const char *description;
} tags[] = {
    {"Accounts", "Customers and their people: signing in and out, passwords, codes, roles and permissions."},
    {"Organisations", "Organisations: their names, services, quotas and use."},
    {"Files", "Uploading, finding, reading, archiving and sharing files."},
    {"Service", "The service itself: settings, cache, audit trail, health, metrics and what it is."},
};

bool openapi_has_tag(const char *name)
{
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (strcmp(tags[i].name, name) == 0)
            return true;
    return false;
}

static void add_tags(struct writer *writer)
{
    add(writer, "\"tags\":[");
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        add(writer, i == 0 ? "{\"name\":" : ",{\"name\":");
        add_json(writer, tags[i].name);
        add(writer, ",\"description\":");
        add_json(writer, tags[i].description);
        add(writer, "}");
    }
    add(writer, "],\n");
}

static bool path_is_first(const struct route_table *table, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(table->rows[i].path, table->rows[index].path) == 0)
            return false;
    return true;
}

static void add_paths(struct writer *writer, const struct route_table *table)
{
    const struct route *rows = table->rows;
    const char *separator = "";
    add(writer, "\"paths\":{");
    for (size_t i = 0; i < table->count; i++) {
        if (!path_is_first(table, i))
            continue;
        add(writer, separator);
        add_json(writer, rows[i].path);
        const char *inner = ":{";
        for (size_t j = i; j < table->count; j++) {
            if (strcmp(rows[j].path, rows[i].path) != 0)
                continue;
            add(writer, inner);
            add_operation(writer, &rows[j]);
            inner = ",";
        }
        add(writer, "}");
        separator = ",\n";
    }
    add(writer, "},\n");
}

static void add_components(struct writer *writer, const struct route_table *table)
{
    collect(writer, &error_reply_schema, false);
    for (size_t i = 0; i < table->count; i++) {
        collect(writer, table->rows[i].body, true);
        collect(writer, table->rows[i].reply, false);
        collect(writer, table->rows[i].other_reply, false);
    }
    add(writer, "\"components\":{\"securitySchemes\":{\"jwt\":{\"type\":\"http\",\"scheme\":\"bearer\","
                "\"bearerFormat\":\"JWT\"}},");
    headers_write_components(&writer->text);
    add(writer, ",\"schemas\":{");
    for (size_t i = 0; i < writer->component_count; i++) {
        add(writer, i == 0 ? "" : ",\n");
        add_json(writer, writer->components[i]->name);
        add(writer, ":");
        schema_describe(&writer->text, writer->components[i], writer->input[i]);
    }
    add(writer, "}}");
}

/* OpenAPI has no place for codes with their sentences. */
static void add_errors(struct writer *writer)
{
    add(writer, "\"x-errors\":[");
    for (enum error_code code = 0; code < ERROR_CODE_COUNT; code++) {
        buffer_add_format(&writer->text, "%s{\"code\":", code == 0 ? "" : ",\n");
        add_json(writer, error_code_text(code));
        buffer_add_format(&writer->text, ",\"status\":%d,\"message\":", error_status(code));
        add_json(writer, error_sentence(code));
        add(writer, "}");
    }
    add(writer, "],\n");
}

const char *openapi_text(struct arena *arena, const struct route_table *table, const char *base_url)
{
    struct writer *writer = arena_alloc(arena, sizeof *writer);
    buffer_init(&writer->text, arena);
    buffer_reserve(&writer->text, (size_t)64 * 1024);
    add(writer,
        "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Gatehouse\",\"version\":\"" API_VERSION "\",\"description\":"
        "\"Identity, authorisation and files for organisations. Every reply carries X-Request-Id and "
        "X-Api-Version.\",\"license\":{\"name\":\"MIT\",\"identifier\":\"MIT\"}},\n"
        "\"servers\":[{\"url\":");
    add_json(writer, base_url != NULL ? base_url : "/");
    add(writer, "}],\n");
    add_tags(writer);
    add_paths(writer, table);
    add_errors(writer);
    add_components(writer, table);
    add(writer, "}\n");
    return writer->text.bytes;
}
