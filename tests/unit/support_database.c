/* SPDX-License-Identifier: MIT */
/*
 * One server a test program. Tests that fork must not end it, so everything at exit asks first whose process
 * this is; and should the program itself be killed, the kernel ends the server with it (PR_SET_PDEATHSIG).
 */
#include "support_database.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "harness.h"
#include "store/database/migrate.h"

#define PATIENCE_TENTHS 600
#define ARGUMENTS_MAX 32

static struct {
    struct arena *arena; /* for the program's whole run */
    pid_t owner;
    pid_t server;
    const char *program;
    const char *directory;
    const char *socket;
} fixture;

static void give_up(const char *what, const char *detail)
{
    (void)fprintf(stderr, "database fixture: %s %s\n", what, detail);
    exit(EXIT_FAILURE);
}

static const char *find_program(const char *name)
{
    const char *path = getenv("PATH") != NULL ? getenv("PATH") : "";
    const char *places = arena_format(fixture.arena, "%s:/usr/sbin:/usr/local/sbin", path);
    for (const char *at = places; *at != '\0';) {
        size_t length = strcspn(at, ":");
        const char *file = arena_format(fixture.arena, "%.*s/%s", (int)length, at, name);
        if (length != 0 && access(file, X_OK) == 0)
            return file;
        at += length + (at[length] == ':' ? 1 : 0);
    }
    give_up("install mariadb-server: there is no", name);
    return NULL;
}

/* Runs a program with its output in a file of the directory. `lasting` ones die with this process. */
static pid_t start_program(const char *file, const char *const *arguments, bool lasting)
{
    const char *name = lasting ? "server.log" : "install.log";
    const char *log = arena_format(fixture.arena, "%s/%s", fixture.directory, name);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child < 0)
        give_up("cannot fork:", strerror(errno));
    if (child > 0)
        return child;
    if (lasting && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        _exit(126);
    int output = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int nothing = open("/dev/null", O_RDONLY);
    if (output < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        _exit(126);
    execv(file, (char *const *)arguments);
    _exit(127);
}

static void install(void)
{
    const char *program = find_program("mariadb-install-db");
    const char *arguments[] = {program,
                               "--no-defaults",
                               "--force",
                               "--auth-root-authentication-method=normal",
                               "--skip-test-db",
                               "--skip-name-resolve",
                               arena_format(fixture.arena, "--datadir=%s/data", fixture.directory),
                               geteuid() == 0 ? "--user=root" : NULL,
                               NULL};
    pid_t child = start_program(program, arguments, false);
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        give_up("mariadb-install-db failed; see install.log in", fixture.directory);
}

static struct database_options options_of(const char *name)
{
    return (struct database_options){.socket = fixture.socket,
                                     .name = name,
                                     .user = "root",
                                     .connect_timeout_seconds = 2,
                                     .query_timeout_seconds = 5};
}

/* Until the server answers. The log is quiet meanwhile: refused connections are what is waited for. */
static void wait_for_server(void)
{
    struct database_options options = options_of(NULL);
    struct database *database = database_new(&options);
    struct arena *arena = arena_new();
    const struct timespec tenth = {.tv_nsec = 100000000};
    log_set_module_level(LOG_MODULE_STORE, LOG_LEVEL_FATAL);
    for (unsigned tries = 0; database_ping(database, arena) != NULL; tries++) {
        if (tries == PATIENCE_TENTHS || waitpid(fixture.server, NULL, WNOHANG) != 0)
            give_up("mariadbd does not answer; see server.log in", fixture.directory);
        (void)nanosleep(&tenth, NULL);
        arena_reset(arena);
    }
    log_set_level(LOG_LEVEL_INFO);
    arena_free(&arena);
    database_free(&database);
}

void database_fixture_restart(const char *const *more)
{
    const char *data = arena_format(fixture.arena, "--datadir=%s/data", fixture.directory);
    const char *socket = arena_format(fixture.arena, "--socket=%s", fixture.socket);
    /* A server that starts removes the temporary tables of all others that share the folder. */
    const char *temporary = arena_format(fixture.arena, "--tmpdir=%s", fixture.directory);
    const char *arguments[ARGUMENTS_MAX] = {
        fixture.program,
        "--no-defaults",
        data,
        socket,
        temporary,
        "--innodb-buffer-pool-size=32M",
        "--innodb-log-file-size=16M",
        "--innodb-flush-log-at-trx-commit=2",
        "--character-set-server=latin1", /* nothing may depend on the server's defaults */
        "--skip-name-resolve",
    };
    size_t count = 10;
    if (geteuid() == 0)
        arguments[count++] = "--user=root";
    if (more == NULL)
        arguments[count++] = "--skip-networking";
    for (; more != NULL && *more != NULL && count < ARGUMENTS_MAX - 1; more++)
        arguments[count++] = *more;
    fixture.server = start_program(fixture.program, arguments, true);
    wait_for_server();
}

void database_fixture_kill(void)
{
    if (fixture.server == 0)
        return;
    (void)kill(fixture.server, SIGKILL);
    (void)waitpid(fixture.server, NULL, 0);
    fixture.server = 0;
}

static void at_exit(void)
{
    if (getpid() != fixture.owner)
        return;
    database_fixture_kill();
    arena_free(&fixture.arena);
}

static void expect_none(const struct error *error, const char *what)
{
    if (error != NULL)
        give_up(what, error->detail != NULL ? error->detail : error->message);
}

static void create(const char *name)
{
    struct database_options options = options_of(NULL);
    struct database *database = database_new(&options);
    struct arena *arena = arena_new();
    expect_none(migrate_create_database(database, arena, name), "creating a database:");
    arena_free(&arena);
    database_free(&database);
}

/* Starts the server unless it runs. */
static void start(void)
{
    if (fixture.owner != 0)
        return;
    fixture.owner = getpid();
    fixture.arena = arena_new();
    fixture.directory = harness_directory(fixture.arena);
    fixture.socket = arena_format(fixture.arena, "%s/s", fixture.directory);
    if (strlen(fixture.socket) > 100)
        give_up("TMPDIR is too long for a unix socket:", fixture.socket);
    fixture.program = find_program("mariadbd");
    if (atexit(at_exit) != 0)
        give_up("cannot register", "the end");
    install();
    database_fixture_restart(NULL);
    create("gatehouse");
    struct database_options options = options_of("gatehouse");
    options.query_timeout_seconds = 0;
    struct database *database = database_new(&options);
    struct arena *arena = arena_new();
    log_set_level(LOG_LEVEL_WARN);
    expect_none(migrate(database, arena, database_fixture_sql(), NULL, NULL), "migrating:");
    log_set_level(LOG_LEVEL_INFO);
    arena_free(&arena);
    database_free(&database);
}

struct database_options database_fixture_options(void)
{
    start();
    return options_of("gatehouse");
}

struct database *database_fixture_new(void)
{
    struct database_options options = database_fixture_options();
    return database_new(&options);
}

struct database *database_fixture_worker(void)
{
    struct database_options options = database_fixture_options();
    struct database *administrator = database_new(&options);
    struct arena *arena = arena_new();
    struct secret password = secret_copy(fixture.arena, "worker", strlen("worker"));
    expect_none(migrate_account(administrator, arena, "fixture_worker", "localhost", password), "making an account:");
    expect_none(migrate_grant(administrator, arena, options.name, "fixture_worker", "localhost", migrate_worker_grants,
                              migrate_worker_grant_count),
                "granting rights:");
    arena_free(&arena);
    database_free(&administrator);
    options.user = "fixture_worker";
    options.password = password;
    return database_new(&options);
}

static const struct statement list_tables = {
    "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
    " AND table_type = 'BASE TABLE'"
    " AND table_name NOT IN ('schema_migration', 'role', 'role_permission', 'change_version', 'code_decoy')"};

static void execute(struct database *database, struct arena *arena, const char *sql)
{
    expect_none(database_execute(database, arena, sql, strlen(sql)), sql);
}

void database_fixture_clear(void)
{
    struct database *database = database_fixture_new();
    struct arena *arena = arena_new();
    struct rows *rows;
    expect_none(database_query(database, arena, &list_tables, NO_VALUES, &rows), "listing tables:");
    execute(database, arena, "SET SESSION foreign_key_checks = 0");
    for (size_t row = 0; row < rows->count; row++)
        execute(database, arena, arena_format(arena, "DELETE FROM `%s`", rows_text(rows, row, 0)));
    arena_free(&arena);
    database_free(&database);
}

struct database_options database_fixture_empty(const char *name)
{
    start();
    struct database_options options = options_of(NULL);
    struct database *database = database_new(&options);
    struct arena *arena = arena_new();
    execute(database, arena, arena_format(arena, "DROP DATABASE IF EXISTS `%s`", name));
    arena_free(&arena);
    database_free(&database);
    create(name);
    return options_of(name);
}

int database_fixture_pid(void)
{
    start();
    return fixture.server;
}

const char *database_fixture_sql(void)
{
    start();
    return harness_source(fixture.arena, "sql");
}
