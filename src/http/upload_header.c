/* SPDX-License-Identifier: MIT */
/* Reads the headers of resumable uploads. */
#include "http/upload_header.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "codec/encoding.h"

/*
 * Decodes base64 of the standard alphabet with its padding (RFC 4648, section 4). The texts of the other alphabet are
 * the same but for two signs, so that one decoder serves both.
 */
static bool decode(struct arena *arena, const char *text, size_t length, unsigned char **bytes_out, size_t *length_out)
{
    if (length % 4 != 0)
        return false;
    char *url = arena_copy(arena, text, length);
    size_t kept = length;
    while (kept > 0 && length - kept < 2 && url[kept - 1] == '=')
        kept--;
    for (size_t i = 0; i < kept; i++) {
        if (url[i] == '-' || url[i] == '_' || url[i] == '=')
            return false;
        url[i] = (char)(url[i] == '+' ? '-' : url[i] == '/' ? '_' : url[i]);
    }
    return base64url_decode(arena, url, kept, bytes_out, length_out);
}

static bool key_is_good(const char *key, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)key[i] <= ' ' || (unsigned char)key[i] >= 127)
            return false;
    return length > 0;
}

/* Reads one pair, of `length` bytes; the phrase that is wrong with it, or NULL. */
static const char *read_pair(struct arena *arena, const char *text, size_t length, struct upload_metadata *metadata)
{
    const char *blank = memchr(text, ' ', length);
    size_t key_length = blank == NULL ? length : (size_t)(blank - text);
    unsigned char *bytes = (unsigned char *)"";
    size_t decoded = 0;
    if (metadata->count == UPLOAD_METADATA_PAIRS)
        return "has too many keys";
    if (!key_is_good(text, key_length))
        return "has a key that is empty or not of visible ASCII characters";
    const char *key = arena_copy(arena, text, key_length);
    for (size_t i = 0; i < metadata->count; i++)
        if (strcmp(metadata->pairs[i].key, key) == 0)
            return "has a key twice";
    if (blank != NULL && !decode(arena, blank + 1, length - key_length - 1, &bytes, &decoded))
        return "has a value that is not base64";
    if (memchr(bytes, '\0', decoded) != NULL || !utf8_valid((const char *)bytes, decoded))
        return "has a value that is not a text in UTF-8";
    metadata->pairs[metadata->count++] = (struct upload_metadata_pair){key, arena_copy(arena, bytes, decoded)};
    return NULL;
}

const char *upload_metadata_read(struct arena *arena, const char *header, struct upload_metadata *metadata_out)
{
    const char *fault = NULL;
    *metadata_out = (struct upload_metadata){.count = 0};
    if (strlen(header) > UPLOAD_METADATA_BYTES)
        return "is too long";
    while (*header != '\0' && fault == NULL) {
        header += *header == ' ';
        size_t length = strcspn(header, ",");
        size_t trimmed = length;
        while (trimmed > 0 && header[trimmed - 1] == ' ')
            trimmed--;
        fault = read_pair(arena, header, trimmed, metadata_out);
        header += length;
        if (*header == ',') {
            header++;
            fault = fault == NULL && *header == '\0' ? "ends with a comma" : fault;
        }
    }
    return fault;
}

enum upload_checksum upload_checksum_read(struct arena *arena, const char *header, uint8_t digest_out[DIGEST_BYTES])
{
    unsigned char *bytes;
    size_t length;
    const char *blank = strchr(header, ' ');
    if (blank == NULL || blank == header)
        return UPLOAD_CHECKSUM_MALFORMED;
    if (strcmp(arena_copy(arena, header, (size_t)(blank - header)), "sha256") != 0)
        return UPLOAD_CHECKSUM_UNKNOWN_ALGORITHM;
    if (!decode(arena, blank + 1, strlen(blank + 1), &bytes, &length) || length != DIGEST_BYTES)
        return UPLOAD_CHECKSUM_MALFORMED;
    memcpy(digest_out, bytes, DIGEST_BYTES);
    return UPLOAD_CHECKSUM_GOOD;
}

bool upload_number_read(const char *header, int64_t *number_out)
{
    return text_is_digit(header[0]) && text_to_integer(header, 0, INT64_MAX, number_out);
}
