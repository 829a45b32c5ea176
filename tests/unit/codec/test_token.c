/* SPDX-License-Identifier: MIT */
/*
 * What a token must be. The attacks are tables, one row a case, each with the reason it must be refused for:
 * a row that fails for another reason than its own proves nothing. tests/unit/codec/test_token_attack.c holds
 * them; here is what must pass, and the edges between.
 */
#include "codec/token.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "codec/document.h"
#include "codec/encoding.h"
#include "forge.h"
#include "harness.h"

static enum token_result verify(struct arena *arena, const struct token_rules *rules, const char *token,
                                struct token_claims *claims, const char **reason)
{
    return token_verify(arena, rules, token, strlen(token), claims, reason);
}

static const char *seconds(struct arena *arena, int64_t offset)
{
    return arena_format(arena, "%lld", (long long)(FORGE_NOW + offset));
}

static struct token_content content_of_access(void)
{
    struct token_content content = {.issuer = FORGE_ISSUER,
                                    .audience = FORGE_AUDIENCE,
                                    .token_use = TOKEN_USE_ACCESS,
                                    .issued_at = FORGE_NOW,
                                    .expires_at = FORGE_NOW + 900};
    assert_true(id_parse(FORGE_SUBJECT, &content.subject));
    assert_true(id_parse(FORGE_SESSION, &content.session));
    return content;
}

/* Part `number` of a token as a document. */
static const struct document *part(struct arena *arena, const char *token, int number)
{
    for (; number > 0; number--)
        token = strchr(token, '.') + 1;
    unsigned char *bytes;
    size_t length;
    struct document *document = NULL;
    assert_true(base64url_decode(arena, token, strcspn(token, "."), &bytes, &length));
    assert_null(document_parse(arena, (const char *)bytes, length, &document));
    return document;
}

static void assert_member(const struct document *object, const char *name, const char *wanted)
{
    const char *text = document_text(document_member(object, name));
    assert_non_null(text);
    assert_string_equal(text, wanted);
}

static void an_issued_access_token_is_good(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    struct token_content content = content_of_access();
    char *token = NULL;
    assert_null(token_issue(arena, forge_private_key(), &content, &token));
    struct token_claims claims;
    const char *reason = "unset";
    assert_int_equal(verify(arena, &rules, token, &claims, &reason), TOKEN_GOOD);
    assert_null(reason);
    assert_true(id_equal(claims.subject, content.subject));
    assert_true(id_equal(claims.session, content.session));
    assert_int_equal(claims.issued_at, FORGE_NOW);
    assert_int_equal(claims.not_before, FORGE_NOW);
    assert_int_equal(claims.expires_at, FORGE_NOW + 900);
}

static void the_time_of_the_sign_in_is_told_where_it_is_known(void **state)
{
    static const struct {
        const char *value;
        int64_t signed_in_at;
    } rows[] = {{NULL, 0}, {"0", 0}, {"1795000000", 1795000000}};
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct token_claims claims;
        const char *reason = NULL;
        const char *payload = forge_payload(arena, "auth_time", rows[i].value);
        const char *token = forge_token(arena, forge_header(arena), payload, FORGE_RS256);
        assert_int_equal(verify(arena, &rules, token, &claims, &reason), TOKEN_GOOD);
        assert_int_equal(claims.signed_in_at, rows[i].signed_in_at);
    }
}

static void an_issued_token_says_what_it_should_and_no_more(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_content content = content_of_access();
    char *token = NULL;
    assert_null(token_issue(arena, forge_private_key(), &content, &token));
    const struct document *header = part(arena, token, 0);
    assert_int_equal(document_count(header), 3);
    assert_member(header, "alg", "RS256");
    assert_member(header, "typ", "JWT");
    assert_member(header, "kid", forge_pair()->kid);
    const struct document *claims = part(arena, token, 1);
    assert_int_equal(document_count(claims), 8);
    assert_member(claims, "iss", FORGE_ISSUER);
    assert_member(claims, "aud", FORGE_AUDIENCE);
    assert_member(claims, "sub", FORGE_SUBJECT);
    assert_member(claims, "sid", FORGE_SESSION);
    assert_member(claims, "token_use", "access");
    struct id id;
    assert_true(id_parse(document_text(document_member(claims, "jti")), &id));
    int64_t time = 0;
    assert_true(document_integer(document_member(claims, "iat"), &time));
    assert_int_equal(time, FORGE_NOW);
    assert_true(document_integer(document_member(claims, "exp"), &time));
    assert_int_equal(time, FORGE_NOW + 900);
}

static void every_token_has_an_id_of_its_own(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_content content = content_of_access();
    char *one = NULL;
    char *other = NULL;
    assert_null(token_issue(arena, forge_private_key(), &content, &one));
    assert_null(token_issue(arena, forge_private_key(), &content, &other));
    assert_string_not_equal(document_text(document_member(part(arena, one, 1), "jti")),
                            document_text(document_member(part(arena, other, 1), "jti")));
}

static void an_id_token_carries_the_profile_and_does_not_open_the_api(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    struct token_content content = content_of_access();
    content.token_use = TOKEN_USE_ID;
    content.email = "o\"wner@example.com";
    content.email_verified = true;
    content.permissions = "rwx:* cus:*:w";
    char *token = NULL;
    assert_null(token_issue(arena, forge_private_key(), &content, &token));
    const struct document *claims = part(arena, token, 1);
    assert_int_equal(document_count(claims), 11);
    assert_member(claims, "email", "o\"wner@example.com");
    assert_member(claims, "custom:permissions", "rwx:* cus:*:w");
    bool verified = false;
    assert_true(document_boolean(document_member(claims, "email_verified"), &verified));
    assert_true(verified);
    struct token_claims unused;
    const char *reason = NULL;
    assert_int_equal(verify(arena, &rules, token, &unused, &reason), TOKEN_INVALID);
    assert_string_equal(reason, "token_use");
    rules.token_use = TOKEN_USE_ID;
    assert_int_equal(verify(arena, &rules, token, &unused, &reason), TOKEN_GOOD);
}

static void the_longest_permissions_fit_and_longer_texts_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_content content = content_of_access();
    content.token_use = TOKEN_USE_ID;
    content.email = "owner@example.com";
    char *permissions = arena_alloc(arena, 10001);
    memset(permissions, 'a', LIMIT_PERMISSIONS_BYTES);
    content.permissions = permissions;
    char *token = NULL;
    assert_null(token_issue(arena, forge_private_key(), &content, &token));
    memset(permissions, 'a', 10000);
    token = NULL;
    struct error *error = token_issue(arena, forge_private_key(), &content, &token);
    assert_non_null(error);
    assert_int_equal(error->code, ERROR_INTERNAL);
    assert_null(token);
}

static void a_public_key_cannot_sign(void **state)
{
    struct arena *arena = harness_arena(state);
    struct signing_key *key = NULL;
    assert_null(signing_key_load_public(arena, NULL, forge_pair()->public_pem, &key));
    struct token_content content = content_of_access();
    char *token = NULL;
    struct error *error = token_issue(arena, key, &content, &token);
    assert_non_null(error);
    assert_null(token);
}

struct variation {
    const char *name;
    const char *value;
};

static void harmless_variations_are_good(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    const struct variation good[] = {
        {NULL, NULL},
        {"jti", NULL},
        {"nbf", seconds(arena, -60)},
        {"client_id", "\"" FORGE_AUDIENCE "\""},
        {"aud", "[\"" FORGE_AUDIENCE "\"]"},
        {"aud", "[\"other\",\"" FORGE_AUDIENCE "\"]"},
        {"aud", "[\"" FORGE_AUDIENCE "\",\"other\"]"},
        {"exp", "253402300799"}, /* the last second of the year 9999 */
        {"scope", "\"aws.cognito.signin.user.admin\""},
        {"custom:permissions", "\"*:*:a\""},
        {"nested", "{\"sub\":1,\"exp\":\"x\",\"iss\":[]}"},
        {"iss", "\"https:\\/\\/accounts.example.com\""},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *payload = forge_payload(arena, good[i].name, good[i].value);
        struct token_claims claims;
        const char *reason = NULL;
        const char *token = forge_token(arena, forge_header(arena), payload, FORGE_RS256);
        if (verify(arena, &rules, token, &claims, &reason) != TOKEN_GOOD)
            fail_msg("%s: %s", payload, reason);
    }
    /* Providers name the client where we name the audience, and leave typ out. */
    const char *header = arena_format(arena, "{\"kid\":\"%s\",\"alg\":\"RS256\"}", forge_pair()->kid);
    const char *payload = forge_payload(arena, "aud", NULL);
    payload = arena_format(arena, "%.*s,\"client_id\":\"" FORGE_AUDIENCE "\"}", (int)strlen(payload) - 1, payload);
    struct token_claims claims;
    const char *reason = NULL;
    assert_int_equal(verify(arena, &rules, forge_token(arena, header, payload, FORGE_RS256), &claims, &reason),
                     TOKEN_GOOD);
}

static void the_session_is_asked_for_where_the_rules_say_so(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    const char *token = forge_token(arena, forge_header(arena), forge_payload(arena, "sid", NULL), FORGE_RS256);
    struct token_claims claims;
    const char *reason = NULL;
    assert_int_equal(verify(arena, &rules, token, &claims, &reason), TOKEN_INVALID);
    assert_string_equal(reason, "session");
    rules.session_claim = NULL;
    assert_int_equal(verify(arena, &rules, token, &claims, &reason), TOKEN_GOOD);
    assert_true(id_is_none(claims.session));
    rules.session_claim = "origin_jti";
    token = forge_token(arena, forge_header(arena), forge_payload(arena, "origin_jti", "\"" FORGE_SESSION "\""),
                        FORGE_RS256);
    assert_int_equal(verify(arena, &rules, token, &claims, &reason), TOKEN_GOOD);
    assert_false(id_is_none(claims.session));
}

static const char *remote_payload(struct arena *arena, const char *azp, const char *typ, const char *rest)
{
    return arena_format(arena,
                        "{\"iss\":\"%s\",\"sub\":\"%s\",\"aud\":\"account\",\"iat\":1700000000,\"exp\":1700000900,"
                        "\"azp\":\"%s\",\"typ\":\"%s\"%s}",
                        FORGE_ISSUER, FORGE_SUBJECT, azp, typ, rest);
}

static void a_remote_issuer_names_audience_use_and_session_in_its_own_way(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const names[] = {"origin_jti", "jti", NULL};
    struct token_rules rules = forge_rules(arena);
    struct token_claims first, second, claims;
    const char *reason = NULL;
    rules.session_claim = NULL;
    rules.session_names = names;
    rules.audience_claim = "azp";
    rules.use_claim = "typ";
    rules.token_use = "Bearer";
#define TOKEN(azp, typ, rest)                                                                                          \
    forge_token(arena, forge_header(arena), remote_payload(arena, azp, typ, rest), FORGE_RS256)
    assert_int_equal(verify(arena, &rules, TOKEN(FORGE_AUDIENCE, "Bearer", ",\"jti\":\"a b\""), &first, &reason),
                     TOKEN_GOOD);
    assert_int_equal(verify(arena, &rules, TOKEN(FORGE_AUDIENCE, "Bearer", ",\"jti\":\"c\",\"origin_jti\":\"a b\""),
                            &second, &reason),
                     TOKEN_GOOD);
    assert_true(id_equal(first.session, second.session));
    assert_int_equal(verify(arena, &rules, TOKEN(FORGE_AUDIENCE, "Bearer", ",\"jti\":\"c\""), &second, &reason),
                     TOKEN_GOOD);
    assert_false(id_equal(first.session, second.session));
    assert_false(id_is_none(second.session));

    assert_int_equal(verify(arena, &rules, TOKEN("other", "Bearer", ",\"jti\":\"c\""), &claims, &reason),
                     TOKEN_INVALID);
    assert_string_equal(reason, "azp");
    assert_int_equal(verify(arena, &rules, TOKEN(FORGE_AUDIENCE, "ID", ",\"jti\":\"c\""), &claims, &reason),
                     TOKEN_INVALID);
    assert_string_equal(reason, "token_use");
    static const char *const nameless[] = {"", ",\"jti\":\"\"", ",\"jti\":7", ",\"origin_jti\":null,\"jti\":\"c\""};
    for (size_t i = 0; i < sizeof nameless / sizeof *nameless; i++) {
        assert_int_equal(verify(arena, &rules, TOKEN(FORGE_AUDIENCE, "Bearer", nameless[i]), &claims, &reason),
                         TOKEN_INVALID);
        assert_string_equal(reason, "session");
    }
#undef TOKEN
}

struct edge {
    const char *claim;
    int64_t offset;
    enum token_result result;
};

static void clocks_may_differ_by_the_leeway_and_no_more(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    static const struct edge edges[] = {
        {"exp", 1, TOKEN_GOOD},      {"exp", 0, TOKEN_GOOD},  {"exp", -29, TOKEN_GOOD},   {"exp", -30, TOKEN_EXPIRED},
        {"exp", -31, TOKEN_EXPIRED}, {"nbf", 29, TOKEN_GOOD}, {"nbf", 30, TOKEN_GOOD},    {"nbf", 31, TOKEN_INVALID},
        {"iat", 29, TOKEN_GOOD},     {"iat", 30, TOKEN_GOOD}, {"iat", 31, TOKEN_INVALID}, {"nbf", 3600, TOKEN_INVALID},
    };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        const char *payload = forge_payload(arena, edges[i].claim, seconds(arena, edges[i].offset));
        struct token_claims claims;
        const char *reason = NULL;
        enum token_result result =
            verify(arena, &rules, forge_token(arena, forge_header(arena), payload, FORGE_RS256), &claims, &reason);
        if (result != edges[i].result)
            fail_msg("%s %+lld: %d, %s", edges[i].claim, (long long)edges[i].offset, (int)result, reason);
    }
}

/* "Expired" tells a stranger that the rest was right, so it is only said when it was. */
static void expired_is_said_of_our_own_tokens_only(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    rules.now = FORGE_NOW + 100000;
    struct token_claims claims;
    const char *reason = NULL;
    const char *good = forge_payload(arena, NULL, NULL);
    assert_int_equal(
        verify(arena, &rules, forge_token(arena, forge_header(arena), good, FORGE_RS256), &claims, &reason),
        TOKEN_EXPIRED);
    assert_string_equal(reason, "expired");
    static const enum forge_signature wrong[] = {FORGE_OTHER_KEY, FORGE_ZEROS, FORGE_RS512, FORGE_NOTHING};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(
            verify(arena, &rules, forge_token(arena, forge_header(arena), good, wrong[i]), &claims, &reason),
            TOKEN_INVALID);
    static const struct variation changes[] = {{"iss", "\"https://other.example.com\""},
                                               {"aud", "\"other\""},
                                               {"token_use", "\"id\""},
                                               {"sub", "\"x\""},
                                               {"sid", NULL},
                                               {"iat", "\"1\""},
                                               {"nbf", "99999999999"},
                                               {"auth_time", "\"1\""},
                                               {"auth_time", "-1"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *payload = forge_payload(arena, changes[i].name, changes[i].value);
        assert_int_equal(
            verify(arena, &rules, forge_token(arena, forge_header(arena), payload, FORGE_RS256), &claims, &reason),
            TOKEN_INVALID);
    }
}

/* A stepped clock changes nothing but what exp, nbf and iat mean. */
static void a_stepped_clock_moves_only_the_times(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    const char *token = forge_token(arena, forge_header(arena), forge_payload(arena, NULL, NULL), FORGE_RS256);
    struct token_claims claims;
    for (int64_t step = -3600; step <= 3600; step += 15) {
        rules.now = FORGE_NOW + step;
        enum token_result wanted = step < -90 ? TOKEN_INVALID : step >= 870 ? TOKEN_EXPIRED : TOKEN_GOOD;
        assert_int_equal(verify(arena, &rules, token, &claims, NULL), wanted);
    }
}

static void either_of_two_keys_verifies_its_own_tokens(void **state)
{
    struct arena *arena = harness_arena(state);
    struct key_set *keys = key_set_new(arena);
    assert_null(key_set_add(keys, forge_private_key()));
    assert_null(key_set_add(keys, forge_other_private_key()));
    struct token_rules rules = forge_rules(arena);
    rules.keys = keys;
    struct token_content content = content_of_access();
    struct token_claims claims;
    const char *reason = NULL;
    char *token = NULL;
    assert_null(token_issue(arena, forge_other_private_key(), &content, &token));
    assert_int_equal(verify(arena, &rules, token, &claims, &reason), TOKEN_GOOD);
    /* Our header's kid with the other key's signature: the kid decides, not whichever key fits. */
    token = forge_token(arena, forge_header(arena), forge_payload(arena, NULL, NULL), FORGE_OTHER_KEY);
    assert_int_equal(verify(arena, &rules, token, &claims, &reason), TOKEN_INVALID);
    assert_string_equal(reason, "signature");
    rules.keys = key_set_new(arena);
    token = forge_token(arena, forge_header(arena), forge_payload(arena, NULL, NULL), FORGE_RS256);
    assert_int_equal(verify(arena, &rules, token, &claims, &reason), TOKEN_INVALID);
    assert_string_equal(reason, "unknown kid");
}

/* Every single-byte change and every cut of a good token is refused. */
static void no_byte_of_a_token_is_without_meaning(void **state)
{
    struct arena *arena = harness_arena(state);
    struct token_rules rules = forge_rules(arena);
    const char *token = forge_token(arena, forge_header(arena), forge_payload(arena, NULL, NULL), FORGE_RS256);
    size_t length = strlen(token);
    struct harness_random random = {.state = 3};
    struct arena *scratch = arena_new();
    struct token_claims claims;
    for (size_t i = 0; i < length; i++) {
        char *changed = arena_text(scratch, token);
        char letter = (char)harness_random_below(&random, 256);
        changed[i] = letter == token[i] ? '~' : letter;
        assert_int_equal(token_verify(scratch, &rules, changed, length, &claims, NULL), TOKEN_INVALID);
        /* The neighbouring letter differs in the last bits only. */
        changed[i] = (char)(token[i] + 1);
        assert_int_equal(token_verify(scratch, &rules, changed, length, &claims, NULL), TOKEN_INVALID);
        assert_int_equal(token_verify(scratch, &rules, token, i, &claims, NULL), TOKEN_INVALID);
        arena_reset(scratch);
    }
    assert_int_equal(token_verify(scratch, &rules, token, length, &claims, NULL), TOKEN_GOOD);
    arena_free(&scratch);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(an_issued_access_token_is_good),
    HARNESS_TEST(the_time_of_the_sign_in_is_told_where_it_is_known),
    HARNESS_TEST(an_issued_token_says_what_it_should_and_no_more),
    HARNESS_TEST(every_token_has_an_id_of_its_own),
    HARNESS_TEST(an_id_token_carries_the_profile_and_does_not_open_the_api),
    HARNESS_TEST(the_longest_permissions_fit_and_longer_texts_are_refused),
    HARNESS_TEST(a_public_key_cannot_sign),
    HARNESS_TEST(harmless_variations_are_good),
    HARNESS_TEST(the_session_is_asked_for_where_the_rules_say_so),
    HARNESS_TEST(a_remote_issuer_names_audience_use_and_session_in_its_own_way),
    HARNESS_TEST(clocks_may_differ_by_the_leeway_and_no_more),
    HARNESS_TEST(expired_is_said_of_our_own_tokens_only),
    HARNESS_TEST(a_stepped_clock_moves_only_the_times),
    HARNESS_TEST(either_of_two_keys_verifies_its_own_tokens),
    HARNESS_TEST(no_byte_of_a_token_is_without_meaning),
};
HARNESS_MODULE(token, cases)
