/* SPDX-License-Identifier: MIT */
/* fsck: what it finds between rows and bytes, and what it repairs. */
#include "service/integrity/fsck.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "blob/blob.h"
#include "domain/lease.h"
#include "harness.h"
#include "service/maintenance/lease_holder.h"
#include "service/support_maintenance.h"
#include "store/database/database.h"
#include "support_database.h"

#define FINDINGS_MAX 200
#define DAY 86400

struct found {
    struct arena *arena;
    struct fsck_finding items[FINDINGS_MAX];
    size_t count;
};

static void note(void *context, const struct fsck_finding *finding)
{
    struct found *found = context;
    assert_true(found->count < FINDINGS_MAX);
    struct fsck_finding *copy = &found->items[found->count++];
    *copy = *finding;
    copy->path = arena_text(found->arena, finding->path);
    copy->moved_to = arena_text(found->arena, finding->moved_to);
}

static struct fsck_result run(struct keep *keep, struct fsck_options options, struct found *found)
{
    struct fsck_result result;
    memset(found, 0, sizeof *found);
    found->arena = keep->arena;
    options.found = note;
    options.context = found;
    options.progress = &keep->progress;
    expect_ok(fsck_run(&keep->service, keep->arena, keep->scratch, &options, &result));
    return result;
}

static bool has(const struct found *found, enum fsck_kind kind, struct id id)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->items[i].kind == kind && id_equal(found->items[i].id, id))
            return true;
    return false;
}

static bool there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void a_store_in_order_has_no_finding(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct found found;
    for (unsigned i = 0; i < 30; i++)
        (void)keep_file(keep, 1000 * i, i, 0);
    struct file_record archived = keep_file(keep, 5, 99, 0);
    keep_archive(keep, archived.id, 0);
    struct fsck_result result = run(keep, (struct fsck_options){0}, &found);
    assert_int_equal(found.count, 0);
    assert_int_equal(result.files, 31);
    assert_int_equal(result.blobs, 31);
    assert_int_equal(result.unrepaired, 0);
    assert_int_equal(result.bytes, 1000 * 29 * 30 / 2 + 5);
    assert_false(result.interrupted);
}

/* The promise: 100 of 100. One bit each, anywhere: in the first byte, in the last, in any block. */
static void a_hundred_flipped_bits_are_a_hundred_findings(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct harness_random random = {.state = 4711};
    struct id flipped[100];
    struct found found;
    for (unsigned i = 0; i < 100; i++) {
        size_t length = i % 10 == 0 ? 700000 + i : 1 + harness_random_below(&random, 5000);
        struct file_record record = keep_file(keep, length, i, 0);
        size_t bit = i == 1 ? 0 : i == 2 ? length * 8 - 1 : harness_random_below(&random, (uint32_t)length * 8);
        flipped[i] = record.id;
        keep_flip(keep, record.id, bit);
        if (i % 4 == 0)
            (void)keep_file(keep, length, 1000 + i, 0);
    }
    struct fsck_result result = run(keep, (struct fsck_options){0}, &found);
    assert_int_equal(result.counts[FSCK_HASH], 100);
    assert_int_equal(result.unrepaired, 100);
    assert_int_equal(found.count, 100);
    for (size_t i = 0; i < 100; i++)
        assert_true(has(&found, FSCK_HASH, flipped[i]));
    result = run(keep, (struct fsck_options){.quick = true}, &found);
    assert_int_equal(found.count, 0); /* lengths are as they were, and that is all that this looks at */
    assert_int_equal(result.bytes, 0);
}

/* One of each fault. */
struct faults {
    struct file_record missing, size, hash;
    struct id orphan, removal;
};

static struct faults given_faults(struct keep *keep)
{
    struct faults faults = {
        .missing = keep_file(keep, 100, 1, DAY),
        .size = keep_file(keep, 200, 2, DAY),
        .hash = keep_file(keep, 300, 3, DAY),
        .orphan = keep_orphan(keep, DAY),
        .removal = keep_orphan(keep, DAY),
    };
    (void)keep_file(keep, 400, 4, DAY);
    assert_int_equal(unlink(keep_path(keep, faults.missing.id)), 0);
    assert_int_equal(truncate(keep_path(keep, faults.size.id), 199), 0);
    keep_flip(keep, faults.hash.id, 77);
    sql(keep->service.database, keep->arena, "INSERT INTO file_removal (file_id) VALUES (%s)",
        sql_id(keep->arena, faults.removal));
    assert_int_equal(mkdir(keep_below(keep, "tmp"), 0700), 0);
    keep_age_path(harness_write(keep->arena, keep_below(keep, "tmp"), "00112233445566778899aabbccddeeff", "x", 1), DAY);
    (void)mkdir(keep_below(keep, "ab"), 0700);
    keep_age_path(harness_write(keep->arena, keep_below(keep, "ab"), "notes.txt", "y", 1), DAY);
    return faults;
}

static void each_kind_of_fault_is_found_and_nothing_is_touched(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct faults faults = given_faults(keep);
    struct found found;
    for (int round = 0; round < 2; round++) {
        struct fsck_result result = run(keep, (struct fsck_options){.min_age_seconds = 3600}, &found);
        assert_int_equal(found.count, 7);
        assert_int_equal(result.unrepaired, 6);
        assert_true(has(&found, FSCK_MISSING, faults.missing.id));
        assert_true(has(&found, FSCK_SIZE, faults.size.id));
        assert_true(has(&found, FSCK_HASH, faults.hash.id));
        assert_true(has(&found, FSCK_ORPHAN, faults.orphan));
        assert_true(has(&found, FSCK_REMOVAL, faults.removal));
        assert_int_equal(result.counts[FSCK_TEMPORARY], 1);
        assert_int_equal(result.counts[FSCK_STRAY], 1);
    }
    assert_false(there(keep_below(keep, "quarantine")));
}

static void repair_moves_aside_and_loses_nothing(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct faults faults = given_faults(keep);
    struct found found;
    size_t length;
    struct fsck_result result = run(keep, (struct fsck_options){.repair = true, .min_age_seconds = 3600}, &found);
    assert_int_equal(result.unrepaired, 3); /* whose bytes are lost: missing, size, hash */
    assert_int_equal(result.counts[FSCK_TEMPORARY], 1);
    for (size_t i = 0; i < found.count; i++) {
        if (found.items[i].moved_to == NULL)
            continue;
        assert_true(there(keep_below(keep, found.items[i].moved_to)));
        assert_false(there(keep_below(keep, found.items[i].path)));
    }
    char hex[ID_HEX_BYTES];
    id_hex(faults.orphan, hex);
    const char *bytes =
        harness_read(keep->arena, keep_below(keep, arena_format(keep->arena, "quarantine/%s", hex)), &length);
    assert_int_equal(length, 8);
    assert_memory_equal(bytes, "nobody's", 8);
    assert_true(there(keep_below(keep, "quarantine/notes.txt")));
    assert_false(there(keep_path(keep, faults.removal)));
    assert_false(there(keep_below(keep, "tmp/00112233445566778899aabbccddeeff")));
    assert_int_equal(sql_integer(keep->service.database, keep->arena, "SELECT COUNT(*) FROM file_removal"), 0);

    /* The rows are as they were; each is missing its bytes now, until they come back. */
    assert_int_equal(
        sql_integer(keep->service.database, keep->arena, "SELECT COUNT(*) FROM file WHERE status = 'active'"), 4);
    result = run(keep, (struct fsck_options){.repair = true}, &found);
    assert_int_equal(found.count, 3);
    assert_int_equal(result.counts[FSCK_MISSING], 3);
    assert_int_equal(result.unrepaired, 3);
}

static void a_wrong_count_of_usage_is_found_and_set_right(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct found found;
    (void)keep_file(keep, 300, 3, 0);
    sql(keep->service.database, keep->arena, "UPDATE file_usage SET bytes = bytes + 1");
    assert_int_equal(run(keep, (struct fsck_options){0}, &found).counts[FSCK_USAGE], 1);
    assert_int_equal(run(keep, (struct fsck_options){.repair = true}, &found).unrepaired, 0);
    assert_true(found.count == 1 && id_equal(found.items[0].organisation_id, keep->organisation));
    (void)run(keep, (struct fsck_options){0}, &found);
    assert_int_equal(found.count, 0);
}

static void bytes_put_back_make_the_file_whole(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record record = keep_file(keep, 300, 3, DAY);
    struct found found;
    keep_flip(keep, record.id, 5);
    assert_int_equal(run(keep, (struct fsck_options){.repair = true}, &found).unrepaired, 1);
    char hex[ID_HEX_BYTES];
    id_hex(record.id, hex);
    (void)harness_write(keep->arena, keep_below(keep, hex + ID_HEX_BYTES - 3), hex, keep_bytes(keep->arena, 300, 3),
                        300);
    assert_int_equal(run(keep, (struct fsck_options){.repair = true}, &found).unrepaired, 0);
    assert_int_equal(found.count, 0);
}

static void the_same_name_is_moved_aside_again_and_nothing_is_replaced(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record record = keep_file(keep, 300, 3, DAY);
    struct found found;
    char hex[ID_HEX_BYTES];
    id_hex(record.id, hex);
    for (int i = 0; i < 3; i++) {
        (void)harness_write(keep->arena, keep_below(keep, hex + ID_HEX_BYTES - 3), hex,
                            arena_format(keep->arena, "%d", i), 1);
        assert_int_equal(run(keep, (struct fsck_options){.repair = true}, &found).counts[FSCK_SIZE], 1);
    }
    static const char *const ends[] = {"", ".1", ".2"};
    for (int i = 0; i < 3; i++) {
        const char *path = keep_below(keep, arena_format(keep->arena, "quarantine/%s%s", hex, ends[i]));
        assert_string_equal(harness_read(keep->arena, path, NULL), arena_format(keep->arena, "%d", i));
    }
}

static void what_is_young_is_left_alone(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct file_record young = keep_file(keep, 10, 1, 600);
    struct id orphan = keep_orphan(keep, 600);
    struct found found;
    assert_int_equal(unlink(keep_path(keep, young.id)), 0);
    struct fsck_result result = run(keep, (struct fsck_options){.repair = true, .min_age_seconds = 3600}, &found);
    assert_int_equal(found.count, 0);
    assert_int_equal(result.young, 1);
    assert_true(there(keep_path(keep, orphan)));
    result = run(keep, (struct fsck_options){.repair = true, .min_age_seconds = 300}, &found);
    assert_int_equal(found.count, 2);
    assert_false(there(keep_path(keep, orphan)));
}

/* Ends after so many questions. */
static bool ends_soon(void *context)
{
    unsigned *left = context;
    if (*left == 0)
        return true;
    (*left)--;
    return false;
}

static void an_interrupted_run_goes_on_where_it_stopped(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct found found;
    for (unsigned i = 0; i < 20; i++) {
        struct file_record record = keep_file(keep, 1000, i, 0);
        if (i % 2 == 0)
            keep_flip(keep, record.id, i);
    }
    unsigned left = 9;
    keep->progress = (struct progress){.ending = ends_soon, .context = &left};
    struct fsck_result first = run(keep, (struct fsck_options){0}, &found);
    size_t before = found.count;
    assert_true(first.interrupted);
    assert_true(first.files > 0 && first.files < 20 && before > 0 && before < 10);
    keep->progress = (struct progress){0};
    struct fsck_result second = run(keep, (struct fsck_options){.resume = true}, &found);
    assert_false(second.interrupted);
    assert_int_equal(before + found.count, 10); /* none twice, none forgotten */
    assert_int_equal(second.files, 20);
    assert_int_equal(second.counts[FSCK_HASH], 10);
    assert_int_equal(second.unrepaired, 10);
    /* It came to its end: there is nothing to go on with, and the whole is looked at again. */
    assert_int_equal(run(keep, (struct fsck_options){.resume = true}, &found).counts[FSCK_HASH], 10);
    assert_int_equal(found.count, 10);
}

static void an_interruption_in_the_store_counts_nothing_twice(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct found found;
    for (unsigned i = 0; i < 150; i++)
        (void)keep_orphan(keep, 0);
    unsigned left = 100;
    keep->progress = (struct progress){.ending = ends_soon, .context = &left};
    assert_true(run(keep, (struct fsck_options){0}, &found).interrupted);
    assert_true(found.count > 0);
    keep->progress = (struct progress){0};
    struct fsck_result result = run(keep, (struct fsck_options){.resume = true}, &found);
    assert_int_equal(result.counts[FSCK_ORPHAN], 150);
    assert_int_equal(result.unrepaired, 150);
}

static void memory_stays_the_same_however_many_files(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct found found;
    size_t used[2];
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 600; i++)
            (void)keep_file(keep, 10, round * 1000 + i, 0);
        size_t before = arena_used(keep->arena);
        struct fsck_options options = {.found = note, .context = &found, .progress = &keep->progress};
        struct fsck_result result;
        expect_ok(fsck_run(&keep->service, keep->arena, keep->scratch, &options, &result));
        used[round] = arena_used(keep->arena) - before;
        assert_int_equal(result.files, (round + 1) * 600);
    }
    assert_true(used[1] <= used[0] + 4096);
}

static void a_lease_has_one_holder_and_is_forgotten_with_time(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct lease_holder one, two;
    bool held;
    expect_ok(lease_holder_take(&keep->service, keep->arena, "files", 0, &one));
    expect_ok(lease_holder_try(&keep->service, keep->arena, "files", &two, &held));
    assert_false(held);
    expect_error(lease_holder_take(&keep->service, keep->arena, "files", 0, &two), ERROR_INTERNAL);
    expect_ok(lease_holder_try(&keep->service, keep->arena, "fsck", &two, &held));
    assert_true(held);
    expect_ok(lease_holder_renew(&one, keep->arena));
    /* It died. */
    sql(keep->service.database, keep->arena,
        "UPDATE maintenance SET held_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");
    expect_ok(lease_holder_try(&keep->service, keep->arena, "files", &two, &held));
    assert_true(held);
    one.renewed -= INT64_C(10000000);
    expect_error(lease_holder_renew(&one, keep->arena), ERROR_INTERNAL);
    lease_holder_release(&one, keep->arena); /* not its own any more */
    expect_ok(lease_holder_try(&keep->service, keep->arena, "files", &one, &held));
    assert_false(held);
    lease_holder_release(&two, keep->arena);
    expect_ok(lease_holder_try(&keep->service, keep->arena, "files", &one, &held));
    assert_true(held);
    /* The row names it, and its time is not over by the server's clock: nobody had it meanwhile. */
    one.renewed -= INT64_C(1000000) * (LEASE_HOLDER_SECONDS + 1);
    expect_ok(lease_holder_renew(&one, keep->arena));
    sql(keep->service.database, keep->arena,
        "UPDATE maintenance SET held_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");
    one.renewed -= INT64_C(10000000);
    expect_error(lease_holder_renew(&one, keep->arena), ERROR_INTERNAL);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_store_in_order_has_no_finding),
    HARNESS_TEST(a_hundred_flipped_bits_are_a_hundred_findings),
    HARNESS_TEST(each_kind_of_fault_is_found_and_nothing_is_touched),
    HARNESS_TEST(repair_moves_aside_and_loses_nothing),
    HARNESS_TEST(a_wrong_count_of_usage_is_found_and_set_right),
    HARNESS_TEST(bytes_put_back_make_the_file_whole),
    HARNESS_TEST(the_same_name_is_moved_aside_again_and_nothing_is_replaced),
    HARNESS_TEST(what_is_young_is_left_alone),
    HARNESS_TEST(an_interrupted_run_goes_on_where_it_stopped),
    HARNESS_TEST(an_interruption_in_the_store_counts_nothing_twice),
    HARNESS_TEST(memory_stays_the_same_however_many_files),
    HARNESS_TEST(a_lease_has_one_holder_and_is_forgotten_with_time),
};
HARNESS_MODULE(fsck, cases)
