/* SPDX-License-Identifier: MIT */
/*
 * Signing keys that are damaged, missing, replaced, or made while something fails: nobody signs with half a key, a
 * process that has keys goes on, and whoever corrects the row is served at once.
 */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "codec/signing_key.h"
#include "domain/support.h"
#include "identity/embedded/provider.h"
#include "identity/support.h"
#include "identity/support_failure.h"
#include "store/cache/cache.h"
#include "store/cache/cache_prefix.h"
#include "support_database.h"
#include "support_keys.h"

static int64_t current_keys(struct database *database, struct arena *arena)
{
    return sql_integer(database, arena, "SELECT COUNT(*) FROM identity_signing_key WHERE retired_at IS NULL");
}

/* ---- something fails while a key is made ---------------------------------------------------------- */

static void given_session_of_a_member(struct scene *scene, struct ground *ground)
{
    sql(scene->database, scene->arena, "DELETE FROM identity_signing_key WHERE retired_at IS NOT NULL");
    ground->person = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    assert_int_equal(scene_login(scene, &ground->person, PERMANENT, false, &ground->tokens, NULL), PROVIDER_OK);
}

static struct error *rotate(struct scene *scene, struct ground *ground)
{
    return provider_rotate_keys(scene->provider, scene->arena, &ground->outcome);
}

/* One key signs, the one before or the new one, and tokens of both are valid in every process. */
static void check_rotated(struct scene *scene, struct ground *ground, const struct error *error)
{
    struct provider *other = given_provider(scene->arena, scene->database);
    struct provider_tokens tokens;
    struct token_claims claims;
    (void)error;
    assert_int_equal(current_keys(scene->database, scene->arena), 1);
    assert_true(scene_opens(scene, &ground->person, ground->tokens.access_token));
    assert_int_equal(scene_login(scene, &ground->person, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    const char *both[] = {tokens.access_token, ground->tokens.access_token};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(verify_token(other, scene->arena, both[i], TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);
    provider_free(&other);
}

static void given_no_key(struct scene *scene, struct ground *ground)
{
    given_session_of_a_member(scene, ground);
    sql(scene->database, scene->arena, "DELETE FROM identity_signing_key");
}

static struct error *make_first(struct scene *scene, struct ground *ground)
{
    const struct key_set *keys;
    (void)ground;
    return provider_keys(scene->provider, scene->arena, false, &keys);
}

static void check_made(struct scene *scene, struct ground *ground, const struct error *error)
{
    struct provider_tokens tokens;
    assert_true(current_keys(scene->database, scene->arena) <= 1);
    if (error == NULL)
        assert_int_equal(current_keys(scene->database, scene->arena), 1);
    assert_int_equal(scene_login(scene, &ground->person, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
    assert_true(scene_opens(scene, &ground->person, tokens.access_token));
    assert_int_equal(current_keys(scene->database, scene->arena), 1);
}

static void a_key_is_made_whole_or_not_at_all(void **state)
{
    static const struct flow flows[] = {
        {"rotation", PROVIDER_OK, given_session_of_a_member, rotate, check_rotated},
        {"first key", PROVIDER_OK, given_no_key, make_first, check_made},
    };
    support_database_clear();
    keys_are_new(true);
    flows_fail(embedded_scene_new(state), flows, sizeof flows / sizeof *flows, FAILURE_STATEMENT);
    keys_are_new(false);
}

/* Who waits for the maker of a key too long is told so. No second key is made. */
static void while_another_process_makes_a_key_nobody_else_does(void **state)
{
    struct scene *scene = embedded_scene_new(state);
    struct ground ground = {.failure = FAILURE_STATEMENT};
    given_no_key(scene, &ground);
    provider_forget(scene->provider);
    failure_lock_taken(true);
    expect_error(make_first(scene, &ground), ERROR_IDENTITY_UNAVAILABLE);
    expect_error(rotate(scene, &ground), ERROR_IDENTITY_UNAVAILABLE);
    failure_lock_taken(false);
    assert_int_equal(current_keys(scene->database, scene->arena), 0);
    expect_ok(make_first(scene, &ground));
    assert_int_equal(current_keys(scene->database, scene->arena), 1);
    scene_end(scene);
}

/* ---- damaged rows --------------------------------------------------------------------------------- */

#define SIGNING(value) "UPDATE identity_signing_key SET private_key_sealed = " value " WHERE retired_at IS NULL"
#define RETIRED(value) "UPDATE identity_signing_key SET public_key = " value " WHERE retired_at IS NOT NULL"

static const char *const damages[] = {
    SIGNING("''"),
    SIGNING("LEFT(private_key_sealed, 20)"),
    SIGNING("LEFT(private_key_sealed, LENGTH(private_key_sealed) - 1)"),
    SIGNING("CONCAT(private_key_sealed, 'x')"),
    SIGNING("CONCAT(UNHEX('FF'), SUBSTR(private_key_sealed, 2))"),
    SIGNING("(SELECT k.private_key_sealed FROM kept_key k WHERE k.retired_at IS NOT NULL)"),
    RETIRED("'nothing'"),
    RETIRED("LEFT(public_key, 100)"),
    RETIRED("CONCAT(public_key, public_key)"),
    RETIRED("REPLACE(public_key, '-----', '')"),
};

static void given_two_keys(struct scene *scene, struct ground *ground)
{
    support_database_clear();
    provider_forget(scene->provider);
    given_session_of_a_member(scene, ground);
    expect_ok(rotate(scene, ground));
    sql(scene->database, scene->arena, "CREATE OR REPLACE TABLE kept_key AS SELECT * FROM identity_signing_key");
}

static void restore_keys(struct scene *scene)
{
    sql(scene->database, scene->arena, "DELETE FROM identity_signing_key");
    sql(scene->database, scene->arena, "INSERT INTO identity_signing_key SELECT * FROM kept_key");
}

static void a_damaged_key_signs_nothing_and_keys_in_memory_stay(void **state)
{
    struct scene *scene = embedded_scene_new(state);
    struct ground ground = {.failure = FAILURE_STATEMENT};
    given_two_keys(scene, &ground);
    log_set_level(LOG_LEVEL_FATAL);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct provider *fresh = given_provider(scene->arena, scene->database);
        struct provider_login attempt = {.subject = ground.person.subject, .password = secret_of(PERMANENT)};
        struct provider_tokens tokens;
        struct provider_challenge challenge;
        enum provider_outcome outcome;
        const struct key_set *keys;
        int64_t sessions = flow_sessions(scene, &ground.person);
        sql(scene->database, scene->arena, "%s", damages[i]);
        expect_error(provider_keys(fresh, scene->arena, false, &keys), ERROR_INTERNAL);
        expect_error(provider_login(fresh, scene->arena, &attempt, &tokens, &challenge, &outcome), ERROR_INTERNAL);
        assert_int_equal(flow_sessions(scene, &ground.person), sessions);
        expect_ok(provider_keys(scene->provider, scene->arena, true, &keys));
        assert_true(scene_opens(scene, &ground.person, ground.tokens.access_token));
        restore_keys(scene);
        expect_ok(provider_login(fresh, scene->arena, &attempt, &tokens, &challenge, &outcome));
        assert_true(scene_opens(scene, &ground.person, tokens.access_token));
        provider_free(&fresh);
    }
    log_set_level(LOG_LEVEL_INFO);
    sql(scene->database, scene->arena, "DROP TABLE kept_key");
    scene_end(scene);
}

/* The check before a start opens the newest key with the service's secret. */
static void a_secret_that_opens_no_key_is_found_before_anybody_signs_in(void **state)
{
    struct scene *scene = embedded_scene_new(state);
    struct embedded_options options = options_for(scene->database);
    const struct key_set *keys;
    struct provider *other;
    expect_ok(provider_keys(scene->provider, scene->arena, false, &keys));
    options.master = secret_of("another-secret-another-secret-!!");
    expect_ok(embedded_new(scene->arena, &options, &other));
    expect_error(provider_check_sealed(other, scene->arena), ERROR_INTERNAL);
    expect_error(provider_check_sealed(other, scene->arena), ERROR_INTERNAL);
    provider_free(&other);
    expect_ok(provider_check_sealed(scene->provider, scene->arena));
    scene_end(scene);
}

static void where_every_key_is_retired_a_new_one_is_made(void **state)
{
    struct scene *scene = embedded_scene_new(state);
    struct ground ground = {.failure = FAILURE_STATEMENT};
    const struct key_set *keys;
    support_database_clear();
    provider_forget(scene->provider);
    given_session_of_a_member(scene, &ground);
    sql(scene->database, scene->arena, "UPDATE identity_signing_key SET retired_at = UTC_TIMESTAMP(3)");
    provider_forget(scene->provider);
    expect_ok(provider_keys(scene->provider, scene->arena, false, &keys));
    assert_int_equal(key_set_count(keys), 2);
    assert_int_equal(current_keys(scene->database, scene->arena), 1);
    assert_true(scene_opens(scene, &ground.person, ground.tokens.access_token));
    scene_end(scene);
}

/* As many keys as before, and one of them is another one. */
static void a_retired_key_that_was_replaced_is_noticed(void **state)
{
    struct scene *scene = embedded_scene_new(state);
    struct ground ground = {.failure = FAILURE_STATEMENT};
    const struct key_set *keys;
    given_two_keys(scene, &ground);
    expect_ok(provider_keys(scene->provider, scene->arena, false, &keys));
    sql(scene->database, scene->arena, "UPDATE identity_signing_key SET kid = 'another' WHERE retired_at IS NOT NULL");
    expect_ok(provider_keys(scene->provider, scene->arena, true, &keys));
    assert_int_equal(key_set_count(keys), 2);
    assert_non_null(key_set_find(keys, "another", strlen("another")));
    assert_false(scene_opens(scene, &ground.person, ground.tokens.access_token));
    sql(scene->database, scene->arena, "DROP TABLE kept_key");
    scene_end(scene);
}

/* ---- the host's cache ----------------------------------------------------------------------------- */

/* Whatever lies in the cache, the keys of the database count. */
static void a_damaged_cache_hides_no_key(void **state)
{
    static const char *const contents[] = {"",
                                           "no JSON",
                                           "7",
                                           "[]",
                                           "{}",
                                           "[7]",
                                           "[{}]",
                                           "[{\"kid\":\"k\"}]",
                                           "[{\"public\":\"k\"}]",
                                           "[{\"kid\":\"k\",\"public\":7}]",
                                           "[{\"kid\":\"k\",\"public\":\"no PEM\"}]",
                                           "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]"};
    struct scene *scene = embedded_scene_new(state);
    struct ground ground = {.failure = FAILURE_STATEMENT};
    given_session_of_a_member(scene, &ground);
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        const char *path = arena_format(scene->arena, "%s/cache-%zu", scene->directory, i);
        struct embedded_options options = options_for(scene->database);
        struct provider *provider;
        struct token_claims claims;
        options.cache = cache_new(&(struct cache_options){path, (size_t)1 << 20, secret_of("the host's file is one")});
        cache_follow(options.cache, NULL, 0, 1, false);
        cache_store_at(options.cache, CACHE_KEYS_EMBEDDED, contents[i], strlen(contents[i]), 60,
                       cache_followed(options.cache));
        expect_ok(embedded_new(scene->arena, &options, &provider));
        assert_int_equal(verify_token(provider, scene->arena, ground.tokens.access_token, TOKEN_USE_ACCESS, &claims),
                         TOKEN_GOOD);
        (void)signed_in(provider, scene->arena, ground.person.subject, PERMANENT);
        provider_free(&provider);
        cache_free(&options.cache);
    }
    scene_end(scene);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_key_is_made_whole_or_not_at_all),
    HARNESS_TEST(while_another_process_makes_a_key_nobody_else_does),
    HARNESS_TEST(a_damaged_key_signs_nothing_and_keys_in_memory_stay),
    HARNESS_TEST(a_secret_that_opens_no_key_is_found_before_anybody_signs_in),
    HARNESS_TEST(where_every_key_is_retired_a_new_one_is_made),
    HARNESS_TEST(a_retired_key_that_was_replaced_is_noticed),
    HARNESS_TEST(a_damaged_cache_hides_no_key),
};
HARNESS_MODULE(embedded_key_failure, cases)
