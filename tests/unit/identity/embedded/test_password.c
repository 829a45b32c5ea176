/* SPDX-License-Identifier: MIT */
/* Changes a password, sets that of another, and looks at what becomes of sessions. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/support.h"
#include "identity/support.h"
#include "support_database.h"

/* ---- other passwords ----------------------------------------------------------------------------- */

static void changing_the_password_ends_the_other_sessions(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens own = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens other = signed_in(provider, arena, subject, PERMANENT);
    struct secret old = secret_of(PERMANENT);
    struct secret new = secret_of("changed-password-1");
    enum provider_outcome outcome;
    expect_ok(provider_change_password(provider, arena, subject, own.session_id, secret_of("wrong"), new, &outcome));
    assert_int_equal(outcome, PROVIDER_BAD_CREDENTIALS);
    expect_ok(provider_change_password(provider, arena, subject, own.session_id, old, old, &outcome));
    assert_int_equal(outcome, PROVIDER_SAME_PASSWORD);
    expect_ok(provider_change_password(provider, arena, id_text(arena, id_new()), own.session_id, old, new, &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    assert_int_equal(open_sessions(database, arena, subject), 2);

    expect_ok(provider_change_password(provider, arena, subject, own.session_id, old, new, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_true(session_stands(database, arena, &own));
    assert_false(session_stands(database, arena, &other));
    assert_int_equal(refresh(provider, arena, own.refresh_token, NULL), PROVIDER_OK);
    assert_int_equal(refresh(provider, arena, other.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    assert_int_equal(log_in(provider, arena, subject, PERMANENT, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    (void)signed_in(provider, arena, subject, "changed-password-1");
    provider_free(&provider);
    database_free(&database);
}

static int change_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    struct provider *provider = given_provider(arena, database);
    const char *password = arena_format(arena, "changed-by-racer-%u", index);
    enum provider_outcome outcome;
    if (provider_change_password(provider, arena, context, id_new(), secret_of(PERMANENT), secret_of(password),
                                 &outcome) != NULL)
        return 90;
    provider_free(&provider);
    return (int)outcome;
}

static void of_two_changes_of_one_password_one_wins(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    for (unsigned round = 0; round < 10; round++) {
        const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
        int results[RACERS_MAX];
        race(4, change_racer, (void *)(uintptr_t)subject, results);
        assert_int_equal(race_count(results, 4, PROVIDER_OK), 1);
        assert_int_equal(race_count(results, 4, PROVIDER_BAD_CREDENTIALS), 3);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(
                log_in(provider, arena, subject, arena_format(arena, "changed-by-racer-%u", i), NULL, NULL),
                results[i]);
    }
    provider_free(&provider);
    database_free(&database);
}

static void a_password_set_by_another_ends_all_sessions(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    expect_ok(provider_set_password(provider, arena, subject, secret_of("by-admin-1"), true, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_false(session_stands(database, arena, &tokens));
    assert_int_equal(refresh(provider, arena, tokens.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    assert_int_equal(log_in(provider, arena, subject, "by-admin-1", NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    assert_int_equal(answer_challenge(provider, arena, &challenge, "by-user-1", &tokens), PROVIDER_OK);
    expect_ok(provider_set_password(provider, arena, subject, secret_of("by-reset-1"), false, &outcome));
    assert_false(session_stands(database, arena, &tokens));
    (void)signed_in(provider, arena, subject, "by-reset-1");
    expect_ok(provider_set_password(provider, arena, id_text(arena, id_new()), secret_of("x"), false, &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    provider_free(&provider);
    database_free(&database);
}

static void who_awaits_confirmation_goes_on_waiting(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *waiting = given_account(provider, arena, PROVIDER_AWAITING_CODE);
    enum provider_outcome outcome;
    expect_ok(provider_set_password(provider, arena, waiting, secret_of("set-1"), false, &outcome));
    assert_int_equal(log_in(provider, arena, waiting, "set-1", NULL, NULL), PROVIDER_UNCONFIRMED);
    expect_ok(provider_set_password(provider, arena, waiting, secret_of("set-2"), true, &outcome));
    assert_int_equal(log_in(provider, arena, waiting, "set-2", NULL, NULL), PROVIDER_UNCONFIRMED);

    /* A permanent password makes the first login unnecessary, a temporary one does not. */
    const char *invited = given_account(provider, arena, PROVIDER_INVITED);
    expect_ok(provider_set_password(provider, arena, invited, secret_of("set-3"), true, &outcome));
    assert_int_equal(log_in(provider, arena, invited, "set-3", NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    assert_string_equal(
        sql_text(database, arena, "SELECT status FROM identity_account WHERE id = %s", sql_subject(arena, invited)),
        "force-change");
    expect_ok(provider_set_password(provider, arena, invited, secret_of("set-4"), false, &outcome));
    (void)signed_in(provider, arena, invited, "set-4");
    provider_free(&provider);
    database_free(&database);
}

static void a_damaged_hash_is_an_error_and_no_wrong_password(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    sql(database, arena, "UPDATE identity_account SET password_hash = 'damaged' WHERE id = %s",
        sql_subject(arena, subject));
    struct provider_login login = {.subject = subject, .password = secret_of(PERMANENT)};
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    struct error *error = provider_login(provider, arena, &login, &tokens, &challenge, &outcome);
    expect_error(error, ERROR_INTERNAL);
    assert_null(strstr(error->detail, PERMANENT));
    provider_free(&provider);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(changing_the_password_ends_the_other_sessions),
    HARNESS_TEST(of_two_changes_of_one_password_one_wins),
    HARNESS_TEST(a_password_set_by_another_ends_all_sessions),
    HARNESS_TEST(who_awaits_confirmation_goes_on_waiting),
    HARNESS_TEST(a_damaged_hash_is_an_error_and_no_wrong_password),
};
HARNESS_MODULE(embedded_password, cases)
