/* SPDX-License-Identifier: MIT */
/* Calls over HTTP against a server that does as the path says (http_server.py). */
#include "harness.h"

#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "certificate.h"
#include "script_server.h"
#include "store/http_client.h"
#include "store/support.h"

#define PATIENCE_MILLISECONDS 30000 /* for a busy machine */

struct scene {
    struct arena *arena;
    const char *directory;
    const char *base; /* of the server's addresses */
    struct http_client *client;
    struct http_client_answer answer;
    const char *reason;
};

static struct scene *scene_of(void **state)
{
    static const char *const none[] = {NULL};
    struct arena *arena = harness_arena(state);
    struct scene *scene = arena_alloc(arena, sizeof *scene);
    scene->arena = arena;
    scene->directory = harness_directory(arena);
    scene->base = arena_format(arena, "http://127.0.0.1:%s",
                               script_server_start(arena, "tests/unit/store/http_server.py", scene->directory, none));
    help_none(http_client_new(arena, NULL, &scene->client));
    return scene;
}

static enum http_client_outcome get(struct scene *scene, const char *path, int64_t milliseconds)
{
    struct http_client_call call = {
        .method = "GET", .url = arena_format(scene->arena, "%s%s", scene->base, path), .milliseconds = milliseconds};
    return http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason);
}

static const char *noted(const struct scene *scene)
{
    return harness_read(scene->arena, arena_format(scene->arena, "%s/log", scene->directory), NULL);
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        count++;
    return count;
}

static void a_call_arrives_as_it_was_given(void **state)
{
    struct scene *scene = scene_of(state);
    const struct http_client_header headers[] = {{"Content-Type", "application/x-amz-json-1.1"}, {"X-Thing", "a b"}};
    struct http_client_call call = {.method = "POST",
                                    .url = arena_format(scene->arena, "%s/echo", scene->base),
                                    .headers = headers,
                                    .header_count = 2,
                                    .body = "{\"a\":1}",
                                    .body_length = 7,
                                    .user = "client",
                                    .password = secret_of("se:cret"),
                                    .milliseconds = PATIENCE_MILLISECONDS};
    assert_int_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                     HTTP_CLIENT_ANSWERED);
    assert_int_equal(scene->answer.status, 200);
    assert_int_equal(strncmp(scene->answer.body, "POST /echo HTTP/1.1\r\n", 21), 0);
    assert_non_null(strstr(scene->answer.body, "\r\nContent-Type: application/x-amz-json-1.1\r\n"));
    assert_non_null(strstr(scene->answer.body, "\r\nX-Thing: a b\r\n"));
    assert_non_null(strstr(scene->answer.body, "\r\nAuthorization: Basic Y2xpZW50OnNlOmNyZXQ=\r\n"));
    assert_string_equal(strstr(scene->answer.body, "\r\n\r\n"), "\r\n\r\n{\"a\":1}");
    assert_string_equal(http_client_answer_header(&scene->answer, "x-kind"), "two words");
    assert_null(http_client_answer_header(&scene->answer, "x-kin"));
}

static void nothing_of_one_call_goes_into_the_next(void **state)
{
    struct scene *scene = scene_of(state);
    struct http_client_signature signature = {"eu-central-1", "cognito-idp", "AKIDEXAMPLE", secret_of("key"), NULL};
    struct http_client_call call = {.method = "POST",
                                    .url = arena_format(scene->arena, "%s/echo", scene->base),
                                    .body = "{}",
                                    .body_length = 2,
                                    .signature = &signature,
                                    .milliseconds = PATIENCE_MILLISECONDS};
    assert_int_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                     HTTP_CLIENT_ANSWERED);
    assert_non_null(strstr(scene->answer.body, "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"));
    assert_int_equal(get(scene, "/echo", PATIENCE_MILLISECONDS), HTTP_CLIENT_ANSWERED);
    assert_null(strstr(scene->answer.body, "Authorization"));
    assert_int_equal(strncmp(scene->answer.body, "GET /echo", 9), 0);
    assert_string_equal(strstr(scene->answer.body, "\r\n\r\n"), "\r\n\r\n");
}

/* Two cases of the test suite that is published with Signature Version 4; codec/test_sigv4.c has the others. */
static void a_signed_call_arrives_with_the_published_signature(void **state)
{
    static const struct {
        const char *body;
        struct http_client_header more;
        const char *names, *signature;
    } vectors[] = {
        {NULL, {0}, "host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
        {"Param1=value1",
         {"Content-Type", "application/x-www-form-urlencoded"},
         "content-type;host;x-amz-date",
         "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
    };
    struct scene *scene = scene_of(state);
    const struct http_client_signature signature = {"us-east-1", "service", "AKIDEXAMPLE",
                                                    secret_of("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), NULL};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const struct http_client_header headers[] = {
            {"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}, vectors[i].more};
        struct http_client_call call = {.method = "POST",
                                        .url = arena_format(scene->arena, "%s/", scene->base),
                                        .headers = headers,
                                        .header_count = vectors[i].more.name == NULL ? 2 : 3,
                                        .body = vectors[i].body,
                                        .body_length = vectors[i].body == NULL ? 0 : strlen(vectors[i].body),
                                        .signature = &signature,
                                        .milliseconds = PATIENCE_MILLISECONDS};
        assert_int_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                         HTTP_CLIENT_ANSWERED);
        const char *wanted = arena_format(
            scene->arena,
            "\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request,"
            " SignedHeaders=%s, Signature=%s\r\n",
            vectors[i].names, vectors[i].signature);
        assert_non_null(strstr(scene->answer.body, wanted));
    }
}

static bool give(void *context, uint64_t offset, void *bytes, size_t length)
{
    size_t *asked = context;
    unsigned char *into = bytes;
    for (size_t i = 0; i < length; i++)
        into[i] = (unsigned char)('a' + (offset + i) % 26);
    *asked += length;
    return *asked < 2000000;
}

/* The server closes the kept connection once, when it has the whole body: libcurl sends it again from its beginning. */
static void a_body_is_sent_from_its_source_and_again_where_it_must(void **state)
{
    struct scene *scene = scene_of(state);
    size_t asked = 0;
    assert_int_equal(get(scene, "/echo", PATIENCE_MILLISECONDS), HTTP_CLIENT_ANSWERED);
    struct http_client_call call = {.method = "PUT",
                                    .url = arena_format(scene->arena, "%s/close-once", scene->base),
                                    .body_length = 300000,
                                    .source = give,
                                    .source_context = &asked,
                                    .milliseconds = PATIENCE_MILLISECONDS};
    assert_int_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                     HTTP_CLIENT_ANSWERED);
    assert_int_equal(asked, 600000);
    assert_null(strstr(scene->answer.body, "Expect:"));
    const char *body = strstr(scene->answer.body, "\r\n\r\n") + 4;
    assert_int_equal(scene->answer.length - (size_t)(body - scene->answer.body), 300000);
    for (size_t i = 0; i < 300000; i++)
        if (body[i] != (char)('a' + i % 26))
            fail_msg("byte %zu", i);
    asked = 2000000;
    assert_int_not_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                         HTTP_CLIENT_ANSWERED);
}

static void an_answer_goes_to_where_the_caller_wants_it(void **state)
{
    struct scene *scene = scene_of(state);
    char bytes[5000];
    struct http_client_call call = {.method = "GET",
                                    .url = arena_format(scene->arena, "%s/long", scene->base),
                                    .into = bytes,
                                    .into_bytes = sizeof bytes,
                                    .milliseconds = PATIENCE_MILLISECONDS};
    assert_int_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                     HTTP_CLIENT_ANSWERED);
    assert_int_equal(scene->answer.length, sizeof bytes);
    assert_ptr_equal(scene->answer.body, bytes);
    assert_int_equal(bytes[4999], 'x');
    call.into_bytes--;
    assert_int_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                     HTTP_CLIENT_UNKNOWN);
    assert_string_equal(scene->reason, "the answer was too long");
    /* What a refusal says is no part of what was wanted. */
    call.url = arena_format(scene->arena, "%s/status/404", scene->base);
    call.into_bytes = 1;
    assert_int_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                     HTTP_CLIENT_ANSWERED);
    assert_string_equal(scene->answer.body, "<html>no</html>");
}

static void a_call_that_stalls_ends(void **state)
{
    struct scene *scene = scene_of(state);
    int64_t began = clock_monotonic();
    struct http_client_call call = {.method = "GET",
                                    .url = arena_format(scene->arena, "%s/stall", scene->base),
                                    .stall_seconds = 1,
                                    .milliseconds = PATIENCE_MILLISECONDS};
    assert_int_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                     HTTP_CLIENT_UNKNOWN);
    assert_true(clock_monotonic() - began < 15 * 1000000);
}

static void any_status_is_an_answer_and_no_redirect_is_followed(void **state)
{
    struct scene *scene = scene_of(state);
    static const int statuses[] = {400, 404, 429, 500, 503};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        assert_int_equal(get(scene, arena_format(scene->arena, "/status/%d", statuses[i]), PATIENCE_MILLISECONDS),
                         HTTP_CLIENT_ANSWERED);
        assert_int_equal(scene->answer.status, statuses[i]);
        assert_string_equal(scene->answer.body, "<html>no</html>");
    }
    assert_int_equal(get(scene, "/redirect", PATIENCE_MILLISECONDS), HTTP_CLIENT_ANSWERED);
    assert_int_equal(scene->answer.status, 302);
    assert_string_equal(http_client_answer_header(&scene->answer, "Location"), "/echo");
    assert_null(strstr(noted(scene), "/echo"));
}

static void what_was_sent_without_a_whole_answer_is_unknown(void **state)
{
    static const char *const paths[] = {"/half", "/reset", "/nonsense", "/silent", "/drip"};
    struct scene *scene = scene_of(state);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        int64_t began = clock_monotonic();
        assert_int_equal(get(scene, paths[i], 3000), HTTP_CLIENT_UNKNOWN);
        assert_non_null(scene->reason);
        assert_true(clock_monotonic() - began < 20 * 1000000);
    }
}

static void an_answer_over_its_bound_is_none(void **state)
{
    struct scene *scene = scene_of(state);
    struct http_client_call call = {.method = "GET",
                                    .url = arena_format(scene->arena, "%s/long", scene->base),
                                    .milliseconds = PATIENCE_MILLISECONDS,
                                    .answer_bytes = 4999};
    assert_int_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                     HTTP_CLIENT_UNKNOWN);
    assert_string_equal(scene->reason, "the answer was too long");
    call.answer_bytes = 5000;
    assert_int_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                     HTTP_CLIENT_ANSWERED);
    assert_int_equal(scene->answer.length, 5000);
}

/* A socket with a port of its own that does not listen: as long as it is open nobody else can. */
static int deaf_socket(unsigned *port_out)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int deaf = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(deaf, (struct sockaddr *)&address, length), 0);
    assert_int_equal(getsockname(deaf, (struct sockaddr *)&address, &length), 0);
    *port_out = ntohs(address.sin_port);
    return deaf;
}

static void where_nobody_listens_nothing_was_carried_out(void **state)
{
    struct scene *scene = scene_of(state);
    unsigned port;
    int deaf = deaf_socket(&port);
    scene->base = arena_format(scene->arena, "http://127.0.0.1:%u", port);
    assert_int_equal(get(scene, "/echo", PATIENCE_MILLISECONDS), HTTP_CLIENT_UNREACHABLE);
    (void)close(deaf);
    scene->base = "http://no-such-host.invalid"; /* a name server may take its time */
    assert_int_equal(get(scene, "/echo", 5000), HTTP_CLIENT_UNREACHABLE);
    scene->base = "file:///etc/hostname?";
    assert_int_equal(get(scene, "", PATIENCE_MILLISECONDS), HTTP_CLIENT_UNREACHABLE);
}

/* ---- a name server that does not answer -------------------------------------------------------------- */

#define HELD "held.invalid"
#define HELD_MILLISECONDS 60000

static int held[2] = {-1, -1};
static atomic_bool looked_up;

/* In the C library's place, for libcurl as well: the held name is looked up until the test lets it go. */
__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints, struct addrinfo **found_out)
{
    if (name != NULL && strcmp(name, HELD) == 0) {
        struct pollfd waiting = {.fd = held[0]};
        (void)poll(&waiting, 1, HELD_MILLISECONDS);
        atomic_store(&looked_up, true);
        return EAI_AGAIN;
    }
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(name, service, hints, found_out);
}

static void a_name_that_is_still_looked_up_is_not_waited_for(void **state)
{
    struct scene *scene = scene_of(state);
    assert_int_equal(pipe(held), 0);
    scene->base = "http://" HELD;
    assert_int_equal(get(scene, "/echo", 300), HTTP_CLIENT_UNREACHABLE);
    assert_false(atomic_load(&looked_up));
    (void)close(held[1]);
    for (int i = 0; i < HELD_MILLISECONDS && !atomic_load(&looked_up); i++)
        (void)usleep(1000);
    assert_true(atomic_load(&looked_up));
    (void)close(held[0]);
}

/* A kept connection that the server closed is tried anew for a call that may be repeated, not for one that may not. */
static void a_call_that_must_happen_once_is_never_sent_twice(void **state)
{
    struct scene *scene = scene_of(state);
    struct http_client_call call = {.method = "POST",
                                    .url = arena_format(scene->arena, "%s/reset", scene->base),
                                    .body = "{}",
                                    .body_length = 2,
                                    .milliseconds = PATIENCE_MILLISECONDS,
                                    .once = true};
    assert_int_equal(get(scene, "/echo", PATIENCE_MILLISECONDS), HTTP_CLIENT_ANSWERED);
    assert_int_equal(http_client_call(scene->client, scene->arena, &call, &scene->answer, &scene->reason),
                     HTTP_CLIENT_UNKNOWN);
    assert_int_equal(count_of(noted(scene), "POST /reset"), 1);
    assert_int_equal(get(scene, "/leave", PATIENCE_MILLISECONDS), HTTP_CLIENT_ANSWERED);
    assert_int_equal(get(scene, "/echo", PATIENCE_MILLISECONDS), HTTP_CLIENT_ANSWERED);
}

static void only_certificates_that_hold_are_spoken_to(void **state)
{
    struct scene *scene = scene_of(state);
    struct arena *arena = scene->arena;
    static const struct {
        const char *name, *host;
        int days;
        bool good;
    } table[] = {
        {"good", "localhost", 2, true}, {"other", "elsewhere.example", 2, false}, {"old", "localhost", -1, false}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *pair = certificate_make(arena, scene->directory, table[i].name, table[i].host, table[i].days);
        const char *arguments[] = {"--certificate", pair, NULL};
        scene->base =
            arena_format(arena, "https://localhost:%s",
                         script_server_start(arena, "tests/unit/store/http_server.py", scene->directory, arguments));
        assert_int_equal(get(scene, "/echo", PATIENCE_MILLISECONDS), HTTP_CLIENT_UNREACHABLE);
        struct http_client *system = scene->client;
        help_none(http_client_new(arena, arena_format(arena, "%s-cert.pem", pair), &scene->client));
        assert_int_equal(get(scene, "/echo", PATIENCE_MILLISECONDS),
                         table[i].good ? HTTP_CLIENT_ANSWERED : HTTP_CLIENT_UNREACHABLE);
        scene->client = system;
    }
}

static void addresses_are_checked(void **state)
{
    (void)state;
    static const char *const good[] = {"https://cognito-idp.eu-central-1.amazonaws.com", "https://kc.example/auth",
                                       "http://localhost:9229", "http://127.0.0.1:8080/x", "http://[::1]:1/"};
    static const char *const bad[] = {"http://example.org",
                                      "http://127.evil.example",
                                      "http://127.0.0.1.evil.example/",
                                      "http://localhost.evil.example",
                                      "http://[::2]/",
                                      "ftp://localhost",
                                      "https://u:p@example.org",
                                      "https://example.org/?a=b",
                                      "https://example.org/#a",
                                      "example.org",
                                      "",
                                      "https://"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(http_client_url_usable(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(http_client_url_usable(bad[i]));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_call_arrives_as_it_was_given),
    HARNESS_TEST(nothing_of_one_call_goes_into_the_next),
    HARNESS_TEST(a_signed_call_arrives_with_the_published_signature),
    HARNESS_TEST(a_body_is_sent_from_its_source_and_again_where_it_must),
    HARNESS_TEST(an_answer_goes_to_where_the_caller_wants_it),
    HARNESS_TEST(a_call_that_stalls_ends),
    HARNESS_TEST(any_status_is_an_answer_and_no_redirect_is_followed),
    HARNESS_TEST(what_was_sent_without_a_whole_answer_is_unknown),
    HARNESS_TEST(an_answer_over_its_bound_is_none),
    HARNESS_TEST(where_nobody_listens_nothing_was_carried_out),
    HARNESS_TEST(a_name_that_is_still_looked_up_is_not_waited_for),
    HARNESS_TEST(a_call_that_must_happen_once_is_never_sent_twice),
    HARNESS_TEST(only_certificates_that_hold_are_spoken_to),
    HARNESS_TEST(addresses_are_checked),
};
HARNESS_MODULE(http_client, cases)
