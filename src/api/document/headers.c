/* SPDX-License-Identifier: MIT */
/*
 * Writes the headers of replies for the OpenAPI document. Most follow from the status; a row says in its reply_headers
 * which others its success has. Headers of connections, caches and browsers are left out: the web server may change
 * them, and no client of the interface reads them.
 */
#include "api/document/headers_int.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/dispatch.h"
#include "api/route.h"
#include "base/limits.h"
#include "base/text.h"
#include "http/schema.h"

#define UPLOAD_VERSION                                                                                                 \
    .name = "Tus-Resumable", .type = SCHEMA_TEXT, .description = "The version of the protocol of resumable uploads."

enum header {
    HEADER_REQUEST_ID,
    HEADER_API_VERSION,
    HEADER_AUTHENTICATE,
    HEADER_RETRY_AFTER,
    HEADER_MAY_RETRY_AFTER,
    HEADER_TAG,
    HEADER_RANGE,
    HEADER_MAY_UPLOAD_VERSION,
    HEADER_UPLOAD_VERSIONS,
    HEADER_COUNT
};

/* Each with the name of its component. */
static const struct {
    const char *component;
    struct schema_field field;
} headers[HEADER_COUNT] = {
    [HEADER_REQUEST_ID] = {"RequestId",
                           {.name = "X-Request-Id",
                            .type = SCHEMA_TEXT,
                            .flags = SCHEMA_REQUIRED,
                            .minimum = LIMIT_REQUEST_ID_MIN,
                            .maximum = LIMIT_REQUEST_ID_MAX,
                            .pattern = "^[A-Za-z0-9._-]*$",
                            .description = "What the log and the audit trail name the request by."}},
    [HEADER_API_VERSION] = {"ApiVersion",
                            {.name = "X-Api-Version",
                             .type = SCHEMA_TEXT,
                             .flags = SCHEMA_REQUIRED,
                             .description = "The version of this interface."}},
    [HEADER_AUTHENTICATE] = {"Authenticate",
                             {.name = "WWW-Authenticate",
                              .type = SCHEMA_TEXT,
                              .flags = SCHEMA_REQUIRED,
                              .description = "Bearer; with error=\"invalid_token\" where a token was sent."}},
    [HEADER_RETRY_AFTER] = {"RetryAfter",
                            {.name = "Retry-After",
                             .type = SCHEMA_INTEGER,
                             .flags = SCHEMA_REQUIRED,
                             .minimum = 1,
                             .maximum = INT64_MAX,
                             .description = "Seconds to wait before the next try."}},
    [HEADER_MAY_RETRY_AFTER] = {"RetryAfterOfFault",
                                {.name = "Retry-After",
                                 .type = SCHEMA_INTEGER,
                                 .minimum = 1,
                                 .maximum = INT64_MAX,
                                 .description = "Seconds to wait before the next try, where a part that the service "
                                                "needs is down."}},
    [HEADER_TAG] = {"Tag",
                    {.name = "ETag",
                     .type = SCHEMA_TEXT,
                     .flags = SCHEMA_REQUIRED,
                     .pattern = "^(W/)?\\\"[^\\\"]+\\\"$",
                     .description = "What the reply holds, for If-None-Match."}},
    [HEADER_RANGE] = {"Range",
                      {.name = "Content-Range",
                       .type = SCHEMA_TEXT,
                       .flags = SCHEMA_REQUIRED,
                       .pattern = "^bytes ([0-9]+-[0-9]+|\\\\*)/[0-9]+$",
                       .description = "Which bytes of the file these are, and how many it has."}},
    [HEADER_MAY_UPLOAD_VERSION] = {"UploadVersionOfFault", {UPLOAD_VERSION}},
    [HEADER_UPLOAD_VERSIONS] = {"UploadVersions",
                                {.name = "Tus-Version",
                                 .type = SCHEMA_TEXT,
                                 .flags = SCHEMA_REQUIRED,
                                 .description = "The versions of the protocol that are taken."}},
};

static bool has(const struct route *route, int status, enum header header)
{
    bool failed = status >= 400;
    bool uploads = route->reply_kind == REPLY_UPLOAD;
    bool tagged = route->tagged || route->reply_kind == REPLY_FILE;
    const bool there[HEADER_COUNT] = {
        [HEADER_REQUEST_ID] = true,
        [HEADER_API_VERSION] = true,
        [HEADER_AUTHENTICATE] = status == 401,
        [HEADER_RETRY_AFTER] = status == 429,
        [HEADER_MAY_RETRY_AFTER] = status == 500,
        [HEADER_TAG] = tagged && !failed,
        [HEADER_RANGE] = status == 206 || status == 416,
        [HEADER_MAY_UPLOAD_VERSION] = uploads && failed,
        [HEADER_UPLOAD_VERSIONS] = uploads && status == 412,
    };
    return there[header];
}

/* Adds a header object. What a reply has passes no bounds of input, but its form is told as that of input is. */
static void describe(struct buffer *buffer, const struct schema_field *field)
{
    bool required = (field->flags & SCHEMA_REQUIRED) != 0;
    buffer_add_text(buffer, required ? "{\"required\":true,\"schema\":" : "{\"required\":false,\"schema\":");
    schema_describe_field(buffer, field, true);
    buffer_add_char(buffer, '}');
}

void headers_write(struct buffer *buffer, const struct route *route, int status)
{
    const struct schema *own = status < 300 ? route->reply_headers : NULL;
    const char *separator = ",\"headers\":{";
    for (enum header header = 0; header < HEADER_COUNT; header++) {
        if (!has(route, status, header))
            continue;
        buffer_add_format(buffer, "%s\"%s\":{\"$ref\":\"#/components/headers/%s\"}", separator,
                          headers[header].field.name, headers[header].component);
        separator = ",";
    }
    for (size_t i = 0; own != NULL && i < own->count; i++) {
        buffer_add_format(buffer, "%s\"%s\":", separator, own->fields[i].name);
        describe(buffer, &own->fields[i]);
        separator = ",";
    }
    buffer_add_char(buffer, '}');
}

void headers_write_components(struct buffer *buffer)
{
    buffer_add_text(buffer, "\"headers\":{");
    for (enum header header = 0; header < HEADER_COUNT; header++) {
        buffer_add_format(buffer, "%s\"%s\":", header == 0 ? "" : ",\n", headers[header].component);
        describe(buffer, &headers[header].field);
    }
    buffer_add_char(buffer, '}');
}
