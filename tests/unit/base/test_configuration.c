/* SPDX-License-Identifier: MIT */
/* Tests the configuration: its rows, defaults and bounds, and that each fault is told with its line. */
#include "base/configuration.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "harness.h"

extern char **environ;

/* The environment that the tests run in must not take part. */
static void forget_environment(struct arena *arena)
{
    for (char **at = environ; *at != NULL;) {
        if (strncmp(*at, "GATEHOUSE_", 10) != 0) {
            at++;
            continue;
        }
        harness_environment(arena, arena_copy(arena, *at, strcspn(*at, "=")), NULL);
        at = environ;
    }
}

static struct error *load(struct arena *arena, const char *text, struct configuration **configuration)
{
    forget_environment(arena);
    const char *path = harness_write(arena, harness_directory(arena), "gatehouse.conf", text, strlen(text));
    return configuration_load(arena, path, configuration);
}

static const struct configuration *good(struct arena *arena, const char *text)
{
    struct configuration *configuration = NULL;
    struct error *error = load(arena, text, &configuration);
    if (error != NULL)
        fail_msg("%s: %s: %s", text, error->entries->path, error->entries->message);
    return configuration;
}

#define BASE "[service]\nbase_url = https://api.example.com\n"

static void what_is_not_set_has_its_default(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct configuration *configuration = good(arena, BASE);
    assert_string_equal(configuration->service.base_url, "https://api.example.com");
    assert_string_equal(configuration->service.web_url, "https://api.example.com");
    assert_string_equal(configuration->identity.issuer, "https://api.example.com");
    assert_false(configuration->service.expose_stack);
    assert_int_equal(configuration->service.max_json_bytes, 65536);
    assert_int_equal(configuration->service.max_file_bytes, INT64_C(5368709120));
    assert_int_equal(configuration->service.cors_origins.count, 0);
    assert_null(configuration->database.socket);
    assert_int_equal(configuration->database.port, 3306);
    assert_string_equal(configuration->database.user, "gatehouse");
    assert_string_equal(configuration->database.admin_user, "gatehouse");
    assert_string_equal(configuration->identity.provider, "embedded");
    assert_int_equal(configuration->identity.access_token_seconds, 900);
    assert_int_equal(configuration->identity.refresh_token_seconds, 2592000);
    assert_int_equal(configuration->password.minimum_length, 12);
    assert_string_equal(configuration->mail.transport, "smtp");
    assert_string_equal(configuration->mail.smtp_tls, "required");
    assert_string_equal(configuration->log.level, "info");
}

static void every_kind_of_value_is_read(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct configuration *configuration = good(
        arena, "; a comment\n# another\n\n[service]\nbase_url=http://localhost:8080/api///\nweb_url : "
               "https://www.example.com/\n"
               "expose_stack = true\ncors_origins = https://a.example  https://b.example\n\tmax_json_bytes = 1024\n"
               "[database]\n  socket = /run/mysqld/mysqld.sock\n ; a comment\n   port = 3307\nadmin_user = "
               "root\n[files]\ndelivery = "
               "accel\n"
               "[service]\nio_timeout_seconds = 3600\n[log]\nlevel = trace\n[branding]\naccent = #A0b1C2\n");
    assert_string_equal(configuration->service.base_url, "http://localhost:8080/api");
    assert_string_equal(configuration->service.web_url, "https://www.example.com");
    assert_string_equal(configuration->identity.issuer, "http://localhost:8080/api");
    assert_true(configuration->service.expose_stack);
    assert_int_equal(configuration->service.cors_origins.count, 2);
    assert_string_equal(configuration->service.cors_origins.items[1], "https://b.example");
    assert_int_equal(configuration->service.max_json_bytes, 1024);
    assert_string_equal(configuration->database.socket, "/run/mysqld/mysqld.sock");
    assert_int_equal(configuration->database.port, 3307);
    assert_string_equal(configuration->database.admin_user, "root");
    assert_string_equal(configuration->files.delivery, "accel");
    assert_int_equal(configuration->service.io_timeout_seconds, 3600);
    assert_string_equal(configuration->branding.accent, "#A0b1C2");
    assert_string_equal(configuration->log.level, "trace");
}

struct expected {
    const char *path;
    const char *code;
    const char *text; /* must stand in the message */
};

static void assert_faults(const struct error *error, const struct expected *expected, size_t count)
{
    assert_non_null(error);
    const struct error_entry *entry = error->entries;
    for (size_t i = 0; i < count; i++, entry = entry->next) {
        if (entry == NULL)
            fail_msg("%s %s is not reported", expected[i].path, expected[i].code);
        if (strcmp(entry->path, expected[i].path) != 0 || strcmp(entry->code, expected[i].code) != 0 ||
            strstr(entry->message, expected[i].text) == NULL)
            fail_msg("%s %s %s instead of %s %s %s", entry->path, entry->code, entry->message, expected[i].path,
                     expected[i].code, expected[i].text);
    }
    if (entry != NULL)
        fail_msg("reported beside: %s %s", entry->path, entry->message);
}

static void all_faults_are_reported_at_once_with_their_lines(void **state)
{
    struct arena *arena = harness_arena(state);
    struct configuration *configuration = NULL;
    struct error *error = load(arena,
                               "[service]\n"
                               "expose_stack = yes\n"
                               "max_json_bytes = 12\n"
                               "no such line\n"
                               "unknown_name = 1\n"
                               "\n"
                               "[unknown]\n"
                               "name = x\n"
                               "[database\n"
                               "[database]\n"
                               "port = 70000\n"
                               "port = 3306\n"
                               "socket = relative/path\n"
                               "= nameless\n"
                               "[files]\n"
                               "delivery = teleport\n"
                               "[mail]\n"
                               "transport = file\n"
                               "[log]\n"
                               "destination = file\n"
                               "level = verbose",
                               &configuration);
    static const struct expected faults[] = {
        {"service.expose_stack", "invalid", "line 2: must be true or false"},
        {"service.max_json_bytes", "invalid", "line 3: must be a whole number from 1024 to 1048576"},
        {"line 4", "syntax", "is neither"},
        {"service.unknown_name", "unknown", "line 5: there is no such setting"},
        {"unknown.name", "unknown", "line 8: there is no such setting"},
        {"line 9", "syntax", "is neither"},
        {"database.port", "invalid", "line 11: must be a whole number from 1 to 65535"},
        {"database.port", "duplicate", "line 12: is set in line 11 already"},
        {"database.socket", "invalid", "line 13: must be an absolute path"},
        {"line 14", "syntax", "is neither"},
        {"files.delivery", "invalid", "line 16: must be one of accel|sendfile|stream"},
        {"log.level", "invalid", "line 21: must be one of"},
        {"service.base_url", "required", "must be set"},
        {"mail.directory", "required", "must be set when"},
        {"log.file", "required", "must be set when"},
    };
    assert_faults(error, faults, sizeof faults / sizeof *faults);
}

static void bad_values_are_refused_each_for_its_reason(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct {
        const char *line;
        const char *path;
        const char *text;
    } rows[] = {
        {"[service]\nweb_url = ftp://x", "service.web_url", "must start with http"},
        {"[service]\nweb_url = example.com", "service.web_url", "must start with http"},
        {"[service]\nweb_url = https://", "service.web_url", "must name a host"},
        {"[service]\nweb_url = https:///x", "service.web_url", "must name a host"},
        {"[service]\nweb_url = http://:80", "service.web_url", "must name a host"},
        {"[service]\nweb_url = https://a/?b", "service.web_url", "must not hold"},
        {"[service]\nweb_url = https://a/#b", "service.web_url", "must not hold"},
        {"[service]\nweb_url = https://a/ b", "service.web_url", "must not hold"},
        {"[service]\nweb_url = https://a/\"", "service.web_url", "must not hold"},
        {"[service]\nexpose_stack = TRUE", "service.expose_stack", "must be true or false"},
        {"[service]\nexpose_stack = 1", "service.expose_stack", "must be true or false"},
        {"[service]\nmax_json_bytes = 1023", "service.max_json_bytes", "1024"},
        {"[service]\nmax_json_bytes = 1048577", "service.max_json_bytes", "1048576"},
        {"[service]\nmax_json_bytes = 64K", "service.max_json_bytes", "whole number"},
        {"[service]\nmax_json_bytes = 65536.0", "service.max_json_bytes", "whole number"},
        {"[service]\nmax_json_bytes = 0x10000", "service.max_json_bytes", "whole number"},
        {"[service]\nmax_json_bytes = 99999999999999999999", "service.max_json_bytes", "whole number"},
        {"[database]\nport = -1", "database.port", "whole number"},
        {"[database]\nport = 0", "database.port", "whole number"},
        {"[password]\nminimum_length = 7", "password.minimum_length", "whole number from 8"},
        {"[files]\ndelivery = Accel", "files.delivery", "must be one of"},
        {"[files]\ndelivery = acce", "files.delivery", "must be one of"},
        {"[files]\ndelivery = accel|sendfile", "files.delivery", "must be one of"},
        {"[files]\ndelivery = |", "files.delivery", "must be one of"},
        {"[files]\ndirectory = files", "files.directory", "absolute"},
        {"[mail]\nsmtp_tls = off", "mail.smtp_tls", "none|opportunistic|required"},
        {"[identity]\nprovider = other", "identity.provider", "embedded"},
        {"[service]\nlanguage = english", "service.language", "such as en, de"},
        {"[branding]\naccent = #1d4f7c # blue", "branding.accent", "a comment must stand"},
        {"[branding]\nlogo = ../logo.svg", "branding.logo", "a path below the pages"},
        {"[branding]\nsupport = javascript:alert(1)", "branding.support", "mailto"},
        {"[mail]\nfrom = J\xfcrgen <j@example.org>", "mail.from", "not UTF-8"},
        {"[mail]\nsmtp_user = \xc3\x28", "mail.smtp_user", "not UTF-8"},
        {"[service]\nweb_url = https://a/\xff", "service.web_url", "not UTF-8"},
        {"[service]\ncors_origins = https://a \xed\xa0\x80", "service.cors_origins", "not UTF-8"},
        {"[mail]\nfrom = A\x01<a@example.org>", "mail.from", "control character"},
        {"[database]\nport = 3306 ; MariaDB", "database.port", "a comment must stand on a line of its own"},
        {"[database]\nport = 3306\t# MariaDB", "database.port", "a comment must stand"},
        {"[database]\nname = house ;", "database.name", "a comment must stand"},
        {"[database]\nname = house #1", "database.name", "a comment must stand"},
        {"[database]\nname = # none", "database.name", "a comment must stand"},
        {"[database]\nname : ; none", "database.name", "a comment must stand"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct configuration *configuration = NULL;
        struct error *error = load(arena, arena_format(arena, BASE "%s\n", rows[i].line), &configuration);
        const struct expected fault = {rows[i].path, "invalid", rows[i].text};
        assert_faults(error, &fault, 1);
        const struct expected lined = {rows[i].path, "invalid", "line 4: "};
        assert_faults(error, &lined, 1);
    }
}

/* Said once: of a setting that must be there, and is with a comment behind it, not that it is missing as well. */
static void no_fault_is_said_twice(void **state)
{
    struct arena *arena = harness_arena(state);
    struct configuration *configuration = NULL;
    const struct expected comment = {"service.base_url", "invalid", "line 2: a comment must stand"};
    struct error *error = load(arena, "[service]\nbase_url = https://a.example ; here\n", &configuration);
    assert_faults(error, &comment, 1);
    assert_null(error->detail);
    const struct expected absent = {"file", "unreadable", "cannot be opened"};
    forget_environment(arena);
    error = configuration_load(arena, arena_format(arena, "%s/absent", harness_directory(arena)), &configuration);
    assert_faults(error, &absent, 1);
}

static void marks_of_comments_inside_a_value_are_its_own(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct configuration *configuration =
        good(arena, BASE
             "[database]\nname = a;b#c\n[mail]\nfrom = J\xc3\xbcrgen;#1 <j@example.org>\n[log] ; here\nlevel=warn");
    assert_string_equal(configuration->database.name, "a;b#c");
    assert_string_equal(configuration->mail.from, "J\xc3\xbcrgen;#1 <j@example.org>");
    assert_string_equal(configuration->log.level, "warn");
    /* What a file refuses the environment may hold: there are no comments there. */
    harness_environment(arena, "GATEHOUSE_SERVICE_BASE_URL", "https://api.example.com");
    harness_environment(arena, "GATEHOUSE_MAIL_FROM", "Team #1 <a@example.org>");
    struct configuration *other = NULL;
    assert_null(configuration_load(arena, NULL, &other));
    assert_string_equal(other->mail.from, "Team #1 <a@example.org>");
}

static void assert_stray(struct arena *arena, const char *variable, const char *resembles)
{
    size_t count;
    forget_environment(arena);
    harness_environment(arena, variable, "x");
    const struct configuration_stray *strays = configuration_strays(arena, &count);
    assert_int_equal(count, 1);
    assert_string_equal(strays[0].variable, variable);
    if (resembles == NULL)
        assert_null(strays[0].resembles);
    else
        assert_string_equal(strays[0].resembles, resembles);
}

static void misspelt_variables_are_found(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_stray(arena, "GATEHOUSE_MAIL_FORM", "GATEHOUSE_MAIL_FROM");
    assert_stray(arena, "GATEHOUSE_MIAL_FROM", "GATEHOUSE_MAIL_FROM");
    assert_stray(arena, "GATEHOUSE_MAIL_SMTPURL", "GATEHOUSE_MAIL_SMTP_URL");
    assert_stray(arena, "GATEHOUSE_CONFG", "GATEHOUSE_CONFIG");
    assert_stray(arena, "GATEHOUSE_log_level", NULL);
    assert_stray(arena, "GATEHOUSE_SERVICE_HOST", NULL);
    assert_stray(arena, arena_format(arena, "GATEHOUSE_%0200d", 0), NULL);
    size_t count;
    forget_environment(arena);
    harness_environment(arena, "GATEHOUSE_MAIL_FROM", "a@example.org");
    harness_environment(arena, "GATEHOUSE_CONFIG", "/x");
    harness_environment(arena, "GATEHOUSE_DATA_DIR", "/x");
    harness_environment(arena, "GATEHOUSE_QUICKSTART_BUILD", "/x");
    (void)configuration_strays(arena, &count);
    assert_int_equal(count, 0);
}

static void sections_and_names_are_spelt_exactly(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const lines[] = {"[Service]\nmax_json_bytes = 2048", "[service]\nMax_json_bytes = 2048",
                                        "[service ]\nmax_json_bytes = 2048", "[]\nmax_json_bytes = 2048",
                                        "[service]\nmax-json-bytes = 2048"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct configuration *configuration = NULL;
        struct error *error = load(arena, arena_format(arena, BASE "%s\n", lines[i]), &configuration);
        assert_non_null(error);
        assert_string_equal(error->entries->code, "unknown");
        assert_non_null(strstr(error->entries->message, "line 4"));
    }
    struct configuration *configuration = NULL;
    struct error *error = load(arena, "stray = 1\n" BASE, &configuration);
    const struct expected stray = {".stray", "unknown", "line 1"};
    assert_faults(error, &stray, 1);
}

static void an_empty_value_leaves_the_default_but_does_not_fill_a_required_one(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct configuration *configuration = good(arena, BASE "max_json_bytes =\nweb_url =\n");
    assert_int_equal(configuration->service.max_json_bytes, 65536);
    assert_string_equal(configuration->service.web_url, "https://api.example.com");
    struct configuration *unused = NULL;
    const struct expected missing = {"service.base_url", "required", "must be set"};
    assert_faults(load(arena, "[service]\nbase_url =\n", &unused), &missing, 1);
    /* Said once, not twice. */
    const struct expected invalid = {"service.base_url", "invalid", "line 2"};
    assert_faults(load(arena, "[service]\nbase_url = nowhere\n", &unused), &invalid, 1);
}

static void the_environment_goes_over_the_file(void **state)
{
    struct arena *arena = harness_arena(state);
    forget_environment(arena);
    const char *path = harness_write(arena, harness_directory(arena), "gatehouse.conf", BASE "max_json_bytes = 2048\n",
                                     strlen(BASE "max_json_bytes = 2048\n"));
    harness_environment(arena, "GATEHOUSE_SERVICE_BASE_URL", "https://other.example.com/");
    harness_environment(arena, "GATEHOUSE_SERVICE_MAX_JSON_BYTES", "4096");
    harness_environment(arena, "GATEHOUSE_DATABASE_HOST", "db.example.com");
    harness_environment(arena, "GATEHOUSE_LOG_LEVEL", "");
    struct configuration *configuration = NULL;
    assert_null(configuration_load(arena, path, &configuration));
    assert_string_equal(configuration->service.base_url, "https://other.example.com");
    assert_string_equal(configuration->identity.issuer, "https://other.example.com");
    assert_int_equal(configuration->service.max_json_bytes, 4096);
    assert_string_equal(configuration->database.host, "db.example.com");
    assert_string_equal(configuration->log.level, "info");
    /* Without a file it is enough. */
    assert_null(configuration_load(arena, NULL, &configuration));
    assert_string_equal(configuration->service.base_url, "https://other.example.com");
}

static void the_environment_is_checked_alike(void **state)
{
    struct arena *arena = harness_arena(state);
    forget_environment(arena);
    harness_environment(arena, "GATEHOUSE_SERVICE_BASE_URL", "nowhere");
    harness_environment(arena, "GATEHOUSE_DATABASE_PORT", "many");
    struct configuration *configuration = NULL;
    static const struct expected faults[] = {
        {"service.base_url", "invalid", "GATEHOUSE_SERVICE_BASE_URL: must start with"},
        {"database.port", "invalid", "GATEHOUSE_DATABASE_PORT: must be a whole number"},
    };
    assert_faults(configuration_load(arena, NULL, &configuration), faults, 2);
}

static void a_file_that_cannot_be_read_is_a_fault(void **state)
{
    struct arena *arena = harness_arena(state);
    forget_environment(arena);
    harness_environment(arena, "GATEHOUSE_SERVICE_BASE_URL", "https://api.example.com");
    const char *directory = harness_directory(arena);
    const char *absent = arena_format(arena, "%s/absent.conf", directory);
    struct configuration *configuration = NULL;
    const struct expected fault = {"file", "unreadable", "absent.conf"};
    assert_faults(configuration_load(arena, absent, &configuration), &fault, 1);
    const struct expected is_directory = {"file", "unreadable", "cannot be read"};
    assert_faults(configuration_load(arena, directory, &configuration), &is_directory, 1);
}

/*
 * A line that is too long must be refused whole, not cut or taken for two, and the next line is read, whatever inih
 * does.
 */
static void long_lines_are_refused_whole(void **state)
{
    struct arena *arena = harness_arena(state);
    struct configuration *configuration = NULL;
    static const char *const ends[] = {"\n", "\r\n"};
    for (size_t length = 150; length < 1000; length += length < 210 ? 1 : 97)
        for (size_t end = 0; end < 2; end++) {
            const char *path = arena_format(arena, "/%0*d", (int)(length - strlen("directory = /")), 0);
            struct error *error =
                load(arena, arena_format(arena, "[files]\ndirectory = %s%sbad line\n" BASE, path, ends[end]),
                     &configuration);
            static const struct expected faults[] = {{"line 2", "length", "too long"}, {"line 3", "syntax", "neither"}};
            if (length <= LIMIT_CONFIGURATION_LINE_BYTES) {
                assert_faults(error, &faults[1], 1);
                assert_string_equal(configuration->files.directory, path);
            } else {
                assert_faults(error, faults, 2);
            }
        }
}

static void a_long_last_line_is_read_or_refused_whole(void **state)
{
    struct arena *arena = harness_arena(state);
    struct configuration *configuration = NULL;
    for (size_t length = 196; length < 203; length++) {
        const char *path = arena_format(arena, "/%0*d", (int)(length - strlen("directory = /")), 0);
        struct error *error = load(arena, arena_format(arena, BASE "[files]\ndirectory = %s", path), &configuration);
        if (length <= LIMIT_CONFIGURATION_LINE_BYTES) {
            assert_null(error);
            assert_string_equal(configuration->files.directory, path);
        } else {
            assert_faults(error, &(const struct expected){"line 4", "length", "too long"}, 1);
        }
    }
}

static void a_byte_order_mark_and_foreign_line_ends_do_no_harm(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct configuration *configuration =
        good(arena, "\xef\xbb\xbf[service]\r\nbase_url = https://api.example.com\r\n[database]\r\nport = 3307");
    assert_string_equal(configuration->service.base_url, "https://api.example.com");
    assert_int_equal(configuration->database.port, 3307);
}

static void rows_are_consistent(void **state)
{
    (void)state;
    size_t count = 0;
    const struct configuration_row *rows = configuration_rows(&count);
    assert_true(count > 40);
    for (size_t i = 0; i < count; i++) {
        const struct configuration_row *row = &rows[i];
        assert_true(row->offset < sizeof(struct configuration));
        assert_int_equal(row->type == CONFIGURATION_CHOICE, row->choices != NULL);
        if (row->type == CONFIGURATION_INTEGER)
            assert_true(row->minimum < row->maximum && row->fallback != NULL);
        assert_false(row->required && row->fallback != NULL);
        for (size_t j = 0; j < i; j++) {
            assert_true(strcmp(row->section, rows[j].section) != 0 || strcmp(row->name, rows[j].name) != 0);
            assert_true(row->offset != rows[j].offset);
        }
    }
}

/* A default that its own row refuses would only show on the day somebody writes it into the file. */
static void every_default_may_stand_in_the_file(void **state)
{
    struct arena *arena = harness_arena(state);
    size_t count = 0;
    const struct configuration_row *rows = configuration_rows(&count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].fallback != NULL)
            (void)good(arena,
                       arena_format(arena, BASE "[%s]\n%s = %s\n", rows[i].section, rows[i].name, rows[i].fallback));
}

static void the_places_come_from_option_environment_and_build(void **state)
{
    struct arena *arena = harness_arena(state);
    forget_environment(arena);
    assert_string_equal(configuration_path(NULL), GATEHOUSE_SYSCONFDIR "/gatehouse.conf");
    assert_string_equal(configuration_data_directory(), GATEHOUSE_DATADIR);
    harness_environment(arena, "GATEHOUSE_CONFIG", "/etc/other.conf");
    harness_environment(arena, "GATEHOUSE_DATA_DIR", "/srv/data");
    assert_string_equal(configuration_path(NULL), "/etc/other.conf");
    assert_string_equal(configuration_path("/etc/option.conf"), "/etc/option.conf");
    assert_string_equal(configuration_data_directory(), "/srv/data");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_is_not_set_has_its_default),
    HARNESS_TEST(every_kind_of_value_is_read),
    HARNESS_TEST(all_faults_are_reported_at_once_with_their_lines),
    HARNESS_TEST(bad_values_are_refused_each_for_its_reason),
    HARNESS_TEST(no_fault_is_said_twice),
    HARNESS_TEST(marks_of_comments_inside_a_value_are_its_own),
    HARNESS_TEST(misspelt_variables_are_found),
    HARNESS_TEST(sections_and_names_are_spelt_exactly),
    HARNESS_TEST(an_empty_value_leaves_the_default_but_does_not_fill_a_required_one),
    HARNESS_TEST(the_environment_goes_over_the_file),
    HARNESS_TEST(the_environment_is_checked_alike),
    HARNESS_TEST(a_file_that_cannot_be_read_is_a_fault),
    HARNESS_TEST(long_lines_are_refused_whole),
    HARNESS_TEST(a_long_last_line_is_read_or_refused_whole),
    HARNESS_TEST(a_byte_order_mark_and_foreign_line_ends_do_no_harm),
    HARNESS_TEST(rows_are_consistent),
    HARNESS_TEST(every_default_may_stand_in_the_file),
    HARNESS_TEST(the_places_come_from_option_environment_and_build),
};
HARNESS_MODULE(configuration, cases)
