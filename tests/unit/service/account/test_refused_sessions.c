/* SPDX-License-Identifier: MIT */
/* Signing in and out, and sessions that others end: each statement on the way is refused once. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/permission/principal.h"
#include "domain/session/known_device.h"
#include "domain/session/session.h"
#include "domain/session/session_list.h"
#include "service/account/session_admin.h"
#include "service/support_refused.h"

#define SERVICE(stage) (&(stage)->scene->service)
#define WRITE "cus:user:w"

static const char *person(struct stage *stage)
{
    return sql_id(stage->scene->arena, stage->person.id);
}

static int64_t open_sessions(struct stage *stage)
{
    return stage_rows(stage, "session WHERE user_id = %s AND ended_at IS NULL", person(stage));
}

static bool is_open(struct stage *stage, struct id session)
{
    return stage_rows(stage, "session WHERE id = %s AND ended_at IS NULL", sql_id(stage->scene->arena, session)) == 1;
}

/* ---- signing in ----------------------------------------------------------------------------------- */

/* Tokens are told only when everything is done that a sign-in brings. */
static struct error *sign_in(struct stage *stage, struct arena *arena, const char *password, const char *new_password,
                             const char *mark)
{
    struct provider_tokens tokens;
    struct user *user = NULL;
    const char *given = NULL;
    struct sign_in_request login = {
        .username = stage->person.email, .password = secret_of(password), .session = "cookie", .device_mark = mark};
    if (new_password != NULL)
        login.new_password = secret_of(new_password);
    TRY(sign_in_with_password(SERVICE(stage), arena, &stage->scene->stranger, &login, &tokens, &user, &given));
    assert_int_equal(user->status, USER_ACTIVE);
    assert_int_equal(given != NULL && strlen(given) == KNOWN_DEVICE_MARK_BYTES, mark != NULL);
    stage->text = given == NULL ? NULL : arena_text(stage->scene->arena, given);
    stage->session = tokens.session_id;
    stage->before--;
    return NULL;
}

static struct error *sign_in_on_new_device(struct stage *stage, struct arena *arena)
{
    return sign_in(stage, arena, CHOSEN, NULL, "");
}

static void prepare_device(struct stage *stage)
{
    stage_person(stage);
    expect_ok(sign_in_on_new_device(stage, stage->scene->arena));
}

static struct error *sign_in_on_device(struct stage *stage, struct arena *arena)
{
    return sign_in(stage, arena, CHOSEN, NULL, stage->text);
}

static void prepare_invited(struct stage *stage)
{
    expect_ok(make_customer(stage->scene, stage->staff, stage_address(stage), &stage->person));
    stage->text = mailed(stage->scene, stage->person.id, "temporaryPassword");
}

/* A failure may come after the new password was set: then that one is the password. */
static struct error *sign_in_first(struct stage *stage, struct arena *arena)
{
    struct error *error = sign_in(stage, arena, stage->text, CHOSEN, NULL);
    return error != NULL && error->code == ERROR_CREDENTIALS ? sign_in(stage, arena, CHOSEN, NULL, NULL) : error;
}

/* Tokens that were given are of a session that is open. */
static int64_t count_given(struct stage *stage)
{
    if (stage->before < 0)
        assert_true(is_open(stage, stage->session));
    return 0;
}

static int64_t count_none(struct stage *stage)
{
    (void)stage;
    return 0;
}

/* More sessions than a person may have: the one that was unused for longest goes. */
static void prepare_surplus(struct stage *stage)
{
    stage->scene->configuration.limits.sessions_per_user = 2;
    stage_person(stage);
    stage->session = stage->caller->principal->session_id;
    sql(stage->scene->database, stage->scene->arena,
        "UPDATE session SET created_at = created_at - INTERVAL 1 HOUR, last_used_at = created_at - INTERVAL 1 HOUR"
        " WHERE id = %s",
        sql_id(stage->scene->arena, stage->session));
    (void)scene_caller(stage->scene, stage->person.email, CHOSEN);
    stage->caller = scene_caller(stage->scene, stage->person.email, CHOSEN);
    sql(stage->scene->database, stage->scene->arena, "UPDATE session SET ended_at = NULL WHERE id = %s",
        sql_id(stage->scene->arena, stage->session));
}

static struct error *begin_beyond(struct stage *stage, struct arena *arena)
{
    return session_admin_begin(SERVICE(stage), arena, stage->caller, &stage->person,
                               stage->caller->principal->session_id, false);
}

static int64_t count_within(struct stage *stage)
{
    stage->scene->configuration.limits.sessions_per_user = 2;
    return -open_sessions(stage);
}

/* ---- tokens that are renewed ---------------------------------------------------------------------- */

static void prepare_refresh(struct stage *stage)
{
    struct provider_tokens tokens;
    stage_person(stage);
    expect_ok(scene_login(stage->scene, stage->person.email, CHOSEN, NULL, &tokens));
    stage->text = tokens.refresh_token;
    stage->session = tokens.session_id;
}

static struct error *refresh(struct stage *stage, struct arena *arena)
{
    struct provider_tokens tokens;
    TRY(sign_in_refresh(SERVICE(stage), arena, &stage->scene->stranger, stage->text, false, &tokens));
    assert_string_not_equal(tokens.refresh_token, stage->text);
    stage->before--;
    return NULL;
}

static void a_sign_in_gives_tokens_or_can_be_made_again(void **state)
{
    static const struct flow flows[] = {
        FLOW("signing in on a new device", stage_person, sign_in_on_new_device, count_given, .apart = true),
        FLOW("signing in on a known device", prepare_device, sign_in_on_device, count_given, .apart = true),
        FLOW("signing in for the first time", prepare_invited, sign_in_first, count_given, .apart = true),
        FLOW("renewing tokens", prepare_refresh, refresh, count_given, .apart = true),
        FLOW("one session too many", prepare_surplus, begin_beyond, count_within, .apart = true),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- ends ----------------------------------------------------------------------------------------- */

/* Two sessions: that of the caller, and another. */
static void prepare_two(struct stage *stage)
{
    struct provider_tokens tokens;
    stage->scene->configuration.limits.sessions_per_user = 1000;
    stage_person(stage);
    expect_ok(scene_login(stage->scene, stage->person.email, CHOSEN, NULL, &tokens));
    stage->session = tokens.session_id;
    assert_int_equal(open_sessions(stage), 2);
}

static struct error *end_other(struct stage *stage, struct arena *arena)
{
    return session_admin_end(SERVICE(stage), arena, stage->caller, stage->session);
}

static struct error *end_others(struct stage *stage, struct arena *arena)
{
    return session_admin_end_others(SERVICE(stage), arena, stage->caller);
}

static struct error *end_of_member(struct stage *stage, struct arena *arena)
{
    return session_admin_end_of(SERVICE(stage), arena, stage->owner, WRITE, stage->person.id, stage->session);
}

static struct error *end_all_of_member(struct stage *stage, struct arena *arena)
{
    return session_admin_end_of(SERVICE(stage), arena, stage->owner, WRITE, stage->person.id, (struct id){{0}});
}

static struct error *log_out(struct stage *stage, struct arena *arena)
{
    return sign_in_log_out(SERVICE(stage), arena, stage->caller, false);
}

static struct error *log_out_everywhere(struct stage *stage, struct arena *arena)
{
    return sign_in_log_out(SERVICE(stage), arena, stage->caller, true);
}

/* The trail tells of each session that an administrator or its owner has ended, and of no other. */
static int64_t count_ended(struct stage *stage)
{
    int64_t ended = stage_rows(stage, "session WHERE user_id = %s AND ended_at IS NOT NULL", person(stage));
    int64_t told = stage_rows(stage, "audit WHERE action = 'session.end' AND details LIKE '%%%s%%'",
                              id_text(stage->scene->arena, stage->person.id));
    assert_int_equal(told, ended);
    return ended;
}

static int64_t count_over(struct stage *stage)
{
    return stage_rows(stage, "session WHERE user_id = %s AND ended_at IS NOT NULL", person(stage));
}

static struct error *list_own(struct stage *stage, struct arena *arena)
{
    struct session_list list;
    TRY(session_admin_list(SERVICE(stage), arena, stage->caller, &list));
    assert_int_equal(list.count, 2);
    stage->before--;
    return NULL;
}

static struct error *list_of_member(struct stage *stage, struct arena *arena)
{
    struct session_list list;
    TRY(session_admin_list_of(SERVICE(stage), arena, stage->staff, "cus:user:a", stage->person.id, &list));
    assert_int_equal(list.count, 2);
    stage->before--;
    return NULL;
}

static void a_session_ends_with_its_row_of_the_trail_or_goes_on(void **state)
{
    static const struct flow flows[] = {
        FLOW("ending another session", prepare_two, end_other, count_ended),
        FLOW("ending all others", prepare_two, end_others, count_ended),
        FLOW("ending one of a member", prepare_two, end_of_member, count_ended),
        FLOW("ending all of a member", prepare_two, end_all_of_member, count_ended),
        FLOW("signing out", prepare_two, log_out, count_over, .apart = true),
        FLOW("signing out everywhere", prepare_two, log_out_everywhere, count_over, .apart = true),
        FLOW("a list of sessions", prepare_two, list_own, count_none),
        FLOW("a list of a member's sessions", prepare_two, list_of_member, count_none),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_sign_in_gives_tokens_or_can_be_made_again),
    HARNESS_TEST(a_session_ends_with_its_row_of_the_trail_or_goes_on),
};
HARNESS_MODULE(refused_sessions, cases)
