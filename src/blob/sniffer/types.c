/* SPDX-License-Identifier: MIT */
/*
 * libmagic has no call that tells its types. Its compiled database holds each as a text between two NULs, beside other
 * texts with a slash, which do no harm here: the list stays short, and nobody who uploads can add to it.
 */
#include "blob/sniffer/types_int.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"
#include "blob/media_int.h"

#define TYPES_MAX 4096
#define TYPE_BYTES 80 /* of libmagic's own field, with the NUL */

struct sniff_types {
    size_t count;
    const char *items[TYPES_MAX]; /* sorted, each once */
};

/* What libmagic's code says without its database, as far as the table does not have it. */
static const char *const built_in[] = {"application/simh-tape-data", "application/vnd.ms-msi", "application/x-hwp",
                                       "application/x-ndjson", "application/x-rpt"};

/* Where the type is, or would be. */
static size_t place_of(const struct sniff_types *types, const char *media_type)
{
    size_t low = 0;
    size_t high = types->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(types->items[middle], media_type) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct sniff_types *types, size_t place, const char *media_type)
{
    return place < types->count && strcmp(types->items[place], media_type) == 0;
}

static void add(struct sniff_types *types, struct arena *arena, const char *media_type)
{
    size_t place = place_of(types, media_type);
    if (types->count == TYPES_MAX || is_at(types, place, media_type))
        return;
    memmove(types->items + place + 1, types->items + place, (types->count - place) * sizeof *types->items);
    types->items[place] = arena_text(arena, media_type);
    types->count++;
}

/* Adds the text around a slash, if it is no longer than a type may be. */
static void add_around(struct sniff_types *types, struct arena *arena, const char *bytes, size_t length, size_t slash)
{
    char media_type[TYPE_BYTES] = "";
    size_t start = slash;
    size_t end = slash;
    while (start > 0 && bytes[start - 1] != '\0' && slash - start < TYPE_BYTES)
        start--;
    while (end < length && bytes[end] != '\0' && end - start < TYPE_BYTES)
        end++;
    if (start == 0 || bytes[start - 1] != '\0' || end == length || end - start >= TYPE_BYTES)
        return;
    for (size_t i = start; i <= end; i++)
        media_type[i - start] = text_lower(bytes[i]);
    if (media_is_type(media_type))
        add(types, arena, media_type);
}

static void read_database(struct sniff_types *types, struct arena *arena, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    bool good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    size_t length = good ? (size_t)status.st_size : 0;
    void *mapped = good ? mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    (void)close(fd);
    if (mapped == MAP_FAILED)
        return;
    const char *bytes = mapped;
    for (const char *slash = bytes; (slash = memchr(slash, '/', length - (size_t)(slash - bytes))) != NULL; slash++)
        add_around(types, arena, bytes, length, (size_t)(slash - bytes));
    (void)munmap(mapped, length);
}

struct sniff_types *sniff_types_load(struct arena *arena, const char *paths)
{
    static const char ending[] = ".mgc";
    struct sniff_types *types = arena_alloc(arena, sizeof *types);
    types->count = 0;
    for (size_t i = 0; i < sizeof built_in / sizeof *built_in; i++)
        add(types, arena, built_in[i]);
    for (size_t length; paths != NULL && *paths != '\0'; paths += length + (paths[length] == ':')) {
        length = strcspn(paths, ":");
        const char *path = arena_copy(arena, paths, length);
        bool compiled = length >= strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0;
        read_database(types, arena, compiled ? path : arena_format(arena, "%s%s", path, ending));
    }
    return types;
}

const char *sniff_types_bound(const struct sniff_types *types, const char *media_type)
{
    const struct media *media = media_find(media_type);
    if (media != NULL)
        return media->name;
    return is_at(types, place_of(types, media_type), media_type) ? media_type : MEDIA_UNKNOWN;
}
