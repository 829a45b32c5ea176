/* SPDX-License-Identifier: MIT */
/* The plan of the sandbox: which folders and ports follow from which configuration. */
#include "service/runtime/confinement.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "harness.h"

static struct sandbox_plan *plan_of(struct arena *arena, const char *text)
{
    struct configuration *configuration;
    const char *path = harness_write(arena, harness_directory(arena), "gatehouse.conf", text, strlen(text));
    assert_null(configuration_load(arena, path, &configuration));
    struct sandbox_plan *plan = arena_alloc(arena, sizeof *plan);
    confinement_plan(arena, configuration, plan);
    return plan;
}

static bool has_path(const struct sandbox_plan *plan, const char *path, enum sandbox_access access)
{
    for (size_t i = 0; i < plan->path_count; i++)
        if (plan->paths[i].access == access && strcmp(plan->paths[i].path, path) == 0)
            return true;
    return false;
}

static bool names(const struct sandbox_plan *plan, const char *path)
{
    return has_path(plan, path, SANDBOX_READ) || has_path(plan, path, SANDBOX_WRITE);
}

static bool has_port(const struct sandbox_plan *plan, uint16_t port)
{
    for (size_t i = 0; i < plan->port_count; i++)
        if (plan->ports[i] == port)
            return true;
    return false;
}

#define BASE "[service]\nbase_url = https://gate.example:8443\nweb_url = https://web.example:9443\n"

static void folders_are_written_or_only_read(void **state)
{
    const struct sandbox_plan *plan =
        plan_of(harness_arena(state), BASE "secret_file = /etc/gatehouse/secret\n"
                                           "[files]\ndirectory = /srv/gate/files\nbody_directory = /srv/gate/bodies\n"
                                           "clamd_socket = /run/clamav/clamd.ctl\n"
                                           "[database]\nsocket = /run/mysqld/mysqld.sock\n"
                                           "password_file = /etc/gate-password\n"
                                           "[mail]\ntransport = file\ndirectory = /srv/gate/mail\n"
                                           "[cache]\nfile = /run/gate/cache\n[metrics]\nfile = /run/gate/metrics\n"
                                           "[log]\ndestination = file\nfile = /var/log/gate/gate.log\n");
    static const char *const written[] = {"/srv/gate/files", "/srv/gate/mail", "/run/gate", "/var/log/gate"};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        assert_true(has_path(plan, written[i], SANDBOX_WRITE));
    assert_true(has_path(plan, "/etc/gatehouse", SANDBOX_READ));
    assert_true(has_path(plan, "/etc/gate-password", SANDBOX_READ));
    assert_true(has_path(plan, "/etc/resolv.conf", SANDBOX_READ));
    static const char *const closed[] = {"",     "/",    "/etc",     "/run",        "/var",       "/var/log",
                                         "/srv", "/tmp", "/var/lib", "/run/mysqld", "/run/clamav"};
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        assert_false(names(plan, closed[i]));
    for (size_t i = 0; i < plan->path_count; i++)
        assert_true(!plan->paths[i].watched || strcmp(plan->paths[i].path, "/srv/gate/files") != 0);
}

/* A rule of Landlock belongs to the file that was there; another one in its place could not be read. */
static void files_of_the_name_service_that_are_replaced_are_noticed(void **state)
{
    static const char *const paths[] = {"/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf"};
    const struct sandbox_plan *plan = plan_of(harness_arena(state), BASE);
    size_t found = 0;
    for (size_t i = 0; i < plan->path_count; i++)
        for (size_t j = 0; j < sizeof paths / sizeof *paths; j++)
            if (strcmp(plan->paths[i].path, paths[j]) == 0) {
                assert_true(plan->paths[i].watched);
                found++;
            }
    assert_int_equal(found, sizeof paths / sizeof *paths);
}

static void a_mail_folder_is_only_opened_where_mails_go_to_files(void **state)
{
    const struct sandbox_plan *plan =
        plan_of(harness_arena(state), BASE "[mail]\ntransport = smtp\ndirectory = /srv/gate/mail\n");
    assert_false(names(plan, "/srv/gate/mail"));
}

static void a_bucket_needs_its_spool_and_its_ports(void **state)
{
    const struct sandbox_plan *plan =
        plan_of(harness_arena(state), BASE "[files]\nstore = s3\ns3_endpoint = http://a:9000 https://b\ns3_bucket = b\n"
                                           "s3_access_key = k\ns3_secret_key_file = /etc/gate/key\n"
                                           "s3_spool = /srv/gate/spool\ndirectory = /srv/gate/files\n");
    assert_true(has_path(plan, "/srv/gate/spool", SANDBOX_WRITE));
    assert_true(has_path(plan, "/etc/gate", SANDBOX_READ));
    assert_false(names(plan, "/srv/gate/files"));
    assert_true(has_port(plan, 9000) && has_port(plan, 443));
}

static void what_a_link_points_to_can_be_read(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *kept = harness_directory(arena);
    const char *linked = arena_format(arena, "%s/secret", harness_directory(arena));
    assert_int_equal(symlink(harness_write(arena, kept, "key", "x", 1), linked), 0);
    const struct sandbox_plan *plan = plan_of(arena, arena_format(arena, BASE "secret_file = %s\n", linked));
    assert_true(has_path(plan, kept, SANDBOX_READ));
}

static void ports_are_those_of_the_addresses(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct sandbox_plan *plan = plan_of(
        arena, BASE "[database]\nhost = 127.0.0.1, 127.0.0.2:3308\nport = 3307\n"
                    "[identity]\nprovider = keycloak\n"
                    "[keycloak]\nurl = https://[::1]:8444/auth\nrealm = r\nclient_id = c\n"
                    "client_secret_file = /etc/gate/a\nadmin_client_id = d\nadmin_client_secret_file = /etc/gate/b\n"
                    "jwks_url = http://keys.example/path:77\n"
                    "[mail]\nsmtp_url = smtps://mail.example\n");
    static const uint16_t open[] = {3308, 53, 80, 465, 3307, 8444};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        assert_true(has_port(plan, open[i]));
    static const uint16_t closed[] = {22, 25, 77, 443, 3306, 8443, 9443};
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        if (has_port(plan, closed[i]))
            fail_msg("port %u is open", closed[i]);
    plan = plan_of(arena, BASE "[database]\nsocket = /run/mysqld/mysqld.sock\n[mail]\nsmtp_url = smtp://h:2525\n");
    assert_false(has_port(plan, 3306));
    assert_true(has_port(plan, 2525));
}

/* The folder would let the worker write whatever else is in it. */
static void a_file_in_a_folder_of_everybody_is_opened_alone(void **state)
{
    static const char *const folders[] = {"",     "/etc",       "/run",     "/tmp",       "/var/log",
                                          "/srv", "/var/cache", "/var/lib", "/var/spool", "/var/tmp"};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *text = arena_format(arena,
                                        BASE "[cache]\nfile = %s/gate-cache\n[metrics]\nfile = %s/gate-metrics\n"
                                             "[log]\ndestination = file\nfile = %s/gate.log\n",
                                        folders[i], folders[i], folders[i]);
        const struct sandbox_plan *plan = plan_of(arena, text);
        assert_true(has_path(plan, arena_format(arena, "%s/gate-cache", folders[i]), SANDBOX_WRITE));
        assert_true(has_path(plan, arena_format(arena, "%s/gate-metrics", folders[i]), SANDBOX_WRITE));
        assert_true(has_path(plan, arena_format(arena, "%s/gate.log", folders[i]), SANDBOX_WRITE));
        if (names(plan, folders[i]) || names(plan, "/"))
            fail_msg("all of %s/ is opened", folders[i]);
    }
}

static void a_link_to_a_folder_of_everybody_is_one(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *linked = arena_format(arena, "%s/logs", harness_directory(arena));
    assert_int_equal(symlink("/var/log", linked), 0);
    const char *text = arena_format(arena, BASE "[log]\ndestination = file\nfile = %s/gate.log\n", linked);
    const struct sandbox_plan *plan = plan_of(arena, text);
    assert_true(has_path(plan, arena_format(arena, "%s/gate.log", linked), SANDBOX_WRITE));
    assert_false(names(plan, linked));
}

static void what_a_link_in_a_folder_of_everybody_points_to_is_opened_alone(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *linked = arena_format(arena, "%s/secret", harness_directory(arena));
    const char *folder = arena_format(arena, "%s/folder", harness_directory(arena));
    const char *kept = harness_directory(arena);
    assert_int_equal(symlink("/etc/passwd", linked) | symlink(kept, folder), 0);
    const struct sandbox_plan *plan =
        plan_of(arena, arena_format(arena, BASE "secret_file = %s\n[files]\nbody_directory = %s\n", linked, folder));
    assert_true(has_path(plan, "/etc/passwd", SANDBOX_READ));
    assert_false(names(plan, "/etc"));
    /* A folder is opened by its own name, which the kernel follows. */
    assert_true(has_path(plan, folder, SANDBOX_READ));
}

static void a_pool_of_cognito_is_asked_by_https(void **state)
{
    static const char pool[] = BASE "[database]\nsocket = /run/mysqld/mysqld.sock\n[identity]\nprovider = cognito\n"
                                    "[cognito]\nregion = eu-central-1\nuser_pool_id = eu-central-1_a\nclient_id = c\n"
                                    "client_secret_file = /etc/gate/a\naccess_key_id = k\n"
                                    "secret_access_key_file = /etc/gate/b\n";
    assert_true(has_port(plan_of(harness_arena(state), pool), 443));
    assert_false(has_port(plan_of(harness_arena(state), BASE), 443));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_file_in_a_folder_of_everybody_is_opened_alone),
    HARNESS_TEST(a_link_to_a_folder_of_everybody_is_one),
    HARNESS_TEST(what_a_link_in_a_folder_of_everybody_points_to_is_opened_alone),
    HARNESS_TEST(a_pool_of_cognito_is_asked_by_https),
    HARNESS_TEST(folders_are_written_or_only_read),
    HARNESS_TEST(files_of_the_name_service_that_are_replaced_are_noticed),
    HARNESS_TEST(a_mail_folder_is_only_opened_where_mails_go_to_files),
    HARNESS_TEST(a_bucket_needs_its_spool_and_its_ports),
    HARNESS_TEST(what_a_link_points_to_can_be_read),
    HARNESS_TEST(ports_are_those_of_the_addresses),
};
HARNESS_MODULE(confinement, cases)
