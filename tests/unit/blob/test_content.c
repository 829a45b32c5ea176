/* SPDX-License-Identifier: MIT */
#include "blob/content.h"

#include <string.h>

#include "base/arena.h"
#include "blob/sniff.h"
#include "harness.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The contract's lists, written out once more. */
static const char *const types[] = {
    "sample", "avatar",  "weighbridge",      "contract",           "image",         "logo",
    "misc",   "vehicle", "terms-conditions", "logistics-delivery", "logistics-load"};

static bool is_image_type(const char *type)
{
    return strcmp(type, "avatar") == 0 || strcmp(type, "image") == 0 || strcmp(type, "logo") == 0;
}

static void the_lists_are_the_contracts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(types); i++)
        assert_string_equal(content_types[i], types[i]);
    assert_null(content_types[COUNT(types)]);
    assert_string_equal(content_buckets[0], "images");
    assert_string_equal(content_buckets[1], "files");
    assert_null(content_buckets[2]);
}

static void image_types_live_in_images_only_and_all_others_in_either(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(types); i++) {
        assert_true(content_type_known(types[i]));
        assert_true(content_type_fits(types[i], "images"));
        assert_int_equal(content_type_fits(types[i], "files"), !is_image_type(types[i]));
        assert_false(content_type_fits(types[i], "attic"));
        assert_false(content_bucket_known(types[i]));
    }
    static const char *const strangers[] = {"", "Avatar", "images", "files", "avatar ", "sampl"};
    for (size_t i = 0; i < COUNT(strangers); i++) {
        assert_false(content_type_known(strangers[i]));
        assert_false(content_type_fits(strangers[i], "files"));
    }
    assert_true(content_bucket_known("images"));
    assert_true(content_bucket_known("files"));
    assert_false(content_bucket_known("Files"));
    assert_false(content_bucket_known(""));
}

struct media_example {
    const char *media_type;
    bool in_images, in_files, is_inline;
};

static void media_types_go_where_they_may(void **state)
{
    static const struct media_example examples[] = {
        {"image/jpeg", true, true, true},
        {"image/png", true, true, true},
        {"image/gif", true, true, true},
        {"image/webp", true, true, true},
        {"image/avif", true, true, true},
        {"image/heic", true, true, true},
        {"image/tiff", true, true, true},
        {"image/bmp", true, true, true},
        {"application/pdf", false, true, true},
        {"text/plain", false, true, true},
        {"image/svg+xml", false, true, false},
        {"image/heif", false, true, false},
        {"image/x-icon", false, true, false},
        {"image/vnd.adobe.photoshop", false, true, false},
        {"text/html", false, true, false},
        {"text/csv", false, true, false},
        {"text/xml", false, true, false},
        {"application/javascript", false, true, false},
        {"application/zip", false, true, false},
        {"application/octet-stream", false, true, false},
        {"video/mp4", false, true, false},
        {"application/x-executable", false, false, false},
        {"application/x-pie-executable", false, false, false},
        {"application/x-sharedlib", false, false, false},
        {"application/x-object", false, false, false},
        {"application/x-coredump", false, false, false},
        {"application/x-dosexec", false, false, false},
        {"application/vnd.microsoft.portable-executable", false, false, false},
        {"application/x-mach-binary", false, false, false},
        {"application/x-msi", false, false, false},
        {"application/vnd.debian.binary-package", false, false, false},
        {"application/x-rpm", false, false, false},
        {"application/x-xar", false, false, false},
        {"application/vnd.android.package-archive", false, false, false},
        {"application/vnd.android.dex", false, false, false},
        {"application/vnd.ms-appx", false, false, false},
        {"application/vnd.flatpak", false, false, false},
        {"application/x-self-extracting-script", false, false, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        const struct media_example *example = &examples[i];
        if (content_allowed("images", example->media_type) != example->in_images ||
            content_allowed("files", example->media_type) != example->in_files ||
            content_inline(example->media_type) != example->is_inline)
            fail_msg("%s is misplaced", example->media_type);
        assert_int_equal(content_is_program(example->media_type), !example->in_files);
        assert_false(content_allowed("attic", example->media_type));
    }
}

struct decision {
    const char *sniffed;
    bool text;
    const char *name;
    const char *declared;
    const char *media_type;
};

static void what_was_sniffed_counts_but_for_tables(void **state)
{
    static const struct decision decisions[] = {
        {"text/plain", true, "a.csv", NULL, "text/csv"},
        {"text/plain", true, "A.CSV", NULL, "text/csv"},
        {"text/plain", true, "a.txt", "text/csv", "text/csv"},
        {"text/plain", true, NULL, "text/csv", "text/csv"},
        {"text/plain", true, NULL, " Text/CSV; charset=utf-8", "text/csv"},
        {"text/plain", true, NULL, "application/csv", "text/csv"},
        {"text/plain", true, NULL, "text/comma-separated-values", "text/csv"},
        {"text/html", true, "a.csv", "text/html", "text/csv"},
        {"application/json", true, "a.csv", NULL, "text/csv"},
        {"application/octet-stream", true, "a.csv", NULL, "text/csv"},
        {"text/csv", true, "a.txt", "text/plain", "text/csv"},
        /* neither says so, or the bytes are no text */
        {"text/plain", true, "a.txt", "text/plain", "text/plain"},
        {"text/plain", true, NULL, NULL, "text/plain"},
        {"text/plain", true, "csv", "text/csvx", "text/plain"},
        {"text/plain", true, "a.csv.txt", "xtext/csv", "text/plain"},
        {"text/plain", true, "a.csv ", "", "text/plain"},
        {"application/zip", false, "a.csv", "text/csv", "application/zip"},
        {"image/png", false, "a.csv", "text/csv", "image/png"},
        {"application/pdf", false, "a.png", "image/png", "application/pdf"},
        {"application/octet-stream", false, "a.png", "image/png", "application/octet-stream"},
        {"text/html", true, "a.png", "image/png", "text/html"},
        /* a program stays one */
        {"application/x-self-extracting-script", true, "a.csv", "text/csv",
         "application/x-self-extracting-script"},
        /* an installer that could not be seen through */
        {"application/x-ole-storage", false, "Setup.MSI", NULL, "application/x-msi"},
        {"application/x-ole-storage", false, "setup.msp", NULL, "application/x-msi"},
        {"application/x-ole-storage", false, "a.doc", "application/x-msi", "application/x-msi"},
        {"application/x-ole-storage", false, "a.doc", "application/msword", "application/x-ole-storage"},
        {"application/msword", false, "a.msi", NULL, "application/msword"},
        {"text/plain", true, "a.msi", NULL, "text/plain"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(decisions); i++) {
        const struct decision *decision = &decisions[i];
        struct sniffed sniffed = {.media_type = decision->sniffed, .text = decision->text};
        const char *media_type = content_media_type(&sniffed, decision->name, decision->declared);
        if (strcmp(media_type, decision->media_type) != 0)
            fail_msg("decision %zu gives %s, not %s", i, media_type, decision->media_type);
    }
}

static void images_have_a_bound_of_pixels(void **state)
{
    (void)state;
    assert_true(content_pixels_allowed(&(struct sniffed){.media_type = "image/png", .pixels = 0}));
    assert_true(content_pixels_allowed(&(struct sniffed){.media_type = "image/png", .pixels = 40000000}));
    assert_false(content_pixels_allowed(&(struct sniffed){.media_type = "image/png", .pixels = 40000001}));
    assert_false(content_pixels_allowed(&(struct sniffed){.media_type = "image/png", .pixels = UINT64_MAX}));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_lists_are_the_contracts),
    HARNESS_TEST(image_types_live_in_images_only_and_all_others_in_either),
    HARNESS_TEST(media_types_go_where_they_may),
    HARNESS_TEST(what_was_sniffed_counts_but_for_tables),
    HARNESS_TEST(images_have_a_bound_of_pixels),
};
HARNESS_MODULE(content, cases)
