/* SPDX-License-Identifier: MIT */
/*
 * Remembers verified tokens in a hash table where each token has two possible places. When both are taken, the new
 * token replaces one. Only good tokens are remembered, and tokens that share a place cost each other only a
 * verification now and then. (With one place each, 64 tokens held in every second trial two that displaced each other
 * every time.)
 *
 * The key of the table, the tag, is SipHash-2-4 with 128 bits under a random key of this process. Nobody outside can
 * compute the tag of a text, so a forged token has the tag of a remembered one only by chance, once in 2^128. SipHash
 * takes a tenth of the instructions of SHA-256, which were a sixth of a worker's work for a read. Only names that
 * processes share are made with SHA-256.
 */
#include <sodium.h>
#include <string.h>

#include "base/arena.h"
#include "base/host/hints.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "codec/digest.h"
#include "codec/random.h"
#include "codec/signing_key.h"
#include "codec/token.h"
#include "codec/token_int.h"

#define TAG_BYTES crypto_shorthash_siphashx24_BYTES

struct slot {
    bool used;
    uint8_t tag[TAG_BYTES];
    bool shared; /* the second memory has it, or was told to store it */
    uint64_t generation;
    int64_t at; /* at() of the second memory when this was verified */
    struct token_claims claims;
};

struct token_memo {
    unsigned char key[crypto_shorthash_siphashx24_KEYBYTES];
    struct digest *digest;
    uint64_t hits;
    const struct token_level *level;
    bool keys_known;
    uint64_t keys_generation; /* of the keys that `digest` belongs to */
    uint8_t keys[DIGEST_BYTES];
    struct slot slots[LIMIT_TOKEN_MEMO_SLOTS];
};

struct token_memo *token_memo_new(struct arena *arena)
{
    struct token_memo *memo = arena_alloc(arena, sizeof *memo);
    memo->digest = digest_open(arena);
    random_bytes(memo->key, sizeof memo->key);
    return memo;
}

/* Adds a text to the tag. Each text is hashed by itself, so that ("ab", "c") differs from ("a", "bc"). */
static void add(const struct token_memo *memo, const char *text, size_t length, uint8_t tag[TAG_BYTES])
{
    uint8_t both[2 * TAG_BYTES];
    memcpy(both, tag, TAG_BYTES);
    (void)crypto_shorthash_siphashx24(both + TAG_BYTES, (const unsigned char *)text, length, memo->key);
    (void)crypto_shorthash_siphashx24(tag, both, sizeof both, memo->key);
}

/* NULL counts as "". */
static void tag_text(const struct token_memo *memo, const char *text, uint8_t tag[TAG_BYTES])
{
    add(memo, text != NULL ? text : "", text != NULL ? strlen(text) : 0, tag);
}

/* The first of the two places of a token. A slot that remembers the token holds `tag_out`. */
static struct slot *places_of(struct token_memo *memo, const struct token_rules *rules, const char *text, size_t length,
                              uint8_t tag_out[TAG_BYTES])
{
    memset(tag_out, 0, TAG_BYTES);
    tag_text(memo, rules->issuer, tag_out);
    tag_text(memo, rules->audience, tag_out);
    tag_text(memo, rules->token_use, tag_out);
    tag_text(memo, rules->audience_claim, tag_out);
    tag_text(memo, rules->use_claim, tag_out);
    tag_text(memo, rules->session_claim, tag_out);
    for (const char *const *name = rules->session_names; name != NULL && *name != NULL; name++)
        tag_text(memo, *name, tag_out);
    add(memo, text, length, tag_out);
    uint32_t number;
    memcpy(&number, tag_out, sizeof number);
    return &memo->slots[number % (LIMIT_TOKEN_MEMO_SLOTS / 2) * 2];
}

static bool stands_in(const struct slot *slot, uint64_t generation, const uint8_t tag[TAG_BYTES])
{
    return slot->used && slot->generation == generation && sodium_memcmp(slot->tag, tag, TAG_BYTES) == 0;
}

/* The place for a new token: a free or outdated one, else one of the two. */
static struct slot *place_for(struct slot *places, uint64_t generation, const uint8_t tag[TAG_BYTES])
{
    for (size_t i = 0; i < 2; i++)
        if (!places[i].used || places[i].generation != generation)
            return &places[i];
    return &places[tag[TAG_BYTES - 1] & 1];
}

static enum token_result count(enum token_result result, enum metric good)
{
    metrics_add(result == TOKEN_GOOD ? good : METRIC_TOKEN_REFUSED, 1);
    return result;
}

/* ---- the second memory --------------------------------------------------------------------------- */

void token_memo_set_level(struct token_memo *memo, const struct token_level *level)
{
    memo->level = level;
}

static void know_keys(struct token_memo *memo, struct arena *arena, const struct key_set *keys)
{
    uint64_t generation = key_set_generation(keys);
    if (memo->keys_known && memo->keys_generation == generation)
        return;
    const char *json = key_set_json(arena, keys);
    digest_sha256(json, strlen(json), memo->keys);
    memo->keys_generation = generation;
    memo->keys_known = true;
}

/* The NUL separates neighbouring texts, so that ("ab", "c") differs from ("a", "bc"). NULL counts as "". */
static void add_text(struct digest *digest, const char *text)
{
    digest_update(digest, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1);
}

/* Generations and tags belong to one process. What processes share is named by the rules, the token and the keys. */
static void name_shared(struct token_memo *memo, struct arena *arena, const struct token_rules *rules, const char *text,
                        size_t length, uint8_t name_out[DIGEST_BYTES])
{
    uint8_t digest[DIGEST_BYTES];
    know_keys(memo, arena, rules->keys);
    add_text(memo->digest, rules->issuer);
    add_text(memo->digest, rules->audience);
    add_text(memo->digest, rules->token_use);
    add_text(memo->digest, rules->audience_claim);
    add_text(memo->digest, rules->use_claim);
    add_text(memo->digest, rules->session_claim);
    for (const char *const *name = rules->session_names; name != NULL && *name != NULL; name++)
        add_text(memo->digest, *name);
    digest_update(memo->digest, text, length);
    digest_final(memo->digest, digest);
    digest_update(memo->digest, digest, DIGEST_BYTES);
    digest_update(memo->digest, memo->keys, DIGEST_BYTES);
    digest_final(memo->digest, name_out);
}

/*
 * FNV-1a over the end of the signature: a hint whether another process has shared the token, without a system call. A
 * forger who copies that end causes one look-up that finds nothing.
 */
static uint64_t hint_of(const char *text, size_t length)
{
    enum { TAIL = 24 };
    uint64_t value = UINT64_C(14695981039346656037);
    for (size_t i = length > TAIL ? length - TAIL : 0; i < length; i++)
        value = (value ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return value;
}

/* Checks the times of a remembered token. */
static enum token_result check_known(const struct token_rules *rules, const struct token_claims *claims,
                                     struct token_claims *claims_out, const char **reason_out)
{
    const char *reason = NULL;
    enum token_result result = token_check_times(rules, claims, &reason);
    if (result == TOKEN_GOOD)
        *claims_out = *claims;
    if (reason_out != NULL)
        *reason_out = reason;
    return result;
}

/* token_verify() behind the second memory. `fresh` is the slot that the first one is to remember. */
static enum token_result verify_shared(struct token_memo *memo, struct arena *arena, const struct token_rules *rules,
                                       const char *text, size_t length, struct slot *fresh, const char **reason_out)
{
    const struct token_level *level = memo->level;
    uint8_t name[DIGEST_BYTES];
    struct token_claims claims;
    if (level == NULL)
        return token_verify(arena, rules, text, length, &fresh->claims, reason_out);
    fresh->at = level->at(level->context);
    if (host_hints_has(hint_of(text, length))) {
        name_shared(memo, arena, rules, text, length, name);
        fresh->shared = level->find(level->context, arena, name, &claims);
    }
    return fresh->shared ? check_known(rules, &claims, &fresh->claims, reason_out)
                         : token_verify(arena, rules, text, length, &fresh->claims, reason_out);
}

/* A good token that is met again is in use. Now it is stored in the second memory, once. */
static void share(struct token_memo *memo, struct arena *arena, const struct token_rules *rules, const char *text,
                  size_t length, struct slot *slot)
{
    const struct token_level *level = memo->level;
    int64_t seconds = slot->claims.expires_at - rules->now + rules->leeway;
    uint8_t name[DIGEST_BYTES];
    struct token_claims claims;
    if (level == NULL || slot->shared)
        return;
    slot->shared = true;
    name_shared(memo, arena, rules, text, length, name);
    if (!level->find(level->context, arena, name, &claims))
        level->keep(level->context, name, &slot->claims, seconds, slot->at);
    host_hints_put(hint_of(text, length));
}

enum token_result token_memo_verify(struct token_memo *memo, struct arena *arena, const struct token_rules *rules,
                                    const char *text, size_t length, struct token_claims *claims_out,
                                    const char **reason_out)
{
    /* Too long for a token, so it is not even hashed. */
    if (length > LIMIT_TOKEN_BYTES)
        return count(token_verify(arena, rules, text, length, claims_out, reason_out), METRIC_TOKEN_VERIFIED);
    uint8_t tag[TAG_BYTES];
    struct slot *places = places_of(memo, rules, text, length, tag);
    uint64_t generation = key_set_generation(rules->keys);
    struct slot *slot = stands_in(&places[0], generation, tag) ? &places[0] : &places[1];
    if (stands_in(slot, generation, tag)) {
        enum token_result result = check_known(rules, &slot->claims, claims_out, reason_out);
        memo->hits++;
        if (result == TOKEN_GOOD)
            share(memo, arena, rules, text, length, slot);
        return count(result, METRIC_TOKEN_MEMO);
    }
    struct slot fresh = {.used = true, .generation = generation};
    enum token_result result = verify_shared(memo, arena, rules, text, length, &fresh, reason_out);
    if (result == TOKEN_GOOD) {
        memcpy(fresh.tag, tag, sizeof tag);
        *claims_out = fresh.claims;
        *place_for(places, generation, tag) = fresh;
    }
    return count(result, METRIC_TOKEN_VERIFIED);
}

void token_memo_forget_all(struct token_memo *memo)
{
    memset(memo->slots, 0, sizeof memo->slots);
}

uint64_t token_memo_hits(const struct token_memo *memo)
{
    return memo->hits;
}
