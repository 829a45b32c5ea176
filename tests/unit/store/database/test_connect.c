/* SPDX-License-Identifier: MIT */
/* Connecting where the server refuses the password, and a password file that changes or is gone. */
#include "harness.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "store/database/database_int.h"
#include "store/script_server.h"
#include "store/support.h"

/* Two scripted nodes, and a password in a file. */
struct scene {
    struct arena *arena;
    const char *directory[2];
    const char *port[2];
    const char *secrets; /* the folder of the password file */
    struct database_options options;
};

static void set(const struct scene *scene, size_t node, const char *lines)
{
    (void)harness_write(scene->arena, scene->directory[node], "state", lines, strlen(lines));
}

static size_t connects(const struct scene *scene, size_t node)
{
    const char *path = arena_format(scene->arena, "%s/log", scene->directory[node]);
    size_t count = 0;
    if (access(path, F_OK) != 0)
        return 0;
    for (const char *at = harness_read(scene->arena, path, NULL); (at = strstr(at, "connect\n")) != NULL; at++)
        count++;
    return count;
}

static void write_password(const struct scene *scene, const char *password)
{
    (void)harness_write(scene->arena, scene->secrets, "password", password, strlen(password));
}

static struct scene scene_of(void **state)
{
    static const char *const none[] = {NULL};
    struct scene scene = {.arena = harness_arena(state)};
    scene.secrets = harness_directory(scene.arena);
    for (size_t i = 0; i < 2; i++) {
        scene.directory[i] = harness_directory(scene.arena);
        scene.port[i] =
            script_server_start(scene.arena, "tests/unit/store/database_server.py", scene.directory[i], none);
    }
    write_password(&scene, "first\n");
    scene.options = (struct database_options){
        .host = arena_format(scene.arena, "127.0.0.1:%s,127.0.0.1:%s", scene.port[0], scene.port[1]),
        .port = 3306,
        .user = "somebody",
        .password = secret_of("first"),
        .password_file = arena_format(scene.arena, "%s/password", scene.secrets),
        .connect_timeout_seconds = 30,
        .query_timeout_seconds = 30};
    return scene;
}

/* Every node has the same passwords. */
static void a_refused_password_is_not_tried_at_the_next_node(void **state)
{
    struct scene scene = scene_of(state);
    set(&scene, 0, "refuses 1045\n");
    struct database *database = help_open(scene.arena, &scene.options);
    help_error(database_ping(database, scene.arena), ERROR_DATABASE_UNAVAILABLE);
    assert_int_equal(connects(&scene, 0), 1); /* the file has the same password */
    assert_int_equal(connects(&scene, 1), 0);
}

static void a_refused_password_is_read_again_once(void **state)
{
    struct scene scene = scene_of(state);
    struct database *database = help_open(scene.arena, &scene.options);
    set(&scene, 0, "refuses 1698\n");
    write_password(&scene, "second\n");
    help_error(database_ping(database, scene.arena), ERROR_DATABASE_UNAVAILABLE);
    assert_int_equal(connects(&scene, 0), 2);
    help_error(database_ping(database, scene.arena), ERROR_DATABASE_UNAVAILABLE);
    assert_int_equal(connects(&scene, 0), 3);
    assert_int_equal(connects(&scene, 1), 0);
    set(&scene, 0, "");
    help_none(database_ping(database, scene.arena));
}

static void without_its_file_a_refused_password_stays_refused(void **state)
{
    struct scene scene = scene_of(state);
    set(&scene, 0, "refuses 1045\n");
    assert_int_equal(unlink(scene.options.password_file), 0);
    log_set_level(LOG_LEVEL_FATAL);
    struct database *database = help_open(scene.arena, &scene.options);
    help_error(database_ping(database, scene.arena), ERROR_DATABASE_UNAVAILABLE);
    scene.options.password_file = NULL;
    database = help_open(scene.arena, &scene.options);
    help_error(database_ping(database, scene.arena), ERROR_DATABASE_UNAVAILABLE);
    log_set_level(LOG_LEVEL_INFO);
    assert_int_equal(connects(&scene, 0), 2);
}

/* The service goes on with the connection that it has. */
static void a_new_password_that_opens_nothing_is_not_taken(void **state)
{
    struct scene scene = scene_of(state);
    struct database *database = help_open(scene.arena, &scene.options);
    help_none(database_ping(database, scene.arena));
    database_renew(database); /* the same password: nothing happens */
    assert_int_equal(connects(&scene, 0), 1);
    write_password(&scene, "second\n");
    set(&scene, 0, "refuses 1045\n");
    log_set_level(LOG_LEVEL_FATAL);
    database_renew(database);
    log_set_level(LOG_LEVEL_INFO);
    assert_int_equal(connects(&scene, 0), 2);
    assert_true(secret_equal(database->options.password, secret_of("first")));
    set(&scene, 0, "");
    help_none(database_ping(database, scene.arena));
    assert_int_equal(connects(&scene, 0), 2);
    database_renew(database);
    assert_int_equal(connects(&scene, 0), 3);
    assert_true(secret_equal(database->options.password, secret_of("second")));
    help_none(database_ping(database, scene.arena));
    assert_int_equal(connects(&scene, 0), 3);
}

static void the_state_of_a_host_tells_why_it_cannot_be_asked(void **state)
{
    struct scene scene = scene_of(state);
    struct database_host_state told;
    scene.options.host = arena_format(scene.arena, "[::1]:1,127.0.0.1:%s,127.0.0.1:%s", scene.port[0], scene.port[1]);
    set(&scene, 0, "refuses 1045\n");
    set(&scene, 1, "cuts SET STATEMENT\n");
    struct database *database = help_open(scene.arena, &scene.options);
    struct error *error = database_host_state(database, scene.arena, 0, &told);
    help_error(error, ERROR_DATABASE_UNAVAILABLE);
    assert_string_equal(told.name, "[::1]:1");
    assert_non_null(strstr(error->message, "The database host [::1]:1 cannot be used: "));
    error = database_host_state(database, scene.arena, 1, &told);
    help_error(error, ERROR_DATABASE_UNAVAILABLE);
    assert_non_null(strstr(error->message, "as the test says"));
    help_error(database_host_state(database, scene.arena, 2, &told), ERROR_DATABASE_UNAVAILABLE);
    /* A server that does not tell its clock is taken to have this machine's. */
    set(&scene, 1, "1193 SET STATEMENT\n");
    help_none(database_host_state(database, scene.arena, 2, &told));
    assert_true(told.ahead > -60000 && told.ahead < 60000);
    assert_string_equal(told.words, "Synced, one of 3 nodes");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_refused_password_is_not_tried_at_the_next_node),
    HARNESS_TEST(a_refused_password_is_read_again_once),
    HARNESS_TEST(without_its_file_a_refused_password_stays_refused),
    HARNESS_TEST(a_new_password_that_opens_nothing_is_not_taken),
    HARNESS_TEST(the_state_of_a_host_tells_why_it_cannot_be_asked),
};
HARNESS_MODULE(connect, cases)
