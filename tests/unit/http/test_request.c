/* SPDX-License-Identifier: MIT */
/* Requests: what the web server hands over is data, and what makes no sense matches nothing. */
#include "harness.h"

#include "base/arena.h"
#include "base/error.h"
#include "fake_source.h"
#include "http/reply.h"
#include "http/request.h"

static void make(struct request *request, struct arena *arena, struct fake_source *source, const char *base)
{
    struct request_source functions = fake_request_source(source);
    request_init(request, arena, &functions, base);
}

static void target_is_split(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct {
        const char *target, *base, *path, *query;
    } table[] = {
        {"/a/b?x=1&y", "", "/a/b", "x=1&y"},
        {"/a?", "", "/a", ""},
        {"/api/a", "/api", "/a", ""},
        {"/api", "/api", "/", ""},
        {"/apix/a", "/api", NULL, ""},
        {"/other", "/api", NULL, ""},
        {"a", "", NULL, ""},
        {"http://host/a?b", "", "/a", "b"},
        {"https://host", "", "/", ""},
        {"/a%2fb", "", "/a%2fb", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct fake_parameter parameters[] = {
            {"REQUEST_METHOD", "GET"}, {"REQUEST_URI", table[i].target}, {NULL, NULL}};
        struct fake_source source = {.parameters = parameters};
        struct request request;
        make(&request, arena, &source, table[i].base);
        if (table[i].path == NULL)
            assert_null(request.path);
        else
            assert_string_equal(request.path, table[i].path);
        assert_string_equal(request.query, table[i].query);
    }
}

static void request_ids_are_kept_or_replaced(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct {
        const char *sent;
        bool kept;
    } table[] = {{"abcd1234", true},
                 {"A.b_c-0123", true},
                 {"short", false},
                 {"with blank 123", false},
                 {"new\nline1234", false},
                 {"", false},
                 {"caf\xc3\xa9"
                  "12345",
                  false}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct fake_parameter parameters[] = {{"HTTP_X_REQUEST_ID", table[i].sent}, {NULL, NULL}};
        struct fake_source source = {.parameters = parameters};
        struct request request;
        make(&request, arena, &source, "");
        if ((strcmp(request.request_id, table[i].sent) == 0) != table[i].kept)
            fail_msg("%s", table[i].sent);
        assert_true(strlen(request.request_id) >= 8);
    }
}

static void body_is_exactly_as_long_as_announced(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct fake_parameter parameters[] = {{"CONTENT_LENGTH", "5"}, {NULL, NULL}};
    struct fake_source source = {.parameters = parameters, .body = "0123456789", .length = 10, .most = 2};
    struct request request;
    char *bytes;
    size_t length;
    make(&request, arena, &source, "");
    assert_null(request_read_all(&request, 100, &bytes, &length));
    assert_int_equal(length, 5);
    assert_memory_equal(bytes, "01234", 6);
    assert_int_equal(request.body_left, 0);
}

static void body_that_ends_early_is_malformed(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct fake_parameter parameters[] = {{"CONTENT_LENGTH", "50"}, {NULL, NULL}};
    struct fake_source source = {.parameters = parameters, .body = "0123456789", .length = 10};
    struct request request;
    char *bytes;
    size_t length;
    make(&request, arena, &source, "");
    struct error *error = request_read_all(&request, 100, &bytes, &length);
    assert_non_null(error);
    assert_int_equal(error->code, ERROR_REQUEST_MALFORMED);
    assert_int_equal(request.body_left, 40);
}

static void body_over_the_bound_is_not_read(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct fake_parameter parameters[] = {{"CONTENT_LENGTH", "11"}, {NULL, NULL}};
    struct fake_source source = {.parameters = parameters, .body = "01234567890", .length = 11};
    struct request request;
    char *bytes;
    size_t length;
    make(&request, arena, &source, "");
    assert_int_equal(request_read_all(&request, 10, &bytes, &length)->code, ERROR_TOO_LARGE);
    assert_int_equal(source.at, 0);
}

static void senseless_lengths_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const lengths[] = {"-1", "abc", "1e3", "99999999999999999999", " 5", "5 ", "0x10", "05"};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const struct fake_parameter parameters[] = {{"CONTENT_LENGTH", lengths[i]}, {NULL, NULL}};
        struct fake_source source = {.parameters = parameters, .body = "x", .length = 1};
        struct request request;
        char *bytes;
        size_t length;
        make(&request, arena, &source, "");
        struct error *error = request_read_all(&request, 100, &bytes, &length);
        if (error == NULL || error->code != ERROR_REQUEST_MALFORMED)
            fail_msg("%s", lengths[i]);
    }
}

static void media_types_are_compared(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct {
        const char *type, *encoding;
        bool good;
    } table[] = {{"application/json", NULL, true},
                 {"Application/JSON; charset=utf-8", NULL, true},
                 {"application/json ;x", "", true},
                 {"application/jsonx", NULL, false},
                 {"text/plain", NULL, false},
                 {NULL, NULL, false},
                 {"", NULL, false},
                 {"application/json", "gzip", false},
                 {"application/jso", NULL, false}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct fake_parameter parameters[] = {
            {"CONTENT_TYPE", table[i].type}, {"HTTP_CONTENT_ENCODING", table[i].encoding}, {NULL, NULL}};
        struct fake_source source = {.parameters = parameters};
        struct request request;
        make(&request, arena, &source, "");
        struct error *error = request_require_type(&request, "application/json");
        assert_int_equal(error == NULL, table[i].good);
        if (error != NULL)
            assert_int_equal(error->code, ERROR_MEDIA_TYPE);
    }
}

static void reply_head_has_each_header_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct reply reply;
    reply_init(&reply, arena);
    reply_set_header(&reply, "X-One", "1");
    reply_set_header(&reply, "x-one", "2");
    reply.status = 404;
    assert_string_equal(reply_head(&reply).bytes, "Status: 404 Not Found\r\nx-one: 2\r\n\r\n");
    assert_string_equal(reply_find_header(&reply, "X-ONE"), "2");
}

/* The line of a status, which names no other one. */
static void assert_named(struct arena *arena, int status)
{
    struct reply reply;
    reply_init(&reply, arena);
    reply.status = status;
    const char *head = reply_head(&reply).bytes;
    assert_non_null(strstr(head, arena_format(arena, "Status: %d ", status)));
    assert_null(strstr(head, " \r\n"));
    assert_int_equal(strstr(head, "Internal Server Error") != NULL, status == 500);
}

static void reply_head_names_each_status_that_is_sent(void **state)
{
    struct arena *arena = harness_arena(state);
    const int good[] = {200, 201, 204, 206, 304};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_named(arena, good[i]);
    for (enum error_code code = 0; code < ERROR_CODE_COUNT; code++)
        assert_named(arena, error_status(code));
}

static void set_bad_header(void *context)
{
    reply_set_header(context, "X-Bad", "a\r\nSet-Cookie: b");
}

static void header_injection_is_impossible(void **state)
{
    struct arena *arena = harness_arena(state);
    struct reply reply;
    reply_init(&reply, arena);
    /* With assertions the process ends, without them the header is dropped. */
    (void)harness_fork(set_bad_header, &reply);
#ifdef NDEBUG
    set_bad_header(&reply);
#else
    assert_int_not_equal(harness_fork(set_bad_header, &reply), 0);
#endif
    assert_null(strstr(reply_head(&reply).bytes, "Set-Cookie"));
}

static void only_a_question_has_an_announced_length(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct {
        enum request_kind kind;
        const char *text;
        int64_t length;
    } table[] = {
        {REQUEST_WHOLE, "5", -1},       {REQUEST_QUESTION, "5", 5},
        {REQUEST_AUTHORISER, "0", 0},   {REQUEST_QUESTION, NULL, -1},
        {REQUEST_QUESTION, "", -1},     {REQUEST_QUESTION, "-1", -1},
        {REQUEST_AUTHORISER, "5x", -1}, {REQUEST_QUESTION, "99999999999999999999", -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct fake_parameter parameters[] = {
            {"REQUEST_METHOD", "POST"},
            {"REQUEST_URI", "/a"},
            {table[i].text == NULL ? "OTHER" : ANNOUNCED_PARAMETER, table[i].text},
            {NULL, NULL}};
        struct fake_source source = {.parameters = parameters, .kind = table[i].kind};
        struct request request;
        make(&request, arena, &source, "");
        assert_int_equal(request.announced_length, table[i].length);
        assert_int_equal(request.content_length, 0);
    }
}

static void a_question_takes_its_id_from_the_web_server(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct fake_parameter parameters[] = {{"REQUEST_METHOD", "POST"},
                                                {"REQUEST_URI", "/a"},
                                                {"HTTP_X_REQUEST_ID", "from-the-client"},
                                                {REQUEST_ID_PARAMETER, "from-the-server"},
                                                {NULL, NULL}};
    struct fake_source source = {.parameters = parameters, .kind = REQUEST_AUTHORISER};
    struct request request;
    make(&request, arena, &source, "");
    assert_string_equal(request.request_id, "from-the-server");
    source.kind = REQUEST_WHOLE;
    make(&request, arena, &source, "");
    assert_string_equal(request.request_id, "from-the-client");
}

static void body_in_chunks_without_a_length_ends_when_it_ends(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct fake_parameter parameters[] = {
        {"REQUEST_METHOD", "POST"}, {"REQUEST_URI", "/a"}, {"HTTP_TRANSFER_ENCODING", "chunked"}, {NULL, NULL}};
    struct request request;
    char *bytes;
    size_t length;
    struct fake_source source = {.parameters = parameters, .body = "0123456789", .length = 10, .most = 3};
    make(&request, arena, &source, "");
    assert_null(request_read_all(&request, 10, &bytes, &length));
    assert_int_equal(length, 10);
    assert_memory_equal(bytes, "0123456789", 10);
    assert_int_equal(request.body_left, 0);
    source.at = 0;
    make(&request, arena, &source, "");
    assert_int_equal(request_read_all(&request, 9, &bytes, &length)->code, ERROR_TOO_LARGE);
    source.at = 0;
    source.breaks = true;
    make(&request, arena, &source, "");
    assert_int_equal(request_read_all(&request, 20, &bytes, &length)->code, ERROR_REQUEST_MALFORMED);
    source.kind = REQUEST_QUESTION;
    make(&request, arena, &source, "");
    assert_int_equal(request.content_length, 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(body_in_chunks_without_a_length_ends_when_it_ends),
    HARNESS_TEST(only_a_question_has_an_announced_length),
    HARNESS_TEST(a_question_takes_its_id_from_the_web_server),
    HARNESS_TEST(target_is_split),
    HARNESS_TEST(request_ids_are_kept_or_replaced),
    HARNESS_TEST(body_is_exactly_as_long_as_announced),
    HARNESS_TEST(body_that_ends_early_is_malformed),
    HARNESS_TEST(body_over_the_bound_is_not_read),
    HARNESS_TEST(senseless_lengths_are_refused),
    HARNESS_TEST(media_types_are_compared),
    HARNESS_TEST(reply_head_has_each_header_once),
    HARNESS_TEST(reply_head_names_each_status_that_is_sent),
    HARNESS_TEST(header_injection_is_impossible),
};
HARNESS_MODULE(request, cases)
