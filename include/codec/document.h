/* SPDX-License-Identifier: MIT */
/*
 * Reads JSON from clients and other services strictly (RFC 8259). A scanner of our own (src/codec/document_scan.c)
 * checks the raw bytes before the JSON library sees them, because the library accepts what two readers could understand
 * differently: duplicate members, U+0000 that ends a text early, bytes that are not UTF-8, numbers such as 01, and text
 * behind the value.
 *
 * A document is a tree of values in the arena that it was parsed into; it is released with the arena.
 *
 * JSON for replies is written with buffer_add_json() (base/text.h).
 */
#ifndef GATEHOUSE_CODEC_DOCUMENT_H
#define GATEHOUSE_CODEC_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Integers beyond these lose digits in other readers (RFC 7493, section 2.2). */
#define DOCUMENT_INTEGER_MAX INT64_C(9007199254740991)
#define DOCUMENT_INTEGER_MIN (-DOCUMENT_INTEGER_MAX)

/* The longest text of a number, in characters. */
#define DOCUMENT_NUMBER_BYTES 60

struct arena;
struct buffer;
struct document;
struct error;

enum document_kind { DOCUMENT_NULL, DOCUMENT_BOOLEAN, DOCUMENT_NUMBER, DOCUMENT_TEXT, DOCUMENT_ARRAY, DOCUMENT_OBJECT };

/*
 * Reads exactly one JSON value with only blanks around it; the bytes need not end with NUL and are not kept. Otherwise
 * REQUEST_MALFORMED with an entry for each fault. Entry codes:
 *   "syntax"     not JSON, or text after it, or a byte order mark (path ""; the message names the byte)
 *   "encoding"   not UTF-8 (path ""; the message names the byte)
 *   "duplicate"  two members of one object have the same name once unescaped (the member's path)
 *   "character"  a U+0000 or half a surrogate pair in a text or name (the value's path)
 *   "depth"      more than LIMIT_JSON_DEPTH arrays and objects inside one another (path "")
 *   "length"     over LIMIT_JSON_BYTES_MAX bytes (path ""), or a number over DOCUMENT_NUMBER_BYTES characters
 * Memory is at most about 80 times the length of the text (an array of one-digit numbers).
 */
struct error *document_parse(struct arena *arena, const char *bytes, size_t length, struct document **document_out);

enum document_kind document_kind(const struct document *value);

/* The member of that name, exactly as spelt; NULL when there is none or `object` is not an object. */
const struct document *document_member(const struct document *object, const char *name);

/* An array's elements or an object's members in the order sent; NULL at the end and for other kinds. */
const struct document *document_first(const struct document *value);
const struct document *document_next(const struct document *value);

/* The number of elements or members; 0 for other kinds. */
size_t document_count(const struct document *value);

/* The name of an object's member; NULL for what is not one. */
const char *document_name(const struct document *value);

/* A text's characters: valid UTF-8 without U+0000, NUL-terminated. NULL when `value` is NULL or no text. */
const char *document_text(const struct document *value);

/*
 * Reads a number that is whole and within DOCUMENT_INTEGER_MIN..DOCUMENT_INTEGER_MAX, however it is written (5, 5.0,
 * 0.5e1). False, and *value_out untouched, for every other value and for NULL. A number beyond the range of a double is
 * well-formed JSON and is refused only here.
 */
bool document_integer(const struct document *value, int64_t *value_out);

/* False, and *value_out untouched, when `value` is NULL or neither true nor false. */
bool document_boolean(const struct document *value, bool *value_out);

/*
 * Adds the value to `buffer` as JSON. A negative `indent` writes one line. Otherwise each member and element has a line
 * of its own, indented by two blanks a level, and `indent` is the level of the value itself. Reading the result gives
 * the same value; a number beyond the range of a double stays one that is beyond it.
 */
void document_write(const struct document *value, int indent, struct buffer *buffer);

#endif
