/* SPDX-License-Identifier: MIT */
/* JSON as the drivers and provisioning need it. */
#include "identity/json_int.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"

void merge_patch_add(struct merge_patch *patch, const char *name, const char *json)
{
    assert(patch->count < MERGE_PATCH_MEMBERS);
    patch->names[patch->count] = name;
    patch->values[patch->count++] = json;
}

static bool is_patched(const struct merge_patch *patch, const char *name)
{
    for (size_t i = 0; i < patch->count; i++)
        if (strcmp(patch->names[i], name) == 0)
            return true;
    return false;
}

static bool is_kept(const char *const *kept, const char *name)
{
    for (; kept != NULL && *kept != NULL; kept++)
        if (strcmp(*kept, name) == 0)
            return true;
    return kept == NULL;
}

static void add_name(struct buffer *buffer, const char *name)
{
    buffer_add_char(buffer, buffer->length == 0 ? '{' : ',');
    buffer_add_json_text(buffer, name);
    buffer_add_char(buffer, ':');
}

const char *merge_patch_apply(struct arena *arena, const struct merge_patch *patch, const struct document *object,
                              const char *const *kept)
{
    struct buffer buffer;
    buffer_init(&buffer, arena);
    for (const struct document *one = document_first(object); one != NULL; one = document_next(one)) {
        if (!is_kept(kept, document_name(one)) || is_patched(patch, document_name(one)) ||
            document_kind(one) == DOCUMENT_NULL)
            continue;
        add_name(&buffer, document_name(one));
        document_write(one, -1, &buffer);
    }
    for (size_t i = 0; i < patch->count; i++) {
        if (patch->values[i] == NULL)
            continue;
        add_name(&buffer, patch->names[i]);
        buffer_add_text(&buffer, patch->values[i]);
    }
    buffer_add_text(&buffer, buffer.length == 0 ? "{}" : "}");
    return buffer.bytes;
}

const char *merge_patch_names(struct arena *arena, const struct merge_patch *patch)
{
    struct text_list list = {arena_array(arena, MERGE_PATCH_MEMBERS, sizeof *list.items), patch->count};
    memcpy(list.items, patch->names, patch->count * sizeof *list.items);
    return text_list_join(arena, &list, ", ");
}

const char *json_pretty(struct arena *arena, const char *json)
{
    struct document *document = NULL;
    struct buffer buffer;
    buffer_init(&buffer, arena);
    if (document_parse(arena, json, strlen(json), &document) != NULL)
        return json;
    document_write(document, 0, &buffer);
    return buffer.bytes;
}

const char *json_boolean(bool flag)
{
    return flag ? "true" : "false";
}

bool json_is(const struct document *object, const char *name, bool flag)
{
    bool found = !flag;
    return document_boolean(document_member(object, name), &found) && found == flag;
}

bool json_array_has(const struct document *array, const char *text)
{
    for (const struct document *one = document_first(array); one != NULL; one = document_next(one))
        if (document_text(one) != NULL && strcmp(document_text(one), text) == 0)
            return true;
    return false;
}

const struct document *json_find(const struct document *array, const char *member, const char *text)
{
    for (const struct document *one = document_first(array); one != NULL; one = document_next(one)) {
        const char *found = document_text(document_member(one, member));
        if (found != NULL && strcmp(found, text) == 0)
            return one;
    }
    return NULL;
}

const char *json_text(struct arena *arena, const char *text)
{
    struct buffer buffer;
    buffer_init(&buffer, arena);
    buffer_add_json_text(&buffer, text);
    return buffer.bytes;
}
