/* SPDX-License-Identifier: MIT */
/*
 * That a process which remembers a good session learns of each thing that is taken from it (sql/016-session-mark.sql).
 */
#include "harness.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/permission/principal.h"
#include "domain/session/session.h"
#include "domain/support.h"
#include "support_database.h"

/* A process that remembers, somebody at the prompt, and a user with two sessions. */
struct scene {
    struct arena *arena;
    struct database *database;
    struct database *prompt;
    struct user *user;
    struct id session;
    struct id other;
};

static struct scene given_scene(void **state)
{
    struct scene scene = {
        .arena = harness_arena(state), .database = support_database_new(), .prompt = support_database_new()};
    struct id organisation = given_organisation(scene.database, scene.arena);
    scene.user = given_user(scene.database, scene.arena, organisation, NULL, NULL);
    scene.session = given_session(scene.database, scene.arena, scene.user->id);
    scene.other = given_session(scene.database, scene.arena, scene.user->id);
    return scene;
}

static void end_scene(struct scene *scene)
{
    database_free(&scene->database);
    database_free(&scene->prompt);
}

static bool is_good(const struct scene *scene, struct id session)
{
    struct principal *principal;
    expect_ok(principal_load(scene->database, scene->arena, scene->user->id, session, &principal));
    return principal != NULL && principal->session_good;
}

/* How many statements the connection has asked for; asking is one, too. */
static int64_t asked(const struct scene *scene)
{
    return sql_integer(scene->database, scene->arena,
                       "SELECT VARIABLE_VALUE FROM information_schema.SESSION_STATUS"
                       " WHERE VARIABLE_NAME = 'HANDLER_READ_KEY'");
}

static void a_remembered_session_is_not_read_again(void **state)
{
    struct scene scene = given_scene(state);
    assert_true(is_good(&scene, scene.session));
    /* So that what is kept for some milliseconds only is not enough. */
    (void)usleep(200000);
    int64_t before = asked(&scene);
    int64_t idle = asked(&scene) - before;
    before = asked(&scene);
    assert_true(is_good(&scene, scene.session));
    /* The principal and the version; the session would be a third. */
    assert_int_equal(asked(&scene) - before - idle, 2);
    end_scene(&scene);
}

/* What is typed at the prompt of both good sessions; `id` and `user` stand for the session's and the user's. */
static const struct {
    const char *what;
    bool others; /* whether it is the end of the other session, too */
} endings[] = {
    {"UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE id = @id", false},
    {"UPDATE session SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE id = @id", false},
    {"UPDATE session SET expires_at = UTC_TIMESTAMP(3) WHERE id = @id", false},
    {"UPDATE session SET user_id = @id WHERE id = @id", false},
    {"UPDATE session SET id = @user WHERE id = @id", false},
    {"DELETE FROM session WHERE id = @id", false},
    {"REPLACE INTO session (id, user_id, expires_at, ended_at) VALUES (@id, @user, UTC_TIMESTAMP(3) + INTERVAL 1 DAY,"
     " UTC_TIMESTAMP(3))",
     false},
    {"INSERT INTO session (id, user_id, expires_at) VALUES (@id, @user, UTC_TIMESTAMP(3)) ON DUPLICATE KEY UPDATE"
     " ended_at = VALUES(expires_at)",
     false},
    {"UPDATE session s JOIN user u ON u.id = s.user_id SET s.ended_at = UTC_TIMESTAMP(3) WHERE s.id = @id", false},
    {"UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE user_id = @user", true},
    {"DELETE FROM session", true},
    {"DELETE FROM user WHERE id = @user", true},
};

static void what_is_taken_from_a_session_is_seen_at_once(void **state)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        struct scene scene = given_scene(state);
        sql(scene.prompt, scene.arena, "SET @id = %s, @user = %s", sql_id(scene.arena, scene.session),
            sql_id(scene.arena, scene.user->id));
        assert_true(is_good(&scene, scene.session));
        assert_true(is_good(&scene, scene.other));
        sql(scene.prompt, scene.arena, "%s", endings[i].what);
        assert_false(is_good(&scene, scene.session));
        assert_int_equal(is_good(&scene, scene.other), !endings[i].others);
        assert_false(is_good(&scene, scene.session));
        end_scene(&scene);
    }
}

static void the_service_s_own_endings_are_seen_by_other_processes(void **state)
{
    struct scene scene = given_scene(state);
    assert_true(is_good(&scene, scene.session));
    assert_true(is_good(&scene, scene.other));
    expect_ok(session_end(scene.prompt, scene.arena, scene.session, scene.user->id, NULL));
    assert_false(is_good(&scene, scene.session));
    assert_true(is_good(&scene, scene.other));
    scene.session = given_session(scene.database, scene.arena, scene.user->id);
    assert_true(is_good(&scene, scene.session));
    expect_ok(session_end_all(scene.prompt, scene.arena, scene.user->id, scene.session, NULL));
    assert_false(is_good(&scene, scene.other));
    assert_true(is_good(&scene, scene.session));
    expect_ok(session_end_everyones(scene.prompt, scene.arena));
    assert_false(is_good(&scene, scene.session));
    end_scene(&scene);
}

static void an_end_that_is_rolled_back_is_none(void **state)
{
    struct scene scene = given_scene(state);
    const char *id = sql_id(scene.arena, scene.session);
    assert_true(is_good(&scene, scene.session));
    sql(scene.prompt, scene.arena, "START TRANSACTION");
    sql(scene.prompt, scene.arena, "UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE id = %s", id);
    assert_true(is_good(&scene, scene.session));
    sql(scene.prompt, scene.arena, "ROLLBACK");
    assert_true(is_good(&scene, scene.session));
    end_scene(&scene);
}

/*
 * Whoever ends a session while its user's principal is away cannot renew the stamp; the principal that comes back has a
 * new one.
 */
static void a_principal_that_comes_back_has_another_stamp(void **state)
{
    struct scene scene = given_scene(state);
    const char *user = sql_id(scene.arena, scene.user->id);
    assert_true(is_good(&scene, scene.session));
    sql(scene.prompt, scene.arena, "DELETE FROM principal WHERE user_id = %s", user);
    sql(scene.prompt, scene.arena, "UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE id = %s",
        sql_id(scene.arena, scene.session));
    int64_t changed;
    expect_ok(principal_rebuild(scene.prompt, scene.arena, &changed));
    assert_int_equal(changed, 1);
    assert_false(is_good(&scene, scene.session));
    end_scene(&scene);
}

static struct error *make_and_load(struct database *database, struct arena *arena, void *context)
{
    struct scene *scene = context;
    scene->session = given_session(database, arena, scene->user->id);
    assert_true(is_good(scene, scene->session));
    return error_new(arena, ERROR_INTERNAL, "rolled back");
}

static void a_session_that_is_rolled_back_is_not_remembered(void **state)
{
    struct scene scene = given_scene(state);
    assert_non_null(database_transaction(scene.database, scene.arena, make_and_load, &scene, NULL));
    assert_false(is_good(&scene, scene.session));
    end_scene(&scene);
}

static void a_session_is_good_until_its_expiry_and_no_longer(void **state)
{
    struct scene scene = given_scene(state);
    const char *left = arena_format(scene.arena, "SELECT expires_at > UTC_TIMESTAMP(3) FROM session WHERE id = %s",
                                    sql_id(scene.arena, scene.session));
    sql(scene.prompt, scene.arena, "UPDATE session SET expires_at = UTC_TIMESTAMP(3) + INTERVAL 1 SECOND WHERE id = %s",
        sql_id(scene.arena, scene.session));
    (void)is_good(&scene, scene.session);
    while (sql_integer(scene.prompt, scene.arena, "%s", left) == 1)
        (void)usleep(10000);
    assert_false(is_good(&scene, scene.session));
    sql(scene.prompt, scene.arena, "UPDATE session SET expires_at = UTC_TIMESTAMP(3) + INTERVAL 1 DAY WHERE id = %s",
        sql_id(scene.arena, scene.session));
    assert_true(is_good(&scene, scene.session));
    end_scene(&scene);
}

static void a_remembered_session_is_its_own_user_s_only(void **state)
{
    struct scene scene = given_scene(state);
    struct principal *principal;
    struct user *other = given_user(scene.database, scene.arena, scene.user->organisation_id, "owner", NULL);
    assert_true(is_good(&scene, scene.session));
    expect_ok(principal_load(scene.database, scene.arena, other->id, scene.session, &principal));
    assert_false(principal->session_good);
    assert_true(is_good(&scene, scene.session));
    end_scene(&scene);
}

static void what_takes_nothing_writes_no_mark(void **state)
{
    struct scene scene = given_scene(state);
    const char *id = sql_id(scene.arena, scene.session);
    const char *stamp = arena_format(scene.arena,
                                     "SELECT CONV(LEFT(HEX(session_mark), 12), 16, 10) FROM principal"
                                     " WHERE user_id = %s",
                                     sql_id(scene.arena, scene.user->id));
    int64_t before = sql_integer(scene.prompt, scene.arena, "%s", stamp);
    sql(scene.prompt, scene.arena, "UPDATE session SET expires_at = expires_at + INTERVAL 1 DAY WHERE id = %s", id);
    sql(scene.prompt, scene.arena, "UPDATE user SET first_name = 'Grace' WHERE id = %s",
        sql_id(scene.arena, scene.user->id));
    (void)given_session(scene.prompt, scene.arena, scene.user->id);
    assert_int_equal(sql_integer(scene.prompt, scene.arena, "%s", stamp), before);
    sql(scene.prompt, scene.arena, "UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE id = %s", id);
    int64_t after = sql_integer(scene.prompt, scene.arena, "%s", stamp);
    assert_int_not_equal(after, before);
    sql(scene.prompt, scene.arena, "DELETE FROM session WHERE id = %s", id);
    assert_int_equal(sql_integer(scene.prompt, scene.arena, "%s", stamp), after);
    end_scene(&scene);
}

static void truncating_the_sessions_is_refused(void **state)
{
    struct scene scene = given_scene(state);
    assert_true(is_good(&scene, scene.session));
    static const struct statement truncate = {"TRUNCATE session"};
    assert_non_null(database_change(scene.prompt, scene.arena, &truncate, NO_VALUES, NULL));
    assert_true(is_good(&scene, scene.session));
    end_scene(&scene);
}

static void end_connection(struct scene *scene, bool by_server)
{
    if (by_server) /* noticed in the midst of the next look only */
        sql(scene->prompt, scene->arena, "KILL %lld",
            (long long)sql_integer(scene->database, scene->arena, "SELECT CONNECTION_ID()"));
    else
        database_close(scene->database);
}

static void a_process_forgets_with_its_connection(void **state)
{
    for (int by_server = 0; by_server < 2; by_server++) {
        struct scene scene = given_scene(state);
        const char *user = sql_id(scene.arena, scene.user->id);
        const char *id = sql_id(scene.arena, scene.session);
        assert_true(is_good(&scene, scene.session));
        sql(scene.prompt, scene.arena, "SET @stamp = (SELECT session_mark FROM principal WHERE user_id = %s)", user);
        sql(scene.prompt, scene.arena, "UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE id = %s", id);
        sql(scene.prompt, scene.arena, "UPDATE principal SET session_mark = @stamp WHERE user_id = %s", user);
        end_connection(&scene, by_server == 1);
        assert_false(is_good(&scene, scene.session));
        end_scene(&scene);
    }
}

static void all_stamps_are_renewed_where_a_copy_was_put_back(void **state)
{
    struct scene scene = given_scene(state);
    const char *user = sql_id(scene.arena, scene.user->id);
    assert_true(is_good(&scene, scene.session));
    sql(scene.prompt, scene.arena, "SET @stamp = (SELECT session_mark FROM principal WHERE user_id = %s)", user);
    sql(scene.prompt, scene.arena, "DELETE FROM session WHERE user_id = %s", user);
    sql(scene.prompt, scene.arena, "UPDATE principal SET session_mark = @stamp WHERE user_id = %s", user);
    expect_ok(session_renew_stamps(scene.prompt, scene.arena));
    assert_false(is_good(&scene, scene.session));
    end_scene(&scene);
}

static void a_stamp_of_zeros_is_not_remembered(void **state)
{
    struct scene scene = given_scene(state);
    const char *user = sql_id(scene.arena, scene.user->id);
    sql(scene.prompt, scene.arena, "UPDATE principal SET session_mark = '' WHERE user_id = %s", user);
    assert_true(is_good(&scene, scene.session));
    sql(scene.prompt, scene.arena, "UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE id = %s",
        sql_id(scene.arena, scene.session));
    sql(scene.prompt, scene.arena, "UPDATE principal SET session_mark = '' WHERE user_id = %s", user);
    assert_false(is_good(&scene, scene.session));
    end_scene(&scene);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_remembered_session_is_not_read_again),
    HARNESS_TEST(what_is_taken_from_a_session_is_seen_at_once),
    HARNESS_TEST(the_service_s_own_endings_are_seen_by_other_processes),
    HARNESS_TEST(an_end_that_is_rolled_back_is_none),
    HARNESS_TEST(a_principal_that_comes_back_has_another_stamp),
    HARNESS_TEST(a_session_that_is_rolled_back_is_not_remembered),
    HARNESS_TEST(a_session_is_good_until_its_expiry_and_no_longer),
    HARNESS_TEST(a_remembered_session_is_its_own_user_s_only),
    HARNESS_TEST(what_takes_nothing_writes_no_mark),
    HARNESS_TEST(truncating_the_sessions_is_refused),
    HARNESS_TEST(a_process_forgets_with_its_connection),
    HARNESS_TEST(all_stamps_are_renewed_where_a_copy_was_put_back),
    HARNESS_TEST(a_stamp_of_zeros_is_not_remembered),
};
HARNESS_MODULE(session_memo, cases)
