/* SPDX-License-Identifier: MIT */
/* Sizes of pictures, read from headers of every format, whole and broken. */
#include "blob/image_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/text.h"
#include "blob/sniff.h"
#include "harness.h"

struct example {
    const char *what;
    const char *media_type;
    size_t length;
    const char *bytes;
    uint64_t pixels;
};

#define BYTES(literal) sizeof(literal) - 1, literal

/* ftyp, meta (hdlr, iprp (ipco (colr, ispe 256 x 128, ispe 16 x 16))) */
#define HEIF                                                                                                           \
    "\0\0\0\x10"                                                                                                       \
    "ftypheic\0\0\0\0"                                                                                                 \
    "\0\0\0\x5c"                                                                                                       \
    "meta\0\0\0\0"                                                                                                     \
    "\0\0\0\x10"                                                                                                       \
    "hdlr12345678"                                                                                                     \
    "\0\0\0\x40"                                                                                                       \
    "iprp"                                                                                                             \
    "\0\0\0\x38"                                                                                                       \
    "ipco"                                                                                                             \
    "\0\0\0\x08"                                                                                                       \
    "colr"                                                                                                             \
    "\0\0\0\x14"                                                                                                       \
    "ispe\0\0\0\0\0\0\1\0\0\0\0\x80"                                                                                   \
    "\0\0\0\x14"                                                                                                       \
    "ispe\0\0\0\0\0\0\0\x10\0\0\0\x10"

static const struct example examples[] = {
    {"PNG", "image/png", BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\x03\x04"), 258 * 772},
    {"a PNG bomb", "image/png", BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff"),
     UINT64_C(2147483647) * 2147483647},
    {"GIF", "image/gif", BYTES("GIF89a\x02\x01\x04\x03\0\0\0"), 258 * 772},
    {"GIF whose first picture is larger than its screen", "image/gif",
     BYTES("GIF89a\x01\0\x01\0\x80\0\0"
           "rgbrgb"
           "\x21\xf9\4\0\0\0\0\0\x21\xfe\2hi\1!\0\x2c\2\0\4\0\0\1\0\3\0"),
     258 * 772},
    {"BMP", "image/bmp", BYTES("BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\1\0\0\x04\3\0\0"), 258 * 772},
    {"BMP from the top", "image/bmp", BYTES("BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\1\0\0\xfc\xfc\xff\xff"),
     258 * 772},
    {"BMP of OS/2", "image/bmp", BYTES("BM\0\0\0\0\0\0\0\0\x1a\0\0\0\x0c\0\0\0\x02\1\x04\3"), 258 * 772},
    {"lossy WebP", "image/webp", BYTES("RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x02\x41\x04\x83"), 258 * 772},
    {"lossless WebP", "image/webp", BYTES("RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x01\xc1\xc0\0"), 258 * 772},
    {"extended WebP", "image/webp", BYTES("RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x01\1\0\x03\3\0"), 258 * 772},
    {"JPEG", "image/jpeg",
     BYTES("\xff\xd8\xff\xe0\0\x04JF\xff\xff\xdb\0\x03q\xff\xc4\0\x02\xff\xc2\0\x0b\x08\x03\x04\x01\x02\x01"),
     258 * 772},
    {"JPEG whose frame is out of sight", "image/jpeg",
     BYTES("\xff\xd8\xff\xe1\xff\xff"
           "Exif\0\0\0\0\0\0"),
     0},
    {"JPEG whose picture comes first", "image/jpeg", BYTES("\xff\xd8\xff\xda\0\x02\xff\xc0\0\x0b\x08\1\1\1\1\1"), 0},
    {"JPEG with junk, which decoders pass over", "image/jpeg",
     BYTES("\xff\xd8\0\0\0\xff\0\0\xff\xc0\0\x0b\x08\1\1\1\1\1"), 257 * 257},
    {"JPEG with markers that stand alone", "image/jpeg",
     BYTES("\xff\xd8\xff\x01\xff\xd0\xff\xd7\xff\xd8\xff\xc2\0\x0b\x08\1\1\1\1\1"), 257 * 257},
    {"JPEG without a frame", "image/jpeg", BYTES("\xff\xd8\xff\xe0\0\4\1\1\xff"), 0},
    {"little-endian TIFF", "image/tiff",
     BYTES("II*\0\x08\0\0\0\3\0\xfe\0\4\0\1\0\0\0\0\0\0\0\0\1\3\0\1\0\0\0\2\1\0\0\1\1\4\0\1\0\0\0\4\3\0\0"), 258 * 772},
    {"big-endian TIFF", "image/tiff", BYTES("MM\0*\0\0\0\x08\0\2\1\0\0\3\0\0\0\1\1\2\0\0\1\1\0\4\0\0\0\1\0\0\3\4"),
     258 * 772},
    {"TIFF whose directory is out of sight", "image/tiff", BYTES("II*\0\xff\xff\xff\xff\3\0"), 0},
    {"TIFF whose second directory tells more", "image/tiff",
     BYTES("MM\0*\0\0\0\x08\0\1\1\0\0\3\0\0\0\1\1\2\0\0\0\0\0\x1a"
           "\0\2\1\0\0\3\0\0\0\1\1\2\0\0\1\1\0\4\0\0\0\1\0\0\3\4\0\0\0\x08"),
     258 * 772},
    {"TIFF of 64 bits", "image/tiff",
     BYTES("MM\0+\0\x08\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\2"
           "\1\0\0\x10\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0"
           "\1\1\0\x10\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0"),
     UINT64_MAX},
    {"HEIC", "image/heic", BYTES(HEIF), 256 * 128},
    {"AVIF", "image/avif", BYTES(HEIF), 256 * 128},
    {"HEIC with a long box", "image/heic",
     BYTES("\0\0\0\1"
           "free\0\0\0\0\0\0\0\x10" HEIF),
     256 * 128},
    {"HEIC with an endless box", "image/heic",
     BYTES("\0\0\0\0"
           "free" HEIF),
     0},
    {"HEIC with a box of no size", "image/heic",
     BYTES("\0\0\0\3"
           "free" HEIF),
     0},
    {"HEIC with a box too long", "image/heic",
     BYTES("\0\0\0\1"
           "free\xff\xff\xff\xff\xff\xff\xff\xff" HEIF),
     0},
    {"no image", "application/pdf", BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\x03\x04"), 0},
};

/* In a block of their very size, so that a sanitizer sees a read beyond it. */
static uint64_t pixels_of(const char *media_type, const void *bytes, size_t length)
{
    void *copy = malloc(length == 0 ? 1 : length);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    uint64_t pixels = image_pixels(media_type, copy, length, NULL);
    free(copy);
    return pixels;
}

static void the_header_says_how_large_a_picture_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        uint64_t pixels = pixels_of(examples[i].media_type, examples[i].bytes, examples[i].length);
        if (pixels != examples[i].pixels)
            fail_msg("%s has %llu pixels, not %llu", examples[i].what, (unsigned long long)pixels,
                     (unsigned long long)examples[i].pixels);
    }
}

static void a_cut_or_broken_header_is_survived(void **state)
{
    struct arena *arena = harness_arena(state);
    struct harness_random random = {.state = 23008};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        for (size_t length = 0; length <= examples[i].length; length++)
            (void)pixels_of(examples[i].media_type, examples[i].bytes, length);
        char *bytes = arena_copy(arena, examples[i].bytes, examples[i].length);
        for (int round = 0; round < 2000; round++) {
            memcpy(bytes, examples[i].bytes, examples[i].length);
            for (int change = 0; change < 3; change++)
                bytes[harness_random_below(&random, (uint32_t)examples[i].length)] = (char)harness_random_next(&random);
            (void)pixels_of(examples[i].media_type, bytes, examples[i].length);
        }
    }
}

/* A file of which the first bytes are in sight, and the reads that were spent on the rest. */
struct whole_file {
    struct buffer bytes;
    unsigned reads;
};

static size_t read_file(void *context, uint64_t offset, void *bytes, size_t length)
{
    struct whole_file *file = context;
    file->reads++;
    if (offset >= file->bytes.length)
        return 0;
    size_t left = file->bytes.length - (size_t)offset;
    memcpy(bytes, file->bytes.bytes + offset, left < length ? left : length);
    return left < length ? left : length;
}

static uint64_t whole_pixels(const char *media_type, struct whole_file *file)
{
    size_t head = file->bytes.length < LIMIT_SNIFF_BYTES ? file->bytes.length : LIMIT_SNIFF_BYTES;
    const struct sniff_rest rest = {read_file, file};
    return image_pixels(media_type, (const unsigned char *)file->bytes.bytes, head, &rest);
}

static struct whole_file *new_file(struct arena *arena)
{
    struct whole_file *file = arena_alloc(arena, sizeof *file);
    buffer_init(&file->bytes, arena);
    return file;
}

static void add_zeros(struct whole_file *file, size_t count)
{
    static const char zeros[4096];
    for (size_t step; count > 0; count -= step) {
        step = count < sizeof zeros ? count : sizeof zeros;
        buffer_add(&file->bytes, zeros, step);
    }
}

/* A JPEG whose frame stands behind so many segments of the largest size. */
static struct whole_file *hidden_jpeg(struct arena *arena, size_t segments)
{
    struct whole_file *file = new_file(arena);
    buffer_add(&file->bytes, "\xff\xd8", 2);
    for (size_t i = 0; i < segments; i++) {
        buffer_add(&file->bytes, "\xff\xe1\xff\xff", 4);
        add_zeros(file, 65533);
    }
    buffer_add(&file->bytes, "\xff\xc0\0\x0b\x08\xea\x60\xea\x60\x01", 10);
    return file;
}

static void a_size_behind_the_first_bytes_is_read(void **state)
{
    struct arena *arena = harness_arena(state);
    struct whole_file *file = hidden_jpeg(arena, 3);
    assert_int_equal(whole_pixels("image/jpeg", file), UINT64_C(60000) * 60000);
    assert_true(file->reads <= 4);

    file = new_file(arena); /* a directory at the end, as many programs write it */
    buffer_add(&file->bytes, "MM\0*\0\1\x86\xa0", 8);
    add_zeros(file, 100000 - 8);
    buffer_add(&file->bytes, "\0\2\1\0\0\4\0\0\0\1\0\0\xea\x60\1\1\0\4\0\0\0\1\0\0\xea\x60\0\0\0\0", 30);
    assert_int_equal(whole_pixels("image/tiff", file), UINT64_C(60000) * 60000);

    file = new_file(arena); /* the boxes behind the pictures */
    buffer_add(&file->bytes,
               "\0\0\0\x10"
               "ftypheic\0\0\0\0\0\1\0\0mdat",
               24);
    add_zeros(file, 65536 - 8);
    buffer_add(&file->bytes, &HEIF[16], sizeof HEIF - 1 - 16);
    assert_int_equal(whole_pixels("image/heic", file), 256 * 128);
    assert_true(file->reads <= 3);
}

static void a_size_behind_too_much_is_as_good_as_too_large(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_int_equal(whole_pixels("image/jpeg", hidden_jpeg(arena, IMAGE_READS_MAX - 1)), UINT64_C(60000) * 60000);
    struct whole_file *file = hidden_jpeg(arena, IMAGE_READS_MAX + 1);
    assert_int_equal(whole_pixels("image/jpeg", file), UINT64_MAX);
    assert_int_equal(file->reads, IMAGE_READS_MAX);

    file = new_file(arena); /* segments of no length, for megabytes */
    buffer_add(&file->bytes, "\xff\xd8", 2);
    for (size_t i = 0; i < 600000; i++)
        buffer_add(&file->bytes, "\xff\xe1\0\2", 4);
    assert_int_equal(whole_pixels("image/jpeg", file), UINT64_MAX);
    assert_int_equal(file->reads, IMAGE_READS_MAX);

    file = new_file(arena); /* directories in a circle */
    buffer_add(&file->bytes, "MM\0*\0\0\0\x08\0\0\0\0\0\x08", 14);
    assert_int_equal(whole_pixels("image/tiff", file), 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_header_says_how_large_a_picture_is),
    HARNESS_TEST(a_cut_or_broken_header_is_survived),
    HARNESS_TEST(a_size_behind_the_first_bytes_is_read),
    HARNESS_TEST(a_size_behind_too_much_is_as_good_as_too_large),
};
HARNESS_MODULE(image, cases)
