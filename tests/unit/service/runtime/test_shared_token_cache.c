/* SPDX-License-Identifier: MIT */
/* Tokens that one process has verified are known to the others; no check is left out. */
#include "harness.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/host/process.h"
#include "codec/signing_key.h"
#include "codec/token.h"
#include "service/runtime/shared_token_cache.h"
#include "service/support_accounts.h"
#include "store/cache/cache.h"

#define MASTER "0123456789abcdef0123456789abcdef"

/* A process: its memory, and the host's cache behind it. */
struct process {
    struct cache *cache;
    struct token_memo *memo;
};

static struct process a_process(struct arena *arena, const char *path)
{
    struct process process = {.cache = cache_new(&(struct cache_options){path, (size_t)1 << 20, secret_of(MASTER)}),
                              .memo = token_memo_new(arena)};
    cache_follow(process.cache, NULL, 0, 1, false);
    token_memo_set_level(process.memo, shared_token_cache_new(arena, process.cache));
    return process;
}

struct made {
    struct key_set *keys;
    struct signing_key *key;
    struct token_rules rules;
    char *token;
};

static struct made made_token(struct arena *arena, int64_t lifetime)
{
    struct signing_key_pair pair;
    struct made made = {.keys = key_set_new(arena)};
    expect_ok(signing_key_generate(arena, &pair));
    expect_ok(signing_key_load_private(arena, pair.kid, pair.private_pem, &made.key));
    expect_ok(key_set_add(made.keys, made.key));
    int64_t now = clock_now() / 1000;
    struct token_content content = {.issuer = "https://gatehouse.test",
                                    .audience = "gatehouse",
                                    .token_use = TOKEN_USE_ACCESS,
                                    .subject = id_new(),
                                    .session = id_new(),
                                    .issued_at = now,
                                    .expires_at = now + lifetime};
    expect_ok(token_issue(arena, made.key, &content, &made.token));
    made.rules = (struct token_rules){.keys = made.keys,
                                      .issuer = content.issuer,
                                      .audience = content.audience,
                                      .token_use = TOKEN_USE_ACCESS,
                                      .session_claim = "sid",
                                      .leeway = 30,
                                      .now = now};
    return made;
}

static enum token_result verify(struct process *process, struct arena *arena, const struct made *made,
                                const char *token)
{
    struct token_claims claims = {.issued_at = 0};
    const char *reason;
    enum token_result result =
        token_memo_verify(process->memo, arena, &made->rules, token, strlen(token), &claims, &reason);
    if (result == TOKEN_GOOD)
        assert_int_equal(claims.expires_at - claims.issued_at, 900);
    return result;
}

static uint64_t hits(const struct process *process)
{
    return cache_counts(process->cache).hits;
}

/* Shared is what a process meets again. */
static void verify_twice(struct process *process, struct arena *arena, const struct made *made)
{
    assert_int_equal(verify(process, arena, made, made->token), TOKEN_GOOD);
    assert_int_equal(verify(process, arena, made, made->token), TOKEN_GOOD);
}

static size_t shared(const struct process *process, struct arena *arena)
{
    struct cache_entry *entries;
    return cache_list(process->cache, arena, NULL, 10, &entries);
}

/* Two processes of a host, and a token. */
struct host {
    const char *path;
    struct process one, other;
    struct made made;
};

static struct host a_host(struct arena *arena)
{
    const char *path = arena_format(arena, "%s/cache", harness_directory(arena));
    return (struct host){path, a_process(arena, path), a_process(arena, path), made_token(arena, 900)};
}

static void end_host(struct host *host)
{
    cache_free(&host->one.cache);
    cache_free(&host->other.cache);
}

static void a_token_in_use_is_verified_once_for_all_processes(void **state)
{
    struct arena *arena = harness_arena(state);
    struct host host = a_host(arena);
    struct cache_entry *entries;
    assert_int_equal(verify(&host.one, arena, &host.made, host.made.token), TOKEN_GOOD);
    assert_int_equal(shared(&host.one, arena), 0);
    assert_int_equal(verify(&host.one, arena, &host.made, host.made.token), TOKEN_GOOD);
    assert_int_equal(shared(&host.one, arena), 1);
    assert_int_equal(hits(&host.one), 0);
    assert_int_equal(verify(&host.other, arena, &host.made, host.made.token), TOKEN_GOOD);
    assert_int_equal(verify(&host.other, arena, &host.made, host.made.token), TOKEN_GOOD);
    assert_int_equal(hits(&host.other), 1);
    assert_int_equal(token_memo_hits(host.other.memo), 1);
    assert_int_equal(cache_list(host.one.cache, arena, NULL, 10, &entries), 1);
    assert_memory_equal(entries[0].key, "token:", 6);
    assert_null(strstr(host.made.token, entries[0].key + 8));
    end_host(&host);
}

static void what_is_found_is_checked_by_its_times(void **state)
{
    struct arena *arena = harness_arena(state);
    struct host host = a_host(arena);
    verify_twice(&host.one, arena, &host.made);
    host.made.rules.now += 931;
    assert_int_equal(verify(&host.other, arena, &host.made, host.made.token), TOKEN_EXPIRED);
    assert_int_equal(hits(&host.other), 1);
    host.made.rules.now -= 931 + 40;
    struct process third = a_process(arena, host.path);
    assert_int_equal(verify(&third, arena, &host.made, host.made.token), TOKEN_INVALID);
    end_host(&host);
    cache_free(&third.cache);
}

static void other_keys_other_rules_and_other_tokens_find_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = arena_format(arena, "%s/cache", harness_directory(arena));
    struct process one = a_process(arena, path);
    struct made made = made_token(arena, 900);
    struct made stranger = made_token(arena, 900);
    verify_twice(&one, arena, &made);

    /* The key is gone. */
    struct process other = a_process(arena, path);
    struct made gone = made;
    gone.rules.keys = stranger.keys;
    assert_int_equal(verify(&other, arena, &gone, made.token), TOKEN_INVALID);
    /* Another key of the same kid. */
    struct key_set *same_kid = key_set_new(arena);
    struct signing_key *key;
    struct signing_key_pair pair;
    expect_ok(signing_key_generate(arena, &pair));
    expect_ok(signing_key_load_private(arena, signing_key_kid(made.key), pair.private_pem, &key));
    expect_ok(key_set_add(same_kid, key));
    gone.rules.keys = same_kid;
    assert_int_equal(verify(&other, arena, &gone, made.token), TOKEN_INVALID);
    /* Another issuer, another use, one more character. */
    gone = made;
    gone.rules.issuer = "https://elsewhere.test";
    assert_int_equal(verify(&other, arena, &gone, made.token), TOKEN_INVALID);
    gone = made;
    gone.rules.token_use = TOKEN_USE_ID;
    assert_int_equal(verify(&other, arena, &gone, made.token), TOKEN_INVALID);
    assert_int_equal(verify(&other, arena, &made, arena_format(arena, "%sA", made.token)), TOKEN_INVALID);
    assert_int_equal(hits(&other), 0);
    assert_int_equal(verify(&other, arena, &made, made.token), TOKEN_GOOD);
    assert_int_equal(hits(&other), 1);
    cache_free(&one.cache);
    cache_free(&other.cache);
}

static void bad_tokens_are_not_kept(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = arena_format(arena, "%s/cache", harness_directory(arena));
    struct process one = a_process(arena, path);
    struct made made = made_token(arena, 900);
    struct made expired = made_token(arena, 900);
    struct cache_entry *entries;
    expired.rules.now += 1000;
    assert_int_equal(verify(&one, arena, &expired, expired.token), TOKEN_EXPIRED);
    assert_int_equal(verify(&one, arena, &made, "a.b.c"), TOKEN_INVALID);
    assert_int_equal(cache_list(one.cache, arena, NULL, 10, &entries), 0);
    cache_free(&one.cache);
}

/* Two verify it before either shares it; the second finds what the first has stored. */
static void a_token_is_stored_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct host host = a_host(arena);
    assert_int_equal(verify(&host.one, arena, &host.made, host.made.token), TOKEN_GOOD);
    verify_twice(&host.other, arena, &host.made);
    verify_twice(&host.one, arena, &host.made);
    assert_int_equal(hits(&host.one), 1);
    assert_int_equal(shared(&host.one, arena), 1);
    end_host(&host);
}

/* What a process knows from before a change is not put back behind it, whoever has heard of the change. */
static void what_was_checked_before_a_change_is_not_shared_after_it(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = arena_format(arena, "%s/cache", harness_directory(arena));
    const struct cache_eviction eviction = {.version = 2, .flush = true};
    for (int who = 0; who < 3; who++) {
        struct process one = a_process(arena, path);
        struct process other = a_process(arena, path);
        struct made made = made_token(arena, 900);
        assert_int_equal(verify(&one, arena, &made, made.token), TOKEN_GOOD);
        cache_follow(who == 0 ? one.cache : other.cache, &eviction, 1, 2, false);
        if (who == 2)
            cache_follow(one.cache, &eviction, 1, 2, false);
        assert_int_equal(verify(&one, arena, &made, made.token), TOKEN_GOOD);
        assert_int_equal(token_memo_hits(one.memo), 1);
        assert_int_equal(shared(&one, arena), 0);
        cache_free(&one.cache);
        cache_free(&other.cache);
        assert_int_equal(unlink(path), 0);
    }
}

/* With the host's hints at hand nobody looks for what nobody has shared, and everybody finds what somebody has. */
static void what_was_never_shared_is_not_looked_for(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *problem = NULL;
    const char *path = arena_format(arena, "%s/cache", harness_directory(arena));
    struct process one = a_process(arena, path);
    struct process other = a_process(arena, path);
    struct made made = made_token(arena, 900);
    assert_true(host_process_open(arena_format(arena, "%s/metrics", harness_directory(arena)), &problem));
    assert_int_equal(verify(&one, arena, &made, made.token), TOKEN_GOOD);
    assert_int_equal(cache_counts(one.cache).misses, 0);
    assert_int_equal(verify(&one, arena, &made, made.token), TOKEN_GOOD);
    assert_int_equal(shared(&one, arena), 1);
    assert_int_equal(verify(&other, arena, &made, made.token), TOKEN_GOOD);
    assert_int_equal(hits(&other), 1);
    host_process_close();
    cache_free(&one.cache);
    cache_free(&other.cache);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_was_never_shared_is_not_looked_for),
    HARNESS_TEST(a_token_in_use_is_verified_once_for_all_processes),
    HARNESS_TEST(a_token_is_stored_once),
    HARNESS_TEST(what_was_checked_before_a_change_is_not_shared_after_it),
    HARNESS_TEST(what_is_found_is_checked_by_its_times),
    HARNESS_TEST(other_keys_other_rules_and_other_tokens_find_nothing),
    HARNESS_TEST(bad_tokens_are_not_kept),
};
HARNESS_MODULE(shared_token_cache, cases)
