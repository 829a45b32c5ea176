/* SPDX-License-Identifier: MIT */
/* Schema tables, the writing half: structs as JSON, and the tables themselves as JSON Schema. */
#include <string.h>

#include "base/arena.h"
#include "base/id.h"
#include "base/limits.h"
#include "base/name.h"
#include "codec/language_tag.h"
#include "http/schema.h"

static void write_texts(struct buffer *buffer, const struct text_list *list)
{
    buffer_add_char(buffer, '[');
    for (size_t i = 0; i < list->count; i++) {
        if (i != 0)
            buffer_add_char(buffer, ',');
        buffer_add_json_text(buffer, list->items[i]);
    }
    buffer_add_char(buffer, ']');
}

static void write_objects(struct buffer *buffer, const struct schema *schema, const struct schema_list *list)
{
    buffer_add_char(buffer, '[');
    for (size_t i = 0; i < list->count; i++) {
        if (i != 0)
            buffer_add_char(buffer, ',');
        schema_write(buffer, schema, list->items[i]);
    }
    buffer_add_char(buffer, ']');
}

static void write_id(struct buffer *buffer, struct id id)
{
    char text[ID_TEXT_BYTES];
    if (id_is_none(id)) {
        buffer_add_text(buffer, "null");
        return;
    }
    id_format(id, text);
    buffer_add_json(buffer, text, ID_TEXT_BYTES - 1);
}

static void write_integer(struct buffer *buffer, const struct schema_field *field, int64_t integer)
{
    if ((field->flags & SCHEMA_NULLABLE) != 0 && integer == SCHEMA_NO_INTEGER)
        buffer_add_text(buffer, "null");
    else
        buffer_add_integer(buffer, integer);
}

static void write_thousandths(struct buffer *buffer, const struct schema_field *field, int64_t value)
{
    if ((field->flags & SCHEMA_NULLABLE) != 0 && value < 0)
        buffer_add_text(buffer, "null");
    else
        buffer_add_format(buffer, "%lld.%03lld", (long long)(value / 1000), (long long)(value % 1000));
}

static void write_value(struct buffer *buffer, const struct schema_field *field, const void *place)
{
    switch (field->type) {
    case SCHEMA_BOOLEAN:
        buffer_add_text(buffer, *(const bool *)place ? "true" : "false");
        return;
    case SCHEMA_INTEGER:
        write_integer(buffer, field, *(const int64_t *)place);
        return;
    case SCHEMA_THOUSANDTHS:
        write_thousandths(buffer, field, *(const int64_t *)place);
        return;
    case SCHEMA_ID:
        write_id(buffer, *(const struct id *)place);
        return;
    case SCHEMA_TEXTS:
        write_texts(buffer, place);
        return;
    case SCHEMA_OBJECT: {
        const void *nested = *(const void *const *)place;
        if (nested == NULL)
            buffer_add_text(buffer, "null");
        else
            schema_write(buffer, field->schema, nested);
        return;
    }
    case SCHEMA_OBJECTS:
        write_objects(buffer, field->schema, place);
        return;
    case SCHEMA_RAW: {
        const char *raw = *(const char *const *)place;
        buffer_add_text(buffer, raw == NULL ? "null" : raw);
        return;
    }
    case SCHEMA_SECRET:
        buffer_add_text(buffer, "null");
        return;
    default:
        buffer_add_json_text(buffer, *(const char *const *)place);
        return;
    }
}

void schema_write(struct buffer *buffer, const struct schema *schema, const void *values)
{
    const char *separator = "{";
    for (size_t i = 0; i < schema->count; i++) {
        const struct schema_field *field = &schema->fields[i];
        const char *place = (const char *)values + field->offset;
        if ((field->flags & SCHEMA_OPTIONAL) != 0 && *(const void *const *)(const void *)place == NULL)
            continue;
        buffer_add_text(buffer, separator);
        buffer_add_json_text(buffer, field->name);
        buffer_add_char(buffer, ':');
        write_value(buffer, field, place);
        separator = ",";
    }
    buffer_add_text(buffer, *separator == '{' ? "{}" : "}");
}

static void describe_choices(struct buffer *buffer, const char *choices, bool nullable)
{
    buffer_add_text(buffer, ",\"enum\":[");
    for (const char *at = choices; *at != '\0';) {
        size_t length = strcspn(at, "|");
        if (at != choices)
            buffer_add_char(buffer, ',');
        buffer_add_json(buffer, at, length);
        at += length + (at[length] == '|');
    }
    buffer_add_text(buffer, nullable ? ",null]" : "]");
}

static void describe_type(struct buffer *buffer, const char *type, bool nullable)
{
    if (nullable)
        buffer_add_format(buffer, "\"type\":[\"%s\",\"null\"]", type);
    else
        buffer_add_format(buffer, "\"type\":\"%s\"", type);
}

/* A language of two or three letters; what may follow is in an order that no pattern says in a line. */
#define LANGUAGE_PATTERN "^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$"
#define NO_CHARACTER "\\\\u0000"
#define CONTROL_CHARACTERS "\\\\u0000-\\\\u001F\\\\u007F-\\\\u009F"

/*
 * What a text does not hold, as in a class of characters of its pattern: names, secrets, and free texts, which hold no
 * control characters unless the caller checks them. NULL: it has another pattern, or none.
 */
static const char *refused_characters(const struct schema_field *field)
{
    if (field->type == SCHEMA_NAME)
        return NAME_REFUSED;
    if (field->pattern != NULL || (field->flags & SCHEMA_READ_AS_TIME) != 0)
        return NULL;
    bool unchecked = (field->flags & SCHEMA_UNCHECKED) != 0;
    if (field->type == SCHEMA_SECRET || (field->type == SCHEMA_TEXT && unchecked))
        return NO_CHARACTER;
    bool is_text = field->type == SCHEMA_TEXT || field->type == SCHEMA_TEXTS;
    return is_text && !unchecked ? CONTROL_CHARACTERS : NULL;
}

static void describe_pattern(struct buffer *buffer, const struct schema_field *field, bool input)
{
    const char *pattern = NULL;
    const char *refused = input ? refused_characters(field) : NULL;
    if (field->type == SCHEMA_ID)
        pattern = SCHEMA_ID_PATTERN;
    else if (field->type == SCHEMA_PHONE)
        pattern = "^\\\\+[1-9][0-9]{6,14}$";
    else if (input && field->type == SCHEMA_LANGUAGE)
        pattern = LANGUAGE_PATTERN;
    else if (input && (field->type == SCHEMA_TEXT || field->type == SCHEMA_TEXTS))
        pattern = field->pattern;
    if (pattern != NULL)
        buffer_add_format(buffer, ",\"pattern\":\"%s\"", pattern);
    else if (refused != NULL && field->minimum > 0 && field->type != SCHEMA_TEXTS) /* blanks alone count as empty */
        buffer_add_format(buffer, ",\"pattern\":\"^ *[^ %s][^%s]*$\"", refused, refused);
    else if (refused != NULL)
        buffer_add_format(buffer, ",\"pattern\":\"^[^%s]*$\"", refused);
}

static void describe_texts(struct buffer *buffer, const struct schema_field *field, bool input)
{
    buffer_add_text(buffer, "\"type\":\"array\",\"items\":{\"type\":\"string\"");
    if (field->choices != NULL)
        describe_choices(buffer, field->choices, false);
    else
        describe_pattern(buffer, field, input);
    if (input && field->item_maximum > 0 && (field->flags & SCHEMA_UNCHECKED) == 0)
        buffer_add_format(buffer, ",\"minLength\":1,\"maxLength\":%lld", (long long)field->item_maximum);
    buffer_add_char(buffer, '}');
    if (input && field->maximum > 0)
        buffer_add_format(buffer, ",\"minItems\":%lld,\"maxItems\":%lld", (long long)field->minimum,
                          (long long)field->maximum);
    if (input && (field->flags & SCHEMA_UNIQUE) != 0)
        buffer_add_text(buffer, ",\"uniqueItems\":true");
}

static void describe_text(struct buffer *buffer, const struct schema_field *field, bool input, bool nullable)
{
    static const char *const formats[] = {
        [SCHEMA_EMAIL] = "idn-email", [SCHEMA_TIME] = "date-time", [SCHEMA_SECRET] = "password", [SCHEMA_ID] = "uuid"};
    const char *format = field->type <= SCHEMA_ID ? formats[field->type] : NULL;
    describe_type(buffer, "string", nullable);
    if (format != NULL || (field->flags & SCHEMA_READ_AS_TIME) != 0)
        buffer_add_format(buffer, ",\"format\":\"%s\"", format != NULL ? format : "date-time");
    describe_pattern(buffer, field, input);
    if (input && field->type == SCHEMA_EMAIL)
        buffer_add_format(buffer, ",\"maxLength\":%d", LIMIT_EMAIL_BYTES);
    if (input && field->type == SCHEMA_LANGUAGE)
        buffer_add_format(buffer, ",\"minLength\":2,\"maxLength\":%d", LANGUAGE_TAG_BYTES);
    if (field->type == SCHEMA_CHOICE)
        describe_choices(buffer, field->choices, nullable);
    bool free_text = field->type == SCHEMA_TEXT || field->type == SCHEMA_NAME || field->type == SCHEMA_SECRET;
    if (input && free_text && field->maximum > 0)
        buffer_add_format(buffer, ",\"minLength\":%lld,\"maxLength\":%lld", (long long)field->minimum,
                          (long long)field->maximum);
}

static void describe_fallback(struct buffer *buffer, const struct schema_field *field)
{
    if (field->fallback == NULL)
        return;
    buffer_add_text(buffer, ",\"default\":");
    if (field->type == SCHEMA_BOOLEAN || field->type == SCHEMA_INTEGER) {
        buffer_add_text(buffer, field->fallback);
    } else if (field->type == SCHEMA_TEXTS) {
        struct text_list words = text_words(buffer->arena, field->fallback);
        write_texts(buffer, &words);
    } else {
        buffer_add_json_text(buffer, field->fallback);
    }
}

static void describe_number(struct buffer *buffer, const struct schema_field *field, bool input, bool nullable)
{
    describe_type(buffer, field->type == SCHEMA_INTEGER ? "integer" : "number", nullable);
    if (field->type == SCHEMA_INTEGER && (input || field->maximum > 0))
        buffer_add_format(buffer, ",\"minimum\":%lld,\"maximum\":%lld", (long long)field->minimum,
                          (long long)field->maximum);
}

void schema_describe_field(struct buffer *buffer, const struct schema_field *field, bool input)
{
    bool nullable = (field->flags & SCHEMA_NULLABLE) != 0;
    if (field->type == SCHEMA_OBJECT || field->type == SCHEMA_OBJECTS) {
        bool list = field->type == SCHEMA_OBJECTS;
        buffer_add_text(buffer, list ? "{\"type\":\"array\",\"items\":" : "");
        buffer_add_format(buffer,
                          nullable ? "{\"oneOf\":[{\"$ref\":\"#/components/schemas/%s\"},{\"type\":\"null\"}]}"
                                   : "{\"$ref\":\"#/components/schemas/%s\"}",
                          field->schema->name);
        buffer_add_text(buffer, list ? "}" : "");
        return;
    }
    buffer_add_char(buffer, '{');
    if (field->type == SCHEMA_BOOLEAN) {
        describe_type(buffer, "boolean", nullable);
    } else if (field->type == SCHEMA_INTEGER || field->type == SCHEMA_THOUSANDTHS) {
        describe_number(buffer, field, input, nullable);
    } else if (field->type == SCHEMA_TEXTS) {
        describe_texts(buffer, field, input);
    } else if (field->type == SCHEMA_RAW) {
        describe_type(buffer, "object", nullable);
    } else if (field->type == SCHEMA_FILES) {
        buffer_add_format(buffer,
                          "\"type\":\"array\",\"items\":{\"type\":\"string\",\"format\":\"binary\"},"
                          "\"minItems\":%lld,\"maxItems\":%lld",
                          (long long)field->minimum, (long long)field->maximum);
    } else {
        describe_text(buffer, field, input, nullable);
    }
    if (input)
        describe_fallback(buffer, field);
    if (field->description != NULL) {
        buffer_add_text(buffer, ",\"description\":");
        buffer_add_json_text(buffer, field->description);
    }
    buffer_add_char(buffer, '}');
}

/* Two members must not both be true. */
static void describe_unless(struct buffer *buffer, const struct schema *schema, bool input)
{
    for (size_t i = 0; input && i < schema->count; i++)
        if (schema->fields[i].unless != NULL)
            buffer_add_format(buffer,
                              ",\"not\":{\"properties\":{\"%s\":{\"const\":true},\"%s\":{\"const\":true}},"
                              "\"required\":[\"%s\",\"%s\"]}",
                              schema->fields[i].name, schema->fields[i].unless, schema->fields[i].name,
                              schema->fields[i].unless);
}

/* One of two members must be there, and not both. */
static void describe_instead(struct buffer *buffer, const struct schema *schema, bool input)
{
    for (size_t i = 0; input && i < schema->count; i++)
        if (schema->fields[i].instead != NULL)
            buffer_add_format(buffer, ",\"oneOf\":[{\"required\":[\"%s\"]},{\"required\":[\"%s\"]}]",
                              schema->fields[i].name, schema->fields[i].instead);
}

void schema_describe(struct buffer *buffer, const struct schema *schema, bool input)
{
    buffer_add_text(buffer, "{\"type\":\"object\"");
    if (schema->description != NULL) {
        buffer_add_text(buffer, ",\"description\":");
        buffer_add_json_text(buffer, schema->description);
    }
    buffer_add_text(buffer, ",\"properties\":{");
    for (size_t i = 0; i < schema->count; i++) {
        if (i != 0)
            buffer_add_char(buffer, ',');
        buffer_add_json_text(buffer, schema->fields[i].name);
        buffer_add_char(buffer, ':');
        schema_describe_field(buffer, &schema->fields[i], input);
    }
    buffer_add_text(buffer, "},\"required\":[");
    const char *separator = "";
    for (size_t i = 0; i < schema->count; i++) {
        unsigned flags = schema->fields[i].flags;
        bool required = (flags & SCHEMA_REQUIRED) != 0 && schema->fields[i].instead == NULL;
        if (input ? !required : (flags & SCHEMA_OPTIONAL) != 0)
            continue;
        buffer_add_text(buffer, separator);
        buffer_add_json_text(buffer, schema->fields[i].name);
        separator = ",";
    }
    buffer_add_char(buffer, ']');
    describe_instead(buffer, schema, input);
    describe_unless(buffer, schema, input);
    if (input && schema->not_empty)
        buffer_add_text(buffer, ",\"minProperties\":1");
    buffer_add_text(buffer, ",\"additionalProperties\":false}");
}
