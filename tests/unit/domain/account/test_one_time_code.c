/* SPDX-License-Identifier: MIT */
/* Codes: single use, five tries, bound to whom and for what, however many ask at once. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/one_time_code.h"
#include "domain/support.h"
#include "support_database.h"

#define NAME "somebody@example.com"

static struct secret master(void)
{
    return secret_of("0123456789abcdef0123456789abcdef");
}

static struct id given_person(struct database *database, struct arena *arena)
{
    return given_user(database, arena, given_organisation(database, arena), NULL, NULL)->id;
}

static const char *issue(struct database *database, struct arena *arena, struct id user, const char *purpose)
{
    struct secret code;
    expect_ok(one_time_code_issue(database, arena, master(), user, purpose, 3600, &code));
    return secret_reveal(code);
}

static bool try_code(struct database *database, struct arena *arena, struct id user, const char *purpose,
                     const char *code)
{
    bool good = false;
    expect_ok(one_time_code_try(database, arena, master(), &(struct one_time_code_attempt){user, NAME, purpose, code},
                                &good));
    return good;
}

static bool spend(struct database *database, struct arena *arena, struct id user, const char *purpose, const char *code,
                  struct one_time_code_spent *code_out)
{
    bool spent = false;
    expect_ok(one_time_code_spend(database, arena, master(), &(struct one_time_code_attempt){user, NAME, purpose, code},
                                  code_out, &spent));
    return spent;
}

static bool mail_allowed(struct database *database, struct arena *arena, struct id user, const char *purpose)
{
    bool allowed = false;
    expect_ok(one_time_code_mail_allowed(database, arena, user, purpose, &allowed));
    return allowed;
}

/* Another code of six digits than that one. */
static const char *wrong(struct arena *arena, const char *code)
{
    char *other = arena_copy(arena, code, strlen(code));
    other[0] = other[0] == '9' ? '0' : (char)(other[0] + 1);
    return other;
}

static int64_t tries_of(struct database *database, struct arena *arena, struct id user)
{
    return sql_integer(database, arena, "SELECT tries FROM code WHERE user_id = %s", sql_id(arena, user));
}

static void right_code_is_good_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    const char *code = issue(database, arena, user, ONE_TIME_CODE_CONFIRM);
    assert_int_equal(strlen(code), 6);
    assert_int_equal(strspn(code, "0123456789"), 6);
    assert_true(try_code(database, arena, user, ONE_TIME_CODE_CONFIRM, code));
    assert_false(spend(database, arena, user, ONE_TIME_CODE_CONFIRM, wrong(arena, code), NULL));
    assert_true(spend(database, arena, user, ONE_TIME_CODE_CONFIRM, code, NULL));
    assert_false(spend(database, arena, user, ONE_TIME_CODE_CONFIRM, code, NULL));
    assert_false(try_code(database, arena, user, ONE_TIME_CODE_CONFIRM, code));
    database_free(&database);
}

static void a_spent_code_that_is_given_back_is_as_it_was(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    struct one_time_code_spent kept;
    const char *code = issue(database, arena, user, ONE_TIME_CODE_RESET);
    assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, wrong(arena, code)));
    assert_true(try_code(database, arena, user, ONE_TIME_CODE_RESET, code));
    const char *expires =
        sql_text(database, arena, "SELECT CAST(expires_at AS CHAR) FROM code WHERE user_id = %s", sql_id(arena, user));
    assert_true(spend(database, arena, user, ONE_TIME_CODE_RESET, code, &kept));
    expect_ok(one_time_code_restore(database, arena, user, ONE_TIME_CODE_RESET, &kept));
    assert_int_equal(tries_of(database, arena, user), 1);
    assert_string_equal(
        sql_text(database, arena, "SELECT CAST(expires_at AS CHAR) FROM code WHERE user_id = %s", sql_id(arena, user)),
        expires);
    assert_true(try_code(database, arena, user, ONE_TIME_CODE_RESET, code));

    /* A newer one is not replaced. */
    assert_true(spend(database, arena, user, ONE_TIME_CODE_RESET, code, &kept));
    const char *newer = issue(database, arena, user, ONE_TIME_CODE_RESET);
    expect_ok(one_time_code_restore(database, arena, user, ONE_TIME_CODE_RESET, &kept));
    assert_true(try_code(database, arena, user, ONE_TIME_CODE_RESET, newer));
    database_free(&database);
}

/* Whoever was mailed the first code knows nothing of the second, which went to another address. */
static void a_code_that_was_right_does_not_spend_a_later_one(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    const char *first = issue(database, arena, user, ONE_TIME_CODE_RESET);
    assert_true(try_code(database, arena, user, ONE_TIME_CODE_RESET, first));
    const char *second = issue(database, arena, user, ONE_TIME_CODE_RESET);
    assert_false(spend(database, arena, user, ONE_TIME_CODE_RESET, first, NULL));
    assert_true(spend(database, arena, user, ONE_TIME_CODE_RESET, second, NULL));
    database_free(&database);
}

static void five_wrong_tries_spend_it(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    const char *code = issue(database, arena, user, ONE_TIME_CODE_RESET);
    for (int i = 0; i < 4; i++)
        assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, wrong(arena, code)));
    assert_true(try_code(database, arena, user, ONE_TIME_CODE_RESET, code));
    code = issue(database, arena, user, ONE_TIME_CODE_RESET);
    for (int i = 0; i < 5; i++)
        assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, wrong(arena, code)));
    assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, code));
    assert_int_equal(tries_of(database, arena, user), 5);
    /* What is no code at all counts as well. */
    code = issue(database, arena, user, ONE_TIME_CODE_RESET);
    static const char *const others[] = {"", "12345", "1234567", "abcdef", "      "};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, others[i]));
    assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, code));
    database_free(&database);
}

/* Not even the row moved to another user, another purpose, or another service's secret opens anything. */
static void bound_to_user_purpose_and_secret(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    struct id other = given_person(database, arena);
    const char *code = issue(database, arena, user, ONE_TIME_CODE_CONFIRM);
    const char *hash =
        sql_text(database, arena, "SELECT HEX(code_hash) FROM code WHERE user_id = %s", sql_id(arena, user));
    (void)issue(database, arena, other, ONE_TIME_CODE_CONFIRM);
    (void)issue(database, arena, user, ONE_TIME_CODE_RESET);
    sql(database, arena, "UPDATE code SET code_hash = x'%s' WHERE user_id IN (%s, %s)", hash, sql_id(arena, user),
        sql_id(arena, other));
    assert_false(try_code(database, arena, other, ONE_TIME_CODE_CONFIRM, code));
    assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, code));
    bool good = true;
    expect_ok(one_time_code_try(database, arena, secret_of("fedcba9876543210fedcba9876543210"),
                                &(struct one_time_code_attempt){user, NAME, ONE_TIME_CODE_CONFIRM, code}, &good));
    assert_false(good);
    assert_true(try_code(database, arena, user, ONE_TIME_CODE_CONFIRM, code));
    /* Spending and voiding reach one purpose of one user only. */
    assert_true(spend(database, arena, user, ONE_TIME_CODE_CONFIRM, code, NULL));
    assert_int_equal(tries_of(database, arena, other), 1);
    assert_int_equal(tries_of(database, arena, user), 1);
    expect_ok(one_time_code_void(database, arena, user, ONE_TIME_CODE_RESET));
    assert_false(spend(database, arena, user, ONE_TIME_CODE_RESET, code, NULL));
    expect_ok(one_time_code_void(database, arena, user, ONE_TIME_CODE_RESET));
    const char *others = issue(database, arena, other, ONE_TIME_CODE_CONFIRM);
    assert_true(spend(database, arena, other, ONE_TIME_CODE_CONFIRM, others, NULL));
    database_free(&database);
}

static void new_one_replaces_the_old_and_its_tries(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    const char *old = issue(database, arena, user, ONE_TIME_CODE_CONFIRM);
    for (int i = 0; i < 5; i++)
        assert_false(try_code(database, arena, user, ONE_TIME_CODE_CONFIRM, wrong(arena, old)));
    sql(database, arena, "UPDATE code SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");
    const char *new = issue(database, arena, user, ONE_TIME_CODE_CONFIRM);
    while (strcmp(old, new) == 0)
        new = issue(database, arena, user, ONE_TIME_CODE_CONFIRM);
    assert_false(try_code(database, arena, user, ONE_TIME_CODE_CONFIRM, old));
    assert_true(try_code(database, arena, user, ONE_TIME_CODE_CONFIRM, new));
    assert_int_equal(tries_of(database, arena, user), 2);
    database_free(&database);
}

static void ends_with_its_time(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    struct secret code;
    expect_ok(one_time_code_issue(database, arena, master(), user, ONE_TIME_CODE_RESET, 60, &code));
    assert_in_range(sql_integer(database, arena,
                                "SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), expires_at) FROM code WHERE"
                                " user_id = %s",
                                sql_id(arena, user)),
                    40, 60);
    sql(database, arena, "UPDATE code SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE user_id = %s",
        sql_id(arena, user));
    assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, secret_reveal(code)));
    assert_int_equal(tries_of(database, arena, user), 0);
    database_free(&database);
}

static void given_back_tries_are_free(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    const char *code = issue(database, arena, user, ONE_TIME_CODE_RESET);
    for (int i = 0; i < 12; i++) {
        assert_true(try_code(database, arena, user, ONE_TIME_CODE_RESET, code));
        expect_ok(one_time_code_give_back(database, arena, user, ONE_TIME_CODE_RESET));
    }
    assert_int_equal(tries_of(database, arena, user), 0);
    expect_ok(one_time_code_give_back(database, arena, user, ONE_TIME_CODE_RESET));
    expect_ok(one_time_code_give_back(database, arena, given_person(database, arena), ONE_TIME_CODE_RESET));
    assert_int_equal(tries_of(database, arena, user), 0);
    for (int i = 0; i < 5; i++)
        assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, wrong(arena, code)));
    assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, code));
    database_free(&database);
}

static void nobody_has_no_code(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    assert_false(try_code(database, arena, (struct id){{0}}, ONE_TIME_CODE_RESET, "123456"));
    assert_false(try_code(database, arena, given_person(database, arena), ONE_TIME_CODE_RESET, "123456"));
    database_free(&database);
}

/* ---- decoys -------------------------------------------------------------------------------------- */

#define IS_DECOY "user_id <= x'000000000000000000000000000000ff'"

static int64_t decoys(struct database *database, struct arena *arena)
{
    return sql_integer(database, arena, "SELECT COUNT(*) FROM code WHERE " IS_DECOY);
}

static int64_t decoy_tries(struct database *database, struct arena *arena)
{
    return sql_integer(database, arena, "SELECT tries FROM code WHERE " IS_DECOY);
}

static void a_try_that_no_code_takes_counts_in_a_decoy(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    static const struct id nobody;
    for (int i = 1; i <= 3; i++) {
        assert_false(try_code(database, arena, nobody, ONE_TIME_CODE_RESET, "123456"));
        assert_int_equal(decoy_tries(database, arena), i);
    }
    /* Neither a user without a code, nor a spent or an expired one. */
    assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, "123456"));
    assert_int_equal(decoy_tries(database, arena), 4);
    (void)issue(database, arena, user, ONE_TIME_CODE_RESET);
    sql(database, arena, "UPDATE code SET tries = 5 WHERE user_id = %s", sql_id(arena, user));
    assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, "123456"));
    assert_int_equal(decoy_tries(database, arena), 5);
    (void)issue(database, arena, user, ONE_TIME_CODE_RESET);
    sql(database, arena, "UPDATE code SET expires_at = '2001-01-01' WHERE user_id = %s", sql_id(arena, user));
    assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, "123456"));
    assert_int_equal(decoy_tries(database, arena), 0);
    assert_int_equal(tries_of(database, arena, user), 0);
    /* A code that takes the try is counted in instead. */
    (void)issue(database, arena, user, ONE_TIME_CODE_RESET);
    assert_false(try_code(database, arena, user, ONE_TIME_CODE_RESET, "no code"));
    assert_int_equal(decoy_tries(database, arena), 0);
    assert_int_equal(tries_of(database, arena, user), 1);
    /* A decoy never expires, and one that is missing is made again. */
    expect_ok(one_time_code_purge(database, arena, 1000));
    assert_int_equal(decoys(database, arena), 1);
    sql(database, arena, "DELETE FROM code WHERE " IS_DECOY);
    assert_false(try_code(database, arena, nobody, ONE_TIME_CODE_RESET, "123456"));
    assert_int_equal(decoy_tries(database, arena), 1);
    database_free(&database);
}

/* Else parallel tries would tell: those at a code wait for its row. */
static void tries_at_one_name_wait_for_one_another_whoevers_it_is(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct database *other = support_database_new();
    struct id with = given_person(database, arena);
    const struct id users[] = {{{0}}, with, given_person(database, arena)};
    const char *code = issue(database, arena, with, ONE_TIME_CODE_RESET);
    assert_false(try_code(database, arena, users[0], ONE_TIME_CODE_RESET, "123456"));
    sql(database, arena, "SET innodb_lock_wait_timeout = 0");
    sql(other, arena, "BEGIN");
    (void)sql_integer(other, arena, "SELECT tries FROM code WHERE " IS_DECOY " FOR UPDATE");
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        bool good = true;
        const struct one_time_code_attempt attempt = {users[i], NAME, ONE_TIME_CODE_RESET, code};
        assert_non_null(one_time_code_try(database, arena, master(), &attempt, &good));
        assert_false(good);
        /* Strangers do not wait. */
        const struct one_time_code_attempt stranger = {users[i], "another@example.com", ONE_TIME_CODE_RESET, "no code"};
        expect_ok(one_time_code_try(database, arena, master(), &stranger, &good));
    }
    sql(other, arena, "ROLLBACK");
    assert_true(try_code(database, arena, with, ONE_TIME_CODE_RESET, code));
    database_free(&other);
    database_free(&database);
}

/* ---- at once ------------------------------------------------------------------------------------- */

struct contest {
    struct id user;
    const char *code;
};

static int race_to_try(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    const struct contest *contest = context;
    bool good = false;
    const struct one_time_code_attempt attempt = {contest->user, NAME, ONE_TIME_CODE_RESET, contest->code};
    if (one_time_code_try(database, arena, master(), &attempt, &good) != NULL)
        return 99;
    return good ? 1 : 0;
}

static int race_to_spend(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    const struct contest *contest = context;
    bool spent = false;
    const struct one_time_code_attempt attempt = {contest->user, NAME, ONE_TIME_CODE_RESET, contest->code};
    if (one_time_code_spend(database, arena, master(), &attempt, NULL, &spent) != NULL)
        return 99;
    return spent ? 1 : 0;
}

static int race_to_mail(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    const struct contest *contest = context;
    bool allowed = false;
    if (one_time_code_mail_allowed(database, arena, contest->user, ONE_TIME_CODE_RESET, &allowed) != NULL)
        return 99;
    return allowed ? 1 : 0;
}

static void parallel_tries_never_exceed_five(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct contest contest = {.user = given_person(database, arena)};
    int results[RACERS_MAX];
    contest.code = issue(database, arena, contest.user, ONE_TIME_CODE_RESET);
    race(50, race_to_try, &contest, results);
    assert_int_equal(race_count(results, 50, 1), 5);
    assert_int_equal(race_count(results, 50, 0), 45);
    assert_int_equal(tries_of(database, arena, contest.user), 5);
    race(10, race_to_spend, &contest, results);
    assert_int_equal(race_count(results, 10, 1), 1);
    assert_int_equal(race_count(results, 10, 0), 9);
    database_free(&database);
}

static void parallel_mails_never_exceed_the_allowance(void **state)
{
    away_from_midnight();
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct contest contest = {.user = given_person(database, arena)};
    int results[RACERS_MAX];
    race(30, race_to_mail, &contest, results);
    assert_int_equal(race_count(results, 30, 1), 5);
    assert_int_equal(race_count(results, 30, 0), 25);
    database_free(&database);
}

/* ---- the day's mails, and tidying ---------------------------------------------------------------- */

static void five_mails_a_day_for_each_user_and_purpose(void **state)
{
    away_from_midnight();
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id user = given_person(database, arena);
    struct id other = given_person(database, arena);
    for (int i = 0; i < 5; i++)
        assert_true(mail_allowed(database, arena, user, ONE_TIME_CODE_RESET));
    for (int i = 0; i < 3; i++)
        assert_false(mail_allowed(database, arena, user, ONE_TIME_CODE_RESET));
    assert_true(mail_allowed(database, arena, user, ONE_TIME_CODE_CONFIRM));
    assert_true(mail_allowed(database, arena, other, ONE_TIME_CODE_RESET));
    sql(database, arena, "UPDATE mail_allowance SET day = day - INTERVAL 1 DAY WHERE user_id = %s",
        sql_id(arena, user));
    for (int i = 0; i < 5; i++)
        assert_true(mail_allowed(database, arena, user, ONE_TIME_CODE_RESET));
    assert_false(mail_allowed(database, arena, user, ONE_TIME_CODE_RESET));
    database_free(&database);
}

static void purge_takes_what_is_over_and_no_more(void **state)
{
    away_from_midnight();
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    sql(database, arena, "DELETE FROM code");
    sql(database, arena, "DELETE FROM mail_allowance");
    struct id over = given_person(database, arena);
    struct id running = given_person(database, arena);
    (void)issue(database, arena, over, ONE_TIME_CODE_RESET);
    const char *code = issue(database, arena, running, ONE_TIME_CODE_RESET);
    sql(database, arena, "UPDATE code SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE user_id = %s",
        sql_id(arena, over));
    for (int days = 0; days < 3; days++) {
        assert_true(mail_allowed(database, arena, running, ONE_TIME_CODE_RESET));
        sql(database, arena, "UPDATE mail_allowance SET day = day - INTERVAL 1 DAY ORDER BY day");
    }
    assert_true(mail_allowed(database, arena, running, ONE_TIME_CODE_RESET));
    expect_ok(one_time_code_purge(database, arena, 100));
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM code"), 1);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM mail_allowance"), 2);
    assert_true(try_code(database, arena, running, ONE_TIME_CODE_RESET, code));
    database_free(&database);
}

static int64_t rows_looked_at(struct database *database, struct arena *arena)
{
    return sql_integer(database, arena,
                       "SELECT SUM(VARIABLE_VALUE) FROM information_schema.SESSION_STATUS"
                       " WHERE VARIABLE_NAME IN ('HANDLER_READ_NEXT', 'HANDLER_READ_RND_NEXT')");
}

static void purge_does_not_read_the_counts_of_today(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id over = given_person(database, arena);
    sql(database, arena, "DELETE FROM mail_allowance");
    sql(database, arena,
        "INSERT INTO mail_allowance (user_id, purpose, day) SELECT u.id, CONCAT('p', s.seq), UTC_DATE()"
        " FROM user u JOIN seq_1_to_500 s WHERE u.id = %s",
        sql_id(arena, over));
    sql(database, arena, "UPDATE mail_allowance SET day = day - INTERVAL 5 DAY WHERE purpose = 'p7'");
    (void)rows_looked_at(database, arena);
    int64_t before = rows_looked_at(database, arena);
    int64_t itself = rows_looked_at(database, arena) - before;
    before = rows_looked_at(database, arena);
    expect_ok(one_time_code_purge(database, arena, 100));
    int64_t looked = rows_looked_at(database, arena) - before - itself;
    assert_in_range(looked, 0, 100);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM mail_allowance"), 499);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(purge_does_not_read_the_counts_of_today),
    HARNESS_TEST(a_try_that_no_code_takes_counts_in_a_decoy),
    HARNESS_TEST(tries_at_one_name_wait_for_one_another_whoevers_it_is),
    HARNESS_TEST(right_code_is_good_once),
    HARNESS_TEST(a_spent_code_that_is_given_back_is_as_it_was),
    HARNESS_TEST(a_code_that_was_right_does_not_spend_a_later_one),
    HARNESS_TEST(five_wrong_tries_spend_it),
    HARNESS_TEST(bound_to_user_purpose_and_secret),
    HARNESS_TEST(new_one_replaces_the_old_and_its_tries),
    HARNESS_TEST(ends_with_its_time),
    HARNESS_TEST(given_back_tries_are_free),
    HARNESS_TEST(nobody_has_no_code),
    HARNESS_TEST(parallel_tries_never_exceed_five),
    HARNESS_TEST(parallel_mails_never_exceed_the_allowance),
    HARNESS_TEST(five_mails_a_day_for_each_user_and_purpose),
    HARNESS_TEST(purge_takes_what_is_over_and_no_more),
};
HARNESS_MODULE(one_time_code, cases)
