/* SPDX-License-Identifier: MIT */
/*
 * Sizes stand at fixed places (PNG, GIF, BMP, WebP), behind segments (JPEG, ITU T.81 annex B), in a directory
 * (TIFF 6.0, section 2) or in nested boxes: meta > iprp > ipco > ispe (HEIF, ISO/IEC 23008-12).
 */
#include "blob/image.h"

#include <stdbool.h>
#include <string.h>

/* Bytes with a reader that never leaves them: what lies outside reads as 0. */
struct view {
    const unsigned char *bytes;
    size_t length;
    bool little;
};

static uint32_t at(const struct view *view, size_t offset, size_t size)
{
    uint32_t value = 0;
    if (offset > view->length || size > view->length - offset)
        return 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | view->bytes[offset + (view->little ? size - 1 - i : i)];
    return value;
}

static uint64_t area(uint64_t width, uint64_t height)
{
    return width * height; /* neither has more than 32 bits */
}

static uint64_t png(const struct view *view)
{
    return area(at(view, 16, 4), at(view, 20, 4));
}

static uint64_t gif(struct view *view)
{
    view->little = true;
    return area(at(view, 6, 2), at(view, 8, 2));
}

/* A negative height means rows from the top. */
static uint64_t bmp(struct view *view)
{
    view->little = true;
    if (at(view, 14, 4) == 12)
        return area(at(view, 18, 2), at(view, 20, 2));
    uint32_t height = at(view, 22, 4);
    return area(at(view, 18, 4), height > INT32_MAX ? 0 - height : height);
}

static uint64_t webp(struct view *view)
{
    view->little = true;
    uint32_t lossless = at(view, 21, 4);
    if (view->length < 16)
        return 0;
    if (memcmp(view->bytes + 12, "VP8 ", 4) == 0)
        return area(at(view, 26, 2) & 0x3fff, at(view, 28, 2) & 0x3fff);
    if (memcmp(view->bytes + 12, "VP8L", 4) == 0)
        return lossless == 0 ? 0 : area((lossless & 0x3fff) + 1, (lossless >> 14 & 0x3fff) + 1);
    return view->length < 30 ? 0 : area(at(view, 24, 3) + 1, at(view, 27, 3) + 1);
}

static bool is_frame_header(uint32_t marker)
{
    return marker >= 0xffc0 && marker <= 0xffcf && marker != 0xffc4 && marker != 0xffc8 && marker != 0xffcc;
}

static uint64_t jpeg(const struct view *view)
{
    for (size_t offset = 2; offset + 4 <= view->length;) {
        uint32_t marker = at(view, offset, 2);
        if (marker == 0xffff) {
            offset++; /* filling */
            continue;
        }
        if (is_frame_header(marker))
            return area(at(view, offset + 7, 2), at(view, offset + 5, 2));
        if (marker < 0xffc0 || marker == 0xffda)
            return 0; /* no marker, or the picture itself */
        offset += 2 + at(view, offset + 2, 2);
    }
    return 0;
}

static uint64_t tiff(struct view *view)
{
    view->little = at(view, 0, 1) == 'I';
    size_t directory = at(view, 4, 4);
    uint32_t count = at(view, directory, 2);
    uint32_t width = 0;
    uint32_t height = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t entry = directory + 2 + (size_t)i * 12;
        if (entry + 12 > view->length)
            break;
        uint32_t tag = at(view, entry, 2);
        uint32_t value = at(view, entry + 8, at(view, entry + 2, 2) == 3 ? 2 : 4);
        if (tag == 256)
            width = value;
        else if (tag == 257)
            height = value;
    }
    return area(width, height);
}

/* The next box in `boxes`, which moves behind it: its type, and its body. False at the end. */
static bool next_box(struct view *boxes, char type_out[4], struct view *body_out)
{
    if (boxes->length < 8)
        return false;
    uint64_t size = at(boxes, 0, 4);
    size_t head = 8;
    if (size == 1) {
        size = (uint64_t)at(boxes, 8, 4) << 32 | at(boxes, 12, 4);
        head = 16;
    }
    if (size == 0 || size > boxes->length)
        size = boxes->length; /* to the end, or out of sight */
    if (size < head)
        return false;
    memcpy(type_out, boxes->bytes + 4, 4);
    *body_out = (struct view){.bytes = boxes->bytes + head, .length = (size_t)size - head};
    boxes->bytes += size;
    boxes->length -= (size_t)size;
    return true;
}

/* The body of the first box of a type; an empty view where there is none. */
static struct view find_box(struct view boxes, const char *type)
{
    char found[4];
    struct view body;
    while (next_box(&boxes, found, &body))
        if (memcmp(found, type, 4) == 0)
            return body;
    return (struct view){.bytes = boxes.bytes, .length = 0};
}

static uint64_t heif(const struct view *view)
{
    struct view meta = find_box(*view, "meta");
    if (meta.length < 4)
        return 0;
    meta.bytes += 4; /* version and flags */
    meta.length -= 4;
    struct view properties = find_box(find_box(meta, "iprp"), "ipco");
    uint64_t largest = 0;
    char type[4];
    struct view body;
    while (next_box(&properties, type, &body)) {
        uint64_t pixels = memcmp(type, "ispe", 4) == 0 ? area(at(&body, 4, 4), at(&body, 8, 4)) : 0;
        largest = pixels > largest ? pixels : largest;
    }
    return largest;
}

uint64_t image_pixels(const char *media_type, const unsigned char *bytes, size_t length)
{
    struct view view = {.bytes = bytes, .length = length};
    if (strcmp(media_type, "image/png") == 0)
        return png(&view);
    if (strcmp(media_type, "image/jpeg") == 0)
        return jpeg(&view);
    if (strcmp(media_type, "image/gif") == 0)
        return gif(&view);
    if (strcmp(media_type, "image/webp") == 0)
        return webp(&view);
    if (strcmp(media_type, "image/bmp") == 0)
        return bmp(&view);
    if (strcmp(media_type, "image/tiff") == 0)
        return tiff(&view);
    if (strcmp(media_type, "image/avif") == 0 || strcmp(media_type, "image/heic") == 0)
        return heif(&view);
    return 0;
}
