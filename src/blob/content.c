/* SPDX-License-Identifier: MIT */
/* Decides what may be stored and how it is shown, by the table of media types. */
#include "blob/content.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "blob/media_int.h"
#include "blob/sniff.h"

static bool ends_in(const char *name, const char *suffix)
{
    size_t length = strlen(name);
    size_t wanted = strlen(suffix);
    return length >= wanted && text_equal_ignoring_case(name + length - wanted, suffix);
}

/* A media type by itself, of RFC 6838's 127 letters for each half at most, with the NUL. */
#define DECLARED_BYTES 256

/* The type in a Content-Type, in lower case and without its parameters; empty when there is none. */
static void read_declared(const char *declared, char out[DECLARED_BYTES])
{
    declared = declared == NULL ? "" : declared + strspn(declared, " \t");
    size_t length = strcspn(declared, "; \t");
    if (length >= DECLARED_BYTES)
        length = 0;
    for (size_t i = 0; i < length; i++)
        out[i] = text_lower(declared[i]);
    out[length] = '\0';
}

/* Whether the client declared this type, by any of its names. */
static bool declares(const char *declared, const char *name)
{
    char media_type[DECLARED_BYTES];
    read_declared(declared, media_type);
    const struct media *media = media_find(media_type);
    return media != NULL && strcmp(media->name, name) == 0;
}

/* Whether text of this kind can be a table at all: a PDF or an SVG is none. */
static bool may_be_table(const char *found)
{
    return strncmp(found, "text/", 5) == 0 || strcmp(found, MEDIA_UNKNOWN) == 0 ||
           strcmp(found, "application/json") == 0;
}

const char *content_media_type(const struct sniffed *sniffed, const char *name, const char *declared)
{
    const char *found = sniffed->media_type;
    name = name == NULL ? "" : name;
    if (content_is_program(found))
        return found;
    if (sniffed->text && may_be_table(found) && (ends_in(name, ".csv") || declares(declared, "text/csv")))
        return "text/csv";
    /* The name decides whether Windows runs an installer; its directory may lie behind the bytes that were examined. */
    if (strcmp(found, MEDIA_OLE) == 0 && (ends_in(name, ".msi") || ends_in(name, ".msp") || ends_in(name, ".mst") ||
                                          declares(declared, MEDIA_INSTALLER)))
        return MEDIA_INSTALLER;
    return found;
}

bool content_is_program(const char *media_type)
{
    return (media_families(media_type, false) & MEDIA_PROGRAM) != 0;
}

bool content_allowed(enum file_content list, const char *media_type)
{
    switch (list) {
    case FILE_CONTENT_PICTURES:
        return (media_families(media_type, false) & MEDIA_PICTURE) != 0;
    case FILE_CONTENT_ANYTHING:
        return !content_is_program(media_type);
    case FILE_CONTENT_NOTHING:
        break;
    }
    return false;
}

struct text_list content_pictures(struct arena *arena)
{
    size_t count;
    const struct media *rows = media_rows(&count);
    struct text_list pictures = {arena_array(arena, count, sizeof *pictures.items), 0};
    for (size_t i = 0; i < count; i++)
        if ((rows[i].is & MEDIA_PICTURE) != 0)
            pictures.items[pictures.count++] = rows[i].name;
    return pictures;
}

bool content_pixels_allowed(const struct sniffed *sniffed)
{
    return sniffed->pixels <= CONTENT_PIXELS_MAX;
}

bool content_inline(const char *media_type)
{
    return (media_families(media_type, false) & MEDIA_SHOWN) != 0;
}

/* ---- what the client said ---- */

/* Whether bytes of the type `media_type` can belong to a file that is declared as this row's type. */
static bool can_be(const struct media *claimed, const char *media_type, bool text)
{
    const struct media *found = media_find(media_type);
    return found == claimed || (claimed->looks & media_families(media_type, text)) != 0;
}

/* Types outside the table whose first half is enough to tell them from those in it. */
static bool kind_can_be(const char *claimed, const char *media_type, bool text)
{
    static const struct {
        const char *prefix;
        unsigned looks;
    } kinds[] = {
        {"image/", MEDIA_IMAGE | MEDIA_NAMELESS}, {"audio/", MEDIA_SOUND | MEDIA_NAMELESS},
        {"video/", MEDIA_SOUND | MEDIA_NAMELESS}, {"font/", MEDIA_NAMELESS},
        {"text/", MEDIA_TEXT | MEDIA_NAMELESS},
    };
    if (media_find(media_type) == NULL)
        return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(claimed, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
            return (kinds[i].looks & media_families(media_type, text)) != 0;
    return true;
}

const char *content_contradiction(struct arena *arena, const char *media_type, bool text, const char *declared,
                                  const char *name)
{
    char claimed[DECLARED_BYTES];
    read_declared(declared, claimed);
    const struct media *media = media_find(claimed);
    bool nothing = media != NULL && strcmp(media->name, MEDIA_UNKNOWN) == 0;
    if (!nothing && !(media != NULL ? can_be(media, media_type, text) : kind_can_be(claimed, media_type, text)))
        return arena_format(arena, "is %s by its bytes, but was declared as %s", media_type, claimed);
    media = name == NULL ? NULL : media_of_name(name);
    if (media != NULL && !can_be(media, media_type, text))
        return arena_format(arena, "is %s by its bytes, but its name stands for %s", media_type, media->name);
    return NULL;
}
