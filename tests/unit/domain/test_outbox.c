/* SPDX-License-Identifier: MIT */
/* The outbox: order, claims, retries and clean-up. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/outbox.h"
#include "support.h"
#include "support_database.h"

struct addition {
    const char *kind;
    struct id user;
    unsigned count;
    bool fail;
    enum outbox_rank rank;
};

static struct error *add_body(struct database *database, struct arena *arena, void *context)
{
    const struct addition *addition = context;
    struct outbox_work work = {.kind = addition->kind,
                               .rank = addition->rank,
                               .user_id = addition->user,
                               .payload = "sealed\0bytes",
                               .payload_length = 12};
    for (unsigned i = 0; i < addition->count; i++)
        TRY(outbox_add(database, arena, &work));
    return addition->fail ? error_plain(arena, ERROR_INTERNAL) : NULL;
}

static void given_items(struct database *database, struct arena *arena, unsigned count, struct id user)
{
    struct addition addition = {"mail", user, count, false, OUTBOX_URGENT};
    expect_ok(database_transaction(database, arena, add_body, &addition, NULL));
}

static void given_work(struct database *database, struct arena *arena, unsigned count, const char *kind,
                       enum outbox_rank rank)
{
    struct addition addition = {kind, {{0}}, count, false, rank};
    expect_ok(database_transaction(database, arena, add_body, &addition, NULL));
}

static struct outbox_items claim(struct database *database, struct arena *arena, unsigned limit)
{
    struct outbox_items items;
    expect_ok(outbox_claim(database, arena, limit, 60, &items));
    return items;
}

/* Lets time pass for all items; less than 0 seconds: puts them off. */
static void pass(struct database *database, struct arena *arena, int seconds)
{
    sql(database, arena, "UPDATE outbox SET next_attempt_at = next_attempt_at - INTERVAL %d SECOND", seconds);
}

static const char *server_time(struct database *database, struct arena *arena)
{
    return sql_text(database, arena, "SELECT UTC_TIMESTAMP(3)");
}

static void work_appears_with_its_transaction_only(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct addition addition = {"mail", {{0}}, 1, true, OUTBOX_ORDINARY};
    expect_error(database_transaction(database, arena, add_body, &addition, NULL), ERROR_INTERNAL);
    assert_int_equal(claim(database, arena, 10).count, 0);
    addition.fail = false;
    expect_ok(database_transaction(database, arena, add_body, &addition, NULL));
    struct outbox_items items = claim(database, arena, 10);
    assert_int_equal(items.count, 1);
    assert_string_equal(items.items[0].kind, "mail");
    assert_true(id_is_none(items.items[0].user_id));
    assert_int_equal(items.items[0].payload_length, 12);
    assert_memory_equal(items.items[0].payload, "sealed\0bytes", 12);
    assert_int_equal(items.items[0].attempts, 1);
    database_free(&database);
}

static struct error *add_later(struct database *database, struct arena *arena, void *context)
{
    struct outbox_work work = {.kind = "sync", .rank = OUTBOX_ORDINARY, .delay_seconds = 30};
    (void)context;
    return outbox_add(database, arena, &work);
}

static void delayed_work_is_not_due_before(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    expect_ok(database_transaction(database, arena, add_later, NULL, NULL));
    assert_int_equal(claim(database, arena, 1).count, 0);
    pass(database, arena, 30);
    assert_int_equal(claim(database, arena, 1).count, 1);
    database_free(&database);
}

static void a_claim_is_a_lease(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct id user = id_new();
    given_items(database, arena, 1, user);
    struct outbox_items first = claim(database, arena, 10);
    assert_int_equal(first.count, 1);
    assert_true(id_equal(first.items[0].user_id, user));
    assert_int_equal(claim(database, arena, 10).count, 0);

    /* The runner died; its report, should it come after all, changes nothing. */
    pass(database, arena, 61);
    struct outbox_items second = claim(database, arena, 10);
    assert_int_equal(second.count, 1);
    assert_int_equal(second.items[0].attempts, 2);
    bool current;
    expect_ok(outbox_finish(database, arena, &first.items[0], &current));
    assert_false(current);
    expect_ok(outbox_bury(database, arena, &first.items[0], "late"));
    bool dead;
    expect_ok(outbox_retry(database, arena, &first.items[0], 1, "late", &dead));
    assert_string_equal(sql_text(database, arena, "SELECT status FROM outbox"), "waiting");

    expect_ok(outbox_finish(database, arena, &second.items[0], &current));
    assert_true(current);
    assert_string_equal(
        sql_text(database, arena,
                 "SELECT CONCAT(status, ' ', LENGTH(payload), ' ', finished_at IS NOT NULL) FROM outbox"),
        "done 0 1");
    pass(database, arena, 1000);
    assert_int_equal(claim(database, arena, 10).count, 0);
    database_free(&database);
}

static void what_fails_waits_longer_each_time_and_dies(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    given_items(database, arena, 1, id_new());
    static const int64_t waits[] = {5, 10, 20, 40, 80, 160, 320, 640, 900, 900};
    bool dead = false;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        struct outbox_items items = claim(database, arena, 1);
        assert_int_equal(items.count, 1);
        const char *before = server_time(database, arena);
        expect_ok(outbox_retry(database, arena, &items.items[0], 11, "smtp: 421 busy", &dead));
        const char *after = server_time(database, arena);
        assert_false(dead);
        assert_int_equal(sql_integer(database, arena,
                                     "SELECT next_attempt_at BETWEEN '%s' + INTERVAL %d SECOND"
                                     " AND '%s' + INTERVAL %d MICROSECOND FROM outbox",
                                     before, (int)waits[i], after, (int)waits[i] * 1200000),
                         1);
        pass(database, arena, -3600); /* nothing comes due while a slow machine looks */
        assert_int_equal(claim(database, arena, 1).count, 0);
        pass(database, arena, 3600 + 1100);
    }
    assert_string_equal(sql_text(database, arena, "SELECT last_error FROM outbox"), "smtp: 421 busy");
    struct outbox_items items = claim(database, arena, 1);
    expect_ok(outbox_retry(database, arena, &items.items[0], 11, "smtp: 421 busy", &dead));
    assert_true(dead);
    assert_string_equal(sql_text(database, arena, "SELECT CONCAT(status, ' ', LENGTH(payload)) FROM outbox"), "dead 0");
    pass(database, arena, 10000);
    assert_int_equal(claim(database, arena, 1).count, 0);
    database_free(&database);
}

static void a_reason_is_cut_at_a_character(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    given_items(database, arena, 2, id_new());
    struct outbox_items items = claim(database, arena, 2);
    char *reason = arena_alloc(arena, 2000);
    for (size_t i = 0; i < 999; i++)
        memcpy(reason + 2 * i, "\xc3\xa9", 2);
    expect_ok(outbox_bury(database, arena, &items.items[0], reason));
    assert_int_equal(sql_integer(database, arena, "SELECT CHAR_LENGTH(last_error) FROM outbox WHERE status = 'dead'"),
                     500);
    expect_ok(outbox_bury(database, arena, &items.items[1], "ok\xff\xfe"));
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM outbox WHERE last_error = 'ok'"), 1);
    database_free(&database);
}

static void the_oldest_come_first_and_no_more_than_asked_for(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    given_items(database, arena, 5, id_new());
    sql(database, arena, "UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) - INTERVAL (100 - id MOD 100) SECOND");
    int64_t first = sql_integer(database, arena, "SELECT MIN(id) FROM outbox");
    struct outbox_items items = claim(database, arena, 2);
    assert_int_equal(items.count, 2);
    assert_int_equal(items.items[0].number, first);
    assert_int_equal(items.items[1].number, first + 1);
    items = claim(database, arena, 100);
    assert_int_equal(items.count, 3);
    assert_int_equal(items.items[0].number, first + 2);
    database_free(&database);
}

/* Rows that the statement reads of the table or its indexes on the way, by the server's own count. */
static int64_t rows_read(struct database *database, struct arena *arena)
{
    static const struct statement count = {
        "SELECT CAST(SUM(VARIABLE_VALUE) AS SIGNED) FROM information_schema.SESSION_STATUS"
        " WHERE VARIABLE_NAME IN ('HANDLER_READ_FIRST', 'HANDLER_READ_KEY', 'HANDLER_READ_NEXT', 'HANDLER_READ_PREV')"};
    struct rows *rows;
    expect_ok(database_query(database, arena, &count, NO_VALUES, &rows));
    return rows_integer(rows, 0, 0);
}

static void a_code_never_waits_behind_thousands_of_others(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    given_work(database, arena, 3000, "sync", OUTBOX_ORDINARY);
    given_work(database, arena, 3000, "forgotten", OUTBOX_QUESTION);
    /* Of its own rank thousands wait for their next attempt, as when a mail server was down. */
    given_work(database, arena, 3000, "later", OUTBOX_URGENT);
    sql(database, arena,
        "UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) + INTERVAL IF(kind = 'later', 3600, -60) SECOND");
    given_work(database, arena, 4, "code", OUTBOX_URGENT);
    (void)claim(database, arena, 1);
    int64_t before = rows_read(database, arena);
    struct outbox_items items = claim(database, arena, 100);
    assert_true(rows_read(database, arena) - before < 100);
    assert_int_equal(items.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(items.items[i].kind, "code");

    /* Then the questions, then the rest, one at a time, so that the next code waits for one at most. */
    before = rows_read(database, arena);
    items = claim(database, arena, 100);
    assert_true(rows_read(database, arena) - before < 100);
    assert_int_equal(items.count, 1);
    assert_string_equal(items.items[0].kind, "forgotten");
    given_work(database, arena, 1, "code", OUTBOX_URGENT);
    assert_string_equal(claim(database, arena, 100).items[0].kind, "code");
    sql(database, arena, "DELETE FROM outbox WHERE kind = 'forgotten'");
    items = claim(database, arena, 100);
    assert_int_equal(items.count, 1);
    assert_string_equal(items.items[0].kind, "sync");
    database_free(&database);
}

static int claim_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    (void)context;
    int done = 0;
    for (unsigned idle = 0; idle < 20;) {
        struct outbox_items items;
        if (outbox_claim(database, arena, 3, 60, &items) != NULL)
            return 99;
        idle = items.count == 0 ? idle + 1 : 0;
        for (size_t i = 0; i < items.count; i++) {
            bool current;
            if (outbox_finish(database, arena, &items.items[i], &current) != NULL || !current)
                return 98;
            done++;
        }
    }
    return done;
}

static void runners_never_share_an_item(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    given_items(database, arena, 90, id_new());
    int results[RACERS_MAX];
    race(4, claim_racer, NULL, results);
    assert_int_equal(results[0] + results[1] + results[2] + results[3], 90);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM outbox WHERE status = 'done' AND attempts = 1"),
                     90);
    database_free(&database);
}

static void counts_and_purges_what_is_done(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct outbox_counts counts;
    expect_ok(outbox_count(database, arena, &counts));
    assert_int_equal(counts.waiting + counts.overdue + counts.dead, 0);
    int64_t none;
    expect_ok(outbox_lag(database, arena, &none));
    assert_int_equal(none, 0);
    given_items(database, arena, 4, id_new());
    struct outbox_items items = claim(database, arena, 2);
    bool current;
    expect_ok(outbox_finish(database, arena, &items.items[0], &current));
    expect_ok(outbox_bury(database, arena, &items.items[1], "refused"));
    sql(database, arena,
        "UPDATE outbox SET next_attempt_at = next_attempt_at - INTERVAL 2 MINUTE"
        " WHERE status = 'waiting' ORDER BY id LIMIT 1");
    expect_ok(outbox_count(database, arena, &counts));
    assert_int_equal(counts.waiting, 2);
    assert_int_equal(counts.overdue, 1);
    assert_int_equal(counts.dead, 1);
    int64_t lag;
    expect_ok(outbox_lag(database, arena, &lag));
    assert_true(lag >= 120000 && lag < 3600000);
    sql(database, arena,
        "UPDATE outbox SET next_attempt_at = next_attempt_at + INTERVAL 1 DAY WHERE status = 'waiting'");
    expect_ok(outbox_lag(database, arena, &lag));
    assert_int_equal(lag, 0);

    uint64_t count;
    expect_ok(outbox_purge(database, arena, 30, 100, &count));
    assert_int_equal(count, 0);
    pass(database, arena, 31 * 86400);
    expect_ok(outbox_purge(database, arena, 30, 100, &count));
    assert_int_equal(count, 1);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM outbox WHERE status = 'done'"), 0);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM outbox"), 3);
    database_free(&database);
}

static bool recent(struct database *database, struct arena *arena, struct id user, const char *kind, const char *other)
{
    bool found = true;
    expect_ok(outbox_has_recent(database, arena, user, kind, other, 10, &found));
    return found;
}

static void recent_work_is_that_of_the_user_and_the_kinds(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct id user = id_new();
    assert_false(recent(database, arena, user, "mail", "sync"));
    given_items(database, arena, 1, user);
    assert_true(recent(database, arena, user, "mail", "sync"));
    assert_true(recent(database, arena, user, "sync", "mail"));
    assert_false(recent(database, arena, user, "sync", "sync"));
    assert_false(recent(database, arena, id_new(), "mail", "mail"));
    struct outbox_items items = claim(database, arena, 1);
    assert_true(recent(database, arena, user, "mail", "mail"));
    expect_ok(outbox_finish(database, arena, &items.items[0], NULL));
    assert_true(recent(database, arena, user, "mail", "mail"));
    sql(database, arena, "UPDATE outbox SET finished_at = finished_at - INTERVAL %u SECOND", 10);
    assert_false(recent(database, arena, user, "mail", "mail"));
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(work_appears_with_its_transaction_only),
    HARNESS_TEST(delayed_work_is_not_due_before),
    HARNESS_TEST(a_claim_is_a_lease),
    HARNESS_TEST(what_fails_waits_longer_each_time_and_dies),
    HARNESS_TEST(a_reason_is_cut_at_a_character),
    HARNESS_TEST(the_oldest_come_first_and_no_more_than_asked_for),
    HARNESS_TEST(a_code_never_waits_behind_thousands_of_others),
    HARNESS_TEST(runners_never_share_an_item),
    HARNESS_TEST(recent_work_is_that_of_the_user_and_the_kinds),
    HARNESS_TEST(counts_and_purges_what_is_done),
};
HARNESS_MODULE(outbox, cases)
