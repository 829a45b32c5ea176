/* SPDX-License-Identifier: MIT */
/* Reads the key sets of remote issuers (RFC 7517, section 5; RFC 7518, section 6.3.1). */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/document.h"
#include "codec/encoding.h"
#include "codec/signing_key.h"
#include "codec/signing_key_int.h"

static bool says(const struct document *key, const char *name, const char *wanted, bool needed)
{
    const struct document *member = document_member(key, name);
    const char *text = document_text(member);
    if (member == NULL)
        return !needed;
    return text != NULL && strcmp(text, wanted) == 0;
}

static bool read_number(struct arena *arena, const struct document *key, const char *name,
                        struct key_number *number_out)
{
    unsigned char *bytes;
    const char *text = document_text(document_member(key, name));
    if (text == NULL || !base64url_decode(arena, text, strlen(text), &bytes, &number_out->length))
        return false;
    number_out->bytes = bytes;
    return number_out->length > 0 && number_out->length <= SIGNING_KEY_BITS_MAX / 8;
}

/* NULL: the key is not for RS256, or it is refused. */
static struct signing_key *read_key(struct arena *arena, const struct document *value)
{
    struct key_number n, e;
    struct signing_key *key = NULL;
    const char *kid = document_text(document_member(value, "kid"));
    /* The set publishes a private exponent: whoever has read it can sign. */
    if (document_member(value, "d") != NULL)
        return NULL;
    if (kid == NULL || !says(value, "kty", "RSA", true) || !says(value, "use", "sig", false) ||
        !says(value, "alg", "RS256", false))
        return NULL;
    if (!read_number(arena, value, "n", &n) || !read_number(arena, value, "e", &e))
        return NULL;
    return signing_key_of_numbers(arena, kid, &n, &e, &key) == NULL ? key : NULL;
}

struct error *key_set_read(struct arena *arena, const char *bytes, size_t length, struct key_set **set_out)
{
    struct document *document;
    struct key_set *set = key_set_new(arena);
    if (document_parse(arena, bytes, length, &document) != NULL)
        return error_new(arena, ERROR_INTERNAL, "the key set is not JSON");
    const struct document *keys = document_member(document, "keys");
    if (keys == NULL || document_kind(keys) != DOCUMENT_ARRAY)
        return error_new(arena, ERROR_INTERNAL, "the key set has no keys");
    for (const struct document *value = document_first(keys); value != NULL; value = document_next(value)) {
        struct signing_key *key = read_key(arena, value);
        if (key != NULL)
            TRY(key_set_add(set, key));
    }
    if (key_set_count(set) == 0)
        return error_new(arena, ERROR_INTERNAL, "no key of the set can verify RS256");
    *set_out = set;
    return NULL;
}
