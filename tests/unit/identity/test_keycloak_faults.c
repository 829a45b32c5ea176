/* SPDX-License-Identifier: MIT */
/* Keycloak's adapter when something is wrong: with the server, the realm, the network, our own secrets. */
#include "harness.h"

#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "database_fixture.h"
#include "domain/support.h"
#include "keycloak_stage.h"

/* One read of the account, by an operation that finds nothing to do. */
static void read_account(struct realm_stage *stage, const struct realm_person *person)
{
    enum provider_outcome outcome;
    expect_ok(provider_confirm(stage->provider, stage->arena, person->subject, &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
}

/* A refresh that the provider did not answer leaves the token as it was. */
static void a_refresh_without_an_answer_can_be_repeated(void **state)
{
    struct realm_stage *stage = realm_scripted(state);
    struct realm_person member = realm_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens first, second;
    enum provider_outcome outcome;
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, &first, NULL), PROVIDER_OK);
    realm_fault(stage, "grant refresh_token html");
    expect_error(provider_refresh(stage->provider, stage->arena, first.refresh_token, &second, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    sql(stage->database, stage->arena, "UPDATE identity_refresh SET created_at = created_at - INTERVAL 1 MINUTE");
    expect_ok(provider_refresh(stage->provider, stage->arena, first.refresh_token, &second, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    realm_stage_end(stage);
}

/* A realm whose profile does not declare our attributes takes the call and drops them. */
static void attributes_that_the_realm_drops_are_missed(void **state)
{
    struct realm_stage *stage = realm_scripted(state);
    struct realm_person member = realm_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_account account = {.kind = PROVIDER_INVITED, .user_id = id_new(), .email = "drop@example.com",
                                       .permissions = "rwx:*", .password = secret_of(TEMPORARY)};
    struct provider_attributes attributes = {.set_permissions = true, .permissions = "inv:*:w"};
    const char *subject;
    enum provider_outcome outcome;
    realm_put(stage, "drops", "permissions");
    expect_error(provider_create(stage->provider, stage->arena, &account, &subject, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    assert_int_equal(realm_calls(stage, "DELETE user"), 1);
    expect_error(provider_set_attributes(stage->provider, stage->arena, member.subject, &attributes, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    realm_put(stage, "drops", "");
    expect_ok(provider_create(stage->provider, stage->arena, &account, &subject, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    realm_stage_end(stage);
}

static void the_token_of_the_service_account_is_kept(void **state)
{
    struct realm_stage *stage = realm_scripted(state);
    struct realm_person member = realm_given(stage, PROVIDER_CONFIRMED_ALREADY);
    for (int i = 0; i < 5; i++)
        read_account(stage, &member);
    assert_int_equal(realm_calls(stage, "grant client_credentials"), 1);
    /* One that ended before its time is fetched once more, and the call made again. */
    size_t before = realm_calls(stage, "GET user");
    realm_fault(stage, "expire tokens");
    read_account(stage, &member);
    assert_int_equal(realm_calls(stage, "grant client_credentials"), 2);
    assert_int_equal(realm_calls(stage, "GET user"), before + 2);
    /* One that has less than 30 s left is not used again. */
    realm_put(stage, "short", "");
    realm_fault(stage, "expire tokens");
    read_account(stage, &member);
    read_account(stage, &member);
    assert_int_equal(realm_calls(stage, "grant client_credentials"), 4);
    realm_stage_end(stage);
}

static void failures_of_the_provider_let_nobody_in(void **state)
{
    static const char *const kinds[] = {"status-500", "html", "half", "cut", "redirect", "silent"};
    struct realm_stage *stage = realm_scripted(state);
    struct realm_person member = realm_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_login attempt = {
        .subject = member.subject, .user_id = member.id, .email = member.email, .password = secret_of(PERMANENT)};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct provider_tokens tokens;
        struct provider_challenge challenge;
        enum provider_outcome outcome;
        size_t before = realm_calls(stage, "grant password");
        outside_of(stage->provider)->failures = 0;
        realm_fault(stage, arena_format(stage->arena, "grant password %s", kinds[i]));
        expect_error(provider_login(stage->provider, stage->arena, &attempt, &tokens, &challenge, &outcome),
                     ERROR_IDENTITY_UNAVAILABLE);
        assert_int_equal(realm_calls(stage, "grant password"), before + 1);
    }
    assert_int_equal(sql_integer(stage->database, stage->arena, "SELECT COUNT(*) FROM session WHERE user_id = %s",
                                 sql_id(stage->arena, member.id)),
                     0);
    realm_stage_end(stage);
}

/* Somebody else's 404 (another server, another realm) does not say that an account is gone. */
static void only_keycloak_says_that_an_account_is_absent(void **state)
{
    struct realm_stage *stage = realm_scripted(state);
    struct realm_person member = realm_given(stage, PROVIDER_CONFIRMED_ALREADY);
    enum provider_outcome outcome;
    realm_fault(stage, "GET user html");
    expect_error(provider_confirm(stage->provider, stage->arena, member.subject, &outcome), ERROR_IDENTITY_UNAVAILABLE);
    realm_fault(stage, "PUT user/reset-password html");
    expect_error(provider_set_password(stage->provider, stage->arena, member.subject, secret_of(OTHER), false, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    /* The lock was given back each time. */
    expect_ok(provider_set_enabled(stage->provider, stage->arena, member.subject, false, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    realm_stage_end(stage);
}

/* What an operator changes in the files holds once the provider is told to forget. */
static void secrets_are_read_again(void **state)
{
    struct realm_stage *stage = realm_stage_new(state);
    struct realm_person member = realm_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_login attempt = {
        .subject = member.subject, .user_id = member.id, .email = member.email, .password = secret_of(PERMANENT)};
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    realm_put(stage, "admin-secret", "wrong");
    read_account(stage, &member);
    provider_forget(stage->provider);
    expect_error(provider_confirm(stage->provider, stage->arena, member.subject, &outcome), ERROR_IDENTITY_UNAVAILABLE);
    realm_put(stage, "admin-secret", "admin-client-secret\n");
    realm_put(stage, "client-secret", "wrong");
    provider_forget(stage->provider);
    read_account(stage, &member);
    expect_error(provider_login(stage->provider, stage->arena, &attempt, &tokens, &challenge, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    realm_put(stage, "client-secret", "login-client-secret\n");
    provider_forget(stage->provider);
    assert_int_equal(realm_login(stage, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    /* One that cannot be read takes nobody's place. */
    assert_int_equal(unlink(arena_format(stage->arena, "%s/admin-secret", stage->directory)), 0);
    provider_forget(stage->provider);
    read_account(stage, &member);
    realm_stage_end(stage);
}

static void addresses_that_are_not_usable_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct outside_options outside = {.master = secret_of("0123456789abcdef0123456789abcdef")};
    struct keycloak_options options = {.url = "http://keycloak.example.org", .keys_url = "https://x.example/certs"};
    struct provider *provider;
    expect_error(keycloak_new(arena, &outside, &options, &provider), ERROR_INTERNAL);
    options.url = "https://keycloak.example.org";
    options.keys_url = "ftp://x.example/certs";
    expect_error(keycloak_new(arena, &outside, &options, &provider), ERROR_INTERNAL);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_refresh_without_an_answer_can_be_repeated),
    HARNESS_TEST(attributes_that_the_realm_drops_are_missed),
    HARNESS_TEST(the_token_of_the_service_account_is_kept),
    HARNESS_TEST(failures_of_the_provider_let_nobody_in),
    HARNESS_TEST(only_keycloak_says_that_an_account_is_absent),
    HARNESS_TEST(secrets_are_read_again),
    HARNESS_TEST(addresses_that_are_not_usable_are_refused),
};
HARNESS_MODULE(keycloak_faults, cases)
