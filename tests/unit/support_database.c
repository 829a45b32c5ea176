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
    pid_t process;
    const char *program;
    const char *directory;
    const char *socket;
} server;

static void give_up(const char *what, const char *detail)
{
    (void)fprintf(stderr, "database server: %s %s\n", what, detail);
    exit(EXIT_FAILURE);
}

static const char *find_program(const char *name)
{
    const char *path = getenv("PATH") != NULL ? getenv("PATH") : "";
    const char *places = arena_format(server.arena, "%s:/usr/sbin:/usr/local/sbin", path);
    for (const char *at = places; *at != '\0';) {
        size_t length = strcspn(at, ":");
        const char *file = arena_format(server.arena, "%.*s/%s", (int)length, at, name);
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
    const char *log = arena_format(server.arena, "%s/%s", server.directory, name);
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

/* What a program has said, on our own standard error. */
static void tell_log(const char *name)
{
    char line[1024];
    FILE *file = fopen(arena_format(server.arena, "%s/%s", server.directory, name), "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        (void)fputs(line, stderr);
    if (file != NULL)
        (void)fclose(file);
}

static void install(void)
{
    const char *program = find_program("mariadb-install-db");
    const char *arguments[] = {
        program, "--no-defaults", "--force", "--auth-root-authentication-method=normal", "--skip-test-db",
        "--skip-name-resolve", arena_format(server.arena, "--datadir=%s/data", server.directory),
        /* A server that starts removes the temporary tables of all that share the folder. */
        arena_format(server.arena, "--tmpdir=%s", server.directory), geteuid() == 0 ? "--user=root" : NULL, NULL};
    pid_t child = start_program(program, arguments, false);
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        tell_log("install.log");
        give_up("mariadb-install-db failed in", server.directory);
    }
}

static struct database_options options_of(const char *name)
{
    return (struct database_options){.socket = server.socket,
                                     .name = name,
                                     .user = "root",
                                     .connect_timeout_seconds = 20, /* a busy machine may be slow to answer */
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
        if (tries == PATIENCE_TENTHS || waitpid(server.process, NULL, WNOHANG) != 0)
            give_up("mariadbd does not answer; see server.log in", server.directory);
        (void)nanosleep(&tenth, NULL);
        arena_reset(arena);
    }
    log_set_level(LOG_LEVEL_INFO);
    arena_free(&arena);
    database_free(&database);
}

void support_database_restart(const char *const *more)
{
    const char *data = arena_format(server.arena, "--datadir=%s/data", server.directory);
    const char *socket = arena_format(server.arena, "--socket=%s", server.socket);
    /* A server that starts removes the temporary tables of all others that share the folder. */
    const char *temporary = arena_format(server.arena, "--tmpdir=%s", server.directory);
    const char *arguments[ARGUMENTS_MAX] = {
        server.program,
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
    server.process = start_program(server.program, arguments, true);
    wait_for_server();
}

void support_database_kill(void)
{
    if (server.process == 0)
        return;
    (void)kill(server.process, SIGKILL);
    (void)waitpid(server.process, NULL, 0);
    server.process = 0;
}

static void at_exit(void)
{
    if (getpid() != server.owner)
        return;
    support_database_kill();
    arena_free(&server.arena);
}

static void expect_none(const struct error *error, const char *what)
{
    if (error != NULL)
        give_up(what, error->detail != NULL ? error->detail : error->message);
}

static void create(const char *name)
{
    struct database_options options = options_of(NULL);
    options.query_timeout_seconds = 0;
    struct database *database = database_new(&options);
    struct arena *arena = arena_new();
    expect_none(migrate_create_database(database, arena, name), "creating a database:");
    arena_free(&arena);
    database_free(&database);
}

/* Starts the server unless it runs. */
static void start(void)
{
    if (server.owner != 0)
        return;
    server.owner = getpid();
    server.arena = arena_new();
    server.directory = harness_directory(server.arena);
    server.socket = arena_format(server.arena, "%s/s", server.directory);
    if (strlen(server.socket) > 100)
        give_up("TMPDIR is too long for a unix socket:", server.socket);
    server.program = find_program("mariadbd");
    if (atexit(at_exit) != 0)
        give_up("cannot register", "the end");
    install();
    support_database_restart(NULL);
    create("gatehouse");
    struct database_options options = options_of("gatehouse");
    options.query_timeout_seconds = 0;
    struct database *database = database_new(&options);
    struct arena *arena = arena_new();
    log_set_level(LOG_LEVEL_WARN);
    expect_none(migrate(database, arena, support_database_sql(), NULL, NULL), "migrating:");
    log_set_level(LOG_LEVEL_INFO);
    arena_free(&arena);
    database_free(&database);
}

struct database_options support_database_options(void)
{
    start();
    return options_of("gatehouse");
}

struct database *support_database_new(void)
{
    struct database_options options = support_database_options();
    return database_new(&options);
}

struct database *support_database_worker(void)
{
    struct database_options options = support_database_options();
    struct database_options patient = options;
    patient.query_timeout_seconds = 0;
    struct database *administrator = database_new(&patient);
    struct arena *arena = arena_new();
    struct secret password = secret_copy(server.arena, "worker", strlen("worker"));
    expect_none(migrate_account(administrator, arena, "support_worker", "localhost", password), "making an account:");
    expect_none(migrate_grant(administrator, arena, options.name, "support_worker", "localhost", migrate_worker_grants,
                              migrate_worker_grant_count),
                "granting rights:");
    arena_free(&arena);
    database_free(&administrator);
    options.user = "support_worker";
    options.password = password;
    return database_new(&options);
}

static const struct statement list_tables = {
    "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
    " AND table_type = 'BASE TABLE'"
    " AND table_name NOT IN ('schema_migration', 'role', 'role_permission', 'change_version')"};

static void execute(struct database *database, struct arena *arena, const char *sql)
{
    expect_none(database_execute(database, arena, sql, strlen(sql)), sql);
}

void support_database_clear(void)
{
    struct database_options options = support_database_options();
    options.query_timeout_seconds = 0; /* the disk may be busy for longer than a request waits */
    struct database *database = database_new(&options);
    struct arena *arena = arena_new();
    struct rows *rows;
    expect_none(database_query(database, arena, &list_tables, NO_VALUES, &rows), "listing tables:");
    execute(database, arena, "SET SESSION foreign_key_checks = 0");
    for (size_t row = 0; row < rows->count; row++)
        execute(database, arena, arena_format(arena, "DELETE FROM `%s`", rows_text(rows, row, 0)));
    arena_free(&arena);
    database_free(&database);
}

struct database_options support_database_empty(const char *name)
{
    start();
    struct database_options options = options_of(NULL);
    options.query_timeout_seconds = 0;
    struct database *database = database_new(&options);
    struct arena *arena = arena_new();
    execute(database, arena, arena_format(arena, "DROP DATABASE IF EXISTS `%s`", name));
    arena_free(&arena);
    database_free(&database);
    create(name);
    return options_of(name);
}

int support_database_pid(void)
{
    start();
    return server.process;
}

const char *support_database_sql(void)
{
    start();
    return harness_source(server.arena, "sql");
}
