/* SPDX-License-Identifier: MIT */
/* Signing keys of the embedded provider: made once, shared, sealed, rotated. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "codec/signing_key.h"
#include "domain/support.h"
#include "identity/embedded/provider.h"
#include "identity/support.h"
#include "support_database.h"

static const struct key_set *keys_of(struct provider *provider, struct arena *arena, bool stale)
{
    const struct key_set *keys;
    expect_ok(provider_keys(provider, arena, stale, &keys));
    return keys;
}

/* Who waits for the maker of the key too long is told that the provider is away, and asks again, as a client does. */
static struct error *keys_in_the_end(struct provider *provider, struct arena *arena, const struct key_set **keys_out)
{
    int64_t deadline = clock_monotonic() + INT64_C(120) * 1000000;
    struct error *error;
    do
        error = provider_keys(provider, arena, false, keys_out);
    while (error != NULL && error->code == ERROR_IDENTITY_UNAVAILABLE && clock_monotonic() < deadline);
    return error;
}

static int first_start_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    (void)context;
    struct provider *provider = given_provider(arena, database);
    const struct key_set *keys;
    if (keys_in_the_end(provider, arena, &keys) != NULL)
        return 90;
    int count = (int)key_set_count(keys);
    provider_free(&provider);
    return count;
}

static void the_first_start_makes_one_key_for_all(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    for (unsigned round = 0; round < 3; round++) {
        support_database_clear();
        int results[RACERS_MAX];
        race(6, first_start_racer, NULL, results);
        assert_int_equal(race_count(results, 6, 1), 6);
        assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM identity_signing_key"), 1);
    }
    database_free(&database);
}

/*
 * A check of the service may wait for 10 ms here, and to make a key takes several times as long. Where the time did not
 * suffice to begin, it is doubled; where the key was made within it, it is halved. The next check finds the key.
 */
static void a_key_is_kept_when_its_maker_has_no_time_left(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    int64_t patience = 10000;
    bool late = false;
    int64_t count = 0;
    for (int round = 0; round < 30 && !(late && count == 1); round++) {
        const struct key_set *keys;
        sql(database, arena, "DELETE FROM identity_signing_key");
        struct provider *provider = given_provider(arena, database);
        const int64_t begun = clock_monotonic();
        clock_set_horizon(begun + patience);
        (void)provider_keys(provider, arena, false, &keys);
        clock_set_horizon(0);
        late = clock_monotonic() > begun + 3 * patience;
        count = sql_integer(database, arena, "SELECT COUNT(*) FROM identity_signing_key");
        patience = count == 0 ? patience * 2 : patience / 2;
        assert_int_equal(key_set_count(keys_of(provider, arena, false)), 1);
        provider_free(&provider);
    }
    assert_true(late);
    assert_int_equal(count, 1);
    database_free(&database);
}

static void one_worker_opens_what_another_signed(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *one = support_database_new();
    struct database *other = support_database_new();
    struct provider *signer = given_provider(arena, one);
    struct provider *verifier = given_provider(arena, other);
    const char *subject = given_account(signer, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(signer, arena, subject, PERMANENT);
    struct token_claims claims;
    assert_int_equal(verify_token(verifier, arena, tokens.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);
    assert_string_equal(id_text(arena, claims.subject), subject);
    provider_free(&signer);
    provider_free(&verifier);
    database_free(&one);
    database_free(&other);
}

static void the_private_half_is_sealed(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    (void)keys_of(provider, arena, false);
    assert_int_equal(sql_integer(database, arena,
                                 "SELECT COUNT(*) FROM identity_signing_key WHERE"
                                 " LOCATE('PRIVATE', private_key_sealed) > 0 OR public_key NOT LIKE '%%PUBLIC KEY%%'"),
                     0);
    provider_free(&provider);

    struct embedded_options options = options_for(database);
    options.master = secret_of("another-secret-another-secret-!!");
    expect_ok(embedded_new(arena, &options, &provider));
    const struct key_set *keys;
    expect_error(provider_keys(provider, arena, false, &keys), ERROR_INTERNAL);
    provider_free(&provider);

    /* The private half of one row does not open in the place of another. */
    provider = given_provider(arena, database);
    sql(database, arena, "UPDATE identity_signing_key SET kid = CONCAT('x', kid)");
    expect_error(provider_keys(provider, arena, false, &keys), ERROR_INTERNAL);
    sql(database, arena, "DELETE FROM identity_signing_key");
    assert_int_equal(key_set_count(keys_of(provider, arena, false)), 1);
    provider_free(&provider);
    database_free(&database);
}

static void after_a_rotation_old_and_new_tokens_are_valid(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *one = support_database_new();
    struct database *other = support_database_new();
    support_database_clear();
    struct provider *signer = given_provider(arena, one);
    struct provider *verifier = given_provider(arena, other);
    const char *subject = given_account(signer, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens before = signed_in(signer, arena, subject, PERMANENT);
    struct token_claims claims;
    assert_int_equal(verify_token(verifier, arena, before.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);
    const struct key_set *first = keys_of(verifier, arena, false);
    uint64_t generation = key_set_generation(first);

    expect_ok(embedded_signing_keys_rotate(signer, arena));
    struct provider_tokens after = signed_in(signer, arena, subject, PERMANENT);
    assert_int_equal(verify_token(signer, arena, before.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);
    assert_int_equal(verify_token(signer, arena, after.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);

    /* Another worker knows the new key only after a token of an unknown key. */
    assert_int_equal(verify_token(verifier, arena, after.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_INVALID);
    assert_ptr_equal(keys_of(verifier, arena, false), first);
    const struct key_set *second = keys_of(verifier, arena, true);
    assert_int_equal(key_set_count(second), 2);
    assert_true(key_set_generation(second) != generation);
    assert_int_equal(verify_token(verifier, arena, after.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);
    assert_int_equal(verify_token(verifier, arena, before.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);

    /* The retired key is deleted when no token that it signed can be valid any more. */
    sql(one, arena,
        "UPDATE identity_signing_key SET retired_at = UTC_TIMESTAMP(3) - INTERVAL 1230 SECOND WHERE retired_at IS NOT "
        "NULL");
    provider_forget(verifier);
    assert_int_equal(key_set_count(keys_of(verifier, arena, false)), 2);
    sql(one, arena, "UPDATE identity_signing_key SET retired_at = retired_at - INTERVAL 31 SECOND");
    provider_forget(verifier);
    assert_int_equal(key_set_count(keys_of(verifier, arena, false)), 1);
    assert_int_equal(verify_token(verifier, arena, before.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_INVALID);
    assert_int_equal(verify_token(verifier, arena, after.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);
    expect_ok(provider_tidy(signer, arena));
    assert_int_equal(sql_integer(one, arena, "SELECT COUNT(*) FROM identity_signing_key"), 2);
    sql(one, arena, "UPDATE identity_signing_key SET retired_at = retired_at - INTERVAL 1 DAY");
    expect_ok(provider_tidy(signer, arena));
    assert_int_equal(sql_integer(one, arena, "SELECT COUNT(*) FROM identity_signing_key"), 1);
    provider_free(&signer);
    provider_free(&verifier);
    database_free(&one);
    database_free(&other);
}

static void no_rotation_pushes_out_a_key_whose_tokens_are_valid(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
    struct token_claims claims;
    sql(database, arena,
        "INSERT INTO identity_signing_key (kid, private_key_sealed, public_key, retired_at)"
        " SELECT CONCAT('k', seq), private_key_sealed, public_key, UTC_TIMESTAMP(3) FROM identity_signing_key, "
        "seq_1_to_14");
    expect_ok(embedded_signing_keys_rotate(provider, arena));
    assert_int_equal(key_set_count(keys_of(provider, arena, false)), KEY_SET_KEYS);
    struct error *error = embedded_signing_keys_rotate(provider, arena);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "rotate again then"));
    assert_int_equal(verify_token(provider, arena, tokens.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);

    sql(database, arena, "UPDATE identity_signing_key SET retired_at = retired_at - INTERVAL 1 DAY WHERE kid = 'k1'");
    expect_ok(embedded_signing_keys_rotate(provider, arena));
    assert_int_equal(verify_token(provider, arena, tokens.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);
    provider_free(&provider);
    database_free(&database);
}

static void a_flood_of_tokens_of_unknown_keys_reads_the_keys_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    static const char asked[] = "SELECT variable_value FROM information_schema.session_status"
                                " WHERE variable_name = 'COM_STMT_EXECUTE'";
    const struct key_set *keys = keys_of(provider, arena, false);
    assert_ptr_equal(keys_of(provider, arena, true), keys);
    int64_t idle = sql_integer(database, arena, asked);
    idle = sql_integer(database, arena, asked) - idle;
    int64_t before = sql_integer(database, arena, asked);
    for (unsigned i = 0; i < 1000; i++)
        assert_ptr_equal(keys_of(provider, arena, true), keys);
    assert_int_equal(sql_integer(database, arena, asked) - before, idle);
    provider_free(&provider);
    database_free(&database);
}

static void without_the_database_the_keys_in_memory_stay_in_use(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens tokens = signed_in(provider, arena, subject, PERMANENT);
    const struct key_set *keys = keys_of(provider, arena, false);
    struct token_claims claims;
    struct provider *late = given_provider(arena, database);
    const struct key_set *none;
    support_database_kill();
    log_set_level(LOG_LEVEL_FATAL);
    assert_ptr_equal(keys_of(provider, arena, true), keys);
    assert_int_equal(verify_token(provider, arena, tokens.access_token, TOKEN_USE_ACCESS, &claims), TOKEN_GOOD);
    /* A process that has read no keys gets an error. */
    expect_error(provider_keys(late, arena, false, &none), ERROR_DATABASE_UNAVAILABLE);
    struct provider_login login = {.subject = subject, .password = secret_of(PERMANENT)};
    struct provider_challenge challenge;
    enum provider_outcome outcome;
    expect_error(provider_login(provider, arena, &login, &tokens, &challenge, &outcome), ERROR_DATABASE_UNAVAILABLE);
    log_set_level(LOG_LEVEL_INFO);
    support_database_restart(NULL);
    assert_int_equal(key_set_count(keys_of(late, arena, false)), key_set_count(keys));
    (void)signed_in(late, arena, subject, PERMANENT);
    provider_free(&late);
    provider_free(&provider);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_first_start_makes_one_key_for_all),
    HARNESS_TEST(a_key_is_kept_when_its_maker_has_no_time_left),
    HARNESS_TEST(one_worker_opens_what_another_signed),
    HARNESS_TEST(the_private_half_is_sealed),
    HARNESS_TEST(after_a_rotation_old_and_new_tokens_are_valid),
    HARNESS_TEST(no_rotation_pushes_out_a_key_whose_tokens_are_valid),
    HARNESS_TEST(a_flood_of_tokens_of_unknown_keys_reads_the_keys_once),
    HARNESS_TEST(without_the_database_the_keys_in_memory_stay_in_use),
};
HARNESS_MODULE(embedded_signing_keys, cases)
