/* SPDX-License-Identifier: MIT */
/* The driver for Keycloak when something is wrong: the server, the realm, the network, our own secrets. */
#include "harness.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/support.h"
#include "identity/keycloak/keycloak_int.h"
#include "identity/support_remote.h"
#include "store/cache/cache.h"
#include "support_database.h"

/* One read of the account, by an operation that finds nothing to do. */
static void read_account(struct stage *stage, const struct person *person)
{
    enum provider_outcome outcome;
    expect_ok(provider_confirm(stage->provider, stage->arena, person->subject, &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
}

/* A realm whose user profile does not declare our attributes takes the call and drops them. */
static void attributes_that_the_realm_drops_are_missed(void **state)
{
    struct stage *stage = keycloak_scripted(state);
    struct person member = stage_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_account account = {.kind = PROVIDER_INVITED,
                                       .user_id = id_new(),
                                       .email = "drop@example.com",
                                       .permissions = "rwx:*",
                                       .password = secret_of(TEMPORARY)};
    struct provider_attributes attributes = {.set_permissions = true, .permissions = "inv:*:w"};
    const char *subject;
    enum provider_outcome outcome;
    (void)stage_put(stage, "drops", "permissions");
    expect_error(provider_create(stage->provider, stage->arena, &account, &subject, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    assert_int_equal(stage_count(stage, "DELETE user"), 1);
    expect_error(provider_set_attributes(stage->provider, stage->arena, member.subject, &attributes, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    (void)stage_put(stage, "drops", "");
    expect_ok(provider_create(stage->provider, stage->arena, &account, &subject, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    stage_end(stage);
}

static void the_token_of_the_service_account_is_kept(void **state)
{
    struct stage *stage = keycloak_scripted(state);
    struct person member = stage_given(stage, PROVIDER_CONFIRMED_ALREADY);
    for (int i = 0; i < 5; i++)
        read_account(stage, &member);
    assert_int_equal(stage_count(stage, "grant client_credentials"), 1);
    /* A token that ended before its time is fetched again, and the call is made again. */
    size_t before = stage_count(stage, "GET user");
    stage_fault(stage, "expire", "tokens");
    read_account(stage, &member);
    assert_int_equal(stage_count(stage, "grant client_credentials"), 2);
    assert_int_equal(stage_count(stage, "GET user"), before + 2);
    /* A token that has less than 30 s left is not used any more. */
    (void)stage_put(stage, "short", "");
    stage_fault(stage, "expire", "tokens");
    read_account(stage, &member);
    read_account(stage, &member);
    assert_int_equal(stage_count(stage, "grant client_credentials"), 4);
    stage_end(stage);
}

/* Another process of the stage's host, with its own handle of the host's cache. */
static struct provider *given_process(struct stage *stage, const char *master, struct cache **cache_out)
{
    const char *path = arena_format(stage->arena, "%s/cache", stage->directory);
    struct provider *provider = keycloak_stage_provider(stage, stage->database);
    struct remote_options *options = &remote_of(provider)->options;
    *cache_out = cache_new(&(struct cache_options){path, (size_t)1 << 20, secret_of("the host's file is one")});
    cache_follow(*cache_out, NULL, 0, 1, false);
    options->cache = *cache_out;
    options->master = secret_of(master);
    return provider;
}

static void read_by(struct provider *provider, struct stage *stage, const struct person *person)
{
    struct keycloak_user user;
    struct remote *remote = remote_of(provider);
    remote_start(remote, remote->options.admin_milliseconds);
    expect_ok(keycloak_user_get(keycloak_of(remote), stage->arena, person->subject, &user));
}

static void the_token_is_fetched_once_for_all_processes_and_lies_sealed(void **state)
{
    static const char master[] = "a master secret of more than thirty-two bytes";
    static const char *const call = "grant client_credentials";
    struct stage *stage = keycloak_scripted(state);
    struct person member = stage_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct cache *caches[3];
    struct provider *one = given_process(stage, master, &caches[0]);
    struct provider *other = given_process(stage, master, &caches[1]);
    struct provider *stranger = given_process(stage, "another secret, of more than thirty-two bytes", &caches[2]);
    size_t before = stage_count(stage, call);
    read_by(one, stage, &member);
    read_by(other, stage, &member);
    assert_int_equal(stage_count(stage, call), before + 1);
    const char *token = keycloak_of(remote_of(other))->token;
    assert_string_equal(token, keycloak_of(remote_of(one))->token);
    size_t length;
    const char *file = harness_read(stage->arena, arena_format(stage->arena, "%s/cache", stage->directory), &length);
    assert_null(memmem(file, length, token, strlen(token)));

    /* A process with another secret cannot open it and fetches a token of its own. */
    read_by(stranger, stage, &member);
    assert_int_equal(stage_count(stage, call), before + 2);
    /* The process that finds out that the token ended replaces it for all. */
    stage_fault(stage, "expire", "tokens");
    read_by(one, stage, &member);
    assert_int_equal(stage_count(stage, call), before + 3);
    keycloak_service_token_forget(keycloak_of(remote_of(other)));
    read_by(other, stage, &member);
    assert_int_equal(stage_count(stage, call), before + 3);
    /* After new secrets the token of the old ones is not used any more. */
    const struct cache_eviction eviction = {.version = 2, .prefixes = text_list_of(stage->arena, 1, "token:")};
    cache_follow(caches[1], &eviction, 1, 2, false);
    keycloak_service_token_forget(keycloak_of(remote_of(other)));
    read_by(other, stage, &member);
    assert_int_equal(stage_count(stage, call), before + 4);
    struct provider *all[] = {one, other, stranger};
    for (size_t i = 0; i < 3; i++) {
        provider_free(&all[i]);
        cache_free(&caches[i]);
    }
    stage_end(stage);
}

/* The 404 of another server or realm does not say that an account is gone. */
static void only_keycloak_says_that_an_account_is_absent(void **state)
{
    struct stage *stage = keycloak_scripted(state);
    struct person member = stage_given(stage, PROVIDER_CONFIRMED_ALREADY);
    enum provider_outcome outcome;
    stage_fault(stage, "GET user", "html");
    expect_error(provider_confirm(stage->provider, stage->arena, member.subject, &outcome), ERROR_IDENTITY_UNAVAILABLE);
    stage_fault(stage, "PUT user/reset-password", "html");
    expect_error(
        provider_set_password(stage->provider, stage->arena, member.subject, secret_of(OTHER), false, &outcome),
        ERROR_IDENTITY_UNAVAILABLE);
    assert_int_equal(stage_login(stage, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    /* The lock was released each time. */
    expect_ok(provider_set_enabled(stage->provider, stage->arena, member.subject, false, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    stage_end(stage);
}

/* What an operator changes in the files counts after provider_forget(). */
static void secrets_are_read_again(void **state)
{
    struct stage *stage = keycloak_scripted(state);
    struct person member = stage_given(stage, PROVIDER_CONFIRMED_ALREADY);
    struct provider_login attempt = {
        .subject = member.subject, .user_id = member.id, .email = member.email, .password = secret_of(PERMANENT)};
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    (void)stage_put(stage, "admin-secret", "wrong");
    read_account(stage, &member);
    provider_forget(stage->provider);
    expect_error(provider_confirm(stage->provider, stage->arena, member.subject, &outcome), ERROR_IDENTITY_UNAVAILABLE);
    (void)stage_put(stage, "admin-secret", "admin-client-secret\n");
    (void)stage_put(stage, "client-secret", "wrong");
    provider_forget(stage->provider);
    read_account(stage, &member);
    expect_error(provider_login(stage->provider, stage->arena, &attempt, &tokens, &challenge, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    (void)stage_put(stage, "client-secret", "login-client-secret\n");
    provider_forget(stage->provider);
    assert_int_equal(stage_login(stage, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    /* A file that cannot be read replaces no secret. */
    assert_int_equal(unlink(arena_format(stage->arena, "%s/admin-secret", stage->directory)), 0);
    provider_forget(stage->provider);
    read_account(stage, &member);
    stage_end(stage);
}

static void addresses_that_are_not_usable_are_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct remote_options remote = {.master = secret_of("0123456789abcdef0123456789abcdef")};
    struct keycloak_options options = {.url = "http://keycloak.example.org", .keys_url = "https://x.example/certs"};
    struct provider *provider;
    expect_error(keycloak_new(arena, &remote, &options, &provider), ERROR_INTERNAL);
    options.url = "https://keycloak.example.org";
    options.keys_url = "ftp://x.example/certs";
    expect_error(keycloak_new(arena, &remote, &options, &provider), ERROR_INTERNAL);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(attributes_that_the_realm_drops_are_missed),
    HARNESS_TEST(the_token_of_the_service_account_is_kept),
    HARNESS_TEST(the_token_is_fetched_once_for_all_processes_and_lies_sealed),
    HARNESS_TEST(only_keycloak_says_that_an_account_is_absent),
    HARNESS_TEST(secrets_are_read_again),
    HARNESS_TEST(addresses_that_are_not_usable_are_refused),
};
HARNESS_MODULE(keycloak_faults, cases)
