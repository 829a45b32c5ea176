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
static void read_account(struct scene *scene, const struct person *person)
{
    enum provider_outcome outcome;
    expect_ok(provider_confirm(scene->provider, scene->arena, person->subject, &outcome));
    assert_int_equal(outcome, PROVIDER_STATE);
}

/* A realm whose user profile does not declare our attributes takes the call and drops them. */
static void attributes_that_the_realm_drops_are_missed(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_account account = {.kind = PROVIDER_INVITED,
                                       .user_id = id_new(),
                                       .email = "drop@example.com",
                                       .permissions = "rwx:*",
                                       .password = secret_of(TEMPORARY)};
    struct provider_attributes attributes = {.set_permissions = true, .permissions = "inv:*:w"};
    const char *subject;
    enum provider_outcome outcome;
    (void)scene_put(scene, "drops", "permissions");
    expect_error(provider_create(scene->provider, scene->arena, &account, &subject, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    assert_int_equal(scene_count(scene, "DELETE user"), 1);
    expect_error(provider_set_attributes(scene->provider, scene->arena, member.subject, &attributes, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    (void)scene_put(scene, "drops", "");
    expect_ok(provider_create(scene->provider, scene->arena, &account, &subject, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    scene_end(scene);
}

static void the_token_of_the_service_account_is_kept(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    for (int i = 0; i < 5; i++)
        read_account(scene, &member);
    assert_int_equal(scene_count(scene, "grant client_credentials"), 1);
    /* A token that ended before its time is fetched again, and the call is made again. */
    size_t before = scene_count(scene, "GET user");
    (void)scene_put(scene, "expire", "");
    read_account(scene, &member);
    assert_int_equal(scene_count(scene, "grant client_credentials"), 2);
    assert_int_equal(scene_count(scene, "GET user"), before + 2);
    /* A token that has less than 30 s left is not used any more. */
    (void)scene_put(scene, "short", "");
    (void)scene_put(scene, "expire", "");
    read_account(scene, &member);
    read_account(scene, &member);
    assert_int_equal(scene_count(scene, "grant client_credentials"), 4);
    scene_end(scene);
}

/* Another process of the scene's host, with its own handle of the host's cache. */
static struct provider *given_process(struct scene *scene, const char *master, struct cache **cache_out)
{
    const char *path = arena_format(scene->arena, "%s/cache", scene->directory);
    struct provider *provider = keycloak_scene_provider(scene, scene->database);
    struct remote_options *options = &remote_of(provider)->options;
    *cache_out = cache_new(&(struct cache_options){path, (size_t)1 << 20, secret_of("the host's file is one")});
    cache_follow(*cache_out, NULL, 0, 1, false);
    options->cache = *cache_out;
    options->master = secret_of(master);
    return provider;
}

static void read_by(struct provider *provider, struct scene *scene, const struct person *person)
{
    struct keycloak_user user;
    struct remote *remote = remote_of(provider);
    remote_start(remote, remote->options.admin_milliseconds);
    expect_ok(keycloak_user_get(keycloak_of(remote), scene->arena, person->subject, &user));
}

static void the_token_is_fetched_once_for_all_processes_and_lies_sealed(void **state)
{
    static const char master[] = "a master secret of more than thirty-two bytes";
    static const char *const call = "grant client_credentials";
    struct scene *scene = keycloak_scripted(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct cache *caches[3];
    struct provider *one = given_process(scene, master, &caches[0]);
    struct provider *other = given_process(scene, master, &caches[1]);
    struct provider *stranger = given_process(scene, "another secret, of more than thirty-two bytes", &caches[2]);
    size_t before = scene_count(scene, call);
    read_by(one, scene, &member);
    read_by(other, scene, &member);
    assert_int_equal(scene_count(scene, call), before + 1);
    const char *token = keycloak_of(remote_of(other))->token;
    assert_string_equal(token, keycloak_of(remote_of(one))->token);
    size_t length;
    const char *file = harness_read(scene->arena, arena_format(scene->arena, "%s/cache", scene->directory), &length);
    assert_null(memmem(file, length, token, strlen(token)));

    /* A process with another secret cannot open it and fetches a token of its own. */
    read_by(stranger, scene, &member);
    assert_int_equal(scene_count(scene, call), before + 2);
    /* The process that finds out that the token ended replaces it for all. */
    (void)scene_put(scene, "expire", "");
    read_by(one, scene, &member);
    assert_int_equal(scene_count(scene, call), before + 3);
    keycloak_service_token_forget(keycloak_of(remote_of(other)));
    read_by(other, scene, &member);
    assert_int_equal(scene_count(scene, call), before + 3);
    /* After new secrets the token of the old ones is not used any more. */
    const struct cache_eviction eviction = {.version = 2, .prefixes = text_list_of(scene->arena, 1, "token:")};
    cache_follow(caches[1], &eviction, 1, 2, false);
    keycloak_service_token_forget(keycloak_of(remote_of(other)));
    read_by(other, scene, &member);
    assert_int_equal(scene_count(scene, call), before + 4);
    struct provider *all[] = {one, other, stranger};
    for (size_t i = 0; i < 3; i++) {
        provider_free(&all[i]);
        cache_free(&caches[i]);
    }
    scene_end(scene);
}

/* The 404 of another server or realm does not say that an account is gone. */
static void only_keycloak_says_that_an_account_is_absent(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    enum provider_outcome outcome;
    scene_fault(scene, "GET user", "html");
    expect_error(provider_confirm(scene->provider, scene->arena, member.subject, &outcome), ERROR_IDENTITY_UNAVAILABLE);
    scene_fault(scene, "PUT user/reset-password", "html");
    expect_error(
        provider_set_password(scene->provider, scene->arena, member.subject, secret_of(OTHER), false, &outcome),
        ERROR_IDENTITY_UNAVAILABLE);
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    /* The lock was released each time. */
    expect_ok(provider_set_enabled(scene->provider, scene->arena, member.subject, false, &outcome));
    assert_int_equal(outcome, PROVIDER_OK);
    scene_end(scene);
}

/* What an operator changes in the files counts after provider_forget(). */
static void secrets_are_read_again(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct provider_login attempt = {
        .subject = member.subject, .user_id = member.id, .email = member.email, .password = secret_of(PERMANENT)};
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    (void)scene_put(scene, "admin-secret", "wrong");
    read_account(scene, &member);
    provider_forget(scene->provider);
    expect_error(provider_confirm(scene->provider, scene->arena, member.subject, &outcome), ERROR_IDENTITY_UNAVAILABLE);
    (void)scene_put(scene, "admin-secret", "admin-client-secret\n");
    (void)scene_put(scene, "client-secret", "wrong");
    provider_forget(scene->provider);
    read_account(scene, &member);
    expect_error(provider_login(scene->provider, scene->arena, &attempt, &tokens, &challenge, &outcome),
                 ERROR_IDENTITY_UNAVAILABLE);
    (void)scene_put(scene, "client-secret", "login-client-secret\n");
    provider_forget(scene->provider);
    assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
    /* A file that cannot be read replaces no secret. */
    assert_int_equal(unlink(arena_format(scene->arena, "%s/admin-secret", scene->directory)), 0);
    provider_forget(scene->provider);
    read_account(scene, &member);
    scene_end(scene);
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
