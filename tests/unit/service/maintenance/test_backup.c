/* SPDX-License-Identifier: MIT */
/* Backups of the keep's service, and restores into a second database and another directory. */
#include "service/maintenance/backup.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "domain/lease.h"
#include "harness.h"
#include "service/integrity/fsck.h"
#include "service/maintenance/lease_holder.h"
#include "service/maintenance/restore.h"
#include "service/support_maintenance.h"
#include "store/database/database.h"
#include "support_database.h"

#define SECRET "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"

struct drill {
    struct keep *keep;
    struct arena *arena;
    const char *directory; /* of the backups */
    struct configuration target;
    unsigned lost;
    struct progress progress;
};

static struct drill *drill_new(struct arena *arena)
{
    struct drill *drill = arena_alloc(arena, sizeof *drill);
    struct keep *keep = keep_new(arena);
    struct database_options options = support_database_empty("restored");
    drill->arena = arena;
    drill->keep = keep;
    drill->directory = arena_format(arena, "%s/backups", harness_directory(arena));
    keep->configuration.service.secret_file =
        harness_write(arena, harness_directory(arena), "secret", SECRET, strlen(SECRET));
    keep->configuration.database.socket = options.socket;
    keep->configuration.database.user = "root";
    keep->configuration.database.admin_user = "root";
    keep->configuration.database.name = "gatehouse";
    keep->configuration.database.connect_timeout_seconds = KEEP_CONNECT_SECONDS;
    keep->configuration.database.query_timeout_seconds = KEEP_QUERY_SECONDS;
    drill->target = keep->configuration;
    drill->target.database.name = "restored";
    drill->target.files.directory = harness_directory(arena);
    return drill;
}

static void count_lost(void *context, struct id id, const char *why)
{
    struct drill *drill = context;
    assert_false(id_is_none(id));
    assert_non_null(why);
    drill->lost++;
}

static struct error *try_backup(struct drill *drill, struct backup_options options, struct backup_result *result_out)
{
    drill->lost = 0;
    options.directory = drill->directory;
    options.lost = count_lost;
    options.context = drill;
    options.progress = &drill->progress;
    return backup_run(&drill->keep->service, drill->arena, drill->keep->scratch, &options, result_out);
}

static struct backup_result backup(struct drill *drill, struct backup_options options)
{
    struct backup_result result;
    expect_ok(try_backup(drill, options, &result));
    assert_int_equal(result.lost, drill->lost);
    return result;
}

static struct error *try_restore(struct drill *drill, const char *directory, bool accept_loss,
                                 struct restore_result *result_out)
{
    drill->lost = 0;
    const struct restore_options options = {.directory = directory,
                                            .sql = support_database_sql(),
                                            .accept_loss = accept_loss,
                                            .lost = count_lost,
                                            .context = drill,
                                            .progress = &drill->progress};
    return restore_run(drill->arena, drill->keep->scratch, &drill->target, &options, result_out);
}

static const char *saved(struct drill *drill, const struct backup_result *result, struct id id)
{
    return arena_format(drill->arena, "%s/files/%s", result->path, blob_path(drill->arena, id));
}

static ino_t inode(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_ino;
}

static ino_t restored_inode(struct drill *drill, struct id id)
{
    return inode(arena_format(drill->arena, "%s/%s", drill->target.files.directory, blob_path(drill->arena, id)));
}

static int64_t restored_integer(struct drill *drill, const char *query)
{
    return sql_integer(drill->keep->service.database, drill->arena, "%s", query);
}

static void assert_restored(struct drill *drill, const struct file_record *record, unsigned seed)
{
    size_t length;
    const char *path =
        arena_format(drill->arena, "%s/%s", drill->target.files.directory, blob_path(drill->arena, record->id));
    const char *bytes = harness_read(drill->arena, path, &length);
    assert_int_equal(length, record->size);
    assert_memory_equal(bytes, keep_bytes(drill->arena, length, seed), length);
    assert_int_equal(sql_integer(drill->keep->service.database, drill->arena,
                                 "SELECT COUNT(*) FROM restored.file a JOIN gatehouse.file b USING (id) WHERE id = %s"
                                 " AND a.hash = b.hash AND a.tags = b.tags AND a.status = b.status AND a.name = b.name"
                                 " AND a.created_at = b.created_at AND a.active_key <=> b.active_key",
                                 sql_id(drill->arena, record->id)),
                     1);
}

static void flip(struct drill *drill, const char *path)
{
    size_t length;
    char *bytes = harness_read(drill->arena, path, &length);
    bytes[length / 2] ^= 1;
    FILE *file = fopen(path, "we");
    assert_true(file != NULL && fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
}

static void what_was_saved_comes_back(void **state)
{
    struct drill *drill = drill_new(harness_arena(state));
    struct keep *keep = drill->keep;
    struct file_record records[5];
    static const size_t lengths[] = {1, 4096, 262144, 262145, 1000000};
    for (unsigned i = 0; i < 5; i++)
        records[i] = keep_file(keep, lengths[i], i, 0);
    keep_archive(keep, records[1].id, 0);
    (void)given_session(keep->service.database, drill->arena, keep->user);
    (void)keep_orphan(keep, 0); /* nobody's: not saved */
    struct backup_result saved_result = backup(drill, (struct backup_options){0});
    assert_int_equal(saved_result.files, 5);
    assert_int_equal(saved_result.lost, 0);
    /* What comes later is not in it. */
    (void)keep_file(keep, 10, 77, 0);

    struct restore_result result;
    expect_ok(try_restore(drill, drill->directory, false, &result));
    assert_int_equal(result.files, 5);
    assert_int_equal(result.rows, saved_result.rows);
    for (unsigned i = 0; i < 5; i++)
        assert_restored(drill, &records[i], i);
    assert_int_equal(restored_integer(drill, "SELECT COUNT(*) FROM restored.file"), 5);
    assert_int_equal(restored_integer(drill, "SELECT COUNT(*) FROM restored.user"), 1);
    assert_int_equal(restored_integer(drill, "SELECT COUNT(*) FROM restored.session"), 1);
    assert_int_equal(restored_integer(drill, "SELECT COUNT(*) FROM restored.session WHERE ended_at IS NULL"), 0);
    assert_int_equal(restored_integer(drill, "SELECT COUNT(*) FROM restored.gatehouse_restore"), 0);
    expect_ok(restore_finish(drill->arena, &drill->target));
    assert_int_equal(restored_integer(drill,
                                      "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'restored'"
                                      " AND table_name = 'gatehouse_restore'"),
                     0);
    /* Never over what is there. */
    expect_error(try_restore(drill, drill->directory, false, &result), ERROR_INTERNAL);
}

static void a_second_backup_links_to_the_first(void **state)
{
    struct drill *drill = drill_new(harness_arena(state));
    struct file_record old = keep_file(drill->keep, 5000, 1, 0);
    struct backup_result first = backup(drill, (struct backup_options){0});
    struct file_record new = keep_file(drill->keep, 6000, 2, 0);
    struct backup_result second = backup(drill, (struct backup_options){0});
    assert_int_equal(first.copied, 5000);
    assert_int_equal(second.copied, 6000);
    assert_int_equal(second.reused, 1);
    assert_true(inode(saved(drill, &first, old.id)) == inode(saved(drill, &second, old.id)));
    assert_true(access(saved(drill, &first, new.id), F_OK) != 0);
    /* Damage in the store since does not reach what was saved: it is not read again. */
    keep_flip(drill->keep, old.id, 9);
    struct backup_result third = backup(drill, (struct backup_options){0});
    assert_int_equal(third.lost, 0);
    struct restore_result result;
    expect_ok(try_restore(drill, third.path, false, &result));
    assert_restored(drill, &old, 1);
}

static void bytes_of_several_names_are_saved_and_restored_once(void **state)
{
    struct drill *drill = drill_new(harness_arena(state));
    struct keep *keep = drill->keep;
    struct file_record first = keep_file(keep, 5000, 1, 0);
    struct file_record second = keep_file(keep, 5000, 1, 0);
    struct file_record alone = keep_file(keep, 5000, 1, 0);  /* bytes of its own, as another organisation's would be */
    struct file_record spoilt = keep_file(keep, 5000, 2, 0); /* a name of the same bytes, which its row does not mean */
    assert_int_equal(unlink(keep_path(keep, second.id)), 0);
    assert_int_equal(link(keep_path(keep, first.id), keep_path(keep, second.id)), 0);
    assert_int_equal(unlink(keep_path(keep, spoilt.id)), 0);
    assert_int_equal(link(keep_path(keep, first.id), keep_path(keep, spoilt.id)), 0);
    struct backup_result result = backup(drill, (struct backup_options){0});
    assert_int_equal(result.lost, 1);
    assert_int_equal(result.copied, 15000); /* one of them is the spoilt one, read to be compared */
    assert_true(inode(saved(drill, &result, first.id)) == inode(saved(drill, &result, second.id)));
    assert_true(inode(saved(drill, &result, first.id)) != inode(saved(drill, &result, alone.id)));
    assert_true(access(saved(drill, &result, spoilt.id), F_OK) != 0);

    struct restore_result restored;
    expect_ok(try_restore(drill, drill->directory, true, &restored));
    assert_restored(drill, &first, 1);
    assert_restored(drill, &second, 1);
    assert_restored(drill, &alone, 1);
    assert_true(restored_inode(drill, first.id) == restored_inode(drill, second.id));
    assert_true(restored_inode(drill, first.id) != restored_inode(drill, alone.id));
}

static void links_to_the_store_take_no_room(void **state)
{
    struct drill *drill = drill_new(harness_arena(state));
    struct file_record record = keep_file(drill->keep, 5000, 1, 0);
    struct backup_result result = backup(drill, (struct backup_options){.link = true});
    assert_int_equal(result.copied, 0);
    assert_true(inode(saved(drill, &result, record.id)) == inode(keep_path(drill->keep, record.id)));
    /* A purge takes the store's name away, not the backup's. */
    assert_int_equal(unlink(keep_path(drill->keep, record.id)), 0);
    struct restore_result restored;
    expect_ok(try_restore(drill, drill->directory, false, &restored));
    assert_restored(drill, &record, 1);
}

static void what_is_lost_already_is_told_and_the_rest_is_saved(void **state)
{
    struct drill *drill = drill_new(harness_arena(state));
    struct file_record good = keep_file(drill->keep, 100, 1, 0);
    struct file_record missing = keep_file(drill->keep, 200, 2, 0);
    struct file_record flipped = keep_file(drill->keep, 300, 3, 0);
    assert_int_equal(unlink(keep_path(drill->keep, missing.id)), 0);
    keep_flip(drill->keep, flipped.id, 3);
    struct backup_result result = backup(drill, (struct backup_options){0});
    assert_int_equal(result.lost, 2);
    assert_true(access(saved(drill, &result, flipped.id), F_OK) != 0);
    struct restore_result restored;
    expect_error(try_restore(drill, drill->directory, false, &restored), ERROR_INTERNAL);
    assert_int_equal(drill->lost, 2);
    expect_ok(try_restore(drill, drill->directory, true, &restored)); /* goes on where it was refused */
    assert_restored(drill, &good, 1);
    assert_int_equal(restored_integer(drill, "SELECT COUNT(*) FROM restored.file"), 3);
}

static void fsck_takes_lost_bytes_from_a_backup(void **state)
{
    struct drill *drill = drill_new(harness_arena(state));
    struct keep *keep = drill->keep;
    struct file_record records[4];
    for (unsigned i = 0; i < 4; i++)
        records[i] = keep_file(keep, 300000 + i, i, 0);
    struct backup_result saved_in = backup(drill, (struct backup_options){0});
    assert_int_equal(unlink(keep_path(keep, records[0].id)), 0);
    assert_int_equal(truncate(keep_path(keep, records[1].id), 5), 0);
    keep_flip(keep, records[2].id, 1000);
    keep_flip(keep, records[3].id, 1000);
    flip(drill, saved(drill, &saved_in, records[3].id)); /* and in the backup: that one stays lost */
    struct fsck_options options = {.repair = true, .from = drill->directory, .progress = &drill->progress};
    struct fsck_result result;
    expect_ok(fsck_run(&keep->service, keep->arena, keep->scratch, &options, &result));
    assert_int_equal(result.unrepaired, 1);
    assert_int_equal(result.counts[FSCK_MISSING] + result.counts[FSCK_SIZE] + result.counts[FSCK_HASH], 4);
    expect_ok(fsck_run(&keep->service, keep->arena, keep->scratch, &options, &result));
    assert_int_equal(result.counts[FSCK_MISSING], 1);
    assert_int_equal(result.unrepaired, 1);
    assert_int_equal(result.counts[FSCK_SIZE] + result.counts[FSCK_HASH], 0);
    options.from = harness_directory(drill->arena);
    expect_error(fsck_run(&keep->service, keep->arena, keep->scratch, &options, &result), ERROR_INTERNAL);
}

/* Ends at the given question. */
static bool ends_soon(void *context)
{
    unsigned *left = context;
    return (*left)-- == 0;
}

static const char *only_partial(struct drill *drill)
{
    DIR *stream = opendir(drill->directory);
    const char *found = NULL;
    assert_non_null(stream);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (strstr(entry->d_name, ".partial") != NULL)
            found = arena_format(drill->arena, "%s/%s", drill->directory, entry->d_name);
    (void)closedir(stream);
    return found;
}

/* Interrupted at every moment there is: the next one is whole, and nothing of the first is left over. */
static void an_interrupted_backup_is_gone_on_with(void **state)
{
    struct drill *drill = drill_new(harness_arena(state));
    struct keep *keep = drill->keep;
    struct file_record records[6];
    for (unsigned i = 0; i < 6; i++)
        records[i] = keep_file(keep, 1000 + i, i, 0);
    bool interrupted = true;
    unsigned rounds = 0;
    for (unsigned at = 0; interrupted; at += 3, rounds++) {
        unsigned left = at;
        struct backup_result result;
        drill->progress = (struct progress){.ending = ends_soon, .context = &left};
        interrupted = try_backup(drill, (struct backup_options){0}, &result) != NULL;
        assert_int_equal(interrupted, result.interrupted);
        assert_true(interrupted == (only_partial(drill) != NULL));
    }
    assert_true(rounds > 5);
    drill->progress = (struct progress){0};
    struct restore_result restored;
    expect_ok(try_restore(drill, drill->directory, false, &restored));
    for (unsigned i = 0; i < 6; i++)
        assert_restored(drill, &records[i], i);
}

static void left_overs_are_trusted_by_their_hash_only(void **state)
{
    struct drill *drill = drill_new(harness_arena(state));
    struct keep *keep = drill->keep;
    struct file_record records[2] = {keep_file(keep, 1000, 0, 0), keep_file(keep, 1000, 1, 0)};
    struct backup_result result = backup(drill, (struct backup_options){0});
    /* As a power cut leaves it: without a manifest, one file of zeros, one that nobody has any more. */
    const char *partial = arena_format(drill->arena, "%s.partial", result.path);
    assert_int_equal(rename(result.path, partial), 0);
    assert_int_equal(unlink(arena_format(drill->arena, "%s/manifest.json", partial)), 0);
    const char *zeros = arena_format(drill->arena, "%s/files/%s", partial, blob_path(drill->arena, records[0].id));
    assert_int_equal(truncate(zeros, 0), 0);
    assert_int_equal(truncate(zeros, 1000), 0);
    const char *nobodys = arena_format(drill->arena, "%s/files/%s", partial, blob_path(drill->arena, id_new()));
    (void)harness_write(drill->arena, arena_copy(drill->arena, nobodys, strlen(nobodys) - 33),
                        nobodys + strlen(nobodys) - 32, "x", 1);
    result = backup(drill, (struct backup_options){0});
    assert_null(only_partial(drill));
    struct restore_result restored;
    expect_ok(try_restore(drill, result.path, false, &restored));
    assert_restored(drill, &records[0], 0);
    assert_restored(drill, &records[1], 1);
    const char *gone = arena_format(drill->arena, "%s/files/%s", result.path, nobodys + strlen(nobodys) - 35);
    assert_true(access(gone, F_OK) != 0);
}

static void an_interrupted_restore_is_gone_on_with(void **state)
{
    struct drill *drill = drill_new(harness_arena(state));
    struct file_record records[6];
    struct restore_result restored;
    for (unsigned i = 0; i < 6; i++)
        records[i] = keep_file(drill->keep, 1000 + i, i, 0);
    (void)backup(drill, (struct backup_options){0});
    bool interrupted = true;
    unsigned rounds = 0;
    for (unsigned at = 0; interrupted; at += 2, rounds++) {
        unsigned left = at;
        drill->progress = (struct progress){.ending = ends_soon, .context = &left};
        interrupted = try_restore(drill, drill->directory, false, &restored) != NULL;
        assert_int_equal(interrupted, restored.interrupted);
        if (interrupted) /* nothing that looks like a database yet */
            assert_int_equal(restored_integer(drill, "SELECT COUNT(*) FROM information_schema.tables WHERE"
                                                     " table_schema = 'restored'"),
                             1);
    }
    assert_true(rounds > 3);
    /* Half the rows, as a crash leaves them: loaded anew. */
    sql(drill->keep->service.database, drill->arena, "DELETE FROM restored.file_tag");
    sql(drill->keep->service.database, drill->arena, "DROP TABLE restored.schema_migration");
    drill->progress = (struct progress){0};
    expect_ok(try_restore(drill, drill->directory, false, &restored));
    for (unsigned i = 0; i < 6; i++)
        assert_restored(drill, &records[i], i);
    assert_int_equal(restored_integer(drill, "SELECT COUNT(*) FROM restored.file_tag"), 12);
}

static void only_an_empty_host_is_restored_to(void **state)
{
    struct drill *drill = drill_new(harness_arena(state));
    struct restore_result restored;
    (void)keep_file(drill->keep, 100, 1, 0);
    struct backup_result first = backup(drill, (struct backup_options){0});
    struct backup_result second = backup(drill, (struct backup_options){0});
    /* A directory that holds bytes. */
    struct configuration target = drill->target;
    drill->target.files.directory = drill->keep->configuration.files.directory;
    expect_error(try_restore(drill, first.path, false, &restored), ERROR_INTERNAL);
    drill->target = target;
    /* A database that holds a table; and one that holds part of another backup. */
    sql(drill->keep->service.database, drill->arena, "CREATE TABLE restored.somebodys (id INT)");
    expect_error(try_restore(drill, first.path, false, &restored), ERROR_INTERNAL);
    sql(drill->keep->service.database, drill->arena, "DROP TABLE restored.somebodys");
    expect_ok(try_restore(drill, first.path, false, &restored));
    expect_error(try_restore(drill, second.path, false, &restored), ERROR_INTERNAL);
    expect_ok(try_restore(drill, first.path, false, &restored));
}

static void a_damaged_backup_is_refused_before_anything_is_done(void **state)
{
    static const char *const names[] = {"rows.sql", "files.txt"};
    struct drill *drill = drill_new(harness_arena(state));
    struct restore_result restored;
    struct file_record record = keep_file(drill->keep, 100, 1, 0);
    struct backup_result result = backup(drill, (struct backup_options){0});
    for (size_t i = 0; i < 2; i++) {
        const char *path = arena_format(drill->arena, "%s/%s", result.path, names[i]);
        flip(drill, path);
        expect_error(try_restore(drill, result.path, true, &restored), ERROR_INTERNAL);
        flip(drill, path);
    }
    flip(drill, saved(drill, &result, record.id));
    expect_error(try_restore(drill, result.path, false, &restored), ERROR_INTERNAL);
    assert_int_equal(drill->lost, 1);
    flip(drill, saved(drill, &result, record.id));
    expect_ok(try_restore(drill, result.path, false, &restored));
    assert_restored(drill, &record, 1);
}

static void the_secret_must_be_the_one_of_the_backup(void **state)
{
    struct drill *drill = drill_new(harness_arena(state));
    struct restore_result restored;
    (void)keep_file(drill->keep, 100, 1, 0);
    struct backup_result without = backup(drill, (struct backup_options){0});
    struct backup_result with = backup(drill, (struct backup_options){.include_secret = true});
    const char *folder = harness_directory(drill->arena);
    assert_true(access(arena_format(drill->arena, "%s/secret", without.path), F_OK) != 0);
    /* Another one; none, and none in the backup; none, and one in the backup. */
    drill->target.service.secret_file = harness_write(drill->arena, folder, "other", "ff", 2);
    expect_error(try_restore(drill, without.path, false, &restored), ERROR_INTERNAL);
    expect_error(try_restore(drill, with.path, false, &restored), ERROR_INTERNAL);
    drill->target.service.secret_file = arena_format(drill->arena, "%s/none", folder);
    expect_error(try_restore(drill, without.path, false, &restored), ERROR_INTERNAL);
    assert_true(access(drill->target.service.secret_file, F_OK) != 0);
    expect_ok(try_restore(drill, with.path, false, &restored));
    assert_string_equal(harness_read(drill->arena, drill->target.service.secret_file, NULL), SECRET);
}

static void a_purge_and_a_backup_keep_each_other_out(void **state)
{
    struct drill *drill = drill_new(harness_arena(state));
    struct keep *keep = drill->keep;
    struct file_record record = keep_file(keep, 100, 1, 0);
    struct lease_holder lease;
    bool held;
    keep_archive(keep, record.id, 86400);
    expect_ok(lease_holder_try(&keep->service, keep->arena, LEASE_FILES, &lease, &held));
    assert_true(held);
    /* A purge has it and ends: the backup waits for that. */
    sql(keep->service.database, keep->arena,
        "UPDATE maintenance SET held_until = UTC_TIMESTAMP(3) + INTERVAL 1 SECOND WHERE name = 'files'");
    struct backup_result result = backup(drill, (struct backup_options){0});
    assert_int_equal(result.files, 1);
    expect_ok(lease_holder_try(&keep->service, keep->arena, LEASE_FILES, &lease, &held));
    assert_true(held); /* it has given it back */
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_was_saved_comes_back),
    HARNESS_TEST(a_second_backup_links_to_the_first),
    HARNESS_TEST(bytes_of_several_names_are_saved_and_restored_once),
    HARNESS_TEST(links_to_the_store_take_no_room),
    HARNESS_TEST(what_is_lost_already_is_told_and_the_rest_is_saved),
    HARNESS_TEST(fsck_takes_lost_bytes_from_a_backup),
    HARNESS_TEST(an_interrupted_backup_is_gone_on_with),
    HARNESS_TEST(left_overs_are_trusted_by_their_hash_only),
    HARNESS_TEST(an_interrupted_restore_is_gone_on_with),
    HARNESS_TEST(only_an_empty_host_is_restored_to),
    HARNESS_TEST(a_damaged_backup_is_refused_before_anything_is_done),
    HARNESS_TEST(the_secret_must_be_the_one_of_the_backup),
    HARNESS_TEST(a_purge_and_a_backup_keep_each_other_out),
};
HARNESS_MODULE(backup, cases)
