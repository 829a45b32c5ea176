/* SPDX-License-Identifier: MIT */
/* Dumps: written and loaded again with the same rows. */
#include "store/database/dump.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "harness.h"
#include "store/database/migrate.h"
#include "support_database.h"

static void ok(struct error *error)
{
    if (error != NULL)
        fail_msg("%s (%s)", error->message, error->detail == NULL ? "" : error->detail);
}

static struct database *open_empty(const char *name)
{
    struct database_options options = support_database_empty(name);
    options.query_timeout_seconds = 0;
    return database_new(&options);
}

static void execute(struct database *database, struct arena *arena, const char *sql)
{
    ok(database_execute(database, arena, sql, strlen(sql)));
}

static struct error *gather(void *context, const char *bytes, size_t length)
{
    buffer_add(context, bytes, length);
    return NULL;
}

struct writing {
    struct buffer text;
    uint64_t rows;
    const char *const *without;
    struct error *(*write)(void *context, const char *bytes, size_t length);
};

static struct error *write_body(struct database *database, struct arena *arena, void *context)
{
    struct writing *writing = context;
    const struct dump_writer writer = {.write = writing->write, .context = &writing->text};
    return dump_write(database, arena, writing->without, &writer, &writing->rows);
}

static const char *const none[] = {NULL};

/* The whole dump as a text. */
static const char *dump(struct database *database, struct arena *arena, const char *const *without, uint64_t *rows_out)
{
    struct writing writing = {.without = without, .write = gather};
    buffer_init(&writing.text, arena);
    ok(dump_prepare(database, arena));
    ok(database_transaction(database, arena, write_body, &writing, NULL));
    if (rows_out != NULL)
        *rows_out = writing.rows;
    return writing.text.bytes;
}

static struct error *load(struct database *database, struct arena *arena, const char *text, uint64_t *rows_out)
{
    FILE *file = fmemopen((void *)text, strlen(text), "r");
    assert_non_null(file);
    struct error *error = dump_load(database, arena, file, rows_out);
    (void)fclose(file);
    return error;
}

static const char table[] =
    "CREATE TABLE odd (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, `a b``c` VARCHAR(300) NULL,"
    " bytes VARBINARY(300) NULL, more MEDIUMBLOB NULL, at DATETIME(3) NULL, day DATE NULL, flag BOOLEAN NULL,"
    " least BIGINT NULL, sum DECIMAL(30,3) NULL, essay MEDIUMTEXT NULL,"
    " made CHAR(64) GENERATED ALWAYS AS (SHA2(bytes, 256)) PERSISTENT, KEY (made))"
    " ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";

/* Every byte there is, in bytes and (as far as it is text) in a text; ends of ranges; NULL and empty apart. */
static void fill(struct database *database, struct arena *arena)
{
    static const struct statement insert = {
        "INSERT INTO odd (`a b``c`, bytes, more, at, day, flag, least, sum, essay) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    unsigned char all[256];
    char text[128];
    for (unsigned i = 0; i < sizeof all; i++)
        all[i] = (unsigned char)i;
    for (unsigned i = 1; i < sizeof text; i++)
        text[i - 1] = (char)i;
    text[127] = '\0';
    static const char *const texts[] = {
        "",     "'",   "\\",        "a\\'b\\\"c\n\r\x1a;-- x", "\xf0\x9f\x90\xa7 \xc3\xa9",
        "NULL", "x''", "trailing ", "); DROP TABLE odd; --"};
    ok(database_change(database, arena, &insert,
                       VALUES(database_text(text), database_bytes(all, 256), database_bytes(all, 256),
                              database_text("2026-11-21 23:59:59.999"), database_text("2024-02-29"),
                              database_boolean(true), database_integer(INT64_MIN),
                              database_text("-123456789012345678901234567.891"), database_text("long")),
                       NULL));
    ok(database_change(database, arena, &insert,
                       VALUES(database_null(), database_null(), database_null(), database_null(), database_null(),
                              database_null(), database_null(), database_null(), database_null()),
                       NULL));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ok(database_change(database, arena, &insert,
                           VALUES(database_text(texts[i]), database_text(texts[i]), database_bytes("", 0),
                                  database_text("1970-01-01 00:00:00"), database_text("9999-12-31"),
                                  database_boolean(false), database_integer(INT64_MAX), database_text("0"),
                                  database_text(texts[i])),
                           NULL));
}

/* What a table holds, column for column, as one value. */
static const char *sum(struct database *database, struct arena *arena)
{
    static const struct statement digest = {
        "SELECT SHA2(GROUP_CONCAT(CONCAT_WS('|', id, COALESCE(HEX(`a b``c`), '-'), COALESCE(HEX(bytes), '-'),"
        " COALESCE(HEX(more), '-'), COALESCE(at, '-'), COALESCE(day, '-'), COALESCE(flag, '-'), COALESCE(least, '-'),"
        " COALESCE(sum, '-'), COALESCE(HEX(essay), '-'), COALESCE(made, '-')) ORDER BY id), 256) FROM odd"};
    struct rows *rows;
    ok(database_query(database, arena, &digest, NO_VALUES, &rows));
    assert_false(rows_is_null(rows, 0, 0));
    return rows_text(rows, 0, 0);
}

static void everything_comes_back_as_it_was(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *from = open_empty("dump_from");
    struct database *to = open_empty("dump_to");
    uint64_t written, read;
    execute(from, arena, table);
    fill(from, arena);
    const char *text = dump(from, arena, none, &written);
    ok(load(to, arena, text, &read));
    assert_int_equal(written, 11);
    assert_int_equal(read, 11);
    assert_string_equal(sum(to, arena), sum(from, arena));
    /* And once more from there: what is written does not depend on where it was. */
    assert_string_equal(dump(to, arena, none, NULL), text);
    execute(to, arena, "INSERT INTO odd (flag) VALUES (1)"); /* the counter goes on behind what was loaded */
    database_free(&from);
    database_free(&to);
}

static void many_rows_are_many_lines_none_of_them_long(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *from = open_empty("dump_from");
    struct database *to = open_empty("dump_to");
    uint64_t written, read;
    size_t longest = 0, lines = 0;
    execute(from, arena, table);
    execute(from, arena,
            "INSERT INTO odd (essay, bytes) SELECT REPEAT('\\\\\\'', 500), REPEAT('x', 200) FROM seq_1_to_3000");
    const char *text = dump(from, arena, none, &written);
    for (const char *at = text; *at != '\0'; lines++) {
        size_t length = strcspn(at, "\n") + 1;
        longest = length > longest ? length : longest;
        at += length;
    }
    assert_true(lines > 20 && longest < DUMP_LINE_BYTES / 16);
    ok(load(to, arena, text, &read));
    assert_int_equal(read, 3000);
    assert_string_equal(sum(to, arena), sum(from, arena));
    database_free(&from);
    database_free(&to);
}

static void the_schema_of_the_house_comes_back_and_is_up_to_date(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *from = support_database_new();
    struct database *to = open_empty("dump_to");
    static const char *const without[] = {"role", NULL};
    static const struct statement count = {
        "SELECT (SELECT COUNT(*) FROM role), (SELECT COUNT(*) FROM role_permission) > 0"};
    struct rows *rows;
    uint64_t loaded;
    size_t pending;
    ok(load(to, arena, dump(from, arena, without, NULL), &loaded));
    ok(migrate_pending(to, arena, support_database_sql(), &pending));
    assert_int_equal(pending, 0);
    ok(database_query(to, arena, &count, NO_VALUES, &rows));
    assert_int_equal(rows_integer(rows, 0, 0), 0);
    assert_true(rows_boolean(rows, 0, 1));
    database_free(&from);
    database_free(&to);
}

static struct error *write_while_others_do(struct database *database, struct arena *arena, void *context)
{
    static const struct statement look = {"SELECT COUNT(*) FROM odd"};
    struct rows *rows;
    TRY(database_query(database, arena, &look, NO_VALUES, &rows));
    struct database *another = database_new(&(struct database_options){.socket = support_database_options().socket,
                                                                       .name = "dump_from",
                                                                       .user = "root",
                                                                       .connect_timeout_seconds = 2,
                                                                       .query_timeout_seconds = 5});
    execute(another, arena, "INSERT INTO odd (flag) VALUES (1), (2), (3)");
    execute(another, arena, "DELETE FROM odd WHERE id = 1");
    database_free(&another);
    return write_body(database, arena, context);
}

static void all_is_of_one_moment(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *from = open_empty("dump_from");
    struct writing writing = {.without = none, .write = gather};
    execute(from, arena, table);
    execute(from, arena, "INSERT INTO odd (flag) VALUES (0), (0)");
    buffer_init(&writing.text, arena);
    ok(dump_prepare(from, arena));
    ok(database_transaction(from, arena, write_while_others_do, &writing, NULL));
    assert_int_equal(writing.rows, 2);
    assert_non_null(strstr(writing.text.bytes, "VALUES (1,"));
    assert_null(strstr(writing.text.bytes, "(3,"));
    database_free(&from);
}

static void without_one_moment_nothing_is_written(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *from = open_empty("dump_from");
    struct writing writing = {.without = none, .write = gather};
    buffer_init(&writing.text, arena);
    assert_non_null(database_transaction(from, arena, write_body, &writing, NULL));
    assert_int_equal(writing.text.length, 0);
    database_free(&from);
}

static struct error *full_disk(void *context, const char *bytes, size_t length)
{
    struct buffer *text = context;
    if (text->length > 2000)
        return error_plain(text->arena, ERROR_STORAGE_FULL);
    return gather(context, bytes, length);
}

static void a_writer_that_fails_ends_it_at_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *from = open_empty("dump_from");
    struct writing writing = {.without = none, .write = full_disk};
    execute(from, arena, table);
    execute(from, arena, "INSERT INTO odd (essay) SELECT REPEAT('x', 2000) FROM seq_1_to_2000");
    buffer_init(&writing.text, arena);
    ok(dump_prepare(from, arena));
    struct error *error = database_transaction(from, arena, write_body, &writing, NULL);
    assert_true(error != NULL && error->code == ERROR_STORAGE_FULL);
    ok(database_ping(from, arena)); /* the handle is of use again */
    database_free(&from);
}

static void what_is_cut_changed_or_foreign_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *from = open_empty("dump_from");
    uint64_t rows;
    execute(from, arena, table);
    execute(from, arena, "INSERT INTO odd (flag) VALUES (0), (1)");
    const char *whole = dump(from, arena, none, NULL);
    const char *end = strstr(whole, "-- end: ");
    const char *insert = strstr(whole, "INSERT INTO");
    const char *const texts[] = {
        "",
        arena_copy(arena, whole, (size_t)(end - whole)),                  /* no end */
        arena_copy(arena, whole, strlen(whole) - 3),                      /* in the middle of it */
        arena_format(arena, "%.*s%s", (int)(insert - whole), whole, end), /* rows are missing */
        arena_format(arena, "%s%s", whole, "INSERT INTO `odd` (`flag`) VALUES (3);\n"),
        arena_format(arena, "DROP DATABASE dump_to;\n%s", whole),
        arena_format(arena, "UPDATE odd SET flag = 3;\n%s", whole),
        arena_format(arena, "INSERT INTO `odd` (`flag`) VALUES (3); DROP TABLE odd;\n%s", whole),
        arena_format(arena, "CREATE TABLE `odd2` (a INT)\n%s", whole),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct database *to = open_empty("dump_to");
        FILE *file = tmpfile();
        assert_true(file != NULL && fputs(texts[i], file) >= 0);
        rewind(file);
        if (dump_load(to, arena, file, &rows) == NULL)
            fail_msg("text %zu was loaded", i);
        (void)fclose(file);
        database_free(&to);
    }
    database_free(&from);
}

static void tables_are_named_and_dropped(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = open_empty("dump_from");
    const char **names;
    size_t count;
    execute(database, arena, "CREATE TABLE parent (id INT PRIMARY KEY) ENGINE = InnoDB");
    execute(database, arena,
            "CREATE TABLE `chi``ld` (id INT, FOREIGN KEY (id) REFERENCES parent (id)) ENGINE = InnoDB");
    execute(database, arena, "CREATE TABLE schema_migration (id INT) ENGINE = InnoDB");
    ok(dump_tables(database, arena, &names, &count));
    assert_int_equal(count, 3);
    assert_string_equal(names[0], "chi`ld");
    assert_string_equal(names[2], "schema_migration");
    assert_null(names[3]);
    ok(dump_drop(database, arena, "parent"));
    ok(dump_drop(database, arena, "chi`ld"));
    ok(dump_unmark(database, arena, "chi`ld"));
    ok(dump_tables(database, arena, &names, &count));
    assert_int_equal(count, 1);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(everything_comes_back_as_it_was),
    HARNESS_TEST(many_rows_are_many_lines_none_of_them_long),
    HARNESS_TEST(the_schema_of_the_house_comes_back_and_is_up_to_date),
    HARNESS_TEST(all_is_of_one_moment),
    HARNESS_TEST(without_one_moment_nothing_is_written),
    HARNESS_TEST(a_writer_that_fails_ends_it_at_once),
    HARNESS_TEST(what_is_cut_changed_or_foreign_is_refused),
    HARNESS_TEST(tables_are_named_and_dropped),
};
HARNESS_MODULE(dump, cases)
