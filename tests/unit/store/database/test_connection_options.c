/* SPDX-License-Identifier: MIT */
/* Tests how a connection is made from the configuration, and which servers get the password. */
#include "harness.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/configuration.h"
#include "store/support.h"

/* ---- TLS ----------------------------------------------------------------------------------------- */

/* A "server" that asks for the password itself; it keeps what it is sent. */
static void ask_for_the_password(int listener, int told)
{
    static const char greeting[] = "\x60\0\0\0"
                                   "\x0a"
                                   "10.11.0-MariaDB\0"
                                   "\1\0\0\0"
                                   "12345678\0"
                                   "\0\xa2"
                                   "\x2d"
                                   "\2\0"
                                   "\x0b\0"
                                   "\x15"
                                   "\0\0\0\0\0\0"
                                   "\0\0\0\0"
                                   "123456789012\0"
                                   "mysql_clear_password";
    static const char once_more[] = "\x16\0\0\2\xfe"
                                    "mysql_clear_password";
    char bytes[4096];
    size_t length = sizeof greeting - 4;
    int client = accept(listener, NULL, NULL);
    memcpy(bytes, greeting, sizeof greeting);
    bytes[0] = (char)length;
    if (client < 0 || send(client, bytes, sizeof greeting, MSG_NOSIGNAL) < 0)
        _exit(1);
    for (ssize_t got; (got = recv(client, bytes, sizeof bytes, 0)) > 0;) {
        bool kept = write(told, bytes, (size_t)got) == got;
        if (!kept || send(client, once_more, sizeof once_more, MSG_NOSIGNAL) < 0)
            _exit(1);
    }
    _exit(0);
}

static void the_password_is_told_to_nobody_without_tls(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int ends[2], status, listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        ask_for_the_password(listener, ends[1]);
    (void)close(listener);
    (void)close(ends[1]);
    struct database_options options = {.host = "127.0.0.1",
                                       .port = ntohs(address.sin_port),
                                       .user = "worker",
                                       .password = secret_of("Canary-1234"),
                                       .connect_timeout_seconds = 2,
                                       .query_timeout_seconds = 2};
    struct error *error = database_ping(help_open(arena, &options), arena);
    char told[8192];
    size_t heard = 0;
    for (ssize_t got; (got = read(ends[0], told + heard, sizeof told - heard)) > 0;)
        heard += (size_t)got;
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    help_error(error, ERROR_DATABASE_UNAVAILABLE);
    assert_null(strstr(error->detail, "Canary"));
    assert_true(memmem(told, heard, "Canary", 6) == NULL);
}

/* ---- options ------------------------------------------------------------------------------------- */

static void options_come_from_the_configuration(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    struct configuration configuration = {.database = {.socket = "/run/s",
                                                       .port = 3306,
                                                       .name = "gatehouse",
                                                       .user = "gatehouse",
                                                       .admin_user = "gatehouse",
                                                       .connect_timeout_seconds = 2,
                                                       .query_timeout_seconds = 5}};
    struct database_options options;
    configuration.database.password_file = harness_write(arena, directory, "password", "word\n", 5);
    help_none(database_options_load(arena, &configuration, false, &options));
    assert_string_equal(options.socket, "/run/s");
    assert_string_equal(secret_reveal(options.password), "word");
    assert_int_equal(options.query_timeout_seconds, 5);
    /* The same user keeps its password; migrations have no deadline. */
    help_none(database_options_load(arena, &configuration, true, &options));
    assert_string_equal(secret_reveal(options.password), "word");
    assert_int_equal(options.query_timeout_seconds, 0);
    configuration.database.admin_user = "root";
    help_none(database_options_load(arena, &configuration, true, &options));
    assert_string_equal(options.user, "root");
    assert_null(options.password.bytes);
    configuration.database.admin_password_file = harness_write(arena, directory, "other", "admin", 5);
    help_none(database_options_load(arena, &configuration, true, &options));
    assert_string_equal(secret_reveal(options.password), "admin");
    configuration.database.socket = NULL;
    help_error(database_options_load(arena, &configuration, false, &options), ERROR_INTERNAL);
    configuration.database.host = "db.example";
    configuration.database.tls = "required";
    struct error *refused = database_options_load(arena, &configuration, false, &options);
    help_error(refused, ERROR_INTERNAL);
    assert_non_null(strstr(refused->message, "tls = off-on-a-trusted-network"));
    configuration.database.tls = "off-on-a-trusted-network";
    help_none(database_options_load(arena, &configuration, false, &options));
    configuration.database.tls = "required";
    configuration.database.host = "127.0.0.2";
    help_none(database_options_load(arena, &configuration, false, &options));
    configuration.database.host = "db.example";
    configuration.database.tls_ca_file = "/etc/ca.pem";
    help_none(database_options_load(arena, &configuration, false, &options));
    configuration.database.password_file = "/nowhere/at/all";
    help_error(database_options_load(arena, &configuration, false, &options), ERROR_INTERNAL);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_password_is_told_to_nobody_without_tls),
    HARNESS_TEST(options_come_from_the_configuration),
};
HARNESS_MODULE(connection_options, cases)
