/* SPDX-License-Identifier: MIT */
/*
 * Schema tables, the reading half: fills structs from JSON and from pairs. schema_write.c has the writer and the
 * describer.
 */
#include "http/schema.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/id.h"
#include "base/limits.h"
#include "base/name.h"
#include "base/secret.h"
#include "codec/address.h"
#include "codec/document.h"
#include "codec/encoding.h"
#include "codec/language_tag.h"
#include "codec/visible.h"

struct reader {
    struct arena *arena;
    struct validation *validation;
    const char *prefix; /* path of the object being read, "" at the top */
};

static const char *path_of(const struct reader *reader, const char *name)
{
    return *reader->prefix == '\0' ? name : arena_format(reader->arena, "%s.%s", reader->prefix, name);
}

static void fault(const struct reader *reader, const char *path, const char *code, const char *message)
{
    validation_add(reader->validation, code, message, "%s", path);
}

static bool choice_has(const char *choices, const char *value)
{
    size_t length = strlen(value);
    while (choices != NULL && *choices != '\0') {
        size_t choice_length = strcspn(choices, "|");
        if (choice_length == length && memcmp(choices, value, length) == 0)
            return true;
        choices += choice_length + (choices[choice_length] == '|');
    }
    return false;
}

bool schema_phone_is_good(const char *text)
{
    size_t digits = strspn(text + (*text == '+'), "0123456789");
    return text[0] == '+' && text[1] != '0' && digits >= 7 && digits <= 15 && text[1 + digits] == '\0';
}

static bool has_control(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t left = strlen(text); left > 0;) {
        uint32_t code_point = 0;
        size_t step = utf8_next(bytes, left, &code_point);
        if (step == 0 || code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0))
            return true;
        bytes += step;
        left -= step;
    }
    return false;
}

/* Whether the length of a text field is within its bounds. A required text of blanks counts as empty. */
static bool check_length(const struct reader *reader, const struct schema_field *field, const char *path,
                         const char *value)
{
    int64_t maximum = field->maximum != 0 ? field->maximum : LIMIT_FIELD_BYTES;
    int64_t length = (int64_t)utf8_count(value);
    bool blank = field->minimum > 0 && value[strspn(value, " ")] == '\0';
    if (length >= field->minimum && length <= maximum && !blank)
        return true;
    fault(reader, path, "length",
          arena_format(reader->arena, "must have %lld to %lld characters", (long long)field->minimum,
                       (long long)maximum));
    return false;
}

static void check_email(const struct reader *reader, const char *path, const char *value)
{
    enum address_fault wrong = address_validate(reader->arena, value);
    if (wrong != ADDRESS_GOOD)
        fault(reader, path, wrong == ADDRESS_LENGTH ? "length" : "format", address_fault_text(wrong));
}

static void check_name(const struct reader *reader, const struct schema_field *field, const char *path,
                       const char *value)
{
    if (!check_length(reader, field, path, value))
        return;
    if (!name_is_good(value))
        fault(reader, path, "format", NAME_FORMAT);
    else if (field->minimum > 0 && !visible_text(value))
        fault(reader, path, "format", VISIBLE_FORMAT);
}

static void check_plain(const struct reader *reader, const struct schema_field *field, const char *path,
                        const char *value)
{
    int64_t time;
    if (!check_length(reader, field, path, value))
        return;
    if ((field->flags & SCHEMA_READ_AS_TIME) != 0 && !clock_parse(value, &time))
        fault(reader, path, "format", "must be a time such as 2026-11-21T08:52:00Z");
    else if ((field->flags & SCHEMA_UNCHECKED) == 0 && has_control(value))
        fault(reader, path, "format", "must not hold control characters");
}

/* The tag in its usual spelling. */
static const char *check_language(const struct reader *reader, const char *path, const char *value)
{
    const char *canonical = language_tag_canonical(reader->arena, value);
    if (canonical == NULL)
        fault(reader, path, "format", "must be a language tag (BCP 47) such as de-CH");
    return canonical;
}

static void store_text(const struct reader *reader, const struct schema_field *field, const char *path,
                       const char *value, char *place)
{
    switch (field->type) {
    case SCHEMA_EMAIL:
        check_email(reader, path, value);
        break;
    case SCHEMA_PHONE:
        if (!schema_phone_is_good(value))
            fault(reader, path, "format", "must be a phone number in E.164 form, such as +441632960123");
        break;
    case SCHEMA_LANGUAGE:
        value = check_language(reader, path, value);
        break;
    case SCHEMA_CHOICE:
        if (!choice_has(field->choices, value))
            fault(reader, path, "choice", arena_format(reader->arena, "must be one of %s", field->choices));
        break;
    case SCHEMA_SECRET:
        if (check_length(reader, field, path, value))
            *(struct secret *)(void *)place = secret_of(value);
        return;
    case SCHEMA_ID:
        if (!id_parse_given(value, (struct id *)(void *)place))
            fault(reader, path, "format", "must be an id: 36 lower-case characters");
        return;
    case SCHEMA_NAME:
        check_name(reader, field, path, value);
        break;
    default:
        check_plain(reader, field, path, value);
        break;
    }
    *(const char **)(void *)place = value;
}

static void store_integer(const struct reader *reader, const struct schema_field *field, const char *path,
                          bool is_integer, int64_t value, char *place)
{
    if (!is_integer || value < field->minimum || value > field->maximum)
        fault(reader, path, is_integer ? "range" : "type",
              arena_format(reader->arena, "must be a whole number from %lld to %lld", (long long)field->minimum,
                           (long long)field->maximum));
    else
        *(int64_t *)(void *)place = value;
}

/* Adds a checked item to a TEXTS field; `list` has space for it. */
static void store_item(const struct reader *reader, const struct schema_field *field, const char *path,
                       const char *value, struct text_list *list)
{
    int64_t length = (int64_t)utf8_count(value);
    bool unchecked = (field->flags & SCHEMA_UNCHECKED) != 0;
    if (field->choices != NULL && !choice_has(field->choices, value))
        fault(reader, path, "choice", arena_format(reader->arena, "must be one of %s", field->choices));
    else if ((length < 1 && !unchecked) || length > field->item_maximum)
        fault(reader, path, "length",
              arena_format(reader->arena, "must have 1 to %lld characters", (long long)field->item_maximum));
    else if (!unchecked && has_control(value))
        fault(reader, path, "format", "must not hold control characters");
    else if ((field->flags & SCHEMA_UNIQUE) != 0 && text_list_has(list, value))
        fault(reader, path, "duplicate", "is there already");
    list->items[list->count++] = value;
}

static void check_count(const struct reader *reader, const struct schema_field *field, const char *path, size_t count)
{
    if ((int64_t)count < field->minimum || (int64_t)count > field->maximum)
        fault(reader, path, "count",
              arena_format(reader->arena, "must have %lld to %lld items", (long long)field->minimum,
                           (long long)field->maximum));
}

static void store_texts(const struct reader *reader, const struct schema_field *field, const char *path,
                        const struct document *value, char *place)
{
    size_t count = 0;
    for (const struct document *item = document_first(value); item != NULL; item = document_next(item))
        count++;
    check_count(reader, field, path, count);
    if ((int64_t)count > field->maximum)
        return;
    struct text_list list = {.items = arena_array(reader->arena, count, sizeof *list.items)};
    size_t index = 0;
    for (const struct document *item = document_first(value); item != NULL; item = document_next(item), index++) {
        const char *item_path = arena_format(reader->arena, "%s[%zu]", path, index);
        if (document_kind(item) == DOCUMENT_TEXT) {
            store_item(reader, field, item_path, document_text(item), &list);
        } else {
            /* Later checks name the items behind it by their places. */
            list.items[list.count++] = "";
            fault(reader, item_path, "type", "must be a text");
        }
    }
    *(struct text_list *)(void *)place = list;
}

static void read_object(struct reader *reader, const struct schema *schema, const struct document *object, void *values,
                        uint64_t *present_out);

static void store_value(struct reader *reader, const struct schema_field *field, const char *path,
                        const struct document *value, char *place)
{
    enum document_kind kind = document_kind(value);
    int64_t number = 0;
    if (kind == DOCUMENT_NULL && (field->flags & SCHEMA_NULLABLE) != 0) {
        if (field->type == SCHEMA_INTEGER && field->fallback == NULL)
            *(int64_t *)(void *)place = SCHEMA_NO_INTEGER;
        return;
    }
    switch (field->type) {
    case SCHEMA_BOOLEAN:
        if (!document_boolean(value, (bool *)(void *)place))
            fault(reader, path, "type", "must be true or false");
        return;
    case SCHEMA_INTEGER: {
        bool is_integer = document_integer(value, &number);
        store_integer(reader, field, path, is_integer, number, place);
        return;
    }
    case SCHEMA_TEXTS:
        if (kind == DOCUMENT_ARRAY)
            store_texts(reader, field, path, value, place);
        else
            fault(reader, path, "type", "must be an array of texts");
        return;
    case SCHEMA_OBJECT:
        if (kind == DOCUMENT_OBJECT) {
            struct reader inner = {reader->arena, reader->validation, path};
            void *nested = arena_alloc(reader->arena, field->schema->size);
            read_object(&inner, field->schema, value, nested, NULL);
            *(void **)(void *)place = nested;
        } else {
            fault(reader, path, "type", "must be an object");
        }
        return;
    default:
        if (kind == DOCUMENT_TEXT)
            store_text(reader, field, path, document_text(value), place);
        else
            fault(reader, path, "type", "must be a text");
        return;
    }
}

static void store_fallback(const struct reader *reader, const struct schema_field *field, char *place)
{
    if (field->fallback == NULL)
        return;
    if (field->type == SCHEMA_BOOLEAN)
        *(bool *)(void *)place = strcmp(field->fallback, "true") == 0;
    else if (field->type == SCHEMA_INTEGER)
        (void)text_to_integer(field->fallback, INT64_MIN, INT64_MAX, (int64_t *)(void *)place);
    else if (field->type == SCHEMA_TEXTS)
        *(struct text_list *)(void *)place = text_words(reader->arena, field->fallback);
    else
        *(const char **)(void *)place = field->fallback;
}

static const struct schema_field *find_field(const struct schema *schema, const char *name, size_t *index_out)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->fields[i].name, name) == 0) {
            *index_out = i;
            return &schema->fields[i];
        }
    return NULL;
}

/* Whether the input has the member that stands for the field. */
static bool is_replaced(const struct schema *schema, const struct schema_field *field, uint64_t present)
{
    size_t index = 0;
    return field->instead != NULL && find_field(schema, field->instead, &index) != NULL && (present >> index & 1) != 0;
}

/* Sets defaults for fields that the input does not have, and records missing ones and those that exclude each other. */
static void finish_absent(const struct reader *reader, const struct schema *schema, uint64_t present, char *values)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct schema_field *field = &schema->fields[i];
        bool replaced = is_replaced(schema, field, present);
        if ((present >> i & 1) != 0 && replaced)
            fault(reader, path_of(reader, field->name), "unexpected",
                  arena_format(reader->arena, "must not be there beside %s", field->instead));
        if ((present >> i & 1) != 0)
            continue;
        if ((field->flags & SCHEMA_REQUIRED) != 0 && !replaced)
            fault(reader, path_of(reader, field->name), "required", "is missing");
        else
            store_fallback(reader, field, values + field->offset);
    }
}

static void read_object(struct reader *reader, const struct schema *schema, const struct document *object, void *values,
                        uint64_t *present_out)
{
    uint64_t present = 0;
    for (const struct document *member = document_first(object); member != NULL; member = document_next(member)) {
        const char *name = document_name(member);
        const char *path = path_of(reader, name);
        size_t index = 0;
        const struct schema_field *field = find_field(schema, name, &index);
        if (field == NULL) {
            fault(reader, path, "unknown", "is not a member of this object");
            continue;
        }
        present |= UINT64_C(1) << index;
        store_fallback(reader, field, (char *)values + field->offset);
        store_value(reader, field, path, member, (char *)values + field->offset);
    }
    finish_absent(reader, schema, present, values);
    if (present_out != NULL)
        *present_out = present;
}

void *schema_read(const struct schema *schema, const struct document *object, struct validation *validation,
                  uint64_t *present_out)
{
    struct reader reader = {validation->arena, validation, ""};
    void *values = arena_alloc(validation->arena, schema->size);
    if (document_kind(object) != DOCUMENT_OBJECT) {
        fault(&reader, "", "type", "the body must be a JSON object");
        return values;
    }
    read_object(&reader, schema, object, values, present_out);
    return values;
}

static void store_pair(const struct reader *reader, const struct schema_field *field, const char *value, size_t most,
                       char *place)
{
    int64_t number = 0;
    switch (field->type) {
    case SCHEMA_FILES:
        return;
    case SCHEMA_BOOLEAN:
        if (strcmp(value, "true") == 0 || strcmp(value, "1") == 0)
            *(bool *)(void *)place = true;
        else if (strcmp(value, "false") != 0 && strcmp(value, "0") != 0)
            fault(reader, field->name, "type", "must be true or false");
        else
            *(bool *)(void *)place = false;
        return;
    case SCHEMA_INTEGER: {
        bool is_integer = text_to_integer(value, INT64_MIN, INT64_MAX, &number);
        store_integer(reader, field, field->name, is_integer, number, place);
        return;
    }
    case SCHEMA_TEXTS: {
        struct text_list *list = (struct text_list *)(void *)place;
        if (list->items == NULL)
            list->items = arena_array(reader->arena, most, sizeof *list->items);
        store_item(reader, field, arena_format(reader->arena, "%s[%zu]", field->name, list->count), value, list);
        return;
    }
    default:
        store_text(reader, field, field->name, value, place);
        return;
    }
}

void *schema_read_pairs(const struct schema *schema, const struct schema_pair *pairs, size_t count,
                        struct validation *validation, uint64_t *present_out)
{
    struct reader reader = {validation->arena, validation, ""};
    char *values = arena_alloc(validation->arena, schema->size);
    uint64_t present = 0;
    for (size_t i = 0; i < count; i++) {
        size_t index = 0;
        const struct schema_field *field = find_field(schema, pairs[i].name, &index);
        if (field == NULL)
            fault(&reader, pairs[i].name, "unknown", "is not known here");
        else if (field->type != SCHEMA_TEXTS && (present >> index & 1) != 0)
            fault(&reader, pairs[i].name, "duplicate", "must be there once only");
        else
            store_pair(&reader, field, pairs[i].value, count, values + field->offset);
        if (field != NULL)
            present |= UINT64_C(1) << index;
    }
    for (size_t i = 0; i < schema->count; i++)
        if (schema->fields[i].type == SCHEMA_TEXTS && (present >> i & 1) != 0)
            check_count(&reader, &schema->fields[i], schema->fields[i].name,
                        ((struct text_list *)(void *)(values + schema->fields[i].offset))->count);
    finish_absent(&reader, schema, present, values);
    if (present_out != NULL)
        *present_out = present;
    return values;
}

static struct error *bad_query(struct arena *arena, const char *what)
{
    return error_message(error_plain(arena, ERROR_REQUEST_MALFORMED), "The query string %s.", what);
}

struct error *schema_split_query(struct arena *arena, const char *query, struct schema_pair **pairs_out,
                                 size_t *count_out)
{
    *pairs_out = NULL;
    *count_out = 0;
    if (*query == '\0')
        return NULL;
    if (strlen(query) > LIMIT_QUERY_BYTES)
        return bad_query(arena, "is too long");
    struct schema_pair *pairs = arena_array(arena, LIMIT_QUERY_PARAMETERS, sizeof *pairs);
    size_t count = 0;
    for (const char *at = query; *at != '\0';) {
        size_t length = strcspn(at, "&");
        if (length > 0) {
            size_t name_length = strcspn(at, "=&");
            bool has_value = at[name_length] == '=';
            const char *value = at + name_length + (has_value ? 1 : 0);
            size_t value_length = length - name_length - (has_value ? 1 : 0);
            char *name = NULL;
            char *decoded = NULL;
            if (count == LIMIT_QUERY_PARAMETERS)
                return bad_query(arena, "has too many parameters");
            if (!percent_decode(arena, at, name_length, true, &name, NULL) ||
                !percent_decode(arena, value, value_length, true, &decoded, NULL))
                return bad_query(arena, "has a broken %-escape or is not UTF-8");
            pairs[count++] = (struct schema_pair){name, decoded};
        }
        at += length + (at[length] == '&');
    }
    *pairs_out = pairs;
    *count_out = count;
    return NULL;
}

bool schema_has(const struct schema *schema, uint64_t present, const char *name)
{
    size_t index = 0;
    const struct schema_field *field = find_field(schema, name, &index);
    assert(field != NULL);
    return field != NULL && (present >> index & 1) != 0;
}
