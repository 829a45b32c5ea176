/* SPDX-License-Identifier: MIT */
/* Which content may be stored, and how it is shown. */
#include "blob/content.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "blob/media_int.h"
#include "blob/sniff.h"
#include "harness.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

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
        if (content_allowed(FILE_CONTENT_PICTURES, example->media_type) != example->in_images ||
            content_allowed(FILE_CONTENT_ANYTHING, example->media_type) != example->in_files ||
            content_inline(example->media_type) != example->is_inline)
            fail_msg("%s is misplaced", example->media_type);
        assert_int_equal(content_is_program(example->media_type), !example->in_files);
        assert_false(content_allowed(FILE_CONTENT_NOTHING, example->media_type));
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
        {"application/x-self-extracting-script", true, "a.csv", "text/csv", "application/x-self-extracting-script"},
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

struct claim {
    const char *found;
    const char *declared; /* NULL: nothing */
    const char *name;     /* NULL: none */
};

/* Whether text was seen follows from the type found, as the sniffer has it. */
static bool is_text(const char *found)
{
    return strncmp(found, "text/", 5) == 0 || strstr(found, "json") != NULL || strstr(found, "xml") != NULL;
}

#define WORD MEDIA_OFFICE "wordprocessingml.document"
#define SHEET MEDIA_OFFICE "spreadsheetml.sheet"

static const struct claim honest[] = {
    {"image/png", NULL, NULL},
    {"image/png", "image/png", "a.png"},
    {"image/png", "IMAGE/PNG ; x=y", "A.PNG"},
    {"image/jpeg", "image/jpg", "a.jpeg"},
    {"image/jpeg", "image/pjpeg", "a.jpe"},
    {"image/bmp", "image/x-ms-bmp", "a.dib"},
    {"image/heic", "image/heif", "a.heif"},
    {"image/heif", "image/heic", "a.heic"},
    /* nothing is claimed */
    {"image/png", "application/octet-stream", "a.bin"},
    {"image/png", "", ""},
    {"image/png", "nonsense", "a"},
    {"image/png", "application/x-nobody-knows", "a.x"},
    {"image/png", "/", "png"},
    {"image/png", ";", "a.png.bin"},
    {"image/png", "binary/octet-stream", "a."},
    {"application/octet-stream", "application/octet-stream", "noise.dat"},
    {"application/octet-stream", "image/x-raw", "noise.raw"},
    {"application/octet-stream", "audio/mpeg", "a.mp3"},
    {"image/vnd.dwg", "image/x-dwg", "plan.dwg"},
    {"video/mp4", "audio/x-m4a", "a.m4a"},
    /* text of any kind is text */
    {"text/plain", "text/csv", "a.csv"},
    {"text/csv", "text/plain", "a.txt"},
    {"text/csv", "application/vnd.ms-excel", "a.csv"},
    {"text/html", "text/plain", "a.txt"},
    {"text/html", "application/vnd.ms-excel", "export.xls"},
    {"text/plain", "text/x-python", "a.py"},
    {"text/plain", "application/json", "a.json"},
    {"application/json", "text/plain; charset=utf-8", "a.txt"},
    {"text/xml", "image/svg+xml", "a.svg"},
    {"image/svg+xml", "text/xml", "a.xml"},
    {"text/xml", "application/xml", "a.xml"},
    {"application/javascript", "text/javascript", "a.js"},
    {"text/x-c", "text/plain", "a.txt"},
    /* containers */
    {WORD, WORD, "a.docx"},
    {WORD, "application/vnd.ms-word.document.macroEnabled.12", "a.docm"},
    {WORD, "application/zip", "a.zip"},
    {WORD, "application/x-zip-compressed", "a"},
    {"application/zip", WORD, "a.docx"},
    {"application/encrypted", WORD, "secret.docx"},
    {"application/x-ole-storage", SHEET, "secret.xlsx"},
    {"application/x-ole-storage", "application/msword", "a.doc"},
    {"text/rtf", "application/msword", "a.doc"},
    {"text/html", "application/msword", "a.doc"},
    {"text/plain", "application/msword", "a.doc"}, /* MHTML */
    {"text/rtf", "application/rtf", "a.rtf"},
    {"application/vnd.oasis.opendocument.text-template", "application/vnd.oasis.opendocument.text", "a.ott"},
    {"application/java-archive", "application/zip", "a.jar"},
    {"application/gzip", "application/x-gzip", "a.tar.gz"},
    {"application/vnd.google-earth.kmz", "application/zip", "a.kmz"},
    {"application/vnd.unheard-of+zip", "application/zip", "a.zip"},
    {"text/rtf", "text/plain", "a.txt"},
};

static void claims_that_agree_with_the_bytes_pass(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < COUNT(honest); i++) {
        const struct claim *claim = &honest[i];
        const char *said =
            content_contradiction(arena, claim->found, is_text(claim->found), claim->declared, claim->name);
        if (said != NULL)
            fail_msg("claim %zu: %s", i, said);
    }
    /* Text that libmagic has no name for. */
    assert_null(content_contradiction(arena, "application/octet-stream", true, "text/plain", "a.csv"));
    assert_null(content_contradiction(arena, "application/x-wine-extension-ini", true, "text/plain", "a.txt"));
}

static const struct claim lies[] = {
    {"image/png", "image/jpeg", NULL},
    {"image/png", NULL, "a.jpg"},
    {"image/png", "text/plain", NULL},
    {"image/png", "image/x-raw2; a=b", "a.csv"},
    {"image/png", "image/svg+xml", NULL},
    {"image/png", NULL, "a.svg"},
    {"image/png", NULL, "photo.png.exe"},
    {"image/png", NULL, "photo.exe. ."},
    {"image/png", "audio/unheard-of", NULL},
    {"image/png", "font/woff2", NULL},
    {"image/png", "text/x-unheard-of", NULL},
    {"image/gif", NULL, "gif.js"},
    {"image/avif", "image/heic", NULL},
    {"application/pdf", "text/html", "page.html"},
    {"application/pdf", NULL, "a.PNG"},
    {"application/pdf", "application/x-msdownload", NULL},
    {"application/pdf", "text/csv", "a.csv"},
    {"application/octet-stream", "text/csv", NULL},
    {"application/octet-stream", NULL, "a.png"},
    {"application/octet-stream", NULL, "a.pdf"},
    {"application/octet-stream", "application/pdf", NULL},
    {"application/zip", "application/pdf", NULL},
    {"application/zip", NULL, "a.txt"},
    {"application/zip", "application/gzip", NULL},
    {WORD, SHEET, NULL},
    {WORD, NULL, "a.xlsx"},
    {WORD, NULL, "a.pdf"},
    {WORD, "application/msword", NULL},
    {"application/x-ole-storage", NULL, "a.pdf"},
    {"application/x-ole-storage", NULL, "a.zip"},
    {"text/plain", "image/png", NULL},
    {"text/plain", "application/pdf", NULL},
    {"text/plain", NULL, "a.exe"},
    {"text/plain", NULL, "a.docx"},
    {"text/html", NULL, "a.png"},
    {"text/html", "application/pdf", NULL},
    {"text/html", "image/gif", NULL},
    {"image/svg+xml", "image/png", NULL},
    {"image/svg+xml", NULL, "a.jpg"},
    {"video/mp4", NULL, "a.pdf"},
    {"application/gzip", NULL, "a.zip"},
    {"text/plain", NULL, "a.rtf"},
    {"application/x-unheard-of", "application/zip", NULL},
};

static void claims_that_contradict_the_bytes_are_named_with_them(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < COUNT(lies); i++) {
        const struct claim *lie = &lies[i];
        const char *said = content_contradiction(arena, lie->found, is_text(lie->found), lie->declared, lie->name);
        if (said == NULL || strstr(said, lie->found) == NULL)
            fail_msg("lie %zu passes: %s", i, said == NULL ? "nothing is said" : said);
    }
    assert_string_equal(content_contradiction(arena, "image/png", false, "Text/CSV; a=b", "a.jpg"),
                        "is image/png by its bytes, but was declared as text/csv");
    assert_string_equal(content_contradiction(arena, "image/png", false, NULL, "a.jpg"),
                        "is image/png by its bytes, but its name stands for image/jpeg");
}

static void every_row_of_the_table_is_found_by_its_names_alone(void **state)
{
    (void)state;
    size_t count;
    const struct media *rows = media_rows(&count);
    for (size_t i = 0; i < count; i++) {
        char words[1024];
        assert_ptr_equal(media_find(rows[i].name), &rows[i]);
        (void)snprintf(words, sizeof words, "%s", rows[i].aliases);
        for (char *rest, *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
            assert_ptr_equal(media_find(word), &rows[i]);
        (void)snprintf(words, sizeof words, "%s", rows[i].extensions);
        for (char *rest, *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
            char name[64];
            (void)snprintf(name, sizeof name, "x.%s", word);
            assert_ptr_equal(media_of_name(name), &rows[i]);
        }
    }
    assert_null(media_find(""));
    assert_null(media_find("image"));
    assert_null(media_of_name("jpg"));
    assert_null(media_of_name("a.jpg/"));
    assert_null(media_of_name("..."));
    assert_null(media_of_name(""));
    assert_non_null(media_of_name(".csv"));
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
    HARNESS_TEST(every_row_of_the_table_is_found_by_its_names_alone),
    HARNESS_TEST(media_types_go_where_they_may),
    HARNESS_TEST(what_was_sniffed_counts_but_for_tables),
    HARNESS_TEST(claims_that_agree_with_the_bytes_pass),
    HARNESS_TEST(claims_that_contradict_the_bytes_are_named_with_them),
    HARNESS_TEST(images_have_a_bound_of_pixels),
};
HARNESS_MODULE(content, cases)
