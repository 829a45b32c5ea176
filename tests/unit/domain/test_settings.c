/* SPDX-License-Identifier: MIT */
/* The settings document: what is one, and which of its versions holds. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/settings.h"
#include "support.h"
#include "support_database.h"

#define GOOD(level) "{\"logging\":{\"level\":\"" level "\",\"filter\":\"files=debug\"}}"

static void a_good_document_is_read_and_written_back(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char text[] = " {\"logging\": {\"filter\": \"*=error,\\tfiles=debug\", \"level\": \"warn\"}}\n";
    const char *damage = "";
    const struct settings *settings = settings_read(arena, text, strlen(text), &damage);
    assert_non_null(settings);
    assert_null(damage);
    assert_int_equal(settings->level, LOG_LEVEL_WARN);
    assert_string_equal(settings->filter, "*=error,\tfiles=debug");
    assert_int_equal(settings->levels.of[LOG_MODULE_FILES], LOG_LEVEL_DEBUG);
    assert_int_equal(settings->levels.of[LOG_MODULE_HTTP], LOG_LEVEL_ERROR);
    const char *written = settings_text(arena, settings);
    assert_string_equal(written, "{\"logging\":{\"level\":\"warn\",\"filter\":\"*=error,\\tfiles=debug\"}}");
    assert_non_null(settings_read(arena, written, strlen(written), &damage));
}

static void a_damaged_document_is_refused_with_a_reason(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char *const damaged[] = {
        "",
        "{",
        "null",
        "[]",
        "7",
        "\"info\"",
        "{}",
        "{\"logging\":null}",
        "{\"logging\":[]}",
        "{\"logging\":{}}",
        "{\"logging\":{\"level\":\"info\"}}",
        "{\"logging\":{\"filter\":\"\"}}",
        "{\"logging\":{\"level\":\"loud\",\"filter\":\"\"}}",
        "{\"logging\":{\"level\":\"INFO\",\"filter\":\"\"}}",
        "{\"logging\":{\"level\":7,\"filter\":\"\"}}",
        "{\"logging\":{\"level\":\"info\",\"filter\":null}}",
        "{\"logging\":{\"level\":\"info\",\"filter\":\"files\"}}",
        "{\"logging\":{\"level\":\"info\",\"filter\":\"nope=debug\"}}",
        "{\"logging\":{\"level\":\"info\",\"filter\":\"\",\"more\":1}}",
        "{\"logging\":{\"level\":\"info\",\"filter\":\"\"},\"more\":1}",
        "{\"logging\":{\"level\":\"info\",\"filter\":\"\"},\"logging\":{\"level\":\"info\",\"filter\":\"\"}}",
        GOOD("info") "x",
        "\xef\xbb\xbf" GOOD("info"),
        "{\"Logging\":{\"level\":\"info\",\"filter\":\"\"}}",
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        const char *damage = NULL;
        if (settings_read(arena, damaged[i], strlen(damaged[i]), &damage) != NULL || damage == NULL)
            fail_msg("taken for good: %s", damaged[i]);
    }
    const char *damage = NULL;
    assert_null(settings_read(arena, GOOD("info") "\0", sizeof GOOD("info"), &damage));
    assert_non_null(damage);
}

static void type_in(struct database *database, struct arena *arena, int64_t version, const char *document)
{
    sql(database, arena, "INSERT INTO settings (version, document) VALUES (%lld, '%s')", (long long)version, document);
}

static void without_rows_nothing_holds(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct settings_state found;
    support_database_clear();
    expect_ok(settings_load(database, arena, &found));
    assert_null(found.good);
    assert_null(found.damaged);
    assert_int_equal(found.newest, 0);
    database_free(&database);
}

/* However many damaged ones lie on the way. */
static void the_newest_good_version_holds(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct settings_state found;
    support_database_clear();
    type_in(database, arena, 1, GOOD("warn"));
    type_in(database, arena, 5, GOOD("error"));
    expect_ok(settings_load(database, arena, &found));
    assert_int_equal(found.good->version, 5);
    assert_int_equal(found.good->settings->level, LOG_LEVEL_ERROR);
    assert_null(found.damaged);
    for (int64_t version = 6; version < 40; version++) {
        type_in(database, arena, version, "damaged");
        expect_ok(settings_load(database, arena, &found));
        assert_int_equal(found.good->version, 5);
        assert_int_equal(found.damaged->version, version);
        assert_int_equal(found.newest, version);
        assert_non_null(found.damaged->damage);
    }
    sql(database, arena, "UPDATE settings SET document = 'damaged'");
    expect_ok(settings_load(database, arena, &found));
    assert_null(found.good);
    assert_int_equal(found.newest, 39);
    type_in(database, arena, 40, GOOD("trace"));
    expect_ok(settings_load(database, arena, &found));
    assert_int_equal(found.good->version, 40);
    assert_null(found.damaged);
    database_free(&database);
}

struct insertion {
    int64_t version;
    const struct settings *settings;
    struct id user;
};

static struct error *insert(struct database *database, struct arena *arena, void *context)
{
    const struct insertion *insertion = context;
    return settings_insert(database, arena, insertion->version, insertion->settings, insertion->user);
}

static void a_version_is_written_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct settings settings = {.level = LOG_LEVEL_DEBUG, .filter = "http=trace"};
    struct insertion insertion = {7, &settings, id_new()};
    struct settings_row *row;
    support_database_clear();
    expect_ok(database_transaction(database, arena, insert, &insertion, NULL));
    expect_error(database_transaction(database, arena, insert, &insertion, NULL), ERROR_INTERNAL);
    expect_ok(settings_find(database, arena, 7, &row));
    assert_true(id_equal(row->user_id, insertion.user));
    assert_string_equal(row->settings->filter, "http=trace");
    assert_int_equal(row->settings->levels.of[LOG_MODULE_HTTP], LOG_LEVEL_TRACE);
    assert_int_equal(strlen(row->at), 24);
    expect_ok(settings_find(database, arena, 8, &row));
    assert_null(row);
    database_free(&database);
}

static void pages_go_from_the_newest_to_the_oldest(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    for (int64_t version = 1; version <= 10; version++)
        type_in(database, arena, version, version == 4 ? "damaged" : GOOD("info"));
    for (unsigned limit = 1; limit <= 11; limit++) {
        struct settings_page page = {.more = true};
        int64_t next = 10;
        for (int64_t before = 0; page.more; before = page.items[page.count - 1].version) {
            expect_ok(settings_list(database, arena, before, limit, &page));
            assert_true(page.count >= 1 && page.count <= limit);
            for (size_t i = 0; i < page.count; i++, next--) {
                assert_int_equal(page.items[i].version, next);
                assert_int_equal(page.items[i].settings == NULL, next == 4);
            }
        }
        assert_int_equal(next, 0);
    }
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_good_document_is_read_and_written_back),
    HARNESS_TEST(a_damaged_document_is_refused_with_a_reason),
    HARNESS_TEST(without_rows_nothing_holds),
    HARNESS_TEST(the_newest_good_version_holds),
    HARNESS_TEST(a_version_is_written_once),
    HARNESS_TEST(pages_go_from_the_newest_to_the_oldest),
};
HARNESS_MODULE(settings, cases)
