/* SPDX-License-Identifier: MIT */
/*
 * Reads the size of a picture from its header. Sizes stand at fixed places (PNG, BMP, WebP), in the screen and in the
 * first picture on it (GIF89a, sections 18 and 20), behind segments (JPEG, ITU T.81 annex B), in directories (TIFF 6.0,
 * section 2, and its 64-bit form) or in nested boxes: meta > iprp > ipco > ispe (HEIF, ISO/IEC 23008-12). The last
 * three may lie anywhere in the file, so a picture could hide its size behind a long beginning. What does not lie in
 * the first bytes is therefore read.
 */
#include "blob/image_int.h"

#include <stdbool.h>
#include <string.h>

#include "blob/sniff.h"

#define TIFF_DIRECTORIES_MAX 64

/* The file, with a reader that stays inside it: bytes outside read as 0. */
struct view {
    const unsigned char *head;
    size_t length;
    const struct sniff_rest *rest;
    bool little;
    unsigned reads;
    bool lost; /* too many reads were asked for */
    uint64_t window_at;
    size_t window_length;
    unsigned char window[IMAGE_READ_BYTES];
};

/* The bytes at `offset`; NULL where there are not so many. */
static const unsigned char *bytes_at(struct view *view, uint64_t offset, size_t size)
{
    if (offset <= view->length && size <= view->length - offset)
        return view->head + offset;
    if (view->rest == NULL || offset > INT64_MAX - IMAGE_READ_BYTES)
        return NULL;
    if (offset < view->window_at || offset + size > view->window_at + view->window_length) {
        if (view->reads == IMAGE_READS_MAX) {
            view->lost = true;
            return NULL;
        }
        view->reads++;
        view->window_at = offset;
        view->window_length = view->rest->read(view->rest->context, offset, view->window, sizeof view->window);
    }
    return size <= view->window_length ? view->window + (offset - view->window_at) : NULL;
}

static uint64_t at(struct view *view, uint64_t offset, size_t size)
{
    const unsigned char *bytes = bytes_at(view, offset, size);
    uint64_t value = 0;
    for (size_t i = 0; bytes != NULL && i < size; i++)
        value = value << 8 | bytes[view->little ? size - 1 - i : i];
    return value;
}

static bool holds(struct view *view, uint64_t offset, const char *text)
{
    const unsigned char *bytes = bytes_at(view, offset, strlen(text));
    return bytes != NULL && memcmp(bytes, text, strlen(text)) == 0;
}

static uint64_t area(uint64_t width, uint64_t height)
{
    uint64_t pixels;
    return __builtin_mul_overflow(width, height, &pixels) ? UINT64_MAX : pixels;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t png(struct view *view)
{
    return area(at(view, 16, 4), at(view, 20, 4));
}

/* The screen, or the first picture where that is larger. */
static uint64_t gif(struct view *view)
{
    view->little = true;
    uint64_t screen = area(at(view, 6, 2), at(view, 8, 2));
    uint64_t flags = at(view, 10, 1);
    uint64_t offset = 13 + ((flags & 0x80) != 0 ? UINT64_C(3) << ((flags & 7) + 1) : 0);
    while (at(view, offset, 1) == 0x21) { /* an extension: blocks until an empty one */
        uint64_t size;
        for (offset += 2; (size = at(view, offset, 1)) != 0;)
            offset += 1 + size;
        offset++;
    }
    if (at(view, offset, 1) != 0x2c)
        return screen;
    return larger(screen, area(at(view, offset + 1, 2) + at(view, offset + 5, 2),
                               at(view, offset + 3, 2) + at(view, offset + 7, 2)));
}

/* A negative height means rows from the top. */
static uint64_t bmp(struct view *view)
{
    view->little = true;
    if (at(view, 14, 4) == 12)
        return area(at(view, 18, 2), at(view, 20, 2));
    uint32_t height = (uint32_t)at(view, 22, 4);
    return area(at(view, 18, 4), height > INT32_MAX ? 0 - height : height);
}

static uint64_t webp(struct view *view)
{
    view->little = true;
    uint64_t lossless = at(view, 21, 4);
    if (holds(view, 12, "VP8 "))
        return area(at(view, 26, 2) & 0x3fff, at(view, 28, 2) & 0x3fff);
    if (holds(view, 12, "VP8L"))
        return lossless == 0 ? 0 : area((lossless & 0x3fff) + 1, (lossless >> 14 & 0x3fff) + 1);
    return bytes_at(view, 24, 6) == NULL ? 0 : area(at(view, 24, 3) + 1, at(view, 27, 3) + 1);
}

static bool is_frame_header(uint64_t marker)
{
    return marker >= 0xffc0 && marker <= 0xffcf && marker != 0xffc4 && marker != 0xffc8 && marker != 0xffcc;
}

/* TEM, RST0 to RST7, SOI and EOI: no length follows. */
static bool stands_alone(uint64_t marker)
{
    return marker == 0xff01 || (marker >= 0xffd0 && marker <= 0xffd9);
}

/* Decoders skip bytes that are no marker, so a header behind them counts as well. */
static uint64_t jpeg(struct view *view)
{
    for (uint64_t offset = 2; bytes_at(view, offset, 2) != NULL;) {
        uint64_t marker = at(view, offset, 2);
        if (is_frame_header(marker))
            return area(at(view, offset + 7, 2), at(view, offset + 5, 2));
        if (marker == 0xffda)
            return 0; /* the picture itself */
        if (marker <= 0xff00 || marker == 0xffff)
            offset++; /* filling, or none */
        else
            offset += 2 + (stands_alone(marker) ? 0 : at(view, offset + 2, 2));
    }
    return 0;
}

/* ---- TIFF ---- */

/* The two forms differ only in the width of their numbers. */
struct tiff_form {
    size_t offset_size, count_size, entry_size;
};

static uint64_t tiff_value(struct view *view, uint64_t entry, const struct tiff_form *form)
{
    uint64_t type = at(view, entry + 2, 2);
    size_t size = type == 1 ? 1 : type == 3 ? 2 : type == 16 ? 8 : 4;
    return at(view, entry + 4 + form->offset_size, size);
}

/* The area that the directory states; *next_out is the offset of the next directory, 0 for none. */
static uint64_t tiff_directory(struct view *view, uint64_t directory, const struct tiff_form *form, uint64_t *next_out)
{
    uint64_t count = at(view, directory, form->count_size);
    uint64_t entry = directory + form->count_size;
    uint64_t width = 0;
    uint64_t height = 0;
    for (; count > 0 && bytes_at(view, entry, form->entry_size) != NULL; count--, entry += form->entry_size) {
        uint64_t tag = at(view, entry, 2);
        if (tag == 256)
            width = tiff_value(view, entry, form);
        else if (tag == 257)
            height = tiff_value(view, entry, form);
    }
    *next_out = count == 0 ? at(view, entry, form->offset_size) : 0;
    return area(width, height);
}

static uint64_t tiff(struct view *view)
{
    static const struct tiff_form classic = {4, 2, 12};
    static const struct tiff_form big = {8, 8, 20};
    view->little = at(view, 0, 1) == 'I';
    const struct tiff_form *form = at(view, 2, 2) == 43 ? &big : &classic;
    uint64_t directory = at(view, form->offset_size, form->offset_size);
    uint64_t largest = 0;
    for (int i = 0; directory != 0 && i < TIFF_DIRECTORIES_MAX; i++)
        largest = larger(largest, tiff_directory(view, directory, form, &directory));
    return largest;
}

/* ---- HEIF ---- */

struct box {
    uint64_t start, end; /* of its body */
};

/* The next box in `boxes`, which moves behind it: its type, and its body. False at the end. */
static bool next_box(struct view *view, struct box *boxes, char type_out[4], struct box *body_out)
{
    uint64_t left = boxes->end - boxes->start;
    const unsigned char *type = left < 8 ? NULL : bytes_at(view, boxes->start, 8);
    if (type == NULL)
        return false;
    memcpy(type_out, type + 4, 4);
    uint64_t size = at(view, boxes->start, 4);
    unsigned head = 8;
    if (size == 1) {
        size = at(view, boxes->start + 8, 8);
        head = 16;
    }
    if (size == 0 || size > left)
        size = left; /* to the end, or beyond the known bytes */
    if (size < head)
        return false;
    *body_out = (struct box){boxes->start + head, boxes->start + size};
    boxes->start += size;
    return true;
}

/* The body of the first box of a type; an empty one where there is none. */
static struct box find_box(struct view *view, struct box boxes, const char *type)
{
    char found[4];
    struct box body;
    while (next_box(view, &boxes, found, &body))
        if (memcmp(found, type, 4) == 0)
            return body;
    return (struct box){0, 0};
}

static uint64_t heif(struct view *view)
{
    struct box meta = find_box(view, (struct box){0, INT64_MAX}, "meta");
    if (meta.end - meta.start < 4)
        return 0;
    meta.start += 4; /* version and flags */
    struct box properties = find_box(view, find_box(view, meta, "iprp"), "ipco");
    uint64_t largest = 0;
    char type[4];
    struct box body;
    while (next_box(view, &properties, type, &body))
        if (memcmp(type, "ispe", 4) == 0 && body.end - body.start >= 12)
            largest = larger(largest, area(at(view, body.start + 4, 4), at(view, body.start + 8, 4)));
    return largest;
}

uint64_t image_pixels(const char *media_type, const unsigned char *bytes, size_t length, const struct sniff_rest *rest)
{
    static const struct {
        const char *media_type;
        uint64_t (*pixels)(struct view *view);
    } kinds[] = {
        {"image/png", png},   {"image/jpeg", jpeg}, {"image/gif", gif},   {"image/webp", webp}, {"image/bmp", bmp},
        {"image/tiff", tiff}, {"image/avif", heif}, {"image/heic", heif}, {"image/heif", heif},
    };
    struct view view = {.head = bytes, .length = length, .rest = rest};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(media_type, kinds[i].media_type) != 0)
            continue;
        uint64_t pixels = kinds[i].pixels(&view);
        return view.lost ? UINT64_MAX : pixels;
    }
    return 0;
}
