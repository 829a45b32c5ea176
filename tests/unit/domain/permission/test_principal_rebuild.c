/* SPDX-License-Identifier: MIT */
/*
 * Tests the table `principal`: its triggers (sql/011-principal.sql) keep it equal to users, roles and organisations,
 * whoever changes them and how.
 */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/permission/principal.h"
#include "domain/session/session.h"
#include "domain/support.h"
#include "support_database.h"

#define ORGANISATIONS 3
#define PEOPLE 8

struct world {
    struct database *database;
    struct arena *arena;
    const char *organisations[ORGANISATIONS]; /* as SQL literals */
    const char *people[PEOPLE];
    struct id ids[PEOPLE];
    unsigned seed;
};

static unsigned any(struct world *world, unsigned below)
{
    return (unsigned)rand_r(&world->seed) % below;
}

static struct world given_world(struct arena *arena)
{
    struct world world = {.database = support_database_new(), .arena = arena, .seed = 7};
    struct id organisations[ORGANISATIONS];
    for (size_t i = 0; i < ORGANISATIONS; i++) {
        organisations[i] = given_organisation(world.database, arena);
        world.organisations[i] = sql_id(arena, organisations[i]);
    }
    sql(world.database, arena, "CREATE TEMPORARY TABLE kept_role AS SELECT * FROM role");
    sql(world.database, arena, "CREATE TEMPORARY TABLE kept_permission AS SELECT * FROM role_permission");
    for (size_t i = 0; i < PEOPLE; i++) {
        world.ids[i] = given_user(world.database, arena, organisations[i % ORGANISATIONS], "owner", NULL)->id;
        world.people[i] = sql_id(arena, world.ids[i]);
    }
    return world;
}

static int64_t different(struct world *world)
{
    int64_t count = -1;
    expect_ok(principal_compare(world->database, world->arena, &count));
    return count;
}

/* The roles as they were, for the tests to come. */
static void end(struct world *world)
{
    sql(world->database, world->arena, "DELETE FROM role_permission");
    sql(world->database, world->arena, "DELETE FROM role");
    sql(world->database, world->arena, "INSERT INTO role SELECT * FROM kept_role");
    sql(world->database, world->arena, "INSERT INTO role_permission SELECT * FROM kept_permission");
    assert_int_equal(different(world), 0);
    database_free(&world->database);
}

/*
 * Statements as somebody types them. @u is a user, @o an organisation, @r a role, @p a permission, @t a status; @v, @n
 * and @s are others, or the same again. Some break a key, which must leave all as it was.
 */
static const char *const typed[] = {
    "UPDATE user SET status = '@t' WHERE id = @u",
    "UPDATE user SET permissions = '@p', first_name = 'X' WHERE id IN (@u, @v)",
    "UPDATE user SET organisation_id = @o WHERE id = @u",
    "UPDATE user SET organisation_id = @o, status = '@t', permissions = CONCAT(permissions, ' @p') WHERE id = @v",
    "UPDATE user SET permissions = ''",
    "UPDATE organisation SET status = IF(status = 'active', 'disabled', 'active') WHERE id = @o",
    "UPDATE organisation SET status = 'disabled' WHERE id IN (@o, @n)",
    "UPDATE organisation SET status = 'active', name = 'New'",
    "INSERT INTO user_role (user_id, role_id, position) VALUES (@u, '@r', 1)",
    "INSERT INTO user_role (user_id, role_id, position) VALUES (@u, '@r', 3), (@v, '@s', 0)",
    "INSERT IGNORE INTO user_role (user_id, role_id) VALUES (@u, '@r'), (@u, '@s'), (@v, '@r')",
    "INSERT INTO user_role (user_id, role_id, position) VALUES (@u, '@r', 2) ON DUPLICATE KEY UPDATE position = 9 - "
    "position",
    "REPLACE INTO user_role (user_id, role_id, position) VALUES (@u, '@r', 4), (@v, '@r', 5)",
    "INSERT IGNORE INTO user_role SELECT id, '@r', 7 FROM user WHERE organisation_id = @o",
    "DELETE FROM user_role WHERE user_id = @u",
    "DELETE FROM user_role WHERE role_id = '@r' LIMIT 2",
    "DELETE r FROM user_role r JOIN user u ON u.id = r.user_id JOIN organisation o ON o.id = u.organisation_id"
    " WHERE o.id = @o AND r.role_id = '@s'",
    "UPDATE user_role SET position = position + 1 WHERE role_id = '@r'",
    "UPDATE IGNORE user_role SET user_id = @v WHERE user_id = @u AND role_id = '@r'",
    "UPDATE IGNORE user_role SET role_id = '@s' WHERE role_id = '@r'",
    "UPDATE user u JOIN user_role r ON r.user_id = u.id SET u.status = '@t', r.position = 6 WHERE r.role_id = '@r'",
    "UPDATE user u JOIN organisation o ON o.id = u.organisation_id SET u.permissions = '@p', o.status = 'active'"
    " WHERE o.id = @n",
    "INSERT IGNORE INTO role (id, description) VALUES ('@r', 'Made up')",
    "INSERT INTO role_permission VALUES ('@r', '@p')",
    "INSERT IGNORE INTO role_permission VALUES ('@r', '@p'), ('@s', 'inv:stock:r')",
    "INSERT INTO role_permission VALUES ('@r', '@p') ON DUPLICATE KEY UPDATE permission = CONCAT(permission, 'x')",
    "REPLACE INTO role_permission VALUES ('@s', '@p')",
    "DELETE FROM role_permission WHERE role_id = '@r'",
    "DELETE p FROM role_permission p JOIN role r ON r.id = p.role_id WHERE r.id = '@r'",
    "UPDATE IGNORE role_permission SET permission = '@p' WHERE role_id = '@r'",
    "UPDATE IGNORE role_permission SET role_id = '@s' WHERE role_id = '@r'",
    "DELETE FROM role WHERE id = '@s'",
    "UPDATE role SET id = CONCAT(id, '2') WHERE id = '@s'",
    "TRUNCATE user_role",
    "TRUNCATE role_permission",
    "TRUNCATE user",
    "DELETE FROM change_version",
    "INSERT INTO change_version (id, version) VALUES (1, 5) ON DUPLICATE KEY UPDATE version = version + 1",
    "REPLACE INTO change_version (id, version) VALUES (1, 77)",
    "DELETE FROM user WHERE id = @u",
    "REPLACE INTO user (id, organisation_id, email, first_name, last_name, status)"
    " VALUES (@u, @o, HEX(@u), 'Again', 'There', '@t')",
    "INSERT IGNORE INTO user (id, organisation_id, email, first_name, last_name, status, permissions)"
    " VALUES (@v, @n, HEX(@v), 'Back', 'There', 'active', '@p')",
    "INSERT INTO user (id, organisation_id, email, first_name, last_name, status) VALUES (@v, @n, HEX(@v), 'A', 'B',"
    " 'active') ON DUPLICATE KEY UPDATE status = VALUES(status), organisation_id = VALUES(organisation_id)",
    "UPDATE user SET id = REVERSE(id) WHERE id = @u",
};
#define TYPED (sizeof typed / sizeof *typed)

static const char *const roles[] = {"owner", "admin", "log-manage", "gone", "o", "o:5", "1:x", "rôle", ""};
static const char *const permissions[] = {"cus:*:r",        "rwx:*", "*:*:a", "5:owner", "",
                                          "inv:x:w5:owner", "a b",   "é:*:w", "x\\0y"};
static const char *const statuses[] = {"active", "disabled", "awaiting-confirmation", "provisioning", "nonsense"};
#define ANY(world, list) list[any(world, sizeof list / sizeof *list)]

static const char *word_for(struct world *world, char letter)
{
    switch (letter) {
    case 'u':
    case 'v':
        return ANY(world, world->people);
    case 'o':
    case 'n':
        return ANY(world, world->organisations);
    case 'r':
    case 's':
        return ANY(world, roles);
    case 'p':
        return ANY(world, permissions);
    default:
        return ANY(world, statuses);
    }
}

/* One of them; what the server refuses is refused. */
static void type_something(struct world *world)
{
    struct buffer text;
    const char *words[128] = {NULL};
    buffer_init(&text, world->arena);
    for (const char *at = typed[any(world, TYPED)]; *at != '\0'; at++) {
        if (*at != '@') {
            buffer_add_char(&text, *at);
            continue;
        }
        at++;
        if (words[(unsigned char)*at] == NULL)
            words[(unsigned char)*at] = word_for(world, *at);
        buffer_add_text(&text, words[(unsigned char)*at]);
    }
    struct error *error = database_execute(world->database, world->arena, text.bytes, text.length);
    (void)error;
}

/* What the tables say of a user's grants, in the words of a join. */
static const char *grants_by_join(struct world *world, const char *user)
{
    return sql_text(
        world->database, world->arena,
        "SELECT COALESCE(GROUP_CONCAT(CONCAT(r.role_id, '=', COALESCE(REPLACE(p.permission, CHAR(0 USING utf8mb4),"
        " CHAR(1 USING utf8mb4)), '-')) ORDER BY r.position,"
        " r.role_id, p.permission SEPARATOR '|'), '') FROM user_role r LEFT JOIN role_permission p"
        " ON p.role_id = r.role_id WHERE r.user_id = %s",
        user);
}

static const char *grants_of(struct arena *arena, const struct principal *principal)
{
    struct buffer text;
    buffer_init(&text, arena);
    for (size_t i = 0; i < principal->grant_count; i++) {
        const struct role_grant *grant = &principal->grants[i];
        for (size_t k = 0; k < grant->permissions.count || k == 0; k++)
            buffer_add_format(&text, "%s%s=%s", text.length == 0 ? "" : "|", grant->role,
                              grant->permissions.count == 0 ? "-" : grant->permissions.items[k]);
    }
    return text.bytes == NULL ? "" : text.bytes;
}

/* principal_load() says of everyone what the join says. */
static void expect_the_same_as_the_join(struct world *world)
{
    for (size_t i = 0; i < PEOPLE; i++) {
        struct principal *principal;
        expect_ok(principal_load(world->database, world->arena, world->ids[i], id_new(), &principal));
        int64_t there =
            sql_integer(world->database, world->arena, "SELECT COUNT(*) FROM user WHERE id = %s", world->people[i]);
        assert_int_equal(principal != NULL, there);
        if (principal == NULL)
            continue;
        assert_string_equal(grants_of(world->arena, principal), grants_by_join(world, world->people[i]));
        const char *states = sql_text(world->database, world->arena,
                                      "SELECT CONCAT(u.status = 'active', o.status = 'active')"
                                      " FROM user u JOIN organisation o ON o.id = u.organisation_id WHERE u.id = %s",
                                      world->people[i]);
        assert_int_equal(principal->user.status == USER_ACTIVE, states[0] == '1');
        assert_int_equal(principal->organisation.status == ORGANISATION_ACTIVE, states[1] == '1');
    }
}

static void a_thousand_typed_changes_leave_no_difference(void **state)
{
    struct arena *arena = harness_arena(state);
    struct world world = given_world(arena);
    for (int i = 0; i < 1000; i++) {
        bool together = any(&world, 4) == 0;
        if (together)
            sql(world.database, arena, "START TRANSACTION");
        for (unsigned steps = together ? 1 + any(&world, 4) : 1; steps > 0; steps--)
            type_something(&world);
        if (together)
            sql(world.database, arena, any(&world, 3) == 0 ? "ROLLBACK" : "COMMIT");
        sql(world.database, arena, "INSERT IGNORE INTO change_version (id, version) VALUES (1, 1)");
        if (different(&world) != 0)
            fail_msg("after change %d", i);
        if (i % 20 == 0)
            expect_the_same_as_the_join(&world);
    }
    end(&world);
}

/* Transactions of several statements, each at an isolation level of its own, with a snapshot from before the first. */
static int type_at_once(struct database *database, struct arena *arena, unsigned index, void *context)
{
    static const char *const levels[] = {"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"};
    struct world world = *(struct world *)context;
    world.database = database;
    world.arena = arena;
    world.seed = 100 + index;
    sql(database, arena, "SET SESSION innodb_lock_wait_timeout = 5");
    for (int i = 0; i < 100; i++) {
        sql(database, arena, "SET TRANSACTION ISOLATION LEVEL %s", ANY(&world, levels));
        sql(database, arena, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
        for (unsigned steps = 1 + any(&world, 4); steps > 0; steps--)
            type_something(&world);
        sql(database, arena, "COMMIT");
    }
    return 0;
}

#define WRITERS 4

static void writers_at_once_leave_no_difference(void **state)
{
    struct arena *arena = harness_arena(state);
    struct world world = given_world(arena);
    int results[RACERS_MAX];
    race(WRITERS, type_at_once, &world, results);
    assert_int_equal(race_count(results, WRITERS, 0), WRITERS);
    sql(world.database, arena, "INSERT IGNORE INTO change_version (id, version) VALUES (1, 1)");
    assert_int_equal(different(&world), 0);
    expect_the_same_as_the_join(&world);
    end(&world);
}

static void expect_rebuilt(void **state, struct error *(*rebuild)(struct database *, struct arena *, int64_t *),
                           bool by_worker)
{
    struct arena *arena = harness_arena(state);
    struct world world = given_world(arena);
    struct database *rebuilding = by_worker ? support_database_worker() : support_database_new();
    int64_t changed = -1;
    expect_ok(rebuild(rebuilding, arena, &changed));
    assert_int_equal(changed, 0);
    sql(world.database, arena, "SET SESSION foreign_key_checks = 0");
    sql(world.database, arena, "TRUNCATE user_role");
    assert_true(different(&world) >= PEOPLE);
    sql(world.database, arena, "UPDATE change_version SET roles = '' WHERE id = 1");
    sql(world.database, arena, "DELETE FROM principal WHERE user_id = %s", world.people[0]);
    sql(world.database, arena, "UPDATE principal SET user_status = 'active' WHERE user_id = %s", world.people[1]);
    sql(world.database, arena,
        "INSERT INTO principal (user_id, organisation_id, user_status, organisation_status, permissions, roles)"
        " SELECT REVERSE(user_id), organisation_id, 'active', 'active', '', ''"
        " FROM principal LIMIT 1");
    sql(world.database, arena, "SET SESSION foreign_key_checks = 1");
    expect_ok(rebuild(rebuilding, arena, &changed));
    assert_true(changed >= PEOPLE);
    assert_int_equal(different(&world), 0);
    database_free(&rebuilding);
    end(&world);
}

static void what_bypassed_the_triggers_is_found_and_repaired(void **state)
{
    expect_rebuilt(state, principal_rebuild, false);
}

static void the_workers_account_has_it_mended_without_the_right_to_write_it(void **state)
{
    expect_rebuilt(state, principal_repair, true);
}

/* As gatehousectl does: on a connection of its own. */
static const char *missing_trigger(struct arena *arena)
{
    const char *missing;
    struct database *database = support_database_new();
    expect_ok(principal_selftest(database, arena, &missing));
    database_free(&database);
    return missing;
}

/* Each of them taken away, and put back as it was. */
static void a_trigger_that_is_missing_is_found(void **state)
{
    static const char *const names[] = {"principal_user_insert",
                                        "principal_user_update",
                                        "principal_user_move",
                                        "principal_user_delete",
                                        "principal_organisation_update",
                                        "principal_role_insert",
                                        "principal_role_update",
                                        "principal_role_delete",
                                        "principal_permission_insert",
                                        "principal_permission_update",
                                        "principal_permission_delete",
                                        "principal_permission_restore",
                                        "session_mark_begin",
                                        "session_mark_move",
                                        "session_mark_update",
                                        "session_mark_delete",
                                        "principal_repair_remove",
                                        "principal_repair_fill",
                                        "principal_repair_roles",
                                        "principal_repair_people",
                                        "people_insert",
                                        "people_join",
                                        "people_leave",
                                        "people_delete",
                                        "audit_scrub_addresses"};
    struct arena *arena = harness_arena(state);
    struct world world = given_world(arena);
    int64_t users = sql_integer(world.database, arena, "SELECT COUNT(*) FROM user");
    int64_t version = sql_integer(world.database, arena, "SELECT version FROM change_version");
    assert_int_equal(sql_integer(world.database, arena,
                                 "SELECT COUNT(*) FROM information_schema.triggers"
                                 " WHERE trigger_schema = DATABASE()"),
                     sizeof names / sizeof *names);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null(missing_trigger(arena));
        const char *again = sql_text(
            world.database, arena,
            "SELECT CONCAT('CREATE TRIGGER ', trigger_name, ' ', action_timing, ' ', event_manipulation, ' ON ',"
            " event_object_table, ' FOR EACH ROW ', action_statement) FROM information_schema.triggers"
            " WHERE trigger_schema = DATABASE() AND trigger_name = '%s'",
            names[i]);
        sql(world.database, arena, "DROP TRIGGER %s", names[i]);
        const char *missing = missing_trigger(arena);
        assert_non_null(missing);
        assert_string_equal(missing, names[i]);
        sql(world.database, arena, "%s", again);
    }
    assert_null(missing_trigger(arena));
    assert_int_equal(sql_integer(world.database, arena, "SELECT COUNT(*) FROM user"), users);
    assert_int_equal(sql_integer(world.database, arena, "SELECT version FROM change_version"), version);
    assert_int_equal(different(&world), 0);
    end(&world);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_thousand_typed_changes_leave_no_difference),
    HARNESS_TEST(writers_at_once_leave_no_difference),
    HARNESS_TEST(what_bypassed_the_triggers_is_found_and_repaired),
    HARNESS_TEST(the_workers_account_has_it_mended_without_the_right_to_write_it),
    HARNESS_TEST(a_trigger_that_is_missing_is_found),
};
HARNESS_MODULE(principal_rebuild, cases)
