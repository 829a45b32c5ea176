/* SPDX-License-Identifier: MIT */
/*
 * Libraries that fail under us: a call of libjwt that is refused gives no token, and a text that cJSON does not read is
 * no document. The program is linked with --wrap for these calls.
 */
#include <cjson/cJSON.h>
#include <dlfcn.h>
#include <jwt.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "codec/document.h"
#include "codec/token.h"
#include "forge.h"
#include "harness.h"

static struct {
    unsigned nth; /* the call that fails; 0: none */
    unsigned count;
} failing;

static bool fails(void)
{
    failing.count++;
    return failing.count == failing.nth;
}

static void fail_at(unsigned nth)
{
    failing.nth = nth;
    failing.count = 0;
}

#define WRAPPED(type, name, failure, parameters, arguments)                                                            \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        return fails() ? (failure) : __real_##name arguments;                                                          \
    }

WRAPPED(int, jwt_new, 12, (jwt_t * *jwt), (jwt))
WRAPPED(int, jwt_add_grant, 12, (jwt_t * jwt, const char *name, const char *value), (jwt, name, value))
WRAPPED(int, jwt_add_grant_int, 12, (jwt_t * jwt, const char *name, long value), (jwt, name, value))
WRAPPED(int, jwt_add_grant_bool, 12, (jwt_t * jwt, const char *name, int value), (jwt, name, value))
WRAPPED(int, jwt_add_header, 12, (jwt_t * jwt, const char *name, const char *value), (jwt, name, value))
WRAPPED(int, jwt_set_alg, 12, (jwt_t * jwt, jwt_alg_t algorithm, const unsigned char *key, int length),
        (jwt, algorithm, key, length))
WRAPPED(char *, jwt_encode_str, NULL, (jwt_t * jwt), (jwt))
WRAPPED(cJSON *, cJSON_ParseWithLength, NULL, (const char *text, size_t length), (text, length))

static bool without_jansson;

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name)
{
    return without_jansson && strcmp(name, "json_set_alloc_funcs") == 0 ? NULL : __real_dlsym(library, name);
}

static struct token_content content_of(const char *email, const char *permissions)
{
    struct token_content content = {.issuer = FORGE_ISSUER,
                                    .audience = FORGE_AUDIENCE,
                                    .token_use = TOKEN_USE_ID,
                                    .issued_at = FORGE_NOW,
                                    .expires_at = FORGE_NOW + 900,
                                    .email = email,
                                    .permissions = permissions};
    assert_true(id_parse(FORGE_SUBJECT, &content.subject));
    assert_true(id_parse(FORGE_SESSION, &content.session));
    return content;
}

/* How many calls a token takes; each of them fails once, and then there is no token. */
static unsigned calls_of(struct arena *arena, const struct token_content *content)
{
    for (unsigned nth = 1;; nth++) {
        char *token = NULL;
        fail_at(nth);
        struct error *error = token_issue(arena, forge_private_key(), content, &token);
        bool failed = failing.count >= nth;
        fail_at(0);
        if (!failed) {
            assert_null(error);
            assert_non_null(token);
            return nth - 1;
        }
        assert_non_null(error);
        assert_int_equal(error->code, ERROR_INTERNAL);
        assert_null(token);
    }
}

static void a_call_of_the_library_that_fails_gives_no_token(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_content bare = content_of(NULL, NULL);
    struct token_content known = content_of("ada@example.com", NULL);
    struct token_content whole = content_of("ada@example.com", "cus:file:r");
    /* new, eight claims, the header, the key, the signature; what the profile adds. */
    assert_int_equal(calls_of(arena, &bare), 12);
    assert_int_equal(calls_of(arena, &known), 14);
    assert_int_equal(calls_of(arena, &whole), 15);
}

/* libjwt may be built with another JSON library. */
static void without_jansson_tokens_are_issued_all_the_same(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_content content = content_of(NULL, NULL);
    char *token = NULL;
    without_jansson = true;
    assert_null(token_issue(arena, forge_private_key(), &content, &token));
    without_jansson = false;
    assert_non_null(token);
}

static void a_token_that_nobody_would_take_is_not_issued(void **state)
{
    struct arena *arena = harness_arena(state);
    char *permissions = arena_alloc(arena, LIMIT_TOKEN_BYTES + 1);
    memset(permissions, 'x', LIMIT_TOKEN_BYTES);
    struct token_content content = content_of("ada@example.com", permissions);
    char *token = NULL;
    struct error *error = token_issue(arena, forge_private_key(), &content, &token);
    assert_non_null(error);
    assert_int_equal(error->code, ERROR_INTERNAL);
    assert_null(token);
}

static void what_the_library_does_not_read_is_no_document(void **state)
{
    struct arena *arena = harness_arena(state);
    struct document *document = NULL;
    fail_at(1);
    struct error *error = document_parse(arena, "{}", 2, &document);
    assert_int_equal(failing.count, 1);
    fail_at(0);
    assert_non_null(error);
    assert_int_equal(error->code, ERROR_INTERNAL);
    assert_null(document);
    assert_null(document_parse(arena, "{}", 2, &document));
    assert_non_null(document);
}

/* A token whose header the library could not read has no key, and is refused. */
static void a_token_that_cannot_be_read_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    const char *token = forge_token(arena, forge_header(arena), forge_payload(arena, NULL, NULL), FORGE_RS256);
    for (unsigned nth = 1; nth <= 2; nth++) {
        struct token_claims claims;
        const char *reason = NULL;
        fail_at(nth);
        assert_int_equal(token_verify(arena, &rules, token, strlen(token), &claims, &reason), TOKEN_INVALID);
        fail_at(0);
        assert_string_equal(reason, "json");
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_call_of_the_library_that_fails_gives_no_token),
    HARNESS_TEST(without_jansson_tokens_are_issued_all_the_same),
    HARNESS_TEST(a_token_that_nobody_would_take_is_not_issued),
    HARNESS_TEST(what_the_library_does_not_read_is_no_document),
    HARNESS_TEST(a_token_that_cannot_be_read_is_refused),
};
HARNESS_MODULE(token_library, cases)
