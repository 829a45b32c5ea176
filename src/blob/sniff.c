/* SPDX-License-Identifier: MIT */
/*
 * libmagic with limits: it examines LIMIT_SNIFF_BYTES, and guesses encodings only by the first ENCODING_BYTES of them.
 * Without the second limit a text of digits and blanks takes a hundred milliseconds. The database is loaded once,
 * before requests are served: that reads a file, and an allocation inside it may fail.
 */
#include "blob/sniff.h"

#include <magic.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "blob/image_int.h"
#include "blob/media_int.h"
#include "blob/signature_int.h"

#define ENCODING_BYTES 1024

struct sniffer {
    magic_t magic;
};

static void close_magic(void *argument)
{
    magic_close(argument);
}

struct error *sniffer_open(struct arena *arena, struct sniffer **sniffer_out)
{
    const size_t bytes = LIMIT_SNIFF_BYTES;
    const size_t encoding = ENCODING_BYTES;
    magic_t magic = magic_open(MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS);
    if (magic == NULL)
        return error_new(arena, ERROR_INTERNAL, "libmagic cannot be opened");
    arena_defer(arena, close_magic, magic);
    if (magic_load(magic, NULL) != 0 || magic_setparam(magic, MAGIC_PARAM_BYTES_MAX, &bytes) != 0 ||
        magic_setparam(magic, MAGIC_PARAM_ENCODING_MAX, &encoding) != 0)
        return error_new(arena, ERROR_INTERNAL, "libmagic's database cannot be loaded: %s", magic_error(magic));
    struct sniffer *sniffer = arena_alloc(arena, sizeof *sniffer);
    sniffer->magic = magic;
    *sniffer_out = sniffer;
    return NULL;
}

void sniffer_bounds(struct sniffer *sniffer, size_t *bytes_out, size_t *encoding_bytes_out)
{
    (void)magic_getparam(sniffer->magic, MAGIC_PARAM_BYTES_MAX, bytes_out);
    (void)magic_getparam(sniffer->magic, MAGIC_PARAM_ENCODING_MAX, encoding_bytes_out);
}

/* One name for each type, whatever name this version of libmagic uses. */
static const char *normal(const char *media_type)
{
    const struct media *media = media_find(media_type);
    return media == NULL ? media_type : media->name;
}

/* A plain lower-case type. Some versions of libmagic write a type twice without a separator; that is cut in half. */
static const char *bare(struct arena *arena, const char *said)
{
    char *media_type = text_lowered(arena, said);
    size_t length = strcspn(media_type, "; \t\r\n");
    if (length % 2 == 0 && memcmp(media_type, media_type + length / 2, length / 2) == 0)
        length /= 2;
    media_type[length] = '\0';
    return media_is_type(media_type) ? media_type : MEDIA_UNKNOWN;
}

bool sniff_text(const void *bytes, size_t length)
{
    return signature_is_text(bytes, length);
}

struct sniffed sniff(struct sniffer *sniffer, struct arena *arena, const void *bytes, size_t length,
                     const struct sniff_rest *rest)
{
    if (length > LIMIT_SNIFF_BYTES)
        length = LIMIT_SNIFF_BYTES;
    struct sniffed sniffed = {.text = signature_is_text(bytes, length)};
    sniffed.media_type = signature_program(bytes, length, sniffed.text);
    if (sniffed.media_type != NULL)
        return sniffed;
    const char *said = magic_buffer(sniffer->magic, bytes, length);
    if (said == NULL) {
        const char *complaint = magic_error(sniffer->magic);
        sniffed.complaint = complaint == NULL ? "it does not say why" : arena_text(arena, complaint);
        said = MEDIA_UNKNOWN;
    }
    sniffed.media_type = signature_refine(normal(bare(arena, said)), bytes, length);
    /* It examined the first ENCODING_BYTES only. */
    if (!sniffed.text && (strcmp(sniffed.media_type, "text/plain") == 0 || strcmp(sniffed.media_type, "text/csv") == 0))
        sniffed.media_type = MEDIA_UNKNOWN;
    /*
     * libmagic calls many files a DOS program that only begin like a COM file. Programs with a header were recognised
     * before.
     */
    if (strcmp(sniffed.media_type, "application/x-dosexec") == 0)
        sniffed.media_type = MEDIA_UNKNOWN;
    sniffed.pixels = image_pixels(sniffed.media_type, bytes, length, rest);
    return sniffed;
}
