/* SPDX-License-Identifier: MIT */
/* Connections with TLS, and what a server without it learns. */
#include "harness.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "store/certificate.h"
#include "store/database/migrate.h"
#include "store/support.h"
#include "support_database.h"

/* Below the ports that the kernel gives to connections: one of these could take it before the server does. */
static unsigned free_port(void)
{
    struct harness_random random = {.state = (uint64_t)getpid()};
    for (unsigned tries = 0; tries < 1000; tries++) {
        unsigned port = 10000 + harness_random_below(&random, 20000);
        struct sockaddr_in address = {
            .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        assert_true(fd >= 0);
        bool free = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
        (void)close(fd);
        if (free)
            return port;
    }
    fail_msg("no port can be had");
    return 0;
}

struct encryption {
    struct arena *arena; /* for the server's arguments */
    const char *good;
    const char *other;
    struct database_options options;
};

/* Restarts the server with TLS on a port of the loopback interface; NULL for the certificate: without TLS. */
static void restart_encrypted(struct encryption *encryption, const char *certificate)
{
    struct arena *arena = encryption->arena;
    encryption->options.port = free_port();
    const char **arguments = arena_array(arena, 8, sizeof *arguments);
    size_t count = 0;
    arguments[count++] = arena_format(arena, "--port=%u", encryption->options.port);
    arguments[count++] = "--bind-address=127.0.0.1";
    if (certificate != NULL) {
        arguments[count++] = arena_format(arena, "--ssl-cert=%s-cert.pem", certificate);
        arguments[count++] = arena_format(arena, "--ssl-key=%s-key.pem", certificate);
    }
    support_database_kill();
    support_database_restart(arguments);
}

static struct error *reach(struct encryption *encryption, const char *authority)
{
    encryption->options.tls_ca_file = arena_format(encryption->arena, "%s-cert.pem", authority);
    return database_ping(help_open(encryption->arena, &encryption->options), encryption->arena);
}

static const struct grant of_sample = {"sample", "SELECT"};
static const struct statement cipher = {"SELECT variable_value FROM information_schema.session_status"
                                        " WHERE variable_name = 'SSL_VERSION'"};

static void tls_takes_the_right_certificate_only(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *administrator = help_database(arena);
    const char *directory = harness_directory(arena);
    struct encryption encryption = {.arena = arena, .options = help_options()};
    help_none(migrate_account(administrator, arena, "remote", "127.0.0.1", secret_of("r")));
    help_none(migrate_grant(administrator, arena, "samples", "remote", "127.0.0.1", &of_sample, 1));
    encryption.good = certificate_make(arena, directory, "good", "localhost", 30);
    encryption.other = certificate_make(arena, directory, "other", "localhost", 30);
    const char *elsewhere = certificate_make(arena, directory, "elsewhere", "elsewhere.example", 30);
    const char *expired = certificate_make(arena, directory, "expired", "localhost", -1);
    encryption.options.socket = NULL;
    encryption.options.host = "localhost";
    encryption.options.user = "remote";
    encryption.options.password = secret_of("r");

    restart_encrypted(&encryption, encryption.good);
    struct error *good = reach(&encryption, encryption.good);
    struct rows *rows = NULL;
    struct database *database = help_open(arena, &encryption.options);
    struct error *asked = database_query(database, arena, &cipher, NO_VALUES, &rows);
    struct error *unknown_authority = reach(&encryption, encryption.other);
    encryption.options.tls_ca_file = NULL;
    struct rows *clear = NULL;
    struct error *though_offered =
        database_query(help_open(arena, &encryption.options), arena, &cipher, NO_VALUES, &clear);
    restart_encrypted(&encryption, elsewhere);
    struct error *wrong_host = reach(&encryption, elsewhere);
    restart_encrypted(&encryption, expired);
    struct error *too_late = reach(&encryption, expired);
    restart_encrypted(&encryption, NULL);
    struct error *in_the_clear = reach(&encryption, encryption.good);
    encryption.options.tls_ca_file = NULL;
    struct error *not_asked_for = database_ping(help_open(arena, &encryption.options), arena);
    support_database_kill();
    support_database_restart(NULL);

    help_none(good);
    help_none(asked);
    assert_non_null(strstr(rows_text(rows, 0, 0), "TLSv1."));
    help_error(unknown_authority, ERROR_DATABASE_UNAVAILABLE);
    help_none(though_offered);
    assert_string_equal(rows_text(clear, 0, 0), "");
    help_error(wrong_host, ERROR_DATABASE_UNAVAILABLE);
    help_error(too_late, ERROR_DATABASE_UNAVAILABLE);
    help_error(in_the_clear, ERROR_DATABASE_UNAVAILABLE);
    help_none(not_asked_for);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(tls_takes_the_right_certificate_only),
};
HARNESS_MODULE(connection_tls, cases)
