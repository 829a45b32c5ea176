/* SPDX-License-Identifier: MIT */
/* The table of the media types that the service knows, and look-ups in it. */
#include "blob/media_int.h"

#include <string.h>

#include "base/text.h"

#define PICTURE (MEDIA_PICTURE | MEDIA_SHOWN | MEDIA_IMAGE)
#define PROGRAM(name, extensions, aliases) {name, MEDIA_PROGRAM, 0, extensions, aliases}
#define OFFICE_ZIP (MEDIA_BARE_ZIP | MEDIA_BARE_OLE) /* under a password it is an OLE container */
#define SOUND MEDIA_SOUND, MEDIA_SOUND | MEDIA_NAMELESS

/*
 * The name of a row is the one that libmagic and blob/signature.c use. Windows calls a CSV application/vnd.ms-excel,
 * and many programs export HTML as .xls or .doc. An audio or video stream may begin with any bytes.
 */
/* clang-format off */
static const struct media rows[] = {
    {MEDIA_UNKNOWN, MEDIA_NAMELESS, 0, "", "application/x-empty inode/x-empty"},
    {"image/jpeg", PICTURE, 0, "jpg jpeg jpe jfif", "image/jpg image/pjpeg"},
    {"image/png", PICTURE, 0, "png apng", "image/x-png image/apng image/vnd.mozilla.apng"},
    {"image/gif", PICTURE, 0, "gif", ""},
    {"image/webp", PICTURE, 0, "webp", ""},
    {"image/avif", PICTURE, 0, "avif avifs", "image/avif-sequence"},
    {"image/heic", PICTURE | MEDIA_HEIF, MEDIA_HEIF, "heic heics", "image/heic-sequence"},
    {"image/tiff", PICTURE, 0, "tif tiff", "image/x-tiff"},
    {"image/bmp", PICTURE, 0, "bmp dib", "image/x-bmp image/x-ms-bmp image/x-windows-bmp"},
    {"image/heif", MEDIA_IMAGE | MEDIA_HEIF, MEDIA_HEIF, "heif heifs hif", "image/heif-sequence"},
    {"image/svg+xml", MEDIA_TEXT, MEDIA_TEXT, "svg", "image/svg"},
    {"image/vnd.microsoft.icon", MEDIA_IMAGE, MEDIA_NAMELESS, "ico cur", "image/x-icon image/ico"},
    {"application/pdf", MEDIA_SHOWN, 0, "pdf", "application/x-pdf text/pdf"},
    {"text/plain", MEDIA_TEXT | MEDIA_SHOWN, MEDIA_TEXT, "txt text log", ""},
    {"text/csv", MEDIA_TEXT, MEDIA_TEXT, "csv",
     "application/csv application/x-csv text/x-csv text/comma-separated-values text/x-comma-separated-values"},
    {"text/tab-separated-values", MEDIA_TEXT, MEDIA_TEXT, "tsv", ""},
    {"text/html", MEDIA_TEXT, MEDIA_TEXT, "html htm xhtml xht", "application/xhtml+xml"},
    {"text/xml", MEDIA_TEXT, MEDIA_TEXT, "xml xsd xsl xslt", "application/xml"},
    {"text/css", MEDIA_TEXT, MEDIA_TEXT, "css", ""},
    {"text/markdown", MEDIA_TEXT, MEDIA_TEXT, "md markdown", "text/x-markdown"},
    {"text/calendar", MEDIA_TEXT, MEDIA_TEXT, "ics", ""},
    {"text/vcard", MEDIA_TEXT, MEDIA_TEXT, "vcf", "text/x-vcard"},
    {"text/rtf", MEDIA_TEXT | MEDIA_RTF, MEDIA_RTF, "rtf", "application/rtf application/x-rtf text/richtext"},
    {"text/x-shellscript", MEDIA_TEXT, MEDIA_TEXT, "sh", "application/x-sh application/x-shellscript"},
    {"application/javascript", MEDIA_TEXT, MEDIA_TEXT, "js mjs cjs", "text/javascript application/x-javascript"},
    {"application/json", MEDIA_TEXT, MEDIA_TEXT, "json geojson", "text/json application/ld+json"},
    {"application/yaml", MEDIA_TEXT, MEDIA_TEXT, "yaml yml", "application/x-yaml text/yaml text/x-yaml"},
    {"message/rfc822", MEDIA_TEXT, MEDIA_TEXT, "eml", ""},
    {"application/zip", MEDIA_ZIP | MEDIA_BARE_ZIP, MEDIA_ZIP, "zip",
     "application/x-zip-compressed application/x-zip multipart/x-zip"},
    {MEDIA_OFFICE "wordprocessingml.document", MEDIA_ZIP, OFFICE_ZIP, "docx docm dotx dotm",
     "application/vnd.openxmlformats-officedocument.wordprocessingml.template"
     " application/vnd.ms-word.document.macroenabled.12 application/vnd.ms-word.template.macroenabled.12"},
    {MEDIA_OFFICE "spreadsheetml.sheet", MEDIA_ZIP, OFFICE_ZIP, "xlsx xlsm xltx xltm xlsb",
     "application/vnd.openxmlformats-officedocument.spreadsheetml.template"
     " application/vnd.ms-excel.sheet.macroenabled.12 application/vnd.ms-excel.template.macroenabled.12"
     " application/vnd.ms-excel.sheet.binary.macroenabled.12"},
    {MEDIA_OFFICE "presentationml.presentation", MEDIA_ZIP, OFFICE_ZIP, "pptx pptm ppsx potx",
     "application/vnd.openxmlformats-officedocument.presentationml.template"
     " application/vnd.openxmlformats-officedocument.presentationml.slideshow"
     " application/vnd.ms-powerpoint.presentation.macroenabled.12"},
    {"application/vnd.oasis.opendocument.text", MEDIA_ZIP | MEDIA_ODF, MEDIA_BARE_ZIP | MEDIA_ODF, "odt ott", ""},
    {"application/vnd.oasis.opendocument.spreadsheet", MEDIA_ZIP | MEDIA_ODF, MEDIA_BARE_ZIP | MEDIA_ODF,
     "ods ots", ""},
    {"application/vnd.oasis.opendocument.presentation", MEDIA_ZIP | MEDIA_ODF, MEDIA_BARE_ZIP | MEDIA_ODF,
     "odp otp", ""},
    {"application/epub+zip", MEDIA_ZIP, MEDIA_BARE_ZIP, "epub", ""},
    {"application/vnd.google-earth.kmz", MEDIA_ZIP, MEDIA_BARE_ZIP, "kmz", ""},
    {"application/java-archive", MEDIA_ZIP, MEDIA_BARE_ZIP, "jar war", "application/x-java-archive"},
    {MEDIA_OLE, MEDIA_OLE_FILE | MEDIA_BARE_OLE, MEDIA_OLE_FILE, "", "application/cdfv2 application/vnd.ms-office"},
    {"application/encrypted", MEDIA_OLE_FILE | MEDIA_BARE_OLE, 0, "", ""},
    {"application/msword", MEDIA_OLE_FILE, MEDIA_BARE_OLE | MEDIA_RTF | MEDIA_TEXT, "doc", "application/vnd.ms-word"},
    {"application/vnd.ms-excel", MEDIA_OLE_FILE, MEDIA_BARE_OLE | MEDIA_TEXT, "xls xlt",
     "application/msexcel application/x-msexcel application/excel application/x-excel"},
    {"application/vnd.ms-powerpoint", MEDIA_OLE_FILE, MEDIA_BARE_OLE, "ppt pps",
     "application/mspowerpoint application/powerpoint"},
    {"application/vnd.ms-outlook", MEDIA_OLE_FILE, MEDIA_BARE_OLE, "msg", ""},
    {"application/gzip", 0, 0, "gz tgz", "application/x-gzip"},
    {"application/x-bzip", 0, 0, "bz2 tbz2", "application/x-bzip2 application/bzip2"},
    {"application/x-xz", 0, 0, "xz txz", ""},
    {"application/zstd", 0, 0, "zst", "application/x-zstd"},
    {"application/x-7z-compressed", 0, 0, "7z", ""},
    {"application/x-rar", 0, 0, "rar", "application/vnd.rar application/x-rar-compressed"},
    {"application/x-tar", 0, MEDIA_NAMELESS, "tar", ""},
    {"application/ogg", SOUND, "ogx", ""},
    {"audio/mpeg", SOUND, "mp3", "audio/mp3"},
    {"audio/mp4", SOUND, "m4a", "audio/x-m4a"},
    {"audio/ogg", SOUND, "ogg oga opus", ""},
    {"audio/flac", SOUND, "flac", "audio/x-flac"},
    {"audio/x-wav", SOUND, "wav", "audio/wav audio/wave audio/vnd.wave"},
    {"video/mp4", SOUND, "mp4 m4v", "video/x-m4v"},
    {"video/quicktime", SOUND, "mov", ""},
    {"video/x-msvideo", SOUND, "avi", "video/avi"},
    {"video/x-matroska", SOUND, "mkv", ""},
    {"video/webm", SOUND, "webm", "audio/webm"},
    {"video/mpeg", SOUND, "mpg mpeg", ""},
    PROGRAM("application/vnd.android.dex", "dex", ""),
    PROGRAM("application/vnd.android.package-archive", "apk", ""),
    PROGRAM("application/vnd.debian.binary-package", "deb", "application/x-deb"),
    PROGRAM("application/vnd.flatpak", "flatpak", ""),
    PROGRAM("application/vnd.microsoft.portable-executable", "exe dll scr", ""),
    PROGRAM("application/vnd.ms-appx", "appx appxbundle msix", ""),
    PROGRAM("application/x-coredump", "", ""),
    PROGRAM("application/x-debian-package", "", ""),
    PROGRAM("application/x-dosexec", "", ""),
    PROGRAM("application/x-executable", "elf", ""),
    PROGRAM("application/x-mach-binary", "dylib", ""),
    PROGRAM("application/x-ms-dos-executable", "", ""),
    PROGRAM("application/x-msdownload", "", "application/x-msdos-program application/x-exe"),
    PROGRAM(MEDIA_INSTALLER, "msi msp mst", "application/x-ms-installer application/x-windows-installer"),
    PROGRAM("application/x-object", "", ""),
    PROGRAM("application/x-pie-executable", "", ""),
    PROGRAM("application/x-rpm", "rpm", "application/x-redhat-package-manager"),
    PROGRAM("application/x-self-extracting-script", "", ""),
    PROGRAM("application/x-sharedlib", "", ""),
    PROGRAM("application/x-xar", "", ""),
};
/* clang-format on */

#define ROW_COUNT (sizeof rows / sizeof *rows)

const struct media *media_rows(size_t *count_out)
{
    *count_out = ROW_COUNT;
    return rows;
}

/* Whether a list of words holds this one, whatever its case. */
static bool lists(const char *words, const char *word, size_t length)
{
    for (size_t step; *words != '\0'; words += step + (words[step] == ' ')) {
        step = strcspn(words, " ");
        bool same = step == length;
        for (size_t i = 0; same && i < length; i++)
            same = words[i] == text_lower(word[i]);
        if (same)
            return true;
    }
    return false;
}

const struct media *media_find(const char *media_type)
{
    size_t length = strlen(media_type);
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].name, media_type) == 0 || lists(rows[i].aliases, media_type, length))
            return &rows[i];
    return NULL;
}

const struct media *media_of_name(const char *file_name)
{
    size_t end = strlen(file_name);
    /* Windows drops these when it opens a file. */
    while (end > 0 && (file_name[end - 1] == '.' || file_name[end - 1] == ' '))
        end--;
    size_t start = end;
    while (start > 0 && file_name[start - 1] != '.')
        start--;
    if (start == 0 || start == end)
        return NULL;
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (lists(rows[i].extensions, file_name + start, end - start))
            return &rows[i];
    return NULL;
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

unsigned media_families(const char *media_type, bool text)
{
    const struct media *media = media_find(media_type);
    if (media != NULL)
        return media->is | (text && (media->is & MEDIA_NAMELESS) != 0 ? (unsigned)MEDIA_TEXT : 0);
    if (text || has_prefix(media_type, "text/"))
        return MEDIA_TEXT;
    if (has_prefix(media_type, "image/"))
        return MEDIA_IMAGE;
    if (has_prefix(media_type, "audio/") || has_prefix(media_type, "video/"))
        return MEDIA_SOUND;
    /* RFC 6839, section 3.7. */
    size_t length = strlen(media_type);
    if (has_prefix(media_type, MEDIA_OFFICE) || (length > 4 && strcmp(media_type + length - 4, "+zip") == 0))
        return MEDIA_ZIP;
    return has_prefix(media_type, "application/vnd.oasis.") ? (unsigned)(MEDIA_ZIP | MEDIA_ODF) : 0;
}

static size_t name_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789!#$&-^_.+");
}

bool media_is_type(const char *text)
{
    size_t type = name_length(text);
    if (type == 0 || text[type] != '/')
        return false;
    size_t subtype = name_length(text + type + 1);
    return subtype > 0 && text[type + 1 + subtype] == '\0';
}
