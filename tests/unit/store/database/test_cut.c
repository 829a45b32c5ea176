/* SPDX-License-Identifier: MIT */
/*
 * The connection breaks before every exchange of every operation in turn. The operation is done or says that it is not,
 * nothing is half there, and the handle serves again at once.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/text.h"
#include "store/database/database_int.h"
#include "store/database/dump.h"
#include "store/database/row_lock.h"
#include "store/support.h"
#include "store/support_cut.h"

static const struct statement insert_word = {"INSERT INTO sample (id, word, name) VALUES (?, ?, ?)"};
static const struct statement find_names = {"SELECT name, word FROM sample ORDER BY word"};

struct scene {
    struct arena *arena;
    struct database *database;
    struct id id;
    const char *name; /* too long for the place where a row is fetched to */
};

struct duty {
    const char *name;
    struct error *(*work)(struct scene *scene);
};

/* ---- reading and writing ---------------------------------------------------------------------------- */

static struct error *work_read(struct scene *scene)
{
    struct rows *rows;
    TRY(database_query(scene->database, scene->arena, &find_names, NO_VALUES, &rows));
    assert_int_equal(rows->count, 2);
    assert_string_equal(rows_text(rows, 0, 0), scene->name);
    assert_string_equal(rows_text(rows, 1, 1), "b");
    return NULL;
}

static struct error *work_ping(struct scene *scene)
{
    return database_ping(scene->database, scene->arena);
}

/* By another connection, which does not break. */
static int64_t count_rows(const struct scene *scene)
{
    const struct support_cut kept = support_cut;
    support_cut.at = 0;
    int64_t rows = help_count(scene->arena);
    support_cut = kept;
    return rows;
}

/* The row is there, or it is not, or nobody knows: then it is asked for. */
static struct error *work_change(struct scene *scene)
{
    struct change change;
    struct error *error = database_change(scene->database, scene->arena, &insert_word,
                                          VALUES(database_id(scene->id), database_text("c"), database_null()), &change);
    int64_t rows = count_rows(scene);
    if (error == NULL)
        assert_int_equal(rows, 3);
    else if (!change.unknown)
        assert_int_equal(rows, 2);
    return error;
}

static struct error *insert_both(struct database *database, struct arena *arena, void *context)
{
    (void)context;
    for (size_t i = 0; i < 2; i++)
        TRY(database_change(database, arena, &insert_word,
                            VALUES(database_id(id_new()), database_text(i == 0 ? "c" : "d"), database_null()), NULL));
    return NULL;
}

static struct error *work_transaction(struct scene *scene)
{
    bool unknown = false;
    struct error *error = database_transaction(scene->database, scene->arena, insert_both, NULL, &unknown);
    int64_t rows = count_rows(scene);
    if (rows != 2 && rows != 4)
        fail_msg("half of a transaction is there: %d rows", (int)rows);
    if (error == NULL || !unknown)
        assert_int_equal(rows, error == NULL ? 4 : 2);
    return error;
}

/* ---- locks ------------------------------------------------------------------------------------------ */

static struct error *work_lock(struct scene *scene)
{
    bool held = false;
    uint64_t count;
    const struct row_lock lock = row_lock_of(scene->database, "kind", "cut", 3);
    TRY(row_lock_take(scene->database, scene->arena, &lock, 30, 0, &held));
    assert_true(held); /* nobody else wants it */
    TRY(row_lock_renew(scene->database, scene->arena, &lock, 30, &held));
    TRY(row_lock_take(scene->database, scene->arena, &lock, 30, 0, &held));
    assert_true(held);
    row_lock_release(scene->database, scene->arena, &lock);
    return row_lock_purge(scene->database, scene->arena, 10, &count);
}

/* ---- dumps ------------------------------------------------------------------------------------------ */

static struct error *gather(void *context, const char *bytes, size_t length)
{
    buffer_add(context, bytes, length);
    return NULL;
}

struct writing {
    struct buffer text;
    uint64_t rows;
};

static struct error *write_dump(struct database *database, struct arena *arena, void *context)
{
    static const char *const none[] = {"row_lock", NULL};
    struct writing *writing = context;
    const struct dump_writer writer = {.write = gather, .context = &writing->text};
    buffer_init(&writing->text, arena); /* a transaction may be run again */
    return dump_write(database, arena, none, &writer, &writing->rows);
}

/* A dump that is reported as good is whole. */
static struct error *work_dump(struct scene *scene)
{
    struct writing writing = {.rows = 0};
    TRY(dump_prepare(scene->database, scene->arena));
    TRY(database_transaction(scene->database, scene->arena, write_dump, &writing, NULL));
    assert_true(writing.rows >= 2); /* tests before this one have tables of their own */
    const char *last = arena_format(scene->arena, "-- end: %d rows\n", (int)writing.rows);
    const char *end = strstr(writing.text.bytes, last);
    assert_true(end != NULL && strlen(end) == strlen(last));
    assert_non_null(strstr(writing.text.bytes, scene->name));
    return NULL;
}

static struct error *work_marks(struct scene *scene)
{
    const char *comment;
    TRY(dump_mark(scene->database, scene->arena, "cut_mark", "half"));
    TRY(dump_find_mark(scene->database, scene->arena, "cut_mark", &comment));
    assert_string_equal(comment, "half");
    TRY(dump_unmark(scene->database, scene->arena, "cut_mark"));
    TRY(dump_find_mark(scene->database, scene->arena, "cut_mark", &comment));
    assert_null(comment);
    return NULL;
}

/* ---- every exchange --------------------------------------------------------------------------------- */

static const struct duty duties[] = {
    {"read", work_read}, {"ping", work_ping}, {"change", work_change}, {"transaction", work_transaction},
    {"lock", work_lock}, {"dump", work_dump}, {"marks", work_marks},
};

/* The tables with two rows, and without what the run before has left. */
static struct scene scene_new(struct arena *arena, const char *name)
{
    struct scene scene = {.arena = arena, .database = help_database(arena), .id = id_new(), .name = name};
    help_execute(scene.database, arena, "DROP TABLE IF EXISTS cut_mark");
    help_none(row_lock_create(scene.database, arena));
    help_execute(scene.database, arena, "DELETE FROM row_lock");
    for (size_t i = 0; i < 2; i++)
        help_none(database_change(scene.database, arena, &insert_word,
                                  VALUES(database_id(id_new()), database_text(i == 0 ? "a" : "b"), database_text(name)),
                                  NULL));
    return scene;
}

/* Whether there was such an exchange. */
static bool survives(const struct duty *duty, const char *name, size_t at)
{
    struct arena *arena = arena_new();
    struct scene scene = scene_new(arena, name);
    support_cut = (struct support_cut){.at = at};
    struct error *error = duty->work(&scene);
    bool reached = support_cut.exchanges >= at;
    support_cut = (struct support_cut){.at = 0};
    if (error != NULL && !reached)
        fail_msg("%s: fails by itself: %s", duty->name, error->detail);
    /* A row that cannot be fetched from what has come is a fault of this side. */
    bool fetched = error == NULL || strstr(error->detail, "could not be read") == NULL;
    if (error != NULL && error->code != (fetched ? ERROR_DATABASE_UNAVAILABLE : ERROR_INTERNAL))
        fail_msg("%s, exchange %zu: %s: %s", duty->name, at, error_code_text(error->code), error->detail);
    help_none(database_ping(scene.database, arena));
    assert_int_equal(scene.database->transaction, TRANSACTION_NONE);
    scene = scene_new(arena, name);
    error = duty->work(&scene);
    if (error != NULL)
        fail_msg("%s, exchange %zu: does not go through afterwards: %s", duty->name, at, error->detail);
    arena_free(&arena);
    return reached;
}

static void a_connection_may_break_at_every_exchange(void **state)
{
    char name[191];
    size_t cases = 0;
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    log_set_level(LOG_LEVEL_FATAL);
    for (size_t i = 0; i < sizeof duties / sizeof *duties; i++)
        for (size_t at = 1; survives(&duties[i], name, at); at++)
            cases++;
    log_set_level(LOG_LEVEL_INFO);
    assert_true(cases > 40);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_connection_may_break_at_every_exchange),
};
HARNESS_MODULE(cut, cases)
