/* SPDX-License-Identifier: MIT */
/* Accounts of the embedded provider: created, confirmed, enabled and disabled, described, removed. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/support.h"
#include "identity/embedded/provider.h"
#include "identity/support.h"
#include "support_database.h"

static enum provider_outcome create(struct provider *provider, struct arena *arena, struct id user, const char *email,
                                    const char *password)
{
    struct provider_account account = {
        .kind = PROVIDER_INVITED,
        .user_id = user,
        .email = email,
        .phone = "+4412345678",
        .permissions = "rwx:* cus:*:w",
        .password = secret_of(password),
    };
    const char *subject;
    enum provider_outcome outcome;
    expect_ok(provider_create(provider, arena, &account, &subject, &outcome));
    assert_string_equal(subject, id_text(arena, user));
    return outcome;
}

static void making_an_account_again_is_harmless_until_it_was_used(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    struct id user = id_new();
    const char *subject = id_text(arena, user);
    struct provider_challenge challenge;
    struct provider_tokens tokens;
    enum provider_outcome outcome;
    assert_int_equal(create(provider, arena, user, "again@example.com", "first-temporary"), PROVIDER_OK);
    assert_int_equal(create(provider, arena, user, "again@example.com", "second-temporary"), PROVIDER_OK);
    assert_int_equal(log_in(provider, arena, subject, "first-temporary", NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(log_in(provider, arena, subject, "second-temporary", NULL, &challenge),
                     PROVIDER_NEW_PASSWORD_REQUIRED);
    assert_int_equal(create(provider, arena, id_new(), "again@example.com", "intruder"), PROVIDER_EXISTS);
    assert_int_equal(log_in(provider, arena, subject, "second-temporary", NULL, &challenge),
                     PROVIDER_NEW_PASSWORD_REQUIRED);
    expect_ok(provider_answer_new_password(provider, arena, &challenge, secret_of(PERMANENT), &tokens, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_int_equal(create(provider, arena, user, "again@example.com", "third-temporary"), PROVIDER_EXISTS);
    (void)signed_in(provider, arena, subject, PERMANENT);

    /* A repeated call may bring another address, unless somebody has it. */
    struct id other = id_new();
    assert_int_equal(create(provider, arena, other, "moving@example.com", "temporary-1"), PROVIDER_OK);
    assert_int_equal(create(provider, arena, other, "again@example.com", "temporary-2"), PROVIDER_EXISTS);
    assert_int_equal(create(provider, arena, other, "moved@example.com", "temporary-3"), PROVIDER_OK);
    assert_string_equal(sql_text(database, arena,
                                 "SELECT CONCAT(username, ' ', phone, ' ', permissions) FROM identity_account"
                                 " WHERE id = %s",
                                 sql_id(arena, other)),
                        "moved@example.com +4412345678 rwx:* cus:*:w");
    provider_free(&provider);
    database_free(&database);
}

static int create_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    struct provider *provider = given_provider(arena, database);
    (void)index;
    int outcome = (int)create(provider, arena, id_new(), context, "temporary-1");
    provider_free(&provider);
    return outcome;
}

static void one_address_is_one_account(void **state)
{
    struct arena *arena = harness_arena(state);
    for (unsigned round = 0; round < 5; round++) {
        char email[] = "race0@example.com";
        email[4] = (char)('0' + round);
        int results[RACERS_MAX];
        race(4, create_racer, email, results);
        assert_int_equal(race_count(results, 4, PROVIDER_OK), 1);
        assert_int_equal(race_count(results, 4, PROVIDER_EXISTS), 3);
    }
    (void)arena;
}

static void passwords_are_stored_as_argon2id_only(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *one = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    const char *other = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    const char *hash =
        sql_text(database, arena, "SELECT password_hash FROM identity_account WHERE id = %s", sql_subject(arena, one));
    assert_int_equal(strncmp(hash, "$argon2id$v=19$m=8,t=1,p=1$", 27), 0);
    assert_string_not_equal(hash, sql_text(database, arena, "SELECT password_hash FROM identity_account WHERE id = %s",
                                           sql_subject(arena, other)));
    provider_free(&provider);
    database_free(&database);
}

static void confirming_is_done_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *waiting = given_account(provider, arena, PROVIDER_AWAITING_CODE);
    const char *invited = given_account(provider, arena, PROVIDER_INVITED);
    enum provider_outcome outcome;
    expect_ok(provider_confirm(provider, arena, waiting, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    expect_ok(provider_confirm(provider, arena, waiting, &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
    expect_ok(provider_confirm(provider, arena, invited, &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
    expect_ok(provider_confirm(provider, arena, id_text(arena, id_new()), &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    expect_ok(provider_confirm(provider, arena, "not-an-id", &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    assert_int_equal(sql_integer(database, arena, "SELECT email_verified FROM identity_account WHERE id = %s",
                                 sql_subject(arena, waiting)),
                     1);
    provider_free(&provider);
    database_free(&database);
}

static void closing_an_account_ends_its_sessions(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    const char *bystander = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens others = signed_in(provider, arena, bystander, PERMANENT);
    enum provider_outcome outcome;
    for (unsigned round = 0; round < 2; round++) { /* repeating it does no harm */
        expect_ok(provider_set_enabled(provider, arena, subject, false, &outcome));
        assert_int_equal(outcome, PROVIDER_OK);
        assert_false(session_stands(database, arena, &tokens));
    }
    assert_int_equal(refresh(provider, arena, tokens.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    assert_true(session_stands(database, arena, &others));
    expect_ok(provider_set_enabled(provider, arena, subject, true, &outcome));
    assert_false(session_stands(database, arena, &tokens)); /* enabling the account again revives no session */
    expect_ok(provider_set_enabled(provider, arena, id_text(arena, id_new()), false, &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    provider_free(&provider);
    database_free(&database);
}

static void an_account_closed_at_the_prompt_gets_no_tokens(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
    sql(database, arena, "UPDATE identity_account SET enabled = FALSE WHERE id = %s", sql_subject(arena, subject));
    assert_int_equal(refresh(provider, arena, tokens.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    assert_int_equal(log_in(provider, arena, subject, PERMANENT, NULL, NULL), PROVIDER_DISABLED);
    provider_free(&provider);
    database_free(&database);
}

static const char *describe(struct database *database, struct arena *arena, const char *subject)
{
    return sql_text(database, arena,
                    "SELECT CONCAT_WS(' ', email_verified, phone_verified, COALESCE(phone, '-'), permissions) FROM"
                    " identity_account WHERE id = %s",
                    sql_subject(arena, subject));
}

static void only_the_attributes_named_change(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_INVITED);
    enum provider_outcome outcome;
    assert_string_equal(describe(database, arena, subject), "0 0 - rwx:*");
    struct provider_attributes attributes = {.set_phone = true, .phone = "+4912345678"};
    expect_ok(provider_set_attributes(provider, arena, subject, &attributes, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    assert_string_equal(describe(database, arena, subject), "0 0 +4912345678 rwx:*");
    attributes = (struct provider_attributes){.set_verified = true, .email_verified = true, .phone_verified = true};
    expect_ok(provider_set_attributes(provider, arena, subject, &attributes, &outcome));
    assert_string_equal(describe(database, arena, subject), "1 1 +4912345678 rwx:*");
    attributes = (struct provider_attributes){.set_permissions = true, .permissions = "cus:*:r"};
    expect_ok(provider_set_attributes(provider, arena, subject, &attributes, &outcome));
    attributes = (struct provider_attributes){.set_phone = true, .set_verified = true, .email_verified = true};
    expect_ok(provider_set_attributes(provider, arena, subject, &attributes, &outcome));
    assert_string_equal(describe(database, arena, subject), "1 0 - cus:*:r");
    expect_ok(provider_set_attributes(provider, arena, subject, &attributes, &outcome));
    assert_int_equal(outcome, PROVIDER_OK); /* repeating it does no harm */
    expect_ok(provider_set_attributes(provider, arena, id_text(arena, id_new()), &attributes, &outcome));
    assert_int_equal(outcome, PROVIDER_ABSENT);
    provider_free(&provider);
    database_free(&database);
}

static void removing_leaves_nothing_behind(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
    expect_ok(provider_remove(provider, arena, tokens.user_id, NULL));
    expect_ok(provider_remove(provider, arena, tokens.user_id, NULL));
    expect_ok(provider_remove(provider, arena, id_new(), NULL));
    assert_int_equal(sql_integer(database, arena,
                                 "SELECT (SELECT COUNT(*) FROM identity_account) + (SELECT COUNT(*) FROM session) +"
                                 " (SELECT COUNT(*) FROM identity_refresh)"),
                     0);
    assert_int_equal(refresh(provider, arena, tokens.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    assert_int_equal(log_in(provider, arena, subject, PERMANENT, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    provider_free(&provider);
    database_free(&database);
}

static void unusable_options_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = NULL;
    struct embedded_options options = options_for(database);
    options.master = secret_of("too short");
    expect_error(embedded_new(arena, &options, &provider), ERROR_INTERNAL);
    options = options_for(database);
    options.refresh_token_seconds = 0;
    expect_error(embedded_new(arena, &options, &provider), ERROR_INTERNAL);
    assert_null(provider);
    provider_free(&provider);
    database_free(&database);
}

static void each_outcome_has_its_word(void **state)
{
    (void)state;
    for (int i = 0; i < PROVIDER_OUTCOME_COUNT; i++) {
        assert_non_null(provider_outcome_text((enum provider_outcome)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(provider_outcome_text((enum provider_outcome)i),
                                    provider_outcome_text((enum provider_outcome)j));
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(making_an_account_again_is_harmless_until_it_was_used),
    HARNESS_TEST(one_address_is_one_account),
    HARNESS_TEST(passwords_are_stored_as_argon2id_only),
    HARNESS_TEST(confirming_is_done_once),
    HARNESS_TEST(closing_an_account_ends_its_sessions),
    HARNESS_TEST(an_account_closed_at_the_prompt_gets_no_tokens),
    HARNESS_TEST(only_the_attributes_named_change),
    HARNESS_TEST(removing_leaves_nothing_behind),
    HARNESS_TEST(unusable_options_are_refused),
    HARNESS_TEST(each_outcome_has_its_word),
};
HARNESS_MODULE(embedded_account, cases)
