/* SPDX-License-Identifier: MIT */
/* The copies in the sessions' rows and the roles that are remembered by stamp (sql/016-session-state.sql). */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "database_fixture.h"
#include "domain/principal.h"
#include "domain/session.h"
#include "store/database.h"
#include "support.h"

#define SESSIONS 2

/* A user with two sessions, the service's connection and the one of a prompt. */
struct stage {
    struct arena *arena;
    struct database *database;
    struct database *prompt;
    struct id organisation;
    struct user *user;
    const char *id; /* the user's, as an SQL literal */
    struct id sessions[SESSIONS];
};

/* Somebody at the prompt, and a migration, may take their time. */
static struct database *patient(void)
{
    struct database_options options = database_fixture_options();
    options.query_timeout_seconds = 0;
    return database_new(&options);
}

static struct stage given_stage(struct arena *arena)
{
    struct stage stage = {.arena = arena, .database = database_fixture_new(), .prompt = patient()};
    stage.organisation = given_organisation(stage.database, arena);
    stage.user = given_user(stage.database, arena, stage.organisation, "inv-manage", "cus:file:r");
    stage.id = sql_id(arena, stage.user->id);
    for (size_t i = 0; i < SESSIONS; i++)
        stage.sessions[i] = given_session(stage.database, arena, stage.user->id);
    return stage;
}

static void end(struct stage *stage)
{
    int64_t different = -1;
    expect_ok(principal_compare(stage->database, stage->arena, &different));
    assert_int_equal(different, 0);
    database_free(&stage->prompt);
    database_free(&stage->database);
}

static struct principal *load(const struct stage *stage, size_t session)
{
    struct principal *principal;
    expect_ok(principal_load(stage->database, stage->arena, stage->user->id, stage->sessions[session], &principal));
    return principal;
}

/* With each of the sessions. */
static bool holds(const struct stage *stage, const char *permission)
{
    bool held = principal_holds(load(stage, 0), permission);
    for (size_t i = 1; i < SESSIONS; i++)
        assert_int_equal(principal_holds(load(stage, i), permission), held);
    return held;
}

static bool stands(const struct stage *stage)
{
    bool standing = principal_stands(load(stage, 0));
    for (size_t i = 1; i < SESSIONS; i++)
        assert_int_equal(principal_stands(load(stage, i)), standing);
    return standing;
}

#define TYPE(stage, ...) sql((stage)->prompt, (stage)->arena, __VA_ARGS__)

static void each_tables_change_at_the_prompt_reaches_every_session(void **state)
{
    struct stage stage = given_stage(harness_arena(state));
    const char *there = sql_id(stage.arena, given_organisation(stage.database, stage.arena));
    const char *here = sql_id(stage.arena, stage.organisation);
    assert_true(stands(&stage) && holds(&stage, "inv:stock:w") && holds(&stage, "cus:file:r"));
    TYPE(&stage, "UPDATE user SET permissions = '' WHERE id = %s", stage.id);
    TYPE(&stage, "UPDATE user_role SET role_id = 'log-manage' WHERE user_id = %s", stage.id);
    assert_true(stands(&stage) && !holds(&stage, "inv:stock:w") && holds(&stage, "log:x:w"));
    TYPE(&stage, "INSERT INTO user_role (user_id, role_id) VALUES (%s, 'inv-manage')", stage.id);
    assert_true(holds(&stage, "inv:stock:w"));
    TYPE(&stage, "DELETE FROM user_role WHERE user_id = %s", stage.id);
    assert_false(holds(&stage, "log:x:w"));
    TYPE(&stage, "UPDATE organisation SET status = 'disabled' WHERE id = %s", here);
    assert_false(stands(&stage));
    TYPE(&stage, "UPDATE user SET organisation_id = %s WHERE id = %s", there, stage.id);
    assert_true(stands(&stage));
    assert_false(id_equal(load(&stage, 1)->user.organisation_id, stage.organisation));
    TYPE(&stage, "UPDATE user SET status = 'disabled' WHERE id = %s", stage.id);
    assert_false(stands(&stage));
    TYPE(&stage, "UPDATE user SET status = 'active' WHERE id = %s", stage.id);
    TYPE(&stage, "UPDATE session SET ended_at = UTC_TIMESTAMP(3) WHERE id = %s", sql_id(stage.arena, stage.sessions[0]));
    assert_true(!principal_stands(load(&stage, 0)) && principal_stands(load(&stage, 1)));
    TYPE(&stage, "DELETE FROM session WHERE id = %s", sql_id(stage.arena, stage.sessions[1]));
    assert_null(load(&stage, 1));
    end(&stage);
}

static void a_session_given_to_another_is_that_ones(void **state)
{
    struct stage stage = given_stage(harness_arena(state));
    struct user *other = given_user(stage.database, stage.arena, stage.organisation, "log-manage", NULL);
    struct principal *principal;
    const char *session = sql_id(stage.arena, stage.sessions[0]);
    TYPE(&stage, "UPDATE session SET user_id = %s WHERE id = %s", sql_id(stage.arena, other->id), session);
    assert_null(load(&stage, 0));
    expect_ok(principal_load(stage.database, stage.arena, other->id, stage.sessions[0], &principal));
    assert_true(principal_stands(principal) && principal_holds(principal, "log:x:w") && !principal_holds(principal, "inv:x:w"));
    TYPE(&stage, "UPDATE session SET user_id = UNHEX(MD5('nobody')) WHERE id = %s", session);
    end(&stage);
}

static void without_its_user_a_session_opens_nothing(void **state)
{
    struct stage stage = given_stage(harness_arena(state));
    const char *new_id = sql_id(stage.arena, id_new());
    int64_t mended;
    TYPE(&stage, "DELETE FROM principal WHERE user_id = %s", stage.id);
    assert_true(!stands(&stage) && !holds(&stage, "cus:file:r"));
    expect_ok(principal_rebuild(stage.database, stage.arena, &mended));
    assert_true(mended != 0 && stands(&stage) && holds(&stage, "cus:file:r"));
    assert_non_null(database_execute(stage.prompt, stage.arena, "TRUNCATE principal", strlen("TRUNCATE principal")));
    assert_true(stands(&stage));
    TYPE(&stage, "DELETE FROM user_role WHERE user_id = %s", stage.id);
    TYPE(&stage, "UPDATE user SET id = %s WHERE id = %s", new_id, stage.id);
    assert_true(!stands(&stage) && !holds(&stage, "cus:file:r"));
    TYPE(&stage, "UPDATE user SET id = %s WHERE id = %s", stage.id, new_id);
    assert_true(stands(&stage) && holds(&stage, "cus:file:r"));
    TYPE(&stage, "DELETE FROM user WHERE id = %s", stage.id);
    assert_true(!stands(&stage) && !holds(&stage, "cus:file:r"));
    TYPE(&stage, "TRUNCATE session");
    assert_null(load(&stage, 0));
    end(&stage);
}

/* Whatever its snapshot says: what the session holds is what its user was last. */
static void a_session_made_in_an_old_snapshot_holds_what_is_true_now(void **state)
{
    static const char *const levels[] = {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"};
    struct stage stage = given_stage(harness_arena(state));
    struct principal *principal;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct id session = id_new();
        TYPE(&stage, "SET TRANSACTION ISOLATION LEVEL %s", levels[i]);
        TYPE(&stage, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
        sql(stage.database, stage.arena, "UPDATE user SET permissions = 'a:b%zu:r' WHERE id = %s", i, stage.id);
        TYPE(&stage, "INSERT INTO session (id, user_id, expires_at) VALUES (%s, %s, '2100-01-01')",
             sql_id(stage.arena, session), stage.id);
        TYPE(&stage, "COMMIT");
        expect_ok(principal_load(stage.database, stage.arena, stage.user->id, session, &principal));
        assert_true(principal_holds(principal, arena_format(stage.arena, "a:b%zu:r", i)));
    }
    end(&stage);
}

/* Two that log in at once do not wait for one another, and other changes of a user wait for nobody's session. */
static void what_changes_nothing_of_a_session_locks_none(void **state)
{
    struct stage stage = given_stage(harness_arena(state));
    sql(stage.database, stage.arena, "SET SESSION innodb_lock_wait_timeout = 1");
    TYPE(&stage, "START TRANSACTION");
    TYPE(&stage, "INSERT INTO session (id, user_id, expires_at) VALUES (UNHEX(MD5(RAND())), %s, '2100-01-01')", stage.id);
    (void)given_session(stage.database, stage.arena, stage.user->id);
    expect_ok(session_end(stage.database, stage.arena, stage.sessions[0], stage.user->id, NULL));
    TYPE(&stage, "ROLLBACK");
    TYPE(&stage, "START TRANSACTION");
    TYPE(&stage, "UPDATE user SET first_name = 'New', permissions = permissions, updated_at = UTC_TIMESTAMP(3) WHERE id = %s",
         stage.id);
    expect_ok(session_end(stage.database, stage.arena, stage.sessions[1], stage.user->id, NULL));
    TYPE(&stage, "COMMIT");
    end(&stage);
}

/* ---- roles by stamp -------------------------------------------------------------------------------- */

/* How many statements a load takes, beside the two that count. */
static int64_t statements_of_a_load(const struct stage *stage)
{
    static const char asked[] = "SELECT variable_value FROM information_schema.session_status"
                                " WHERE variable_name = 'QUESTIONS'";
    int64_t idle = sql_integer(stage->database, stage->arena, asked);
    idle = sql_integer(stage->database, stage->arena, asked) - idle;
    int64_t before = sql_integer(stage->database, stage->arena, asked);
    (void)load(stage, 0);
    return sql_integer(stage->database, stage->arena, asked) - before - idle;
}

static int64_t stamp_of(const struct stage *stage)
{
    return sql_integer(stage->prompt, stage->arena, "SELECT roles_stamp FROM change_version WHERE id = 1");
}

static void the_roles_are_read_again_when_they_have_changed(void **state)
{
    static const char *const changes[] = {
        "INSERT INTO role_permission VALUES ('inv-manage', 'a:b:r')",
        "UPDATE role_permission SET permission = 'a:b:w' WHERE permission = 'a:b:r'",
        "DELETE FROM role_permission WHERE permission = 'a:b:w'",
        "UPDATE change_version SET roles = '10:inv-manage5:a:b:r'",
        "UPDATE change_version SET roles = '10:inv-manage5:a:b:w', roles_stamp = 1",
        "REPLACE INTO change_version (id, version, roles_stamp) VALUES (1, 5, 1)",
    };
    static const bool held[] = {true, true, false, true, true, false};
    struct stage stage = given_stage(harness_arena(state));
    for (int i = 0; i < 2; i++)
        (void)load(&stage, 0);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        int64_t before = stamp_of(&stage);
        assert_int_equal(statements_of_a_load(&stage), 1);
        TYPE(&stage, "%s", changes[i]);
        assert_true(stamp_of(&stage) > before);
        assert_int_equal(statements_of_a_load(&stage), 2);
        assert_int_equal(holds(&stage, "a:b:r"), held[i]);
    }
    int64_t before = stamp_of(&stage);
    TYPE(&stage, "UPDATE change_version SET version = version + 1, roles_stamp = roles_stamp + 1");
    TYPE(&stage, "INSERT INTO change_version (id, version) VALUES (1, 1) ON DUPLICATE KEY UPDATE version = version + 1");
    assert_int_equal(stamp_of(&stage), before);
    TYPE(&stage, "DELETE FROM change_version");
    assert_true(stands(&stage) && holds(&stage, "inv:stock:w") && !holds(&stage, "a:b:r"));
    TYPE(&stage, "INSERT INTO change_version (id, version) VALUES (1, 9)");
    assert_true(stamp_of(&stage) > before && holds(&stage, "inv:stock:w"));
    end(&stage);
}

struct seeing {
    struct stage *stage;
    bool held;
};

static struct error *change_see_and_give_up(struct database *database, struct arena *arena, void *context)
{
    struct seeing *seeing = context;
    sql(database, arena, "INSERT INTO role_permission VALUES ('inv-manage', 'a:b:r')");
    seeing->held = holds(seeing->stage, "a:b:r");
    return error_new(arena, ERROR_INTERNAL, "given up");
}

static void what_was_rolled_back_is_not_remembered(void **state)
{
    struct stage stage = given_stage(harness_arena(state));
    struct seeing seeing = {.stage = &stage};
    assert_false(holds(&stage, "a:b:r"));
    assert_non_null(database_transaction(stage.database, stage.arena, change_see_and_give_up, &seeing, NULL));
    assert_true(seeing.held);
    assert_false(holds(&stage, "a:b:r"));
    assert_int_equal(statements_of_a_load(&stage), 1);
    end(&stage);
}

static void too_many_permissions_to_remember_hold_all_the_same(void **state)
{
    struct stage stage = given_stage(harness_arena(state));
    TYPE(&stage, "UPDATE change_version SET roles ="
                 " CONCAT(REPEAT('10:inv-manage5:x:y:r', 60000), '10:inv-manage5:a:b:r')");
    assert_true(holds(&stage, "a:b:r") && !holds(&stage, "a:b:w") && !holds(&stage, "inv:stock:w"));
    assert_int_equal(statements_of_a_load(&stage), 2);
    TYPE(&stage, "DELETE FROM change_version");
    TYPE(&stage, "INSERT INTO change_version (id, version) VALUES (1, FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000))");
    assert_true(holds(&stage, "inv:stock:w"));
    end(&stage);
}

/* ---- the migration --------------------------------------------------------------------------------- */

#define PEOPLE_BEFORE 2500

/* The statement of the migration that fills what was there before it. */
static const char *filling(struct arena *arena)
{
    size_t length;
    char *text = harness_read(arena, harness_source(arena, "sql/016-session-state.sql"), &length);
    char *begin = strstr(text, "EXECUTE IMMEDIATE");
    assert_non_null(begin);
    char *last = strstr(begin, "END';");
    assert_non_null(last);
    last[4] = '\0';
    return begin;
}

/* One fills, the others change what is filled. */
static int fill_or_change(struct database *database, struct arena *arena, unsigned index, void *context)
{
    const char *organisation = context;
    if (index == 0) {
        const char *fill = filling(arena);
        struct database *migrating = patient();
        int failed = 0;
        for (int i = 0; i < 3; i++)
            failed += database_execute(migrating, arena, fill, strlen(fill)) != NULL;
        database_free(&migrating);
        return failed;
    }
    for (unsigned i = 0; i < 200; i++) {
        const char *text = arena_format(
            arena, "UPDATE user SET permissions = 'a:b%u:%s' WHERE organisation_id = %s AND email = 'before-%u'", i,
            index == 1 ? "r" : "w", organisation, 1 + i * 997 % PEOPLE_BEFORE);
        (void)database_execute(database, arena, text, strlen(text));
    }
    return 0;
}

static void sessions_from_before_are_filled_while_others_go_on(void **state)
{
    struct stage stage = given_stage(harness_arena(state));
    struct arena *arena = stage.arena;
    char *organisation = arena_text(arena, sql_id(arena, stage.organisation));
    int results[RACERS_MAX];
    int64_t different = -1;
    TYPE(&stage, "INSERT INTO user (id, organisation_id, email, first_name, last_name, status)"
                 " SELECT UNHEX(MD5(CONCAT('before', seq))), %s, CONCAT('before-', seq), '', '', 'active' FROM seq_1_to_%d",
         organisation, PEOPLE_BEFORE);
    TYPE(&stage, "INSERT INTO session (id, user_id, expires_at) SELECT UNHEX(MD5(CONCAT(seq, 'session'))),"
                 " UNHEX(MD5(CONCAT('before', 1 + seq %% %d))), '2100-01-01' FROM seq_1_to_%d", PEOPLE_BEFORE, 2 * PEOPLE_BEFORE);
    TYPE(&stage, "UPDATE session SET organisation_id = '', user_status = '', organisation_status = '', roles = ''");
    expect_ok(principal_compare(stage.database, arena, &different));
    assert_true(different >= 2 * PEOPLE_BEFORE);
    race(3, fill_or_change, organisation, results);
    assert_int_equal(race_count(results, 3, 0), 3);
    expect_ok(principal_compare(stage.database, arena, &different));
    assert_int_equal(different, 0);
    assert_true(stands(&stage));
    TYPE(&stage, "DELETE s FROM session s JOIN user u ON u.id = s.user_id WHERE u.email LIKE 'before-%%'");
    TYPE(&stage, "DELETE FROM user WHERE organisation_id = %s AND email LIKE 'before-%%'", organisation);
    end(&stage);
}

/* More sessions than are compared at a time. */
static void many_sessions_are_compared_and_mended(void **state)
{
    struct stage stage = given_stage(harness_arena(state));
    int64_t count = -1;
    TYPE(&stage, "INSERT INTO session (id, user_id, expires_at) SELECT UNHEX(MD5(CONCAT(seq, 'many'))), %s, '2100-01-01'"
                 " FROM seq_1_to_12000", stage.id);
    expect_ok(principal_compare(stage.database, stage.arena, &count));
    assert_int_equal(count, 0);
    TYPE(&stage, "UPDATE session SET roles = '5:admin' WHERE user_id = %s", stage.id);
    expect_ok(principal_rebuild(stage.database, stage.arena, &count));
    assert_int_equal(count, 12000 + SESSIONS);
    TYPE(&stage, "DELETE FROM session WHERE user_id = %s", stage.id);
    end(&stage);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(each_tables_change_at_the_prompt_reaches_every_session),
    HARNESS_TEST(a_session_given_to_another_is_that_ones),
    HARNESS_TEST(without_its_user_a_session_opens_nothing),
    HARNESS_TEST(a_session_made_in_an_old_snapshot_holds_what_is_true_now),
    HARNESS_TEST(what_changes_nothing_of_a_session_locks_none),
    HARNESS_TEST(the_roles_are_read_again_when_they_have_changed),
    HARNESS_TEST(what_was_rolled_back_is_not_remembered),
    HARNESS_TEST(too_many_permissions_to_remember_hold_all_the_same),
    HARNESS_TEST(sessions_from_before_are_filled_while_others_go_on),
    HARNESS_TEST(many_sessions_are_compared_and_mended),
};
HARNESS_MODULE(principal_session, cases)
