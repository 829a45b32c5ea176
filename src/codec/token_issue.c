/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "codec/encoding.h"
#include "codec/signing_key.h"
#include "codec/token.h"

/* `before` is what stands between the member before and the value: the comma, the name and the colon. */
static void add_text(struct buffer *buffer, const char *before, const char *text)
{
    buffer_add_text(buffer, before);
    buffer_add_json_text(buffer, text);
}

static void add_time(struct buffer *buffer, const char *before, int64_t time)
{
    buffer_add_text(buffer, before);
    buffer_add_integer(buffer, time);
}

static void add_header(struct buffer *buffer, const struct signing_key *key)
{
    add_text(buffer, "{\"alg\":\"RS256\",\"kid\":", signing_key_kid(key));
    buffer_add_text(buffer, ",\"typ\":\"JWT\"}");
}

static void add_claims(struct arena *arena, struct buffer *buffer, const struct token_content *content)
{
    add_text(buffer, "{\"iss\":", content->issuer);
    add_text(buffer, ",\"sub\":", id_text(arena, content->subject));
    add_text(buffer, ",\"aud\":", content->audience);
    add_text(buffer, ",\"sid\":", id_text(arena, content->session));
    add_text(buffer, ",\"jti\":", id_text(arena, id_new()));
    add_text(buffer, ",\"token_use\":", content->token_use);
    add_time(buffer, ",\"iat\":", content->issued_at);
    add_time(buffer, ",\"exp\":", content->expires_at);
    if (content->email != NULL) {
        add_text(buffer, ",\"email\":", content->email);
        buffer_add_text(buffer, content->email_verified ? ",\"email_verified\":true" : ",\"email_verified\":false");
    }
    if (content->email != NULL && content->permissions != NULL)
        add_text(buffer, ",\"custom:permissions\":", content->permissions);
    buffer_add_char(buffer, '}');
}

static void add_encoded(struct arena *arena, struct buffer *buffer, const void *bytes, size_t length)
{
    buffer_add_text(buffer, base64url_encode(arena, bytes, length));
}

struct error *token_issue(struct arena *arena, const struct signing_key *key,
                          const struct token_content *content, char **token_out)
{
    struct buffer header, claims, token;
    unsigned char *signature;
    size_t length;
    if (content->issuer == NULL || content->audience == NULL || content->token_use == NULL)
        return error_new(arena, ERROR_INTERNAL, "a token without issuer, audience or use is none");
    buffer_init(&header, arena);
    buffer_init(&claims, arena);
    buffer_init(&token, arena);
    add_header(&header, key);
    add_claims(arena, &claims, content);
    add_encoded(arena, &token, header.bytes, header.length);
    buffer_add_char(&token, '.');
    add_encoded(arena, &token, claims.bytes, claims.length);
    TRY(signing_key_sign(arena, key, token.bytes, token.length, &signature, &length));
    buffer_add_char(&token, '.');
    add_encoded(arena, &token, signature, length);
    if (token.length > LIMIT_TOKEN_BYTES)
        return error_new(arena, ERROR_INTERNAL, "the token is %zu bytes long", token.length);
    *token_out = token.bytes;
    return NULL;
}
