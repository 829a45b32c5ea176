/* SPDX-License-Identifier: MIT */
/* What a file is by its first bytes. */
#include "blob/sniff.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "blob/content.h"
#include "harness.h"

#define WORD "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
#define SHEET "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
#define SLIDES "application/vnd.openxmlformats-officedocument.presentationml.presentation"
#define OLE "application/x-ole-storage"
#define UNKNOWN "application/octet-stream"
#define PE "application/vnd.microsoft.portable-executable"

static struct sniffer *open_sniffer(struct arena *arena)
{
    struct sniffer *sniffer;
    assert_null(sniffer_open(arena, &sniffer));
    return sniffer;
}

/* Sniffs the bytes in a block of their very size, so that a sanitizer sees a read beyond them. */
static struct sniffed sniff_copy(struct arena *arena, struct sniffer *sniffer, const void *bytes, size_t length)
{
    void *copy = malloc(length == 0 ? 1 : length);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    struct sniffed sniffed = sniff(sniffer, arena, copy, length, NULL);
    free(copy);
    return sniffed;
}

static void check(struct arena *arena, struct sniffer *sniffer, const char *what, const void *bytes, size_t length,
                  const char *media_type)
{
    struct sniffed sniffed = sniff_copy(arena, sniffer, bytes, length);
    if (strcmp(sniffed.media_type, media_type) != 0)
        fail_msg("%s is %s, not %s", what, sniffed.media_type, media_type);
}

struct example {
    const char *what;
    size_t length;
    const char *bytes; /* followed by zeros up to `padded` */
    size_t padded;
    const char *media_type;
};

#define BYTES(literal) sizeof(literal) - 1, literal

/* Heads as the formats' specifications lay them out. */
static const struct example examples[] = {
    /* images */
    {"PNG", BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x09\0\0\0\x09\x08\x02\0\0\0"), 100, "image/png"},
    {"the signature of PNG alone", BYTES("\x89PNG\r\n\x1a\n"), 0, UNKNOWN},
    {"JPEG", BYTES("\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"), 100, "image/jpeg"},
    {"GIF", BYTES("GIF89a\x09\0\x09\0\xf0\0\0"), 100, "image/gif"},
    {"WebP", BYTES("RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0\x30\1\0\x9d\x01\x2a\1\0\1\0"), 100, "image/webp"},
    {"BMP", BYTES("BM\x9a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x09\0\0\0\x09\0\0\0\1\0\x18\0"), 154, "image/bmp"},
    {"little-endian TIFF", BYTES("II*\0\x08\0\0\0\1\0\0\1\3\0\1\0\0\0\x09"), 100, "image/tiff"},
    {"big-endian TIFF", BYTES("MM\0*\0\0\0\x08\0\1\1\0\0\3\0\0\0\1\0\x09"), 100, "image/tiff"},
    {"SVG", BYTES("<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>"), 0, "image/svg+xml"},
    /* documents and text */
    {"PDF", BYTES("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"), 0, "application/pdf"},
    {"English", BYTES("The weighbridge closes at six today.\nTicket 17\n"), 0, "text/plain"},
    {"German in Latin-1",
     BYTES("Gr\xfc\xdf"
           "e aus M\xfcnchen.\nBis bald\n"),
     0, "text/plain"},
    {"German in UTF-8 with a mark",
     BYTES("\xef\xbb\xbfGr\xc3\xbc\xc3\x9f"
           "e\n"),
     0, "text/plain"},
    {"UTF-16",
     BYTES("\xff\xfeG\0r\0\xfc\0\xdf\0"
           "e\0\n\0"),
     0, "text/plain"},
    {"HTML", BYTES("<!DOCTYPE html><html><body><script>alert(1)</script></body></html>"), 0, "text/html"},
    {"JSON", BYTES("{\"a\": [1, 2, 3]}"), 0, "application/json"},
    {"XML", BYTES("<?xml version=\"1.0\"?>\n<a/>"), 0, "text/xml"},
    {"a table", BYTES("a,b,c\n1,2,3\n4,5,6\n7,8,9\n"), 0, "text/csv"},
    {"a shell script", BYTES("#!/bin/sh\necho hello\n"), 0, "text/x-shellscript"},
    {"zeros", BYTES("\0"), 100, UNKNOWN},
    {"nothing", BYTES(""), 0, UNKNOWN},
    /* programs */
    {"ELF",
     BYTES("\x7f"
           "ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\x3e\0\1\0\0\0"),
     200, "application/x-executable"},
    {"a shared ELF",
     BYTES("\x7f"
           "ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e\0\1\0\0\0"),
     200, "application/x-executable"},
    {"an ELF core",
     BYTES("\x7f"
           "ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\x3e\0\1\0\0\0"),
     200, "application/x-executable"},
    {"four bytes of ELF",
     BYTES("\x7f"
           "ELF"),
     0, "application/x-executable"},
    {"a DOS head", BYTES("MZ"), 200, "application/x-dosexec"},
    {"a DOS head of three bytes", BYTES("MZ\0"), 0, "application/x-dosexec"},
    {"a DOS head with a far offset",
     BYTES("MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff\0\0\xb8\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
           "\0\0\0\0"
           "\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff"),
     200, "application/x-dosexec"},
    {"PE",
     BYTES("MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff\0\0\xb8\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
           "\0\0\0\0"
           "\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\0\0PE\0\0\x64\x86\1\0"),
     400, PE},
    {"text that starts with MZ", BYTES("MZ-AB 123 is a number plate of Mainz.\nNo program.\n"), 0, "text/plain"},
    {"Mach-O, 32 bits", BYTES("\xce\xfa\xed\xfe\7\0\0\0\3\0\0\0\2\0\0\0"), 100, "application/x-mach-binary"},
    {"Mach-O, 64 bits", BYTES("\xcf\xfa\xed\xfe\7\0\0\1\3\0\0\0\2\0\0\0"), 100, "application/x-mach-binary"},
    {"Mach-O, big-endian", BYTES("\xfe\xed\xfa\xce\0\0\0\x12\0\0\0\0\0\0\0\2"), 100, "application/x-mach-binary"},
    {"Mach-O, big-endian, 64 bits", BYTES("\xfe\xed\xfa\xcf\1\0\0\x12\0\0\0\0"), 100, "application/x-mach-binary"},
    {"Mach-O for two processors", BYTES("\xca\xfe\xba\xbe\0\0\0\2\0\0\0\7"), 100, "application/x-mach-binary"},
    {"Mach-O for two, 64 bits", BYTES("\xca\xfe\xba\xbf\0\0\0\2\0\0\0\7"), 100, "application/x-mach-binary"},
    {"a Java class, no Mach-O", BYTES("\xca\xfe\xba\xbe\0\0\0\x34\0\x10\x0a\0"), 100, "application/x-java-applet"},
    {"a Debian package", BYTES("!<arch>\ndebian-binary   1342943816  0     0     100644  4         `\n2.0\n"), 200,
     "application/vnd.debian.binary-package"},
    {"another archive of ar", BYTES("!<arch>\nreadme.txt/     1342943816  0     0     100644  4         `\nabcd"), 0,
     "application/x-archive"},
    {"RPM", BYTES("\xed\xab\xee\xdb\3\0\0\0\0\1pkg-1.0"), 200, "application/x-rpm"},
    {"a macOS package", BYTES("xar!\0\x1c\0\1\0\0\0\0\0\0\1\0"), 100, "application/x-xar"},
    {"Dalvik code", BYTES("dex\n035\0"), 120, "application/vnd.android.dex"},
    {"Flatpak", BYTES("flatpak\0\1\0\x89\xe5"), 100, "application/vnd.flatpak"},
    {"a script with a payload", BYTES("#!/bin/sh\ntail -n +3 \"$0\" | tar xz\nexit\n\x1f\x8b\x08\0\0"), 100,
     "application/x-self-extracting-script"},
    {"what Makeself makes", BYTES("#!/bin/sh\n# This script was generated using Makeself 2.4.5\nexit\n"), 0,
     "application/x-self-extracting-script"},
    {"a phone's voice note", BYTES("#!AMR\n\x3c\x91\x17\x16\xbe\x66\x79\xe1\xe0\x01"), 100, "audio/amr"},
    {"text that begins like Dalvik code", BYTES("dex\nfin\n"), 0, "text/plain"},
    {"a PDF behind a line end", BYTES("\r\n%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"), 100, "application/pdf"},
    {"a PDF of text behind a line end", BYTES("\r\n \t%PDF-1.4\n1 0 obj\n"), 0, "application/pdf"},
    /* containers */
    {"gzip", BYTES("\x1f\x8b\x08\0\0\0\0\0\0\3"), 30, "application/gzip"},
    {"7-Zip", BYTES("7z\xbc\xaf\x27\x1c\0\4"), 100, "application/x-7z-compressed"},
};

static void files_are_told_by_their_first_bytes(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniffer *sniffer = open_sniffer(arena);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *example = &examples[i];
        size_t length = example->padded > example->length ? example->padded : example->length;
        char *bytes = arena_alloc(arena, length);
        memcpy(bytes, example->bytes, example->length);
        check(arena, sniffer, example->what, bytes, length, example->media_type);
    }
}

static void add_little(struct buffer *out, uint32_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        buffer_add_char(out, (char)(value >> (8 * i)));
}

/* A ZIP entry with stored content; `streamed` leaves its sizes for later, as writers to a pipe do. */
static void add_zip_entry(struct buffer *out, const char *name, size_t size, bool streamed)
{
    uint32_t stored = streamed ? 0 : (uint32_t)size;
    buffer_add(out, "PK\3\4\x14\0", 6);
    add_little(out, streamed ? 8 : 0, 2);
    add_little(out, 0, 2);
    add_little(out, 0, 4);
    add_little(out, 0, 4);
    add_little(out, stored, 4);
    add_little(out, stored, 4);
    add_little(out, (uint32_t)strlen(name), 2);
    add_little(out, 0, 2);
    buffer_add_text(out, name);
    for (size_t i = 0; i < size; i++)
        buffer_add_char(out, (char)(i * 7));
}

struct zip_example {
    const char *what;
    const char *names; /* separated by blanks */
    const char *media_type;
};

static const struct zip_example zips[] = {
    {"Word's own order", "[Content_Types].xml _rels/.rels word/document.xml", WORD},
    {"LibreOffice's order", "_rels/.rels word/document.xml word/styles.xml [Content_Types].xml", WORD},
    {"python-docx's order",
     "[Content_Types].xml _rels/.rels docProps/core.xml docProps/app.xml customXml/item1.xml "
     "word/document.xml",
     WORD},
    {"openpyxl's order", "docProps/app.xml docProps/core.xml xl/theme/theme1.xml xl/workbook.xml _rels/.rels", SHEET},
    {"Excel's own order", "[Content_Types].xml _rels/.rels xl/workbook.xml", SHEET},
    {"a sheet that starts with its relations", "_rels/.rels xl/workbook.xml [Content_Types].xml", SHEET},
    {"slides", "_rels/.rels docProps/core.xml ppt/presentation.xml [Content_Types].xml", SLIDES},
    {"PowerPoint's own order", "[Content_Types].xml _rels/.rels ppt/presentation.xml", SLIDES},
    {"plain files", "readme.txt src/main.c", "application/zip"},
    {"a folder named like Excel's", "notes/readme.txt xl/readme.txt", "application/zip"},
    {"an Android program", "META-INF/MANIFEST.MF classes.dex AndroidManifest.xml",
     "application/vnd.android.package-archive"},
    {"an Android program without code", "res/a.xml resources.arsc AndroidManifest.xml",
     "application/vnd.android.package-archive"},
    {"an Android program's sources", "build.gradle AndroidManifest.xml src/a.java", "application/zip"},
    {"a Windows package", "Assets/logo.png AppxManifest.xml [Content_Types].xml", "application/vnd.ms-appx"},
    {"a Windows bundle", "a.appx AppxMetadata/AppxBundleManifest.xml", "application/vnd.ms-appx"},
};

static void office_documents_are_found_in_any_order(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniffer *sniffer = open_sniffer(arena);
    for (size_t i = 0; i < sizeof zips / sizeof *zips; i++) {
        for (int streamed = 0; streamed < 2; streamed++) {
            struct buffer zip;
            buffer_init(&zip, arena);
            struct text_list names = text_words(arena, zips[i].names);
            for (size_t n = 0; n < names.count; n++)
                add_zip_entry(&zip, names.items[n], 700, streamed);
            check(arena, sniffer, zips[i].what, zip.bytes, zip.length, zips[i].media_type);
        }
    }
}

static void a_name_cut_by_the_window_is_not_read(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniffer *sniffer = open_sniffer(arena);
    struct buffer zip;
    buffer_init(&zip, arena);
    add_zip_entry(&zip, "a.txt", 100, false);
    size_t before = zip.length;
    add_zip_entry(&zip, "b.txt", 0, false);
    for (size_t length = before; length <= zip.length; length++) {
        check(arena, sniffer, "a cut ZIP", zip.bytes, length, "application/zip");
    }
}

/* An OLE file with its directory in sector `directory` and `first` in sector 0. */
static char *ole(struct arena *arena, const char *first, uint32_t directory, const char *class_id, size_t *length_out)
{
    struct buffer file;
    buffer_init(&file, arena);
    buffer_add(&file, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x3e\0\3\0\xfe\xff\x09\0\6\0",
               34);
    while (file.length < 48)
        buffer_add_char(&file, '\0');
    add_little(&file, directory, 4);
    while (file.length < 8192)
        buffer_add_char(&file, '\0');
    memcpy(file.bytes + 512, first, strlen(first));
    if (directory < 10)
        memcpy(file.bytes + 512 * (directory + 1) + 80, class_id, 16);
    *length_out = file.length;
    return file.bytes;
}

static void office_files_of_old_are_told_from_installers(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniffer *sniffer = open_sniffer(arena);
    static const struct {
        const char *first;
        uint32_t directory;
        const char *class_id;
        const char *media_type;
    } files[] = {
        {"", 1, "\x84\x10\x0c\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", "application/x-msi"},
        {"", 9, "\x82\x10\x0c\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", "application/x-msi"},
        {"", 3, "\x86\x10\x0c\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", "application/x-msi"},
        {"", 1, "\x06\x09\x02\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", "application/msword"},
        {"", 1, "\x20\x08\x02\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", "application/vnd.ms-excel"},
        {"", 1, "\x10\x8d\x81\x64\x9b\x4f\xcf\x11\x86\xea\0\xaa\0\xb9\x29\xe8", "application/vnd.ms-powerpoint"},
        {"\xec\xa5\xc1", 5000, "", "application/msword"},
        {"\x09\x08\x10", 0xfffffffe, "", "application/vnd.ms-excel"},
        {"\x09\x08\x10", 0xffffffff, "", "application/vnd.ms-excel"},
        {"", 5000, "", OLE},
        {"", 1, "1234567890123456", OLE},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t length;
        const char *bytes = ole(arena, files[i].first, files[i].directory, files[i].class_id, &length);
        check(arena, sniffer, arena_format(arena, "OLE file %zu", i), bytes, length, files[i].media_type);
    }
    size_t length;
    const char *bytes = ole(arena, "", 1, "\x84\x10\x0c\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", &length);
    for (size_t cut = 0; cut < 1200; cut += 8) {
        struct sniffed sniffed = sniff_copy(arena, sniffer, bytes, cut);
        assert_int_equal(content_is_program(sniffed.media_type), cut >= 1024 + 128);
    }
}

static void heif_is_told_by_its_brands(void **state)
{
    static const struct {
        const char *brands; /* major, version, compatible ones */
        const char *media_type;
    } files[] = {
        {"heic....mif1heic", "image/heic"}, {"heix....mif1heix", "image/heic"}, {"heim....mif1heim", "image/heic"},
        {"mif1....mif1heic", "image/heic"}, {"mif1....miafheix", "image/heic"}, {"msf1....hevcheic", "image/heic"},
        {"avif....mif1miaf", "image/avif"}, {"avis....msf1miaf", "image/avif"}, {"mif1....mif1avif", "image/avif"},
        {"mif1....mif1miaf", "image/heif"}, {"isom....iso2avc1", "video/mp4"},  {"mp42....mp42isom", "video/mp4"},
        {"mif1heicmif1miaf", "image/heif"}, /* a version is no brand */
    };
    struct arena *arena = harness_arena(state);
    struct sniffer *sniffer = open_sniffer(arena);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char box[64] = "\0\0\0\x18"
                       "ftyp";
        memcpy(box + 8, files[i].brands, 16);
        for (char *dot = box + 8; dot < box + 24; dot++)
            *dot = *dot == '.' ? '\0' : *dot;
        memcpy(box + 24,
               "\0\0\0\x28"
               "metaavif",
               12); /* behind the box: no brand */
        check(arena, sniffer, files[i].brands, box, sizeof box, files[i].media_type);
    }
}

static void text_is_text_to_its_end(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniffer *sniffer = open_sniffer(arena);
    static const char line[] = "The quick brown fox jumps over the lazy dog, again.\n";
    char *text = arena_alloc(arena, LIMIT_SNIFF_BYTES + 100);
    for (size_t i = 0; i < LIMIT_SNIFF_BYTES + 100; i++)
        text[i] = line[i % (sizeof line - 1)];
    struct sniffed sniffed = sniff(sniffer, arena, text, LIMIT_SNIFF_BYTES, NULL);
    assert_true(sniffed.text);
    text[LIMIT_SNIFF_BYTES] = '\0'; /* not looked at */
    assert_true(sniff(sniffer, arena, text, LIMIT_SNIFF_BYTES + 100, NULL).text);
    text[LIMIT_SNIFF_BYTES - 1] = '\0'; /* libmagic stops long before */
    sniffed = sniff(sniffer, arena, text, LIMIT_SNIFF_BYTES, NULL);
    assert_false(sniffed.text);
    assert_string_equal(sniffed.media_type, UNKNOWN);
    assert_true(sniff(sniffer, arena, "1", 1, NULL).text);
    assert_false(sniff(sniffer, arena, "\x7f", 1, NULL).text);
    assert_true(sniff(sniffer, arena, "a;b\r\n1;2\r\n\x1a", 11, NULL).text); /* Ctrl-Z ends a text of DOS */
    assert_false(sniff(sniffer, arena, "a;b\r\n\x1a\r\n", 8, NULL).text);
    assert_false(sniff(sniffer, arena, "\x1a", 1, NULL).text);
    assert_false(sniff(sniffer, arena, "\xff\xfe\0\0", 4, NULL).text);
    assert_true(sniff(sniffer, arena, "\xfe\xff\0a", 4, NULL).text);
}

/*
 * Text of 200 digits and then blanks takes libmagic a hundred milliseconds without these bounds (its guess of the
 * encoding looks at each pair of bytes). Time is no measure on a busy machine: the bounds are.
 */
static void libmagic_is_bounded_against_hostile_text(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniffer *sniffer = open_sniffer(arena);
    size_t bytes = 0;
    size_t encoding_bytes = 0;
    sniffer_bounds(sniffer, &bytes, &encoding_bytes);
    assert_int_equal(bytes, 16384);
    assert_int_equal(LIMIT_SNIFF_BYTES, 16384);
    assert_int_equal(encoding_bytes, 1024);
    char *text = arena_alloc(arena, LIMIT_SNIFF_BYTES);
    memset(text, ' ', LIMIT_SNIFF_BYTES);
    memset(text, '1', 200);
    check(arena, sniffer, "digits and blanks", text, LIMIT_SNIFF_BYTES, "text/plain");
}

/* Whoever reads on, whether we or libmagic, meets a page that may not be read. */
static void nobody_reads_beyond_the_first_16_kib(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniffer *sniffer = open_sniffer(arena);
    char *pages = mmap(NULL, LIMIT_SNIFF_BYTES + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + LIMIT_SNIFF_BYTES, 65536, PROT_NONE), 0);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        memset(pages, ' ', LIMIT_SNIFF_BYTES);
        memcpy(pages, examples[i].bytes, examples[i].length);
        (void)sniff(sniffer, arena, pages, LIMIT_SNIFF_BYTES + 65536, NULL);
    }
    memset(pages, '1', 200);
    memset(pages + 200, ' ', LIMIT_SNIFF_BYTES - 200);
    assert_string_equal(sniff(sniffer, arena, pages, LIMIT_SNIFF_BYTES + 65536, NULL).media_type, "text/plain");
    assert_int_equal(munmap(pages, LIMIT_SNIFF_BYTES + 65536), 0);
}

/* Random heads behind real signatures: no crash, and always a bare media type. */
static void whatever_comes_the_answer_is_a_bare_type(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniffer *sniffer = open_sniffer(arena);
    struct harness_random random = {.state = 2046};
    struct arena *scratch = arena_new();
    for (int i = 0; i < 3000; i++) {
        arena_reset(scratch);
        const struct example *example = &examples[harness_random_below(&random, sizeof examples / sizeof *examples)];
        size_t length = harness_random_below(&random, 600);
        unsigned char *bytes = arena_alloc(scratch, length);
        for (size_t at = 0; at < length; at++)
            bytes[at] = (unsigned char)harness_random_next(&random);
        size_t kept = harness_random_below(&random, (uint32_t)example->length + 1);
        memcpy(bytes, example->bytes, kept < length ? kept : length);
        const char *media_type = sniff_copy(scratch, sniffer, bytes, length).media_type;
        const char *slash = strchr(media_type, '/');
        assert_non_null(slash);
        assert_null(strchr(slash + 1, '/'));
        assert_int_equal(strspn(media_type, "abcdefghijklmnopqrstuvwxyz0123456789.+-/_"), strlen(media_type));
        assert_true(slash != media_type && slash[1] != '\0');
    }
    arena_free(&scratch);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(files_are_told_by_their_first_bytes),
    HARNESS_TEST(office_documents_are_found_in_any_order),
    HARNESS_TEST(a_name_cut_by_the_window_is_not_read),
    HARNESS_TEST(office_files_of_old_are_told_from_installers),
    HARNESS_TEST(heif_is_told_by_its_brands),
    HARNESS_TEST(text_is_text_to_its_end),
    HARNESS_TEST(libmagic_is_bounded_against_hostile_text),
    HARNESS_TEST(nobody_reads_beyond_the_first_16_kib),
    HARNESS_TEST(whatever_comes_the_answer_is_a_bare_type),
};
HARNESS_MODULE(sniff, cases)
