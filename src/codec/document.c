/* SPDX-License-Identifier: MIT */
/*
 * The tree of a JSON document. A `struct document` is an item of the JSON library. Its texts live on the heap, and the
 * body of a login holds a password, so they are wiped before the library frees them.
 */
#include "codec/document.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "codec/document_int.h"

static const cJSON *item_of(const struct document *value)
{
    return (const cJSON *)(const void *)value;
}

static const struct document *document_of(const cJSON *item)
{
    return (const struct document *)(const void *)item;
}

static void wipe(cJSON *item)
{
    for (; item != NULL; item = item->next) {
        if (item->valuestring != NULL)
            explicit_bzero(item->valuestring, strlen(item->valuestring));
        wipe(item->child);
    }
}

static void release(void *argument)
{
    wipe(argument);
    cJSON_Delete(argument);
}

struct error *document_parse(struct arena *arena, const char *bytes, size_t length, struct document **document_out)
{
    *document_out = NULL;
    TRY(document_scan(arena, bytes, length));
    cJSON *item = cJSON_ParseWithLength(bytes, length);
    if (item == NULL)
        return error_new(arena, ERROR_INTERNAL, "the JSON library did not read what the scanner passed");
    arena_defer(arena, release, item);
    *document_out = (struct document *)(void *)item;
    return NULL;
}

enum document_kind document_kind(const struct document *value)
{
    const cJSON *item = item_of(value);
    if (cJSON_IsObject(item))
        return DOCUMENT_OBJECT;
    if (cJSON_IsArray(item))
        return DOCUMENT_ARRAY;
    if (cJSON_IsString(item))
        return DOCUMENT_TEXT;
    if (cJSON_IsNumber(item))
        return DOCUMENT_NUMBER;
    return cJSON_IsBool(item) ? DOCUMENT_BOOLEAN : DOCUMENT_NULL;
}

const struct document *document_member(const struct document *object, const char *name)
{
    return cJSON_IsObject(item_of(object)) ? document_of(cJSON_GetObjectItemCaseSensitive(item_of(object), name))
                                           : NULL;
}

const struct document *document_first(const struct document *value)
{
    return value == NULL ? NULL : document_of(item_of(value)->child);
}

const struct document *document_next(const struct document *value)
{
    return value == NULL ? NULL : document_of(item_of(value)->next);
}

size_t document_count(const struct document *value)
{
    size_t count = 0;
    for (const struct document *child = document_first(value); child != NULL; child = document_next(child))
        count++;
    return count;
}

const char *document_name(const struct document *value)
{
    return value == NULL ? NULL : item_of(value)->string;
}

const char *document_text(const struct document *value)
{
    return cJSON_IsString(item_of(value)) ? item_of(value)->valuestring : NULL;
}

bool document_integer(const struct document *value, int64_t *value_out)
{
    if (!cJSON_IsNumber(item_of(value)))
        return false;
    double number = item_of(value)->valuedouble;
    /* In this form the condition is false for a NaN too. */
    if (!(fabs(number) <= (double)DOCUMENT_INTEGER_MAX))
        return false;
    int64_t whole = (int64_t)number;
    if ((double)whole < number || (double)whole > number)
        return false;
    *value_out = whole;
    return true;
}

bool document_boolean(const struct document *value, bool *value_out)
{
    if (!cJSON_IsBool(item_of(value)))
        return false;
    *value_out = cJSON_IsTrue(item_of(value)) != 0;
    return true;
}

/* ---- writing -------------------------------------------------------------------------------------- */

static void new_line(int indent, struct buffer *buffer)
{
    if (indent >= 0)
        buffer_add_format(buffer, "\n%*s", 2 * indent, "");
}

static void write_number(const cJSON *item, struct buffer *buffer)
{
    int64_t whole;
    if (document_integer(document_of(item), &whole))
        buffer_add_format(buffer, "%lld", (long long)whole);
    else if (isinf(item->valuedouble))
        buffer_add_text(buffer, item->valuedouble < 0 ? "-1e999" : "1e999");
    else
        buffer_add_format(buffer, "%.17g", item->valuedouble);
}

static void write_children(const cJSON *item, int indent, struct buffer *buffer)
{
    bool object = cJSON_IsObject(item) != 0;
    int inside = indent >= 0 ? indent + 1 : indent;
    buffer_add_char(buffer, object ? '{' : '[');
    for (const cJSON *child = item->child; child != NULL; child = child->next) {
        if (child != item->child)
            buffer_add_char(buffer, ',');
        new_line(inside, buffer);
        if (object) {
            buffer_add_json_text(buffer, child->string);
            buffer_add_text(buffer, indent >= 0 ? ": " : ":");
        }
        document_write(document_of(child), inside, buffer);
    }
    if (item->child != NULL)
        new_line(indent, buffer);
    buffer_add_char(buffer, object ? '}' : ']');
}

void document_write(const struct document *value, int indent, struct buffer *buffer)
{
    const cJSON *item = item_of(value);
    if (cJSON_IsObject(item) || cJSON_IsArray(item))
        write_children(item, indent, buffer);
    else if (cJSON_IsString(item))
        buffer_add_json_text(buffer, item->valuestring);
    else if (cJSON_IsNumber(item))
        write_number(item, buffer);
    else if (cJSON_IsBool(item))
        buffer_add_text(buffer, cJSON_IsTrue(item) ? "true" : "false");
    else
        buffer_add_text(buffer, "null");
}
