/* SPDX-License-Identifier: MIT */
/* The purge: which files and rows go, and which stay. */
#include "service/maintenance/purge.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "blob/blob.h"
#include "domain/audit.h"
#include "domain/file/file_damage.h"
#include "domain/file/file_usage.h"
#include "domain/lease.h"
#include "harness.h"
#include "service/maintenance/lease_holder.h"
#include "service/support_maintenance.h"

#define DAY 86400

static int64_t days_ago(int64_t days)
{
    return clock_now() - days * DAY * 1000;
}

static struct purge_result purge(struct keep *keep, int64_t days, bool dry_run)
{
    struct purge_result result;
    const struct purge_options options = {.before = days_ago(days), .dry_run = dry_run, .progress = &keep->progress};
    expect_ok(purge_files(&keep->service, keep->arena, keep->scratch, &options, &result));
    return result;
}

static int64_t rows(struct keep *keep, const char *table)
{
    return sql_integer(keep->service.database, keep->arena, "SELECT COUNT(*) FROM %s", table);
}

static bool row_there(struct keep *keep, struct id id)
{
    return sql_integer(keep->service.database, keep->arena, "SELECT COUNT(*) FROM file WHERE id = %s",
                       sql_id(keep->arena, id)) == 1;
}

static bool bytes_there(struct keep *keep, struct id id)
{
    return access(keep_path(keep, id), F_OK) == 0;
}

static void only_what_is_archived_for_long_goes(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record active = keep_file(keep, 10, 1, 100 * DAY);
    struct file_record recent = keep_file(keep, 20, 2, 100 * DAY);
    struct file_record old = keep_file(keep, 30, 3, 100 * DAY);
    keep_archive(keep, recent.id, 29 * DAY);
    keep_archive(keep, old.id, 31 * DAY);
    struct purge_result result = purge(keep, 30, false);
    assert_int_equal(result.count, 1);
    assert_int_equal(result.bytes, 30);
    assert_true(row_there(keep, active.id) && bytes_there(keep, active.id));
    assert_true(row_there(keep, recent.id) && bytes_there(keep, recent.id));
    assert_false(row_there(keep, old.id) || bytes_there(keep, old.id));
    assert_int_equal(rows(keep, "file_tag"), 4);
    struct file_usage usage;
    expect_ok(file_usage_find(keep->service.database, keep->arena, keep->organisation, &usage));
    assert_int_equal(usage.files, 2);
    assert_int_equal(usage.bytes, 30); /* 10 and 20: the place of the third is free */
    assert_int_equal(rows(keep, "file_removal"), 0);
    assert_int_equal(purge(keep, 30, false).count, 0);
}

static void what_was_purged_is_told_by_the_audit_trail(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record old = keep_file(keep, 30, 3, DAY);
    keep_archive(keep, old.id, DAY);
    assert_int_equal(purge(keep, 0, false).count, 1);
    const char *details = sql_text(keep->service.database, keep->arena,
                                   "SELECT details FROM audit WHERE action = 'file.purge' AND target_id = '%s'"
                                   " AND organisation_id = %s AND outcome = 'success'",
                                   id_text(keep->arena, old.id), sql_id(keep->arena, keep->organisation));
    assert_non_null(details);
    assert_non_null(strstr(details, "\"size\":30,"));
    assert_non_null(strstr(details, "\"hash\":\""));
    assert_non_null(strstr(details, "\"archivedAt\":\"20"));
}

static void a_dry_run_counts_and_changes_nothing(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record old = keep_file(keep, 30, 3, DAY);
    keep_archive(keep, old.id, DAY);
    struct purge_result result = purge(keep, 0, true);
    assert_int_equal(result.count, 1);
    assert_int_equal(result.bytes, 30);
    assert_true(row_there(keep, old.id) && bytes_there(keep, old.id));
    assert_int_equal(rows(keep, "audit"), 0);
}

static void each_organisation_gets_its_own_place_back(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct id homes[3] = {keep->organisation};
    for (unsigned i = 1; i < 3; i++)
        homes[i] = given_organisation(keep->service.database, keep->arena);
    for (unsigned i = 0; i < 30; i++) {
        keep->organisation = homes[i % 3];
        struct file_record record = keep_file(keep, 10 + i % 3, i, 0);
        if (i >= 3)
            keep_archive(keep, record.id, DAY);
    }
    assert_int_equal(purge(keep, 1, false).count, 27);
    for (unsigned i = 0; i < 3; i++) {
        struct file_usage usage;
        expect_ok(file_usage_find(keep->service.database, keep->arena, homes[i], &usage));
        assert_int_equal(usage.files, 1);
        assert_int_equal(usage.bytes, 10 + i);
    }
}

static void many_files_go_in_portions(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    for (unsigned i = 0; i < 130; i++) {
        struct file_record record = keep_file(keep, 10, i, 0);
        if (i % 13 != 0)
            keep_archive(keep, record.id, DAY);
    }
    assert_int_equal(purge(keep, 1, false).count, 120);
    assert_int_equal(rows(keep, "file"), 10);
    assert_int_equal(rows(keep, "audit"), 120);
}

/* A crash after the commit leaves bytes and a note of them. */
static void what_a_crash_left_is_finished(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct lease_holder lease;
    uint64_t count;
    for (int round = 0; round < 2; round++) {
        struct id id = keep_orphan(keep, 0);
        sql(keep->service.database, keep->arena, "INSERT INTO file_removal (file_id) VALUES (%s)",
            sql_id(keep->arena, id));
        if (round == 0) {
            assert_int_equal(purge(keep, 30, false).count, 0);
        } else {
            /* Not while a backup runs: it may need them. */
            expect_ok(lease_holder_take(&keep->service, keep->arena, LEASE_FILES, 0, &lease));
            expect_ok(purge_finish(&keep->service, keep->arena, &count));
            assert_int_equal(count, 0);
            assert_true(bytes_there(keep, id));
            lease_holder_release(&lease, keep->arena);
            expect_ok(purge_finish(&keep->service, keep->arena, &count));
            assert_int_equal(count, 1);
        }
        assert_false(bytes_there(keep, id));
        assert_int_equal(rows(keep, "file_removal"), 0);
    }
}

static void a_file_restored_in_between_stays(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record record = keep_file(keep, 10, 1, DAY);
    enum file_outcome outcome;
    keep_archive(keep, record.id, DAY);
    expect_ok(file_restore(keep->service.database, keep->arena, keep->organisation, record.id, &outcome));
    keep_archive(keep, record.id, 0); /* archived again, now */
    assert_int_equal(purge(keep, 1, false).count, 0);
    assert_true(row_there(keep, record.id) && bytes_there(keep, record.id));
}

/* An empty folder in place of the store: nothing goes, so the bytes can still be removed when it is mounted. */
static void a_file_whose_bytes_are_missing_stays_until_it_is_known_as_lost(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record gone = keep_file(keep, 10, 1, DAY);
    struct file_record there = keep_file(keep, 20, 2, DAY);
    bool changed = false;
    keep_archive(keep, gone.id, DAY);
    keep_archive(keep, there.id, DAY);
    assert_int_equal(unlink(keep_path(keep, gone.id)), 0);
    assert_int_equal(purge(keep, 0, true).missing, 1);
    struct purge_result result = purge(keep, 0, false);
    assert_int_equal(result.count, 1);
    assert_int_equal(result.bytes, 20);
    assert_int_equal(result.missing, 1);
    assert_true(row_there(keep, gone.id) && !row_there(keep, there.id));
    assert_int_equal(rows(keep, "audit WHERE action = 'file.purge'"), 1);
    expect_ok(file_lost_note(keep->service.database, keep->arena, gone.id, &changed));
    result = purge(keep, 0, false);
    assert_true(changed && result.count == 1 && result.missing == 0);
    assert_false(row_there(keep, gone.id));
}

static void given_audit(struct keep *keep, int64_t days)
{
    struct id id = id_new();
    uint64_t time = (uint64_t)days_ago(days);
    for (int i = 5; i >= 0; i--, time >>= 8)
        id.bytes[i] = (uint8_t)time;
    sql(keep->service.database, keep->arena,
        "INSERT INTO audit (id, at, action, outcome) VALUES (%s, UTC_TIMESTAMP(3) - INTERVAL %d DAY, 'user.login', "
        "'success')",
        sql_id(keep->arena, id), (int)days);
}

static void old_audit_rows_go_and_the_trail_says_so(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct purge_result result;
    for (int i = 0; i < 1500; i++)
        given_audit(keep, i % 3 == 0 ? 10 : 400);
    struct purge_options options = {.before = days_ago(365), .dry_run = true, .progress = &keep->progress};
    expect_ok(purge_audit(&keep->service, keep->arena, keep->scratch, &options, &result));
    assert_int_equal(result.count, 1000);
    assert_int_equal(rows(keep, "audit"), 1500);
    options.dry_run = false;
    expect_ok(purge_audit(&keep->service, keep->arena, keep->scratch, &options, &result));
    assert_int_equal(result.count, 1000);
    assert_int_equal(rows(keep, "audit WHERE action = 'user.login'"), 500);
    const char *details =
        sql_text(keep->service.database, keep->arena, "SELECT details FROM audit WHERE action = 'audit.purge'");
    assert_non_null(strstr(details, "\"rows\":1000"));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(only_what_is_archived_for_long_goes),
    HARNESS_TEST(what_was_purged_is_told_by_the_audit_trail),
    HARNESS_TEST(a_dry_run_counts_and_changes_nothing),
    HARNESS_TEST(each_organisation_gets_its_own_place_back),
    HARNESS_TEST(many_files_go_in_portions),
    HARNESS_TEST(what_a_crash_left_is_finished),
    HARNESS_TEST(a_file_restored_in_between_stays),
    HARNESS_TEST(a_file_whose_bytes_are_missing_stays_until_it_is_known_as_lost),
    HARNESS_TEST(old_audit_rows_go_and_the_trail_says_so),
};
HARNESS_MODULE(purge, cases)
