/* SPDX-License-Identifier: MIT */
/*
 * Finds the row of a request. Comparing every path of the table touches all of it for each request. So the beginnings
 * of the paths, up to a {word}, are kept side by side as lengths and hashes, and a row is looked at only when these
 * fit.
 */
#include "api/route.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "domain/permission/permission.h"

bool route_path_fits(const char *pattern, const char *path, struct route_segments *segments_out)
{
    segments_out->count = 0;
    while (*pattern != '\0') {
        if (*pattern != '{') {
            if (*pattern++ != *path++)
                return false;
            continue;
        }
        pattern = strchr(pattern, '}') + 1;
        size_t length = strcspn(path, "/");
        if (length == 0 || segments_out->count == ROUTE_WORDS_MAX)
            return false;
        segments_out->items[segments_out->count].start = path;
        segments_out->items[segments_out->count++].length = length;
        path += length;
    }
    return *path == '\0';
}

static void add_method(char *allow, size_t size, const char *method)
{
    size_t length = strlen(allow);
    size_t more = strlen(method);
    assert(length + more + 2 < size);
    if (length != 0) {
        memcpy(allow + length, ", ", 2);
        length += 2;
    }
    memcpy(allow + length, method, more + 1);
}

#define BEGINNING_MAX 63

/* The beginning of a row's path. */
struct beginning {
    uint32_t hash;
    uint8_t length;
    bool whole; /* the path ends there */
};

static struct {
    const struct route *rows;
    size_t count;
    struct beginning beginnings[ROUTES_MAX];
} table;

/*
 * Makes hashes_out[i], the hash of the first i characters (FNV-1a). Returns the length of `path`, cut at BEGINNING_MAX
 * + 1.
 */
static size_t hash_beginnings(const char *path, uint32_t hashes_out[BEGINNING_MAX + 1])
{
    uint32_t hash = 2166136261u;
    size_t length = 0;
    hashes_out[0] = hash;
    while (length < BEGINNING_MAX && path[length] != '\0') {
        hash = (hash ^ (unsigned char)path[length]) * 16777619u;
        hashes_out[++length] = hash;
    }
    return length + (path[length] != '\0');
}

static size_t count_words(const char *path)
{
    size_t count = 0;
    for (const char *at = strchr(path, '{'); at != NULL; at = strchr(at + 1, '{'))
        count++;
    return count;
}

const char *route_fault(const struct route *row)
{
    struct permission permission;
    if (row->path != NULL && count_words(row->path) > ROUTE_WORDS_MAX)
        return "has a path with more words in braces than ROUTE_WORDS_MAX";
    if (row->access == ACCESS_UNSAID)
        return "does not say who may call it";
    if ((row->access == ACCESS_PERMISSION) != (row->permission != NULL))
        return "names a permission that it does not ask for, or none where it asks for one";
    if (row->permission == NULL)
        return NULL;
    if (!permission_parse_concrete(row->permission, &permission))
        return "does not name one concrete permission";
    if (strncmp(row->permission, "sys:", 4) == 0 && permission.level != PERMISSION_ADMIN)
        return "asks for less than the letter a in module sys";
    return NULL;
}

static void read_table(void)
{
    uint32_t hashes[BEGINNING_MAX + 1];
    const struct route *rows = routes()->rows;
    table.count = routes()->count;
    assert(table.count <= ROUTES_MAX);
    for (size_t i = 0; i < table.count; i++) {
        size_t length = strcspn(rows[i].path, "{");
        assert(length <= BEGINNING_MAX);
        assert(route_fault(&rows[i]) == NULL);
        (void)hash_beginnings(rows[i].path, hashes);
        table.beginnings[i] = (struct beginning){hashes[length], (uint8_t)length, rows[i].path[length] == '\0'};
    }
    table.rows = rows;
}

/* Whether a path with this length and these hashes can be the row's. */
static bool may_fit(const struct beginning *beginning, size_t length, const uint32_t hashes[BEGINNING_MAX + 1])
{
    if (beginning->whole ? beginning->length != length : beginning->length > length)
        return false;
    return hashes[beginning->length] == beginning->hash;
}

/*
 * Whether a row whose path fits is meant. A path without braces hides those with braces that would fit as well:
 * /system/files/archive is never the file "archive" of /system/files/{id}.
 */
static bool is_meant(bool whole, bool *whole_found, struct route_match *match)
{
    if (whole && !*whole_found)
        *match = (struct route_match){0};
    *whole_found = *whole_found || whole;
    return whole == *whole_found;
}

static void add_row(struct arena *arena, const struct route *row, enum method method,
                    const struct route_segments *segments, struct route_match *match)
{
    add_method(match->allow, sizeof match->allow, request_method_text(row->method));
    if (row->method == METHOD_GET)
        add_method(match->allow, sizeof match->allow, "HEAD");
    if (row->method != method && !(method == METHOD_HEAD && row->method == METHOD_GET))
        return;
    match->route = row;
    for (size_t s = 0; s < segments->count; s++)
        match->segments[s] = arena_copy(arena, segments->items[s].start, segments->items[s].length);
}

void route_find(struct arena *arena, enum method method, const char *path, struct route_match *match_out)
{
    *match_out = (struct route_match){0};
    if (path == NULL)
        return;
    if (table.rows == NULL)
        read_table();
    uint32_t hashes[BEGINNING_MAX + 1];
    size_t length = hash_beginnings(path, hashes);
    bool whole_found = false;
    for (size_t i = 0; i < table.count; i++) {
        struct route_segments segments;
        const struct beginning *beginning = &table.beginnings[i];
        if (may_fit(beginning, length, hashes) && route_path_fits(table.rows[i].path, path, &segments) &&
            is_meant(beginning->whole, &whole_found, match_out))
            add_row(arena, &table.rows[i], method, &segments, match_out);
    }
}
