/* SPDX-License-Identifier: MIT */
/* The S3 store: what it says of options, refusals, and things that are no store. */
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/s3/s3.h"
#include "blob/s3/s3_int.h"
#include "blob/s3/support_s3.h"
#include "blob/s3/support_s3_calls.h"
#include "blob/support.h"
#include "harness.h"

static void refusals_become_sentences(void **state)
{
    static const struct {
        const char *script;
        const char *sentence;
        enum error_code code;
    } cases[] = {
        {"error 403 InvalidAccessKeyId", "check s3_access_key", ERROR_STORAGE_UNAVAILABLE},
        {"error 403 SignatureDoesNotMatch", "the key in s3_secret_key_file", ERROR_STORAGE_UNAVAILABLE},
        {"error 400 AuthorizationHeaderMalformed", "check s3_region", ERROR_STORAGE_UNAVAILABLE},
        {"error 403 RequestTimeTooSkewed", "too far apart", ERROR_STORAGE_UNAVAILABLE},
        {"error 404 NoSuchBucket", "has no bucket bucket; make it", ERROR_STORAGE_UNAVAILABLE},
        {"error 403 AccessDenied", "does not allow to list objects in the bucket", ERROR_STORAGE_UNAVAILABLE},
        {"error 418 Teapot", "HTTP 418, Teapot: said so & so", ERROR_STORAGE_UNAVAILABLE},
        {"error 507 Whatever", "HTTP 507", ERROR_STORAGE_FULL},
        {"error 403 QuotaExceeded", "QuotaExceeded", ERROR_STORAGE_FULL},
        {"html 200", "no store of the S3 protocol", ERROR_STORAGE_UNAVAILABLE},
        {"html 404", "no store of the S3 protocol", ERROR_STORAGE_UNAVAILABLE},
        {"moved", "sends requests elsewhere (HTTP 301, https://elsewhere.example/)", ERROR_STORAGE_UNAVAILABLE},
    };
    struct support_s3 *s3 = support_s3(state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        support_s3_script(s3, arena_format(s3->arena, "GET %s\n", cases[i].script));
        struct error *error = blob_check(s3->store, s3->arena);
        assert_non_null(error);
        assert_int_equal(error->code, cases[i].code);
        if (strstr(error->detail, cases[i].sentence) == NULL)
            fail_msg("%s: %s", cases[i].script, error->detail);
        assert_string_equal(error->message, error_sentence(cases[i].code));
    }
    assert_null(blob_check(s3->store, s3->arena));
}

static void half_answers_are_asked_for_again(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    struct id id = id_new();
    assert_null(support_store(s3->store, s3->arena, id, "hello", 5, 5));
    support_s3_script(s3, "GET half\nGET drop\nGET error 503 SlowDown\n");
    support_assert_stored(s3->store, s3->arena, id, "hello", 5);
    struct blob_reader *reader;
    char bytes[5];
    size_t got;
    support_s3_script(s3, "GET short\n");
    assert_null(blob_open(s3->store, s3->arena, id, &reader));
    struct error *error = blob_read(reader, 0, bytes, sizeof bytes, &got);
    assert_int_equal(error->code, ERROR_STORAGE_UNAVAILABLE);
    assert_non_null(strstr(error->detail, "4 bytes of an object, and not 5"));
}

static void options_that_cannot_be_used_are_named(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    const struct {
        struct blob_s3_options options;
        const char *setting;
    } cases[] = {
        {{.endpoints = {0}}, "s3_endpoint"},
        {{.endpoints = text_words(s3->arena, "http://store.example")}, "s3_endpoint"},
        {{.endpoints = text_words(s3->arena, "https://store.example/path")}, "s3_endpoint"},
        {{.endpoints = text_words(s3->arena, "https://u:p@store.example")}, "s3_endpoint"},
        {{.endpoints = text_words(s3->arena, "store.example:7070")}, "s3_endpoint"},
        {{.bucket = "a"}, "s3_bucket"},
        {{.bucket = "a/b/c"}, "s3_bucket"},
        {{.prefix = "no-slash"}, "s3_prefix"},
        {{.prefix = "/a/"}, "s3_prefix"},
        {{.prefix = "a//"}, "s3_prefix"},
        {{.prefix = "../"}, "s3_prefix"},
        {{.prefix = "a b/"}, "s3_prefix"},
        {{.region = ""}, "s3_region"},
        {{.spool = "/nowhere/at/all"}, "s3_spool"},
        {{.secret_key_file = "/nowhere/at/all"}, "/nowhere/at/all"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct blob_s3_options options = s3->options;
        const struct blob_s3_options *wrong = &cases[i].options;
        struct blob_store *store;
        if (strcmp(cases[i].setting, "s3_endpoint") == 0)
            options.endpoints = wrong->endpoints;
        options.bucket = wrong->bucket != NULL ? wrong->bucket : options.bucket;
        options.prefix = wrong->prefix != NULL ? wrong->prefix : options.prefix;
        options.region = wrong->region != NULL ? wrong->region : options.region;
        options.spool = wrong->spool != NULL ? wrong->spool : options.spool;
        options.secret_key_file = wrong->secret_key_file != NULL ? wrong->secret_key_file : options.secret_key_file;
        struct error *error = blob_s3_open(s3->arena, &options, &store);
        if (error == NULL || strstr(error->message, cases[i].setting) == NULL)
            fail_msg("%zu: %s", i, error == NULL ? "was accepted" : error->message);
    }
}

static void the_secret_is_read_again(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    assert_null(blob_renew(s3->store, s3->arena));
    assert_null(support_store(s3->store, s3->arena, id_new(), "x", 1, 1));
    assert_int_equal(unlink(s3->options.secret_key_file), 0);
    assert_non_null(strstr(blob_renew(s3->store, s3->arena)->message, "cannot be read"));
    assert_null(support_store(s3->store, s3->arena, id_new(), "y", 1, 1));
}

/* An option that must be set, and is not. */
static void expect_wanted(struct support_s3 *s3, const struct blob_s3_options *options, const char *setting)
{
    struct blob_store *store;
    struct error *error = blob_s3_open(s3->arena, options, &store);
    if (error == NULL || strstr(error->message, setting) == NULL)
        fail_msg("%s: %s", setting, error == NULL ? "is not wanted" : error->message);
}

static void options_that_are_missing_are_named(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    const char **const members[] = {&s3->options.bucket,     &s3->options.prefix,          &s3->options.region,
                                    &s3->options.access_key, &s3->options.secret_key_file, &s3->options.spool};
    static const char *const settings[] = {"s3_bucket",     "s3_prefix",          "s3_region",
                                           "s3_access_key", "s3_secret_key_file", "s3_spool"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *before = *members[i];
        *members[i] = NULL;
        expect_wanted(s3, &s3->options, settings[i]);
        *members[i] = before;
    }
    /* These have defaults. */
    s3->options.multipart_bytes = s3->options.part_bytes = 0;
    support_s3_reopen(s3);
    assert_null(support_store(s3->store, s3->arena, id_new(), "x", 1, 1));
}

static void visit_none(void *context, const char *endpoint, struct error *error)
{
    (void)endpoint;
    (void)error;
    ++*(size_t *)context;
}

static void without_an_http_client_there_is_no_store_and_no_check(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    struct blob_store *store;
    size_t count = 0;
    support_s3_calls_clear();
    support_s3_calls.no_client = true;
    assert_int_equal(blob_s3_open(s3->arena, &s3->options, &store)->code, ERROR_INTERNAL);
    support_s3_calls.no_client = true;
    assert_int_equal(blob_check(s3->store, s3->arena)->code, ERROR_INTERNAL);
    support_s3_calls.no_client = true;
    assert_int_equal(blob_each_endpoint(s3->store, s3->arena, visit_none, &count)->code, ERROR_INTERNAL);
    assert_int_equal(count, 0);
    assert_null(blob_check(s3->store, s3->arena));
}

/* The web server and the signature name the host in this way. */
static void the_usual_port_is_left_out(void **state)
{
    static const char *const rows[][2] = {
        {"https://store.example", "store.example"},
        {"https://store.example:443", "store.example"},
        {"https://store.example:80", "store.example:80"},
        {"http://localhost:80", "localhost"},
        {"http://localhost:443", "localhost:443"},
        {"https://store.example:443/", "store.example"},
        {"https://store.example:7443", "store.example:7443"},
        {"https://:443", ":443"},
        {"http://a", "a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(s3_host(harness_arena(state), rows[i][0]), rows[i][1]);
}

struct told {
    size_t count;
    size_t wrong;
};

static void tell(void *context, const char *endpoint, struct error *error)
{
    struct told *told = context;
    assert_int_equal(strncmp(endpoint, "http://127.0.0.1:", 17), 0);
    told->count++;
    told->wrong += error != NULL;
}

static void each_endpoint_is_asked(void **state)
{
    struct support_s3 *s3 = support_s3(state);
    struct told told = {0};
    const char *good = s3->options.endpoints.items[0];
    s3->options.endpoints = text_words(s3->arena, arena_format(s3->arena, "%s http://127.0.0.1:1", good));
    support_s3_reopen(s3);
    assert_null(blob_each_endpoint(s3->store, s3->arena, tell, &told));
    assert_int_equal(told.count, 2);
    assert_int_equal(told.wrong, 1);
    assert_null(blob_check(s3->store, s3->arena));
}

static const struct CMUnitTest tests[] = {
    HARNESS_TEST(refusals_become_sentences),
    HARNESS_TEST(half_answers_are_asked_for_again),
    HARNESS_TEST(options_that_cannot_be_used_are_named),
    HARNESS_TEST(options_that_are_missing_are_named),
    HARNESS_TEST(without_an_http_client_there_is_no_store_and_no_check),
    HARNESS_TEST(the_usual_port_is_left_out),
    HARNESS_TEST(the_secret_is_read_again),
    HARNESS_TEST(each_endpoint_is_asked),
};
HARNESS_MODULE(refusal, tests)
