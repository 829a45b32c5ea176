/* SPDX-License-Identifier: MIT */
/* The memo of verified tokens: what it remembers, and for how long. */
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "codec/token.h"
#include "forge.h"
#include "harness.h"

struct memo_test {
    struct arena *arena;
    struct token_memo *memo;
    struct token_rules rules;
    const char *token;
};

static struct memo_test memo_test(void **state)
{
    struct arena *arena = harness_arena(state);
    struct memo_test test = {.arena = arena, .memo = token_memo_new(arena), .rules = forge_rules(arena)};
    test.token = forge_token(arena, forge_header(arena), forge_payload(arena, NULL, NULL), FORGE_RS256);
    return test;
}

static enum token_result ask(struct memo_test *test, const char *token, const char **reason)
{
    struct token_claims claims;
    return token_memo_verify(test->memo, test->arena, &test->rules, token, strlen(token), &claims, reason);
}

static void a_good_token_is_verified_once(void **state)
{
    struct memo_test test = memo_test(state);
    struct token_claims first;
    struct token_claims again;
    memset(&first, 0, sizeof first);
    memset(&again, 0, sizeof again);
    size_t length = strlen(test.token);
    const char *reason = "unset";
    assert_int_equal(token_memo_verify(test.memo, test.arena, &test.rules, test.token, length, &first, &reason),
                     TOKEN_GOOD);
    assert_null(reason);
    assert_int_equal(token_memo_hits(test.memo), 0);
    reason = "unset";
    assert_int_equal(token_memo_verify(test.memo, test.arena, &test.rules, test.token, length, &again, &reason),
                     TOKEN_GOOD);
    assert_null(reason);
    assert_int_equal(token_memo_hits(test.memo), 1);
    assert_true(id_equal(first.subject, again.subject));
    assert_true(id_equal(first.session, again.session));
    assert_int_equal(first.expires_at, again.expires_at);
    assert_int_equal(first.issued_at, again.issued_at);
    assert_int_equal(first.not_before, again.not_before);
}

static void a_remembered_token_expires_all_the_same(void **state)
{
    struct memo_test test = memo_test(state);
    const char *reason = NULL;
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    test.rules.now = FORGE_NOW + 840 + 29;
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    test.rules.now = FORGE_NOW + 840 + 30;
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_EXPIRED);
    assert_string_equal(reason, "expired");
    assert_int_equal(token_memo_hits(test.memo), 2);
}

static void a_remembered_token_is_not_good_before_its_time(void **state)
{
    struct memo_test test = memo_test(state);
    const char *reason = NULL;
    const char *token =
        forge_token(test.arena, forge_header(test.arena), forge_payload(test.arena, "nbf", "1700000000"), FORGE_RS256);
    assert_int_equal(ask(&test, token, &reason), TOKEN_GOOD);
    test.rules.now = FORGE_NOW - 31;
    assert_int_equal(ask(&test, token, &reason), TOKEN_INVALID);
    assert_string_equal(reason, "nbf in the future");
    test.rules.now = FORGE_NOW - 91;
    assert_int_equal(ask(&test, token, &reason), TOKEN_INVALID);
    assert_string_equal(reason, "iat in the future");
}

static void another_set_of_keys_makes_it_forget(void **state)
{
    struct memo_test test = memo_test(state);
    const char *reason = NULL;
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    /* A key more: still good, but found out anew. */
    struct key_set *both = key_set_new(test.arena);
    assert_null(key_set_add(both, forge_private_key()));
    test.rules.keys = both;
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    assert_int_equal(token_memo_hits(test.memo), 0);
    assert_null(key_set_add(both, forge_other_private_key()));
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    assert_int_equal(token_memo_hits(test.memo), 0);
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    assert_int_equal(token_memo_hits(test.memo), 1);
    /* The key withdrawn: bad, whatever was remembered. */
    struct key_set *without = key_set_new(test.arena);
    assert_null(key_set_add(without, forge_other_private_key()));
    test.rules.keys = without;
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_INVALID);
    assert_string_equal(reason, "unknown kid");
}

static void it_forgets_when_told(void **state)
{
    struct memo_test test = memo_test(state);
    const char *reason = NULL;
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    token_memo_forget_all(test.memo);
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    assert_int_equal(token_memo_hits(test.memo), 0);
}

/* What was good for one purpose is not good for another. */
static void other_rules_are_another_question(void **state)
{
    struct memo_test test = memo_test(state);
    const char *reason = NULL;
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    struct token_rules rules = test.rules;
    test.rules.token_use = TOKEN_USE_ID;
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_INVALID);
    assert_string_equal(reason, "token_use");
    test.rules = rules;
    test.rules.issuer = "https://other.example.com";
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_INVALID);
    test.rules = rules;
    test.rules.audience = "other";
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_INVALID);
    /* The same letters cut elsewhere. */
    test.rules.issuer = FORGE_ISSUER "g";
    test.rules.audience = "atehouse";
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_INVALID);
    test.rules = rules;
    test.rules.session_claim = "jti";
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    test.rules.session_claim = "token_use";
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_INVALID);
    assert_int_equal(token_memo_hits(test.memo), 0);
}

static void texts_that_begin_alike_are_told_apart(void **state)
{
    struct memo_test test = memo_test(state);
    const char *reason = NULL;
    assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    static const char *const tails[] = {"A", "=", ".", " ", "AA"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        assert_int_equal(ask(&test, arena_format(test.arena, "%s%s", test.token, tails[i]), &reason), TOKEN_INVALID);
    char *changed = arena_text(test.arena, test.token);
    char *last = changed + strlen(changed) - 1;
    *last = *last == 'A' ? 'B' : 'A';
    assert_int_equal(ask(&test, changed, &reason), TOKEN_INVALID);
    *last = '\0';
    assert_int_equal(ask(&test, changed, &reason), TOKEN_INVALID);
    assert_int_equal(token_memo_hits(test.memo), 0);
}

static void bad_and_expired_tokens_are_not_remembered(void **state)
{
    struct memo_test test = memo_test(state);
    const char *reason = NULL;
    const char *bad =
        forge_token(test.arena, forge_header(test.arena), forge_payload(test.arena, NULL, NULL), FORGE_OTHER_KEY);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ask(&test, bad, &reason), TOKEN_INVALID);
        assert_string_equal(reason, "signature");
    }
    struct token_rules rules = test.rules;
    rules.now = FORGE_NOW + 100000;
    test.rules = rules;
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask(&test, test.token, &reason), TOKEN_EXPIRED);
    assert_int_equal(token_memo_hits(test.memo), 0);
    char *longer = arena_alloc(test.arena, LIMIT_TOKEN_BYTES + 2);
    memset(longer, 'A', LIMIT_TOKEN_BYTES + 1);
    assert_int_equal(ask(&test, longer, &reason), TOKEN_INVALID);
    assert_string_equal(reason, "length");
}

/* More tokens than a table of few slots would keep: each answer is still that token's own. */
static void many_tokens_do_not_mix(void **state)
{
    struct memo_test test = memo_test(state);
    enum { COUNT = 24 };
    const char *tokens[COUNT];
    struct token_content content = {
        .issuer = FORGE_ISSUER, .audience = FORGE_AUDIENCE, .token_use = TOKEN_USE_ACCESS, .issued_at = FORGE_NOW};
    for (size_t i = 0; i < COUNT; i++) {
        char *token = NULL;
        content.subject = id_new();
        content.session = id_new();
        content.expires_at = FORGE_NOW + 100 + (int64_t)i;
        assert_null(token_issue(test.arena, forge_private_key(), &content, &token));
        tokens[i] = token;
    }
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < COUNT; i++) {
            struct token_claims claims;
            assert_int_equal(
                token_memo_verify(test.memo, test.arena, &test.rules, tokens[i], strlen(tokens[i]), &claims, NULL),
                TOKEN_GOOD);
            assert_int_equal(claims.expires_at, FORGE_NOW + 100 + (int64_t)i);
        }
    assert_true(token_memo_hits(test.memo) >= COUNT);
}

/* One token under so many rules that places are taken twice over: each answer is still the right one. */
static void a_full_table_makes_room(void **state)
{
    struct memo_test test = memo_test(state);
    const char *reason = NULL;
    for (int i = 0; i < LIMIT_TOKEN_MEMO_SLOTS; i++) {
        const char *names[] = {"sid", arena_format(test.arena, "name-%d", i), NULL};
        test.rules.session_names = names;
        assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
        assert_int_equal(token_memo_hits(test.memo), i);
        assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    }
    /* What is remembered under keys of before makes room first. */
    struct key_set *both = key_set_new(test.arena);
    assert_null(key_set_add(both, forge_private_key()));
    test.rules.keys = both;
    for (int i = 0; i < 200; i++) {
        const char *names[] = {"sid", arena_format(test.arena, "name-%d", i), NULL};
        test.rules.session_names = names;
        assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
        assert_int_equal(token_memo_hits(test.memo), LIMIT_TOKEN_MEMO_SLOTS + i);
        assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
    }
    test.rules.session_names = NULL;
}

/* ---- the second memory --------------------------------------------------------------------------- */

/* It is told of everything and knows nothing. */
struct second_memory {
    uint8_t names[4][32];
    size_t kept;
};

static bool find_nothing(void *context, struct arena *arena, const uint8_t name[32], struct token_claims *claims_out)
{
    (void)context, (void)arena, (void)name, (void)claims_out;
    return false;
}

static void keep_name(void *context, const uint8_t name[32], const struct token_claims *claims, int64_t seconds,
                      int64_t at)
{
    struct second_memory *memory = context;
    assert_int_equal(at, 7);
    assert_int_equal(seconds, claims->expires_at - FORGE_NOW + 30);
    assert_true(memory->kept < 4);
    memcpy(memory->names[memory->kept++], name, 32);
}

static int64_t seventh(void *context)
{
    (void)context;
    return 7;
}

static void what_is_met_again_is_told_once_under_its_own_name(void **state)
{
    static const char *const lists[][3] = {{NULL}, {"sid", NULL}, {"sid", "jti", NULL}, {"jti", "sid", NULL}};
    struct memo_test test = memo_test(state);
    struct second_memory second = {.kept = 0};
    const struct token_level level = {find_nothing, keep_name, seventh, &second};
    const char *reason = NULL;
    token_memo_set_level(test.memo, &level);
    for (size_t i = 0; i < 4; i++) {
        test.rules.session_names = i == 0 ? NULL : lists[i];
        assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
        assert_int_equal(second.kept, i);
        for (int again = 0; again < 2; again++)
            assert_int_equal(ask(&test, test.token, &reason), TOKEN_GOOD);
        assert_int_equal(second.kept, i + 1);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(second.names[i], second.names[j], 32);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_good_token_is_verified_once),
    HARNESS_TEST(a_remembered_token_expires_all_the_same),
    HARNESS_TEST(a_remembered_token_is_not_good_before_its_time),
    HARNESS_TEST(another_set_of_keys_makes_it_forget),
    HARNESS_TEST(it_forgets_when_told),
    HARNESS_TEST(other_rules_are_another_question),
    HARNESS_TEST(texts_that_begin_alike_are_told_apart),
    HARNESS_TEST(bad_and_expired_tokens_are_not_remembered),
    HARNESS_TEST(many_tokens_do_not_mix),
    HARNESS_TEST(a_full_table_makes_room),
    HARNESS_TEST(what_is_met_again_is_told_once_under_its_own_name),
};
HARNESS_MODULE(token_memo, cases)
