/* SPDX-License-Identifier: MIT */
/*
 * Changes of a password whose answer is lost: no old session lives on, and afterwards the provider is asked which
 * password counts.
 */
#include "harness.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/support.h"
#include "identity/remote/password_intent_int.h"
#include "identity/support_remote.h"

typedef struct scene *(*scene_maker)(void **state);
static const scene_maker makers[] = {cognito_scene_new, keycloak_scripted};

/* Makes so much time pass. */
static void pass_by(struct scene *scene, const char *time)
{
    sql(scene->database, scene->arena,
        "UPDATE outside_intent SET asked_at = asked_at - INTERVAL %s, due_at = due_at - INTERVAL %s", time, time);
}

static void pass(struct scene *scene)
{
    pass_by(scene, "1 MINUTE");
}

static size_t unreconciled(struct scene *scene)
{
    struct id *users;
    size_t count;
    expect_ok(provider_unreconciled(scene->provider, scene->arena, 10, &users, &count));
    return count;
}

static enum provider_reconciliation reconcile(struct scene *scene, const struct person *person)
{
    enum provider_reconciliation reconciliation;
    pass(scene);
    expect_ok(provider_reconcile(scene->provider, scene->arena, person->id, &reconciliation));
    assert_int_equal(unreconciled(scene), 0);
    return reconciliation;
}

/* Sets a password; the answer never comes. */
static void set_in_vain(struct scene *scene, const struct person *person, bool temporary, const char *fault)
{
    enum provider_outcome outcome;
    scene_fault(scene, scene->calls->set_password, fault);
    struct error *error =
        provider_set_password(scene->provider, scene->arena, person->subject, secret_of(OTHER), temporary, &outcome);
    assert_non_null(error);
    assert_int_equal(error->code, ERROR_IDENTITY_UNAVAILABLE);
}

static void a_lost_answer_ends_sessions_and_is_reconciled(void **state)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        struct scene *scene = makers[i](state);
        struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
        struct provider_tokens tokens;
        assert_int_equal(scene_login(scene, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
        set_in_vain(scene, &member, false, "lost");
        assert_false(scene_opens(scene, &member, tokens.access_token));
        assert_int_equal(unreconciled(scene), 0);
        pass(scene);
        assert_int_equal(unreconciled(scene), 1);
        assert_int_equal(reconcile(scene, &member), PROVIDER_PASSWORD_CHANGED);
        assert_int_equal(scene_login(scene, &member, OTHER, false, NULL, NULL), PROVIDER_OK);
        scene_end(scene);
    }
}

static void a_temporary_password_is_reconciled_as_temporary(void **state)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        struct scene *scene = makers[i](state);
        struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
        set_in_vain(scene, &member, true, "lost");
        assert_int_equal(reconcile(scene, &member), PROVIDER_PASSWORD_CHANGED_TO_TEMPORARY);
        assert_int_equal(sql_integer(scene->database, scene->arena,
                                     "SELECT temporary_until IS NOT NULL FROM outside_account WHERE user_id = %s",
                                     sql_id(scene->arena, member.id)),
                         1);
        scene_end(scene);
    }
}

static void a_change_that_was_not_carried_out_is_reconciled_too(void **state)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        struct scene *scene = makers[i](state);
        struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
        set_in_vain(scene, &member, false, "status-500");
        assert_int_equal(reconcile(scene, &member), PROVIDER_PASSWORD_UNCHANGED);
        assert_int_equal(scene_login(scene, &member, PERMANENT, false, NULL, NULL), PROVIDER_OK);
        scene_end(scene);
    }
}

/* A refusal is an answer: no session ends, and no intent stays. */
static void a_refusal_leaves_sessions_and_no_intent(void **state)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        struct scene *scene = makers[i](state);
        struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
        struct provider_tokens tokens;
        enum provider_outcome outcome;
        assert_int_equal(scene_login(scene, &member, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
        expect_ok(
            provider_set_password(scene->provider, scene->arena, member.subject, secret_of("short"), false, &outcome));
        assert_int_equal(outcome, PROVIDER_PASSWORD_REFUSED);
        assert_true(scene_opens(scene, &member, tokens.access_token));
        pass(scene);
        assert_int_equal(unreconciled(scene), 0);
        scene_end(scene);
    }
}

/*
 * The process died between the call and its answer: only the intent is left. The session that was to go on does go on.
 */
static void a_crash_leaves_the_intent(void **state)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        struct scene *scene = makers[i](state);
        struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
        struct provider_tokens here, there;
        assert_int_equal(scene_login(scene, &member, PERMANENT, false, &here, NULL), PROVIDER_OK);
        assert_int_equal(scene_login(scene, &member, PERMANENT, false, &there, NULL), PROVIDER_OK);
        struct remote_intent intent = {
            .user = member.id, .password = secret_of(PERMANENT), .kept_session = here.session_id};
        expect_ok(remote_intent_write(remote_of(scene->provider), scene->arena, &intent));
        pass(scene);
        assert_int_equal(reconcile(scene, &member), PROVIDER_PASSWORD_CHANGED_BY_OWNER);
        assert_true(scene_opens(scene, &member, here.access_token));
        assert_false(scene_opens(scene, &member, there.access_token));
        scene_end(scene);
    }
}

static void a_provider_that_is_down_is_asked_again(void **state)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        struct scene *scene = makers[i](state);
        struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
        enum provider_reconciliation reconciliation;
        set_in_vain(scene, &member, false, "lost");
        pass(scene);
        for (int attempt = 0; attempt < 3; attempt++) {
            scene_fault(scene, scene->calls->login, "status-500");
            assert_non_null(provider_reconcile(scene->provider, scene->arena, member.id, &reconciliation));
            assert_int_equal(unreconciled(scene), 0);
            pass_by(scene, "3 MINUTE");
            assert_int_equal(unreconciled(scene), 1);
        }
        assert_int_equal(reconcile(scene, &member), PROVIDER_PASSWORD_CHANGED);
        scene_end(scene);
    }
}

/* Each attempt waits twice as long as the one before, up to an hour. */
static void the_provider_is_asked_ever_less_often(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    static const int seconds[] = {20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600};
    set_in_vain(scene, &member, false, "lost");
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        enum provider_reconciliation reconciliation;
        sql(scene->database, scene->arena, "UPDATE outside_intent SET due_at = UTC_TIMESTAMP(3)");
        scene_forget_failures(scene);
        scene_fault(scene, scene->calls->login, "status-500");
        assert_non_null(provider_reconcile(scene->provider, scene->arena, member.id, &reconciliation));
        assert_in_range(sql_integer(scene->database, scene->arena,
                                    "SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(3), due_at) FROM outside_intent"),
                        seconds[i] / 2, seconds[i]);
    }
    pass_by(scene, "2 HOUR");
    assert_int_equal(reconcile(scene, &member), PROVIDER_PASSWORD_CHANGED);
    scene_end(scene);
}

static void after_a_week_an_intent_is_given_up(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    enum provider_reconciliation reconciliation;
    set_in_vain(scene, &member, false, "lost");
    pass_by(scene, "8 DAY");
    assert_int_equal(unreconciled(scene), 1);
    scene_fault(scene, scene->calls->login, "status-500");
    assert_non_null(provider_reconcile(scene->provider, scene->arena, member.id, &reconciliation));
    assert_int_equal(reconciliation, PROVIDER_PASSWORD_UNCHANGED);
    pass_by(scene, "1 DAY");
    assert_int_equal(unreconciled(scene), 0);
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM outside_intent"), 0);
    scene_end(scene);
}

/* Only errors are given up after a week: an answer counts however late it is. */
static void an_intent_of_any_age_is_reconciled_by_an_answer(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    set_in_vain(scene, &member, false, "lost");
    pass_by(scene, "30 DAY");
    assert_int_equal(reconcile(scene, &member), PROVIDER_PASSWORD_CHANGED);
    scene_end(scene);
}

/* Two changes without an answer: each is asked about, whichever was carried out. */
static void of_several_lost_answers_each_is_reconciled(void **state)
{
    static const char *const faults[][2] = {{"lost", "status-500"}, {"status-500", "lost"}};
    for (size_t i = 0; i < 2 * sizeof makers / sizeof *makers; i++) {
        struct scene *scene = makers[i / 2](state);
        struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
        enum provider_reconciliation first, second;
        set_in_vain(scene, &member, true, faults[i % 2][0]);
        enum provider_outcome outcome;
        scene_fault(scene, scene->calls->set_password, faults[i % 2][1]);
        expect_error(provider_set_password(scene->provider, scene->arena, member.subject,
                                           secret_of("a-third-password-3"), false, &outcome),
                     ERROR_IDENTITY_UNAVAILABLE);
        pass(scene);
        assert_int_equal(unreconciled(scene), 2);
        expect_ok(provider_reconcile(scene->provider, scene->arena, member.id, &first));
        expect_ok(provider_reconcile(scene->provider, scene->arena, member.id, &second));
        assert_int_equal(first, i % 2 == 0 ? PROVIDER_PASSWORD_CHANGED_TO_TEMPORARY : PROVIDER_PASSWORD_UNCHANGED);
        assert_int_equal(second, i % 2 == 0 ? PROVIDER_PASSWORD_UNCHANGED : PROVIDER_PASSWORD_CHANGED);
        assert_int_equal(unreconciled(scene), 0);
        expect_ok(provider_reconcile(scene->provider, scene->arena, member.id, &first));
        assert_int_equal(first, PROVIDER_PASSWORD_UNCHANGED);
        scene_end(scene);
    }
}

/* Of two changes at once, one that was answered and one that lost its process. */
static void an_answer_deletes_its_own_intent_alone(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person member = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct remote *remote = remote_of(scene->provider);
    struct remote_intent first = {.user = member.id, .password = secret_of(OTHER)};
    struct remote_intent second = first;
    expect_ok(remote_intent_write(remote, scene->arena, &first));
    expect_ok(remote_intent_write(remote, scene->arena, &second));
    pass(scene);
    assert_int_equal(unreconciled(scene), 2);
    expect_ok(remote_intent_apply(remote, scene->arena, &first));
    assert_int_equal(unreconciled(scene), 1);
    expect_ok(remote_intent_resolve(remote, scene->arena, &second, NULL, PROVIDER_PASSWORD_REFUSED));
    assert_int_equal(unreconciled(scene), 0);
    scene_end(scene);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_lost_answer_ends_sessions_and_is_reconciled),
    HARNESS_TEST(a_temporary_password_is_reconciled_as_temporary),
    HARNESS_TEST(a_change_that_was_not_carried_out_is_reconciled_too),
    HARNESS_TEST(a_refusal_leaves_sessions_and_no_intent),
    HARNESS_TEST(a_crash_leaves_the_intent),
    HARNESS_TEST(a_provider_that_is_down_is_asked_again),
    HARNESS_TEST(the_provider_is_asked_ever_less_often),
    HARNESS_TEST(after_a_week_an_intent_is_given_up),
    HARNESS_TEST(an_intent_of_any_age_is_reconciled_by_an_answer),
    HARNESS_TEST(of_several_lost_answers_each_is_reconciled),
    HARNESS_TEST(an_answer_deletes_its_own_intent_alone),
};
HARNESS_MODULE(remote_password_intent, cases)
