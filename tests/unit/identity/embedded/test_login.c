/* SPDX-License-Identifier: MIT */
/* Signing in at the embedded provider: first logins, wrong passwords, states, races, times. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "domain/support.h"
#include "identity/embedded/provider.h"
#include "identity/support.h"
#include "support_database.h"

static void a_first_login_takes_two_steps(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_INVITED);
    struct provider_challenge challenge;
    struct provider_tokens tokens;
    assert_int_equal(log_in(provider, arena, subject, "temporary-password-2", NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(log_in(provider, arena, subject, TEMPORARY, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    assert_int_equal(open_sessions(database, arena, subject), 0);

    /* The temporary password cannot become the permanent one, and the challenge stays open. */
    assert_int_equal(answer_challenge(provider, arena, &challenge, TEMPORARY, NULL), PROVIDER_SAME_PASSWORD);
    assert_int_equal(answer_challenge(provider, arena, &challenge, PERMANENT, &tokens), PROVIDER_OK);
    assert_true(session_stands(database, arena, &tokens));
    assert_string_equal(sql_text(database, arena,
                                 "SELECT CONCAT(status, ' ', password_temporary, ' ', email_verified) FROM"
                                 " identity_account WHERE id = %s",
                                 sql_subject(arena, subject)),
                        "confirmed 0 1");

    assert_int_equal(log_in(provider, arena, subject, TEMPORARY, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(answer_challenge(provider, arena, &challenge, "another-password-1", NULL),
                     PROVIDER_CHALLENGE_SPENT);
    assert_int_equal(log_in(provider, arena, subject, "another-password-1", NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    (void)signed_in(provider, arena, subject, PERMANENT);
    assert_int_equal(open_sessions(database, arena, subject), 2);
    provider_free(&provider);
    assert_null(provider);
    database_free(&database);
}

static void the_tokens_are_the_users(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
    struct token_claims claims;
    assert_int_equal(verify_token(provider, arena, tokens.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);
    assert_string_equal(id_text(arena, claims.subject), subject);
    assert_true(id_equal(claims.session, tokens.session_id));
    assert_true(id_equal(claims.subject, tokens.user_id));
    assert_int_equal(claims.expires_at - claims.issued_at, 900);
    assert_int_equal(tokens.expires_in, 900);
    assert_int_equal(verify_token(provider, arena, tokens.id_token, TOKEN_USE_ID, &claims), TOKEN_GOOD);
    assert_true(id_equal(claims.session, tokens.session_id));
    /* Neither token is taken for the other. */
    assert_int_equal(verify_token(provider, arena, tokens.id_token, TOKEN_USE_ACCESS, &claims), TOKEN_INVALID);
    assert_int_equal(verify_token(provider, arena, tokens.access_token, TOKEN_USE_ID, &claims), TOKEN_INVALID);
    provider_free(&provider);
    database_free(&database);
}

static void nobody_is_told_from_somebody(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    const char *unknown = id_text(arena, id_new());
    assert_int_equal(log_in(provider, arena, NULL, PERMANENT, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(log_in(provider, arena, unknown, PERMANENT, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(log_in(provider, arena, "", PERMANENT, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(log_in(provider, arena, subject, "", NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(log_in(provider, arena, subject, PERMANENT " ", NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(log_in(provider, arena, subject, "PERMANENT-password-1", NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(open_sessions(database, arena, subject), 0);
    provider_free(&provider);
    database_free(&database);
}

/* Processor time, in milliseconds. What else the machine does can only add to it, though for minutes at times. */
static double cost_of_login(struct provider *provider, struct arena *arena, const char *subject)
{
    struct timespec before;
    struct timespec after;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    assert_int_equal(log_in(provider, arena, subject, "not-the-password", NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    return (double)(after.tv_sec - before.tv_sec) * 1e3 + (double)(after.tv_nsec - before.tv_nsec) / 1e6;
}

enum { SUBJECTS = 5, ROUNDS = 15, ROUNDS_MAX = 300 };

/* The first account whose login costs something else than that of account 0; 0 when there is none. */
static size_t that_differs(const double least[SUBJECTS])
{
    for (size_t i = 1; i < SUBJECTS; i++)
        if (least[i] < 0.75 * least[0] || least[i] > 1.33 * least[0])
            return i;
    return 0;
}

static void nobody_takes_as_long_as_somebody(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct embedded_options options = options_for(database);
    options.cost.memory_kib = 8192;
    options.cost.passes = 2;
    struct provider *provider;
    expect_ok(embedded_new(arena, &options, &provider));
    const char *subjects[SUBJECTS] = {
        given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY), given_account(provider, arena, PROVIDER_INVITED),
        given_account(provider, arena, PROVIDER_AWAITING_CODE), NULL, id_text(arena, id_new())};
    double least[SUBJECTS];
    size_t other = 0;
    for (size_t round = 0; round < ROUNDS_MAX && (round < ROUNDS || other != 0); round++) {
        for (size_t i = 0; i < SUBJECTS; i++) {
            double cost = cost_of_login(provider, arena, subjects[i]);
            least[i] = round == 0 || cost < least[i] ? cost : least[i];
        }
        other = that_differs(least);
    }
    assert_true(least[0] > 1); /* the hash was really computed */
    if (other != 0)
        fail_msg("account %zu takes %.2f ms, the first %.2f ms", other, least[other], least[0]);
    provider_free(&provider);
    database_free(&database);
}

static void only_the_right_password_learns_the_state(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *waiting = given_account(provider, arena, PROVIDER_AWAITING_CODE);
    const char *closed = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    enum provider_outcome outcome;
    expect_ok(provider_set_enabled(provider, arena, closed, false, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_int_equal(log_in(provider, arena, waiting, "wrong", NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(log_in(provider, arena, waiting, PERMANENT, NULL, NULL), PROVIDER_UNCONFIRMED);
    assert_int_equal(log_in(provider, arena, closed, "wrong", NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(log_in(provider, arena, closed, PERMANENT, NULL, NULL), PROVIDER_DISABLED);
    assert_int_equal(open_sessions(database, arena, waiting) + open_sessions(database, arena, closed), 0);

    expect_ok(provider_confirm(provider, arena, waiting, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    (void)signed_in(provider, arena, waiting, PERMANENT);
    expect_ok(provider_set_enabled(provider, arena, closed, true, &outcome));
    (void)signed_in(provider, arena, closed, PERMANENT);
    provider_free(&provider);
    database_free(&database);
}

static void a_permanent_password_with_a_new_one_opens_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_login login = {.subject = subject, .password = secret_of(PERMANENT), .new_password_sent = true};
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    expect_ok(provider_login(provider, arena, &login, &tokens, &challenge, &outcome));
    assert_int_equal(outcome, PROVIDER_PERMANENT_PASSWORD);
    assert_int_equal(open_sessions(database, arena, subject), 0);
    login.password = secret_of("wrong");
    expect_ok(provider_login(provider, arena, &login, &tokens, &challenge, &outcome));
    assert_int_equal(outcome, PROVIDER_BAD_CREDENTIALS);
    (void)signed_in(provider, arena, subject, PERMANENT);
    provider_free(&provider);
    database_free(&database);
}

static void a_temporary_password_runs_out(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_INVITED);
    struct provider_challenge challenge;
    assert_in_range(sql_integer(database, arena,
                                "SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), password_expires_at) FROM"
                                " identity_account WHERE id = %s",
                                sql_subject(arena, subject)),
                    604790, 604800);
    assert_int_equal(log_in(provider, arena, subject, TEMPORARY, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    sql(database, arena, "UPDATE identity_account SET password_expires_at = UTC_TIMESTAMP(3) WHERE id = %s",
        sql_subject(arena, subject));
    assert_int_equal(log_in(provider, arena, subject, TEMPORARY, NULL, NULL), PROVIDER_TEMPORARY_EXPIRED);
    assert_int_equal(log_in(provider, arena, subject, "wrong", NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(answer_challenge(provider, arena, &challenge, PERMANENT, NULL), PROVIDER_CHALLENGE_SPENT);
    assert_int_equal(log_in(provider, arena, subject, PERMANENT, NULL, NULL), PROVIDER_BAD_CREDENTIALS);

    /* Another temporary password replaces it. */
    enum provider_outcome outcome;
    expect_ok(provider_set_password(provider, arena, subject, secret_of("temporary-password-3"), true, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_int_equal(log_in(provider, arena, subject, TEMPORARY, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(log_in(provider, arena, subject, "temporary-password-3", NULL, &challenge),
                     PROVIDER_NEW_PASSWORD_REQUIRED);
    assert_int_equal(answer_challenge(provider, arena, &challenge, PERMANENT, NULL), PROVIDER_OK);
    provider_free(&provider);
    database_free(&database);
}

static void a_challenge_dies_with_its_password(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_INVITED);
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    assert_int_equal(log_in(provider, arena, subject, TEMPORARY, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    expect_ok(provider_set_password(provider, arena, subject, secret_of(TEMPORARY), true, &outcome));
    assert_int_equal(answer_challenge(provider, arena, &challenge, PERMANENT, NULL), PROVIDER_CHALLENGE_SPENT);
    assert_int_equal(log_in(provider, arena, subject, TEMPORARY, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    expect_ok(provider_set_enabled(provider, arena, subject, false, &outcome));
    assert_int_equal(answer_challenge(provider, arena, &challenge, PERMANENT, NULL), PROVIDER_CHALLENGE_SPENT);
    expect_ok(provider_set_enabled(provider, arena, subject, true, &outcome));

    static const char *const proofs[] = {"", "0", "-1", "1x", "99999999999999999999", "18446744073709551617"};
    for (size_t i = 0; i < sizeof proofs / sizeof *proofs; i++) {
        struct provider_challenge forged = challenge;
        forged.proof = proofs[i];
        assert_int_equal(answer_challenge(provider, arena, &forged, PERMANENT, NULL), PROVIDER_CHALLENGE_SPENT);
    }
    assert_int_equal(answer_challenge(provider, arena, &challenge, PERMANENT, NULL), PROVIDER_OK);
    provider_free(&provider);
    database_free(&database);
}

/* ---- races --------------------------------------------------------------------------------------- */

static int first_login_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    struct provider *provider = given_provider(arena, database);
    struct provider_login login = {.subject = context, .password = secret_of(TEMPORARY), .new_password_sent = true};
    const char *password = arena_format(arena, "chosen-by-racer-%u", index);
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    if (provider_login(provider, arena, &login, &tokens, &challenge, &outcome) != NULL)
        return 90;
    if (outcome == PROVIDER_NEW_PASSWORD_REQUIRED &&
        provider_answer_new_password(provider, arena, &challenge, secret_of(password), &tokens, &outcome) != NULL)
        return 91;
    provider_free(&provider);
    return (int)outcome;
}

static void of_two_first_logins_at_once_one_wins(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    for (unsigned round = 0; round < 10; round++) {
        const char *subject = given_account(provider, arena, PROVIDER_INVITED);
        int results[RACERS_MAX];
        race(4, first_login_racer, (void *)(uintptr_t)subject, results);
        assert_int_equal(race_count(results, 4, PROVIDER_OK), 1);
        assert_int_equal(
            race_count(results, 4, PROVIDER_CHALLENGE_SPENT) + race_count(results, 4, PROVIDER_BAD_CREDENTIALS), 3);
        assert_int_equal(open_sessions(database, arena, subject), 1);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(log_in(provider, arena, subject, arena_format(arena, "chosen-by-racer-%u", i), NULL, NULL),
                             results[i] == PROVIDER_OK ? PROVIDER_OK : PROVIDER_BAD_CREDENTIALS);
    }
    provider_free(&provider);
    database_free(&database);
}

static int login_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    struct embedded_options options = options_for(database);
    options.cost.passes = 3; /* costs more than the stored hash: each login hashes the password again */
    struct provider *provider;
    (void)index;
    if (embedded_new(arena, &options, &provider) != NULL)
        return 90;
    enum provider_outcome outcome = log_in(provider, arena, context, PERMANENT, NULL, NULL);
    provider_free(&provider);
    return (int)outcome;
}

static void right_logins_at_once_all_succeed(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    const char *id = sql_subject(arena, subject);
    int results[RACERS_MAX];
    race(10, login_racer, (void *)(uintptr_t)subject, results);
    assert_int_equal(race_count(results, 10, PROVIDER_OK), 10);
    assert_int_equal(open_sessions(database, arena, subject), 10);
    assert_non_null(
        strstr(sql_text(database, arena, "SELECT password_hash FROM identity_account WHERE id = %s", id), ",t=3,"));
    assert_int_equal(sql_integer(database, arena, "SELECT password_version FROM identity_account WHERE id = %s", id),
                     1);
    (void)signed_in(provider, arena, subject, PERMANENT);
    provider_free(&provider);
    database_free(&database);
}

/* Number 0 disables the account and enables it again, while the others sign in; how often the password was wrong. */
static int enabling_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    struct provider *provider = given_provider(arena, database);
    enum provider_outcome outcome;
    int wrong = 0;
    for (unsigned i = 0; i < 300 && index == 0; i++)
        if (provider_set_enabled(provider, arena, context, i % 2 != 0, &outcome) != NULL)
            return 99;
    for (unsigned i = 0; i < 20 && index != 0; i++)
        wrong += log_in(provider, arena, context, PERMANENT, NULL, NULL) == PROVIDER_BAD_CREDENTIALS;
    provider_free(&provider);
    return wrong;
}

static void who_is_enabled_again_meanwhile_has_no_wrong_password(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    int results[RACERS_MAX];
    race(5, enabling_racer, (void *)(uintptr_t)subject, results);
    assert_int_equal(race_count(results, 5, 0), 5);
    (void)signed_in(provider, arena, subject, PERMANENT);
    provider_free(&provider);
    database_free(&database);
}

/* Waits until some of the others have signed in, however slow the machine is; they go on meanwhile. */
static bool await_sessions(struct database *database, struct arena *arena, const char *subject)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (unsigned tries = 0; tries < 30000; tries++) {
        if (open_sessions(database, arena, subject) >= 4)
            return true;
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

/*
 * Number 0 sets another password in the middle of the others' logins with the old one. Those disagree about
 * the cost of a hash, so that each login finds a hash that it has to replace.
 */
static int old_password_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    struct embedded_options options = options_for(database);
    struct provider *provider;
    struct provider_login login = {.subject = context, .password = secret_of(PERMANENT)};
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    enum provider_outcome outcome = PROVIDER_OK;
    options.cost.passes = 1 + index % 2;
    if (embedded_new(arena, &options, &provider) != NULL)
        return 98;
    if (index == 0)
        return !await_sessions(database, arena, context) ||
               provider_set_password(provider, arena, context, secret_of("set-meanwhile-1"), false, &outcome) != NULL;
    int succeeded = 0;
    for (unsigned i = 0; i < 90 && outcome == PROVIDER_OK; i++) {
        if (provider_login(provider, arena, &login, &tokens, &challenge, &outcome) != NULL)
            return 99;
        succeeded += outcome == PROVIDER_OK;
    }
    provider_free(&provider);
    return succeeded;
}

static void no_session_outlives_the_password_it_was_opened_with(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    for (unsigned round = 0; round < 10; round++) {
        const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
        int succeeded = 0;
        int results[RACERS_MAX];
        race(5, old_password_racer, (void *)(uintptr_t)subject, results);
        assert_int_equal(results[0], 0);
        for (unsigned i = 1; i < 5; i++) {
            assert_true(results[i] <= 90);
            succeeded += results[i];
        }
        assert_true(succeeded >= 4); /* there was something to end */
        assert_int_equal(open_sessions(database, arena, subject), 0);
        (void)signed_in(provider, arena, subject, "set-meanwhile-1");
    }
    provider_free(&provider);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_first_login_takes_two_steps),
    HARNESS_TEST(the_tokens_are_the_users),
    HARNESS_TEST(nobody_is_told_from_somebody),
    HARNESS_TEST(nobody_takes_as_long_as_somebody),
    HARNESS_TEST(only_the_right_password_learns_the_state),
    HARNESS_TEST(a_permanent_password_with_a_new_one_opens_nothing),
    HARNESS_TEST(a_temporary_password_runs_out),
    HARNESS_TEST(a_challenge_dies_with_its_password),
    HARNESS_TEST(of_two_first_logins_at_once_one_wins),
    HARNESS_TEST(who_is_enabled_again_meanwhile_has_no_wrong_password),
    HARNESS_TEST(right_logins_at_once_all_succeed),
    HARNESS_TEST(no_session_outlives_the_password_it_was_opened_with),
};
HARNESS_MODULE(embedded_login, cases)
