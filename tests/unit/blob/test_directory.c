/* SPDX-License-Identifier: MIT */
/* The directory store: blobs are written, read, copied and removed. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "blob/blob.h"
#include "blob/support.h"
#include "harness.h"

#define BLOCK LIMIT_BLOB_BLOCK_BYTES

static void bytes_come_back_whatever_the_pieces(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 300, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 1};
    static const size_t pieces[] = {1, 7, 4096, BLOCK - 1, BLOCK, BLOCK + 1, 1 << 20};
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    size_t stored = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t j = 0; j < sizeof pieces / sizeof *pieces; j++) {
            struct arena *request = arena_new();
            struct id id = id_new();
            unsigned char *bytes = support_bytes(request, sizes[i], (unsigned)(i * 10 + j));
            assert_null(support_store(store, request, id, bytes, sizes[i], pieces[j]));
            support_assert_stored(store, request, id, bytes, sizes[i]);
            stored++;
            arena_free(&request);
        }
    }
    assert_int_equal(support_files(blob_root(store)), stored);
}

static void the_digest_is_of_all_bytes(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    unsigned char *bytes = support_bytes(arena, 700000, 3);
    uint8_t wanted[DIGEST_BYTES];
    uint8_t got[DIGEST_BYTES];
    struct blob_writer *writer;
    assert_null(blob_begin(store, arena, &writer));
    assert_null(blob_write(writer, bytes, 100));
    assert_null(blob_write(writer, bytes + 100, 699900));
    assert_int_equal(blob_writer_size(writer), 700000);
    digest_sha256(bytes, 700000, wanted);
    for (int again = 0; again < 2; again++) {
        blob_writer_digest(writer, got);
        assert_memory_equal(got, wanted, DIGEST_BYTES);
    }
    assert_int_equal(blob_write(writer, "x", 1)->code, ERROR_INTERNAL);
    struct id id = id_new();
    assert_null(blob_commit(writer, id));
    blob_writer_digest(writer, got);
    assert_memory_equal(got, wanted, DIGEST_BYTES);
    support_assert_stored(store, arena, id, bytes, 700000);
}

static void bytes_are_read_back_before_they_are_committed(void **state)
{
    struct arena *arena = harness_arena(state);
    for (int kind = 0; kind < 2; kind++) {
        struct blob_store *store = support_new_store(arena, &support_io);
        support_faults.no_tmpfile = kind == 1;
        unsigned char *bytes = support_bytes(arena, 800001, 4);
        unsigned char *read_back = arena_alloc(arena, 800002);
        uint8_t digest[DIGEST_BYTES];
        struct blob_writer *writer;
        size_t got;
        assert_null(blob_begin(store, arena, &writer));
        assert_null(blob_write(writer, bytes, 800001));
        assert_non_null(blob_writer_read(writer, 0, read_back, 1, &got)); /* it is still open */
        blob_writer_digest(writer, digest);
        assert_null(blob_writer_read(writer, 0, read_back, 800002, &got));
        assert_int_equal(got, 800001);
        assert_memory_equal(read_back, bytes, got);
        assert_null(blob_writer_read(writer, 262140, read_back, 100, &got));
        assert_int_equal(got, 100);
        assert_memory_equal(read_back, bytes + 262140, got);
        assert_null(blob_writer_read(writer, 800001, read_back, 100, &got));
        assert_int_equal(got, 0);
        support_faults.fail_at = support_faults.calls + 1;
        support_faults.number = EIO;
        struct error *error = blob_writer_read(writer, 0, read_back, 1, &got);
        assert_non_null(error);
        assert_int_equal(error->code, ERROR_STORAGE_UNAVAILABLE);
        struct id id = id_new();
        assert_null(blob_commit(writer, id));
        support_assert_stored(store, arena, id, bytes, 800001);
        assert_non_null(blob_writer_read(writer, 0, read_back, 1, &got));
        assert_int_equal(got, 0);
    }
}

static void names_come_from_the_id_alone(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id id;
    assert_true(id_parse("01890a5d-ac96-774b-bcce-b302099a80a7", &id));
    assert_string_equal(blob_path(arena, id), "a7/01890a5dac96774bbcceb302099a80a7");
    assert_int_equal(strlen(blob_path(arena, id)) + 1, BLOB_PATH_BYTES);
    assert_null(support_store(store, arena, id, "x", 1, 1));
    size_t length;
    assert_string_equal(harness_read(arena, support_path(store, arena, id), &length), "x");
}

static void modes_do_not_depend_on_the_umask(void **state)
{
    static const mode_t masks[] = {0, 0022, 0077, 0777};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < 2 * sizeof masks / sizeof *masks; i++) {
        struct blob_store *store = support_new_store(arena, &support_io);
        support_faults.no_tmpfile = i % 2 == 1;
        struct id id = id_new();
        mode_t before = umask(masks[i / 2]);
        struct error *error = support_store(store, arena, id, "x", 1, 1);
        umask(before);
        assert_null(error);
        struct stat status;
        char *path = arena_text(arena, support_path(store, arena, id));
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode, S_IFREG | 0640);
        *strrchr(path, '/') = '\0';
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode, S_IFDIR | 0750);
    }
}

static void a_group_handed_down_by_the_root_stays(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    assert_int_equal(chmod(blob_root(store), 02750), 0);
    struct id id = id_new();
    mode_t before = umask(0077);
    struct error *error = support_store(store, arena, id, "x", 1, 1);
    umask(before);
    assert_null(error);
    struct stat status;
    char *path = arena_text(arena, support_path(store, arena, id));
    *strrchr(path, '/') = '\0';
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode, S_IFDIR | S_ISGID | 0750);
}

static void what_is_not_committed_leaves_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    for (int named = 0; named < 2; named++) {
        struct blob_store *store = support_new_store(arena, &support_io);
        support_faults.no_tmpfile = named;
        size_t descriptors = support_descriptors();
        struct arena *request = arena_new();
        struct blob_writer *writer;
        assert_null(blob_begin(store, request, &writer));
        assert_null(blob_write(writer, support_bytes(request, 400000, 1), 400000));
        assert_int_equal(support_files(blob_root(store)), named);
        arena_reset(request); /* the request ended early */
        assert_int_equal(support_files(blob_root(store)), 0);
        assert_null(blob_begin(store, request, &writer));
        assert_null(blob_write(writer, "x", 1));
        blob_abort(writer);
        blob_abort(writer);
        assert_int_equal(blob_write(writer, "x", 1)->code, ERROR_INTERNAL);
        assert_int_equal(blob_commit(writer, id_new())->code, ERROR_INTERNAL);
        assert_int_equal(support_descriptors(), descriptors);
        arena_free(&request);
        assert_int_equal(support_files(blob_root(store)), 0);
        assert_int_equal(support_descriptors(), descriptors);
    }
}

static void a_commit_never_replaces(void **state)
{
    struct arena *arena = harness_arena(state);
    for (int named = 0; named < 2; named++) {
        struct blob_store *store = support_new_store(arena, &support_io);
        support_faults.no_tmpfile = named;
        struct id id = id_new();
        assert_null(support_store(store, arena, id, "first", 5, 5));
        assert_int_equal(support_store(store, arena, id, "second", 6, 6)->code, ERROR_INTERNAL);
        support_assert_stored(store, arena, id, "first", 5);
        assert_int_equal(support_files(blob_root(store)), 1);
    }
}

static void a_commit_is_done_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct blob_writer *writer;
    struct id id = id_new();
    assert_null(blob_begin(store, arena, &writer));
    assert_null(blob_write(writer, "x", 1));
    assert_null(blob_commit(writer, id));
    assert_int_equal(blob_commit(writer, id_new())->code, ERROR_INTERNAL);
    blob_abort(writer);
    support_assert_stored(store, arena, id, "x", 1);
    assert_int_equal(support_files(blob_root(store)), 1);
}

static void writers_side_by_side_keep_apart(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct blob_writer *writers[3];
    struct id ids[3];
    unsigned char *bytes[3];
    for (unsigned i = 0; i < 3; i++) {
        ids[i] = id_new();
        bytes[i] = support_bytes(arena, 600000, i);
        assert_null(blob_begin(store, arena, &writers[i]));
    }
    for (size_t at = 0; at < 600000; at += 1000)
        for (unsigned i = 0; i < 3; i++)
            assert_null(blob_write(writers[i], bytes[i] + at, 1000));
    for (unsigned i = 0; i < 3; i++) {
        assert_null(blob_commit(writers[i], ids[i]));
        support_assert_stored(store, arena, ids[i], bytes[i], 600000);
    }
}

/* Whoever fills a writer as it asks for hands over whole blocks from then on. */
static void a_writer_says_what_makes_its_block_whole(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    unsigned char *bytes = support_bytes(arena, 3 * BLOCK + 300, 5);
    struct blob_writer *writer;
    assert_null(blob_begin(store, arena, &writer));
    assert_int_equal(blob_writer_room(writer), BLOCK);
    assert_null(blob_write(writer, bytes, 300));
    assert_int_equal(blob_writer_room(writer), BLOCK - 300);
    assert_null(blob_write(writer, bytes + 300, BLOCK - 300));
    assert_int_equal(blob_writer_room(writer), BLOCK);
    assert_null(blob_write(writer, bytes + BLOCK, 2 * BLOCK));
    assert_int_equal(blob_writer_room(writer), BLOCK);
    assert_null(blob_write(writer, bytes + 3 * BLOCK, 300));
    struct id id = id_new();
    assert_null(blob_commit(writer, id));
    support_assert_stored(store, arena, id, bytes, 3 * BLOCK + 300);
}

static void one_block_serves_writers_in_turn(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    uint8_t digest[DIGEST_BYTES];
    for (int i = 0; i < 10; i++) {
        struct blob_writer *writer;
        assert_null(blob_begin(store, arena, &writer));
        assert_null(blob_write(writer, "x", 1));
        blob_writer_digest(writer, digest); /* not committed yet: all files of a request are first received */
    }
    assert_true(arena_used(arena) < 2 * LIMIT_BLOB_BLOCK_BYTES);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(bytes_come_back_whatever_the_pieces),
    HARNESS_TEST(the_digest_is_of_all_bytes),
    HARNESS_TEST(bytes_are_read_back_before_they_are_committed),
    HARNESS_TEST(names_come_from_the_id_alone),
    HARNESS_TEST(modes_do_not_depend_on_the_umask),
    HARNESS_TEST(a_group_handed_down_by_the_root_stays),
    HARNESS_TEST(what_is_not_committed_leaves_nothing),
    HARNESS_TEST(a_commit_never_replaces),
    HARNESS_TEST(a_commit_is_done_once),
    HARNESS_TEST(writers_side_by_side_keep_apart),
    HARNESS_TEST(a_writer_says_what_makes_its_block_whole),
    HARNESS_TEST(one_block_serves_writers_in_turn),
};
HARNESS_MODULE(directory, cases)
