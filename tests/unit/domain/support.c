/* SPDX-License-Identifier: MIT */
/* What the tests of the domain floor share. */
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/random.h"
#include "domain/account/organisation.h"
#include "domain/permission/permission.h"
#include "domain/session/session.h"
#include "harness.h"
#include "support_database.h"

void expect_ok(struct error *error)
{
    if (error != NULL)
        fail_msg("%s: %s\n%s", error_code_text(error->code), error->detail, error->stack);
}

void expect_error(struct error *error, int code)
{
    assert_non_null(error);
    assert_string_equal(error_code_text(error->code), error_code_text((enum error_code)code));
}

struct text_list text_list_of(struct arena *arena, size_t count, ...)
{
    struct text_list list = {arena_array(arena, count, sizeof(char *)), count};
    va_list arguments;
    va_start(arguments, count);
    for (size_t i = 0; i < count; i++)
        list.items[i] = va_arg(arguments, const char *);
    va_end(arguments);
    return list;
}

/* ---- plain SQL ----------------------------------------------------------------------------------- */

void sql(struct database *database, struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_format_list(arena, format, arguments);
    va_end(arguments);
    expect_ok(database_execute(database, arena, text, strlen(text)));
}

/* database_execute() gives no rows back: the text becomes the body of a view that a fixed statement reads. */
static struct rows *sql_rows(struct database *database, struct arena *arena, const char *text)
{
    static const struct statement read = {"SELECT value FROM test_value"};
    struct rows *rows;
    sql(database, arena, "DELETE FROM test_value");
    sql(database, arena, "INSERT INTO test_value %s", text);
    expect_ok(database_query(database, arena, &read, NO_VALUES, &rows));
    return rows;
}

static struct rows *sql_value(struct database *database, struct arena *arena, const char *text)
{
    sql(database, arena, "CREATE TEMPORARY TABLE IF NOT EXISTS test_value (value LONGTEXT CHARACTER SET utf8mb4 NULL)");
    return sql_rows(database, arena, text);
}

int64_t sql_integer(struct database *database, struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct rows *rows = sql_value(database, arena, arena_format_list(arena, format, arguments));
    va_end(arguments);
    assert_int_equal(rows->count, 1);
    return rows_integer(rows, 0, 0);
}

const char *sql_text(struct database *database, struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct rows *rows = sql_value(database, arena, arena_format_list(arena, format, arguments));
    va_end(arguments);
    return rows->count == 0 ? NULL : rows_text(rows, 0, 0);
}

const char *sql_id(struct arena *arena, struct id id)
{
    char hex[ID_HEX_BYTES];
    id_hex(id, hex);
    return arena_format(arena, "x'%s'", hex);
}

void away_from_midnight(void)
{
    enum { DAY = 86400, MARGIN = 60 };
    unsigned left = (unsigned)(DAY - time(NULL) % DAY);
    while (left > 0 && left <= MARGIN)
        left = sleep(left);
}

/* ---- things that are there ----------------------------------------------------------------------- */

struct id given_organisation(struct database *database, struct arena *arena)
{
    struct organisation organisation = {
        .id = id_new(),
        .name = "Quarry Ltd",
        .services = TEXTS(arena, "inventory"),
        .status = ORGANISATION_ACTIVE,
        .quota_bytes = ORGANISATION_NO_QUOTA,
        .quota_files = ORGANISATION_NO_QUOTA,
    };
    expect_ok(organisation_insert(database, arena, &organisation));
    return organisation.id;
}

static struct error *insert_user_body(struct database *database, struct arena *arena, void *context)
{
    bool duplicate;
    TRY(user_insert(database, arena, context, &duplicate));
    assert_false(duplicate);
    return NULL;
}

struct user *given_user(struct database *database, struct arena *arena, struct id organisation, const char *role,
                        const char *permissions)
{
    struct user *user = arena_alloc(arena, sizeof *user);
    *user = (struct user){
        .id = id_new(),
        .organisation_id = organisation,
        .first_name = "Ada",
        .last_name = "Quill",
        .roles = role == NULL ? NO_TEXTS : TEXTS(arena, role),
        .permissions = permission_words(arena, permissions),
        .status = USER_ACTIVE,
    };
    user->email = arena_format(arena, "%s@example.com", random_code(arena, 18));
    expect_ok(database_transaction(database, arena, insert_user_body, user, NULL));
    return user;
}

struct id given_session(struct database *database, struct arena *arena, struct id user)
{
    struct id session = id_new();
    expect_ok(session_insert(database, arena, session, user, 3600));
    return session;
}

struct file_record a_file(struct arena *arena, struct id organisation, struct id user)
{
    struct file_record record = {
        .id = id_new(),
        .organisation_id = organisation,
        .user_id = user,
        .bucket = "files",
        .type = "contract",
        .name = arena_format(arena, "contract %s.pdf", random_code(arena, 12)),
        .size = 123456789012,
        .content_type = "application/pdf",
        .tags = NO_TEXTS,
    };
    random_bytes(record.hash, sizeof record.hash);
    return record;
}

struct insertion {
    const struct file_record *record;
    bool duplicate;
};

static struct error *insert_file_body(struct database *database, struct arena *arena, void *context)
{
    struct insertion *insertion = context;
    return file_insert(database, arena, insertion->record, &insertion->duplicate);
}

bool insert_file(struct database *database, struct arena *arena, const struct file_record *record)
{
    struct insertion insertion = {record, false};
    expect_ok(database_transaction(database, arena, insert_file_body, &insertion, NULL));
    return insertion.duplicate;
}

struct file_record given_file(struct database *database, struct arena *arena, struct id organisation, struct id user)
{
    struct file_record record = a_file(arena, organisation, user);
    assert_false(insert_file(database, arena, &record));
    return record;
}

/* ---- races --------------------------------------------------------------------------------------- */

/* Racers stand in one queue for the same rows, so the last one is given more time than a request has. */
#define RACER_SECONDS 60

static struct database *racer_database(void)
{
    struct database_options options = support_database_options();
    options.connect_timeout_seconds = options.query_timeout_seconds = RACER_SECONDS;
    return database_new(&options);
}

/* Also one that has no connection says that it is there: the others begin without it. */
static _Noreturn void run_racer(int (*body)(struct database *, struct arena *, unsigned, void *), unsigned index,
                                void *context, int ready, int go)
{
    struct arena *arena = arena_new();
    struct database *database = racer_database();
    char byte = 0;
    bool connected = database_ping(database, arena) == NULL;
    bool told = write(ready, "r", 1) == 1;
    /* Where one dies before it has told, the pipe ends when all others have. */
    (void)close(ready);
    if (!told || read(go, &byte, 1) != 0 || !connected)
        _exit(100);
    int result = body(database, arena, index, context);
    database_free(&database);
    arena_free(&arena);
    _exit(result);
}

void race(unsigned count, int (*body)(struct database *database, struct arena *arena, unsigned index, void *context),
          void *context, int results_out[RACERS_MAX])
{
    int ready[2];
    int go[2];
    pid_t children[RACERS_MAX];
    assert_true(count <= RACERS_MAX && pipe(ready) == 0 && pipe(go) == 0);
    (void)support_database_options(); /* the server must run before there are several of us */
    (void)fflush(NULL);
    for (unsigned i = 0; i < count; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] > 0)
            continue;
        (void)close(go[1]);
        run_racer(body, i, context, ready[1], go[0]);
    }
    (void)close(ready[1]);
    char byte;
    unsigned waiting = 0;
    while (waiting < count && read(ready[0], &byte, 1) == 1)
        waiting++;
    /* The end of this pipe is the signal: all see it at the same moment. */
    (void)close(go[0]);
    (void)close(go[1]);
    (void)close(ready[0]);
    for (unsigned i = 0; i < count; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        results_out[i] = WIFEXITED(status) ? WEXITSTATUS(status) : 100;
    }
    assert_int_equal(waiting, count);
}

unsigned race_count(const int results[RACERS_MAX], unsigned count, int value)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++)
        found += results[i] == value;
    return found;
}
