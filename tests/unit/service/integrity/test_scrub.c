/* SPDX-License-Identifier: MIT */
/* The scrub: passes over all files, marks, rate and leases. */
#include "service/integrity/scrub.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "blob/blob.h"
#include "domain/file/file_damage.h"
#include "harness.h"
#include "service/integrity/fsck.h"
#include "service/support_maintenance.h"
#include "store/database/database.h"
#include "support_database.h"

#define SECOND INT64_C(1000000)
#define STEPS_MAX 100000

/* One whole pass, as fast as it goes; the position at its end. */
static struct scrub_position pass(struct keep *keep, bool damaged)
{
    const struct scrub_options options = {.every_days = 7, .now = !damaged, .damaged = damaged, .patient = true};
    struct scrub *scrub = scrub_new(&keep->service, &options);
    enum scrub_state state = SCRUB_READING;
    for (int i = 0; i < STEPS_MAX && state != SCRUB_DONE; i++)
        expect_ok(scrub_step(scrub, clock_monotonic(), &state));
    assert_int_equal(state, SCRUB_DONE);
    struct scrub_position position = *scrub_position(scrub);
    scrub_free(&scrub);
    return position;
}

static bool is_damaged(struct keep *keep, struct id id)
{
    struct file_record *record;
    expect_ok(file_find(keep->service.database, keep->arena, keep->organisation, id, &record));
    assert_non_null(record);
    return record->damaged;
}

static int64_t audited(struct keep *keep, const char *action, struct id id)
{
    return sql_integer(keep->service.database, keep->arena,
                       "SELECT COUNT(*) FROM audit WHERE action = '%s' AND target_id = '%s'", action,
                       id_text(keep->arena, id));
}

static void a_flipped_bit_is_found_within_one_pass_and_gone_when_the_bytes_are_back(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record records[12];
    for (unsigned i = 0; i < 12; i++)
        records[i] = keep_file(keep, i == 0 ? 300000 : 1 + i * 777, i, 0);
    struct scrub_position position = pass(keep, false);
    assert_int_equal(position.files, 12);
    assert_int_equal(position.damaged, 0);
    keep_flip(keep, records[0].id, 8 * 299999);
    keep_flip(keep, records[7].id, 0);
    position = pass(keep, false);
    assert_int_equal(position.damaged, 2);
    assert_true(position.finished != 0 && position.begun == 0);
    for (unsigned i = 0; i < 12; i++)
        assert_int_equal(is_damaged(keep, records[i].id), i == 0 || i == 7);
    assert_int_equal(audited(keep, "file.damaged", records[7].id), 1);
    keep_flip(keep, records[7].id, 0);
    (void)pass(keep, true);
    assert_true(is_damaged(keep, records[0].id));
    assert_false(is_damaged(keep, records[7].id));
    assert_int_equal(audited(keep, "file.repaired", records[7].id), 1);
    keep_flip(keep, records[0].id, 8 * 299999);
    (void)pass(keep, false);
    assert_false(is_damaged(keep, records[0].id));
    /* What stands is not written again. */
    (void)pass(keep, false);
    assert_int_equal(audited(keep, "file.damaged", records[0].id), 1);
    assert_int_equal(audited(keep, "file.repaired", records[0].id), 1);
}

/* A file with the bytes of another, under a second name of them. */
static struct file_record share(struct keep *keep, const struct file_record *record, const char *name)
{
    struct file_record twin = *record;
    bool linked = false;
    twin.id = id_new();
    twin.name = name;
    expect_ok(blob_link(keep->service.blobs, keep->arena, record->id, twin.id, (uint64_t)record->size, &linked));
    assert_true(linked);
    assert_false(insert_file(keep->service.database, keep->arena, &twin));
    return twin;
}

static void all_files_that_share_the_bytes_are_marked_with_the_first(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record first = keep_file(keep, 70000, 1, 0);
    struct file_record second = share(keep, &first, "second");
    struct file_record third = share(keep, &first, "third");
    const struct scrub_options options = {.now = true, .bytes_per_second = 65536};
    enum scrub_state step = SCRUB_READING;
    struct scrub *scrub = scrub_new(&keep->service, &options);
    struct id found;
    bool known = true;
    keep_flip(keep, first.id, 5);
    /* As soon as the first one is read, twice: 70,000 bytes and 70,000 again. */
    for (int64_t now = SECOND; scrub_position(scrub)->damaged == 0 && now < 60 * SECOND; now += SECOND)
        expect_ok(scrub_step(scrub, now, &step));
    assert_int_equal(scrub_position(scrub)->files, 1);
    assert_true(is_damaged(keep, first.id) && is_damaged(keep, second.id) && is_damaged(keep, third.id));
    scrub_free(&scrub);
    /* An upload of the same bytes must not be given the damaged ones. */
    expect_ok(file_find_bytes(keep->service.database, keep->arena, keep->organisation, first.hash, &found, &known));
    assert_false(known);
}

static void missing_bytes_are_told_of_and_not_marked(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record record = keep_file(keep, 100, 1, 0);
    struct file_record cut = keep_file(keep, 100, 2, 0);
    assert_int_equal(unlink(keep_path(keep, record.id)), 0);
    assert_int_equal(truncate(keep_path(keep, cut.id), 50), 0);
    struct scrub_position position = pass(keep, false);
    assert_int_equal(position.lost, 1);
    assert_int_equal(position.last_lost, 1);
    assert_int_equal(position.damaged, 1);
    assert_false(is_damaged(keep, record.id));
    assert_true(is_damaged(keep, cut.id));
}

/* What the scrub says of the files; NULL: all is well. */
static const char *health(struct keep *keep)
{
    const char *problem;
    keep->configuration.scrub.overdue_days = 30;
    expect_ok(scrub_health(&keep->service, keep->arena, &problem));
    return problem;
}

static void run_fsck(struct keep *keep, bool repair)
{
    struct fsck_result result;
    const struct fsck_options fsck = {.repair = repair, .progress = &keep->progress};
    expect_ok(fsck_run(&keep->service, keep->arena, keep->scratch, &fsck, &result));
}

static void a_lost_file_is_told_with_the_way_out_until_it_is_read(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record record = keep_file(keep, 100, 1, 0);
    (void)keep_file(keep, 100, 2, 0);
    const char *path = keep_path(keep, record.id);
    const char *aside = arena_format(keep->arena, "%s.aside", path);
    assert_int_equal(rename(path, aside), 0);
    (void)pass(keep, false);
    assert_non_null(strstr(health(keep), "damaged (0) or lost (1)"));
    assert_non_null(strstr(health(keep), "gatehousectl fsck --repair --from FOLDER"));
    assert_non_null(strstr(health(keep), "gatehousectl scrub --damaged"));
    /* A look that finds nothing new changes nothing; one that finds the bytes ends it, without a whole pass. */
    (void)pass(keep, true);
    assert_non_null(health(keep));
    assert_int_equal(rename(aside, path), 0);
    (void)pass(keep, true);
    assert_null(health(keep));
    assert_int_equal(rename(path, aside), 0);
    (void)pass(keep, false);
    assert_int_equal(rename(aside, path), 0);
    (void)pass(keep, false);
    assert_null(health(keep));
}

static void fsck_tells_of_lost_files_as_well(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record record = keep_file(keep, 100, 1, 9000);
    struct file_record cut = keep_file(keep, 100, 2, 9000);
    const char *path = keep_path(keep, record.id);
    const char *aside = arena_format(keep->arena, "%s.aside", path);
    assert_int_equal(rename(path, aside), 0);
    run_fsck(keep, false);
    assert_non_null(strstr(health(keep), "damaged (0) or lost (1)"));
    assert_int_equal(rename(aside, path), 0);
    run_fsck(keep, false);
    assert_null(health(keep));
    /* Wrong bytes are moved aside: then there are none. */
    assert_int_equal(truncate(keep_path(keep, cut.id), 50), 0);
    run_fsck(keep, false);
    assert_non_null(strstr(health(keep), "damaged (1) or lost (0)"));
    run_fsck(keep, true);
    assert_non_null(strstr(health(keep), "damaged (0) or lost (1)"));
    /* What is purged is missed by nobody. */
    sql(keep->service.database, keep->arena, "DELETE FROM file_tag WHERE file_id = %s", sql_id(keep->arena, cut.id));
    sql(keep->service.database, keep->arena, "DELETE FROM file WHERE id = %s", sql_id(keep->arena, cut.id));
    assert_null(health(keep));
}

static void a_disk_that_is_gone_fills_no_table(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record record = keep_file(keep, 100, 1, 0);
    bool changed = false;
    sql(keep->service.database, keep->arena,
        "INSERT INTO file (id, organisation_id, user_id, bucket, type, name, hash, size, content_type, status, tags)"
        " SELECT UNHEX(LPAD(HEX(s.seq), 32, '0')), f.organisation_id, f.user_id, f.bucket, f.type, CONCAT('n', s.seq),"
        " f.hash, f.size, f.content_type, f.status, f.tags FROM file f"
        " JOIN seq_1_to_" LIMIT_TEXT(LIMIT_FILES_LOST) " s");
    sql(keep->service.database, keep->arena,
        "INSERT INTO file_lost SELECT id, UTC_TIMESTAMP(3) FROM file WHERE name <> '%s'", record.name);
    expect_ok(file_lost_note(keep->service.database, keep->arena, record.id, &changed));
    assert_false(changed);
    sql(keep->service.database, keep->arena, "DELETE FROM file_lost LIMIT 1");
    expect_ok(file_lost_note(keep->service.database, keep->arena, record.id, &changed));
    assert_true(changed);
}

/* The time is the test's own, so that only counting can hold the limit. */
static void the_rate_is_held_by_counting(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    const int64_t rate = 4 * SCRUB_BLOCK_BYTES;
    const struct scrub_options options = {.now = true, .bytes_per_second = rate};
    enum scrub_state step = SCRUB_READING;
    int64_t read = 0;
    for (unsigned i = 0; i < 5; i++)
        (void)keep_file(keep, 500000, i, 0);
    struct scrub *scrub = scrub_new(&keep->service, &options);
    for (int64_t passed = 0; step != SCRUB_DONE; passed += SECOND / 8) {
        expect_ok(scrub_step(scrub, 1 + passed, &step));
        int64_t now = scrub_position(scrub)->bytes;
        assert_true(now <= rate * passed / SECOND);
        assert_true(now - read <= rate);
        read = now;
        assert_true(passed < 60 * SECOND);
    }
    assert_int_equal(read, 5 * 500000);
    /* A step after a long pause gets one second's worth, not the pause's. */
    struct scrub_rate bucket = {.bytes_per_second = rate};
    assert_int_equal(scrub_rate_allow(&bucket, 1), 0);
    assert_int_equal(scrub_rate_allow(&bucket, 3600 * SECOND), rate);
    assert_int_equal(scrub_rate_allow(&bucket, 7200 * SECOND), rate);
    scrub_free(&scrub);
}

static void no_transaction_is_open_while_bytes_are_read(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    const struct scrub_options options = {.now = true, .bytes_per_second = SCRUB_BLOCK_BYTES};
    enum scrub_state step = SCRUB_READING;
    struct file_record record = keep_file(keep, 500000, 1, 0);
    struct scrub *scrub = scrub_new(&keep->service, &options);
    struct database *other = support_database_new();
    for (int64_t now = 1; now < 4 * SECOND; now += SECOND)
        expect_ok(scrub_step(scrub, now, &step));
    assert_true(scrub_position(scrub)->bytes > 0 && scrub_position(scrub)->files == 0);
    /* Threads of the server's own, such as that of the statistics, have the number 0. */
    assert_int_equal(sql_integer(other, keep->arena,
                                 "SELECT COUNT(*) FROM information_schema.innodb_trx"
                                 " WHERE trx_mysql_thread_id NOT IN (0, CONNECTION_ID())"),
                     0);
    sql(other, keep->arena, "SET SESSION innodb_lock_wait_timeout = 1");
    sql(other, keep->arena, "UPDATE file SET name = 'changed' WHERE id = %s", sql_id(keep->arena, record.id));
    database_free(&other);
    scrub_free(&scrub);
}

static void a_page_that_cannot_be_read_is_an_error_and_tried_again(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    const struct scrub_options options = {.now = true};
    enum scrub_state step = SCRUB_IDLE;
    (void)keep_file(keep, 100, 1, 0);
    struct scrub *scrub = scrub_new(&keep->service, &options);
    sql(keep->service.database, keep->arena, "RENAME TABLE file_lost TO file_lost_away");
    struct error *error = scrub_step(scrub, clock_monotonic(), &step);
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "error 1146"));
    sql(keep->service.database, keep->arena, "RENAME TABLE file_lost_away TO file_lost");
    /* The lease was given back. */
    for (int64_t now = 100 * SECOND; step != SCRUB_DONE; now += 20 * SECOND)
        expect_ok(scrub_step(scrub, now, &step));
    scrub_free(&scrub);
}

/* Two job runners: the first stands still for so long that the second takes its work over. */
static void who_was_taken_over_marks_nothing_and_moves_no_position(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    const struct scrub_options options = {.every_days = 7, .bytes_per_second = SCRUB_BLOCK_BYTES};
    enum scrub_state step = SCRUB_IDLE;
    struct file_record small = keep_file(keep, 100, 1, 0);
    struct file_record large = keep_file(keep, 100000, 2, 0);
    keep_flip(keep, large.id, 9);
    struct scrub *first = scrub_new(&keep->service, &options);
    for (int64_t now = 1; scrub_position(first)->files == 0; now += SECOND)
        expect_ok(scrub_step(first, now, &step));
    /* It is in the midst of the damaged file. Meanwhile the operator puts the bytes back, and a whole pass reads. */
    keep_flip(keep, large.id, 9);
    sql(keep->service.database, keep->arena,
        "UPDATE maintenance SET held_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");
    struct scrub_position whole = pass(keep, false);
    assert_int_equal(whole.files, 2);
    keep_flip(keep, large.id, 9);
    struct error *error = NULL;
    for (int64_t now = 100 * SECOND; error == NULL && now < 120 * SECOND; now += SECOND)
        error = scrub_step(first, now, &step);
    expect_error(error, ERROR_INTERNAL);
    assert_false(is_damaged(keep, large.id) || is_damaged(keep, small.id));
    scrub_free(&first);
    struct scrub_position position;
    expect_ok(scrub_position_load(&keep->service, keep->arena, &position));
    assert_true(position.finished == whole.finished && position.begun == 0);
}

/* The child reads some files, saves where it stands, reads on and is killed in the midst of a file. */
static void begin_and_die(struct keep *keep)
{
    const struct scrub_options options = {.now = true, .bytes_per_second = SCRUB_BLOCK_BYTES * 4};
    enum scrub_state step;
    struct database *own = support_database_new();
    keep->service.database = own;
    struct scrub *scrub = scrub_new(&keep->service, &options);
    for (int64_t now = 1; scrub_position(scrub)->files < 6; now += SECOND)
        if (scrub_step(scrub, now, &step) != NULL)
            _exit(1);
    (void)sleep(6); /* the position is saved every five seconds */
    for (int64_t now = 100 * SECOND; now < 103 * SECOND; now += SECOND)
        (void)scrub_step(scrub, now, &step);
    (void)kill(getpid(), SIGKILL);
}

static void a_killed_pass_is_gone_on_with_where_it_stood(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct scrub_position position;
    struct id ids[20];
    int status;
    for (unsigned i = 0; i < 20; i++)
        ids[i] = keep_file(keep, 100000, i, 0).id;
    pid_t child = fork();
    if (child == 0)
        begin_and_die(keep);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    expect_ok(scrub_position_load(&keep->service, keep->arena, &position));
    assert_true(position.begun != 0 && position.files >= 6 && position.files < 20);
    int64_t stood = position.files;
    int64_t begun = position.begun;

    /* Nobody else reads while the dead one's lease lasts. */
    const struct scrub_options options = {.every_days = 7};
    enum scrub_state step;
    struct scrub *scrub = scrub_new(&keep->service, &options);
    expect_ok(scrub_step(scrub, clock_monotonic(), &step));
    assert_int_equal(step, SCRUB_WAITING);
    scrub_free(&scrub);
    sql(keep->service.database, keep->arena,
        "UPDATE maintenance SET held_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");

    /* What was read is not read again; what was not is. */
    keep_flip(keep, ids[0], 1);
    keep_flip(keep, ids[19], 1);
    scrub = scrub_new(&keep->service, &options);
    for (int i = 0; i < STEPS_MAX && step != SCRUB_DONE; i++)
        expect_ok(scrub_step(scrub, clock_monotonic(), &step));
    assert_int_equal(scrub_position(scrub)->files, 20);
    assert_int_equal(scrub_position(scrub)->finished, begun);
    assert_int_equal(scrub_position(scrub)->damaged, 1);
    assert_true(stood >= 6 && !is_damaged(keep, ids[0]) && is_damaged(keep, ids[19]));
    scrub_free(&scrub);
}

static void a_pass_begins_when_it_is_due(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    const struct scrub_options options = {.every_days = 7};
    enum scrub_state step = SCRUB_READING;
    struct file_record record = keep_file(keep, 10, 1, 0);
    assert_null(health(keep));
    (void)pass(keep, false);
    struct scrub *scrub = scrub_new(&keep->service, &options);
    expect_ok(scrub_step(scrub, clock_monotonic(), &step));
    assert_int_equal(step, SCRUB_IDLE);
    scrub_free(&scrub);
    assert_null(health(keep));
    keep_flip(keep, record.id, 0);
    /* The last whole pass, long ago. */
    sql(keep->service.database, keep->arena,
        "UPDATE maintenance SET position = REGEXP_REPLACE(position,"
        " ' [0-9]+ [0-9]+ [0-9]+$', ' 1000 1000 0') WHERE name = 'scrub'");
    assert_non_null(strstr(health(keep), "Not every file has been read again in the last 30 days."));
    scrub = scrub_new(&keep->service, &options);
    for (int i = 0; i < STEPS_MAX && step != SCRUB_DONE; i++)
        expect_ok(scrub_step(scrub, clock_monotonic(), &step));
    assert_int_equal(step, SCRUB_DONE);
    scrub_free(&scrub);
    assert_true(is_damaged(keep, record.id));
    assert_non_null(strstr(health(keep), "damaged (1) or lost (0)"));
}

static void fsck_marks_what_it_finds_and_takes_the_mark_away(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record record = keep_file(keep, 5000, 1, 0);
    struct file_record moved = keep_file(keep, 5000, 2, 0);
    struct fsck_options options = {.progress = &keep->progress};
    struct fsck_result result;
    keep_flip(keep, record.id, 3);
    expect_ok(fsck_run(&keep->service, keep->arena, keep->scratch, &options, &result));
    assert_true(is_damaged(keep, record.id));
    keep_flip(keep, record.id, 3);
    expect_ok(fsck_run(&keep->service, keep->arena, keep->scratch, &options, &result));
    assert_false(is_damaged(keep, record.id));
    /* Bytes that were moved to the quarantine cannot be sent. */
    keep_flip(keep, moved.id, 3);
    options.repair = true;
    (void)pass(keep, false);
    assert_true(is_damaged(keep, moved.id));
    expect_ok(fsck_run(&keep->service, keep->arena, keep->scratch, &options, &result));
    assert_false(is_damaged(keep, moved.id));
    assert_int_equal(access(keep_path(keep, moved.id), F_OK), -1);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_flipped_bit_is_found_within_one_pass_and_gone_when_the_bytes_are_back),
    HARNESS_TEST(all_files_that_share_the_bytes_are_marked_with_the_first),
    HARNESS_TEST(missing_bytes_are_told_of_and_not_marked),
    HARNESS_TEST(a_lost_file_is_told_with_the_way_out_until_it_is_read),
    HARNESS_TEST(fsck_tells_of_lost_files_as_well),
    HARNESS_TEST(a_disk_that_is_gone_fills_no_table),
    HARNESS_TEST(the_rate_is_held_by_counting),
    HARNESS_TEST(no_transaction_is_open_while_bytes_are_read),
    HARNESS_TEST(a_page_that_cannot_be_read_is_an_error_and_tried_again),
    HARNESS_TEST(who_was_taken_over_marks_nothing_and_moves_no_position),
    HARNESS_TEST(a_killed_pass_is_gone_on_with_where_it_stood),
    HARNESS_TEST(a_pass_begins_when_it_is_due),
    HARNESS_TEST(fsck_marks_what_it_finds_and_takes_the_mark_away),
};

HARNESS_MODULE(scrub, cases)
