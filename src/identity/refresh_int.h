/* SPDX-License-Identifier: MIT */
/*
 * Refresh tokens as clients hold them, with every provider: 256 random bits, of which only the SHA-256 is stored.
 *
 * Each use spends a token and gives a new one (rotation). A spent token that comes back has been copied, by
 * whom is not known, so the whole session ends. Honest clients do send one token twice at the same time, when
 * two windows wake up; hence the grace: within REFRESH_GRACE_SECONDS of being spent a token gives tokens of the same
 * session once more.
 */
#ifndef GATEHOUSE_IDENTITY_REFRESH_INT_H
#define GATEHOUSE_IDENTITY_REFRESH_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "codec/digest.h"

#define REFRESH_GRACE_SECONDS 10

struct arena;
struct database;
struct error;

/* What a token that somebody sent is. */
struct refresh_token {
    struct id session;
    struct id user;
    int64_t session_ends; /* seconds since 1970 */
    bool spent;
    bool in_grace; /* spent, but a moment ago */
};

/* A new token; its digest is what refresh_insert() stores. */
const char *refresh_new(struct arena *arena, unsigned char hash_out[DIGEST_BYTES]);

/* The digest of a token that was sent; false when it cannot be one. */
bool refresh_hash(const char *token, unsigned char hash_out[DIGEST_BYTES]);

struct error *refresh_insert(struct database *database, struct arena *arena, const unsigned char hash[DIGEST_BYTES],
                             struct id session);

/*
 * Finds a token of a session that stands and locks both rows until the transaction ends: of those who bring the same token
 * at once, each sees what the one before did, and whoever ends the session meanwhile waits or has been first.
 * *found_out is false when there is none.
 */
struct error *refresh_hold(struct database *database, struct arena *arena, const unsigned char hash[DIGEST_BYTES],
                           struct refresh_token *token_out, bool *found_out);

/* Marks it as spent now, unless it was before; part of a transaction. */
struct error *refresh_spend(struct database *database, struct arena *arena, const unsigned char hash[DIGEST_BYTES]);

/* Drops the tokens of sessions whose time is over, in portions, so that no statement runs into its time-out. */
struct error *refresh_tidy(struct database *database, struct arena *arena);

#endif
