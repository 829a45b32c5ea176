/* SPDX-License-Identifier: MIT */
/*
 * Serves requests. The order of the checks (docs/api.md) is the order of the lines in serve(): route, token,
 * permission, input, handler. The body is not read before token and permission are checked.
 */
#include "api/dispatch.h"

#include <string.h>

#include "api/admission.h"
#include "api/error_reply.h"
#include "api/handlers_int.h"
#include "api/route.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/host/process.h"
#include "base/language.h"
#include "base/log.h"
#include "base/metrics.h"
#include "codec/digest.h"
#include "codec/document.h"
#include "codec/encoding.h"
#include "domain/audit.h"
#include "domain/permission/permission_use.h"
#include "domain/permission/principal.h"
#include "http/range.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/schema.h"
#include "service/access/caller_audit.h"
#include "service/access/signed_link.h"
#include "service/file/upload_bound.h"
#include "service/runtime/change_follower.h"
#include "service/runtime/service.h"
#include "service/runtime/use_log.h"

#define JSON_TYPE "application/json; charset=utf-8"

/* So many bytes of a digest are the ETag of a reply: enough that two texts never share one by chance. */
#define TAG_BYTES 16

/* The Origin header when it is one of the configured origins, else NULL. */
static const char *allowed_origin(const struct call *call)
{
    const char *origin = request_header(call->request, "ORIGIN");
    if (origin == NULL || !text_list_has(&call->service->configuration->service.cors_origins, origin))
        return NULL;
    return origin;
}

static void set_common_headers(struct call *call)
{
    struct reply *reply = call->reply;
    reply_set_header(reply, "X-Request-Id", call->request->request_id);
    reply_set_header(reply, "X-Api-Version", API_VERSION);
    reply_set_header(reply, "X-Content-Type-Options", "nosniff");
    if (reply_find_header(reply, "Cache-Control") == NULL)
        reply_set_header(reply, "Cache-Control", "no-store");
    if (call->service->configuration->service.cors_origins.count == 0)
        return;
    const char *vary = reply_find_header(reply, "Vary");
    reply_set_header(reply, "Vary", vary == NULL ? "Origin" : arena_format(call->arena, "%s, Origin", vary));
    const char *origin = allowed_origin(call);
    if (origin != NULL) {
        reply_set_header(reply, "Access-Control-Allow-Origin", origin);
        reply_set_header(reply, "Access-Control-Expose-Headers",
                         "X-Request-Id, X-Api-Version, ETag, Retry-After, WWW-Authenticate, Content-Disposition, "
                         "X-Next-Cursor");
    }
}

/* Answers a CORS pre-flight from a configured origin. False: it is none, and its method is unknown. */
static bool answer_preflight(struct call *call, const char *allow)
{
    if (call->request->method != METHOD_OPTIONS || allowed_origin(call) == NULL ||
        request_header(call->request, "ACCESS_CONTROL_REQUEST_METHOD") == NULL)
        return false;
    reply_set_header(call->reply, "Allow", allow);
    reply_set_header(call->reply, "Access-Control-Allow-Methods", allow);
    reply_set_header(call->reply, "Access-Control-Allow-Headers",
                     "Authorization, Content-Type, If-Match, If-None-Match, If-Range, Range, X-Request-Id, X-Reason");
    reply_set_header(call->reply, "Access-Control-Max-Age", "600");
    return true;
}

/* Whether the web server only asks if the body may come (api/admission.h). */
static bool is_question(const struct call *call)
{
    return call->request->source.kind != REQUEST_WHOLE;
}

static struct error *find_route(struct call *call, struct route_match *match)
{
    route_find(call->arena, call->request->method, call->request->path, match);
    call->route = match->route;
    if (match->allow[0] == '\0' || (is_question(call) && match->route != NULL && match->route->admit == NULL))
        return error_plain(call->arena, ERROR_ROUTE_UNKNOWN);
    return NULL;
}

/* A body of a file may take hours, and nothing is written meanwhile: what was noted is written before it. */
static void note_use(struct call *call)
{
    use_log_note(call->service->uses, caller_user(&call->caller), call->route->permission, permission_use_today());
    if (call->route->body_kind != BODY_JSON && call->route->body_kind != BODY_NONE && !is_question(call))
        use_log_flush(call->service, call->arena);
}

static struct error *check_caller(struct call *call, const struct id *file)
{
    const struct route *route = call->route;
    if (route->access == ACCESS_PUBLIC)
        return NULL;
    TRY(caller_authenticate(call->service, call->arena, request_header(call->request, "AUTHORIZATION"), file,
                            &call->caller, &call->file));
    caller_log_actor(call->arena, &call->caller.principal->user);
    if (route->access != ACCESS_PERMISSION)
        return NULL;
    TRY(caller_require(call->arena, &call->caller, route->permission));
    note_use(call);
    return NULL;
}

/* Opens the link of the row, which stands in for token and permission. */
static struct error *open_link(struct call *call, const char *segment)
{
    if (!call->route->names_link)
        return NULL;
    return signed_link_open(call->service, call->arena, segment, &call->file, &call->id, &call->link_maker);
}

/*
 * A public request that uses what the process keeps must know that it is still right
 * (service/runtime/change_follower.h).
 */
static struct error *follow_changes(struct call *call)
{
    const struct route *route = call->route;
    if (route->access != ACCESS_PUBLIC || route->offline == OFFLINE_ONLY || route->names_link)
        return NULL;
    if (route->offline == OFFLINE_NOT)
        return change_follower_catch_up(call->service, call->arena);
    change_follower_try_catch_up(call->service, call->arena);
    return NULL;
}

static struct error *read_query(struct call *call, struct validation *validation)
{
    static const struct schema no_query = {.name = "NoQuery", .size = 1};
    const struct schema *schema = call->route->query != NULL ? call->route->query : &no_query;
    struct schema_pair *pairs;
    size_t count;
    TRY(schema_split_query(call->arena, call->request->query, &pairs, &count));
    call->query = schema_read_pairs(schema, pairs, count, validation, &call->query_present);
    return NULL;
}

/* Whether the request may come without a body: then an empty object is taken, when the row requires no member. */
static bool may_lack_body(const struct call *call)
{
    const struct schema *schema = call->route->body;
    for (size_t i = 0; i < schema->count; i++)
        if ((schema->fields[i].flags & SCHEMA_REQUIRED) != 0)
            return false;
    return call->request->content_length == 0 && request_content_type(call->request) == NULL;
}

static struct error *read_body(struct call *call, struct validation *validation)
{
    const struct route *route = call->route;
    char *bytes;
    size_t length;
    struct document *document;
    if (route->body_kind == BODY_MULTIPART)
        return request_require_type(call->request, "multipart/form-data");
    if (route->body_kind != BODY_JSON)
        return NULL;
    if (may_lack_body(call)) {
        TRY(document_parse(call->arena, "{}", 2, &document));
        call->body = schema_read(route->body, document, validation, &call->body_present);
        return NULL;
    }
    TRY(request_require_type(call->request, "application/json"));
    TRY(request_read_all(call->request, call->service->configuration->service.max_json_bytes, &bytes, &length));
    TRY(document_parse(call->arena, bytes, length, &document));
    call->body = schema_read(route->body, document, validation, &call->body_present);
    return NULL;
}

/* Reads the ids that the path names. Bit n of the result: word n is an id. */
static unsigned read_ids(struct call *call, const struct route_match *match)
{
    struct id *ids[ROUTE_WORDS_MAX] = {&call->id, &call->second_id};
    unsigned good = 0;
    for (unsigned i = 0; i < ROUTE_WORDS_MAX; i++)
        if (match->segments[i] != NULL && id_parse_given(match->segments[i], ids[i]))
            good |= 1U << i;
    return good;
}

/*
 * Reads why internal staff look into another organisation. Who does not cross a boundary may send it, too: nobody knows
 * beforehand where an id leads.
 */
static void read_reason(struct call *call, struct validation *validation)
{
    const char *reason = request_header(call->request, "X_REASON");
    if (call->caller.principal == NULL || reason == NULL)
        return;
    caller_reason_validate(reason, validation);
    call->caller.reason = reason;
}

/* Reads path, query and body, and collects every failing path. */
static struct error *read_input(struct call *call, unsigned ids)
{
    struct validation validation;
    const char *word;
    validation_init(&validation, call->arena);
    for (unsigned i = 0; !call->route->names_link && (word = route_word(call->arena, call->route, i)) != NULL; i++)
        if ((ids & 1U << i) == 0)
            validation_add(&validation, "format", "must be an id: 36 lower-case characters", "%s", word);
    read_reason(call, &validation);
    TRY(read_query(call, &validation));
    TRY(read_body(call, &validation));
    if (call->route->validate != NULL && (call->body != NULL || call->route->body_kind != BODY_JSON))
        TRY(call->route->validate(call, &validation));
    return validation.error;
}

/* Gives the reply the digest of its body as its ETag, and leaves the body out where the client has it already. */
static void tag_reply(struct call *call)
{
    struct reply *reply = call->reply;
    uint8_t digest[DIGEST_BYTES];
    digest_sha256(reply->body.bytes, reply->body.length, digest);
    const char *etag = arena_format(call->arena, "\"%s\"", hex_encode(call->arena, digest, TAG_BYTES));
    const char *known = request_header(call->request, "IF_NONE_MATCH");
    reply_set_header(reply, "ETag", etag);
    if (known == NULL || !range_names(known, etag, true))
        return;
    reply->status = 304;
    reply->no_body = true;
}

/* Whether there is a result that is still to be written. */
static bool has_result(const struct call *call)
{
    return call->reply->produce == NULL && (call->route->reply_kind != REPLY_UPLOAD || call->result != NULL);
}

static void write_result(struct call *call)
{
    struct buffer *body = &call->reply->body;
    if (!has_result(call))
        return;
    switch (call->route->reply_kind) {
    case REPLY_SUCCESS:
        buffer_add_text(body, "{\"status\":\"success\",\"message\":");
        buffer_add_json_text(body, call->success);
        buffer_add_char(body, '}');
        break;
    case REPLY_OBJECT_OR_LIST:
        if (call->results != NULL) {
            for (size_t i = 0; i < call->result_count; i++) {
                buffer_add_char(body, i == 0 ? '[' : ',');
                schema_write(body, call->route->reply, call->results[i]);
            }
            buffer_add_char(body, ']');
            break;
        }
        schema_write(body, call->route->reply, call->result);
        break;
    case REPLY_ONE_OF_TWO:
        if (call->other_result != NULL)
            schema_write(body, call->route->other_reply, call->other_result);
        else
            schema_write(body, call->route->reply, call->result);
        break;
    case REPLY_OBJECT:
    case REPLY_UPLOAD:
        schema_write(body, call->route->reply, call->result);
        break;
    case REPLY_JSON:
        break;
    case REPLY_TEXT:
    case REPLY_FILE:
        return;
    }
    reply_set_header(call->reply, "Content-Type", JSON_TYPE);
    if (call->route->tagged)
        tag_reply(call);
}

static struct error *serve(struct call *call)
{
    struct route_match match;
    struct error *unknown = find_route(call, &match);
    change_follower_follow_host(call->service, call->arena,
                                match.route == NULL || match.route->offline != OFFLINE_ONLY);
    if (unknown != NULL)
        return unknown;
    if (answer_preflight(call, match.allow)) {
        call->reply->status = match.route == NULL ? 200 : match.route->success;
        return NULL;
    }
    if (match.route == NULL) {
        reply_set_header(call->reply, "Allow", match.allow);
        return error_plain(call->arena, ERROR_ROUTE_METHOD);
    }
    log_context(call->request->request_id, NULL, NULL, call->route->operation);
    call->caller.operation = call->route->operation;
    if (call->route->admit != NULL && call->route->body_kind != BODY_NONE && !is_question(call))
        upload_bound_end(call->service, call->request);
    unsigned ids = read_ids(call, &match);
    TRY(check_caller(call, call->route->names_file && (ids & 1) != 0 ? &call->id : NULL));
    if (is_question(call))
        return call->route->admit(call);
    TRY(open_link(call, match.segments[0]));
    if (call->route->check != NULL)
        TRY(call->route->check(call));
    TRY(read_input(call, ids));
    TRY(follow_changes(call));
    TRY(call->route->handler(call));
    write_result(call);
    return NULL;
}

static void log_failure(const struct error *error)
{
    if (error_status(error->code) >= 500)
        LOG(ERROR, HTTP, "the request failed", LOG_TEXT("code", error_code_text(error->code)),
            LOG_TEXT("detail", error->detail), LOG_TEXT("stack", error->stack));
    else if (error->detail != NULL)
        LOG(DEBUG, HTTP, "the request was refused", LOG_TEXT("code", error_code_text(error->code)),
            LOG_TEXT("detail", error->detail));
}

/*
 * Writes every 403 of a known caller to the audit trail, whatever the log settings say. A database that fails here must
 * not turn the refusal into another error.
 */
static void audit_denial(struct call *call, const struct error *error)
{
    struct buffer details;
    buffer_init(&details, call->arena);
    buffer_add_text(&details, "{\"operation\":");
    buffer_add_json_text(&details, call->route->operation);
    buffer_add_text(&details, ",\"code\":");
    buffer_add_json_text(&details, error_code_text(error->code));
    for (const struct error_member *member = error->members; member != NULL; member = member->next) {
        buffer_add_char(&details, ',');
        buffer_add_json_text(&details, member->name);
        buffer_add_char(&details, ':');
        buffer_add_json_text(&details, member->value);
    }
    buffer_add_char(&details, '}');
    struct audit_entry entry = {.action = "access.denied", .outcome = "failure", .details = details.bytes};
    struct error *failure = caller_audit(call->service, call->arena, &call->caller, &entry);
    if (failure != NULL)
        LOG(ERROR, HTTP, "a refusal was not written to the audit trail", LOG_TEXT("detail", failure->detail));
}

static void fail(struct call *call, const struct error *error)
{
    if (error_status(error->code) == 403 && call->caller.principal != NULL)
        audit_denial(call, error);
    log_failure(error);
    error_reply(call->reply, error, call->request->request_id, call->service->configuration->service.expose_stack);
}

static void log_request(const struct call *call, const struct error *error, int64_t microseconds)
{
    int status = call->reply->status;
    LOG(INFO, HTTP, "request", LOG_TEXT("method", request_method_text(call->request->method)),
        LOG_TEXT("permission", call->route == NULL ? NULL : call->route->permission), LOG_INTEGER("status", status),
        LOG_TEXT("outcome", status < 400 ? "success" : "failure"),
        LOG_REAL("durationMs", (double)microseconds / 1000.0),
        LOG_TEXT("code", error == NULL ? NULL : error_code_text(error->code)),
        LOG_TEXT("clientAddress", call->request->client_address));
}

void dispatch_open(void)
{
    const struct route_table *table = routes();
    for (size_t i = 0; i < table->count; i++)
        (void)metrics_operation(table->rows[i].operation);
}

/*
 * The number of the operation for the metrics: operations were named in the order of the table, and 0 stands for no
 * operation.
 */
static unsigned operation_number(const struct call *call)
{
    return call->route == NULL ? 0 : (unsigned)(call->route - call->routes->rows) + 1;
}

/*
 * Writes the log line and counts the request. A body that may come returns as a request, which is logged and counted
 * then; a refused one does not return.
 */
static void end(const struct call *call, const struct error *error, int64_t started)
{
    int64_t ended = clock_monotonic();
    if (!is_question(call) || error != NULL) {
        log_request(call, error, ended - started);
        metrics_request(operation_number(call), call->reply->status, ended - started);
    }
    host_process_idle();
    host_process_follow(ended);
}

void dispatch(struct service *service, struct request *request, struct reply *reply)
{
    int64_t started = clock_monotonic();
    host_process_busy();
    struct call call = {
        .service = service, .arena = request->arena, .request = request, .reply = reply, .routes = routes()};
    call.caller.client_address = request->client_address;
    call.caller.user_agent = request_header(request, "USER_AGENT");
    call.caller.request_id = request->request_id;
    call.caller.reason_required = strcmp(service->configuration->service.crossing_reason, "required") == 0;
    log_context(request->request_id, NULL, NULL, NULL);
    uploads_override_method(request);
    service->reader = language_pick(&service->languages, request_header(request, "ACCEPT_LANGUAGE"));
    reply_init(reply, request->arena);
    reply->no_body = request->method == METHOD_HEAD;
    struct error *error = serve(&call);
    if (error != NULL)
        fail(&call, error);
    set_common_headers(&call);
    uploads_set_headers(&call);
    end(&call, error, started);
    if (is_question(&call))
        admission_answer(&call);
    log_context(NULL, NULL, NULL, NULL);
}
