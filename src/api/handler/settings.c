/* SPDX-License-Identifier: MIT */
/* Handles the endpoints of the system settings document. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "api/handlers_int.h"
#include "api/lists_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "domain/settings.h"
#include "http/reply.h"
#include "http/schema.h"
#include "service/runtime/service.h"
#include "service/system/settings_update.h"

#define LEVELS "fatal|error|warn|info|debug|trace"
#define FILTER_DESCRIPTION                                                                                             \
    "Comma-separated module=level, * for every module; holds over level for the modules it names, the last one wins."

/* What log_levels_read() takes, as a pattern. */
#define ALTERNATIVE(symbol, text) "|" text
#define BLANKS "[ \\\\t]*"
#define ENTRY BLANKS "(\\\\*" LOG_MODULES(ALTERNATIVE) ")" BLANKS "=" BLANKS "(" LEVELS ")" BLANKS
#define FILTER_PATTERN "^(" BLANKS "|" ENTRY "(," ENTRY ")*)$"

/* ---- the document ---- */

struct logging_view {
    const char *level;
    const char *filter;
};

struct settings_view {
    const struct logging_view *logging;
};

static const struct schema_field logging_fields[] = {
    {.name = "level", .type = SCHEMA_CHOICE, .choices = LEVELS, .offset = offsetof(struct logging_view, level)},
    {.name = "filter",
     .type = SCHEMA_TEXT,
     .offset = offsetof(struct logging_view, filter),
     .description = FILTER_DESCRIPTION},
};

static const struct schema logging_schema = {
    .name = "Logging", SCHEMA_FIELDS(logging_fields), .size = sizeof(struct logging_view)};

static const struct schema_field document_fields[] = {
    {.name = "logging",
     .type = SCHEMA_OBJECT,
     .schema = &logging_schema,
     .offset = offsetof(struct settings_view, logging)},
};

const struct schema settings_document_schema = {
    .name = "Settings", SCHEMA_FIELDS(document_fields), .size = sizeof(struct settings_view)};

static const struct settings_view *view(struct arena *arena, const struct settings *settings)
{
    struct settings_view *view = arena_alloc(arena, sizeof *view);
    struct logging_view *logging = arena_alloc(arena, sizeof *logging);
    *logging = (struct logging_view){log_level_text(settings->level), settings->filter};
    view->logging = logging;
    return view;
}

struct error *settings_get(struct call *call)
{
    struct settings_row row;
    TRY(settings_update_current(call->service, call->arena, &row));
    reply_set_header(call->reply, "ETag", settings_update_etag(call->arena, row.version));
    call->result = view(call->arena, row.settings);
    return NULL;
}

/* ---- changing: the same two structs, of which every member may be missing ---- */

static const struct schema_field logging_change_fields[] = {
    {.name = "level", .type = SCHEMA_CHOICE, .choices = LEVELS, .offset = offsetof(struct logging_view, level)},
    {.name = "filter",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_UNCHECKED,
     .maximum = LIMIT_LOG_FILTER_BYTES,
     .pattern = FILTER_PATTERN,
     .offset = offsetof(struct logging_view, filter),
     .description = FILTER_DESCRIPTION},
};

static const struct schema logging_change_schema = {
    .name = "LoggingChange", SCHEMA_FIELDS(logging_change_fields), .size = sizeof(struct logging_view)};

static const struct schema_field change_fields[] = {
    {.name = "logging",
     .type = SCHEMA_OBJECT,
     .flags = SCHEMA_REQUIRED,
     .schema = &logging_change_schema,
     .offset = offsetof(struct settings_view, logging)},
};

const struct schema settings_change_schema = {
    .name = "SettingsChange", SCHEMA_FIELDS(change_fields), .size = sizeof(struct settings_view)};

static const struct schema_field condition_fields[] = {
    {.name = "If-Match",
     .type = SCHEMA_TEXT,
     .maximum = LIMIT_HEADER_BYTES,
     .description = "The version that the change is meant for: its ETag, a list of them, or *."},
};

const struct schema settings_condition_schema = {
    .name = "SettingsCondition", SCHEMA_FIELDS(condition_fields), .size = 1};

static const struct schema_field header_fields[] = {
    {.name = "ETag",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_REQUIRED,
     .description = "The version of the document, for If-Match."},
};

const struct schema settings_headers_schema = {.name = "SettingsHeaders", SCHEMA_FIELDS(header_fields), .size = 1};

/* How many wrong entries of a filter are named. */
#define ENTRIES_NAMED 10

/*
 * Which entries of a filter are wrong, by their numbers: ", entries 2, 5" (", entry 2"). Their words are not repeated:
 * one may be a secret that somebody has pasted.
 */
static const char *wrong_entries(struct arena *arena, const char *filter)
{
    struct buffer text;
    struct log_levels levels;
    unsigned count = 0, number = 0;
    buffer_init(&text, arena);
    for (const char *at = filter; at != NULL && count < ENTRIES_NAMED;) {
        size_t length = strcspn(at, ",");
        const char *entry = arena_copy(arena, at, length);
        number++;
        if (entry[strspn(entry, " \t")] == '\0' || log_levels_read(LOG_LEVEL_INFO, entry, &levels) != LOG_FILTER_GOOD)
            buffer_add_format(&text, "%s%u", count++ == 0 ? "" : ", ", number);
        at = at[length] == '\0' ? NULL : at + length + 1;
    }
    return count == 0 ? "" : arena_format(arena, ", %s %s", count == 1 ? "entry" : "entries", text.bytes);
}

struct error *settings_validate(struct call *call, struct validation *validation)
{
    const struct settings_view *body = call->body;
    struct log_levels levels;
    if (body->logging == NULL || body->logging->filter == NULL)
        return NULL;
    enum log_filter_result result = log_levels_read(LOG_LEVEL_INFO, body->logging->filter, &levels);
    bool too_long = utf8_count(body->logging->filter) > LIMIT_LOG_FILTER_BYTES; /* reported already */
    if (result == LOG_FILTER_GOOD || too_long)
        return NULL;
    bool unknown_word = result == LOG_FILTER_MODULE || result == LOG_FILTER_LEVEL;
    const char *sentence = arena_format(call->arena, "%s%s", log_filter_sentence(result),
                                        wrong_entries(call->arena, body->logging->filter));
    validation_add(validation, unknown_word ? "choice" : "format", sentence, "logging.filter");
    return NULL;
}

struct error *settings_put(struct call *call)
{
    const struct settings_view *body = call->body;
    struct settings_update update = {
        .level = body->logging->level,
        .filter = body->logging->filter,
        .if_match = request_header(call->request, "IF_MATCH"),
    };
    struct settings_row row;
    TRY(settings_update_write(call->service, call->arena, &call->caller, &update, &row));
    reply_set_header(call->reply, "ETag", settings_update_etag(call->arena, row.version));
    call->success = arena_format(call->arena, "The settings are saved as version %" PRId64 ".", row.version);
    return NULL;
}

/* ---- history ---- */

struct history_query {
    int64_t limit;
    int64_t cursor;
};

static const struct schema_field query_fields[] = {
    {LISTS_LIMIT(struct history_query)},
    {.name = "cursor",
     .type = SCHEMA_INTEGER,
     .minimum = 1,
     .maximum = INT64_C(9007199254740991),
     .offset = offsetof(struct history_query, cursor),
     .description = "nextCursor of the page before."},
};

const struct schema settings_history_query_schema = {
    .name = "SettingsHistoryQuery", SCHEMA_FIELDS(query_fields), .size = sizeof(struct history_query)};

struct history_item {
    int64_t version;
    const struct settings_view *settings;
    struct id user_id;
    const char *at;
};

static const struct schema_field item_fields[] = {
    {.name = "version",
     .type = SCHEMA_INTEGER,
     .minimum = 1,
     .maximum = INT64_C(9007199254740991),
     .offset = offsetof(struct history_item, version)},
    {.name = "settings",
     .type = SCHEMA_OBJECT,
     .flags = SCHEMA_NULLABLE,
     .schema = &settings_document_schema,
     .offset = offsetof(struct history_item, settings),
     .description = "null where the row was damaged in the database."},
    {.name = "userId",
     .type = SCHEMA_ID,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct history_item, user_id),
     .description = "Who wrote it; null for the operator's command."},
    {.name = "at", .type = SCHEMA_TIME, .offset = offsetof(struct history_item, at)},
};

static const struct schema item_schema = {
    .name = "SettingsVersion", SCHEMA_FIELDS(item_fields), .size = sizeof(struct history_item)};

struct history_reply {
    struct schema_list items;
    const char *next_cursor;
};

static const struct schema_field reply_fields[] = {
    {.name = "items", .type = SCHEMA_OBJECTS, .schema = &item_schema, .offset = offsetof(struct history_reply, items)},
    {.name = "nextCursor",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct history_reply, next_cursor)},
};

const struct schema settings_history_schema = {
    .name = "SettingsHistory", SCHEMA_FIELDS(reply_fields), .size = sizeof(struct history_reply)};

static struct history_item *make_item(struct arena *arena, const struct settings_row *row)
{
    struct history_item *item = arena_alloc(arena, sizeof *item);
    *item = (struct history_item){
        .version = row->version,
        .settings = row->settings == NULL ? NULL : view(arena, row->settings),
        .user_id = row->user_id,
        .at = row->at,
    };
    return item;
}

struct error *settings_history(struct call *call)
{
    const struct history_query *query = call->query;
    struct settings_page page;
    TRY(settings_list(call->service->database, call->arena, query->cursor, (unsigned)query->limit, &page));
    struct history_reply *reply = arena_alloc(call->arena, sizeof *reply);
    const void **items = arena_array(call->arena, page.count, sizeof *items);
    for (size_t i = 0; i < page.count; i++)
        items[i] = make_item(call->arena, &page.items[i]);
    reply->items = (struct schema_list){items, page.count};
    if (page.more)
        reply->next_cursor = arena_format(call->arena, "%" PRId64, page.items[page.count - 1].version);
    call->result = reply;
    return NULL;
}
