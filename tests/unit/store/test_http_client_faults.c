/* SPDX-License-Identifier: MIT */
/* Calls over HTTP where memory is short, and answers with strange headers. */
#include "harness.h"

#include <curl/curl.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "script_server.h"
#include "store/http_client.h"
#include "store/support.h"

/* The next so many calls of libcurl fail for a lack of memory; the first ones succeed. */
static struct {
    size_t lines;     /* of headers, made so far */
    size_t line_fail; /* the line, counted from 1, that cannot be made; 0: none */
    bool no_url;
    bool no_handle;
} fault;

struct curl_slist *__real_curl_slist_append(struct curl_slist *list, const char *line);
struct curl_slist *__wrap_curl_slist_append(struct curl_slist *list, const char *line);
CURLU *__real_curl_url(void);
CURLU *__wrap_curl_url(void);
CURL *__real_curl_easy_init(void);
CURL *__wrap_curl_easy_init(void);

struct curl_slist *__wrap_curl_slist_append(struct curl_slist *list, const char *line)
{
    return ++fault.lines == fault.line_fail ? NULL : __real_curl_slist_append(list, line);
}

CURLU *__wrap_curl_url(void)
{
    return fault.no_url ? NULL : __real_curl_url();
}

CURL *__wrap_curl_easy_init(void)
{
    return fault.no_handle ? NULL : __real_curl_easy_init();
}

struct scene {
    struct arena *arena;
    const char *log;
    const char *base;
    struct http_client *client;
    struct http_client_answer answer;
    const char *reason;
};

static struct scene *scene_of(void **state)
{
    static const char *const none[] = {NULL};
    struct arena *arena = harness_arena(state);
    struct scene *scene = arena_alloc(arena, sizeof *scene);
    const char *directory = harness_directory(arena);
    memset(&fault, 0, sizeof fault);
    scene->arena = arena;
    scene->log = arena_format(arena, "%s/log", directory);
    scene->base = arena_format(arena, "http://127.0.0.1:%s",
                               script_server_start(arena, "tests/unit/store/http_server.py", directory, none));
    help_none(http_client_new(arena, NULL, &scene->client));
    return scene;
}

static bool give(void *context, uint64_t offset, void *bytes, size_t length)
{
    (void)context;
    (void)offset;
    memset(bytes, 'x', length);
    return true;
}

/* A conditional, signed PUT: each of its headers matters. */
static enum http_client_outcome put(struct scene *scene, const char *path)
{
    static const struct http_client_header headers[] = {{"If-None-Match", "*"}, {"X-Thing", "a"}};
    const struct http_client_signature signature = {"eu-central-1", "s3", "AKIDEXAMPLE", secret_of("key"),
                                                    "UNSIGNED-PAYLOAD"};
    const struct http_client_call call = {.method = "PUT",
                                          .url = arena_format(scene->arena, "%s%s", scene->base, path),
                                          .headers = headers,
                                          .header_count = 2,
                                          .source = give,
                                          .body_length = 3,
                                          .signature = &signature,
                                          .milliseconds = 5000};
    fault.lines = 0;
    return http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason);
}

static size_t calls_noted(const struct scene *scene)
{
    size_t count = 0;
    if (access(scene->log, F_OK) != 0)
        return 0;
    for (const char *at = harness_read(scene->arena, scene->log, NULL); (at = strchr(at, '\n')) != NULL; at++)
        count++;
    return count;
}

/* Without its condition a PUT would replace, without its signature it would be refused. */
static void a_call_that_lacks_a_header_is_not_made(void **state)
{
    struct scene *scene = scene_of(state);
    assert_int_equal(put(scene, "/echo"), HTTP_CLIENT_ANSWERED);
    const size_t lines = fault.lines;
    assert_int_equal(lines, 6); /* of the caller two, Host, X-Amz-Date, Authorization, and Expect */
    for (size_t line = 1; line <= lines; line++) {
        fault.line_fail = line;
        assert_int_equal(put(scene, "/echo"), HTTP_CLIENT_UNREACHABLE);
        assert_string_equal(scene->reason, "its headers could not be made");
        assert_int_equal(scene->answer.status, 0);
    }
    fault.line_fail = 0;
    fault.no_url = true;
    assert_int_equal(put(scene, "/echo"), HTTP_CLIENT_UNREACHABLE);
    fault.no_url = false;
    assert_int_equal(calls_noted(scene), 1);
    assert_int_equal(put(scene, "/echo"), HTTP_CLIENT_ANSWERED);
    assert_non_null(strstr(scene->answer.body, "\r\nIf-None-Match: *\r\n"));
    assert_int_equal(calls_noted(scene), 2);
}

static void what_is_no_address_is_not_called(void **state)
{
    struct scene *scene = scene_of(state);
    static const char *const bases[] = {"no address at all", "http://", "http://127.0.0.1:99999"};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        scene->base = bases[i];
        assert_int_equal(put(scene, ""), HTTP_CLIENT_UNREACHABLE);
        assert_non_null(scene->reason);
    }
}

static void without_memory_no_client_is_made_and_no_address_is_usable(void **state)
{
    struct scene *scene = scene_of(state);
    struct http_client *client;
    fault.no_handle = true;
    help_error(http_client_new(scene->arena, NULL, &client), ERROR_INTERNAL);
    fault.no_handle = false;
    assert_true(http_client_url_usable("https://store.example"));
    fault.no_url = true;
    assert_false(http_client_url_usable("https://store.example"));
    fault.no_url = false;
}

static void strange_headers_are_cut_left_out_and_bounded(void **state)
{
    struct scene *scene = scene_of(state);
    const struct http_client_call call = {
        .method = "GET", .url = arena_format(scene->arena, "%s/headers", scene->base), .milliseconds = 5000};
    assert_int_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                     HTTP_CLIENT_ANSWERED);
    assert_int_equal(scene->answer.header_count, HTTP_CLIENT_HEADERS_MAX);
    assert_null(http_client_answer_header(&scene->answer, "X-Long"));
    assert_string_equal(http_client_answer_header(&scene->answer, "X-Empty"), "");
    assert_string_equal(http_client_answer_header(&scene->answer, "X-Blank"), "");
    assert_string_equal(http_client_answer_header(&scene->answer, "X-0"), "value 0");
    assert_null(http_client_answer_header(&scene->answer, "X-39"));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_call_that_lacks_a_header_is_not_made),
    HARNESS_TEST(what_is_no_address_is_not_called),
    HARNESS_TEST(without_memory_no_client_is_made_and_no_address_is_usable),
    HARNESS_TEST(strange_headers_are_cut_left_out_and_bounded),
};
HARNESS_MODULE(http_client_faults, cases)
