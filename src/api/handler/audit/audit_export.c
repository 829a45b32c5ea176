/* SPDX-License-Identifier: MIT */
/*
 * Rows of the audit trail as replies show them, and exports of them.
 *
 * The rows of an export are read in small pages while the reply is sent, each page with a statement of its own that
 * goes on behind the last id. So memory does not grow with the number of rows, and a client that reads slowly holds no
 * result of the database. Rows are never changed, and newer ones have higher ids than the first row that is sent: what
 * is sent is the trail as it was when the request came.
 */
#include <stddef.h>

#include "api/handler/audit/audit_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "codec/csv.h"
#include "domain/audit.h"
#include "http/reply.h"
#include "http/schema.h"
#include "service/runtime/service.h"

/* Room for the text of a page, so that its buffer need not grow often. */
#define PIECE_BYTES ((size_t)64 * 1024)
#define DATE_CHARACTERS 10

/* An export while it is sent, in the arena of its request. */
struct export
{
    struct service *service;
    const char *request_id;
    enum audit_form form;
    struct audit_filter filter; /* of the next page */
    struct audit_page first;    /* the page that was read before the reply began */
    struct audit_shown *shown;  /* NULL: the rows are of one organisation */
    bool begun;
    struct id end; /* the last row that is sent; none: up to the oldest */
};

/* ---- items ---------------------------------------------------------------------------------------- */

static const struct schema_field item_fields[] = {
    {.name = "id", .type = SCHEMA_ID, .offset = offsetof(struct audit_item, id)},
    {.name = "at", .type = SCHEMA_TIME, .offset = offsetof(struct audit_item, at)},
    {.name = "action", .type = SCHEMA_TEXT, .offset = offsetof(struct audit_item, action)},
    {.name = "organisationId",
     .type = SCHEMA_ID,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct audit_item, organisation_id)},
    {.name = "userId", .type = SCHEMA_ID, .flags = SCHEMA_NULLABLE, .offset = offsetof(struct audit_item, user_id)},
    {.name = "targetType",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct audit_item, target_type)},
    {.name = "targetId",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct audit_item, target_id)},
    {.name = "clientAddress",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct audit_item, client_address)},
    {.name = "requestId",
     .type = SCHEMA_TEXT,
     .flags = SCHEMA_NULLABLE,
     .offset = offsetof(struct audit_item, request_id)},
    {.name = "outcome",
     .type = SCHEMA_CHOICE,
     .choices = "success|failure",
     .offset = offsetof(struct audit_item, outcome)},
    {.name = "details", .type = SCHEMA_RAW, .offset = offsetof(struct audit_item, details)},
};

const struct schema audit_item_schema = {
    .name = "AuditItem", SCHEMA_FIELDS(item_fields), .size = sizeof(struct audit_item)};

struct audit_item *audit_item(struct arena *arena, const struct audit_record *record)
{
    const struct audit_entry *entry = &record->entry;
    struct audit_item *item = arena_alloc(arena, sizeof *item);
    *item = (struct audit_item){
        .id = record->id,
        .at = record->at,
        .action = entry->action,
        .organisation_id = entry->organisation_id,
        .user_id = entry->user_id,
        .target_type = entry->target_type,
        .target_id = entry->target_id,
        .client_address = entry->client_address,
        .request_id = entry->request_id,
        .outcome = entry->outcome,
        .details = entry->details,
    };
    return item;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static const char *id_or_null(struct arena *arena, struct id id)
{
    return id_is_none(id) ? NULL : id_text(arena, id);
}

static void add_csv_head(struct buffer *piece)
{
    for (size_t i = 0; i < audit_item_schema.count; i++)
        csv_add_cell(piece, audit_item_schema.fields[i].name, i == 0);
    csv_end_row(piece);
}

/* The cells in the order of the schema's fields. */
static void add_csv_row(struct arena *arena, struct buffer *piece, const struct audit_item *item)
{
    const char *const cells[] = {
        id_text(arena, item->id),
        item->at,
        item->action,
        id_or_null(arena, item->organisation_id),
        id_or_null(arena, item->user_id),
        item->target_type,
        item->target_id,
        item->client_address,
        item->request_id,
        item->outcome,
        item->details,
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        csv_add_cell(piece, cells[i], i == 0);
    csv_end_row(piece);
}

static void add_row(const struct export *export, struct arena *arena, struct buffer *piece,
                    const struct audit_record *record)
{
    const struct audit_item *item = audit_item(arena, record);
    if (export->form == AUDIT_CSV) {
        add_csv_row(arena, piece, item);
        return;
    }
    schema_write(piece, &audit_item_schema, item);
    buffer_add_char(piece, '\n');
}

/* ---- pages --------------------------------------------------------------------------------------- */

/* Leaves out what comes behind the last row that is sent. */
static void cut(const struct export *export, struct audit_page *page)
{
    for (size_t i = 0; i < page->count; i++)
        if (id_equal(page->items[i].id, export->end)) {
            page->count = i + 1;
            page->more = false;
        }
}

/* Reads the next page; the first one is there already. */
static struct error *next_page(struct export *export, struct arena *arena, struct audit_page *page_out)
{
    if (!export->begun) {
        *page_out = export->first;
        export->begun = true;
        return NULL;
    }
    TRY(audit_list(export->service->database, arena, &export->filter, page_out));
    cut(export, page_out);
    return export->shown == NULL ? NULL : audit_shown_tell(export->shown, arena, page_out);
}

static enum reply_piece produce(void *context, struct arena *arena, struct buffer *piece)
{
    struct export *export = context;
    struct audit_page page;
    bool begins = !export->begun;
    buffer_reserve(piece, PIECE_BYTES);
    struct error *error = next_page(export, arena, &page);
    if (error != NULL) {
        LOG(ERROR, HTTP, "an export of the audit trail broke off", LOG_TEXT("requestId", export->request_id),
            LOG_TEXT("code", error_code_text(error->code)), LOG_TEXT("detail", error->detail));
        return REPLY_PIECE_BROKEN;
    }
    if (begins && export->form == AUDIT_CSV)
        add_csv_head(piece);
    for (size_t i = 0; i < page.count; i++) {
        add_row(export, arena, piece, &page.items[i]);
        export->filter.before = page.items[i].id;
    }
    return page.more ? REPLY_PIECE_MORE : REPLY_PIECE_LAST;
}

/* ---- beginning ----------------------------------------------------------------------------------- */

/* Finds the last row that is sent, where there are more rows behind it. */
static struct error *find_end(struct export *export, struct arena *arena, unsigned rows)
{
    struct audit_page *first = &export->first;
    struct audit_page probe;
    if (!first->more)
        return NULL;
    struct audit_filter filter = export->filter;
    filter.before = first->items[first->count - 1].id;
    if (first->count == rows) {
        export->end = filter.before;
        return NULL;
    }
    filter.skip = rows - (unsigned)first->count - 1;
    filter.limit = 1;
    TRY(audit_list(export->service->database, arena, &filter, &probe));
    if (probe.more)
        export->end = probe.items[0].id;
    return NULL;
}

static void set_headers(struct call *call, const struct export *export)
{
    static const char *const types[] = {
        [AUDIT_CSV] = "text/csv; charset=utf-8; header=present", [AUDIT_NDJSON] = "application/x-ndjson"};
    static const char *const endings[] = {[AUDIT_CSV] = "csv", [AUDIT_NDJSON] = "ndjson"};
    char now[CLOCK_TEXT_BYTES];
    clock_format(clock_now(), now);
    reply_set_header(call->reply, "Content-Type", types[export->form]);
    reply_format_header(call->reply, "Content-Disposition", "attachment; filename=\"audit-%.*s.%s\"", DATE_CHARACTERS,
                        now, endings[export->form]);
    if (!id_is_none(export->end))
        reply_set_header(call->reply, "X-Next-Cursor", id_text(call->arena, export->end));
}

struct error *audit_export(struct call *call, const struct audit_filter *filter, struct audit_shown *shown,
                           enum audit_form form, unsigned rows)
{
    struct export *export = arena_alloc(call->arena, sizeof *export);
    *export = (struct export){.service = call->service,
                              .request_id = call->request->request_id,
                              .form = form,
                              .filter = *filter,
                              .shown = shown};
    export->filter.limit = rows < LIMIT_AUDIT_PAGE ? rows : LIMIT_AUDIT_PAGE;
    TRY(audit_list(call->service->database, call->arena, &export->filter, &export->first));
    TRY(find_end(export, call->arena, rows));
    cut(export, &export->first);
    if (shown != NULL)
        TRY(audit_shown_tell(shown, call->arena, &export->first));
    set_headers(call, export);
    call->reply->produce = produce;
    call->reply->context = export;
    return NULL;
}
