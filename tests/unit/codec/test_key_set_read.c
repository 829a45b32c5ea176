/* SPDX-License-Identifier: MIT */
/* Key sets of remote issuers. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/signing_key.h"
#include "forge.h"
#include "harness.h"

/* The members of one key as our own published set has them, with its kid replaced. */
static const char *members(struct arena *arena, const char *kid)
{
    struct key_set *set = key_set_new(arena);
    assert_null(key_set_add(set, forge_private_key()));
    const char *text = key_set_json(arena, set);
    const char *n = strstr(text, "\"n\":\"");
    assert_non_null(n);
    return arena_format(arena, "\"kid\":\"%s\",\"e\":\"AQAB\",%.*s", kid, (int)(strcspn(n + 5, "\"") + 6), n);
}

static const char *key(struct arena *arena, const char *kid, const char *rest)
{
    return arena_format(arena, "{%s%s}", rest, members(arena, kid));
}

static struct key_set *read(struct arena *arena, const char *text)
{
    struct key_set *set = NULL;
    struct error *error = key_set_read(arena, text, strlen(text), &set);
    assert_int_equal(error == NULL, set != NULL);
    if (error != NULL)
        assert_int_equal(error->code, ERROR_INTERNAL);
    return set;
}

static void a_published_key_verifies(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_claims claims;
    struct token_rules rules = forge_rules(arena);
    const char *kid = forge_pair()->kid;
    rules.keys = read(arena, arena_format(arena, "{\"keys\":[%s]}",
                                          key(arena, kid, "\"kty\":\"RSA\",\"use\":\"sig\",\"alg\":\"RS256\",")));
    const char *token = forge_token(arena, forge_header(arena), forge_payload(arena, NULL, NULL), FORGE_RS256);
    assert_int_equal(token_verify(arena, &rules, token, strlen(token), &claims, NULL), TOKEN_GOOD);
    token = forge_token(arena, forge_header(arena), forge_payload(arena, NULL, NULL), FORGE_OTHER_KEY);
    assert_int_equal(token_verify(arena, &rules, token, strlen(token), &claims, NULL), TOKEN_INVALID);
}

static void keys_for_something_else_are_left_out(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const others[] = {
        "\"kty\":\"EC\",",
        "\"kty\":\"RSA\",\"use\":\"enc\",",
        "\"kty\":\"RSA\",\"alg\":\"RS512\",",
        "\"kty\":\"oct\",",
        "\"kty\":\"RSA\",\"alg\":\"RSA-OAEP\",\"use\":\"enc\",",
        "\"kty\":1,",
        "",
        "\"kty\":\"RSA\",\"use\":null,",
        "\"kty\":\"RSA\",\"alg\":\"none\",",
        "\"kty\":\"RSA\",\"alg\":\"HS256\",",
        "\"kty\":\"RSA\",\"use\":\"sig\",\"d\":\"AQAB\",",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *other = key(arena, "other", others[i]);
        const char *good = key(arena, "good", "\"kty\":\"RSA\",");
        struct key_set *set = read(arena, arena_format(arena, "{\"keys\":[%s,%s]}", other, good));
        assert_non_null(set);
        assert_int_equal(key_set_count(set), 1);
        assert_non_null(key_set_find(set, "good", 4));
    }
}

static void weak_and_broken_keys_are_left_out(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const broken[] = {
        "{\"kty\":\"RSA\",\"kid\":\"a\",\"n\":\"AQAB\",\"e\":\"AQAB\"}",
        "{\"kty\":\"RSA\",\"kid\":\"a\",\"n\":\"\",\"e\":\"AQAB\"}",
        "{\"kty\":\"RSA\",\"kid\":\"a\",\"e\":\"AQAB\"}",
        "{\"kty\":\"RSA\",\"kid\":\"a\",\"n\":5,\"e\":\"AQAB\"}",
        "{\"kty\":\"RSA\",\"kid\":\"a\",\"n\":\"%%%\",\"e\":\"AQAB\"}",
        "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}",
        "5",
        "null",
        "[]",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        assert_null(read(arena, arena_format(arena, "{\"keys\":[%s]}", broken[i])));
        const char *good = key(arena, "good", "\"kty\":\"RSA\",");
        struct key_set *set = read(arena, arena_format(arena, "{\"keys\":[%s,%s]}", broken[i], good));
        assert_non_null(set);
        assert_int_equal(key_set_count(set), 1);
    }
}

static void what_is_no_key_set_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const texts[] = {"",
                                        "<html>",
                                        "[]",
                                        "{}",
                                        "{\"keys\":{}}",
                                        "{\"keys\":[]}",
                                        "{\"keys\":null}",
                                        "{\"keys\":[]",
                                        "{\"keys\":[],\"keys\":[]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(read(arena, texts[i]));
    const char *twin = key(arena, "twin", "\"kty\":\"RSA\",");
    assert_null(read(arena, arena_format(arena, "{\"keys\":[%s,%s]}", twin, twin)));
}

static void a_set_over_its_bound_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *list = key(arena, "key-0", "\"kty\":\"RSA\",");
    for (int i = 1; i < KEY_SET_KEYS; i++)
        list = arena_format(arena, "%s,%s", list, key(arena, arena_format(arena, "key-%d", i), "\"kty\":\"RSA\","));
    assert_non_null(read(arena, arena_format(arena, "{\"keys\":[%s]}", list)));
    list = arena_format(arena, "%s,%s", list, key(arena, "one-more", "\"kty\":\"RSA\","));
    assert_null(read(arena, arena_format(arena, "{\"keys\":[%s]}", list)));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_published_key_verifies),          HARNESS_TEST(keys_for_something_else_are_left_out),
    HARNESS_TEST(weak_and_broken_keys_are_left_out), HARNESS_TEST(what_is_no_key_set_is_refused),
    HARNESS_TEST(a_set_over_its_bound_is_refused),
};
HARNESS_MODULE(key_set_read, cases)
