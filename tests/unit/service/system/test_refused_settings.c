/* SPDX-License-Identifier: MIT */
/* Settings, evictions and who is calling: each statement on the way is refused once. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/permission/principal.h"
#include "service/runtime/change_follower.h"
#include "service/support_refused.h"
#include "service/system/cache_update.h"
#include "service/system/settings_update.h"
#include "store/cache/cache.h"

#define SERVICE(stage) (&(stage)->scene->service)

/* ---- settings ------------------------------------------------------------------------------------- */

static void put_back(void *context)
{
    (void)context;
    log_set_level(LOG_LEVEL_INFO);
}

static struct error *write_settings(struct stage *stage, struct arena *arena, const struct settings_update *update)
{
    struct settings_row row;
    return settings_update_write(SERVICE(stage), arena, stage->staff, update, &row);
}

/* The process has followed what was written before: a change that it could not follow is left alone for a while. */
static void prepare_followed(struct stage *stage)
{
    stage->scene->service.changes.retry_at = 0;
    expect_ok(change_follower_catch_up(SERVICE(stage), stage->scene->arena));
}

static struct error *set_filter(struct stage *stage, struct arena *arena)
{
    struct settings_update update = {.filter = "files=warn"};
    return write_settings(stage, arena, &update);
}

static struct error *go_back(struct stage *stage, struct arena *arena)
{
    struct settings_update update = {.rollback = 1};
    return write_settings(stage, arena, &update);
}

/* Each version has its row of the trail and its line in the change log, which tells the other processes of it. */
static int64_t count_versions(struct stage *stage)
{
    int64_t versions = stage_rows(stage, "settings");
    assert_int_equal(stage_rows(stage, "audit WHERE action = 'settings.update'"), versions);
    assert_int_equal(stage_rows(stage, "change_log WHERE kind = 'settings'"), versions);
    return versions;
}

/* Somebody has written a version by hand. */
static void prepare_by_hand(struct stage *stage)
{
    prepare_followed(stage);
    sql(stage->scene->database, stage->scene->arena,
        "INSERT INTO settings (version, document) SELECT MAX(version) + 1, MAX(document) FROM settings");
}

static struct error *announce(struct stage *stage, struct arena *arena)
{
    return settings_update_announce(SERVICE(stage), arena);
}

static int64_t count_announced(struct stage *stage)
{
    return stage_rows(stage, "change_log WHERE kind = 'settings'");
}

static void settings_are_written_with_what_tells_of_them_or_not_at_all(void **state)
{
    static const struct flow flows[] = {
        FLOW("another filter", prepare_followed, set_filter, count_versions),
        FLOW("a former version", prepare_followed, go_back, count_versions),
        FLOW("a version that was written by hand", prepare_by_hand, announce, count_announced, .apart = true),
    };
    arena_defer(harness_arena(state), put_back, NULL);
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- the cache ------------------------------------------------------------------------------------ */

static void close_cache(void *context)
{
    cache_free(context);
}

static void prepare_cache(struct stage *stage)
{
    struct scene *scene = stage->scene;
    if (scene->service.cache != NULL)
        return;
    const char *path = arena_format(scene->arena, "%s/cache", harness_directory(scene->arena));
    scene->service.cache =
        cache_new(&(struct cache_options){path, (size_t)1 << 20, secret_of("a master secret of no matter")});
    arena_defer(scene->arena, close_cache, &scene->service.cache);
}

static struct error *evict(struct stage *stage, struct arena *arena)
{
    size_t count = 0;
    struct cache_update update = {.keys = TEXTS(arena, "one:key"), .prefixes = TEXTS(arena, "jwks:"), .secrets = true};
    return cache_update_run(SERVICE(stage), arena, stage->staff, &update, &count);
}

static int64_t count_evictions(struct stage *stage)
{
    int64_t told = stage_rows(stage, "audit WHERE action = 'cache.update'");
    assert_int_equal(stage_rows(stage, "change_log WHERE kind IN ('cache', 'secrets')"), 2 * told);
    return told;
}

static void an_eviction_reaches_every_host_or_nobody(void **state)
{
    static const struct flow flows[] = {FLOW("an eviction", prepare_cache, evict, count_evictions)};
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- who is calling ------------------------------------------------------------------------------- */

static void prepare_token(struct stage *stage)
{
    struct provider_tokens tokens;
    stage_person(stage);
    expect_ok(scene_login(stage->scene, stage->person.email, CHOSEN, NULL, &tokens));
    stage->text = arena_format(stage->scene->arena, "Bearer %s", tokens.access_token);
    /* As a process that has just started: it knows neither keys nor changes. */
    provider_forget(stage->scene->service.provider);
    stage->scene->service.changes = (struct followed_changes){.known = false};
}

static struct error *authenticate_for(struct stage *stage, struct arena *arena, const struct id *file)
{
    struct caller caller = stage->scene->stranger;
    struct file_record *record = NULL;
    struct error *error = caller_authenticate(SERVICE(stage), arena, stage->text, file, &caller, &record);
    if ((error == NULL) != (caller.principal != NULL))
        fail_msg("a caller who was %s", error == NULL ? "let in is nobody" : "refused is let in");
    TRY(error);
    assert_true(id_equal(caller_user(&caller), stage->person.id));
    stage->before--;
    return NULL;
}

static struct error *authenticate(struct stage *stage, struct arena *arena)
{
    return authenticate_for(stage, arena, NULL);
}

static struct error *authenticate_with_file(struct stage *stage, struct arena *arena)
{
    struct id file = id_new();
    return authenticate_for(stage, arena, &file);
}

/* A member who may look into other organisations finds theirs only with a row of the trail. */
static struct error *cross(struct stage *stage, struct arena *arena)
{
    struct id found = {{0}};
    TRY(caller_organisation(SERVICE(stage), arena, stage->staff, "cus:user:r", caller_home(stage->owner), &found));
    assert_true(id_equal(found, caller_home(stage->owner)));
    return NULL;
}

static int64_t count_crossings(struct stage *stage)
{
    return stage_rows(stage, "audit WHERE action = 'access.crossOrganisation'");
}

static int64_t count_none(struct stage *stage)
{
    (void)stage;
    return 0;
}

static void nobody_is_let_in_by_a_statement_that_failed(void **state)
{
    static const struct flow flows[] = {
        FLOW("a token", prepare_token, authenticate, count_none),
        FLOW("a token and a file", prepare_token, authenticate_with_file, count_none),
        FLOW("another organisation", prepare_followed, cross, count_crossings),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

static void settings_whose_commit_got_no_answer_are_looked_up(void **state)
{
    static const struct flow flows[] = {
        FLOW("another filter", prepare_followed, set_filter, count_versions, .finds = true),
    };
    stage_lose_each_commit(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(settings_are_written_with_what_tells_of_them_or_not_at_all),
    HARNESS_TEST(an_eviction_reaches_every_host_or_nobody),
    HARNESS_TEST(nobody_is_let_in_by_a_statement_that_failed),
    HARNESS_TEST(settings_whose_commit_got_no_answer_are_looked_up),
};
HARNESS_MODULE(refused_settings, cases)
