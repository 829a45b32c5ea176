/* SPDX-License-Identifier: MIT */
/* Subjects, challenges and settings that nobody should give: they are nobody's, spent, or an error. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/support.h"
#include "identity/embedded/provider.h"
#include "identity/support.h"
#include "support_database.h"
#include "support_refusal.h"

static void a_subject_of_nobody_is_absent(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *const subjects[] = {"", "somebody", "12345678-1234-1234-1234-12345678901", id_text(arena, id_new())};
    const struct provider_attributes attributes = {.set_permissions = true, .permissions = "x:y:r"};
    struct secret password = secret_of("a good password, 1");
    enum provider_outcome outcome;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
#define ABSENT(call)                                                                                                   \
    outcome = PROVIDER_OK;                                                                                             \
    expect_ok(call);                                                                                                   \
    assert_int_equal(outcome, PROVIDER_ABSENT)
        const char *subject = subjects[i];
        ABSENT(provider_change_password(provider, arena, subject, id_new(), secret_of(PERMANENT), password, &outcome));
        ABSENT(provider_set_password(provider, arena, subject, password, false, &outcome));
        ABSENT(provider_invite_again(provider, arena, subject, password, &outcome));
        ABSENT(provider_confirm(provider, arena, subject, &outcome));
        ABSENT(provider_set_enabled(provider, arena, subject, true, &outcome));
        ABSENT(provider_set_enabled(provider, arena, subject, false, &outcome));
        ABSENT(provider_set_attributes(provider, arena, subject, &attributes, &outcome));
        assert_int_equal(log_in(provider, arena, subject, PERMANENT, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
        expect_ok(provider_logout(provider, arena, subject, id_new()));
        expect_ok(provider_logout_all(provider, arena, subject));
        expect_ok(provider_logout_others(provider, arena, subject, id_new()));
    }
    provider_free(&provider);
    database_free(&database);
}

static void a_challenge_that_is_not_ours_is_spent(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_INVITED);
    const char *member = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_challenge right;
    assert_int_equal(log_in(provider, arena, subject, TEMPORARY, NULL, &right), PROVIDER_NEW_PASSWORD_REQUIRED);
    const struct provider_challenge challenges[] = {
        {.subject = "somebody", .proof = right.proof},
        {.subject = id_text(arena, id_new()), .proof = right.proof},
        {.subject = member, .proof = right.proof},
        {.subject = subject, .proof = ""},
        {.subject = subject, .proof = "0"},
        {.subject = subject, .proof = "-1"},
        {.subject = subject, .proof = "one"},
        {.subject = subject, .proof = "4294967296"},
        {.subject = subject, .proof = "2"},
    };
    for (size_t i = 0; i < sizeof challenges / sizeof *challenges; i++)
        assert_int_equal(answer_challenge(provider, arena, &challenges[i], PERMANENT, NULL), PROVIDER_CHALLENGE_SPENT);
    assert_int_equal(log_in(provider, arena, subject, PERMANENT, NULL, NULL), PROVIDER_BAD_CREDENTIALS);
    assert_int_equal(answer_challenge(provider, arena, &right, PERMANENT, NULL), PROVIDER_OK);
    (void)signed_in(provider, arena, subject, PERMANENT);
    provider_free(&provider);
    database_free(&database);
}

static void settings_that_let_nothing_live_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct embedded_options right = options_for(NULL);
    struct embedded_options options[4] = {right, right, right, right};
    options[0].access_token_seconds = 0;
    options[1].refresh_token_seconds = 0;
    options[2].temporary_password_seconds = -1;
    options[3].master = secret_of("too short");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct provider *provider = NULL;
        expect_error(embedded_new(arena, &options[i], &provider), ERROR_INTERNAL);
        assert_null(provider);
    }
}

/* A password that cannot be hashed is not stored, and the one before stays. */
static void where_a_hash_fails_nothing_changes(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *member = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    const char *owner = given_account(provider, arena, PROVIDER_INVITED);
    struct provider_tokens tokens = signed_in(provider, arena, member, PERMANENT);
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    const char *subject = NULL;
    struct provider_account account = {.kind = PROVIDER_INVITED,
                                       .user_id = id_new(),
                                       .email = "unhashed@example.com",
                                       .permissions = "",
                                       .password = secret_of(TEMPORARY)};
    assert_int_equal(log_in(provider, arena, owner, TEMPORARY, NULL, &challenge), PROVIDER_NEW_PASSWORD_REQUIRED);
    struct embedded_options options = options_for(database);
    options.cost.passes = 0;
    struct provider *unable;
    expect_ok(embedded_new(arena, &options, &unable));
    struct secret password = secret_of("another password, 1");
    log_set_level(LOG_LEVEL_FATAL);
    expect_error(
        provider_change_password(unable, arena, member, tokens.session_id, secret_of(PERMANENT), password, &outcome),
        ERROR_INTERNAL);
    expect_error(provider_set_password(unable, arena, member, password, false, &outcome), ERROR_INTERNAL);
    expect_error(provider_invite_again(unable, arena, owner, password, &outcome), ERROR_INTERNAL);
    expect_error(provider_create(unable, arena, &account, &subject, &outcome), ERROR_INTERNAL);
    expect_error(provider_answer_new_password(unable, arena, &challenge, password, &tokens, &outcome), ERROR_INTERNAL);
    /* Whoever signs in does so all the same: the hash of other costs stays. */
    (void)signed_in(unable, arena, member, PERMANENT);
    log_set_level(LOG_LEVEL_INFO);
    (void)signed_in(provider, arena, member, PERMANENT);
    assert_int_equal(log_in(provider, arena, owner, TEMPORARY, NULL, NULL), PROVIDER_NEW_PASSWORD_REQUIRED);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM identity_account WHERE id = %s",
                                 sql_id(arena, account.user_id)),
                     0);
    provider_free(&unable);
    provider_free(&provider);
    database_free(&database);
}

/* A login that cannot store the better hash succeeds; a later one stores it. */
static void a_hash_of_other_costs_is_replaced_when_it_can_be(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct embedded_options options = options_for(database);
    options.cost.passes = 2;
    struct provider *before = given_provider(arena, database);
    const char *subject = given_account(before, arena, PROVIDER_CONFIRMED_ALREADY);
    const char *old = sql_text(database, arena, "SELECT password_hash FROM identity_account WHERE id = %s",
                               sql_subject(arena, subject));
    struct provider *provider;
    expect_ok(embedded_new(arena, &options, &provider));
    (void)signed_in(before, arena, subject, PERMANENT);
    unsigned kept = 0;
    log_set_level(LOG_LEVEL_FATAL);
    for (unsigned nth = 1;; nth++) {
        struct provider_login login = {.subject = subject, .password = secret_of(PERMANENT)};
        struct provider_tokens tokens;
        struct provider_challenge challenge;
        enum provider_outcome outcome;
        sql(database, arena, "UPDATE identity_account SET password_hash = '%s' WHERE id = %s", old,
            sql_subject(arena, subject));
        refusal_begin(nth);
        struct error *error = provider_login(provider, arena, &login, &tokens, &challenge, &outcome);
        bool refused = refusal_end();
        const char *now = sql_text(database, arena, "SELECT password_hash FROM identity_account WHERE id = %s",
                                   sql_subject(arena, subject));
        kept += error == NULL && strcmp(now, old) == 0;
        if (!refused)
            assert_string_not_equal(now, old);
        if (!refused)
            break;
    }
    log_set_level(LOG_LEVEL_INFO);
    assert_int_equal(kept, 1);
    provider_free(&provider);
    provider_free(&before);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_subject_of_nobody_is_absent),
    HARNESS_TEST(a_challenge_that_is_not_ours_is_spent),
    HARNESS_TEST(settings_that_let_nothing_live_are_refused),
    HARNESS_TEST(where_a_hash_fails_nothing_changes),
    HARNESS_TEST(a_hash_of_other_costs_is_replaced_when_it_can_be),
};
HARNESS_MODULE(embedded_strange, cases)
