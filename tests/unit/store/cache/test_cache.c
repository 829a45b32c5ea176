/* SPDX-License-Identifier: MIT */
/* The service cache: entries, time to live, the bound, evictions and versions. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "store/cache/cache_int.h"
#include "store/support_cache.h"

static void what_was_stored_is_found_by_every_process(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    struct cache *one = given_cache(path, 1);
    struct cache *other = given_cache(path, 1);
    assert_null(found(other, arena, "token:a"));
    cache_store(one, "token:a", "value", 5, 60);
    assert_string_equal(found(other, arena, "token:a"), "value");
    assert_string_equal(found(one, arena, "token:a"), "value");
    cache_store(other, "token:a", "", 0, 60);
    assert_string_equal(found(one, arena, "token:a"), "");
    assert_null(found(one, arena, "token:"));
    assert_null(found(one, arena, "token:ab"));
    assert_int_equal(cache_counts(one).hits, 2);
    cache_free(&one);
    cache_free(&other);
}

static void the_file_is_for_its_owner_only_and_what_is_missing_is_made(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    struct stat status;
    struct cache *cache = given_cache(path, 1);
    cache_store(cache, "a:b", "c", 1, 60);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    cache_free(&cache);
    assert_int_equal(chmod(path, 0666), 0);
    cache = given_cache(path, 1);
    assert_string_equal(found(cache, arena, "a:b"), "c");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    cache_free(&cache);
}

/* A summary of the prefixes a: and b: that looks at no more than `budget` entries. */
static struct cache_summary summary_of(struct cache *cache, struct arena *arena, size_t budget)
{
    struct cache_summary summary;
    struct text_list prefixes = text_words(arena, "a: b:");
    cache_summarise(cache, arena, &prefixes, budget, &summary);
    return summary;
}

static void a_summary_counts_live_entries_by_prefix(void **state)
{
    struct arena *arena = harness_arena(state);
    struct cache *cache = given_cache(cache_path(arena), 1);
    struct cache_summary summary = summary_of(cache, arena, 100);
    assert_int_equal(summary.entries, 0);
    assert_int_equal(summary.maximum_bytes, CACHE_BYTES);
    for (int i = 0; i < 20; i++)
        cache_store(cache, arena_format(arena, "%s:%d", i < 7 ? "a" : "b", i), "value", 5, 60);
    cache_store(cache, "a:over", "value", 5, 0);
    cache_store(cache, "ab", "value", 5, 60);
    summary = summary_of(cache, arena, 100);
    assert_int_equal(summary.counts[0], 7);
    assert_int_equal(summary.counts[1], 13);
    assert_int_equal(summary.entries, 20);
    assert_true(summary.bytes > 0 && summary.bytes < summary.maximum_bytes);
    assert_null(found(cache, arena, "a:over"));
    cache_free(&cache);
}

/* What lies behind the bound is not known; all that is stored is told all the same. */
static void a_summary_looks_at_no_more_entries_than_it_may(void **state)
{
    struct arena *arena = harness_arena(state);
    struct cache *cache = given_cache(cache_path(arena), 1);
    for (int i = 0; i < 20; i++)
        cache_store(cache, arena_format(arena, "%s:%d", i < 7 ? "a" : "b", i), "value", 5, 60);
    struct cache_summary summary = summary_of(cache, arena, 12);
    assert_int_equal(summary.counts[0], 7);
    assert_int_equal(summary.counts[1], -1);
    assert_int_equal(summary.entries, 20);
    summary = summary_of(cache, arena, 20);
    assert_int_equal(summary.counts[1], 13);
    summary = summary_of(cache, arena, 6);
    assert_int_equal(summary.counts[0], -1);
    cache_free(&cache);
}

static void without_a_cache_a_summary_is_empty(void **state)
{
    struct arena *arena = harness_arena(state);
    struct cache *off = cache_new(&(struct cache_options){cache_path(arena), 0, secret_of(CACHE_MASTER)});
    struct cache_summary summary = summary_of(NULL, arena, 10);
    assert_int_equal(summary.entries + summary.bytes + summary.maximum_bytes + summary.counts[1], 0);
    summary = summary_of(off, arena, 10);
    assert_int_equal(summary.entries + summary.bytes + summary.maximum_bytes + summary.counts[1], 0);
    cache_free(&off);
}

static void without_a_file_everything_is_loaded(void **state)
{
    struct arena *arena = harness_arena(state);
    struct cache *none = NULL;
    struct cache *nowhere = given_cache(arena_format(arena, "%s/no/such/directory", harness_directory(arena)), 1);
    struct cache *off = cache_new(&(struct cache_options){cache_path(arena), 0, secret_of(CACHE_MASTER)});
    const char *link = cache_path(arena);
    assert_int_equal(symlink("/dev/null", link), 0);
    struct cache *elsewhere = given_cache(link, 1);
    struct cache *all[] = {none, nowhere, off, elsewhere};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct counter counter = {.text = "loaded"};
        cache_follow(all[i], NULL, 0, 1, false);
        cache_store(all[i], "a:b", "c", 1, 60);
        assert_null(found(all[i], arena, "a:b"));
        assert_string_equal(fetched(all[i], arena, "a:b", &counter), "loaded");
        assert_string_equal(fetched(all[i], arena, "a:b", &counter), "loaded");
        assert_int_equal(counter.loads, 2);
        assert_int_equal(cache_version(all[i]), 0);
        cache_sweep(all[i]);
        cache_free(&all[i]);
    }
}

static void a_value_is_loaded_once_and_an_error_is_not_kept(void **state)
{
    struct arena *arena = harness_arena(state);
    struct cache *cache = given_cache(cache_path(arena), 1);
    struct counter counter = {.text = "loaded"};
    for (int i = 0; i < 3; i++)
        assert_string_equal(fetched(cache, arena, "jwks:a", &counter), "loaded");
    assert_int_equal(counter.loads, 1);
    counter.fail = true;
    for (int i = 0; i < 2; i++) {
        void *bytes;
        size_t length;
        struct cache_loader loader = counting_loader(&counter);
        struct error *error = cache_fetch(cache, arena, "jwks:b", &loader, &bytes, &length);
        assert_non_null(error);
        assert_int_equal(error->code, ERROR_IDENTITY_UNAVAILABLE);
    }
    counter.fail = false;
    assert_string_equal(fetched(cache, arena, "jwks:b", &counter), "loaded");
    assert_int_equal(counter.loads, 4);
    cache_free(&cache);
}

static void values_and_keys_have_a_maximum(void **state)
{
    struct arena *arena = harness_arena(state);
    struct cache *cache = given_cache(cache_path(arena), 1);
    char *key = arena_alloc(arena, LIMIT_CACHE_KEY_BYTES + 2);
    char *value = arena_alloc(arena, LIMIT_CACHE_VALUE_BYTES + 2);
    memset(key, 'k', LIMIT_CACHE_KEY_BYTES);
    memset(value, 'v', LIMIT_CACHE_VALUE_BYTES);
    cache_store(cache, key, value, LIMIT_CACHE_VALUE_BYTES, 60);
    assert_string_equal(found(cache, arena, key), value);
    cache_store(cache, "big", value, LIMIT_CACHE_VALUE_BYTES + 1, 60);
    assert_null(found(cache, arena, "big"));
    key[LIMIT_CACHE_KEY_BYTES] = 'k';
    cache_store(cache, key, "v", 1, 60);
    assert_null(found(cache, arena, key));
    struct counter counter = {.text = "loaded"};
    assert_string_equal(fetched(cache, arena, key, &counter), "loaded");
    cache_free(&cache);
}

static void an_entry_lives_as_long_as_it_was_given(void **state)
{
    struct arena *arena = harness_arena(state);
    struct cache *cache = given_cache(cache_path(arena), 1);
    struct cache_entry *entries;
    cache_store(cache, "a:gone", "x", 1, 0);
    cache_store(cache, "a:short", "x", 1, 1);
    cache_store(cache, "a:long", "x", 1, 3600);
    assert_null(found(cache, arena, "a:gone"));
    for (int i = 0; i < 500 && found(cache, arena, "a:short") != NULL; i++)
        (void)usleep(10000);
    assert_null(found(cache, arena, "a:short"));
    assert_non_null(found(cache, arena, "a:long"));
    assert_int_equal(cache_list(cache, arena, NULL, 10, &entries), 1);
    assert_string_equal(entries[0].key, "a:long");
    assert_in_range(entries[0].seconds_left, 3000, 3600);
    assert_int_equal(entries[0].bytes, 1);
    cache_sweep(cache);
    assert_non_null(found(cache, arena, "a:long"));
    cache_free(&cache);
}

static void the_oldest_make_room_and_the_file_stays_within_its_bound(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    struct cache *cache = given_cache(path, 1);
    struct stat status;
    char value[4000];
    memset(value, 'v', sizeof value);
    for (int i = 0; i < 3000; i++) {
        cache_store(cache, arena_format(arena, "a:%d", i), value, sizeof value, 3600);
        assert_non_null(found(cache, arena, arena_format(arena, "a:%d", i)));
    }
    assert_null(found(cache, arena, "a:0"));
    assert_non_null(found(cache, arena, "a:2950"));
    assert_int_equal(stat(path, &status), 0);
    assert_true((size_t)status.st_size <= CACHE_BYTES);
    assert_int_equal(cache_counts(cache).rebuilds, 0);
    cache_free(&cache);
}

/*
 * Values of all sizes, so that the free pages lie scattered and a long run of them may not be there. What is stored
 * then may be lost, but the next is kept again, and the file stays the same one.
 */
static void a_file_without_a_run_of_free_pages_makes_room(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 5};
    struct cache *cache = given_cache(cache_path(arena), 1);
    char *value = arena_alloc(arena, LIMIT_CACHE_VALUE_BYTES);
    for (unsigned i = 0; i < 3000; i++) {
        size_t length = harness_random_below(&random, i % 4 == 0 ? LIMIT_CACHE_VALUE_BYTES : 6000);
        const char *key = arena_format(arena, "a:%u", i % 700);
        cache_store(cache, key, value, length, 3600);
        assert_non_null(found(cache, arena, key));
    }
    assert_int_equal(cache_counts(cache).rebuilds, 0);
    cache_free(&cache);
}

/* ---- evicting ------------------------------------------------------------------------------------ */

static void keys_prefixes_and_everything_are_evicted(void **state)
{
    struct arena *arena = harness_arena(state);
    struct cache *cache = given_cache(cache_path(arena), 5);
    static const char *const keys[] = {"a:1", "a:2", "ab:1", "b:1", "b:2", "c:1"};
    const char *evicted_keys[] = {"b:1", "no:such", "b:1"};
    const char *evicted_prefixes[] = {"a:", "zz"};
    for (size_t i = 0; i < 6; i++)
        cache_store(cache, keys[i], keys[i], 3, 60);
    struct cache_eviction eviction = {.version = 6, .keys = {evicted_keys, 3}, .prefixes = {evicted_prefixes, 2}};
    assert_int_equal(cache_count(cache, &eviction), 3);
    cache_follow(cache, &eviction, 1, 6, false);
    assert_int_equal(cache_version(cache), 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(found(cache, arena, keys[i]) != NULL, i == 2 || i >= 4);
    struct cache_entry *entries;
    assert_int_equal(cache_list(cache, arena, NULL, 2, &entries), 2);
    assert_string_equal(entries[0].key, "ab:1");
    assert_int_equal(cache_list(cache, arena, entries[1].key, 2, &entries), 1);
    assert_string_equal(entries[0].key, "c:1");
    struct cache_eviction all = {.version = 7, .flush = true};
    assert_int_equal(cache_count(cache, &all), 3);
    cache_follow(cache, &all, 1, 7, false);
    assert_int_equal(cache_list(cache, arena, NULL, 2, &entries), 0);
    assert_int_equal(cache_version(cache), 7);
    cache_free(&cache);
}

static void an_eviction_is_applied_once_and_never_undone(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    struct cache *one = given_cache(path, 5);
    struct cache *late = given_cache(path, 5);
    const char *keys[] = {"a:1"};
    struct cache_eviction eviction = {.version = 6, .keys = {keys, 1}};
    cache_store(one, "a:1", "old", 3, 60);
    cache_follow(one, &eviction, 1, 6, false);
    assert_null(found(one, arena, "a:1"));
    cache_store(one, "a:1", "new", 3, 60);
    /* Who follows later finds the file ahead, and takes what is newer. */
    cache_follow(late, &eviction, 1, 6, false);
    assert_string_equal(found(late, arena, "a:1"), "new");
    assert_string_equal(found(one, arena, "a:1"), "new");
    cache_free(&one);
    cache_free(&late);
}

static void a_file_that_is_behind_is_not_read_and_a_reset_empties_it(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    struct cache *one = given_cache(path, 5);
    cache_store(one, "a:1", "old", 3, 60);
    cache_free(&one);
    /* The host was down while another changed things; nobody has applied the change to this file. */
    struct cache *fresh = cache_new(&(struct cache_options){path, CACHE_BYTES, secret_of(CACHE_MASTER)});
    assert_int_equal(cache_version(fresh), 5);
    assert_null(found(fresh, arena, "a:1"));
    cache_follow(fresh, NULL, 0, 9, true);
    assert_int_equal(cache_version(fresh), 9);
    assert_null(found(fresh, arena, "a:1"));
    cache_store(fresh, "a:1", "x", 1, 60);
    /* A restored database counts from behind. */
    cache_follow(fresh, NULL, 0, 4, true);
    assert_int_equal(cache_version(fresh), 4);
    assert_null(found(fresh, arena, "a:1"));
    cache_free(&fresh);
}

/*
 * The file cannot be opened while the reset is told; later it is there again, as it was, and ahead of what is counted
 * now.
 */
static void a_file_that_could_not_be_reset_is_not_used(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    const char *away = arena_format(arena, "%s-away", path);
    struct cache *one = given_cache(path, 9);
    cache_store(one, "a:1", "old", 3, 60);
    cache_free(&one);
    struct cache *other = cache_new(&(struct cache_options){path, CACHE_BYTES, secret_of(CACHE_MASTER)});
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(symlink(away, path), 0);
    cache_follow(other, NULL, 0, 4, true);
    assert_int_equal(rename(away, path), 0);
    other->retry_at = 0;
    assert_int_equal(cache_version(other), 9);
    assert_null(found(other, arena, "a:1"));
    cache_follow(other, NULL, 0, 5, true);
    cache_store(other, "a:1", "new", 3, 60);
    assert_string_equal(found(other, arena, "a:1"), "new");
    cache_free(&other);
}

/*
 * Of another file than the one that was looked at, or of one that could not be read just then, the list tells too
 * little.
 */
static void a_file_of_before_the_evictions_that_are_told_is_emptied(void **state)
{
    struct arena *arena = harness_arena(state);
    struct cache_eviction next = {.version = 6}, later = {.version = 7};
    const struct {
        const struct cache_eviction *evictions;
        size_t count;
        bool kept;
    } told[] = {{&next, 1, true}, {&later, 1, false}, {NULL, 0, false}};
    for (size_t i = 0; i < 3; i++) {
        const char *path = cache_path(arena);
        struct cache *one = given_cache(path, 5);
        struct cache *other = given_cache(path, 5);
        cache_store(one, "a:1", "old", 3, 60);
        cache_follow(other, told[i].evictions, told[i].count, told[i].count == 0 ? 6 : told[i].evictions->version,
                     false);
        assert_int_equal(found(other, arena, "a:1") != NULL, told[i].kept);
        cache_free(&one);
        cache_free(&other);
    }
}

static void what_is_evicted_while_it_is_loaded_is_not_stored(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct text_list none;
    const char *keys[] = {"a:1"};
    const char *prefixes[] = {"a"};
    struct cache_eviction ways[] = {
        {.keys = {keys, 1}, .prefixes = none}, {.keys = none, .prefixes = {prefixes, 1}}, {.flush = true}};
    for (size_t i = 0; i < 3; i++) {
        const char *path = cache_path(arena);
        struct cache *one = given_cache(path, 10 + (int64_t)i);
        struct cache *other = given_cache(path, 10 + (int64_t)i);
        ways[i].version = 11 + (int64_t)i;
        struct counter counter = {.text = "old", .other = other, .eviction = &ways[i]};
        assert_string_equal(fetched(one, arena, "a:1", &counter), "old");
        assert_null(found(other, arena, "a:1"));
        counter = (struct counter){.text = "new"};
        assert_string_equal(fetched(other, arena, "a:1", &counter), "new");
        assert_int_equal(counter.loads, 1);
        cache_free(&one);
        cache_free(&other);
    }
}

static void another_secret_reads_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = cache_path(arena);
    struct cache *one = given_cache(path, 5);
    cache_store(one, "a:1", "x", 1, 60);
    cache_free(&one);
    struct cache *other =
        cache_new(&(struct cache_options){path, CACHE_BYTES, secret_of("fedcba9876543210fedcba9876543210")});
    cache_follow(other, NULL, 0, 5, false);
    assert_null(found(other, arena, "a:1"));
    cache_store(other, "a:1", "y", 1, 60);
    assert_string_equal(found(other, arena, "a:1"), "y");
    cache_free(&other);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_was_stored_is_found_by_every_process),
    HARNESS_TEST(the_file_is_for_its_owner_only_and_what_is_missing_is_made),
    HARNESS_TEST(without_a_file_everything_is_loaded),
    HARNESS_TEST(a_value_is_loaded_once_and_an_error_is_not_kept),
    HARNESS_TEST(values_and_keys_have_a_maximum),
    HARNESS_TEST(an_entry_lives_as_long_as_it_was_given),
    HARNESS_TEST(the_oldest_make_room_and_the_file_stays_within_its_bound),
    HARNESS_TEST(a_file_without_a_run_of_free_pages_makes_room),
    HARNESS_TEST(keys_prefixes_and_everything_are_evicted),
    HARNESS_TEST(an_eviction_is_applied_once_and_never_undone),
    HARNESS_TEST(a_file_that_is_behind_is_not_read_and_a_reset_empties_it),
    HARNESS_TEST(a_file_that_could_not_be_reset_is_not_used),
    HARNESS_TEST(a_file_of_before_the_evictions_that_are_told_is_emptied),
    HARNESS_TEST(what_is_evicted_while_it_is_loaded_is_not_stored),
    HARNESS_TEST(another_secret_reads_nothing),
    HARNESS_TEST(a_summary_counts_live_entries_by_prefix),
    HARNESS_TEST(a_summary_looks_at_no_more_entries_than_it_may),
    HARNESS_TEST(without_a_cache_a_summary_is_empty),
};
HARNESS_MODULE(cache, cases)
