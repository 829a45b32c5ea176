/* SPDX-License-Identifier: MIT */
/* Targets for the bytes of files: sizes of pictures, kinds of files and what contradicts them. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "blob/content.h"
#include "blob/image_int.h"
#include "blob/sniff.h"
#include "fuzz.h"

/* The part of an input that is not given at once. */
struct rest {
    const uint8_t *bytes;
    size_t size;
    size_t reads;
};

static size_t read_rest(void *context, uint64_t offset, void *bytes, size_t length)
{
    struct rest *rest = context;
    rest->reads++;
    if (offset >= rest->size)
        return 0;
    size_t left = rest->size - (size_t)offset;
    size_t take = length < left ? length : left;
    memcpy(bytes, rest->bytes + offset, take);
    return take;
}

/* The first byte chooses the media type, the second how many bytes are given at once. */
void fuzz_picture(struct arena *arena, const uint8_t *bytes, size_t size)
{
    static const char *const types[] = {"image/jpeg", "image/png",  "image/gif",  "image/webp",
                                        "image/avif", "image/heic", "image/tiff", "image/bmp"};
    (void)arena;
    if (size < 2)
        return;
    const char *type = types[bytes[0] % (sizeof types / sizeof *types)];
    size_t head = bytes[1];
    struct rest rest = {.bytes = bytes + 2, .size = size - 2};
    const struct sniff_rest reader = {.read = read_rest, .context = &rest};
    head = head < rest.size ? head : rest.size;
    uint64_t whole = image_pixels(type, rest.bytes, rest.size, NULL);
    uint64_t cut = image_pixels(type, rest.bytes, head, &reader);
    fuzz_expect(rest.reads <= IMAGE_READS_MAX, "the number of reads is bounded");
    fuzz_expect(cut == whole || cut == UINT64_MAX, "where a header lies changes nothing");
}

/* The declared type, the file's name, then its bytes. */
void fuzz_sniff(struct arena *arena, const uint8_t *bytes, size_t size)
{
    static struct arena *kept;
    static struct sniffer *sniffer;
    if (kept == NULL) {
        kept = arena_new();
        fuzz_expect(sniffer_open(kept, &sniffer) == NULL, "libmagic has its database");
    }
    const uint8_t *first = size > 0 ? memchr(bytes, '\n', size) : NULL;
    const uint8_t *second = first == NULL ? NULL : memchr(first + 1, '\n', size - (size_t)(first + 1 - bytes));
    if (second == NULL)
        return;
    const char *declared = fuzz_text(arena, bytes, (size_t)(first - bytes));
    const char *name = fuzz_text(arena, first + 1, (size_t)(second - first - 1));
    size_t length = size - (size_t)(second + 1 - bytes);
    length = length < LIMIT_SNIFF_BYTES ? length : LIMIT_SNIFF_BYTES;
    struct sniffed sniffed = sniff(sniffer, arena, second + 1, length, NULL);
    fuzz_expect(sniffed.media_type != NULL && strpbrk(sniffed.media_type, "; \r\n") == NULL, "a media type is bare");
    fuzz_expect(sniffed.text == sniff_text(second + 1, length), "what is text is decided once");
    const char *type = content_media_type(&sniffed, name, declared);
    if (content_is_program(type))
        fuzz_expect(!content_inline(type), "a program is never shown in place");
    (void)content_contradiction(arena, type, sniffed.text, declared, name);
    (void)content_pixels_allowed(&sniffed);
}
