/* SPDX-License-Identifier: MIT */
/* Tests that a process follows the change log: it reads again what a change concerns, and nothing else. */
#include "harness.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/change_log.h"
#include "identity/embedded/provider.h"
#include "service/runtime/change_follower.h"
#include "service/support_accounts.h"
#include "store/database/database.h"
#include "support_database.h"

struct append {
    enum change_log_kind kind;
    const char *payload;
    int64_t version;
};

static struct error *append_body(struct database *database, struct arena *arena, void *context)
{
    struct append *append = context;
    return change_log_append(database, arena, append->kind, append->payload, &append->version);
}

static int64_t append_with(struct scene *scene, enum change_log_kind kind, const char *payload)
{
    struct append what = {.kind = kind, .payload = payload};
    expect_ok(database_transaction(scene->database, scene->arena, append_body, &what, NULL));
    return what.version;
}

static int64_t append(struct scene *scene, enum change_log_kind kind)
{
    return append_with(scene, kind, "{\"flush\":true}");
}

/* What it may have kept before is read anew: nobody knows from when that was. */
static void a_process_begins_where_it_first_hears_of_a_version(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    int64_t version = append(scene, CHANGE_LOG_SECRETS);
    expect_ok(change_follower_catch_up(&scene->service, scene->arena));
    assert_true(scene->service.changes.known);
    assert_int_equal(scene->service.changes.version, version);
    assert_int_equal(scene->service.changes.secrets, 1);
    assert_true(scene->service.changes.keys > 0);
}

static void each_change_is_followed_once(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    expect_ok(change_follower_catch_up(&scene->service, scene->arena));
    scene->service.changes.secrets = scene->service.changes.keys = 0;
    int64_t version = append(scene, CHANGE_LOG_SECRETS);
    expect_ok(change_follower_follow(&scene->service, scene->arena, version));
    expect_ok(change_follower_follow(&scene->service, scene->arena, version));
    expect_ok(change_follower_catch_up(&scene->service, scene->arena));
    assert_int_equal(scene->service.changes.secrets, 1);
    assert_int_equal(scene->service.changes.keys, 1);
    (void)append(scene, CHANGE_LOG_SETTINGS);
    (void)append(scene, CHANGE_LOG_SECRETS);
    expect_ok(change_follower_follow(&scene->service, scene->arena, append(scene, CHANGE_LOG_CACHE)));
    assert_int_equal(scene->service.changes.secrets, 2);
    assert_int_equal(scene->service.changes.keys, 3);
}

static void a_log_that_does_not_tell_all_makes_everything_stale(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    expect_ok(change_follower_catch_up(&scene->service, scene->arena));
    scene->service.changes.secrets = 0;
    int64_t version = append(scene, CHANGE_LOG_SETTINGS);
    sql(scene->database, scene->arena, "DELETE FROM change_log");
    expect_ok(change_follower_follow(&scene->service, scene->arena, version));
    assert_int_equal(scene->service.changes.version, version);
    assert_int_equal(scene->service.changes.secrets, 1);
    /* A restored backup counts from behind. */
    expect_ok(change_follower_follow(&scene->service, scene->arena, version - 5));
    assert_int_equal(scene->service.changes.version, version - 5);
    assert_int_equal(scene->service.changes.secrets, 2);
    version = append(scene, CHANGE_LOG_SETTINGS);
    sql(scene->database, scene->arena, "UPDATE change_log SET kind = 'of tomorrow'");
    expect_ok(change_follower_follow(&scene->service, scene->arena, version));
    assert_int_equal(scene->service.changes.secrets, 3);
}

static void a_log_that_cannot_be_read_leaves_the_process_where_it_was(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    expect_ok(change_follower_catch_up(&scene->service, scene->arena));
    int64_t before = scene->service.changes.version;
    scene->service.changes.secrets = 0;
    int64_t version = append(scene, CHANGE_LOG_SECRETS);
    sql(scene->database, scene->arena, "RENAME TABLE change_log TO change_log_away");
    struct error *error = change_follower_follow(&scene->service, scene->arena, version);
    sql(scene->database, scene->arena, "RENAME TABLE change_log_away TO change_log");
    assert_non_null(error);
    assert_int_equal(scene->service.changes.version, before);
    assert_int_equal(scene->service.changes.secrets, 0);
    expect_ok(change_follower_follow(&scene->service, scene->arena, version));
    assert_int_equal(scene->service.changes.secrets, 1);
}

/* An eviction concerns what it names; of one that cannot be read nobody knows what. */
static void keys_are_read_again_where_an_eviction_may_concern_them(void **state)
{
    static const struct {
        const char *payload;
        bool keys;
    } rows[] = {{"{\"keys\":[],\"prefixes\":[\"token:\"],\"flush\":false}", false},
                {"{\"keys\":[\"token:one\"],\"prefixes\":[],\"flush\":false}", false},
                {"{\"keys\":[\"settings:current\"],\"prefixes\":[\"set\"],\"flush\":false}", false},
                {"{\"keys\":[\"jwks:embedded\"],\"prefixes\":[],\"flush\":false}", true},
                {"{\"keys\":[],\"prefixes\":[\"jwks:\"],\"flush\":false}", true},
                {"{\"keys\":[],\"prefixes\":[\"j\"],\"flush\":false}", true},
                {"{\"keys\":[],\"prefixes\":[],\"flush\":true}", true},
                {"{\"keys\":[],\"prefixes\":[]}", true},
                {"{\"keys\":", true},
                {"by hand", true}};
    struct scene *scene = scene_new(harness_arena(state));
    expect_ok(change_follower_catch_up(&scene->service, scene->arena));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        scene->service.changes.keys = 0;
        expect_ok(change_follower_follow(&scene->service, scene->arena,
                                         append_with(scene, CHANGE_LOG_CACHE, rows[i].payload)));
        if ((scene->service.changes.keys > 0) != rows[i].keys)
            fail_msg("%s", rows[i].payload);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(keys_are_read_again_where_an_eviction_may_concern_them),
    HARNESS_TEST(a_process_begins_where_it_first_hears_of_a_version),
    HARNESS_TEST(each_change_is_followed_once),
    HARNESS_TEST(a_log_that_does_not_tell_all_makes_everything_stale),
    HARNESS_TEST(a_log_that_cannot_be_read_leaves_the_process_where_it_was),
};
HARNESS_MODULE(change_follower, cases)
