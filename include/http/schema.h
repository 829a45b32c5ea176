/* SPDX-License-Identifier: MIT */
/*
 * Schema tables. One row a field states its name, type, bounds and place in a struct. A reader fills the struct and
 * collects all faults at once; a writer turns the struct into JSON; a describer writes the field into the OpenAPI
 * document. So handlers get typed, valid input, and no reply can differ from its documentation.
 *
 * How types stand in the struct:
 *
 *   TEXT EMAIL PHONE TIME CHOICE   const char *     NULL: absent or null
 *   NAME                           const char *     likewise; a TEXT in which nothing makes a link (base/name.h)
 *   SECRET                         struct secret    bytes NULL: absent; is never written
 *   ID                             struct id        none: absent or null
 *   BOOLEAN                        bool
 *   INTEGER                        int64_t          NULLABLE: SCHEMA_NO_INTEGER is null
 *   THOUSANDTHS                    int64_t          a number with three digits behind the point; only written;
 *                                                   NULLABLE: a negative one is null
 *   TEXTS                          struct text_list
 *   OBJECT                         struct x *       NULL: absent or null
 *   OBJECTS                        struct schema_list
 *   RAW                            const char *     JSON as it is; only written
 *   FILES                          nothing          file parts of a form; the receiver reports whether there are any
 */
#ifndef GATEHOUSE_HTTP_SCHEMA_H
#define GATEHOUSE_HTTP_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct arena;
struct document;
struct error;
struct validation;

#define SCHEMA_NO_INTEGER INT64_MIN

/* An id as text, for the document. */
#define SCHEMA_ID_PATTERN "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"

enum schema_type {
    SCHEMA_TEXT,
    SCHEMA_NAME,
    SCHEMA_EMAIL,
    SCHEMA_PHONE,
    SCHEMA_LANGUAGE, /* a language tag, in its usual spelling */
    SCHEMA_TIME,
    SCHEMA_CHOICE,
    SCHEMA_SECRET,
    SCHEMA_ID,
    SCHEMA_BOOLEAN,
    SCHEMA_INTEGER,
    SCHEMA_THOUSANDTHS,
    SCHEMA_TEXTS,
    SCHEMA_OBJECT,
    SCHEMA_OBJECTS,
    SCHEMA_RAW,
    SCHEMA_FILES
};

enum schema_flag {
    SCHEMA_REQUIRED = 1,     /* input: required; output: never left out */
    SCHEMA_NULLABLE = 2,     /* input: null is accepted; output: may be null */
    SCHEMA_OPTIONAL = 4,     /* output: left out when NULL */
    SCHEMA_UNIQUE = 8,       /* TEXTS: the same item twice is refused */
    SCHEMA_UNCHECKED = 16,   /* TEXT, TEXTS: any text within the bounds passes; the caller checks it */
    SCHEMA_READ_AS_TIME = 32 /* TEXT: input that the caller reads with clock_parse(); other text is refused */
};

struct schema_field {
    const char *name;
    enum schema_type type;
    unsigned flags;
    size_t offset;
    int64_t minimum;             /* characters, value, or number of items */
    int64_t maximum;             /* likewise; 0 for TEXT and NAME: LIMIT_FIELD_BYTES */
    const char *choices;         /* CHOICE, or the items of TEXTS: separated by | */
    const char *fallback;        /* the value when absent, as text ("25", "true", "a|b") */
    const char *instead;         /* REQUIRED, of a body: the member that stands for it; both are refused */
    const char *unless;          /* BOOLEAN, of a body: not true where that member is; the caller checks it */
    const struct schema *schema; /* OBJECT, OBJECTS */
    int64_t item_maximum;        /* TEXTS: characters an item */
    const char *pattern;         /* TEXT, TEXTS: what the caller checks, for the document; as JSON has the text */
    const char *description;
};

struct schema {
    const char *name; /* the component's name in the OpenAPI document, e.g. "User" */
    const char *description;
    bool not_empty; /* input: an object without a member is refused by the caller */
    const struct schema_field *fields;
    size_t count;
    size_t size; /* of the struct */
};

struct schema_list {
    const void *const *items;
    size_t count;
};

/* Name and value of a query parameter or form field, decoded. */
struct schema_pair {
    const char *name;
    const char *value;
};

#define SCHEMA_FIELDS(rows) .fields = (rows), .count = sizeof(rows) / sizeof *(rows)

/*
 * Reads the members of `object` into a new struct. Every fault goes into `validation`: codes `required`, `unknown`,
 * `type`, `length`, `format`, `choice`, `range`, `count`, `duplicate`, `unexpected`. *present_out (may be NULL) gets
 * bit n for each field n that the input has, null included. The struct is complete only when nothing was recorded.
 */
void *schema_read(const struct schema *schema, const struct document *object, struct validation *validation,
                  uint64_t *present_out);

/*
 * The same for pairs (a query string, the text fields of a form): each field at most once, except TEXTS, which collects
 * repetitions.
 */
void *schema_read_pairs(const struct schema *schema, const struct schema_pair *pairs, size_t count,
                        struct validation *validation, uint64_t *present_out);

/*
 * Splits and decodes a query string. REQUEST_MALFORMED when it is too long, has too many parameters or a broken escape.
 */
struct error *schema_split_query(struct arena *arena, const char *query, struct schema_pair **pairs_out,
                                 size_t *count_out);

/* Whether the field of that name was in the input. The name must be one of the schema's. */
bool schema_has(const struct schema *schema, uint64_t present, const char *name);

/* Adds the struct as a JSON object. */
void schema_write(struct buffer *buffer, const struct schema *schema, const void *values);

/* Adds the JSON Schema (2020-12, as in OpenAPI 3.1) of the object. `input`: unknown members are refused. */
void schema_describe(struct buffer *buffer, const struct schema *schema, bool input);

/* Adds the JSON Schema of one field alone, for a query parameter. */
void schema_describe_field(struct buffer *buffer, const struct schema_field *field, bool input);

/* Whether the text is a phone number in E.164: '+', a digit from 1 to 9, 6 to 14 more digits. */
bool schema_phone_is_good(const char *text);

#endif
