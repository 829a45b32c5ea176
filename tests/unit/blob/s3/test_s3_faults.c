/* SPDX-License-Identifier: MIT */
/*
 * Every call of every operation fails in turn, in each way that a store can fail. The operation says so or is done all
 * the same; nothing is lost and nothing is half there; and the same operation goes through afterwards.
 */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "blob/blob.h"
#include "blob/partial.h"
#include "blob/s3/s3_int.h"
#include "blob/s3/support_s3.h"
#include "blob/s3/support_s3_calls.h"
#include "blob/support.h"

#define PART 80000 /* bytes; see support_s3() */
#define LARGE (2 * PART + 90000)
#define LATER INT64_C(1795428001000) /* than the server's only time */

/* One operation on something of its own. */
struct run {
    struct support_s3 *s3;
    struct id id;
    const unsigned char *bytes;
    size_t size;
    uint64_t noted; /* bytes of an upload in pieces that the caller has noted as durable */
    bool committed;
    size_t count;
};

struct duty {
    const char *name;
    size_t size;
    void (*prepare)(struct run *run);            /* NULL: nothing */
    struct error *(*work)(struct run *run);      /* may be called again, and then goes on */
    void (*check)(struct run *run, bool faulty); /* after each call of work() that gave no error; NULL: nothing */
};

/* ---- a spool whose calls fail ----------------------------------------------------------------------- */

enum spool_fault { SPOOL_FULL, SPOOL_SHORT, SPOOL_KINDS };

static struct {
    const struct blob_functions *real;
    struct blob_functions functions;
    size_t calls;
    size_t fail_at; /* counted from 1; 0: none */
    enum spool_fault fault;
    bool happened;
} spool;

static bool spool_fails(void)
{
    spool.calls++;
    if (spool.calls != spool.fail_at)
        return false;
    return spool.happened = true;
}

static struct error *spool_begin(struct blob_store *store, struct arena *arena, void **state_out)
{
    if (spool_fails() && spool.fault == SPOOL_FULL)
        return error_new(arena, ERROR_STORAGE_FULL, "the spool is full");
    return spool.real->begin(store, arena, state_out);
}

static struct error *spool_write(struct blob_store *store, struct arena *arena, void *state, const void *bytes,
                                 size_t length)
{
    if (spool_fails() && spool.fault == SPOOL_FULL)
        return error_new(arena, ERROR_STORAGE_FULL, "the spool is full");
    return spool.real->write(store, arena, state, bytes, length);
}

static struct error *spool_read(struct blob_store *store, struct arena *arena, void *state, uint64_t offset,
                                void *bytes, size_t length, size_t *got_out)
{
    if (!spool_fails())
        return spool.real->read(store, arena, state, offset, bytes, length, got_out);
    *got_out = 0;
    return spool.fault == SPOOL_SHORT ? NULL : error_new(arena, ERROR_STORAGE_FULL, "the spool cannot be read");
}

static void open_store(struct support_s3 *s3)
{
    support_s3_reopen(s3);
    struct blob_store *own = s3_of(s3->store)->spool;
    spool.real = own->functions;
    spool.functions = *spool.real;
    spool.functions.begin = spool_begin;
    spool.functions.write = spool_write;
    spool.functions.read = spool_read;
    own->functions = &spool.functions;
}

/* ---- storing, looking, reading and removing --------------------------------------------------------- */

static struct error *work_store(struct run *run)
{
    return support_store(run->s3->store, run->s3->arena, run->id, run->bytes, run->size, run->size);
}

static void check_stored(struct run *run, bool faulty)
{
    (void)faulty;
    support_assert_stored(run->s3->store, run->s3->arena, run->id, run->bytes, run->size);
    assert_int_equal(support_files(run->s3->spool), 0);
}

static void prepare_stored(struct run *run)
{
    assert_null(work_store(run));
}

static struct error *work_read(struct run *run)
{
    struct blob_reader *reader;
    unsigned char *bytes = arena_alloc(run->s3->arena, run->size);
    size_t got = 0;
    TRY(blob_open(run->s3->store, run->s3->arena, run->id, &reader));
    struct error *error = blob_read(reader, 0, bytes, run->size, &got);
    blob_close(reader);
    if (error != NULL)
        return error;
    assert_int_equal(got, run->size);
    assert_memory_equal(bytes, run->bytes, run->size);
    return NULL;
}

static struct error *work_look(struct run *run)
{
    struct blob_found found;
    bool there = false;
    TRY(blob_look(run->s3->store, run->s3->arena, run->id, &found, &there));
    assert_true(there && found.has_digest);
    assert_int_equal(found.size, run->size);
    return NULL;
}

static struct error *work_remove(struct run *run)
{
    return blob_remove(run->s3->store, run->s3->arena, run->id);
}

static void check_removed(struct run *run, bool faulty)
{
    struct blob_found found;
    bool there = true;
    (void)faulty;
    assert_null(blob_look(run->s3->store, run->s3->arena, run->id, &found, &there));
    assert_false(there);
}

/* ---- listing, sweeping, moving aside ---------------------------------------------------------------- */

static struct error *count_blob(void *context, const struct blob_found *found)
{
    *(size_t *)context += found->size;
    return NULL;
}

static void prepare_list(struct run *run)
{
    for (int i = 0; i < 5 && support_count(support_s3_objects(run->s3), "\n") < 5; i++)
        assert_null(support_store(run->s3->store, run->s3->arena, id_new(), "x", 1, 1));
    run->count = 0;
    assert_null(blob_each(run->s3->store, run->s3->arena, count_blob, &run->count));
}

/* An error, or all of them: what is missing in a list would be taken for lost. */
static struct error *work_list(struct run *run)
{
    size_t count = 0;
    TRY(blob_each(run->s3->store, run->s3->arena, count_blob, &count));
    assert_int_equal(count, run->count);
    return NULL;
}

static struct error *count_stray(void *context, const struct blob_stray *stray)
{
    (void)stray;
    ++*(size_t *)context;
    return NULL;
}

static struct error *work_strays(struct run *run)
{
    size_t count = 0;
    TRY(blob_each_stray(run->s3->store, run->s3->arena, count_stray, &count));
    assert_int_equal(count, 0);
    return NULL;
}

static struct error *work_check(struct run *run)
{
    return blob_check(run->s3->store, run->s3->arena);
}

/* Uploads that were begun and never completed. */
static void prepare_sweep(struct run *run)
{
    for (int i = 0; i < 4; i++) {
        support_s3_script(run->s3, "PUT error 403 AccessDenied\nDELETE error 403 AccessDenied\n");
        run->id = id_new();
        assert_non_null(work_store(run));
    }
    support_s3_script(run->s3, "");
}

static struct error *work_sweep(struct run *run)
{
    size_t count = 0;
    return blob_sweep(run->s3->store, run->s3->arena, LATER, &count);
}

static void check_swept(struct run *run, bool faulty)
{
    (void)faulty;
    assert_null(blob_remove(run->s3->store, run->s3->arena, id_new())); /* has the server write its objects */
    assert_int_equal(support_count(support_s3_objects(run->s3), "upload "), 0);
}

static struct error *work_aside(struct run *run)
{
    const char *where;
    return blob_set_aside(run->s3->store, run->s3->arena, run->id, &where);
}

/* It is in the quarantine, once. */
static void check_aside(struct run *run, bool faulty)
{
    const char *name = strchr(blob_path(run->s3->arena, run->id), '/') + 1;
    const char *line = arena_format(run->s3->arena, "some/where/quarantine/%s %zu\n", name, run->size);
    (void)faulty;
    assert_null(blob_remove(run->s3->store, run->s3->arena, id_new()));
    assert_int_equal(support_count(support_s3_objects(run->s3), name), 1);
    assert_non_null(strstr(support_s3_objects(run->s3), line));
}

/* ---- bytes in pieces -------------------------------------------------------------------------------- */

static struct error *open_pieces(struct run *run, struct blob_partial **partial_out)
{
    enum blob_partial_state outcome;
    bool there = false;
    open_store(run->s3); /* as another process would */
    TRY(blob_partial_open(run->s3->store, run->s3->arena, run->id, partial_out, &outcome));
    struct error *error = blob_partial_go_on(*partial_out, run->noted, &there);
    if (error == NULL && !there)
        fail_msg("bytes that were noted as durable are not there");
    if (error != NULL)
        blob_partial_close(*partial_out);
    return error;
}

static struct error *add_piece(struct run *run, uint64_t to)
{
    struct blob_partial *partial = NULL;
    if (run->noted >= to)
        return NULL;
    TRY(open_pieces(run, &partial));
    struct error *error = blob_partial_write(partial, run->bytes + run->noted, (size_t)(to - run->noted));
    if (error == NULL)
        error = blob_partial_sync(partial);
    blob_partial_close(partial);
    if (error == NULL)
        run->noted = to;
    return error;
}

static struct error *finish_pieces(struct run *run)
{
    struct blob_partial *partial = NULL;
    uint8_t digest[DIGEST_BYTES];
    if (run->committed)
        return NULL;
    TRY(open_pieces(run, &partial));
    struct error *error = blob_partial_write(partial, run->bytes + run->noted, run->size - (size_t)run->noted);
    if (error != NULL) {
        blob_partial_close(partial);
        return error;
    }
    digest_sha256(run->bytes, run->size, digest);
    struct blob_writer *writer = blob_partial_finish(partial, run->size, digest);
    unsigned char *back = arena_alloc(run->s3->arena, run->size);
    size_t got;
    error = blob_writer_read(writer, 0, back, run->size, &got);
    if (error == NULL && got == run->size) /* fewer where the spool has lost some, which the commit finds */
        assert_memory_equal(back, run->bytes, run->size);
    if (error == NULL)
        error = blob_commit(writer, run->id);
    blob_abort(writer);
    run->committed = error == NULL;
    return error;
}

static struct error *work_pieces(struct run *run)
{
    TRY(add_piece(run, 2000));
    TRY(add_piece(run, PART + 1000));
    TRY(add_piece(run, PART + 1500));
    TRY(finish_pieces(run));
    return blob_partial_remove(run->s3->store, run->s3->arena, run->id);
}

static void check_pieces(struct run *run, bool faulty)
{
    check_stored(run, faulty);
    assert_null(blob_remove(run->s3->store, run->s3->arena, id_new()));
    if (!faulty)
        assert_int_equal(support_count(support_s3_objects(run->s3), "/partial/"), 0);
}

static struct error *count_pieces(void *context, const struct blob_partial_found *found)
{
    *(size_t *)context += found->size;
    return NULL;
}

static void prepare_places(struct run *run)
{
    for (int i = 0; i < 2 && support_count(support_s3_objects(run->s3), "\n") < 4; i++) {
        run->id = id_new();
        run->noted = 0;
        assert_null(add_piece(run, PART + 1000));
    }
    run->count = 0;
    assert_null(blob_partial_each(run->s3->store, run->s3->arena, count_pieces, &run->count));
}

static struct error *work_places(struct run *run)
{
    size_t count = 0;
    TRY(blob_partial_each(run->s3->store, run->s3->arena, count_pieces, &count));
    assert_int_equal(count, run->count);
    return NULL;
}

/* ---- each call of each operation -------------------------------------------------------------------- */

static const struct duty duties[] = {
    {"store", 300, NULL, work_store, check_stored},
    {"store in parts", LARGE, NULL, work_store, check_stored},
    {"read", 70000, prepare_stored, work_read, NULL},
    {"look", 300, prepare_stored, work_look, NULL},
    {"remove", 300, prepare_stored, work_remove, check_removed},
    {"list", 300, prepare_list, work_list, NULL},
    {"strays", 300, NULL, work_strays, NULL},
    {"check", 300, NULL, work_check, NULL},
    {"sweep", LARGE, prepare_sweep, work_sweep, check_swept},
    {"set aside", 300, prepare_stored, work_aside, check_aside},
    {"pieces", 2 * PART + 3000, NULL, work_pieces, check_pieces},
    {"places", PART + 1000, prepare_places, work_places, NULL},
};

/* What meets a fault: a call to the store, or one to the spool. */
struct fault {
    bool in_spool;
    int kind;
    size_t call;
};

static struct run new_run(struct support_s3 *s3, const struct duty *duty, const unsigned char *bytes)
{
    struct run run = {.s3 = s3, .id = id_new(), .bytes = bytes, .size = duty->size};
    support_s3_calls_clear();
    open_store(s3);
    if (duty->prepare != NULL)
        duty->prepare(&run);
    return run;
}

/* Lets the operation meet the fault. Whether there was such a call, and whether it did. */
static struct error *meet(struct run *run, const struct duty *duty, const struct fault *fault, bool *reached_out,
                          bool *happened_out)
{
    spool.calls = 0;
    spool.happened = false;
    spool.fault = (enum spool_fault)fault->kind;
    spool.fail_at = fault->in_spool ? fault->call : 0;
    support_s3_calls_fail(fault->in_spool ? 0 : fault->call, (enum support_s3_fault)fault->kind);
    struct error *error = duty->work(run);
    *reached_out = (fault->in_spool ? spool.calls : support_s3_calls.calls) >= fault->call;
    *happened_out = spool.happened || support_s3_calls.happened;
    spool.fail_at = 0;
    support_s3_calls_clear();
    return error;
}

static void expect_told(const struct duty *duty, const struct fault *fault, const struct error *error)
{
    bool full = fault->in_spool && fault->kind == SPOOL_FULL;
    if (error->code != (full ? ERROR_STORAGE_FULL : ERROR_STORAGE_UNAVAILABLE))
        fail_msg("%s, call %zu, fault %d: %s: %s", duty->name, fault->call, fault->kind, error_code_text(error->code),
                 error->detail);
}

/* Whether there was such a call. */
static bool survives(const struct support_s3 *server, const struct duty *duty, const unsigned char *bytes,
                     const struct fault *fault)
{
    bool reached, happened;
    struct support_s3 s3 = *server;
    struct arena *arena = s3.arena = arena_new();
    struct run run = new_run(&s3, duty, bytes);
    struct error *error = meet(&run, duty, fault, &reached, &happened);
    if (error != NULL && !happened)
        fail_msg("%s: fails by itself: %s", duty->name, error->detail);
    if (error != NULL)
        expect_told(duty, fault, error);
    else if (duty->check != NULL)
        duty->check(&run, true);
    error = duty->work(&run);
    if (error != NULL)
        fail_msg("%s, call %zu, fault %d: does not go on: %s", duty->name, fault->call, fault->kind, error->detail);
    if (duty->check != NULL)
        duty->check(&run, false);
    arena_free(&arena);
    return reached;
}

static size_t survive_all(void **state, bool in_spool, int kinds)
{
    const unsigned char *bytes = support_bytes(harness_arena(state), LARGE, 3);
    size_t cases = 0;
    log_set_level(LOG_LEVEL_FATAL);
    for (size_t i = 0; i < sizeof duties / sizeof *duties; i++) {
        struct support_s3 *server = support_s3(state);
        for (int kind = 0; kind < kinds; kind++)
            for (struct fault fault = {in_spool, kind, 1}; survives(server, &duties[i], bytes, &fault); fault.call++)
                cases++;
    }
    log_set_level(LOG_LEVEL_INFO);
    return cases;
}

static void every_operation_survives_each_call_that_fails(void **state)
{
    assert_true(survive_all(state, false, S3_FAULT_SAID) > 300);
}

static void every_operation_survives_each_call_to_the_spool_that_fails(void **state)
{
    assert_true(survive_all(state, true, SPOOL_KINDS) > 30);
}

static const struct CMUnitTest tests[] = {
    HARNESS_TEST(every_operation_survives_each_call_that_fails),
    HARNESS_TEST(every_operation_survives_each_call_to_the_spool_that_fails),
};
HARNESS_MODULE(s3_faults, tests)
