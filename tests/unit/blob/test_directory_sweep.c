/* SPDX-License-Identifier: MIT */
/* Keeping house in the directory store: whatever call fails, moving aside loses nothing and replaces nothing. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/directory.h"
#include "blob/support.h"
#include "harness.h"

static struct blob_store *new_store(struct arena *arena)
{
    struct blob_store *store;
    support_faults_clear();
    assert_null(blob_directory_open(arena, harness_directory(arena), &support_io, &store));
    return store;
}

static bool holds(struct blob_store *store, struct arena *arena, const char *path)
{
    size_t length;
    const char *full = arena_format(arena, "%s/%s", blob_root(store), path);
    if (access(full, F_OK) != 0)
        return false;
    const char *bytes = harness_read(arena, full, &length);
    return length == 5 && memcmp(bytes, "bytes", 5) == 0;
}

static const char *quarantined(struct arena *arena, struct id id)
{
    char hex[ID_HEX_BYTES];
    id_hex(id, hex);
    return arena_format(arena, "quarantine/%s", hex);
}

static void whatever_call_fails_the_bytes_are_there_and_the_next_try_ends_it(void **state)
{
    struct arena *arena = harness_arena(state);
    bool failed = true;
    unsigned fail_at = 1;
    for (; failed; fail_at++) {
        struct blob_store *store = new_store(arena);
        struct id id = id_new();
        const char *where;
        assert_null(support_store(store, arena, id, "bytes", 5, 5));
        support_faults_clear();
        support_faults.fail_at = fail_at;
        support_faults.number = EIO;
        struct error *error = blob_set_aside(store, arena, id, &where);
        failed = support_faults.calls >= fail_at;
        bool old = holds(store, arena, blob_path(arena, id));
        bool new = holds(store, arena, quarantined(arena, id));
        assert_true(old || new);
        assert_true(error != NULL || (new && !old));
        support_faults_clear();
        assert_null(blob_set_aside(store, arena, id, &where));
        assert_false(holds(store, arena, blob_path(arena, id)));
        assert_true(holds(store, arena, quarantined(arena, id)));
        assert_int_equal(support_files(blob_root(store)), 1);
    }
    assert_true(fail_at > 6);
}

static void what_is_not_there_is_not_moved(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = new_store(arena);
    struct id id = id_new();
    const char *where = "somewhere";
    assert_null(support_store(store, arena, id, "bytes", 5, 5));
    assert_null(blob_remove(store, arena, id));
    assert_null(blob_set_aside(store, arena, id, &where));
    assert_null(where);
}

static void a_look_tells_size_and_absence(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = new_store(arena);
    struct id id = id_new();
    struct blob_found found;
    bool there = true;
    assert_null(blob_look(store, arena, id, &found, &there));
    assert_false(there);
    assert_null(support_store(store, arena, id, "bytes", 5, 5));
    assert_null(blob_look(store, arena, id, &found, &there));
    assert_true(there && found.size == 5 && id_equal(found.id, id));
    support_faults_clear();
    support_faults.fail_at = 1;
    support_faults.number = EIO;
    assert_non_null(blob_look(store, arena, id, &found, &there));
}

static void ids_are_read_from_names_and_nothing_else(void **state)
{
    static const char *const wrong[] = {"",
                                        "00",
                                        "0123456789abcdef0123456789ABCDEF",
                                        "0123456789abcdef0123456789abcde",
                                        "0123456789abcdef0123456789abcdef0",
                                        "0123456789abcdef0123456789abcdeg",
                                        "01234567-89ab-cdef-0123-456789abcdef",
                                        "../../../../../../../../etc/passwd"};
    struct id id = id_new();
    struct id read;
    char hex[ID_HEX_BYTES];
    (void)state;
    id_hex(id, hex);
    assert_true(blob_id_of(hex, &read) && id_equal(id, read));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(blob_id_of(wrong[i], &read));
}

static struct error *count_stray(void *context, const struct blob_stray *stray)
{
    unsigned *counts = context;
    counts[stray->temporary ? 0 : stray->is_file ? 1 : 2]++;
    return NULL;
}

static void names_of_nothing_are_found(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = new_store(arena);
    struct id id = {{0}};
    unsigned counts[3] = {0};
    const char *root = blob_root(store);
    assert_null(support_store(store, arena, id, "bytes", 5, 5)); /* in 00 */
    const char *shard = arena_format(arena, "%s/00", root);
    (void)harness_write(arena, shard, "notes.txt", "x", 1);
    (void)harness_write(arena, shard, ".nfs0001", "x", 1);                         /* goes away by itself */
    (void)harness_write(arena, shard, "0123456789abcdef0123456789abcdef", "x", 1); /* of shard ef */
    assert_int_equal(mkdir(arena_format(arena, "%s/00/folder", root), 0700), 0);
    assert_int_equal(symlink("/etc/passwd", arena_format(arena, "%s/00/link", root)), 0);
    assert_int_equal(mkdir(arena_format(arena, "%s/tmp", root), 0700), 0);
    (void)harness_write(arena, arena_format(arena, "%s/tmp", root), "0123456789abcdef0123456789abcdef", "x", 1);
    assert_null(blob_each_stray(store, arena, count_stray, counts));
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 2);
    assert_int_equal(counts[2], 2);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(whatever_call_fails_the_bytes_are_there_and_the_next_try_ends_it),
    HARNESS_TEST(what_is_not_there_is_not_moved),
    HARNESS_TEST(a_look_tells_size_and_absence),
    HARNESS_TEST(ids_are_read_from_names_and_nothing_else),
    HARNESS_TEST(names_of_nothing_are_found),
};
HARNESS_MODULE(directory_sweep, cases)
