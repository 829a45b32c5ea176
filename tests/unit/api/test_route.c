/* SPDX-License-Identifier: MIT */
/* The route table says everything it must, and the committed OpenAPI document is what the table says. */
#include "harness.h"

#include <string.h>

#include "api/document/openapi.h"
#include "api/route.h"
#include "base/arena.h"
#include "codec/document.h"
#include "http/schema.h"

static void every_row_says_who_may_call(void **state)
{
    (void)state;
    const struct route *rows = routes()->rows;
    size_t count = routes()->count;
    assert_true(count >= 15);
    for (size_t i = 0; i < count; i++)
        if (route_fault(&rows[i]) != NULL)
            fail_msg("%s %s %s", request_method_text(rows[i].method), rows[i].path, route_fault(&rows[i]));
}

/* Whoever owns an organisation holds rwx:*, and so every letter but `a` in every module. */
static void a_row_of_module_sys_asks_for_the_letter_a(void **state)
{
    (void)state;
    static const char *const refused[] = {"sys:cache:w", "sys:audit:r", "sys:*:a", "sys:audit", "rwx:*", NULL};
    static const char *const taken[] = {"sys:cache:a", "cus:file:r", "system:file:r"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_non_null(route_fault(&(struct route){.access = ACCESS_PERMISSION, .permission = refused[i]}));
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        assert_null(route_fault(&(struct route){.access = ACCESS_PERMISSION, .permission = taken[i]}));
    assert_non_null(route_fault(&(struct route){.access = ACCESS_TOKEN, .permission = "sys:cache:a"}));
    assert_non_null(route_fault(&(struct route){.access = ACCESS_UNSAID}));
    assert_null(route_fault(&(struct route){.access = ACCESS_TOKEN}));
}

static void every_row_is_complete(void **state)
{
    (void)state;
    const struct route *rows = routes()->rows;
    size_t count = routes()->count;
    for (size_t i = 0; i < count; i++) {
        assert_non_null(rows[i].handler);
        assert_non_null(rows[i].operation);
        assert_non_null(rows[i].summary);
        assert_non_null(rows[i].description);
        assert_true(openapi_has_tag(rows[i].tag));
        bool fields = rows[i].body_kind == BODY_JSON || rows[i].body_kind == BODY_MULTIPART;
        assert_int_equal(fields, rows[i].body != NULL);
        bool written =
            rows[i].reply_kind == REPLY_JSON || rows[i].reply_kind == REPLY_TEXT || rows[i].reply_kind == REPLY_FILE;
        bool upload = rows[i].reply_kind == REPLY_UPLOAD;
        assert_int_equal(upload, rows[i].success != 0);
        if (!upload)
            assert_int_equal(written, rows[i].reply == NULL);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(rows[i].operation, rows[j].operation);
            assert_false(rows[i].method == rows[j].method && strcmp(rows[i].path, rows[j].path) == 0);
        }
    }
}

static void paths_match_exactly(void **state)
{
    struct arena *arena = harness_arena(state);
    struct route_match match;
    route_find(arena, METHOD_GET, "/system/files/abc/info", &match);
    assert_non_null(match.route);
    assert_string_equal(match.route->operation, "getFileInformation");
    assert_string_equal(match.segments[0], "abc");
    assert_null(match.segments[1]);
    route_find(arena, METHOD_HEAD, "/system/files/abc", &match);
    assert_string_equal(match.route->operation, "downloadFile");
    static const char *const unknown[] = {"/",
                                          "/system",
                                          "/system/files/",
                                          "/system/files//info",
                                          "/system/files/a/b/info",
                                          "/SYSTEM/files",
                                          "/system/files/a/info/",
                                          "/customers/login/x",
                                          "/system/health"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        route_find(arena, METHOD_GET, unknown[i], &match);
        assert_null(match.route);
        assert_string_equal(match.allow, "");
    }
    route_find(arena, METHOD_PUT, "/system/files/abc", &match);
    assert_null(match.route);
    assert_string_equal(match.allow, "GET, HEAD, DELETE, PATCH");
}

static void a_path_without_braces_hides_those_with_braces(void **state)
{
    struct arena *arena = harness_arena(state);
    struct route_match match;
    route_find(arena, METHOD_POST, "/system/files/archive", &match);
    assert_non_null(match.route);
    assert_string_equal(match.route->path, "/system/files/archive");
    assert_string_equal(match.allow, "POST");
    route_find(arena, METHOD_GET, "/system/files/archive", &match);
    assert_null(match.route);
    assert_string_equal(match.allow, "POST");
    route_find(arena, METHOD_GET, "/system/files/archives", &match);
    assert_non_null(match.route);
    assert_string_equal(match.route->path, "/system/files/{id}");
}

static void a_path_has_up_to_two_words_in_braces(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct route row = {.access = ACCESS_TOKEN, .path = "/users/{id}/sessions/{sessionId}"};
    struct route_segments segments;
    assert_true(route_path_fits(row.path, "/users/ab/sessions/cde", &segments));
    assert_int_equal(segments.count, 2);
    assert_string_equal(arena_copy(arena, segments.items[0].start, segments.items[0].length), "ab");
    assert_string_equal(arena_copy(arena, segments.items[1].start, segments.items[1].length), "cde");
    static const char *const others[] = {"/users/ab/sessions",      "/users/ab/sessions/",     "/users//sessions/cde",
                                         "/users/ab/sessions/cde/", "/users/ab/cd/sessions/e", "/users/ab/session/cde",
                                         "/users/ab/sessions/c/e"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(route_path_fits(row.path, others[i], &segments));
    assert_string_equal(route_word(arena, &row, 0), "id");
    assert_string_equal(route_word(arena, &row, 1), "sessionId");
    assert_null(route_word(arena, &row, 2));
    assert_null(route_fault(&row));
    assert_non_null(route_fault(&(struct route){.access = ACCESS_TOKEN, .path = "/a/{id}/b/{bId}/c/{cId}"}));
}

static void openapi_is_the_committed_one(void **state)
{
    struct arena *arena = harness_arena(state);
    char *committed = harness_read(arena, harness_source(arena, "docs/openapi.json"), NULL);
    if (strcmp(committed, openapi_text(arena, routes(), NULL)) != 0)
        fail_msg(
            "docs/openapi.json is not what the tables say; write it anew: gatehousectl openapi > docs/openapi.json");
}

static void openapi_has_every_operation(void **state)
{
    struct arena *arena = harness_arena(state);
    struct document *document;
    const struct route *rows = routes()->rows;
    size_t count = routes()->count;
    const char *text = openapi_text(arena, routes(), "https://example.org/api");
    assert_null(document_parse(arena, text, strlen(text), &document));
    for (size_t i = 0; i < count; i++) {
        const struct document *path = document_member(document_member(document, "paths"), rows[i].path);
        const struct document *operation =
            document_member(path, text_lowered(arena, request_method_text(rows[i].method)));
        assert_non_null(operation);
        assert_string_equal(document_text(document_member(operation, "operationId")), rows[i].operation);
        assert_non_null(document_member(document_member(operation, "responses"), "500"));
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(every_row_says_who_may_call),
    HARNESS_TEST(a_row_of_module_sys_asks_for_the_letter_a),
    HARNESS_TEST(every_row_is_complete),
    HARNESS_TEST(paths_match_exactly),
    HARNESS_TEST(a_path_without_braces_hides_those_with_braces),
    HARNESS_TEST(a_path_has_up_to_two_words_in_braces),
    HARNESS_TEST(openapi_is_the_committed_one),
    HARNESS_TEST(openapi_has_every_operation),
};
HARNESS_MODULE(route, cases)
