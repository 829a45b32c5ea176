/* SPDX-License-Identifier: MIT */
/* Bytes of blobs that arrive in pieces: made durable piece by piece, for one process at a time. */
#include "blob/partial.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/support.h"
#include "harness.h"

#define WHOLE 1000

/* Opens the place and goes on behind `size` bytes, both of which must work. */
static struct blob_partial *go_on(struct blob_store *store, struct arena *arena, struct id id, uint64_t size)
{
    struct blob_partial *partial = NULL;
    enum blob_partial_state outcome;
    bool there = false;
    assert_null(blob_partial_open(store, arena, id, &partial, &outcome));
    assert_int_equal(outcome, BLOB_PARTIAL_OPEN);
    assert_null(blob_partial_go_on(partial, size, &there));
    assert_true(there);
    return partial;
}

static void finish(struct blob_store *store, struct arena *arena, struct id id, const void *bytes, size_t length)
{
    uint8_t digest[DIGEST_BYTES];
    struct blob_partial *partial = go_on(store, arena, id, length);
    digest_sha256(bytes, length, digest);
    struct blob_writer *writer = blob_partial_finish(partial, length, digest);
    assert_null(blob_commit(writer, id));
}

static struct error *count(void *context, const struct blob_partial_found *found)
{
    size_t *bytes = context;
    *bytes += 1000000 + found->size;
    return NULL;
}

static void pieces_become_a_blob(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id id = id_new();
    unsigned char *bytes = support_bytes(arena, WHOLE, 1);
    size_t found = 0;
    assert_true(blob_has_partials(store));
    assert_null(blob_partial_create(store, arena, id));
    for (size_t at = 0; at < WHOLE; at += WHOLE / 4) {
        struct blob_partial *partial = go_on(store, arena, id, at);
        assert_null(blob_partial_write(partial, bytes + at, WHOLE / 4));
        assert_null(blob_partial_sync(partial));
        blob_partial_close(partial);
        blob_partial_close(partial);
    }
    assert_null(blob_partial_each(store, arena, count, &found));
    assert_int_equal(found, 1000000 + WHOLE);
    finish(store, arena, id, bytes, WHOLE);
    support_assert_stored(store, arena, id, bytes, WHOLE);
    /* The place of the bytes is left for the caller, who has a row to change first. */
    assert_null(blob_partial_remove(store, arena, id));
    assert_null(blob_partial_remove(store, arena, id));
    support_assert_stored(store, arena, id, bytes, WHOLE);
    found = 0;
    assert_null(blob_partial_each(store, arena, count, &found));
    assert_int_equal(found, 0);
}

static void what_was_not_made_durable_is_dropped(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id id = id_new();
    unsigned char *bytes = support_bytes(arena, WHOLE, 2);
    assert_null(blob_partial_create(store, arena, id));
    struct blob_partial *partial = go_on(store, arena, id, 0);
    assert_null(blob_partial_write(partial, bytes, 600));
    assert_null(blob_partial_sync(partial));
    assert_null(blob_partial_write(partial, "these bytes were never acknowledged", 35));
    blob_partial_close(partial);
    partial = go_on(store, arena, id, 600);
    assert_null(blob_partial_write(partial, bytes + 600, WHOLE - 600));
    assert_null(blob_partial_sync(partial));
    blob_partial_close(partial);
    finish(store, arena, id, bytes, WHOLE);
    support_assert_stored(store, arena, id, bytes, WHOLE);
}

static void fewer_bytes_than_were_acknowledged_are_told(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id id = id_new();
    struct blob_partial *partial = NULL;
    enum blob_partial_state outcome;
    bool there = true;
    assert_null(blob_partial_create(store, arena, id));
    assert_null(blob_partial_open(store, arena, id, &partial, &outcome));
    assert_null(blob_partial_go_on(partial, 1, &there));
    assert_false(there);
    blob_partial_close(partial);
}

static void a_place_that_is_not_there_is_lost_and_one_that_is_there_is_not_made_again(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id id = id_new();
    struct blob_partial *partial = NULL;
    enum blob_partial_state outcome;
    size_t found = 0;
    /* Not even the directory is there. */
    assert_null(blob_partial_open(store, arena, id, &partial, &outcome));
    assert_int_equal(outcome, BLOB_PARTIAL_LOST);
    assert_null(partial);
    assert_null(blob_partial_remove(store, arena, id));
    assert_null(blob_partial_each(store, arena, count, &found));
    assert_int_equal(found, 0);
    assert_null(blob_partial_create(store, arena, id));
    assert_int_equal(blob_partial_create(store, arena, id)->code, ERROR_INTERNAL);
    assert_null(blob_partial_open(store, arena, id_new(), &partial, &outcome));
    assert_int_equal(outcome, BLOB_PARTIAL_LOST);
}

/* A child that has the bytes open, and tells so. Returns its process id. */
static pid_t hold(struct blob_store *store, struct arena *arena, struct id id)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct blob_partial *partial = NULL;
        enum blob_partial_state outcome;
        bool open = blob_partial_open(store, arena, id, &partial, &outcome) == NULL && outcome == BLOB_PARTIAL_OPEN;
        if (!open || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            (void)pause();
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return child;
}

static void another_process_keeps_the_bytes_until_it_ends_however_it_ends(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id id = id_new();
    struct blob_partial *partial = NULL;
    enum blob_partial_state outcome;
    int status;
    assert_null(blob_partial_create(store, arena, id));
    pid_t child = hold(store, arena, id);
    assert_null(blob_partial_open(store, arena, id, &partial, &outcome));
    assert_int_equal(outcome, BLOB_PARTIAL_BUSY);
    assert_null(partial);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    blob_partial_close(go_on(store, arena, id, 0));
}

static void a_place_removed_under_an_open_one_is_lost_for_the_next(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id id = id_new();
    struct blob_partial *partial = NULL;
    enum blob_partial_state outcome;
    size_t before = support_descriptors();
    assert_null(blob_partial_create(store, arena, id));
    partial = go_on(store, arena, id, 0);
    assert_null(blob_partial_remove(store, arena, id));
    blob_partial_close(partial);
    assert_null(blob_partial_open(store, arena, id, &partial, &outcome));
    assert_int_equal(outcome, BLOB_PARTIAL_LOST);
    assert_int_equal(support_descriptors(), before);
}

static void a_writer_that_is_aborted_leaves_the_bytes(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, NULL);
    struct id id = id_new();
    uint8_t digest[DIGEST_BYTES];
    unsigned char *bytes = support_bytes(arena, WHOLE, 3);
    assert_null(blob_partial_create(store, arena, id));
    struct blob_partial *partial = go_on(store, arena, id, 0);
    assert_null(blob_partial_write(partial, bytes, WHOLE));
    assert_null(blob_partial_sync(partial));
    digest_sha256(bytes, WHOLE, digest);
    blob_abort(blob_partial_finish(partial, WHOLE, digest));
    finish(store, arena, id, bytes, WHOLE);
    support_assert_stored(store, arena, id, bytes, WHOLE);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(pieces_become_a_blob),
    HARNESS_TEST(what_was_not_made_durable_is_dropped),
    HARNESS_TEST(fewer_bytes_than_were_acknowledged_are_told),
    HARNESS_TEST(a_place_that_is_not_there_is_lost_and_one_that_is_there_is_not_made_again),
    HARNESS_TEST(another_process_keeps_the_bytes_until_it_ends_however_it_ends),
    HARNESS_TEST(a_place_removed_under_an_open_one_is_lost_for_the_next),
    HARNESS_TEST(a_writer_that_is_aborted_leaves_the_bytes),
};
HARNESS_MODULE(partial, cases)
