/* SPDX-License-Identifier: MIT */
/* Tests what is done with stored blobs: second names, opening, removing, checking, sweeping, a replaced directory. */
#include "blob/directory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/support.h"
#include "harness.h"

static void age(const char *path, int64_t seconds)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = clock_now() / 1000 - seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static ino_t inode(struct blob_store *store, struct arena *arena, struct id id)
{
    struct stat status;
    assert_int_equal(stat(support_path(store, arena, id), &status), 0);
    return status.st_ino;
}

static void a_second_name_is_for_the_same_bytes_and_stands_alone(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id first = id_new();
    struct id second = id_new();
    bool linked = false;
    assert_null(support_store(store, arena, first, "bytes", 5, 5));
    age(support_path(store, arena, first), 7200);
    assert_null(blob_link(store, arena, first, second, 5, &linked));
    assert_true(linked);
    assert_int_equal(inode(store, arena, first), inode(store, arena, second));
    /* young, so that nobody clears it away before its row is there */
    struct stat status;
    assert_int_equal(stat(support_path(store, arena, second), &status), 0);
    assert_true(time(NULL) - status.st_mtime < 3600);
    assert_null(blob_remove(store, arena, first));
    support_assert_stored(store, arena, second, "bytes", 5);
    assert_null(blob_remove(store, arena, second));
    assert_int_equal(support_files(blob_root(store)), 0);
}

static void a_second_name_is_not_given_to_what_is_not_there_or_is_another(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id first = id_new();
    struct id second = id_new();
    bool linked = true;
    assert_null(blob_link(store, arena, first, second, 5, &linked)); /* no directory of its own, even */
    assert_false(linked);
    assert_null(support_store(store, arena, first, "bytes", 5, 5));
    linked = true;
    assert_null(blob_link(store, arena, first, second, 6, &linked));
    assert_false(linked);
    assert_int_equal(support_files(blob_root(store)), 1);
    assert_null(support_store(store, arena, second, "other", 5, 5));
    assert_int_equal(blob_link(store, arena, first, second, 5, &linked)->code, ERROR_INTERNAL);
    assert_false(linked);
    support_assert_stored(store, arena, second, "other", 5);
    assert_null(blob_remove(store, arena, first));
    assert_null(blob_link(store, arena, first, id_new(), 5, &linked)); /* a purge was faster */
    assert_false(linked);
    /* a symbolic link in the blob's place leads nowhere */
    assert_int_equal(symlink("/etc/passwd", support_path(store, arena, first)), 0);
    struct stat status;
    assert_int_equal(stat("/etc/passwd", &status), 0);
    assert_null(blob_link(store, arena, first, id_new(), (uint64_t)status.st_size, &linked));
    assert_false(linked);
}

static void removing_is_done_once_or_not_at_all(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id id = id_new();
    struct blob_reader *reader;
    assert_null(blob_remove(store, arena, id)); /* not even its directory is there */
    assert_null(support_store(store, arena, id, "x", 1, 1));
    assert_null(blob_remove(store, arena, id));
    assert_null(blob_remove(store, arena, id));
    assert_int_equal(support_files(blob_root(store)), 0);
    assert_int_equal(blob_open(store, arena, id, &reader)->code, ERROR_STORAGE_UNAVAILABLE);
    assert_int_equal(blob_open(store, arena, id_new(), &reader)->code, ERROR_STORAGE_UNAVAILABLE);
}

static void only_plain_files_in_plain_directories_are_opened(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    size_t descriptors = support_descriptors();
    struct id id = id_new();
    struct blob_reader *reader;
    assert_null(support_store(store, arena, id, "x", 1, 1));
    char *path = arena_text(arena, support_path(store, arena, id));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(blob_open(store, arena, id, &reader)->code, ERROR_STORAGE_UNAVAILABLE);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(blob_open(store, arena, id, &reader)->code, ERROR_STORAGE_UNAVAILABLE);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(blob_open(store, arena, id, &reader)->code, ERROR_STORAGE_UNAVAILABLE);
    assert_int_equal(unlink(path), 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
    const char *elsewhere = harness_directory(arena);
    assert_int_equal(symlink(elsewhere, path), 0);
    assert_int_equal(support_store(store, arena, id, "x", 1, 1)->code, ERROR_STORAGE_UNAVAILABLE);
    assert_int_equal(support_files(elsewhere), 0);
    assert_int_equal(support_descriptors(), descriptors);
}

static void the_store_moves_to_what_appears_at_its_path(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, &support_io);
    size_t descriptors = support_descriptors();
    const char *moved = arena_format(arena, "%s.moved", blob_root(store));
    struct id first = id_new();
    struct id second = id_new();
    assert_null(support_store(store, arena, first, "1", 1, 1));
    assert_int_equal(rename(blob_root(store), moved), 0);
    assert_int_equal(blob_check(store, arena)->code, ERROR_STORAGE_UNAVAILABLE);
    assert_int_equal(support_store(store, arena, second, "2", 1, 1)->code, ERROR_STORAGE_UNAVAILABLE);
    assert_int_equal(mkdir(blob_root(store), 0700), 0);
    assert_null(support_store(store, arena, second, "2", 1, 1));
    assert_int_equal(support_files(blob_root(store)), 1);
    assert_int_equal(support_files(moved), 1);
    assert_int_equal(support_descriptors(), descriptors);
    support_assert_stored(store, arena, second, "2", 1);
    assert_int_equal(
        system(arena_format(arena, "rm -r '%s' && mv '%s' '%s'", blob_root(store), moved, blob_root(store))), 0);
    assert_null(blob_check(store, arena));
    support_assert_stored(store, arena, first, "1", 1);
    /* the directories there are others, whose entries are not known to be durable */
    support_faults.calls = 0;
    first.bytes[0]++;
    assert_null(support_store(store, arena, first, "1", 1, 1));
    size_t syncs = 0;
    for (size_t i = 0; i < support_faults.calls; i++)
        syncs += support_faults.trace[i] == CALL_FSYNC;
    assert_int_equal(syncs, 3);
}

static void opening_takes_a_directory(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store;
    const char *directory = harness_directory(arena);
    const char *file = harness_write(arena, directory, "file", "x", 1);
    size_t descriptors = support_descriptors();
    struct error *error = blob_directory_open(arena, arena_format(arena, "%s/missing", directory), NULL, &store);
    assert_int_equal(error->code, ERROR_STORAGE_UNAVAILABLE);
    assert_int_equal(blob_directory_open(arena, file, NULL, &store)->code, ERROR_STORAGE_UNAVAILABLE);
    assert_int_equal(support_descriptors(), descriptors);
    struct arena *process = arena_new();
    assert_null(blob_directory_open(process, arena_format(arena, "%s//", directory), NULL, &store));
    assert_string_equal(blob_root(store), directory);
    arena_free(&process);
    assert_int_equal(support_descriptors(), descriptors);
}

static void checking_wants_room_and_leaves_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    for (int named = 0; named < 2; named++) {
        struct blob_store *store = support_new_store(arena, &support_io);
        support_faults.no_tmpfile = named;
        size_t descriptors = support_descriptors();
        assert_null(blob_check(store, arena));
        support_faults.free_bytes = BLOB_FREE_BYTES_MIN;
        assert_null(blob_check(store, arena));
        support_faults.free_bytes = BLOB_FREE_BYTES_MIN - 65536;
        assert_int_equal(blob_check(store, arena)->code, ERROR_STORAGE_FULL);
        assert_int_equal(support_files(blob_root(store)), 0);
        assert_int_equal(support_descriptors(), descriptors);
    }
}

/* Gives the file's last write a time `seconds` ago. */
static void sweeping_takes_old_temporary_files_only(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id blob = id_new();
    size_t count = 99;
    assert_null(blob_sweep(store, arena, clock_now(), &count));
    assert_int_equal(count, 0);
    assert_null(support_store(store, arena, blob, "x", 1, 1));
    age(support_path(store, arena, blob), 100000);
    const char *temporary = arena_format(arena, "%s/tmp", blob_root(store));
    assert_int_equal(mkdir(temporary, 0750), 0);
    age(harness_write(arena, temporary, "0123456789abcdef0123456789abcdef", "old", 3), 7200);
    age(harness_write(arena, temporary, "0123456789abcdef0123456789abcde0", "young", 5), 60);
    age(harness_write(arena, temporary, "someone's notes", "kept", 4), 7200);
    age(harness_write(arena, temporary, "0123456789ABCDEF0123456789ABCDEF", "kept", 4), 7200);
    assert_null(blob_sweep(store, arena, clock_now() - INT64_C(3600) * 1000, &count));
    assert_int_equal(count, 1);
    assert_int_equal(support_files(temporary), 3);
    support_assert_stored(store, arena, blob, "x", 1);
}

struct found {
    struct id ids[8];
    uint64_t sizes[8];
    size_t count;
    struct error *stop;
};

static struct error *note_found(void *context, const struct blob_found *found)
{
    struct found *all = context;
    assert_true(all->count < 8);
    assert_in_range(found->modified, clock_now() - 60000, clock_now() + 1000);
    all->ids[all->count] = found->id;
    all->sizes[all->count++] = found->size;
    return all->stop;
}

static void every_blob_is_found_and_nothing_else(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id ids[5];
    struct found found = {.count = 0};
    assert_null(blob_each(store, arena, note_found, &found));
    assert_int_equal(found.count, 0);
    for (size_t i = 0; i < 5; i++) {
        ids[i] = id_new();
        assert_null(support_store(store, arena, ids[i], "12345", i, 5));
    }
    /* strays: a blob in another one's directory, names that are none, a directory */
    char *shard = arena_text(arena, support_path(store, arena, ids[0]));
    *strrchr(shard, '/') = '\0';
    char hex[ID_HEX_BYTES];
    id_hex(ids[0], hex);
    hex[31] = hex[31] == '0' ? '1' : '0';
    harness_write(arena, shard, hex, "stray", 5);
    harness_write(arena, shard, "notes.txt", "stray", 5);
    id_hex(ids[0], hex);
    hex[0] = hex[0] == '0' ? '1' : '0';
    assert_int_equal(mkdir(arena_format(arena, "%s/%s", shard, hex), 0700), 0);
    harness_write(arena, blob_root(store), "notes.txt", "stray", 5);
    assert_null(blob_each(store, arena, note_found, &found));
    assert_int_equal(found.count, 5);
    for (size_t i = 0; i < 5; i++) {
        size_t at = 0;
        while (at < 5 && !id_equal(found.ids[at], ids[i]))
            at++;
        assert_true(at < 5);
        assert_int_equal(found.sizes[at], i);
    }
    found = (struct found){.stop = error_plain(arena, ERROR_DATABASE_UNAVAILABLE)};
    assert_int_equal(blob_each(store, arena, note_found, &found)->code, ERROR_DATABASE_UNAVAILABLE);
    assert_int_equal(found.count, 1);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_second_name_is_for_the_same_bytes_and_stands_alone),
    HARNESS_TEST(a_second_name_is_not_given_to_what_is_not_there_or_is_another),
    HARNESS_TEST(removing_is_done_once_or_not_at_all),
    HARNESS_TEST(only_plain_files_in_plain_directories_are_opened),
    HARNESS_TEST(the_store_moves_to_what_appears_at_its_path),
    HARNESS_TEST(opening_takes_a_directory),
    HARNESS_TEST(checking_wants_room_and_leaves_nothing),
    HARNESS_TEST(sweeping_takes_old_temporary_files_only),
    HARNESS_TEST(every_blob_is_found_and_nothing_else),
};
HARNESS_MODULE(directory_stored, cases)
