/* SPDX-License-Identifier: MIT */
/*
 * Lists the bucket a page at a time, in the order of its keys, and moves objects aside. Only what lies in the folders
 * of blobs is ours: another key below the prefix is left alone.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "blob/blob.h"
#include "blob/s3/s3_int.h"
#include "codec/xml.h"

#define CONTENTS "/ListBucketResult/Contents/"
#define SHARD_LENGTH 2
#define ASIDE_TRIES 1000

/* The most bytes that a store copies in one call; the protocol sets it. */
#define COPY_BYTES_MAX (UINT64_C(5) * 1024 * 1024 * 1024)

struct page {
    const struct s3 *s3;
    struct arena *arena; /* of the page */
    struct s3_object objects[LIMIT_S3_PAGE];
    size_t count;
    struct s3_object next;
    const char *folder; /* below the prefix; "" or text that ends with a slash */
    bool is_list;
    bool more;
};

/* ---- pages ---------------------------------------------------------------------------------------- */

static void add_object(struct page *page)
{
    size_t prefix = strlen(page->s3->prefix);
    struct s3_object *object = &page->next;
    if (object->key != NULL && page->count < LIMIT_S3_PAGE && strncmp(object->key, page->s3->prefix, prefix) == 0) {
        object->key += prefix;
        page->objects[page->count++] = *object;
    }
    *object = (struct s3_object){.key = NULL};
}

static bool take_object(void *context, const struct xml_element *element)
{
    struct page *page = context;
    struct s3_object *object = &page->next;
    if (strcmp(element->path, CONTENTS "Key") == 0)
        object->key = arena_text(page->arena, element->text);
    else if (strcmp(element->path, CONTENTS "Size") == 0)
        (void)text_to_integer(element->text, 0, INT64_MAX, &object->size);
    else if (strcmp(element->path, CONTENTS "LastModified") == 0)
        (void)clock_parse(element->text, &object->modified);
    else if (strcmp(element->path, "/ListBucketResult/Contents") == 0)
        add_object(page);
    else if (strcmp(element->path, "/ListBucketResult/IsTruncated") == 0)
        page->more = strcmp(element->text, "true") == 0;
    else if (strcmp(element->path, "/ListBucketResult") == 0)
        page->is_list = true;
    return true;
}

/* Reads the page behind the key `after`, "" for the first one. */
static struct error *read_page(struct s3 *s3, struct page *page, const char *after, const char *most)
{
    struct s3_reply reply;
    struct s3_call call = {.method = "GET"};
    const char *start = *after == '\0' ? after : s3_key_of(s3, page->arena, after);
    s3_add_query(&call, "list-type", "2");
    s3_add_query(&call, "max-keys", most);
    s3_add_query(&call, "prefix", s3_key_of(s3, page->arena, page->folder));
    if (*start != '\0')
        s3_add_query(&call, "start-after", start);
    TRY(s3_send(s3, page->arena, &call, &reply));
    page->s3 = s3;
    if (reply.answer.status == 200 && xml_read(reply.answer.body, reply.answer.length, take_object, page) &&
        page->is_list)
        return NULL;
    return s3_refusal(s3, page->arena, &reply, "to list objects");
}

struct error *s3_try_list(struct s3 *s3, struct arena *arena)
{
    struct arena *scratch = arena_new();
    struct page *page = arena_alloc(scratch, sizeof *page);
    page->arena = scratch;
    page->folder = "";
    struct error *error = s3_keep_error(arena, read_page(s3, page, "", "1"));
    arena_free(&scratch);
    return error;
}

struct error *s3_each_object(struct s3 *s3, struct arena *arena, const char *folder,
                             struct error *(*visit)(void *context, const struct s3_object *object), void *context)
{
    struct arena *scratch = arena_new();
    char after[LIMIT_S3_KEY_BYTES + 1] = "";
    struct error *error = NULL;
    bool more = true;
    while (more && error == NULL) {
        arena_reset(scratch);
        struct page *page = arena_alloc(scratch, sizeof *page);
        page->arena = scratch;
        page->folder = folder;
        error = s3_keep_error(arena, read_page(s3, page, after, LIMIT_TEXT(LIMIT_S3_PAGE)));
        for (size_t i = 0; i < page->count && error == NULL; i++)
            error = visit(context, &page->objects[i]);
        more = page->more && page->count > 0;
        if (more)
            (void)snprintf(after, sizeof after, "%s", page->objects[page->count - 1].key);
    }
    arena_free(&scratch);
    return error;
}

/* ---- blobs and strays ------------------------------------------------------------------------------ */

/* Whether the key lies in a folder of blobs, "ab/...". */
static bool is_in_shard(const char *key)
{
    static const char digits[] = "0123456789abcdef";
    return strspn(key, digits) == SHARD_LENGTH && key[SHARD_LENGTH] == '/' && key[SHARD_LENGTH + 1] != '\0';
}

bool s3_is_blob(const char *key, struct id *id_out)
{
    if (!is_in_shard(key) || !blob_id_of(key + SHARD_LENGTH + 1, id_out))
        return false;
    return strncmp(key + strlen(key) - SHARD_LENGTH, key, SHARD_LENGTH) == 0;
}

struct each {
    struct error *(*visit)(void *context, const struct blob_found *found);
    struct error *(*visit_stray)(void *context, const struct blob_stray *stray);
    void *context;
};

static struct error *see_object(void *context, const struct s3_object *object)
{
    const struct each *each = context;
    struct blob_found found = {.size = (uint64_t)object->size, .modified = object->modified};
    return s3_is_blob(object->key, &found.id) ? each->visit(each->context, &found) : NULL;
}

struct error *s3_each(struct blob_store *store, struct arena *arena,
                      struct error *(*visit)(void *context, const struct blob_found *found), void *context)
{
    struct each each = {.visit = visit, .context = context};
    return s3_each_object(s3_of(store), arena, "", see_object, &each);
}

static struct error *see_other(void *context, const struct s3_object *object)
{
    const struct each *each = context;
    struct id id;
    if (!is_in_shard(object->key) || s3_is_blob(object->key, &id))
        return NULL;
    const char folder[] = {object->key[0], object->key[1], '\0'};
    const struct blob_stray stray = {
        .folder = folder, .name = object->key + SHARD_LENGTH + 1, .is_file = true, .modified = object->modified};
    return each->visit_stray(each->context, &stray);
}

struct error *s3_each_stray(struct blob_store *store, struct arena *arena,
                            struct error *(*visit)(void *context, const struct blob_stray *stray), void *context)
{
    struct each each = {.visit_stray = visit, .context = context};
    return s3_each_object(s3_of(store), arena, "", see_other, &each);
}

/* ---- moving aside --------------------------------------------------------------------------------- */

static bool take_copy(void *context, const struct xml_element *element)
{
    bool *copied = context;
    *copied = *copied || strcmp(element->path, "/CopyObjectResult") == 0;
    return true;
}

/* As with an upload in parts, an answer that begins with 200 may say in its body that the copy failed. */
static struct error *copy(struct s3 *s3, struct arena *arena, const char *from, const char *to, uint64_t size)
{
    struct s3_reply reply;
    bool copied = false;
    struct s3_call call = {.method = "PUT", .key = to, .body = "", .bytes = size};
    s3_add_header(&call, "Content-Type", "application/octet-stream");
    s3_add_header(&call, "x-amz-copy-source", s3_path(s3, arena, from));
    TRY(s3_send(s3, arena, &call, &reply));
    if (reply.answer.status == 200)
        (void)xml_read(reply.answer.body, reply.answer.length, take_copy, &copied);
    if (copied)
        return NULL;
    s3_read_refusal(&reply);
    return s3_refusal(s3, arena, &reply, "to copy an object");
}

/* Finds a name in the quarantine that is free, or that has the same bytes: a move that was interrupted. */
static struct error *find_place(struct s3 *s3, struct arena *arena, const char *name, const struct blob_found *source,
                                const char **place_out, bool *there_out)
{
    const char *place = arena_format(arena, S3_QUARANTINE "%s", name);
    for (unsigned try = 1; try <= ASIDE_TRIES; try++) {
        struct blob_found found;
        TRY(s3_look_at(s3, arena, s3_key_of(s3, arena, place), false, &found, there_out));
        *place_out = place;
        if (!*there_out || (source->has_digest && found.has_digest && found.size == source->size &&
                            digest_equal(found.digest, source->digest)))
            return NULL;
        place = arena_format(arena, S3_QUARANTINE "%s.%u", name, try);
    }
    return error_new(arena, ERROR_STORAGE_UNAVAILABLE, "The quarantine has no free name for %s.", name);
}

struct error *s3_set_aside(struct blob_store *store, struct arena *arena, const char *folder, const char *name,
                           const char **where_out)
{
    struct s3 *s3 = s3_of(store);
    struct blob_found source, target;
    bool there = false;
    const char *from = s3_key_of(s3, arena, arena_format(arena, "%s/%s", folder, name));
    *where_out = NULL;
    TRY(s3_look_at(s3, arena, from, false, &source, &there));
    if (!there)
        return NULL;
    if (source.size > COPY_BYTES_MAX)
        return error_new(arena, ERROR_STORAGE_UNAVAILABLE,
                         "The object %s is larger than the store copies at a time; move it by hand.", from);
    const char *place;
    TRY(find_place(s3, arena, name, &source, &place, &there));
    const char *to = s3_key_of(s3, arena, place);
    if (!there)
        TRY(copy(s3, arena, from, to, source.size));
    TRY(s3_look_at(s3, arena, to, false, &target, &there));
    if (!there || target.size != source.size)
        return error_new(arena, ERROR_STORAGE_UNAVAILABLE, "The store has not copied the object %s.", from);
    TRY(s3_remove_key(s3, arena, from));
    *where_out = place;
    return NULL;
}
