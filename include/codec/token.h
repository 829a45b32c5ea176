/* SPDX-License-Identifier: MIT */
/*
 * JSON Web Tokens (RFC 7519) in the only form that the service accepts: compact, RS256, header {alg, typ, kid}.
 *
 * The JWT library issues tokens, but it does not verify them: it takes the algorithm from the token (so one signed with
 * the *public* PEM as an HMAC secret passes), reads claims of the wrong type as 0, and accepts many spellings of one
 * token. So this module verifies by itself, in this order, and the first fault ends it: length; two dots; canonical
 * base64url; header members, algorithm and kid; the signature (the only costly step, at most one RSA verification); the
 * claims, read by the strict reader of codec/document.h; and last the expiry, so that only a token that is genuine in
 * every other respect is called expired.
 *
 * Whether the token's user and session are still active is decided later, with the user's row.
 */
#ifndef GATEHOUSE_CODEC_TOKEN_H
#define GATEHOUSE_CODEC_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct error;
struct key_set;
struct signing_key;
struct token_memo;

#define TOKEN_USE_ACCESS "access"
#define TOKEN_USE_ID "id"

/* The claims of a token that the service issues. Times are seconds since 1970. */
struct token_content {
    const char *issuer;
    const char *audience;
    const char *token_use; /* TOKEN_USE_ACCESS or TOKEN_USE_ID */
    struct id subject;     /* claim sub: the account */
    struct id session;     /* claim sid: the session that the token belongs to */
    int64_t issued_at;
    int64_t expires_at;
    const char *email; /* these three only where email is not NULL (ID tokens) */
    bool email_verified;
    const char *permissions; /* claim custom:permissions; NULL leaves it out */
};

/*
 * Signs a token with a private key: header {alg, typ, kid}, claims iss, sub, aud, exp, iat, jti (a new id),
 * sid and token_use, and those of id tokens. INTERNAL when the library fails, the key cannot sign, or the
 * text would be over LIMIT_TOKEN_BYTES.
 */
struct error *token_issue(struct arena *arena, const struct signing_key *key, const struct token_content *content,
                          char **token_out);

enum token_result {
    TOKEN_INVALID,
    TOKEN_EXPIRED, /* genuine, but expired */
    TOKEN_GOOD
};

/* What a token must fulfil. The texts are compared byte for byte. */
struct token_rules {
    const struct key_set *keys;
    const char *issuer;
    const char *audience;       /* in aud (a text or texts) or client_id; where a token has both, both must match */
    const char *audience_claim; /* NULL: as above; else only this claim is read, as a text ("azp") */
    const char *token_use;      /* TOKEN_USE_ACCESS opens the API */
    const char *use_claim;      /* the claim that holds it; NULL: token_use */
    const char *session_claim;  /* the claim that must hold the session's id ("sid"); NULL: none */
    /*
     * For a remote issuer, whose sessions have names of any form: claims, ended by NULL. The first of them that a token
     * has names the session, and a token must have one. NULL: session_claim is used.
     */
    const char *const *session_names;
    int64_t leeway; /* seconds by which clocks may differ, LIMIT_TOKEN_LEEWAY_SECONDS */
    int64_t now;    /* seconds since 1970 */
};

/*
 * The reason when a token's kid belongs to none of the keys: it may be signed by a key that was made after they were
 * read.
 */
#define TOKEN_UNKNOWN_KEY "unknown kid"

/* The claims of a good token. */
struct token_claims {
    struct id subject;
    /*
     * None (id_is_none()) where the rules ask for no session claim. With session_names: the first 16 bytes of the
     * SHA-256 of the issuer, a line end and the name.
     */
    struct id session;
    int64_t issued_at;
    int64_t expires_at;
    int64_t not_before;   /* issued_at where the token has no nbf */
    int64_t signed_in_at; /* auth_time: when the user proved the password; 0: the token does not say */
};

/* The id of a session that a remote issuer calls by that name: see `session` of struct token_claims. */
struct id token_session(struct arena *arena, const char *issuer, const char *name);

/*
 * Verifies a text. Only TOKEN_GOOD fills *claims_out. *reason_out (may be NULL) becomes a literal for the log that says
 * what was wrong, or NULL with TOKEN_GOOD; it never holds a part of the token.
 */
enum token_result token_verify(struct arena *arena, const struct token_rules *rules, const char *text, size_t length,
                               struct token_claims *claims_out, const char **reason_out);

/*
 * A memory of verified tokens, LIMIT_TOKEN_MEMO_SLOTS of them, found by a keyed hash of the rules' texts and the token.
 * A remembered token needs no RSA verification. Its times are checked at every use all the same, and an entry that was
 * made under another generation of the key set does not count. Lives as long as the arena (the process's own).
 */
struct token_memo *token_memo_new(struct arena *arena);

/* token_verify() with the memory in front of it. Bad tokens are not remembered, so they cannot displace good ones. */
enum token_result token_memo_verify(struct token_memo *memo, struct arena *arena, const struct token_rules *rules,
                                    const char *text, size_t length, struct token_claims *claims_out,
                                    const char **reason_out);

/*
 * A second memory behind the first, which the processes of a host share. `name` stands for the token, the rules' texts
 * and the keys (their kids and their values). So a token that was verified under other keys is not found, and no token
 * can be read from a name. The times of what is found are checked as always.
 *
 * A token is stored there when the first memory meets it for the second time, so a token that is used once costs
 * nothing. The second memory is asked only for a token that the first does not have and that some process may have
 * stored (host_hints_has()). So a result may be stored later than it was verified: it is handed over with what at()
 * said when it was made, and keep() stores nothing that is older than the last order to forget.
 */
struct token_level {
    bool (*find)(void *context, struct arena *arena, const uint8_t name[32], struct token_claims *claims_out);
    void (*keep)(void *context, const uint8_t name[32], const struct token_claims *claims, int64_t seconds, int64_t at);
    int64_t (*at)(void *context);
    void *context;
};

/* Sets the second memory. `level` must live as long as the first; NULL: none. */
void token_memo_set_level(struct token_memo *memo, const struct token_level *level);

/* Empties the first memory, for instance after signing keys were rotated. */
void token_memo_forget_all(struct token_memo *memo);

/* How many verifications the memory has saved; for metrics and tests. */
uint64_t token_memo_hits(const struct token_memo *memo);

#endif
