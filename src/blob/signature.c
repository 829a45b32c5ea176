/* SPDX-License-Identifier: MIT */
/*
 * Recognises programs by the magic numbers of their loaders, whatever libmagic says. It looks into three kinds of
 * containers:
 *
 * - ZIP (APPNOTE 4.3.7): the names in the first local headers reveal an Office document, in whatever order its parts
 *   stand; libmagic expects the order in which Microsoft writes them.
 * - OLE (MS-CFB 2.2, 2.6): the class id of the root entry, or the contents of the first sector where the directory lies
 *   behind the examined bytes.
 * - HEIF (ISO/IEC 14496-12, 4.3): the compatible brands, where the major one is generic.
 */
#include "blob/signature_int.h"

#include <stdint.h>
#include <string.h>

#include "blob/media_int.h"

#define OLE MEDIA_OLE
#define INSTALLER MEDIA_INSTALLER
#define OFFICE MEDIA_OFFICE
#define PDF_HEAD_BYTES 1024

struct magic_number {
    size_t length;
    const char *bytes;
    const char *media_type;
};

static uint32_t big32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t little32(const unsigned char *at)
{
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/* `text` is a literal; its NUL does not count. */
static bool starts_with(const unsigned char *bytes, size_t length, const char *text)
{
    size_t wanted = strlen(text);
    return length >= wanted && memcmp(bytes, text, wanted) == 0;
}

/* Whether a name of `length` bytes equals this one. */
static bool is_name(const unsigned char *name, size_t length, const char *text)
{
    return length == strlen(text) && memcmp(name, text, length) == 0;
}

/* ---- text ---- */

/* Programs from the time of DOS end a text with it (Ctrl-Z). */
#define DOS_END 0x1a

/* As in libmagic: BEL to CR and ESC occur in text, the other controls do not. */
static bool is_text_unit(unsigned unit)
{
    return unit >= 0x20 ? unit != 0x7f : (unit >= 7 && unit <= 13) || unit == 27;
}

bool signature_is_text(const unsigned char *bytes, size_t length)
{
    if (length > 1 && bytes[length - 1] == DOS_END)
        length--;
    bool big = starts_with(bytes, length, "\xfe\xff");
    if (big || starts_with(bytes, length, "\xff\xfe")) {
        for (size_t i = 2; i + 1 < length; i += 2)
            if (!is_text_unit(big ? (unsigned)bytes[i] << 8 | bytes[i + 1] : (unsigned)bytes[i + 1] << 8 | bytes[i]))
                return false;
        return true;
    }
    for (size_t i = 0; i < length; i++)
        if (!is_text_unit(bytes[i]))
            return false;
    return true;
}

/* ---- OLE ---- */

static const char *class_type(const unsigned char *class_id)
{
    static const struct magic_number classes[] = {
        {16, "\x82\x10\x0c\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", INSTALLER}, /* transform */
        {16, "\x84\x10\x0c\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", INSTALLER}, /* package */
        {16, "\x86\x10\x0c\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", INSTALLER}, /* patch */
        {16, "\x00\x09\x02\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", "application/msword"},
        {16, "\x06\x09\x02\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", "application/msword"},
        {16, "\x10\x08\x02\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", "application/vnd.ms-excel"},
        {16, "\x20\x08\x02\0\0\0\0\0\xc0\0\0\0\0\0\0\x46", "application/vnd.ms-excel"},
        {16, "\x10\x8d\x81\x64\x9b\x4f\xcf\x11\x86\xea\0\xaa\0\xb9\x29\xe8", "application/vnd.ms-powerpoint"},
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (memcmp(class_id, classes[i].bytes, classes[i].length) == 0)
            return classes[i].media_type;
    return NULL;
}

static const char *refine_ole(const unsigned char *bytes, size_t length)
{
    if (length < 512 || !starts_with(bytes, length, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"))
        return OLE;
    unsigned shift = bytes[30] == 12 ? 12 : 9;
    uint64_t root = ((uint64_t)little32(bytes + 48) + 1) << shift;
    if (root + 128 <= length) {
        const char *media_type = class_type(bytes + root + 80);
        if (media_type != NULL)
            return media_type;
    }
    if (starts_with(bytes + 512, length - 512, "\xec\xa5\xc1"))
        return "application/msword";
    if (starts_with(bytes + 512, length - 512, "\x09\x08\x10"))
        return "application/vnd.ms-excel";
    return OLE;
}

/* ---- programs ---- */

/*
 * Mach-O for one processor in either byte order, or for several. 0xcafebabe begins a Java class too: there the next
 * four bytes are its version (45 and up), here the number of processors.
 */
static bool is_mach(const unsigned char *bytes, size_t length)
{
    if (length < 8)
        return false;
    switch (big32(bytes)) {
    case 0xfeedface:
    case 0xfeedfacf:
    case 0xcefaedfe:
    case 0xcffaedfe:
    case 0xcafebabf:
        return true;
    case 0xcafebabe:
        return big32(bytes + 4) < 45;
    default:
        return false;
    }
}

/*
 * The header of a DOS program. Text may begin with the same letters, but the header is no text, since it holds small
 * numbers.
 */
static const char *dos_program(const unsigned char *bytes, size_t length, bool text)
{
    if (text || !starts_with(bytes, length, "MZ"))
        return NULL;
    if (length >= 64) {
        uint32_t offset = little32(bytes + 60);
        if (offset <= length && starts_with(bytes + offset, length - offset, "PE"))
            return "application/vnd.microsoft.portable-executable";
    }
    return "application/x-dosexec";
}

/* A script that carries data behind it, or says that it does. */
static bool is_self_extracting(const unsigned char *bytes, size_t length, bool text)
{
    static const char maker[] = "generated using Makeself";
    /* Voice notes of phones begin in the same way (RFC 4867, section 5.1). */
    return starts_with(bytes, length, "#!") && !starts_with(bytes, length, "#!AMR") &&
           (!text || memmem(bytes, length, maker, sizeof maker - 1) != NULL);
}

const char *signature_program(const unsigned char *bytes, size_t length, bool text)
{
    static const struct magic_number numbers[] = {
        {4,
         "\x7f"
         "ELF",
         "application/x-executable"},
        {4, "\xed\xab\xee\xdb", "application/x-rpm"},
        {4, "xar!", "application/x-xar"},
        {4, "dex\n", "application/vnd.android.dex"},
        {8, "flatpak\0", "application/vnd.flatpak"},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!text && length >= numbers[i].length && memcmp(bytes, numbers[i].bytes, numbers[i].length) == 0)
            return numbers[i].media_type;
    /* Its header and that of the first member, which may be long, are text. */
    if (starts_with(bytes, length, "!<arch>\ndebian-binary"))
        return "application/vnd.debian.binary-package";
    if (is_mach(bytes, length))
        return "application/x-mach-binary";
    if (is_self_extracting(bytes, length, text))
        return "application/x-self-extracting-script";
    if (strcmp(refine_ole(bytes, length), INSTALLER) == 0)
        return INSTALLER;
    return dos_program(bytes, length, text);
}

/* ---- ZIP ---- */

/* What the names found so far amount to. */
struct zip_names {
    bool package; /* the parts that every Office document has */
    bool word, sheet, slides;
    bool android_manifest, android_code;
    bool windows_manifest;
};

static void note_name(struct zip_names *names, const unsigned char *name, size_t length)
{
    names->package =
        names->package || is_name(name, length, "[Content_Types].xml") || starts_with(name, length, "_rels/");
    names->word = names->word || starts_with(name, length, "word/");
    names->sheet = names->sheet || starts_with(name, length, "xl/");
    names->slides = names->slides || starts_with(name, length, "ppt/");
    names->android_manifest = names->android_manifest || is_name(name, length, "AndroidManifest.xml");
    names->android_code =
        names->android_code || is_name(name, length, "classes.dex") || is_name(name, length, "resources.arsc");
    names->windows_manifest = names->windows_manifest || is_name(name, length, "AppxManifest.xml") ||
                              is_name(name, length, "AppxMetadata/AppxBundleManifest.xml");
}

static const char *refine_zip(const unsigned char *bytes, size_t length)
{
    struct zip_names names = {0};
    const unsigned char *end = bytes + length;
    const unsigned char *at = bytes;
    while ((at = memmem(at, (size_t)(end - at), "PK\3\4", 4)) != NULL && end - at > 30) {
        size_t name_length = (size_t)(at[26] | at[27] << 8);
        if (name_length <= (size_t)(end - at) - 30)
            note_name(&names, at + 30, name_length);
        at += 4;
    }
    if (names.android_manifest && names.android_code)
        return "application/vnd.android.package-archive";
    if (names.windows_manifest)
        return "application/vnd.ms-appx";
    if (!names.package)
        return "application/zip";
    if (names.word)
        return OFFICE "wordprocessingml.document";
    if (names.sheet)
        return OFFICE "spreadsheetml.sheet";
    return names.slides ? OFFICE "presentationml.presentation" : "application/zip";
}

/* ---- HEIF ---- */

static const char *brand_type(const unsigned char *brand)
{
    static const struct magic_number brands[] = {
        {4, "heic", "image/heic"}, {4, "heix", "image/heic"}, {4, "heim", "image/heic"},
        {4, "heis", "image/heic"}, {4, "avif", "image/avif"}, {4, "avis", "image/avif"},
    };
    for (size_t i = 0; i < sizeof brands / sizeof *brands; i++)
        if (memcmp(brand, brands[i].bytes, brands[i].length) == 0)
            return brands[i].media_type;
    return NULL;
}

static const char *refine_heif(const char *media_type, const unsigned char *bytes, size_t length)
{
    if (length < 16 || memcmp(bytes + 4, "ftyp", 4) != 0)
        return media_type;
    size_t box = big32(bytes);
    if (box < length)
        length = box;
    /* The major brand, a version that is no brand, the compatible ones. */
    for (size_t at = 8; at + 4 <= length; at += at == 8 ? 8 : 4) {
        const char *found = brand_type(bytes + at);
        if (found != NULL)
            return found;
    }
    return media_type;
}

/* ---- PDF ---- */

/*
 * Only line ends and blanks may stand before it: readers accept that (ISO 32000-1, annex H.3.4.1), and nothing else
 * begins so.
 */
static bool is_late_pdf(const unsigned char *bytes, size_t length)
{
    size_t blanks = 0;
    while (blanks < length && blanks < PDF_HEAD_BYTES && memchr("\t\n\r ", bytes[blanks], 4) != NULL)
        blanks++;
    return starts_with(bytes + blanks, length - blanks, "%PDF-");
}

const char *signature_refine(const char *media_type, const unsigned char *bytes, size_t length)
{
    /* For some orders of an Office document's parts, libmagic takes a rule that names no type. */
    bool unknown = strcmp(media_type, MEDIA_UNKNOWN) == 0;
    if (strcmp(media_type, "application/zip") == 0 || (unknown && starts_with(bytes, length, "PK\3\4")))
        return refine_zip(bytes, length);
    if (strcmp(media_type, OLE) == 0)
        return refine_ole(bytes, length);
    if (strncmp(media_type, "image/hei", 9) == 0)
        return refine_heif(media_type, bytes, length);
    if (unknown && is_late_pdf(bytes, length))
        return "application/pdf";
    return media_type;
}
