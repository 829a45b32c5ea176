/* SPDX-License-Identifier: MIT */
/*
 * A table with one place for each digest: a token that falls on another's place takes it over. Only good
 * tokens are remembered, and two tokens that share a place only cost each other a verification now and then.
 */
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "codec/digest.h"
#include "codec/signing_key.h"
#include "codec/token.h"
#include "token_int.h"

struct slot {
    bool used;
    uint8_t digest[DIGEST_BYTES];
    uint64_t generation;
    struct token_claims claims;
};

struct token_memo {
    struct digest *digest;
    uint64_t hits;
    const struct token_level *level;
    bool keys_known;
    uint64_t keys_generation;     /* of the keys whose digest this is */
    uint8_t keys[DIGEST_BYTES];
    struct slot slots[LIMIT_TOKEN_MEMO_SLOTS];
};

struct token_memo *token_memo_new(struct arena *arena)
{
    struct token_memo *memo = arena_alloc(arena, sizeof *memo);
    memo->digest = digest_open(arena);
    return memo;
}

/* The NUL keeps neighbouring texts apart: ("ab", "c") is not ("a", "bc"). NULL counts as "". */
static void add_text(struct digest *digest, const char *text)
{
    digest_update(digest, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1);
}

static struct slot *place_of(struct token_memo *memo, const struct token_rules *rules, const char *text,
                             size_t length, uint8_t digest_out[DIGEST_BYTES])
{
    add_text(memo->digest, rules->issuer);
    add_text(memo->digest, rules->audience);
    add_text(memo->digest, rules->token_use);
    add_text(memo->digest, rules->audience_claim);
    add_text(memo->digest, rules->use_claim);
    add_text(memo->digest, rules->session_claim);
    for (const char *const *name = rules->session_names; name != NULL && *name != NULL; name++)
        add_text(memo->digest, *name);
    digest_update(memo->digest, text, length);
    digest_final(memo->digest, digest_out);
    uint32_t number;
    memcpy(&number, digest_out, sizeof number);
    return &memo->slots[number % LIMIT_TOKEN_MEMO_SLOTS];
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

/* Generations are each process's own; what processes share is named by what the keys are. */
static void name_shared(struct token_memo *memo, struct arena *arena, const struct token_rules *rules,
                        const uint8_t digest[DIGEST_BYTES], uint8_t name_out[DIGEST_BYTES])
{
    uint64_t generation = key_set_generation(rules->keys);
    if (!memo->keys_known || memo->keys_generation != generation) {
        const char *keys = key_set_json(arena, rules->keys);
        digest_sha256(keys, strlen(keys), memo->keys);
        memo->keys_generation = generation;
        memo->keys_known = true;
    }
    digest_update(memo->digest, digest, DIGEST_BYTES);
    digest_update(memo->digest, memo->keys, DIGEST_BYTES);
    digest_final(memo->digest, name_out);
}

/* token_verify() behind the second memory. */
static enum token_result verify_shared(struct token_memo *memo, struct arena *arena, const struct token_rules *rules,
                                       const char *text, size_t length, const uint8_t digest[DIGEST_BYTES],
                                       struct token_claims *claims_out, const char **reason_out)
{
    uint8_t name[DIGEST_BYTES];
    struct token_claims claims;
    if (memo->level == NULL)
        return token_verify(arena, rules, text, length, claims_out, reason_out);
    name_shared(memo, arena, rules, digest, name);
    if (memo->level->find(memo->level->context, arena, name, &claims)) {
        const char *reason = NULL;
        enum token_result result = token_judge_times(rules, &claims, &reason);
        if (result == TOKEN_GOOD)
            *claims_out = claims;
        if (reason_out != NULL)
            *reason_out = reason;
        return result;
    }
    enum token_result result = token_verify(arena, rules, text, length, claims_out, reason_out);
    int64_t seconds = result == TOKEN_GOOD ? claims_out->expires_at - rules->now + rules->leeway : 0;
    if (seconds > 0)
        memo->level->keep(memo->level->context, name, claims_out, seconds);
    return result;
}

enum token_result token_memo_verify(struct token_memo *memo, struct arena *arena,
                                    const struct token_rules *rules, const char *text, size_t length,
                                    struct token_claims *claims_out, const char **reason_out)
{
    /* Too long for a token: not worth hashing either. */
    if (length > LIMIT_TOKEN_BYTES)
        return count(token_verify(arena, rules, text, length, claims_out, reason_out), METRIC_TOKEN_VERIFIED);
    uint8_t digest[DIGEST_BYTES];
    struct slot *slot = place_of(memo, rules, text, length, digest);
    uint64_t generation = key_set_generation(rules->keys);
    if (slot->used && slot->generation == generation && digest_equal(slot->digest, digest)) {
        const char *reason = NULL;
        enum token_result result = token_judge_times(rules, &slot->claims, &reason);
        memo->hits++;
        if (result == TOKEN_GOOD)
            *claims_out = slot->claims;
        if (reason_out != NULL)
            *reason_out = reason;
        return count(result, METRIC_TOKEN_MEMO);
    }
    enum token_result result = verify_shared(memo, arena, rules, text, length, digest, claims_out, reason_out);
    if (result == TOKEN_GOOD) {
        *slot = (struct slot){.used = true, .generation = generation, .claims = *claims_out};
        memcpy(slot->digest, digest, sizeof digest);
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
