/* SPDX-License-Identifier: MIT */
/* Sessions and refresh tokens of the embedded provider. */
#include "harness.h"

#include <signal.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "codec/encoding.h"
#include "domain/support.h"
#include "identity/embedded/provider.h"
#include "identity/support.h"
#include "support_database.h"

/* Lets `seconds` pass for what was spent. */
static void pass(struct database *database, struct arena *arena, const char *seconds)
{
    sql(database, arena, "UPDATE identity_refresh SET spent_at = spent_at - INTERVAL %s SECOND", seconds);
}

static void each_use_gives_a_new_token_of_the_same_session(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens first = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens before = first;
    struct token_claims claims;
    assert_int_equal(strlen(first.refresh_token), 43);
    for (unsigned i = 0; i < 5; i++) {
        struct provider_tokens after;
        assert_int_equal(refresh(provider, arena, before.refresh_token, &after), PROVIDER_OK);
        assert_string_not_equal(after.refresh_token, before.refresh_token);
        assert_string_not_equal(after.access_token, before.access_token);
        assert_true(id_equal(after.session_id, first.session_id));
        assert_true(id_equal(after.user_id, first.user_id));
        assert_int_equal(after.expires_in, 900);
        assert_int_equal(verify_token(provider, arena, after.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);
        assert_true(id_equal(claims.session, first.session_id));
        assert_int_equal(verify_token(provider, arena, after.id_token, TOKEN_USE_ID, &claims), TOKEN_GOOD);
        before = after;
    }
    assert_true(session_stands(database, arena, &first));
    assert_int_equal(open_sessions(database, arena, subject), 1);
    provider_free(&provider);
    database_free(&database);
}

static void only_the_digest_of_a_token_is_stored(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
    assert_int_equal(sql_integer(database, arena,
                                 "SELECT COUNT(*) FROM identity_refresh WHERE token_hash = UNHEX(SHA2('%s', 256))",
                                 tokens.refresh_token),
                     1);
    provider_free(&provider);
    database_free(&database);
}

static int64_t tokens_of(struct database *database, struct arena *arena, const struct provider_tokens *tokens)
{
    return sql_integer(database, arena, "SELECT COUNT(*) FROM identity_refresh WHERE session_id = %s",
                       sql_id(arena, tokens->session_id));
}

static const char *when_spent(struct database *database, struct arena *arena, const char *token)
{
    return sql_text(database, arena, "SELECT spent_at FROM identity_refresh WHERE token_hash = UNHEX(SHA2('%s', 256))",
                    token);
}

/* Makes the token one that was spent so many seconds ago, however slow the machine is; gives the time. */
static const char *spent_before(struct database *database, struct arena *arena, const char *token, const char *seconds)
{
    sql(database, arena,
        "UPDATE identity_refresh SET spent_at = UTC_TIMESTAMP(3) - INTERVAL %s SECOND WHERE token_hash = "
        "UNHEX(SHA2('%s', 256))",
        seconds, token);
    return when_spent(database, arena, token);
}

/* A grace of 600 s: longer than a slow machine needs for the case. */
static struct provider *given_patient_provider(struct arena *arena, struct database *database)
{
    struct embedded_options options = options_for(database);
    struct provider *provider;
    options.refresh_grace_seconds = 600;
    expect_ok(embedded_new(arena, &options, &provider));
    return provider;
}

static void a_token_in_its_grace_is_answered_with_its_one_successor(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_patient_provider(arena, database);
    struct provider *elsewhere = given_patient_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens first = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens one;
    struct provider_tokens other;
    struct token_claims claims;
    assert_int_equal(refresh(provider, arena, first.refresh_token, &one), PROVIDER_OK);
    for (unsigned i = 0; i < 50; i++) {
        const char *spent_at = spent_before(database, arena, first.refresh_token, "500");
        assert_int_equal(refresh(i % 2 == 0 ? elsewhere : provider, arena, first.refresh_token, &other), PROVIDER_OK);
        assert_string_equal(one.refresh_token, other.refresh_token);
        assert_string_not_equal(one.access_token, other.access_token);
        assert_true(id_equal(other.session_id, first.session_id));
        /* Asking again does not prolong the grace. */
        assert_string_equal(when_spent(database, arena, first.refresh_token), spent_at);
        assert_int_equal(verify_token(provider, arena, other.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);
    }
    assert_int_equal(tokens_of(database, arena, &first), 2);
    (void)spent_before(database, arena, first.refresh_token, "601");
    assert_int_equal(refresh(provider, arena, first.refresh_token, NULL), PROVIDER_TOKEN_REUSED);
    provider_free(&elsewhere);
    provider_free(&provider);
    database_free(&database);
}

/*
 * Thief and owner use one token within its grace. They get the same successors, and whoever uses one late ends the
 * session.
 */
static void two_holders_of_a_token_share_one_line_and_the_late_one_ends_it(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens stolen = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens owner, thief;
    assert_int_equal(refresh(provider, arena, stolen.refresh_token, &owner), PROVIDER_OK);
    assert_int_equal(refresh(provider, arena, stolen.refresh_token, &thief), PROVIDER_OK);
    assert_string_equal(owner.refresh_token, thief.refresh_token);
    pass(database, arena, "900");
    assert_int_equal(refresh(provider, arena, owner.refresh_token, &owner), PROVIDER_OK);
    pass(database, arena, "11");
    assert_int_equal(refresh(provider, arena, thief.refresh_token, NULL), PROVIDER_TOKEN_REUSED);
    assert_false(session_stands(database, arena, &stolen));
    assert_int_equal(refresh(provider, arena, owner.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    provider_free(&provider);
    database_free(&database);
}

static void a_grace_gives_the_same_successor_when_that_has_been_used(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens first = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens second, third, again;
    assert_int_equal(refresh(provider, arena, first.refresh_token, &second), PROVIDER_OK);
    assert_int_equal(refresh(provider, arena, second.refresh_token, &third), PROVIDER_OK);
    assert_int_equal(refresh(provider, arena, first.refresh_token, &again), PROVIDER_OK);
    assert_string_equal(again.refresh_token, second.refresh_token);
    assert_int_equal(refresh(provider, arena, second.refresh_token, &again), PROVIDER_OK);
    assert_string_equal(again.refresh_token, third.refresh_token);
    assert_int_equal(tokens_of(database, arena, &first), 3);
    /* Each token has a grace of its own: that of the first is over now, that of the second is not. */
    sql(database, arena,
        "UPDATE identity_refresh SET spent_at = spent_at - INTERVAL 11 SECOND WHERE token_hash = UNHEX(SHA2('%s', "
        "256))",
        first.refresh_token);
    assert_int_equal(refresh(provider, arena, second.refresh_token, NULL), PROVIDER_OK);
    assert_int_equal(refresh(provider, arena, first.refresh_token, NULL), PROVIDER_TOKEN_REUSED);
    provider_free(&provider);
    database_free(&database);
}

/* Neither the salt, nor the secret, nor the token makes the successor without the other two. */
static void a_successor_takes_the_token_the_salt_and_the_secret(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens first = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens next;
    unsigned char *bytes;
    size_t length;
    assert_int_equal(refresh(provider, arena, first.refresh_token, &next), PROVIDER_OK);
    assert_true(base64url_decode(arena, next.refresh_token, strlen(next.refresh_token), &bytes, &length));
    assert_int_equal(sql_integer(database, arena,
                                 "SELECT COUNT(*) FROM identity_refresh WHERE session_id = %s"
                                 " AND INSTR(CONCAT(HEX(token_hash), HEX(COALESCE(successor_salt, ''))), UPPER('%s'))",
                                 sql_id(arena, first.session_id), hex_encode(arena, bytes, length)),
                     0);
    sql(database, arena, "UPDATE identity_refresh SET successor_salt = UNHEX(REVERSE(HEX(successor_salt)))");
    assert_int_equal(refresh(provider, arena, first.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    sql(database, arena, "UPDATE identity_refresh SET successor_salt = UNHEX(REVERSE(HEX(successor_salt)))");
    assert_int_equal(refresh(provider, arena, first.refresh_token, NULL), PROVIDER_OK);
    /* A row that an earlier release made. */
    sql(database, arena, "UPDATE identity_refresh SET successor_salt = NULL");
    assert_int_equal(refresh(provider, arena, first.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    assert_true(session_stands(database, arena, &first));
    assert_int_equal(refresh(provider, arena, next.refresh_token, NULL), PROVIDER_OK);
    provider_free(&provider);
    database_free(&database);
}

/* A thief who refreshes very often cannot make the service forget the owner's token. */
static void a_session_has_a_bounded_number_of_tokens_and_forgets_none(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens first = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens bystander = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens latest = first;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(refresh(provider, arena, latest.refresh_token, &latest), PROVIDER_OK);
    sql(database, arena,
        "UPDATE identity_refresh SET generation = generation + %d WHERE session_id = %s AND generation > 0",
        LIMIT_REFRESH_TOKENS - 5, sql_id(arena, first.session_id));
    pass(database, arena, "900");
    assert_int_equal(refresh(provider, arena, latest.refresh_token, &latest), PROVIDER_OK);
    assert_int_equal(tokens_of(database, arena, &first), 5);
    /* The last one: it is not spent, so it can be sent again and ends nothing. */
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(refresh(provider, arena, latest.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    assert_int_equal(tokens_of(database, arena, &first), 5);
    assert_true(session_stands(database, arena, &first));
    assert_int_equal(refresh(provider, arena, first.refresh_token, NULL), PROVIDER_TOKEN_REUSED);
    assert_false(session_stands(database, arena, &first));
    assert_int_equal(refresh(provider, arena, bystander.refresh_token, NULL), PROVIDER_OK);
    provider_free(&provider);
    database_free(&database);
}

static void a_token_used_after_its_grace_ends_the_session(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens first = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens bystander = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens latest;
    struct provider_tokens replayed = {.access_token = NULL};
    assert_int_equal(refresh(provider, arena, first.refresh_token, &latest), PROVIDER_OK);
    pass(database, arena, "11");
    assert_int_equal(refresh(provider, arena, first.refresh_token, &replayed), PROVIDER_TOKEN_REUSED);
    assert_null(replayed.access_token);
    assert_null(replayed.refresh_token);
    assert_true(id_equal(replayed.session_id, first.session_id));
    assert_true(id_equal(replayed.user_id, first.user_id));
    assert_false(session_stands(database, arena, &first));
    for (unsigned i = 0; i < 50; i++)
        assert_int_equal(refresh(provider, arena, first.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    assert_int_equal(refresh(provider, arena, latest.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    assert_true(session_stands(database, arena, &bystander));
    assert_int_equal(refresh(provider, arena, bystander.refresh_token, NULL), PROVIDER_OK);
    provider_free(&provider);
    database_free(&database);
}

static void what_is_no_token_of_ours_is_invalid(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
    char *endless = arena_alloc(arena, 100001);
    memset(endless, 'A', 100000);
    char *upper = arena_text(arena, tokens.refresh_token);
    upper[0] = upper[0] == 'A' ? 'B' : 'A';
    const char *others[] = {
        "",
        "A",
        endless,
        upper,
        tokens.access_token,
        tokens.id_token,
        arena_format(arena, "%s ", tokens.refresh_token),
        arena_format(arena, "%s=", tokens.refresh_token),
        arena_format(arena, "%.42s", tokens.refresh_token),
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "' OR 1=1 -- ''''''''''''''''''''''''''''''''",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(refresh(provider, arena, others[i], NULL), PROVIDER_TOKEN_INVALID);
    assert_int_equal(refresh(provider, arena, tokens.refresh_token, NULL), PROVIDER_OK);
    provider_free(&provider);
    database_free(&database);
}

static void a_sessions_end_is_fixed_at_sign_in(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
    const char *id = sql_id(arena, tokens.session_id);
    const char *end = sql_text(database, arena, "SELECT expires_at FROM session WHERE id = %s", id);
    assert_in_range(sql_integer(database, arena,
                                "SELECT TIMESTAMPDIFF(SECOND, created_at, expires_at) FROM session WHERE id = %s", id),
                    2592000, 2592000);
    assert_int_equal(refresh(provider, arena, tokens.refresh_token, &tokens), PROVIDER_OK);
    assert_string_equal(sql_text(database, arena, "SELECT expires_at FROM session WHERE id = %s", id), end);

    /* The last access token ends with the session. */
    sql(database, arena, "UPDATE session SET expires_at = UTC_TIMESTAMP(3) + INTERVAL 100 SECOND WHERE id = %s", id);
    assert_int_equal(refresh(provider, arena, tokens.refresh_token, &tokens), PROVIDER_OK);
    assert_in_range(tokens.expires_in, 60, 100);
    sql(database, arena, "UPDATE session SET expires_at = UTC_TIMESTAMP(3) WHERE id = %s", id);
    assert_int_equal(refresh(provider, arena, tokens.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    provider_free(&provider);
    database_free(&database);
}

/* ---- races --------------------------------------------------------------------------------------- */

static int refresh_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    struct provider *provider = given_provider(arena, database);
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    (void)index;
    if (provider_refresh(provider, arena, context, &tokens, &outcome) != NULL)
        return 90;
    /* The token that came is valid: it can be refreshed. */
    if (outcome == PROVIDER_OK &&
        (provider_refresh(provider, arena, tokens.refresh_token, &tokens, &outcome) != NULL || outcome != PROVIDER_OK))
        return 91;
    provider_free(&provider);
    return (int)outcome;
}

static void honest_use_at_the_same_time_keeps_the_session(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    for (unsigned round = 0; round < 5; round++) {
        struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
        int results[RACERS_MAX];
        race(6, refresh_racer, (void *)(uintptr_t)tokens.refresh_token, results);
        assert_int_equal(race_count(results, 6, PROVIDER_OK), 6);
        assert_true(session_stands(database, arena, &tokens));
        assert_int_equal(sql_integer(database, arena,
                                     "SELECT COUNT(DISTINCT spent_at) FROM identity_refresh WHERE session_id = %s"
                                     " AND token_hash = UNHEX(SHA2('%s', 256))",
                                     sql_id(arena, tokens.session_id), tokens.refresh_token),
                         1);
    }
    provider_free(&provider);
    database_free(&database);
}

static int refresh_and_die(struct database *database, struct arena *arena, unsigned index, void *context)
{
    struct provider *provider = given_provider(arena, database);
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    (void)index;
    if (provider_refresh(provider, arena, context, &tokens, &outcome) == NULL && outcome == PROVIDER_OK)
        (void)raise(SIGKILL);
    return (int)outcome;
}

static void a_death_between_commit_and_reply_loses_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens next;
    int results[RACERS_MAX];
    race(3, refresh_and_die, (void *)(uintptr_t)tokens.refresh_token, results);
    assert_int_equal(race_count(results, 3, 100), 3);
    assert_int_equal(tokens_of(database, arena, &tokens), 2);
    assert_int_equal(refresh(provider, arena, tokens.refresh_token, &next), PROVIDER_OK);
    assert_int_equal(refresh(provider, arena, next.refresh_token, NULL), PROVIDER_OK);
    assert_int_equal(tokens_of(database, arena, &tokens), 3);
    provider_free(&provider);
    database_free(&database);
}

static void replays_at_the_same_time_get_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
    assert_int_equal(refresh(provider, arena, tokens.refresh_token, NULL), PROVIDER_OK);
    pass(database, arena, "11");
    int results[RACERS_MAX];
    race(6, refresh_racer, (void *)(uintptr_t)tokens.refresh_token, results);
    assert_int_equal(race_count(results, 6, PROVIDER_TOKEN_REUSED), 1);
    assert_int_equal(race_count(results, 6, PROVIDER_TOKEN_INVALID), 5);
    assert_false(session_stands(database, arena, &tokens));
    provider_free(&provider);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(each_use_gives_a_new_token_of_the_same_session),
    HARNESS_TEST(only_the_digest_of_a_token_is_stored),
    HARNESS_TEST(a_token_in_its_grace_is_answered_with_its_one_successor),
    HARNESS_TEST(two_holders_of_a_token_share_one_line_and_the_late_one_ends_it),
    HARNESS_TEST(a_grace_gives_the_same_successor_when_that_has_been_used),
    HARNESS_TEST(a_successor_takes_the_token_the_salt_and_the_secret),
    HARNESS_TEST(a_session_has_a_bounded_number_of_tokens_and_forgets_none),
    HARNESS_TEST(a_token_used_after_its_grace_ends_the_session),
    HARNESS_TEST(what_is_no_token_of_ours_is_invalid),
    HARNESS_TEST(a_sessions_end_is_fixed_at_sign_in),
    HARNESS_TEST(honest_use_at_the_same_time_keeps_the_session),
    HARNESS_TEST(a_death_between_commit_and_reply_loses_nothing),
    HARNESS_TEST(replays_at_the_same_time_get_nothing),
};
HARNESS_MODULE(embedded_session, cases)
