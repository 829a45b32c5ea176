/* SPDX-License-Identifier: MIT */
/* Ends of sessions: a logout of one and of all, and tidying. */
#include "harness.h"

#include <signal.h>
#include <string.h>

#include "domain/support.h"
#include "identity/support.h"
#include "support_database.h"

static void logging_out_ends_one_session_or_all(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    const char *stranger = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens a = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens b = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens other = signed_in(provider, arena, stranger, PERMANENT);

    /* A session is ended by its owner only. */
    expect_ok(provider_logout(provider, arena, stranger, a.session_id));
    assert_true(session_stands(database, arena, &a));
    assert_int_equal(refresh(provider, arena, a.refresh_token, &a), PROVIDER_OK);
    expect_ok(provider_logout(provider, arena, subject, a.session_id));
    expect_ok(provider_logout(provider, arena, subject, a.session_id));
    assert_false(session_stands(database, arena, &a));
    assert_int_equal(refresh(provider, arena, a.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    assert_int_equal(refresh(provider, arena, b.refresh_token, &b), PROVIDER_OK);

    struct provider_tokens c = signed_in(provider, arena, subject, PERMANENT);
    expect_ok(provider_logout_all(provider, arena, subject));
    assert_false(session_stands(database, arena, &b));
    assert_false(session_stands(database, arena, &c));
    assert_int_equal(refresh(provider, arena, b.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    assert_int_equal(refresh(provider, arena, c.refresh_token, NULL), PROVIDER_TOKEN_INVALID);
    assert_true(session_stands(database, arena, &other));
    assert_int_equal(refresh(provider, arena, other.refresh_token, NULL), PROVIDER_OK);
    (void)signed_in(provider, arena, subject, PERMANENT);
    provider_free(&provider);
    database_free(&database);
}

/* ---- races --------------------------------------------------------------------------------------- */

/* Number 0 logs out everywhere in the middle of the others' refreshing. */
static int logout_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    const struct provider_tokens *tokens = context;
    struct provider *provider = given_provider(arena, database);
    const char *token = tokens[index].refresh_token;
    for (unsigned i = 0; i < 30; i++) {
        struct provider_tokens after;
        enum provider_outcome outcome;
        if (index == 0 && i == 10)
            return provider_logout_all(provider, arena, id_text(arena, tokens[0].user_id)) == NULL ? 0 : 92;
        if (provider_refresh(provider, arena, token, &after, &outcome) != NULL)
            return 90;
        if (outcome != PROVIDER_OK)
            return outcome == PROVIDER_TOKEN_INVALID ? 1 : 91;
        token = after.refresh_token;
    }
    return 2;
}

static void logging_out_everywhere_beats_refreshing(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *provider = given_provider(arena, database);
    for (unsigned round = 0; round < 5; round++) {
        const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
        struct provider_tokens tokens[4];
        for (unsigned i = 0; i < 4; i++)
            tokens[i] = signed_in(provider, arena, subject, PERMANENT);
        int results[RACERS_MAX];
        race(4, logout_racer, tokens, results);
        assert_int_equal(results[0], 0);
        for (unsigned i = 1; i < 4; i++)
            assert_true(results[i] == 1 || results[i] == 2);
        assert_int_equal(open_sessions(database, arena, subject), 0);
    }
    provider_free(&provider);
    database_free(&database);
}

static void tidying_removes_what_ran_out_only(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct provider *provider = given_provider(arena, database);
    const char *subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY);
    struct provider_tokens kept = signed_in(provider, arena, subject, PERMANENT);
    struct provider_tokens expired = signed_in(provider, arena, subject, PERMANENT);
    sql(database, arena, "UPDATE session SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE id = %s",
        sql_id(arena, expired.session_id));
    expect_ok(provider_tidy(provider, arena));
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM identity_refresh"), 1);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM identity_signing_key"), 1);
    assert_int_equal(refresh(provider, arena, kept.refresh_token, NULL), PROVIDER_OK);
    provider_free(&provider);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(logging_out_ends_one_session_or_all),
    HARNESS_TEST(logging_out_everywhere_beats_refreshing),
    HARNESS_TEST(tidying_removes_what_ran_out_only),
};
HARNESS_MODULE(embedded_session_end, cases)
