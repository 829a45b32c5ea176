/* SPDX-License-Identifier: MIT */
/* Findings that need no running service; tests/http/operations/test_check.py has the others. */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/limits.h"
#include "service/runtime/service.h"
#include "service/system/inspect.h"
#include "store/database/database.h"
#include "support_database.h"

static void plain_http_is_for_this_machine(void **state)
{
    static const struct {
        const char *url;
        bool good;
    } rows[] = {
        {"https://files.example.org", true}, {"http://localhost:8080/api", true}, {"http://127.0.0.1", true},
        {"http://[::1]:8080", true},         {"http://files.example.org", false}, {"http://localhost.example", false},
        {"http://127.0.0.1.example", false}, {"http://127.evil.example", false},  {"http://[::2]", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct configuration configuration = {.service = {.base_url = rows[i].url, .web_url = "https://a.example"}};
        if ((inspect_addresses(harness_arena(state), &configuration) == NULL) != rows[i].good)
            fail_msg("%s", rows[i].url);
    }
}

static void an_accent_can_be_read_on_white(void **state)
{
    /* The contrasts are those of WCAG's own formula; #767676 is the lightest grey that text may have on white. */
    static const struct {
        const char *accent, *contrast; /* NULL: enough */
    } rows[] = {{"#1d4f7c", NULL},     {"#000000", NULL},     {"#767676", NULL}, {"#777777", "4.48:1"},
                {"#ffffff", "1.00:1"}, {"#FFCC00", "1.51:1"}, {"#d00000", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct configuration configuration = {.branding = {.accent = rows[i].accent}};
        struct error *error = inspect_accent(harness_arena(state), &configuration);
        if (rows[i].contrast == NULL ? error != NULL : error == NULL || !strstr(error->message, rows[i].contrast))
            fail_msg("%s: %s", rows[i].accent, error == NULL ? "enough" : error->message);
    }
}

static void every_secret_file_that_is_too_open_is_named(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory(arena);
    const char *good = harness_write(arena, folder, "good", "x", 1);
    const char *open = harness_write(arena, folder, "open", "x", 1);
    const char *wide = harness_write(arena, folder, "wide", "x", 1);
    assert_int_equal(chmod(good, 0600) | chmod(open, 0604) | chmod(wide, 0620), 0);
    struct configuration configuration = {
        .service = {.secret_file = good}, .database = {.password_file = open}, .mail = {.smtp_password_file = wide}};
    struct error *error = inspect_secret_files(arena, &configuration);
    assert_non_null(strstr(error->message, open));
    assert_string_equal(error->entries->path, wide);
    assert_null(error->entries->next);
    configuration.database.password_file = configuration.mail.smtp_password_file = NULL;
    assert_null(inspect_secret_files(arena, &configuration));
}

static void a_certificate_is_no_secret(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = harness_write(arena, harness_directory(arena), "ca.pem", "x", 1);
    assert_int_equal(chmod(path, 0644), 0);
    struct configuration configuration = {.database = {.tls_ca_file = path}};
    assert_null(inspect_secret_files(arena, &configuration));
}

static void a_log_is_looked_at_only_where_it_is_a_file(void **state)
{
    struct arena *arena = harness_arena(state);
    struct configuration configuration = {.log = {.destination = "stderr", .file = "/missing/log"}};
    assert_null(inspect_log(arena, &configuration));
    configuration.log.destination = "file";
    assert_non_null(inspect_log(arena, &configuration));
    configuration.log.file = arena_format(arena, "%s/log", harness_directory(arena));
    assert_null(inspect_log(arena, &configuration));
}

static void each_interval_that_is_for_tests_is_named(void **state)
{
    struct arena *arena = harness_arena(state);
    struct configuration configuration = {.testing = {.refresh_grace_seconds = 10,
                                                      .provider_login_seconds = 5,
                                                      .provider_admin_seconds = 8,
                                                      .provider_rest_seconds = 10,
                                                      .stats_seconds = 60,
                                                      .use_seconds = 45}};
    assert_null(inspect_testing(arena, &configuration));
    configuration.testing.provider_rest_seconds = 1;
    configuration.testing.refresh_grace_seconds = 11;
    struct error *error = inspect_testing(arena, &configuration);
    assert_non_null(error);
    assert_non_null(strstr(error->message, "refresh_grace_seconds in [testing] is 11 and not 10"));
    assert_int_equal(error->entry_count, 1);
    assert_string_equal(error->entries->path, "provider_rest_seconds");
}

static void a_file_in_the_place_of_the_folder_for_bodies_is_named_as_one(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory(arena);
    struct configuration configuration = {.files = {.body_directory = folder}};
    assert_null(inspect_bodies(arena, &configuration));
    configuration.files.body_directory = harness_write(arena, folder, "file", "x", 1);
    errno = ENOENT; /* of something before */
    assert_non_null(strstr(inspect_bodies(arena, &configuration)->message, "it is not a folder"));
    configuration.files.body_directory = "/missing";
    assert_non_null(strstr(inspect_bodies(arena, &configuration)->message, strerror(ENOENT)));
}

/* How far ahead of the database's clock this machine's is once the database's stands so many seconds beside it. */
static int64_t ahead_of(struct arena *arena, struct service *service, const char *seconds)
{
    int64_t ahead = 0;
    const char *sql =
        arena_format(arena, "SET SESSION timestamp = %lld.0 + %s", (long long)(clock_now() / 1000), seconds);
    assert_null(database_execute(service->database, arena, sql, strlen(sql)));
    assert_null(inspect_clock(service, arena, &ahead));
    return ahead;
}

static void clocks_that_differ_are_told_with_their_sign(void **state)
{
    struct arena *arena = harness_arena(state);
    struct service service = {.database = support_database_new()};
    int64_t ahead = INT64_MAX;
    assert_null(inspect_clock(&service, arena, &ahead));
    assert_int_equal(ahead, 0);
    assert_in_range(ahead_of(arena, &service, "-100"), 100000, 110000);
    assert_in_range(-ahead_of(arena, &service, "100"), 90000, 100000);
    database_free(&service.database);
}

/* ---- file systems -------------------------------------------------------------------------------- */

/* What statfs() says of every folder; 0: the truth. */
static unsigned long pretended;

int statfs(const char *path, struct statfs *status)
{
    int code = (int)syscall(SYS_statfs, path, status);
    if (pretended != 0)
        status->f_type = (__typeof__(status->f_type))pretended;
    return code;
}

static void stop_pretending(void *context)
{
    (void)context;
    pretended = 0;
}

static void shared_memory_on_a_network_file_system_is_named(void **state)
{
    static const struct {
        unsigned long magic;
        const char *name; /* NULL: a file system of this machine */
    } rows[] = {{0x6969, "NFS"},      {0xff534d42, "CIFS"}, {0xfe534d42, "SMB"},
                {0x00c36400, "Ceph"}, {0x01021997, "9P"},   {0x65735546, "FUSE"},
                {0xef53, NULL},       {0x01021994, NULL},   {0x58465342, NULL}};
    struct arena *arena = harness_arena(state);
    const char *path = arena_format(arena, "%s/file", harness_directory(arena));
    struct configuration configuration = {.cache = {.file = path, .size_mib = 1}, .metrics = {.file = path}};
    arena_defer(arena, stop_pretending, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pretended = rows[i].magic;
        struct error *errors[] = {inspect_cache(arena, &configuration), inspect_metrics(arena, &configuration)};
        for (size_t j = 0; j < 2; j++) {
            if (rows[i].name == NULL) {
                assert_null(errors[j]);
                continue;
            }
            assert_non_null(errors[j]);
            assert_non_null(strstr(errors[j]->message, arena_format(arena, "is on %s:", rows[i].name)));
            assert_non_null(strstr(errors[j]->message, j == 0 ? "[cache] file" : "[metrics] file"));
        }
    }
    /* Who has no cache has none on a network. */
    pretended = 0x6969;
    configuration.cache.size_mib = 0;
    assert_null(inspect_cache(arena, &configuration));
}

static void what_is_wrong_with_security_txt_is_told(void **state)
{
    char soon[CLOCK_TEXT_BYTES];
    struct arena *arena = harness_arena(state);
    clock_format(clock_now() + INT64_C(29) * 24 * 3600 * 1000, soon);
    const struct {
        const char *text;
        const char *said; /* NULL: nothing is wrong */
    } rows[] = {
        {"Contact: mailto:a@b.example\nExpires: 2990-01-01T00:00:00Z\n", NULL},
        {"# Ours\r\ncontact:\thttps://b.example/report\r\nEXPIRES: 2990-01-01T00:00:00+02:00\r\n", NULL},
        {"-----BEGIN PGP SIGNED MESSAGE-----\n\nExpires: 2990-01-01T00:00:00Z\nContact: tel:+44-1\nPolicy: x", NULL},
        {"Expires: 2990-01-01T00:00:00Z\n", "has no line \"Contact: \""},
        {"Contact: a@b.example\nExpires: 2990-01-01T00:00:00Z\n", "has no line \"Contact: \""},
        {"Contact: mailto:\nExpires: 2990-01-01T00:00:00Z\n", "has no line \"Contact: \""},
        {"Contacts: mailto:a@b.example\nExpires: 2990-01-01T00:00:00Z\n", "has no line \"Contact: \""},
        {"Contact: mailto:a@b.example\n", "must have one line \"Expires: \", and has 0."},
        {"Contact: mailto:a@b.example\nExpires: 2990-01-01T00:00:00Z\nExpires: 2990-01-01T00:00:00Z\n", "and has 2."},
        {"Contact: mailto:a@b.example\nExpires: 2990-01-01\n", "is no time such as"},
        {"Contact: mailto:a@b.example\nExpires: 2020-01-01T00:00:00Z\n", "has expired at 2020-01-01T00:00:00Z"},
        {arena_format(arena, "Contact: mailto:a@b.example\nExpires: %s\n", soon), "expires soon"},
        {arena_format(arena, "%0*d", LIMIT_SECURITY_TXT_BYTES + 1, 0), "has more than 32768 bytes"},
        {"", "has no line \"Contact: \""},
    };
    const char *folder = harness_directory(arena);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool absent = true;
        const char *path = harness_write(arena, folder, "security.txt", rows[i].text, strlen(rows[i].text));
        struct configuration configuration = {.service = {.security_txt = path}};
        struct error *error = inspect_security_txt(arena, &configuration, &absent);
        assert_false(absent);
        if ((error == NULL) != (rows[i].said == NULL) ||
            (error != NULL && strstr(error->message, rows[i].said) == NULL))
            fail_msg("%zu: %s", i, error == NULL ? "nothing is said" : error->message);
    }
}

static void a_security_txt_that_is_not_there_or_no_file_is_told(void **state)
{
    bool absent = false;
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory(arena);
    struct configuration configuration = {.service = {.security_txt = arena_format(arena, "%s/none", folder)}};
    struct error *error = inspect_security_txt(arena, &configuration, &absent);
    assert_true(absent);
    assert_non_null(strstr(error->message, "/none is not there"));
    configuration.service.security_txt = folder;
    error = inspect_security_txt(arena, &configuration, &absent);
    assert_false(absent);
    assert_non_null(strstr(error->message, "cannot be read"));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_is_wrong_with_security_txt_is_told),
    HARNESS_TEST(a_security_txt_that_is_not_there_or_no_file_is_told),
    HARNESS_TEST(shared_memory_on_a_network_file_system_is_named),
    HARNESS_TEST(plain_http_is_for_this_machine),
    HARNESS_TEST(an_accent_can_be_read_on_white),
    HARNESS_TEST(every_secret_file_that_is_too_open_is_named),
    HARNESS_TEST(a_certificate_is_no_secret),
    HARNESS_TEST(a_log_is_looked_at_only_where_it_is_a_file),
    HARNESS_TEST(each_interval_that_is_for_tests_is_named),
    HARNESS_TEST(a_file_in_the_place_of_the_folder_for_bodies_is_named_as_one),
    HARNESS_TEST(clocks_that_differ_are_told_with_their_sign),
};
HARNESS_MODULE(inspect, cases)
