/* SPDX-License-Identifier: MIT */
/*
 * Every file call of bytes that arrive in pieces fails in turn. The right error is told, no descriptor stays open, what
 * was acknowledged is still there, and the same upload goes through afterwards.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "blob/blob.h"
#include "blob/directory.h"
#include "blob/partial.h"
#include "blob/support.h"
#include "harness.h"

#define WHOLE 1000

/* An upload, and how far it has come. */
struct upload {
    struct blob_store *store;
    struct arena *arena; /* of the request */
    struct id id;
    const unsigned char *bytes;
    bool made;
    size_t noted; /* bytes that the caller has noted as durable */
    bool committed;
};

static struct error *open_upload(struct upload *upload, struct blob_partial **partial_out)
{
    enum blob_partial_state outcome;
    bool there = false;
    TRY(blob_partial_open(upload->store, upload->arena, upload->id, partial_out, &outcome));
    assert_int_equal(outcome, BLOB_PARTIAL_OPEN);
    struct error *error = blob_partial_go_on(*partial_out, upload->noted, &there);
    if (error == NULL && !there)
        fail_msg("bytes that were acknowledged are not there");
    return error;
}

/* Writes a piece, and behind it some bytes that nobody acknowledges. */
static struct error *add_piece(struct upload *upload, size_t to)
{
    struct blob_partial *partial;
    if (upload->noted >= to)
        return NULL;
    TRY(open_upload(upload, &partial));
    TRY(blob_partial_write(partial, upload->bytes + upload->noted, to - upload->noted));
    TRY(blob_partial_sync(partial));
    upload->noted = to;
    TRY(blob_partial_write(partial, "never acknowledged", 18));
    blob_partial_close(partial);
    return NULL;
}

static struct error *count_bytes(void *context, const struct blob_partial_found *found)
{
    *(size_t *)context += found->size;
    return NULL;
}

/* The place is listed; one that cannot be looked at is passed over. */
static struct error *list(const struct upload *upload)
{
    size_t bytes = 0;
    TRY(blob_partial_each(upload->store, upload->arena, count_bytes, &bytes));
    if (!upload->committed && support_faults.failed != CALL_FSTATAT)
        assert_in_range(bytes, upload->noted, WHOLE);
    return NULL;
}

static struct error *finish(struct upload *upload)
{
    struct blob_partial *partial;
    uint8_t digest[DIGEST_BYTES];
    if (upload->committed)
        return NULL;
    TRY(open_upload(upload, &partial));
    TRY(blob_partial_write(partial, upload->bytes + upload->noted, WHOLE - upload->noted));
    digest_sha256(upload->bytes, WHOLE, digest);
    TRY(blob_commit(blob_partial_finish(partial, WHOLE, digest), upload->id));
    upload->committed = true;
    return NULL;
}

static struct error *work(struct upload *upload)
{
    if (!upload->made)
        TRY(blob_partial_create(upload->store, upload->arena, upload->id));
    upload->made = true;
    TRY(add_piece(upload, WHOLE / 4));
    TRY(add_piece(upload, WHOLE / 2));
    TRY(list(upload));
    TRY(finish(upload));
    return blob_partial_remove(upload->store, upload->arena, upload->id);
}

/* In a request of its own, at whose end everything is closed. */
static struct error *run(struct upload *upload, struct arena *process)
{
    struct arena *request = upload->arena = arena_new();
    const struct error *error = work(upload);
    struct error *kept = error == NULL ? NULL : error_new(process, error->code, "%s", error->detail);
    arena_free(&request);
    return kept;
}

/* Closing what was read, taking a name away that is not needed, looking at one of many. */
static bool is_harmless(enum support_call call)
{
    static const enum support_call harmless[] = {CALL_CLOSE, CALL_CLOSEDIR, CALL_UNLINKAT, CALL_FSTATAT,
                                                 CALL_POSIX_FADVISE};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (call == harmless[i])
            return true;
    return false;
}

static void check_error(struct arena *arena, size_t call, int number, const struct error *error)
{
    const char *what =
        arena_format(arena, "call %zu, %s: %s", call, support_call_text(support_faults.failed), strerror(number));
    enum error_code wanted = number == ENOSPC ? ERROR_STORAGE_FULL : ERROR_STORAGE_UNAVAILABLE;
    if (error == NULL && !is_harmless(support_faults.failed))
        fail_msg("%s: went unnoticed", what);
    if (error != NULL && error->code != wanted)
        fail_msg("%s: gives %s: %s", what, error_code_text(error->code), error->detail);
}

/* Whether there was such a call. */
static bool survives(const unsigned char *bytes, size_t call, int number)
{
    struct arena *process = arena_new();
    struct upload upload = {.store = support_new_store(process, &support_io), .id = id_new(), .bytes = bytes};
    size_t descriptors = support_descriptors();
    support_faults_restart();
    support_faults.fail_at = call;
    support_faults.number = number;
    struct error *error = run(&upload, process);
    bool reached = support_faults.calls >= call;
    support_faults.fail_at = 0;
    if (reached)
        check_error(process, call, number, error);
    if (support_descriptors() != descriptors)
        fail_msg("call %zu leaks a descriptor", call);
    error = run(&upload, process);
    if (error != NULL)
        fail_msg("call %zu, %s: does not go on: %s", call, support_call_text(support_faults.failed), error->detail);
    support_assert_stored(upload.store, process, upload.id, bytes, WHOLE);
    assert_int_equal(support_files(blob_root(upload.store)), 1);
    arena_free(&process);
    return reached;
}

static void an_upload_in_pieces_survives_each_failing_call(void **state)
{
    static const int numbers[] = {EIO, ENOSPC, EACCES};
    const unsigned char *bytes = support_bytes(harness_arena(state), WHOLE, 5);
    size_t cases = 0;
    log_set_level(LOG_LEVEL_FATAL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (size_t call = 1; survives(bytes, call, numbers[i]); call++)
            cases++;
    log_set_level(LOG_LEVEL_INFO);
    assert_true(cases > 100);
}

/* ---- listing ---------------------------------------------------------------------------------------- */

static struct error *stop(void *context, const struct blob_partial_found *found)
{
    (void)found;
    return error_new(context, ERROR_INTERNAL, "enough");
}

static void a_list_ends_where_its_reader_wants(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, &support_io);
    assert_null(blob_partial_create(store, arena, id_new()));
    assert_null(blob_partial_create(store, arena, id_new()));
    size_t before = support_descriptors();
    assert_string_equal(blob_partial_each(store, arena, stop, arena)->detail, "enough");
    assert_int_equal(support_descriptors(), before);
}

/* Somebody's file beside them, and a folder that has an id for a name. */
static void what_is_no_place_is_not_listed(void **state)
{
    struct arena *arena = harness_arena(state);
    struct blob_store *store = support_new_store(arena, &support_io);
    size_t bytes = 0;
    assert_null(blob_partial_create(store, arena, id_new()));
    const char *folder = arena_format(arena, "%s/partial", blob_root(store));
    (void)harness_write(arena, folder, "README", "some text", 9);
    const char *place = arena_format(arena, "%s/0123456789abcdef0123456789abcdef", folder);
    assert_int_equal(mkdir(place, 0700), 0);
    assert_null(blob_partial_each(store, arena, count_bytes, &bytes));
    assert_int_equal(bytes, 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(an_upload_in_pieces_survives_each_failing_call),
    HARNESS_TEST(a_list_ends_where_its_reader_wants),
    HARNESS_TEST(what_is_no_place_is_not_listed),
};
HARNESS_MODULE(partial_faults, cases)
