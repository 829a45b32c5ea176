/* SPDX-License-Identifier: MIT */
/* Where a request that asks for the cookie of a browser's session may come from, as far as that needs no database. */
#include "harness.h"

#include <string.h>

#include "api/dispatch.h"
#include "base/arena.h"
#include "base/configuration.h"
#include "codec/document.h"
#include "http/fake_source.h"
#include "http/reply.h"
#include "service/runtime/service.h"

#define OWN "https://gatehouse.example.org/api"
#define PAGES "https://app.example.org"
#define LOCAL "http://127.0.0.1:8080"

/* The status of a request with that body and up to four headers; a body that lacks a member is 400 once it is read. */
static int status_of(struct arena *arena, const char *base_url, const char *path, const char *body,
                     const struct fake_parameter headers[4])
{
    struct fake_parameter parameters[10] = {
        {"REQUEST_METHOD", "POST"},
        {"REQUEST_URI", path},
        {"CONTENT_TYPE", "application/json"},
        {"CONTENT_LENGTH", arena_format(arena, "%zu", strlen(body))},
    };
    size_t count = 4;
    for (size_t i = 0; i < 4 && headers[i].name != NULL; i++)
        parameters[count++] = headers[i];
    struct service service = {.arena = arena};
    struct fake_source source = {.parameters = parameters, .body = body, .length = strlen(body)};
    struct configuration *configuration;
    struct request request;
    struct reply reply;
    harness_environment(arena, "GATEHOUSE_SERVICE_BASE_URL", base_url);
    harness_environment(arena, "GATEHOUSE_SERVICE_WEB_URL", strcmp(base_url, OWN) == 0 ? PAGES : base_url);
    harness_environment(arena, "GATEHOUSE_SERVICE_CORS_ORIGINS", "https://other.example.org");
    harness_environment(arena, "GATEHOUSE_LOG_LEVEL", "fatal");
    assert_null(configuration_load(arena, NULL, &configuration));
    service.configuration = configuration;
    struct request_source functions = fake_request_source(&source);
    request_init(&request, arena, &functions, strcmp(base_url, OWN) == 0 ? "/api" : "");
    dispatch(&service, &request, &reply);
    assert_null(reply_find_header(&reply, "Set-Cookie"));
    return reply.status;
}

static const char asking[] = "{\"session\":\"cookie\"}";

static bool lets_in(struct arena *arena, const char *base_url, const char *site, const char *origin)
{
    struct fake_parameter headers[4] = {{NULL, NULL}};
    size_t count = 0;
    if (site != NULL)
        headers[count++] = (struct fake_parameter){"HTTP_SEC_FETCH_SITE", site};
    if (origin != NULL)
        headers[count++] = (struct fake_parameter){"HTTP_ORIGIN", origin};
    const char *path = strcmp(base_url, OWN) == 0 ? "/api/customers/login" : "/customers/login";
    int status = status_of(arena, base_url, path, asking, headers);
    assert_true(status == 400 || status == 403);
    return status == 400;
}

static void pages_of_this_service_may_ask(void **state)
{
    static const struct {
        const char *base_url, *site, *origin;
    } rows[] = {
        {OWN, "same-origin", NULL},
        {OWN, "same-origin", "https://gatehouse.example.org"},
        {OWN, NULL, "https://gatehouse.example.org"},
        {OWN, NULL, "https://gatehouse.example.org:443"},
        {OWN, NULL, "https://GATEHOUSE.example.org"},
        {OWN, NULL, PAGES},
        {OWN, "same-site", PAGES},
        {LOCAL, "same-origin", NULL},
        {LOCAL, "same-origin", "http://localhost:8080"},
        {LOCAL, NULL, "http://127.0.0.1:8080"},
        {LOCAL, NULL, "http://[::1]:8080"},
        {"http://[::1]:8080", NULL, "http://[::1]:8080"},
        {"https://host.example.org:8443", NULL, "https://host.example.org:8443"},
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!lets_in(arena, rows[i].base_url, rows[i].site, rows[i].origin))
            fail_msg("%zu", i);
}

static void nobody_else_may_ask(void **state)
{
    static const struct {
        const char *base_url, *site, *origin;
    } rows[] = {
        {OWN, NULL, NULL},
        {OWN, "", NULL},
        {OWN, "none", NULL},
        {OWN, "cross-site", NULL},
        {OWN, "same-site", NULL},
        {OWN, "Same-Origin", NULL},
        {OWN, "same-origin ", NULL},
        {OWN, "same-origin, same-origin", NULL},
        {OWN, "cross-site", "https://gatehouse.example.org"},
        {OWN, "cross-site", PAGES},
        {OWN, "none", "https://gatehouse.example.org"},
        {OWN, "same-site", "https://gatehouse.example.org"},
        {OWN, "same-site", "https://evil.example.org"},
        {OWN, "same-origin", "https://evil.example.org"},
        {OWN, "same-origin", "null"},
        {OWN, "same-origin", ""},
        {OWN, NULL, ""},
        {OWN, NULL, "null"},
        {OWN, NULL, "https://other.example.org"},
        {OWN, NULL, "http://gatehouse.example.org"},
        {OWN, NULL, "https://gatehouse.example.org:8443"},
        {OWN, NULL, "https://gatehouse.example.org:443:443"},
        {OWN, NULL, "https://gatehouse.example.org."},
        {OWN, NULL, "https://gatehouse.example.org.evil.example"},
        {OWN, NULL, "https://evil.gatehouse.example.org"},
        {OWN, NULL, "https://gatehouse.example.org@evil.example"},
        {OWN, NULL, "https://evil.example/https://gatehouse.example.org"},
        {OWN, NULL, "https://gatehouse.example.org/"},
        {OWN, NULL, "https://gatehouse.example.org#"},
        {OWN, NULL, "https://gatehouse.example.org, https://evil.example"},
        {OWN, NULL, "https://gatehouse.example.org https://evil.example"},
        {OWN, NULL, "https:gatehouse.example.org"},
        {OWN, NULL, "//gatehouse.example.org"},
        {OWN, NULL, "gatehouse.example.org"},
        {OWN, NULL, "https://"},
        {OWN, NULL, "/"},
        {OWN, NULL, "http://localhost"},
        {LOCAL, NULL, "http://127.0.0.1:8081"},
        {LOCAL, NULL, "https://127.0.0.1:8080"},
        {LOCAL, NULL, "http://127.0.0.1.evil.example:8080"},
        {LOCAL, NULL, "http://localhost.evil.example:8080"},
        {LOCAL, NULL, "http://10.0.0.1:8080"},
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (lets_in(arena, rows[i].base_url, rows[i].site, rows[i].origin))
            fail_msg("%zu", i);
}

static void a_header_that_comes_twice_says_nothing(void **state)
{
    static const struct fake_parameter rows[][4] = {
        {{"HTTP_ORIGIN", "https://gatehouse.example.org"}, {"HTTP_ORIGIN", "https://gatehouse.example.org"}},
        {{"HTTP_ORIGIN", "https://gatehouse.example.org"}, {"HTTP_ORIGIN", "https://evil.example"}},
        {{"HTTP_SEC_FETCH_SITE", "same-origin"}, {"HTTP_SEC_FETCH_SITE", "cross-site"}},
        {{"HTTP_SEC_FETCH_SITE", "same-origin"}, {"HTTP_SEC_FETCH_SITE", "same-origin"}},
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(status_of(arena, OWN, "/api/customers/login", asking, rows[i]), 403);
}

/* The refusal does not wait for what else is wrong, and without the member nobody asks where a request comes from. */
static void only_who_asks_for_the_cookie_is_asked(void **state)
{
    static const struct fake_parameter evil[4] = {{"HTTP_ORIGIN", "https://evil.example"}};
    static const struct fake_parameter own[4] = {{"HTTP_SEC_FETCH_SITE", "same-origin"}};
    static const struct {
        const char *path, *body;
        int there, here;
    } rows[] = {
        {"/api/customers/login", "{}", 400, 400},
        {"/api/customers/login", "{\"session\":\"body\"}", 400, 400},
        {"/api/customers/login", "{\"session\":null}", 400, 400},
        {"/api/customers/login", "{\"session\":\"cookie\",\"more\":1}", 403, 400},
        {"/api/customers/refresh", "{}", 400, 400},
        {"/api/customers/refresh", "{\"session\":\"Cookie\"}", 400, 400},
        {"/api/customers/refresh", "{\"session\":\"cookie\",\"refreshToken\":\"x\"}", 403, 400},
        {"/api/customers/refresh", "{\"session\":\"cookie\",\"refreshToken\":null}", 403, 400},
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(status_of(arena, OWN, rows[i].path, rows[i].body, evil), rows[i].there);
        assert_int_equal(status_of(arena, OWN, rows[i].path, rows[i].body, own), rows[i].here);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(pages_of_this_service_may_ask),
    HARNESS_TEST(nobody_else_may_ask),
    HARNESS_TEST(a_header_that_comes_twice_says_nothing),
    HARNESS_TEST(only_who_asks_for_the_cookie_is_asked),
};
HARNESS_MODULE(session_cookie, cases)
