/* SPDX-License-Identifier: MIT */
/*
 * JSON Web Tokens (RFC 7519) in the one form the house takes: compact, RS256, header {alg, typ, kid}.
 *
 * Issuing goes through the JWT library. Verifying does not: that library takes the algorithm from the token
 * (one signed with our *public* PEM as an HMAC secret passes), reads claims of the wrong type as 0, and
 * accepts many spellings of one token. Here a text is judged in this order, and the first fault ends it:
 * length; two dots; canonical base64url; header members, algorithm and kid; the signature (the only costly
 * step, one RSA verification at most); the claims by the strict reader of codec/document.h; last of all the
 * expiry, so that "expired" is said only of a token that was ours in every other respect.
 *
 * Whether the token's user and session still stand is not decided here but with the user's row.
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

/* What a token of ours says. Times are seconds since 1970. */
struct token_content {
    const char *issuer;
    const char *audience;
    const char *token_use; /* TOKEN_USE_ACCESS or TOKEN_USE_ID */
    struct id subject;     /* claim sub: the account */
    struct id session;     /* claim sid: the login the token belongs to */
    int64_t issued_at;
    int64_t expires_at;
    const char *email; /* these three only where email is not NULL (id tokens) */
    bool email_verified;
    const char *permissions; /* claim custom:permissions; NULL leaves it out */
};

/*
 * Signs a token with a private key: header {alg, typ, kid}, claims iss, sub, aud, exp, iat, jti (a new id),
 * sid and token_use, and those of id tokens. INTERNAL when the library fails, the key cannot sign, or the
 * text would be over LIMIT_TOKEN_BYTES.
 */
struct error *token_issue(struct arena *arena, const struct signing_key *key,
                          const struct token_content *content, char **token_out);

enum token_result {
    TOKEN_INVALID,
    TOKEN_EXPIRED, /* ours in every respect, but its time is over */
    TOKEN_GOOD
};

/* What is asked of a token. The texts are compared byte for byte. */
struct token_rules {
    const struct key_set *keys;
    const char *issuer;
    const char *audience;      /* in aud (a text or texts) or client_id; where both stand, both must hold */
    const char *audience_claim; /* NULL: as above; else this claim alone tells, as a text ("azp") */
    const char *token_use;     /* TOKEN_USE_ACCESS opens the API */
    const char *use_claim;     /* the claim that says so; NULL: token_use */
    const char *session_claim; /* which claim must hold the session's id ("sid"); NULL: none */
    /*
     * Of an outside issuer, whose sessions have names of any form: claims, ended by NULL, of which the first that a token
     * has names the session; one must be there. NULL: session_claim tells.
     */
    const char *const *session_names;
    int64_t leeway;            /* seconds by which clocks may differ, LIMIT_TOKEN_LEEWAY_SECONDS */
    int64_t now;               /* seconds since 1970 */
};

/* The reason of a token whose kid is none of the keys': it may be signed by a key made since they were read. */
#define TOKEN_UNKNOWN_KEY "unknown kid"

/* What a good token says. */
struct token_claims {
    struct id subject;
    /*
     * None (id_is_none()) where the rules ask for no session claim. With session_names: the first 16 bytes of the SHA-256
     * of the issuer, a line end and the name.
     */
    struct id session;
    int64_t issued_at;
    int64_t expires_at;
    int64_t not_before; /* issued_at where the token has no nbf */
    int64_t signed_in_at; /* auth_time: when whoever it is showed the password; 0: the token does not say */
};

/* The id of a session that an outside issuer calls by that name: see session of struct token_claims. */
struct id token_session(struct arena *arena, const char *issuer, const char *name);

/*
 * Judges a text. Only TOKEN_GOOD fills *claims_out. *reason_out (may be NULL) becomes a literal fit for the
 * log that says what was wrong, or NULL with TOKEN_GOOD; it never holds anything of the token.
 */
enum token_result token_verify(struct arena *arena, const struct token_rules *rules, const char *text,
                               size_t length, struct token_claims *claims_out, const char **reason_out);

/*
 * A memory of verified tokens, LIMIT_TOKEN_MEMO_SLOTS of them, by a keyed hash of the rules' texts and the
 * token's: what was good is known again without an RSA verification. Its times are judged at every use all
 * the same, and an entry made under another key set generation does not count. Lives as long as the arena
 * (the process's own).
 */
struct token_memo *token_memo_new(struct arena *arena);

/*
 * token_verify() with the memory in front of it; bad tokens are not remembered, so they cannot push good ones
 * out.
 */
enum token_result token_memo_verify(struct token_memo *memo, struct arena *arena,
                                    const struct token_rules *rules, const char *text, size_t length,
                                    struct token_claims *claims_out, const char **reason_out);

/*
 * A second memory behind the first, which the processes of a host share. `name` stands for the token, the rules' texts and
 * the keys (their kids and their values), so what was verified under other keys is not found; no token can be read from it.
 * Whatever is found has its times judged as ever.
 *
 * It is given a token when the first memory meets it again, and asked for those that the first memory has not and some
 * process may have given (host_hints_has()): a token that is used once costs nothing here. So an older judgement is handed
 * over, with what at() said when it was made; keep() takes nothing in that has been told to forget since.
 */
struct token_level {
    bool (*find)(void *context, struct arena *arena, const uint8_t name[32], struct token_claims *claims_out);
    void (*keep)(void *context, const uint8_t name[32], const struct token_claims *claims, int64_t seconds, int64_t at);
    int64_t (*at)(void *context);
    void *context;
};

/* `level` must live as long as the memory; NULL: none. */
void token_memo_set_level(struct token_memo *memo, const struct token_level *level);

/* Forgets everything of the first memory, for instance when signing keys were rotated. */
void token_memo_forget_all(struct token_memo *memo);

/* How many verifications the memory has saved; for metrics and tests. */
uint64_t token_memo_hits(const struct token_memo *memo);

#endif
