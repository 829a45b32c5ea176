/* SPDX-License-Identifier: MIT */
/*
 * Text: a buffer that grows in an arena, the JSON string escape that the logger and the reply writer share, and tests
 * of characters that do not depend on the locale.
 */
#ifndef GATEHOUSE_BASE_TEXT_H
#define GATEHOUSE_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* A growing text; `bytes` is always NUL-terminated once anything was added (and "" before). Lives in its arena. */
struct buffer {
    struct arena *arena;
    char *bytes;
    size_t length;
    size_t capacity;
};

/* A list of texts, as a schema reads them; `items` has `count` entries, none NULL. */
struct text_list {
    const char **items;
    size_t count;
};

/* Makes *buffer empty, growing in `arena`. */
void buffer_init(struct buffer *buffer, struct arena *arena);

/* Ensures space for `more` bytes beyond length and the NUL. */
void buffer_reserve(struct buffer *buffer, size_t more);

void buffer_add(struct buffer *buffer, const void *bytes, size_t length);
void buffer_add_text(struct buffer *buffer, const char *text);
void buffer_add_char(struct buffer *buffer, char character);
void buffer_add_format(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same as "%lld", in a tenth of its time. */
void buffer_add_integer(struct buffer *buffer, int64_t integer);

/* Enough bytes for the text of any integer, without a NUL. */
#define TEXT_INTEGER_BYTES 20

/* Writes the text of an integer without a NUL; returns its length. */
size_t text_from_integer(int64_t integer, char text_out[TEXT_INTEGER_BYTES]);

/*
 * Adds `length` bytes as a JSON string with its quotes (RFC 8259, section 7). Invalid UTF-8 becomes U+FFFD, control
 * characters, U+2028 and U+2029 are escaped, so that the result is one line and valid whatever comes in.
 */
void buffer_add_json(struct buffer *buffer, const char *text, size_t length);

/* How many bytes at the beginning need no escape in a JSON string: printable ASCII without " and \. */
size_t text_plain_length(const char *text, size_t length);

/* The same for a NUL-terminated text; NULL becomes the word null. */
void buffer_add_json_text(struct buffer *buffer, const char *text);

/*
 * Length in bytes of the valid UTF-8 character at `bytes` (1 to 4; RFC 3629: no surrogates, no overlong forms, at most
 * U+10FFFF), 0 where there is none. `left` is the number of bytes there. *code_point_out may be NULL.
 */
size_t utf8_next(const unsigned char *bytes, size_t left, uint32_t *code_point_out);

/* Whether all `length` bytes are valid UTF-8. */
bool utf8_valid(const char *text, size_t length);

/* Number of code points in valid UTF-8. */
size_t utf8_count(const char *text);

/* ASCII only, whatever the locale. */
char text_lower(char character);
bool text_equal_ignoring_case(const char *a, const char *b);
bool text_is_digit(char character);
bool text_is_alpha(char character);

/* A lower-cased (ASCII) copy in the arena. */
char *text_lowered(struct arena *arena, const char *text);

/*
 * Reads a decimal integer that is the whole text: an optional '-', digits without leading zeros. False when it is
 * anything else or outside minimum..maximum; *value_out is then untouched.
 */
bool text_to_integer(const char *text, int64_t minimum, int64_t maximum, int64_t *value_out);

/*
 * Splits `text` at single blanks, tabs and line ends into words copied to the arena; runs of them count as one.
 * Empty or NULL text gives an empty list.
 */
struct text_list text_words(struct arena *arena, const char *text);

/* Whether `list` contains exactly `text`. */
bool text_list_has(const struct text_list *list, const char *text);

/* The list's items joined with `separator`, in the arena; "" for an empty list. */
char *text_list_join(struct arena *arena, const struct text_list *list, const char *separator);

#endif
