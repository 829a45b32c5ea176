/* SPDX-License-Identifier: MIT */
/* The rows of refresh tokens: one successor each, the same one when it is asked for again, and none out of nothing. */
#include "domain/session/refresh_token.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "domain/support.h"
#include "harness.h"
#include "support_database.h"
#include "support_refusal.h"

#define MASTER "0123456789abcdef0123456789abcdef"
#define NEW_MASTER "fedcba9876543210fedcba9876543210"

/* A session with one token. */
struct bench {
    struct database *database;
    struct id user;
    struct id session;
    const char *token;
    unsigned char hash[DIGEST_BYTES];
};

static struct bench bench_new(struct arena *arena)
{
    struct bench bench = {.database = support_database_new(), .user = id_new()};
    support_database_clear();
    bench.session = given_session(bench.database, arena, bench.user);
    bench.token = refresh_token_new(arena, bench.hash);
    expect_ok(refresh_token_insert(bench.database, arena, bench.hash, bench.session));
    return bench;
}

static int64_t tokens_of(struct bench *bench, struct arena *arena, struct id session)
{
    return sql_integer(bench->database, arena, "SELECT COUNT(*) FROM identity_refresh WHERE session_id = %s",
                       sql_id(arena, session));
}

/* Another session of the user with one token. */
static struct id another(struct bench *bench, struct arena *arena)
{
    unsigned char hash[DIGEST_BYTES];
    struct id session = given_session(bench->database, arena, bench->user);
    (void)refresh_token_new(arena, hash);
    expect_ok(refresh_token_insert(bench->database, arena, hash, session));
    return session;
}

static struct refresh_token held(struct bench *bench, struct arena *arena, const char *text)
{
    struct refresh_token token;
    unsigned char hash[DIGEST_BYTES];
    bool found = false;
    assert_true(refresh_token_hash(text, hash));
    expect_ok(refresh_token_hold(bench->database, arena, hash, 10, &token, &found));
    assert_true(found);
    return token;
}

static const char *rotated(struct bench *bench, struct arena *arena, struct secret master, const char *text)
{
    const char *successor = "unset";
    struct refresh_token token = held(bench, arena, text);
    expect_ok(refresh_token_rotate(bench->database, arena, master, &token, text, &successor));
    return successor;
}

static void only_a_text_of_the_right_length_can_be_a_token(void **state)
{
    struct arena *arena = harness_arena(state);
    unsigned char made[DIGEST_BYTES];
    unsigned char hash[DIGEST_BYTES];
    const char *token = refresh_token_new(arena, made);
    assert_int_equal(strlen(token), 43);
    assert_true(refresh_token_hash(token, hash));
    assert_memory_equal(made, hash, DIGEST_BYTES);
    assert_false(refresh_token_hash("", hash));
    assert_false(refresh_token_hash(token + 1, hash));
    assert_false(refresh_token_hash(arena_format(arena, "%sA", token), hash));
}

static bool in_cookie(struct bench *bench, struct arena *arena, const char *token)
{
    bool result = true;
    expect_ok(refresh_token_is_in_cookie(bench->database, arena, token, &result));
    return result;
}

static void a_token_is_in_a_cookie_where_its_session_says_so(void **state)
{
    struct arena *arena = harness_arena(state);
    struct bench bench = bench_new(arena);
    unsigned char hash[DIGEST_BYTES];
    assert_false(in_cookie(&bench, arena, bench.token));
    sql(bench.database, arena, "UPDATE session SET in_cookie = TRUE");
    assert_true(in_cookie(&bench, arena, bench.token));
    assert_false(in_cookie(&bench, arena, refresh_token_new(arena, hash)));
    assert_false(in_cookie(&bench, arena, "short"));
    database_free(&bench.database);
}

static void a_token_is_found_while_its_session_is_open(void **state)
{
    struct arena *arena = harness_arena(state);
    struct bench bench = bench_new(arena);
    struct refresh_token token = held(&bench, arena, bench.token);
    bool found = true;
    assert_true(id_equal(token.session, bench.session) && id_equal(token.user, bench.user));
    assert_false(token.spent || token.in_grace);
    assert_int_equal(token.generation, 0);
    assert_null(token.salt);
    sql(bench.database, arena, "UPDATE session SET ended_at = UTC_TIMESTAMP(3)");
    expect_ok(refresh_token_hold(bench.database, arena, bench.hash, 10, &token, &found));
    assert_false(found);
    database_free(&bench.database);
}

static void a_spent_token_has_one_successor_for_ever(void **state)
{
    struct arena *arena = harness_arena(state);
    struct bench bench = bench_new(arena);
    const char *successor = rotated(&bench, arena, secret_of(MASTER), bench.token);
    assert_string_not_equal(successor, bench.token);
    struct refresh_token token = held(&bench, arena, bench.token);
    assert_true(token.spent && token.in_grace);
    assert_non_null(token.salt);
    assert_string_equal(rotated(&bench, arena, secret_of(MASTER), bench.token), successor);
    sql(bench.database, arena, "UPDATE identity_refresh SET spent_at = spent_at - INTERVAL 11 SECOND");
    token = held(&bench, arena, bench.token);
    assert_true(token.spent);
    assert_false(token.in_grace);
    token = held(&bench, arena, successor);
    assert_false(token.spent);
    assert_int_equal(token.generation, 1);
    assert_int_equal(tokens_of(&bench, arena, bench.session), 2);
    database_free(&bench.database);
}

/* The service's secret has been changed since the first use: the older one still tells the successor. */
static void the_successor_is_told_while_its_secret_is_known(void **state)
{
    struct arena *arena = harness_arena(state);
    struct bench bench = bench_new(arena);
    struct secret older = secret_of(MASTER);
    struct secret both = secret_of(NEW_MASTER);
    const char *successor = rotated(&bench, arena, older, bench.token);
    both.older = &older;
    assert_string_equal(rotated(&bench, arena, both, bench.token), successor);
    assert_null(rotated(&bench, arena, secret_of(NEW_MASTER), bench.token));
    /* A token that was spent since is told with the newest one. */
    const char *next = rotated(&bench, arena, both, successor);
    assert_string_equal(rotated(&bench, arena, both, successor), next);
    assert_null(rotated(&bench, arena, older, successor));
    /* An earlier release made it, without a salt. */
    sql(bench.database, arena, "UPDATE identity_refresh SET successor_salt = NULL");
    assert_null(rotated(&bench, arena, both, bench.token));
    database_free(&bench.database);
}

static void the_last_token_of_a_session_stays_unspent(void **state)
{
    struct arena *arena = harness_arena(state);
    struct bench bench = bench_new(arena);
    sql(bench.database, arena, "UPDATE identity_refresh SET generation = %d", LIMIT_REFRESH_TOKENS - 1);
    assert_null(rotated(&bench, arena, secret_of(MASTER), bench.token));
    assert_false(held(&bench, arena, bench.token).spent);
    sql(bench.database, arena, "UPDATE identity_refresh SET generation = %d", LIMIT_REFRESH_TOKENS - 2);
    assert_non_null(rotated(&bench, arena, secret_of(MASTER), bench.token));
    database_free(&bench.database);
}

static void a_short_secret_makes_no_successor(void **state)
{
    struct arena *arena = harness_arena(state);
    struct bench bench = bench_new(arena);
    struct refresh_token token = held(&bench, arena, bench.token);
    const char *successor = NULL;
    expect_error(refresh_token_rotate(bench.database, arena, secret_of("short"), &token, bench.token, &successor),
                 ERROR_INTERNAL);
    assert_null(successor);
    assert_false(held(&bench, arena, bench.token).spent);
    database_free(&bench.database);
}

static void tokens_go_with_what_they_belong_to(void **state)
{
    struct arena *arena = harness_arena(state);
    struct bench bench = bench_new(arena);
    struct id second = another(&bench, arena);
    struct id third = another(&bench, arena);
    expect_ok(refresh_token_delete_session(bench.database, arena, second, id_new()));
    assert_int_equal(tokens_of(&bench, arena, second), 1);
    expect_ok(refresh_token_delete_session(bench.database, arena, second, bench.user));
    assert_int_equal(tokens_of(&bench, arena, second), 0);
    expect_ok(refresh_token_delete_others(bench.database, arena, bench.user, third));
    assert_int_equal(tokens_of(&bench, arena, bench.session), 0);
    assert_int_equal(tokens_of(&bench, arena, third), 1);
    struct id ended = another(&bench, arena);
    sql(bench.database, arena, "UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE id = %s", sql_id(arena, ended));
    expect_ok(refresh_token_delete_ended(bench.database, arena, bench.user));
    assert_int_equal(tokens_of(&bench, arena, ended), 0);
    assert_int_equal(tokens_of(&bench, arena, third), 1);
    expect_ok(refresh_token_delete_user(bench.database, arena, bench.user));
    assert_int_equal(sql_integer(bench.database, arena, "SELECT COUNT(*) FROM identity_refresh"), 0);
    database_free(&bench.database);
}

static void tokens_of_expired_sessions_go_in_portions(void **state)
{
    struct arena *arena = harness_arena(state);
    struct bench bench = bench_new(arena);
    struct id kept = another(&bench, arena);
    sql(bench.database, arena,
        "INSERT INTO identity_refresh (token_hash, session_id) SELECT UNHEX(SHA2(seq, 256)), %s FROM seq_1_to_4100",
        sql_id(arena, bench.session));
    sql(bench.database, arena, "UPDATE session SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE id = %s",
        sql_id(arena, bench.session));
    expect_ok(refresh_token_tidy(bench.database, arena));
    assert_int_equal(tokens_of(&bench, arena, bench.session), 0);
    assert_int_equal(tokens_of(&bench, arena, kept), 1);
    database_free(&bench.database);
}

/* What is more than one pass may delete is left for the next one. */
static void one_pass_deletes_so_many_and_no_more(void **state)
{
    struct arena *arena = harness_arena(state);
    struct bench bench = bench_new(arena);
    for (int i = 0; i < 10; i++)
        sql(bench.database, arena,
            "INSERT INTO identity_refresh (token_hash, session_id) SELECT UNHEX(LPAD(HEX(seq + %d), 64, '0')), %s"
            " FROM seq_1_to_20001",
            i * 20001, sql_id(arena, bench.session));
    sql(bench.database, arena, "UPDATE session SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");
    expect_ok(refresh_token_tidy(bench.database, arena));
    assert_int_equal(tokens_of(&bench, arena, bench.session), 11);
    expect_ok(refresh_token_tidy(bench.database, arena));
    assert_int_equal(tokens_of(&bench, arena, bench.session), 0);
    database_free(&bench.database);
}

/* ---- statements that the server refuses ---------------------------------------------------------- */

static struct error *use_everything(struct database *database, struct arena *arena, void *context)
{
    struct bench *bench = context;
    struct refresh_token token;
    const char *successor;
    unsigned char hash[DIGEST_BYTES];
    bool found;
    (void)refresh_token_new(arena, hash);
    TRY(refresh_token_insert(database, arena, hash, bench->session));
    TRY(refresh_token_is_in_cookie(database, arena, bench->token, &found));
    for (int use = 0; use < 2; use++) {
        TRY(refresh_token_hold(database, arena, bench->hash, 10, &token, &found));
        assert_true(found && token.spent == (use == 1));
        TRY(refresh_token_rotate(database, arena, secret_of(MASTER), &token, bench->token, &successor));
        assert_non_null(successor);
    }
    TRY(refresh_token_tidy(database, arena));
    TRY(refresh_token_delete_session(database, arena, bench->session, bench->user));
    TRY(refresh_token_delete_others(database, arena, bench->user, bench->session));
    TRY(refresh_token_delete_ended(database, arena, bench->user));
    return refresh_token_delete_user(database, arena, bench->user);
}

static struct error *in_a_transaction(struct arena *arena, void *context)
{
    struct bench *bench = context;
    return database_transaction(bench->database, arena, use_everything, bench, NULL);
}

static void a_refused_statement_spends_no_token(void **state)
{
    struct arena *arena = harness_arena(state);
    struct bench bench = bench_new(arena);
    /* BEGIN and COMMIT; insert, cookie; hold, spend, insert; hold, find; five that delete. */
    assert_int_equal(refusal_each(bench.database, in_a_transaction, &bench), 14);
    assert_int_equal(tokens_of(&bench, arena, bench.session), 0);
    database_free(&bench.database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(only_a_text_of_the_right_length_can_be_a_token),
    HARNESS_TEST(a_token_is_in_a_cookie_where_its_session_says_so),
    HARNESS_TEST(a_token_is_found_while_its_session_is_open),
    HARNESS_TEST(a_spent_token_has_one_successor_for_ever),
    HARNESS_TEST(the_successor_is_told_while_its_secret_is_known),
    HARNESS_TEST(the_last_token_of_a_session_stays_unspent),
    HARNESS_TEST(a_short_secret_makes_no_successor),
    HARNESS_TEST(tokens_go_with_what_they_belong_to),
    HARNESS_TEST(tokens_of_expired_sessions_go_in_portions),
    HARNESS_TEST(one_pass_deletes_so_many_and_no_more),
    HARNESS_TEST(a_refused_statement_spends_no_token),
};
HARNESS_MODULE(refresh_token, cases)
