/* SPDX-License-Identifier: MIT */
#include "blob/content.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "blob/sniff.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { IN_IMAGES = 1, IN_FILES = 2, IN_EITHER = IN_IMAGES | IN_FILES };

#define BUCKETS(X)                                                                                           \
    X(CONTENT_BUCKET_IMAGES, IN_IMAGES)                                                                      \
    X(CONTENT_BUCKET_FILES, IN_FILES)

#define TYPES(X)                                                                                             \
    X("sample", IN_EITHER)                                                                                   \
    X("avatar", IN_IMAGES)                                                                                   \
    X("weighbridge", IN_EITHER)                                                                              \
    X("contract", IN_EITHER)                                                                                 \
    X("image", IN_IMAGES)                                                                                    \
    X("logo", IN_IMAGES)                                                                                     \
    X("misc", IN_EITHER)                                                                                     \
    X("vehicle", IN_EITHER)                                                                                  \
    X("terms-conditions", IN_EITHER)                                                                         \
    X("logistics-delivery", IN_EITHER)                                                                       \
    X("logistics-load", IN_EITHER)

#define NAME(name, place) name,
#define PLACE(name, place) place,

const char *const content_buckets[] = {BUCKETS(NAME) NULL};
const char *const content_types[] = {TYPES(NAME) NULL};

/* Where each of them lies, in the order of the names. */
static const int bucket_places[] = {BUCKETS(PLACE)};
static const int type_places[] = {TYPES(PLACE)};

static const char *const images[] = {
    "image/jpeg", "image/png",  "image/gif",  "image/webp",
    "image/avif", "image/heic", "image/tiff", "image/bmp",
};

/* Shown in place beside the images. */
static const char *const documents[] = {"application/pdf", "text/plain"};

/* As libmagic and blob/signature.c name them. */
static const char *const programs[] = {
    "application/vnd.android.dex",
    "application/vnd.android.package-archive",
    "application/vnd.debian.binary-package",
    "application/vnd.flatpak",
    "application/vnd.microsoft.portable-executable",
    "application/vnd.ms-appx",
    "application/x-coredump",
    "application/x-debian-package",
    "application/x-dosexec",
    "application/x-executable",
    "application/x-mach-binary",
    "application/x-ms-dos-executable",
    "application/x-msdownload",
    "application/x-msi",
    "application/x-object",
    "application/x-pie-executable",
    "application/x-rpm",
    "application/x-self-extracting-script",
    "application/x-sharedlib",
    "application/x-xar",
};

static bool is_among(const char *const *list, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return false;
}

/* The place of `name` in a list that NULL ends; 0, which is no place, when it is not there. */
static int place_of(const char *const *names, const int *places, const char *name)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return places[i];
    return 0;
}

bool content_bucket_known(const char *bucket)
{
    return place_of(content_buckets, bucket_places, bucket) != 0;
}

bool content_type_known(const char *type)
{
    return place_of(content_types, type_places, type) != 0;
}

bool content_type_fits(const char *type, const char *bucket)
{
    return (place_of(content_types, type_places, type) & place_of(content_buckets, bucket_places, bucket)) !=
           0;
}

static bool ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name);
    size_t wanted = strlen(suffix);
    return length >= wanted && text_equal_ignoring_case(name + length - wanted, suffix);
}

/* Whether the media type in a Content-Type is `media_type`, whatever parameters follow. */
static bool declares(const char *declared, const char *media_type)
{
    declared += strspn(declared, " \t");
    for (; *media_type != '\0'; media_type++, declared++)
        if (text_lower(*declared) != *media_type)
            return false;
    return *declared == '\0' || strchr("; \t", *declared) != NULL;
}

static bool declares_one_of(const char *declared, const char *const *list, size_t count)
{
    for (size_t i = 0; declared != NULL && i < count; i++)
        if (declares(declared, list[i]))
            return true;
    return false;
}

/* Whether text of this kind can be a table in the first place: a PDF or an SVG stays what it is. */
static bool may_be_table(const char *found)
{
    return strncmp(found, "text/", 5) == 0 || strcmp(found, "application/octet-stream") == 0 ||
           strcmp(found, "application/csv") == 0 || strcmp(found, "application/json") == 0;
}

const char *content_media_type(const struct sniffed *sniffed, const char *name, const char *declared)
{
    static const char *const tables[] = {"text/csv", "text/x-csv", "application/csv", "application/x-csv",
                                         "text/comma-separated-values"};
    static const char *const installers[] = {"application/x-msi", "application/x-ms-installer",
                                             "application/x-windows-installer"};
    const char *found = sniffed->media_type;
    name = name == NULL ? "" : name;
    if (content_is_program(found))
        return found;
    if (sniffed->text && may_be_table(found) && (ends_in(name, ".csv") || declares_one_of(declared, tables, COUNT(tables))))
        return "text/csv";
    /* An installer whose directory lies out of the sniffer's sight is run by its name. */
    if (strcmp(found, "application/x-ole-storage") == 0 &&
        (ends_in(name, ".msi") || ends_in(name, ".msp") || ends_in(name, ".mst") ||
         declares_one_of(declared, installers, COUNT(installers))))
        return "application/x-msi";
    return found;
}

bool content_is_program(const char *media_type)
{
    return is_among(programs, COUNT(programs), media_type);
}

bool content_allowed(const char *bucket, const char *media_type)
{
    switch (place_of(content_buckets, bucket_places, bucket)) {
    case IN_IMAGES:
        return is_among(images, COUNT(images), media_type);
    case IN_FILES:
        return !content_is_program(media_type);
    default:
        return false;
    }
}

bool content_pixels_allowed(const struct sniffed *sniffed)
{
    return sniffed->pixels <= CONTENT_PIXELS_MAX;
}

bool content_inline(const char *media_type)
{
    return is_among(images, COUNT(images), media_type) || is_among(documents, COUNT(documents), media_type);
}
