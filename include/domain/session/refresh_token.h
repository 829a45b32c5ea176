/* SPDX-License-Identifier: MIT */
/*
 * Refresh tokens as clients hold them, with every provider: 256 bits that nobody can guess, of which only the SHA-256
 * is stored.
 *
 * The first use of a token spends it and makes its one successor (rotation). Two windows of one client may send the
 * same token at the same time. So for a grace of some seconds after the first use the token is answered with that same
 * successor. A spent token that comes later has been copied, and nobody knows by whom: the whole session ends. A thief
 * who is quick gets the successor of the owner, no line of tokens of his own. Of the two, one uses the successor first;
 * when the other uses it after the grace, the session ends.
 *
 * The database holds no token, so a successor must be made again from what is there:
 *
 *     successor = HMAC-SHA-256(the service's secret, label | salt | the token that was sent)
 *
 * The salt is random, made at the first use and kept beside the digest of the spent token. Whoever reads the database
 * lacks the token and the secret. Whoever has the secret and an old token lacks the salt. Whoever has a token alone can
 * only ask the service. A process that dies between commit and reply loses nothing: the client sends its token again.
 *
 * A session has at most LIMIT_REFRESH_TOKENS tokens, which `generation` numbers; the last one is answered with none. No
 * row goes before the session does: a thief who refreshes thousands of times would make the owner's token unknown, and
 * its late use would not end the session.
 */
#ifndef GATEHOUSE_DOMAIN_ACCOUNT_REFRESH_TOKEN_H
#define GATEHOUSE_DOMAIN_ACCOUNT_REFRESH_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/secret.h"
#include "codec/digest.h"

struct arena;
struct database;
struct error;

/* What the rows say of a token that a client sent. */
struct refresh_token {
    struct id session;
    struct id user;
    int64_t session_ends; /* seconds since 1970 */
    bool spent;
    bool in_grace; /* spent, but a moment ago */
    int64_t generation;
    const unsigned char *salt; /* of the successor; NULL: there is none, or an earlier release made it */
};

/*
 * Makes a new token that follows no other; its text is in the arena, its digest is what refresh_token_insert() stores.
 */
const char *refresh_token_new(struct arena *arena, unsigned char hash_out[DIGEST_BYTES]);

/* The digest of a token that was sent; false when it cannot be one. */
bool refresh_token_hash(const char *token, unsigned char hash_out[DIGEST_BYTES]);

/* Whether a token that was sent, spent or not, belongs to a session whose tokens are in a cookie. */
struct error *refresh_token_is_in_cookie(struct database *database, struct arena *arena, const char *token,
                                         bool *in_cookie_out);

/* Adds the first token of a session. */
struct error *refresh_token_insert(struct database *database, struct arena *arena,
                                   const unsigned char hash[DIGEST_BYTES], struct id session);

/*
 * Finds a token of an open session and locks both rows until the transaction ends. Of several requests with the same
 * token each sees what the one before did, and whoever ends the session meanwhile waits or was first. The token is in
 * its grace until `grace_seconds` after its first use. *found_out is false when there is none.
 */
struct error *refresh_token_hold(struct database *database, struct arena *arena, const unsigned char hash[DIGEST_BYTES],
                                 int64_t grace_seconds, struct refresh_token *token_out, bool *found_out);

/*
 * Gives the successor of `presented`, the text of a token that refresh_token_hold() has found in this transaction. An
 * unspent one is spent, and the successor's row is added. For a spent one nothing is written; whether it is in its
 * grace is for the caller to decide. *successor_out is NULL when the successor cannot be told (an earlier release made
 * it, or the service's secret is another now), and for the last token that a session may have, which stays unspent.
 * INTERNAL when `master` is too short.
 */
struct error *refresh_token_rotate(struct database *database, struct arena *arena, struct secret master,
                                   const struct refresh_token *token, const char *presented,
                                   const char **successor_out);

/*
 * Deletes refresh tokens, each as part of a transaction: those of one session of the user; those of the user's open
 * sessions but `kept` (zeros: of all); those of the user's ended sessions; all of the user's.
 */
struct error *refresh_token_delete_session(struct database *database, struct arena *arena, struct id session,
                                           struct id user);
struct error *refresh_token_delete_others(struct database *database, struct arena *arena, struct id user,
                                          struct id kept);
struct error *refresh_token_delete_ended(struct database *database, struct arena *arena, struct id user);
struct error *refresh_token_delete_user(struct database *database, struct arena *arena, struct id user);

/* Deletes the tokens of sessions that have expired, in portions, so that no statement runs into its time-out. */
struct error *refresh_token_tidy(struct database *database, struct arena *arena);

#endif
