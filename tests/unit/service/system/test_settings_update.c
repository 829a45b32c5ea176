/* SPDX-License-Identifier: MIT */
/* Tests that settings can be changed, and that processes follow the change. Each case has a database of its own. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/host/hints.h"
#include "base/log.h"
#include "base/metrics.h"
#include "service/runtime/change_follower.h"
#include "service/runtime/settings_apply.h"
#include "service/support_accounts.h"
#include "service/system/settings_update.h"
#include "store/cache/cache.h"
#include "store/cache/cache_prefix.h"
#include "store/database/database.h"
#include "support_database.h"

static void put_back(void *context)
{
    (void)context;
    log_set_level(LOG_LEVEL_INFO);
    metrics_set(METRIC_SETTINGS_DAMAGED, 0);
}

static struct scene *scene_of(void **state)
{
    struct arena *arena = harness_arena(state);
    struct scene *scene = scene_new(arena);
    arena_defer(arena, put_back, NULL);
    return scene;
}

static struct settings_row change(struct scene *scene, const char *level, const char *filter, const char *if_match)
{
    struct settings_update update = {.level = level, .filter = filter, .if_match = if_match};
    struct settings_row row;
    expect_ok(settings_update_write(&scene->service, scene->arena, &scene->stranger, &update, &row));
    return row;
}

static void the_configuration_holds_until_something_is_set(void **state)
{
    struct scene *scene = scene_of(state);
    struct settings_row row;
    scene->configuration.log.level = "error";
    expect_ok(settings_update_current(&scene->service, scene->arena, &row));
    assert_int_equal(row.version, 0);
    assert_int_equal(row.settings->level, LOG_LEVEL_ERROR);
    row = change(scene, NULL, "files=trace", "\"0\"");
    assert_int_equal(row.version, 1);
    assert_int_equal(row.settings->level, LOG_LEVEL_ERROR);
    assert_string_equal(row.settings->filter, "files=trace");
}

static void what_is_set_holds_here_at_once_and_elsewhere_with_the_change_log(void **state)
{
    struct scene *scene = scene_of(state);
    struct scene *elsewhere = scene_join(scene->arena);
    expect_ok(change_follower_catch_up(&elsewhere->service, scene->arena));
    (void)change(scene, "warn", "files=trace", NULL);
    assert_true(log_wants(LOG_LEVEL_TRACE, LOG_MODULE_FILES));
    assert_false(log_wants(LOG_LEVEL_INFO, LOG_MODULE_HTTP));
    log_set_level(LOG_LEVEL_INFO); /* the log is one for both scenes */
    expect_ok(change_follower_catch_up(&elsewhere->service, scene->arena));
    assert_false(log_wants(LOG_LEVEL_INFO, LOG_MODULE_HTTP));
    assert_int_equal(elsewhere->service.settings.version, 1);
}

static void a_process_that_starts_follows_what_was_set_before(void **state)
{
    struct scene *scene = scene_of(state);
    (void)change(scene, "fatal", NULL, NULL);
    struct scene *late = scene_join(scene->arena);
    log_set_level(LOG_LEVEL_INFO);
    change_follower_follow_host(&late->service, scene->arena, true);
    assert_false(log_wants(LOG_LEVEL_ERROR, LOG_MODULE_HTTP));
}

/* Puts the scenes, processes of one host, before one file. */
static void share_cache(struct scene *scene, struct scene *other)
{
    const char *path = arena_format(scene->arena, "%s/cache", harness_directory(scene->arena));
    scene->service.cache =
        cache_new(&(struct cache_options){path, (size_t)1 << 20, secret_of("a master secret of no matter")});
    other->service.cache =
        cache_new(&(struct cache_options){path, (size_t)1 << 20, secret_of("a master secret of no matter")});
}

static void end_cache(struct scene *scene, struct scene *other)
{
    cache_free(&scene->service.cache);
    cache_free(&other->service.cache);
}

static void of_one_host_one_process_that_starts_reads_the_rows(void **state)
{
    struct scene *scene = scene_of(state);
    (void)change(scene, "warn", NULL, NULL);
    struct scene *first = scene_join(scene->arena);
    struct scene *second = scene_join(scene->arena);
    share_cache(first, second);
    expect_ok(change_follower_catch_up(&first->service, scene->arena));
    assert_int_equal(cache_counts(first->service.cache).misses, 1);
    log_set_level(LOG_LEVEL_INFO);
    expect_ok(change_follower_catch_up(&second->service, scene->arena));
    assert_int_equal(cache_counts(second->service.cache).hits, 1);
    assert_int_equal(second->service.settings.version, 1);
    assert_false(log_wants(LOG_LEVEL_INFO, LOG_MODULE_HTTP));

    /* A change takes the entry with it, whoever of the host is the first to hear of it. */
    (void)change(scene, "fatal", NULL, NULL);
    expect_ok(change_follower_catch_up(&first->service, scene->arena));
    struct cache_entry *entries;
    assert_int_equal(cache_list(second->service.cache, scene->arena, NULL, 9, &entries), 0);
    end_cache(first, second);
}

static void what_cannot_be_read_in_the_cache_is_read_in_the_database(void **state)
{
    static const char *const odd[] = {
        "",
        "{}",
        "null",
        "{\"newest\":1,\"version\":1,\"document\":\"{}\",\"damaged\":0,\"damage\":null}",
        "{\"newest\":1,\"version\":1,\"document\":null,\"damaged\":0,\"damage\":null}",
        "{\"newest\":1,\"version\":\"1\",\"document\":null,\"damaged\":0,\"damage\":null}"};
    struct scene *scene = scene_of(state);
    struct scene *other = scene_join(scene->arena);
    share_cache(scene, other);
    (void)change(scene, "fatal", NULL, NULL);
    expect_ok(change_follower_catch_up(&other->service, scene->arena));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        cache_store(scene->service.cache, CACHE_SETTINGS_CURRENT, odd[i], strlen(odd[i]), 60);
        log_set_level(LOG_LEVEL_INFO);
        other->service.settings.version = 0;
        expect_ok(settings_apply_cached(&other->service, scene->arena));
        assert_int_equal(other->service.settings.version, 1);
        assert_false(log_wants(LOG_LEVEL_ERROR, LOG_MODULE_HTTP));
    }
    end_cache(scene, other);
}

static void a_glance_asks_nothing_while_nothing_is_new(void **state)
{
    struct scene *scene = scene_of(state);
    (void)change(scene, "warn", NULL, NULL);
    database_close(scene->database);
    support_database_kill();
    change_follower_follow_host(&scene->service, scene->arena, true);
    assert_int_equal(scene->service.changes.retry_at, 0);
    host_hints_publish_change_version((uint64_t)scene->service.changes.version + 1);
    change_follower_follow_host(&scene->service, scene->arena, true);
    assert_true(scene->service.changes.retry_at > 0);
    support_database_restart(NULL);
}

static void after_a_failure_only_those_who_insist_try_again(void **state)
{
    struct scene *scene = scene_of(state);
    struct followed_changes *changes = &scene->service.changes;
    (void)change(scene, "warn", NULL, NULL);
    database_close(scene->database);
    support_database_kill();
    host_hints_publish_change_version((uint64_t)changes->version + 1);
    change_follower_follow_host(&scene->service, scene->arena, false);
    assert_true(changes->retry_at > 0);
    changes->retry_at = 1; /* the pause is over */
    change_follower_follow_host(&scene->service, scene->arena, false);
    assert_int_equal(changes->retry_at, 1);
    change_follower_follow_host(&scene->service, scene->arena, true);
    assert_true(changes->retry_at > 1);
    support_database_restart(NULL);
    expect_ok(change_follower_catch_up(&scene->service, scene->arena));
    assert_int_equal(changes->retry_at, 0);
}

static void only_the_version_that_holds_may_be_changed(void **state)
{
    struct scene *scene = scene_of(state);
    struct settings_row row;
    struct settings_update stale = {.level = "error", .if_match = "\"1\", W/\"2\""};
    (void)change(scene, "warn", NULL, NULL);
    (void)change(scene, "warn", NULL, "\"1\"");
    expect_error(settings_update_write(&scene->service, scene->arena, &scene->stranger, &stale, &row),
                 ERROR_SETTINGS_STALE);
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM settings"), 2);
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM change_log"), 2);
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM audit"), 2);
    (void)change(scene, "error", NULL, "*");
}

static void going_back_writes_the_old_document_as_a_new_version(void **state)
{
    struct scene *scene = scene_of(state);
    struct settings_row row;
    struct settings_update back = {.rollback = 1};
    (void)change(scene, "warn", "blob=debug", NULL);
    (void)change(scene, "error", "", NULL);
    expect_ok(settings_update_write(&scene->service, scene->arena, &scene->stranger, &back, &row));
    assert_int_equal(row.version, 3);
    assert_int_equal(row.settings->level, LOG_LEVEL_WARN);
    assert_string_equal(row.settings->filter, "blob=debug");
    sql(scene->database, scene->arena, "UPDATE settings SET document = '' WHERE version = 2");
    back.rollback = 2;
    expect_entry(settings_update_write(&scene->service, scene->arena, &scene->stranger, &back, &row),
                 ERROR_REQUEST_INVALID, "version", "damaged");
    back.rollback = 9;
    expect_entry(settings_update_write(&scene->service, scene->arena, &scene->stranger, &back, &row),
                 ERROR_REQUEST_INVALID, "version", "unknown");
}

static void a_damaged_version_is_told_once_a_host_and_the_last_good_one_holds(void **state)
{
    struct scene *scene = scene_of(state);
    const char *path = arena_format(scene->arena, "%s/log", harness_directory(scene->arena));
    (void)change(scene, "warn", NULL, NULL);
    sql(scene->database, scene->arena, "INSERT INTO settings (version, document) VALUES (2, '{\"logging\":7}')");
    assert_true(log_open(LOG_TO_FILE, path, "test"));
    struct scene *other = scene_join(scene->arena);
    for (int i = 0; i < 5; i++) {
        expect_ok(settings_apply_change(&scene->service, scene->arena, NULL));
        expect_ok(settings_apply_change(&other->service, scene->arena, NULL));
    }
    assert_true(log_open(LOG_TO_STDERR, NULL, "test"));
    const char *text = harness_read(scene->arena, path, NULL);
    assert_non_null(strstr(text, "\"damagedVersion\":2"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_false(log_wants(LOG_LEVEL_INFO, LOG_MODULE_HTTP));
    assert_int_equal(metrics_value(METRIC_SETTINGS_DAMAGED), 2);
    assert_int_equal(change(scene, NULL, "mail=info", "\"1\"").version, 3);
    assert_int_equal(metrics_value(METRIC_SETTINGS_DAMAGED), 0);
}

static void what_is_typed_in_is_announced_once(void **state)
{
    struct scene *scene = scene_of(state);
    struct scene *worker = scene_join(scene->arena);
    static const char count[] = "SELECT COUNT(*) FROM change_log";
    expect_ok(change_follower_catch_up(&scene->service, scene->arena));
    (void)change(scene, "info", NULL, NULL);
    expect_ok(change_follower_catch_up(&worker->service, scene->arena));
    expect_ok(settings_update_announce(&scene->service, scene->arena));
    assert_int_equal(sql_integer(scene->database, scene->arena, count), 1);
    sql(scene->database, scene->arena, "UPDATE settings SET document = REPLACE(document, 'info', 'error')");
    expect_ok(settings_update_announce(&scene->service, scene->arena));
    expect_ok(settings_update_announce(&scene->service, scene->arena));
    assert_int_equal(sql_integer(scene->database, scene->arena, count), 2);
    log_set_level(LOG_LEVEL_INFO);
    expect_ok(change_follower_catch_up(&worker->service, scene->arena));
    assert_false(log_wants(LOG_LEVEL_WARN, LOG_MODULE_HTTP));
    /* Another host's runner that is behind finds the announcement and makes none of its own. */
    sql(scene->database, scene->arena, "UPDATE settings SET document = REPLACE(document, 'error', 'fatal')");
    expect_ok(settings_update_announce(&scene->service, scene->arena));
    expect_ok(settings_update_announce(&worker->service, scene->arena));
    assert_int_equal(sql_integer(scene->database, scene->arena, count), 3);
}

/*
 * A runner that follows a change may read rows that were typed in after it, which a worker that followed a moment
 * earlier has not seen: they must be announced all the same.
 */
static void what_is_typed_in_right_after_a_change_is_announced(void **state)
{
    struct scene *scene = scene_of(state);
    struct scene *runner = scene_join(scene->arena);
    expect_ok(change_follower_catch_up(&runner->service, scene->arena));
    (void)change(scene, "warn", NULL, NULL);
    sql(scene->database, scene->arena,
        "INSERT INTO settings (version, document) SELECT version + 1, REPLACE(document, 'warn', 'error') FROM "
        "settings");
    expect_ok(change_follower_catch_up(&runner->service, scene->arena));
    assert_int_equal(runner->service.settings.version, 2);
    log_set_level(LOG_LEVEL_INFO);
    expect_ok(settings_update_announce(&runner->service, scene->arena));
    expect_ok(change_follower_catch_up(&scene->service, scene->arena));
    assert_int_equal(scene->service.settings.version, 2);
    assert_false(log_wants(LOG_LEVEL_WARN, LOG_MODULE_HTTP));
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM change_log"), 2);
}

static int write_one(struct database *database, struct arena *arena, unsigned index, void *context)
{
    static const char *const levels[] = {"fatal", "error", "warn", "info", "warn"};
    struct scene *scene = context;
    struct service service = scene->service;
    struct settings_update update = {.level = levels[index % 5], .if_match = index % 2 == 0 ? "\"1\"" : NULL};
    struct settings_row row;
    service.database = database;
    service.arena = arena;
    struct error *error = settings_update_write(&service, arena, &scene->stranger, &update, &row);
    if (error == NULL)
        return 1;
    return error->code == ERROR_SETTINGS_STALE ? 2 : 3;
}

static void fifty_writers_get_through_one_after_another(void **state)
{
    struct scene *scene = scene_of(state);
    int results[RACERS_MAX];
    (void)change(scene, "info", "", NULL);
    race(RACERS_MAX, write_one, scene, results);
    unsigned written = race_count(results, RACERS_MAX, 1);
    assert_int_equal(written + race_count(results, RACERS_MAX, 2), RACERS_MAX);
    /* All that asked for no version, and at most one of those that asked for the same. */
    assert_true(written == RACERS_MAX / 2 || written == RACERS_MAX / 2 + 1);
    struct settings_state found;
    expect_ok(settings_load(scene->database, scene->arena, &found));
    assert_null(found.damaged);
    assert_int_equal(found.good->version, 1 + written);
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM settings"), 1 + written);
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM change_log"), 1 + written);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_configuration_holds_until_something_is_set),
    HARNESS_TEST(what_is_set_holds_here_at_once_and_elsewhere_with_the_change_log),
    HARNESS_TEST(a_process_that_starts_follows_what_was_set_before),
    HARNESS_TEST(of_one_host_one_process_that_starts_reads_the_rows),
    HARNESS_TEST(what_cannot_be_read_in_the_cache_is_read_in_the_database),
    HARNESS_TEST(a_glance_asks_nothing_while_nothing_is_new),
    HARNESS_TEST(after_a_failure_only_those_who_insist_try_again),
    HARNESS_TEST(only_the_version_that_holds_may_be_changed),
    HARNESS_TEST(going_back_writes_the_old_document_as_a_new_version),
    HARNESS_TEST(a_damaged_version_is_told_once_a_host_and_the_last_good_one_holds),
    HARNESS_TEST(what_is_typed_in_is_announced_once),
    HARNESS_TEST(what_is_typed_in_right_after_a_change_is_announced),
    HARNESS_TEST(fifty_writers_get_through_one_after_another),
};
HARNESS_MODULE(settings_update, cases)
