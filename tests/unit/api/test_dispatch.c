/* SPDX-License-Identifier: MIT */
/* The order of checks and the shape of failures, as far as they need no database. */
#include "harness.h"

#include <string.h>

#include "api/dispatch.h"
#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/host/hints.h"
#include "base/host/process.h"
#include "codec/document.h"
#include "http/fake_source.h"
#include "http/reply.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

struct exchange {
    struct arena *arena;
    struct configuration *configuration;
    struct fake_source source;
    enum request_kind kind;
    struct request request;
    struct reply reply;
    struct document *body;
    struct database *database;
    struct followed_changes changes;
};

static void exchange_run(struct exchange *exchange, struct arena *arena, const struct fake_parameter *parameters,
                         const char *body)
{
    struct service service = {.arena = arena, .database = exchange->database, .changes = exchange->changes};
    exchange->arena = arena;
    harness_environment(arena, "GATEHOUSE_SERVICE_BASE_URL", "http://example.org");
    harness_environment(arena, "GATEHOUSE_SERVICE_CORS_ORIGINS", "https://app.example.org");
    harness_environment(arena, "GATEHOUSE_LOG_LEVEL", "fatal");
    assert_null(configuration_load(arena, NULL, &exchange->configuration));
    service.configuration = exchange->configuration;
    exchange->source =
        (struct fake_source){.parameters = parameters, .body = body, .length = strlen(body), .kind = exchange->kind};
    struct request_source functions = fake_request_source(&exchange->source);
    request_init(&exchange->request, arena, &functions, "");
    dispatch(&service, &exchange->request, &exchange->reply);
    exchange->changes = service.changes;
    if (exchange->reply.body.length > 0)
        assert_null(document_parse(arena, exchange->reply.body.bytes, exchange->reply.body.length, &exchange->body));
}

static const char *member(const struct exchange *exchange, const char *name)
{
    return document_text(document_member(exchange->body, name));
}

static void health_answers_with_the_common_headers(void **state)
{
    struct exchange exchange = {0};
    const struct fake_parameter parameters[] = {{"REQUEST_METHOD", "GET"},
                                                {"REQUEST_URI", "/system/health/live"},
                                                {"HTTP_X_REQUEST_ID", "client-made-1"},
                                                {NULL, NULL}};
    exchange_run(&exchange, harness_arena(state), parameters, "");
    assert_int_equal(exchange.reply.status, 200);
    assert_string_equal(exchange.reply.body.bytes, "{\"status\":\"ok\"}");
    assert_string_equal(reply_find_header(&exchange.reply, "X-Request-Id"), "client-made-1");
    assert_string_equal(reply_find_header(&exchange.reply, "X-Api-Version"), "1.0.0");
    assert_string_equal(reply_find_header(&exchange.reply, "Cache-Control"), "no-store");
    assert_string_equal(reply_find_header(&exchange.reply, "X-Content-Type-Options"), "nosniff");
}

/* A change that this worker has not followed, and a database that was not there at the last try. */
static bool tries_again(struct arena *arena, struct database *database, const char *path, int status)
{
    struct exchange exchange = {.database = database, .changes = {.retry_at = 1}};
    const struct fake_parameter parameters[] = {{"REQUEST_METHOD", "GET"}, {"REQUEST_URI", path}, {NULL, NULL}};
    exchange_run(&exchange, arena, parameters, "");
    assert_int_equal(exchange.reply.status, status);
    return exchange.changes.retry_at != 1;
}

static void liveness_does_not_wait_for_a_database_that_is_away(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena), *problem = NULL;
    struct database *database = database_new(&(struct database_options){
        .socket = arena_format(arena, "%s/nobody", directory), .user = "nobody", .query_timeout_seconds = 1});
    assert_true(host_process_open(arena_format(arena, "%s/metrics", directory), &problem));
    host_hints_publish_change_version(2);
    assert_false(tries_again(arena, database, "/system/health/live", 200));
    assert_true(tries_again(arena, database, "/system/version", 200));
    assert_true(tries_again(arena, database, "/nowhere", 404));
    host_process_close();
    database_free(&database);
}

static void failures_have_all_six_members(void **state)
{
    struct exchange exchange = {0};
    const struct fake_parameter parameters[] = {{"REQUEST_METHOD", "GET"}, {"REQUEST_URI", "/nowhere"}, {NULL, NULL}};
    exchange_run(&exchange, harness_arena(state), parameters, "");
    assert_int_equal(exchange.reply.status, 404);
    assert_int_equal(document_count(exchange.body), 6);
    assert_string_equal(member(&exchange, "status"), "error");
    assert_string_equal(member(&exchange, "code"), "route.unknown");
    assert_string_equal(member(&exchange, "stack"), "");
    assert_non_null(member(&exchange, "message"));
    assert_string_equal(document_text(document_member(document_member(exchange.body, "body"), "requestId")),
                        exchange.request.request_id);
    assert_int_equal(document_kind(document_member(exchange.body, "validation")), DOCUMENT_ARRAY);
}

static void wrong_method_comes_before_the_token(void **state)
{
    struct exchange exchange = {0};
    const struct fake_parameter parameters[] = {
        {"REQUEST_METHOD", "BREW"}, {"REQUEST_URI", "/system/files"}, {NULL, NULL}};
    exchange_run(&exchange, harness_arena(state), parameters, "");
    assert_int_equal(exchange.reply.status, 405);
    assert_string_equal(reply_find_header(&exchange.reply, "Allow"), "POST, GET, HEAD");
}

static void token_comes_before_body_and_parameters(void **state)
{
    struct exchange exchange = {0};
    const struct fake_parameter parameters[] = {
        {"REQUEST_METHOD", "POST"}, {"REQUEST_URI", "/customers/signup?nope=1"}, {"CONTENT_LENGTH", "3"}, {NULL, NULL}};
    exchange_run(&exchange, harness_arena(state), parameters, "{x}");
    assert_int_equal(exchange.reply.status, 401);
    assert_string_equal(member(&exchange, "code"), "auth.tokenMissing");
    assert_string_equal(reply_find_header(&exchange.reply, "WWW-Authenticate"), "Bearer");
    assert_int_equal(exchange.source.at, 0);
}

static void query_and_body_faults_come_together(void **state)
{
    struct exchange exchange = {0};
    const struct fake_parameter parameters[] = {{"REQUEST_METHOD", "POST"},
                                                {"REQUEST_URI", "/customers/login?nope=1"},
                                                {"CONTENT_TYPE", "application/json"},
                                                {"CONTENT_LENGTH", "17"},
                                                {NULL, NULL}};
    exchange_run(&exchange, harness_arena(state), parameters, "{\"password\":true}");
    assert_int_equal(exchange.reply.status, 400);
    assert_string_equal(member(&exchange, "code"), "request.invalid");
    assert_int_equal(document_count(document_member(exchange.body, "validation")), 3);
}

static void head_has_no_body_and_the_same_status(void **state)
{
    struct exchange exchange = {0};
    const struct fake_parameter parameters[] = {
        {"REQUEST_METHOD", "HEAD"}, {"REQUEST_URI", "/system/health/live"}, {NULL, NULL}};
    exchange_run(&exchange, harness_arena(state), parameters, "");
    assert_int_equal(exchange.reply.status, 200);
    assert_true(exchange.reply.no_body);
}

static void preflight_is_for_configured_origins_only(void **state)
{
    struct exchange exchange = {0};
    const struct fake_parameter good[] = {{"REQUEST_METHOD", "OPTIONS"},
                                          {"REQUEST_URI", "/system/files"},
                                          {"HTTP_ORIGIN", "https://app.example.org"},
                                          {"HTTP_ACCESS_CONTROL_REQUEST_METHOD", "POST"},
                                          {NULL, NULL}};
    exchange_run(&exchange, harness_arena(state), good, "");
    assert_int_equal(exchange.reply.status, 200);
    assert_string_equal(reply_find_header(&exchange.reply, "Access-Control-Allow-Origin"), "https://app.example.org");
    const struct fake_parameter evil[] = {{"REQUEST_METHOD", "OPTIONS"},
                                          {"REQUEST_URI", "/system/files"},
                                          {"HTTP_ORIGIN", "https://evil.example.org"},
                                          {"HTTP_ACCESS_CONTROL_REQUEST_METHOD", "POST"},
                                          {NULL, NULL}};
    exchange_run(&exchange, harness_arena(state), evil, "");
    assert_int_equal(exchange.reply.status, 405);
    assert_null(reply_find_header(&exchange.reply, "Access-Control-Allow-Origin"));
}

/* Who asks gets the refusal in variables: nginx with a status that it understands, an authoriser with 200. */
static void a_question_is_answered_in_variables(void **state)
{
    static const struct {
        enum request_kind kind;
        int status;
    } table[] = {{REQUEST_QUESTION, 403}, {REQUEST_AUTHORISER, 200}};
    const struct fake_parameter parameters[] = {{"REQUEST_METHOD", "POST"},
                                                {"REQUEST_URI", "/system/files"},
                                                {"HTTP_ORIGIN", "https://app.example.org"},
                                                {"HTTP_X_REQUEST_ID", "client-made-1"},
                                                {NULL, NULL}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct exchange exchange = {.kind = table[i].kind};
        const struct reply *reply = &exchange.reply;
        exchange_run(&exchange, harness_arena(state), parameters, "");
        assert_int_equal(reply->status, table[i].status);
        assert_int_equal(reply->body.length, 0);
        assert_string_equal(reply_find_header(reply, "Variable-GATEHOUSE_STATUS"), "401");
        assert_string_equal(reply_find_header(reply, "Variable-GATEHOUSE_AUTHENTICATE"), "Bearer");
        assert_string_equal(reply_find_header(reply, "Variable-GATEHOUSE_ORIGIN"), "https://app.example.org");
        assert_non_null(strstr(reply_find_header(reply, "Variable-GATEHOUSE_BODY"), "\"auth.tokenMissing\""));
        assert_null(reply_find_header(reply, "Variable-GATEHOUSE_USER"));
        assert_null(reply_find_header(reply, "X-Request-Id"));
    }
}

static void a_question_about_anything_but_a_body_gets_nowhere(void **state)
{
    static const char *const table[][2] = {{"GET", "/system/health/live"},
                                           {"GET", "/system/files"},
                                           {"POST", "/customers/login"},
                                           {"POST", "/customers/logout"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct exchange exchange = {.kind = REQUEST_AUTHORISER};
        const struct fake_parameter parameters[] = {
            {"REQUEST_METHOD", table[i][0]}, {"REQUEST_URI", table[i][1]}, {NULL, NULL}};
        exchange_run(&exchange, harness_arena(state), parameters, "");
        assert_int_equal(exchange.reply.status, 404);
        assert_string_equal(member(&exchange, "code"), "route.unknown");
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_question_is_answered_in_variables),
    HARNESS_TEST(a_question_about_anything_but_a_body_gets_nowhere),
    HARNESS_TEST(health_answers_with_the_common_headers),
    HARNESS_TEST(liveness_does_not_wait_for_a_database_that_is_away),
    HARNESS_TEST(failures_have_all_six_members),
    HARNESS_TEST(wrong_method_comes_before_the_token),
    HARNESS_TEST(token_comes_before_body_and_parameters),
    HARNESS_TEST(query_and_body_faults_come_together),
    HARNESS_TEST(head_has_no_body_and_the_same_status),
    HARNESS_TEST(preflight_is_for_configured_origins_only),
};
HARNESS_MODULE(dispatch, cases)
