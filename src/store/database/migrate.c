/* SPDX-License-Identifier: MIT */
/*
 * Applies migrations. Each file has a row in schema_migration: made before its first statement, counted up after each
 * statement, dated after the last. A server that dies between a statement and its count leaves a statement that is done
 * but not counted. The next run then fails with "already exists", and the operator decides.
 */
#include "store/database/migrate.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "codec/digest.h"
#include "store/database/database.h"
#include "store/database/row_lock.h"
#include "store/database/sql_split_int.h"
#include "store/source_int.h"

/* How many milliseconds to wait for another migration. */
#define LOCK_PATIENCE 60000
#define FILES_MAX 999

static const struct statement find_table = {"SELECT COUNT(*) FROM information_schema.tables"
                                            " WHERE table_schema = DATABASE() AND table_name = 'schema_migration'"};
static const struct statement list_applied = {
    "SELECT version, name, checksum, done, applied_at IS NOT NULL FROM schema_migration ORDER BY version"};
static const struct statement count_applied = {"SELECT COUNT(*) FROM schema_migration WHERE applied_at IS NOT NULL"};
static const struct statement insert_row = {
    "INSERT INTO schema_migration (version, name, checksum, statements, done) VALUES (?, ?, ?, ?, 0)"};
static const struct statement count_up = {"UPDATE schema_migration SET done = ? WHERE version = ?"};
static const struct statement finish_row = {
    "UPDATE schema_migration SET applied_at = UTC_TIMESTAMP(3) WHERE version = ?"};

static const char make_table[] = "CREATE TABLE IF NOT EXISTS schema_migration ("
                                 "version INT UNSIGNED NOT NULL PRIMARY KEY, "
                                 "name VARCHAR(100) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL, "
                                 "checksum BINARY(32) NOT NULL, "
                                 "statements INT UNSIGNED NOT NULL, "
                                 "done INT UNSIGNED NOT NULL, "
                                 "applied_at DATETIME(3) NULL) ENGINE = InnoDB";

/* One file, and what the database has of it. */
struct migration {
    unsigned version;
    const char *name;
    char *text;
    size_t length;
    uint8_t checksum[DIGEST_BYTES];
    bool begun;
    bool applied;
    size_t done;
};

struct migrations {
    struct migration *items;
    size_t count;
};

/* A message for the operator, and the same for the log. */
__attribute__((format(printf, 2, 3))) static __attribute__((returns_nonnull)) struct error *
complain(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_format_list(arena, format, arguments);
    va_end(arguments);
    return error_message(error_new(arena, ERROR_INTERNAL, "%s", text), "%s", text);
}

/* ---- the files ----------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* NNN-name.sql: the name has lower-case letters, digits and hyphens, the number is at least 1. */
static bool name_valid(const char *name)
{
    size_t length = strlen(name);
    if (length < 9 || length > 100 || name[3] != '-')
        return false;
    for (size_t i = 0; i < length - 4; i++)
        if (!text_is_digit(name[i]) && (i < 3 || (name[i] != '-' && !(name[i] >= 'a' && name[i] <= 'z'))))
            return false;
    return strncmp(name, "000", 3) != 0;
}

static int by_version(const void *left, const void *right)
{
    const struct migration *a = left, *b = right;
    return (a->version > b->version) - (a->version < b->version);
}

static struct error *check_order(struct arena *arena, const char *directory, const struct migrations *migrations)
{
    if (migrations->count == 0)
        return complain(arena, "There are no migrations in %s.", directory);
    for (size_t i = 1; i < migrations->count; i++)
        if (migrations->items[i].version == migrations->items[i - 1].version)
            return complain(arena, "%s and %s in %s have the same number.", migrations->items[i - 1].name,
                            migrations->items[i].name, directory);
    return NULL;
}

static struct error *list_files(struct arena *arena, const char *directory, struct migrations *migrations)
{
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return complain(arena, "The migrations in %s cannot be read: %s.", directory, strerror(errno));
    migrations->items = arena_array(arena, FILES_MAX, sizeof *migrations->items);
    migrations->count = 0;
    struct error *error = NULL;
    while (error == NULL) {
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (entry == NULL) {
            if (errno != 0)
                error = complain(arena, "The migrations in %s cannot be read: %s.", directory, strerror(errno));
            break;
        }
        if (entry->d_name[0] == '.' || !ends_with(entry->d_name, ".sql"))
            continue;
        if (!name_valid(entry->d_name) || migrations->count == FILES_MAX)
            error =
                complain(arena, "%s/%s is not named NNN-name.sql, or there are too many.", directory, entry->d_name);
        else
            migrations->items[migrations->count++].name = arena_text(arena, entry->d_name);
    }
    (void)closedir(stream);
    TRY(error);
    for (size_t i = 0; i < migrations->count; i++)
        migrations->items[i].version = (unsigned)strtoul(migrations->items[i].name, NULL, 10);
    qsort(migrations->items, migrations->count, sizeof *migrations->items, by_version);
    return check_order(arena, directory, migrations);
}

static struct error *read_files(struct arena *arena, const char *directory, struct migrations *migrations)
{
    TRY(list_files(arena, directory, migrations));
    for (size_t i = 0; i < migrations->count; i++) {
        struct migration *migration = &migrations->items[i];
        const char *path = arena_format(arena, "%s/%s", directory, migration->name);
        TRY(source_read(arena, path, &migration->text, &migration->length));
        digest_sha256(migration->text, migration->length, migration->checksum);
    }
    return NULL;
}

/* ---- what the database knows --------------------------------------------------------------------- */

static struct migration *find_migration(const struct migrations *migrations, int64_t version)
{
    for (size_t i = 0; i < migrations->count; i++)
        if ((int64_t)migrations->items[i].version == version)
            return &migrations->items[i];
    return NULL;
}

/* Notes which files are applied; refuses rows that match no file. */
static struct error *compare(struct arena *arena, const struct rows *rows, struct migrations *migrations)
{
    for (size_t row = 0; row < rows->count; row++) {
        const char *name = rows_text(rows, row, 1);
        struct migration *migration = find_migration(migrations, rows_integer(rows, row, 0));
        if (migration == NULL)
            return complain(arena,
                            "The database has migration %s, which this version does not know. Install"
                            " the version that the database belongs to, or a newer one.",
                            name);
        size_t length;
        const void *checksum = rows_bytes(rows, row, 2, &length);
        migration->begun = true;
        migration->done = (size_t)rows_integer(rows, row, 3);
        migration->applied = rows_boolean(rows, row, 4);
        if (length != DIGEST_BYTES || memcmp(checksum, migration->checksum, DIGEST_BYTES) != 0)
            return complain(arena,
                            "Migration %s was changed after it was %s. Restore the file; put changes"
                            " into a new one.",
                            name, migration->applied ? "applied" : "begun");
    }
    bool missing = false;
    for (size_t i = 0; i < migrations->count; i++) {
        missing = missing || !migrations->items[i].applied;
        if (missing && migrations->items[i].applied)
            return complain(arena, "Migration %s is applied, but not all that come before it.",
                            migrations->items[i].name);
    }
    return NULL;
}

/* ---- applying ------------------------------------------------------------------------------------ */

static struct error *ask(struct database *database, struct arena *arena, const struct statement *statement,
                         bool *yes_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, statement, NO_VALUES, &rows));
    *yes_out = rows->count == 1 && rows_boolean(rows, 0, 0);
    return NULL;
}

struct error *migrate_lock(struct database *database, struct arena *arena, struct row_lock *lock_out)
{
    bool locked;
    TRY(row_lock_create(database, arena));
    *lock_out = row_lock_of(database, "migrate", "", 0);
    lock_out->tied = true;
    TRY(row_lock_take(database, arena, lock_out, MIGRATE_LOCK_SECONDS, LOCK_PATIENCE, &locked));
    if (!locked)
        return complain(arena,
                        "Another migration or backup of this database has been running for over a minute, or was"
                        " killed on another node less than %d seconds ago. Try again when it has ended.",
                        MIGRATE_LOCK_SECONDS);
    return NULL;
}

struct error *migrate_lock_renew(struct database *database, struct arena *arena, const struct row_lock *lock)
{
    bool held;
    TRY(row_lock_renew(database, arena, lock, MIGRATE_LOCK_SECONDS, &held));
    return held ? NULL : complain(arena, "Another migration has begun meanwhile. Run this command again.");
}

static struct error *apply_piece(struct database *database, struct arena *arena, const struct row_lock *lock,
                                 const struct migration *migration, const struct sql_piece *piece, size_t number,
                                 size_t total)
{
    TRY(migrate_lock_renew(database, arena, lock));
    struct error *error = database_execute(database, arena, piece->text, piece->length);
    if (error != NULL) {
        error->detail = arena_format(arena, "%s, line %u: %s", migration->name, piece->line, error->detail);
        return error_message(error,
                             "Migration failed at %s (statement %zu of %zu). What comes before it is"
                             " done. Correct the cause and run the migration again; it goes on there.",
                             error->detail, number, total);
    }
    const struct database_value done = database_integer((int64_t)number);
    const struct database_value version = database_integer(migration->version);
    TRY(database_change(database, arena, &count_up, VALUES(done, version), NULL));
    return NULL;
}

static struct error *apply(struct database *database, struct arena *arena, const struct row_lock *lock,
                           const struct migration *migration)
{
    struct sql_piece *pieces;
    size_t count;
    TRY(sql_split(arena, migration->text, migration->length, &pieces, &count));
    if (!migration->begun)
        TRY(database_change(database, arena, &insert_row,
                            VALUES(database_integer(migration->version), database_text(migration->name),
                                   database_bytes(migration->checksum, DIGEST_BYTES), database_integer((int64_t)count)),
                            NULL));
    for (size_t i = migration->done; i < count; i++)
        TRY(apply_piece(database, arena, lock, migration, &pieces[i], i + 1, count));
    TRY(database_change(database, arena, &finish_row, VALUES(database_integer(migration->version)), NULL));
    LOG(INFO, STORE, "migration applied", LOG_TEXT("file", migration->name));
    return NULL;
}

/* The number of triggers, and of those that run with the rights of another account. */
static const struct statement count_triggers = {
    "SELECT COUNT(*), COALESCE(SUM(definer <> CURRENT_USER()), 0) FROM information_schema.triggers"
    " WHERE trigger_schema = DATABASE()"};

#define MAKE_TRIGGER "CREATE TRIGGER IF NOT EXISTS "
#define MAKE_TRIGGER_ANEW "CREATE OR REPLACE TRIGGER "

/* The statement that makes the trigger whether or not it exists; NULL: this piece makes none. */
static const char *anew(struct arena *arena, const struct sql_piece *piece)
{
    const char *words = memmem(piece->text, piece->length, MAKE_TRIGGER, sizeof MAKE_TRIGGER - 1);
    if (words == NULL)
        return NULL;
    size_t before = (size_t)(words - piece->text), behind = before + sizeof MAKE_TRIGGER - 1;
    return arena_format(arena, "%.*s" MAKE_TRIGGER_ANEW "%.*s", (int)before, piece->text, (int)(piece->length - behind),
                        piece->text + behind);
}

/* All statements that make triggers in all files; they run where `database` is not NULL. Returns their number. */
static struct error *each_trigger(struct database *database, struct arena *arena, const struct migrations *migrations,
                                  int64_t *count_out)
{
    *count_out = 0;
    for (size_t i = 0; i < migrations->count; i++) {
        struct sql_piece *pieces;
        size_t count;
        TRY(sql_split(arena, migrations->items[i].text, migrations->items[i].length, &pieces, &count));
        for (size_t k = 0; k < count; k++) {
            const char *statement = anew(arena, &pieces[k]);
            if (statement == NULL)
                continue;
            ++*count_out;
            if (database != NULL)
                TRY(database_execute(database, arena, statement, strlen(statement)));
        }
    }
    return NULL;
}

/*
 * Copies of a database do not always include its triggers. Where any is missing, all are made again; and also where
 * they run with the rights of another account, such as the workers' account, which once had all rights and no longer
 * does. Each trigger is replaced in one statement, and in the order of the files, so that the triggers of one table
 * keep their order. So a migration that ends or changes a trigger must make another one of the same name.
 */
static struct error *restore_triggers(struct database *database, struct arena *arena,
                                      const struct migrations *migrations)
{
    struct rows *rows;
    int64_t wanted;
    TRY(each_trigger(NULL, arena, migrations, &wanted));
    TRY(database_query(database, arena, &count_triggers, NO_VALUES, &rows));
    if (rows_integer(rows, 0, 0) >= wanted && (wanted == 0 || rows_integer(rows, 0, 1) == 0))
        return NULL;
    LOG(WARN, STORE, "the database lacks triggers, or they belong to another account; they are made again");
    return each_trigger(database, arena, migrations, &wanted);
}

static struct error *apply_all(struct database *database, struct arena *arena, const struct row_lock *lock,
                               struct migrations *migrations, void (*report)(void *context, const char *file_name),
                               void *context)
{
    struct rows *rows;
    TRY(database_execute(database, arena, make_table, sizeof make_table - 1));
    TRY(database_query(database, arena, &list_applied, NO_VALUES, &rows));
    TRY(compare(arena, rows, migrations));
    for (size_t i = 0; i < migrations->count; i++) {
        if (migrations->items[i].applied)
            continue;
        TRY(apply(database, arena, lock, &migrations->items[i]));
        if (report != NULL)
            report(context, migrations->items[i].name);
    }
    return restore_triggers(database, arena, migrations);
}

struct error *migrate(struct database *database, struct arena *arena, const char *directory,
                      void (*report)(void *context, const char *file_name), void *context)
{
    struct migrations migrations;
    TRY(read_files(arena, directory, &migrations));
    struct row_lock lock;
    TRY(migrate_lock(database, arena, &lock));
    struct error *error = apply_all(database, arena, &lock, &migrations, report, context);
    row_lock_release(database, arena, &lock);
    return error == NULL ? NULL : error_trace(error, __func__, __FILE__, __LINE__);
}

struct error *migrate_pending(struct database *database, struct arena *arena, const char *directory,
                              size_t *pending_out)
{
    struct migrations migrations;
    bool there;
    TRY(list_files(arena, directory, &migrations));
    TRY(ask(database, arena, &find_table, &there));
    *pending_out = migrations.count;
    if (!there)
        return NULL;
    struct rows *rows;
    TRY(database_query(database, arena, &list_applied, NO_VALUES, &rows));
    for (size_t row = 0; row < rows->count; row++)
        if (rows_boolean(rows, row, 4) && find_migration(&migrations, rows_integer(rows, row, 0)) != NULL)
            (*pending_out)--;
    return NULL;
}

struct error *migrate_count(struct arena *arena, const char *directory, unsigned *count_out)
{
    struct migrations migrations;
    *count_out = 0;
    TRY(list_files(arena, directory, &migrations));
    *count_out = (unsigned)migrations.count;
    return NULL;
}

struct error *migrate_applied(struct database *database, struct arena *arena, unsigned count, bool *applied_out)
{
    struct rows *rows;
    struct error *error = database_query(database, arena, &count_applied, NO_VALUES, &rows);
    *applied_out = false;
    /* A missing table is the only mistake that this statement can make. */
    if (error != NULL && error->code == ERROR_INTERNAL)
        return NULL;
    TRY(error);
    *applied_out = rows_integer(rows, 0, 0) >= (int64_t)count;
    return NULL;
}

struct error *migrate_newest(struct database *database, struct arena *arena, const char **name_out)
{
    static const struct statement newest = {"SELECT name FROM schema_migration ORDER BY version DESC LIMIT 1"};
    struct rows *rows;
    TRY(database_query(database, arena, &newest, NO_VALUES, &rows));
    *name_out = rows->count == 0 ? "" : rows_text(rows, 0, 0);
    return NULL;
}
