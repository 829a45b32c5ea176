/* SPDX-License-Identifier: MIT */
/*
 * Tests that what the database refuses half-way is undone. The provider works as a database user who lacks one right on
 * one table, each in turn. It gives either a whole answer, or an error after which nothing has changed.
 */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/support.h"
#include "identity/embedded/provider.h"
#include "identity/support.h"
#include "support_database.h"

static const char *const tables[] = {"identity_account", "identity_refresh", "session", "known_device"};
static const char *const rights[] = {"SELECT", "INSERT", "UPDATE", "DELETE"};

/* A database user who may do everything with the tables but `right` on `table`. */
static struct database *given_narrow(struct database *database, struct arena *arena, const char *table,
                                     const char *right)
{
    sql(database, arena, "CREATE OR REPLACE USER narrow@localhost");
    sql(database, arena, "GRANT SELECT ON gatehouse.identity_signing_key TO narrow@localhost");
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t r = 0; r < sizeof rights / sizeof *rights; r++)
            if (strcmp(tables[t], table) != 0 || strcmp(rights[r], right) != 0)
                sql(database, arena, "GRANT %s ON gatehouse.%s TO narrow@localhost", rights[r], tables[t]);
    struct database_options options = support_database_options();
    options.user = "narrow";
    return database_new(&options);
}

/* Everything that the tables say of the account. */
static const char *picture(struct database *database, struct arena *arena, const char *subject)
{
    const char *id = sql_subject(arena, subject);
    return sql_text(database, arena,
                    "SELECT CONCAT_WS(' ', (SELECT CONCAT_WS(',', a.password_hash, a.password_version,"
                    " a.password_temporary, a.status, a.enabled, a.email_verified) FROM identity_account a WHERE"
                    " a.id = %s), (SELECT GROUP_CONCAT(HEX(s.id), s.ended_at IS NULL ORDER BY s.id) FROM session s"
                    " WHERE s.user_id = %s), (SELECT GROUP_CONCAT(HEX(r.token_hash), r.spent_at IS NULL ORDER BY"
                    " r.token_hash) FROM identity_refresh r JOIN session s ON s.id = r.session_id WHERE"
                    " s.user_id = %s), (SELECT COUNT(*) FROM known_device k WHERE k.user_id = %s))",
                    id, id, id, id);
}

/* An account with two sessions, and an invited one. */
struct scene {
    const char *subject;
    const char *invited;
    struct provider_tokens tokens;
    struct provider_challenge challenge;
};

enum verb { LOGIN, ANSWER, REFRESH, LOGOUT, LOGOUT_ALL, CHANGE, SET, DISABLE, REMOVE, VERBS };

static struct scene given_scene(struct provider *provider, struct arena *arena)
{
    struct scene scene = {.subject = given_account(provider, arena, PROVIDER_CONFIRMED_ALREADY),
                          .invited = given_account(provider, arena, PROVIDER_INVITED)};
    (void)signed_in(provider, arena, scene.subject, PERMANENT);
    scene.tokens = signed_in(provider, arena, scene.subject, PERMANENT);
    assert_int_equal(log_in(provider, arena, scene.invited, TEMPORARY, NULL, &scene.challenge),
                     PROVIDER_NEW_PASSWORD_REQUIRED);
    return scene;
}

static struct error *perform(enum verb verb, struct provider *provider, struct arena *arena, const struct scene *scene,
                             enum provider_outcome *outcome_out)
{
    struct provider_login login = {.subject = scene->subject, .password = secret_of(PERMANENT)};
    struct provider_tokens tokens;
    struct provider_challenge challenge;
    struct secret new_password = secret_of("new-password-1");
    *outcome_out = PROVIDER_OK;
    switch (verb) {
    case LOGIN:
        return provider_login(provider, arena, &login, &tokens, &challenge, outcome_out);
    case ANSWER:
        return provider_answer_new_password(provider, arena, &scene->challenge, new_password, &tokens, outcome_out);
    case REFRESH:
        return provider_refresh(provider, arena, scene->tokens.refresh_token, &tokens, outcome_out);
    case LOGOUT:
        return provider_logout(provider, arena, scene->subject, scene->tokens.session_id);
    case LOGOUT_ALL:
        return provider_logout_all(provider, arena, scene->subject);
    case CHANGE:
        return provider_change_password(provider, arena, scene->subject, scene->tokens.session_id, secret_of(PERMANENT),
                                        new_password, outcome_out);
    case SET:
        return provider_set_password(provider, arena, scene->subject, new_password, true, outcome_out);
    case DISABLE:
        return provider_set_enabled(provider, arena, scene->subject, false, outcome_out);
    case REMOVE:
    case VERBS:
        break;
    }
    struct id user;
    assert_true(id_parse(scene->subject, &user));
    return provider_remove(provider, arena, user, NULL);
}

static void what_is_refused_half_way_is_undone(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct provider *whole = given_provider(arena, database);
    unsigned refused[VERBS] = {0};
    unsigned done[VERBS] = {0};
    log_set_level(LOG_LEVEL_FATAL);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (size_t r = 0; r < sizeof rights / sizeof *rights; r++) {
            struct database *narrow = given_narrow(database, arena, tables[t], rights[r]);
            struct provider *provider = given_provider(arena, narrow);
            for (int verb = 0; verb < VERBS; verb++) {
                struct scene scene = given_scene(whole, arena);
                const char *subject = verb == ANSWER ? scene.invited : scene.subject;
                const char *before = picture(database, arena, subject);
                enum provider_outcome outcome;
                struct error *error = perform((enum verb)verb, provider, arena, &scene, &outcome);
                if (error == NULL) {
                    assert_int_equal(outcome, PROVIDER_OK);
                    assert_string_not_equal(picture(database, arena, subject), before);
                    done[verb]++;
                    continue;
                }
                assert_string_equal(error_code_text(error->code), "internal");
                const char *after = picture(database, arena, subject);
                if (strcmp(after, before) != 0)
                    fail_msg("verb %d without %s on %s left\n%s\nof\n%s", verb, rights[r], tables[t], after, before);
                refused[verb]++;
            }
            provider_free(&provider);
            database_free(&narrow);
        }
    }
    log_set_level(LOG_LEVEL_INFO);
    /* Each function met both: a right that it needs was missing, and a right that it does not need was missing. */
    for (int verb = 0; verb < VERBS; verb++) {
        if (refused[verb] < 2 || done[verb] < 1)
            fail_msg("verb %d was refused %u times and done %u times", verb, refused[verb], done[verb]);
    }
    sql(database, arena, "DROP USER narrow@localhost");
    provider_free(&whole);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_is_refused_half_way_is_undone),
};
HARNESS_MODULE(embedded_refusal, cases)
