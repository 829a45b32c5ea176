/* SPDX-License-Identifier: MIT */
/* Verifies access tokens, in the order that codec/token.h gives. */
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "codec/digest.h"
#include "codec/document.h"
#include "codec/encoding.h"
#include "codec/signing_key.h"
#include "codec/token.h"
#include "codec/token_int.h"

/* A header {alg, typ, kid} with the longest kid needs some 160 characters. */
#define HEADER_CHARACTERS 512

/* 9999-12-31T23:59:59Z: later times are refused. */
#define LAST_SECOND INT64_C(253402300799)

struct part {
    const char *text;
    size_t length;
};

struct parts {
    struct part header;
    struct part payload;
    struct part signature;
    struct part signed_text; /* header and payload with the dot between them */
};

/* Each step returns NULL, or what is wrong as a literal for the log. */

static const char *split(const char *text, size_t length, struct parts *parts)
{
    if (length == 0 || length > LIMIT_TOKEN_BYTES)
        return "length";
    const char *end = text + length;
    const char *first = memchr(text, '.', length);
    if (first == NULL)
        return "no dot";
    const char *second = memchr(first + 1, '.', (size_t)(end - first) - 1);
    if (second == NULL)
        return "one dot";
    if (memchr(second + 1, '.', (size_t)(end - second) - 1) != NULL)
        return "over two dots";
    parts->header = (struct part){text, (size_t)(first - text)};
    parts->payload = (struct part){first + 1, (size_t)(second - first) - 1};
    parts->signature = (struct part){second + 1, (size_t)(end - second) - 1};
    parts->signed_text = (struct part){text, (size_t)(second - text)};
    if (parts->header.length == 0 || parts->payload.length == 0 || parts->signature.length == 0)
        return "empty part";
    return parts->header.length > HEADER_CHARACTERS ? "header length" : NULL;
}

/* A part that is one JSON object in canonical base64url. */
static const struct document *read_object(struct arena *arena, struct part part, const char **reason_out)
{
    unsigned char *bytes;
    size_t length;
    if (!base64url_decode(arena, part.text, part.length, &bytes, &length)) {
        *reason_out = "base64url";
        return NULL;
    }
    struct document *document = NULL;
    if (document_parse(arena, (const char *)bytes, length, &document) != NULL) {
        *reason_out = "json";
        return NULL;
    }
    if (document_kind(document) != DOCUMENT_OBJECT) {
        *reason_out = "not an object";
        return NULL;
    }
    return document;
}

static bool is_text(const struct document *value, const char *wanted)
{
    const char *text = document_text(value);
    return text != NULL && strcmp(text, wanted) == 0;
}

/*
 * The key that the header names. alg is fixed, and no header member is accepted that would change the meaning of the
 * rest.
 */
static const char *check_header(const struct document *header, const struct token_rules *rules,
                                const struct signing_key **key_out)
{
    for (const struct document *member = document_first(header); member != NULL; member = document_next(member)) {
        const char *name = document_name(member);
        if (strcmp(name, "alg") != 0 && strcmp(name, "typ") != 0 && strcmp(name, "kid") != 0)
            return "header member";
    }
    if (!is_text(document_member(header, "alg"), "RS256"))
        return "alg";
    const struct document *type = document_member(header, "typ");
    if (type != NULL && !is_text(type, "JWT"))
        return "typ";
    const char *kid = document_text(document_member(header, "kid"));
    if (kid == NULL)
        return "no kid";
    *key_out = key_set_find(rules->keys, kid, strlen(kid));
    return *key_out == NULL ? TOKEN_UNKNOWN_KEY : NULL;
}

static const char *verify_signature(struct arena *arena, const struct parts *parts, const struct signing_key *key)
{
    unsigned char *signature;
    size_t length;
    if (!base64url_decode(arena, parts->signature.text, parts->signature.length, &signature, &length))
        return "signature base64url";
    bool genuine = signing_key_verify(key, parts->signed_text.text, parts->signed_text.length, signature, length);
    return genuine ? NULL : "signature";
}

/* aud is a text or an array of texts (RFC 7519, section 4.1.3). */
static bool audience_holds(const struct document *audience, const char *wanted)
{
    if (document_kind(audience) != DOCUMENT_ARRAY)
        return is_text(audience, wanted);
    bool found = false;
    for (const struct document *one = document_first(audience); one != NULL; one = document_next(one)) {
        if (document_text(one) == NULL)
            return false;
        found = found || is_text(one, wanted);
    }
    return found;
}

static const char *check_audience(const struct document *payload, const struct token_rules *rules)
{
    if (rules->audience_claim != NULL)
        return is_text(document_member(payload, rules->audience_claim), rules->audience) ? NULL : rules->audience_claim;
    const struct document *audience = document_member(payload, "aud");
    const struct document *client = document_member(payload, "client_id");
    if (audience == NULL && client == NULL)
        return "no aud or client_id";
    if (audience != NULL && !audience_holds(audience, rules->audience))
        return "aud";
    return client != NULL && !is_text(client, rules->audience) ? "client_id" : NULL;
}

static bool read_time(const struct document *value, int64_t *time_out)
{
    int64_t time;
    if (!document_integer(value, &time) || time < 0 || time > LAST_SECOND)
        return false;
    *time_out = time;
    return true;
}

static const char *read_times(const struct document *payload, struct token_claims *claims)
{
    if (!read_time(document_member(payload, "exp"), &claims->expires_at))
        return "exp";
    if (!read_time(document_member(payload, "iat"), &claims->issued_at))
        return "iat";
    claims->not_before = claims->issued_at;
    const struct document *not_before = document_member(payload, "nbf");
    if (not_before != NULL && !read_time(not_before, &claims->not_before))
        return "nbf";
    const struct document *signed_in = document_member(payload, "auth_time");
    if (signed_in != NULL && !read_time(signed_in, &claims->signed_in_at))
        return "auth_time";
    return claims->expires_at <= claims->issued_at ? "exp before iat" : NULL;
}

static bool read_id(const struct document *value, struct id *id_out)
{
    const char *text = document_text(value);
    return text != NULL && id_parse(text, id_out) && !id_is_none(*id_out);
}

struct id token_session(struct arena *arena, const char *issuer, const char *name)
{
    uint8_t digest[DIGEST_BYTES];
    struct id session;
    const char *text = arena_format(arena, "%s\n%s", issuer, name);
    digest_sha256(text, strlen(text), digest);
    memcpy(session.bytes, digest, sizeof session.bytes);
    return session;
}

/* Whether the token names its session as the rules ask. */
static bool read_session(struct arena *arena, const struct document *payload, const struct token_rules *rules,
                         struct id *session_out)
{
    const struct document *name = NULL;
    if (rules->session_names == NULL)
        return rules->session_claim == NULL || read_id(document_member(payload, rules->session_claim), session_out);
    for (const char *const *claim = rules->session_names; name == NULL && *claim != NULL; claim++)
        name = document_member(payload, *claim);
    const char *text = document_text(name);
    if (text == NULL || *text == '\0')
        return false;
    *session_out = token_session(arena, rules->issuer, text);
    return true;
}

static const char *read_claims(struct arena *arena, const struct document *payload, const struct token_rules *rules,
                               struct token_claims *claims)
{
    if (!is_text(document_member(payload, "iss"), rules->issuer))
        return "iss";
    const char *wrong = check_audience(payload, rules);
    if (wrong != NULL)
        return wrong;
    if (!is_text(document_member(payload, rules->use_claim != NULL ? rules->use_claim : "token_use"), rules->token_use))
        return "token_use";
    if (!read_id(document_member(payload, "sub"), &claims->subject))
        return "sub";
    if (!read_session(arena, payload, rules, &claims->session))
        return "session";
    return read_times(payload, claims);
}

enum token_result token_check_times(const struct token_rules *rules, const struct token_claims *claims,
                                    const char **reason_out)
{
    /* None of these overflows, since times end with the year 9999. */
    if (claims->issued_at > rules->now + rules->leeway) {
        *reason_out = "iat in the future";
        return TOKEN_INVALID;
    }
    if (claims->not_before > rules->now + rules->leeway) {
        *reason_out = "nbf in the future";
        return TOKEN_INVALID;
    }
    if (claims->expires_at <= rules->now - rules->leeway) {
        *reason_out = "expired";
        return TOKEN_EXPIRED;
    }
    return TOKEN_GOOD;
}

/* Everything but the times; NULL when the token is genuine. */
static const char *verify_text(struct arena *arena, const struct token_rules *rules, struct part text,
                               struct token_claims *claims)
{
    struct parts parts;
    const char *wrong = split(text.text, text.length, &parts);
    if (wrong != NULL)
        return wrong;
    const struct document *header = read_object(arena, parts.header, &wrong);
    if (header == NULL)
        return wrong;
    const struct signing_key *key = NULL;
    wrong = check_header(header, rules, &key);
    if (wrong == NULL)
        wrong = verify_signature(arena, &parts, key);
    if (wrong != NULL)
        return wrong;
    const struct document *payload = read_object(arena, parts.payload, &wrong);
    return payload == NULL ? wrong : read_claims(arena, payload, rules, claims);
}

enum token_result token_verify(struct arena *arena, const struct token_rules *rules, const char *text, size_t length,
                               struct token_claims *claims_out, const char **reason_out)
{
    struct token_claims claims = {0};
    const char *reason = verify_text(arena, rules, (struct part){text, length}, &claims);
    enum token_result result = reason != NULL ? TOKEN_INVALID : token_check_times(rules, &claims, &reason);
    if (result == TOKEN_GOOD)
        *claims_out = claims;
    if (reason_out != NULL)
        *reason_out = reason;
    return result;
}
