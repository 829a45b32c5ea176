/* SPDX-License-Identifier: MIT */
/* Tests the log of used permissions: when it writes, how often, across midnight, and while the database is away. */
#include "harness.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "domain/permission/permission_use.h"
#include "domain/support.h"
#include "service/runtime/service.h"
#include "service/runtime/use_log.h"
#include "support_database.h"

/* A process, and a user whose uses it notes. */
struct stand {
    struct service service;
    struct id user;
};

static struct stand *stand_new(struct arena *arena, int64_t seconds)
{
    struct stand *stand = arena_alloc(arena, sizeof *stand);
    support_database_clear();
    stand->service = (struct service){.database = support_database_new(), .uses = use_log_new(arena, seconds)};
    stand->user =
        given_user(stand->service.database, arena, given_organisation(stand->service.database, arena), NULL, NULL)->id;
    return stand;
}

static int64_t rows(struct stand *stand, struct arena *arena)
{
    return sql_integer(stand->service.database, arena, "SELECT COUNT(*) FROM permission_use");
}

static int64_t day_of(struct stand *stand, struct arena *arena, const char *permission)
{
    struct permission_uses uses;
    expect_ok(permission_use_of_user(stand->service.database, arena, stand->user, 0, &uses));
    return permission_use_last_day(&uses, stand->user, permission);
}

static void is_written_when_it_is_time(void **state)
{
    struct arena *arena = harness_arena(state);
    struct stand *stand = stand_new(arena, 1);
    int64_t started = clock_monotonic();
    use_log_flush_due(&stand->service, arena);
    use_log_note(stand->service.uses, stand->user, "cus:file:r", 100);
    use_log_flush_due(&stand->service, arena);
    if (clock_monotonic() - started < 900000)
        assert_int_equal(rows(stand, arena), 0);
    while (rows(stand, arena) == 0) {
        assert_true(clock_monotonic() - started < 30000000);
        clock_sleep(20000);
        use_log_flush_due(&stand->service, arena);
    }
    assert_true(clock_monotonic() - started >= 1000000);
    assert_int_equal(day_of(stand, arena, "cus:file:r"), 100);
    database_free(&stand->service.database);
}

static void is_written_once_a_day(void **state)
{
    struct arena *arena = harness_arena(state);
    struct stand *stand = stand_new(arena, 45);
    use_log_note(stand->service.uses, stand->user, "cus:file:r", 100);
    use_log_flush(&stand->service, arena);
    assert_int_equal(rows(stand, arena), 1);
    sql(stand->service.database, arena, "DELETE FROM permission_use");
    for (unsigned i = 0; i < 1000; i++)
        use_log_note(stand->service.uses, stand->user, "cus:file:r", 100);
    use_log_flush(&stand->service, arena);
    assert_int_equal(rows(stand, arena), 0);
    use_log_note(stand->service.uses, stand->user, "cus:file:w", 100);
    use_log_note(stand->service.uses, stand->user, "cus:file:r", 101);
    use_log_flush(&stand->service, arena);
    assert_int_equal(rows(stand, arena), 2);
    database_free(&stand->service.database);
}

/* Noted before midnight and after it, and written after it: the later day stands, whatever was written first. */
static void across_midnight(void **state)
{
    struct arena *arena = harness_arena(state);
    struct stand *stand = stand_new(arena, 45);
    use_log_note(stand->service.uses, stand->user, "cus:file:r", 100);
    use_log_note(stand->service.uses, stand->user, "cus:file:w", 100);
    use_log_note(stand->service.uses, stand->user, "cus:file:r", 101);
    use_log_flush(&stand->service, arena);
    assert_int_equal(day_of(stand, arena, "cus:file:r"), 101);
    assert_int_equal(day_of(stand, arena, "cus:user:r"), PERMISSION_USE_NEVER);
    assert_int_equal(sql_integer(stand->service.database, arena,
                                 "SELECT DATEDIFF(last_day, '1970-01-01') FROM permission_use"
                                 " WHERE permission = 'cus:file:w'"),
                     100);
    /* A clock that went back changes nothing, and neither does what comes after it. */
    use_log_note(stand->service.uses, stand->user, "cus:file:r", 99);
    use_log_note(stand->service.uses, stand->user, "cus:file:r", 101);
    use_log_flush(&stand->service, arena);
    assert_int_equal(day_of(stand, arena, "cus:file:r"), 101);
    database_free(&stand->service.database);
}

/* A full log is due at once; many people and permissions all arrive. */
static void many_are_all_written(void **state)
{
    struct arena *arena = harness_arena(state);
    struct stand *stand = stand_new(arena, 45);
    struct database *database = stand->service.database;
    struct id organisation = given_organisation(database, arena);
    enum { USERS = 30, PERMISSIONS = 20 };
    const char *permissions[PERMISSIONS];
    struct id users[USERS];
    for (unsigned i = 0; i < PERMISSIONS; i++)
        permissions[i] = arena_format(arena, "cus:area-%u:r", i);
    for (unsigned i = 0; i < USERS; i++)
        users[i] = given_user(database, arena, organisation, NULL, NULL)->id;
    _Static_assert(USERS * PERMISSIONS > 2 * LIMIT_USES_PENDING, "more than fit");
    for (unsigned i = 0; i < USERS * PERMISSIONS; i++) {
        use_log_note(stand->service.uses, users[i % USERS], permissions[i / USERS], 100);
        use_log_flush_due(&stand->service, arena);
    }
    assert_true(rows(stand, arena) >= 2 * LIMIT_USES_PENDING);
    use_log_flush(&stand->service, arena);
    assert_int_equal(rows(stand, arena), USERS * PERMISSIONS);
    database_free(&stand->service.database);
}

/* While the database is away nothing is lost that fits into the log, and what does not fit is noted again later. */
static void survives_an_outage(void **state)
{
    struct arena *arena = harness_arena(state);
    struct stand *stand = stand_new(arena, 1);
    struct database *database = stand->service.database;
    struct database_options nowhere = support_database_options();
    const char *permissions[LIMIT_USES_PENDING + 1];
    nowhere.socket = "/nonexistent/socket";
    struct database *away = database_new(&nowhere);
    for (unsigned i = 0; i <= LIMIT_USES_PENDING; i++)
        permissions[i] = arena_format(arena, "cus:area-%u:r", i);
    stand->service.database = away;
    for (unsigned i = 0; i <= LIMIT_USES_PENDING; i++)
        use_log_note(stand->service.uses, stand->user, permissions[i], 100);
    use_log_flush_due(&stand->service, arena);
    stand->service.database = database;
    assert_int_equal(rows(stand, arena), 0);
    use_log_flush(&stand->service, arena);
    assert_int_equal(rows(stand, arena), LIMIT_USES_PENDING);
    use_log_note(stand->service.uses, stand->user, permissions[LIMIT_USES_PENDING], 100);
    use_log_flush(&stand->service, arena);
    assert_int_equal(rows(stand, arena), LIMIT_USES_PENDING + 1);
    database_free(&away);
    database_free(&stand->service.database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(is_written_when_it_is_time), HARNESS_TEST(is_written_once_a_day), HARNESS_TEST(across_midnight),
    HARNESS_TEST(many_are_all_written),       HARNESS_TEST(survives_an_outage),
};
HARNESS_MODULE(use_log, cases)
