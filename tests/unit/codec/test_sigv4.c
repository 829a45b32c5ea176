/* SPDX-License-Identifier: MIT */
/* Tests Signature Version 4 with published examples. */
#include "codec/sigv4.h"

#include <string.h>

#include "base/arena.h"
#include "harness.h"

/* The keys of the two sets of examples that AWS publishes. */
#define SUITE_KEY "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define S3_KEY "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
#define S3_HOST "examplebucket.s3.amazonaws.com"
#define S3_DAY "20130524T000000Z"
#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

#define PAIRS_MAX 4

struct vector {
    const char *name;
    const char *method;
    const char *path;
    struct sigv4_pair parameters[PAIRS_MAX];
    struct sigv4_pair headers[PAIRS_MAX]; /* beside Host and X-Amz-Date */
    const char *body;
    const char *names;
    const char *signature;
};

static size_t pairs(const struct sigv4_pair *list)
{
    size_t count = 0;
    while (count < PAIRS_MAX && list[count].name != NULL)
        count++;
    return count;
}

static void signs(struct arena *arena, const struct sigv4_scope *scope, const char *host, const char *time,
                  const struct vector *vector)
{
    char payload[SIGV4_PAYLOAD_BYTES];
    struct sigv4_pair headers[PAIRS_MAX + 2];
    size_t count = pairs(vector->headers);
    memcpy(headers, vector->headers, sizeof vector->headers);
    headers[count++] = (struct sigv4_pair){"X-Amz-Date", time};
    headers[count++] = (struct sigv4_pair){"Host", host};
    sigv4_payload(vector->body, vector->body == NULL ? 0 : strlen(vector->body), payload);
    const struct sigv4_request request = {
        .method = vector->method,
        .path = vector->path,
        .query = sigv4_query(arena, vector->parameters, pairs(vector->parameters)),
        .headers = headers,
        .header_count = count,
        .time = time,
        .payload = payload,
    };
    const char *wanted =
        arena_format(arena, "AWS4-HMAC-SHA256 Credential=%s/%.8s/%s/%s/aws4_request, SignedHeaders=%s, Signature=%s",
                     scope->key_id, time, scope->region, scope->service, vector->names, vector->signature);
    const char *found = sigv4_authorization(arena, scope, &request);
    if (strcmp(found, wanted) != 0)
        fail_msg("%s: %s", vector->name, found);
}

/* The test suite that is published with Signature Version 4. */
static const struct vector suite[] = {
    {"get-vanilla",
     "GET",
     "/",
     {{0}},
     {{0}},
     NULL,
     "host;x-amz-date",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-query-order-key-case",
     "GET",
     "/",
     {{"Param2", "value2"}, {"Param1", "value1"}},
     {{0}},
     NULL,
     "host;x-amz-date",
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"get-utf8",
     "GET",
     "/%E1%88%B4",
     {{0}},
     {{0}},
     NULL,
     "host;x-amz-date",
     "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
    {"get-unreserved",
     "GET",
     "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
     {{0}},
     {{0}},
     NULL,
     "host;x-amz-date",
     "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
    {"get-header-key-duplicate",
     "GET",
     "/",
     {{0}},
     {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
     NULL,
     "host;my-header1;x-amz-date",
     "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
    {"get-header-value-trim",
     "GET",
     "/",
     {{0}},
     {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
     NULL,
     "host;my-header1;my-header2;x-amz-date",
     "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
    {"post-vanilla",
     "POST",
     "/",
     {{0}},
     {{0}},
     NULL,
     "host;x-amz-date",
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-header-key-sort",
     "POST",
     "/",
     {{0}},
     {{"My-Header1", "value1"}},
     NULL,
     "host;my-header1;x-amz-date",
     "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
    {"post-header-value-case",
     "POST",
     "/",
     {{0}},
     {{"My-Header1", "VALUE1"}},
     NULL,
     "host;my-header1;x-amz-date",
     "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
    {"post-x-www-form-urlencoded",
     "POST",
     "/",
     {{0}},
     {{"Content-Type", "application/x-www-form-urlencoded"}},
     "Param1=value1",
     "content-type;host;x-amz-date",
     "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
};

static void signatures_are_those_of_the_published_suite(void **state)
{
    const struct sigv4_scope scope = {"us-east-1", "service", "AKIDEXAMPLE", secret_of(SUITE_KEY)};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof suite / sizeof *suite; i++)
        signs(arena, &scope, "example.amazonaws.com", "20150830T123600Z", &suite[i]);
}

/* The examples of Amazon S3's API reference, "Authenticating requests". */
static void signatures_are_those_of_the_examples_for_s3(void **state)
{
    static const struct vector vectors[] = {
        {"GET object",
         "GET",
         "/test.txt",
         {{0}},
         {{"Range", "bytes=0-9"}, {"X-Amz-Content-Sha256", NOTHING}},
         NULL,
         "host;range;x-amz-content-sha256;x-amz-date",
         "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
        {"PUT object",
         "PUT",
         "/test%24file.text",
         {{0}},
         {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
          {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
          {"x-amz-content-sha256", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"}},
         "Welcome to Amazon S3.",
         "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
         "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
        {"GET bucket lifecycle",
         "GET",
         "/",
         {{"lifecycle", ""}},
         {{"X-Amz-Content-Sha256", NOTHING}},
         NULL,
         "host;x-amz-content-sha256;x-amz-date",
         "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
        {"list objects",
         "GET",
         "/",
         {{"prefix", "J"}, {"max-keys", "2"}},
         {{"X-Amz-Content-Sha256", NOTHING}},
         NULL,
         "host;x-amz-content-sha256;x-amz-date",
         "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
    };
    const struct sigv4_scope scope = {"us-east-1", "s3", "AKIAIOSFODNN7EXAMPLE", secret_of(S3_KEY)};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        signs(arena, &scope, S3_HOST, S3_DAY, &vectors[i]);
}

static void an_address_that_holds_for_a_while_is_that_of_the_example(void **state)
{
    static const struct sigv4_pair host = {"Host", S3_HOST};
    const struct sigv4_scope scope = {"us-east-1", "s3", "AKIAIOSFODNN7EXAMPLE", secret_of(S3_KEY)};
    const struct sigv4_request request = {.method = "GET",
                                          .path = "/test.txt",
                                          .headers = &host,
                                          .header_count = 1,
                                          .time = S3_DAY,
                                          .payload = SIGV4_UNSIGNED_PAYLOAD};
    assert_string_equal(sigv4_presign(harness_arena(state), &scope, &request, NULL, 0, 86400),
                        "X-Amz-Algorithm=AWS4-HMAC-SHA256"
                        "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
                        "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
                        "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

static void a_query_is_encoded_then_sorted_and_each_name_has_its_sign(void **state)
{
    static const struct sigv4_pair parameters[] = {
        {"uploads", ""}, {"prefix", "a b/+&="}, {"a", "2"}, {"a", "1"}, {"A", "~"}};
    struct arena *arena = harness_arena(state);
    assert_string_equal(sigv4_query(arena, parameters, 5), "A=~&a=1&a=2&prefix=a%20b%2F%2B%26%3D&uploads=");
    assert_string_equal(sigv4_query(arena, NULL, 0), "");
}

static void the_time_has_no_milliseconds(void **state)
{
    char time[SIGV4_TIME_BYTES];
    (void)state;
    sigv4_time(1440938160999, time);
    assert_string_equal(time, "20150830T123600Z");
    sigv4_time(0, time);
    assert_string_equal(time, "19700101T000000Z");
}

static const struct CMUnitTest tests[] = {
    HARNESS_TEST(signatures_are_those_of_the_published_suite),
    HARNESS_TEST(signatures_are_those_of_the_examples_for_s3),
    HARNESS_TEST(an_address_that_holds_for_a_while_is_that_of_the_example),
    HARNESS_TEST(a_query_is_encoded_then_sorted_and_each_name_has_its_sign),
    HARNESS_TEST(the_time_has_no_milliseconds),
};

HARNESS_MODULE(sigv4, tests)
