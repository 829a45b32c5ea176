/* SPDX-License-Identifier: MIT */
/* The growing buffer, the JSON escape, and readers and tests of text. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"

void buffer_init(struct buffer *buffer, struct arena *arena)
{
    *buffer = (struct buffer){.arena = arena};
    buffer->bytes = arena_alloc(arena, 1);
}

void buffer_reserve(struct buffer *buffer, size_t more)
{
    size_t needed = buffer->length + more + 1;
    if (needed <= buffer->capacity)
        return;
    size_t capacity = buffer->capacity < 256 ? 256 : buffer->capacity * 2;
    if (capacity < needed)
        capacity = needed;
    char *bytes = arena_alloc(buffer->arena, capacity);
    memcpy(bytes, buffer->bytes, buffer->length);
    buffer->bytes = bytes;
    buffer->capacity = capacity;
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t length)
{
    if (length == 0)
        return;
    buffer_reserve(buffer, length);
    memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = '\0';
}

void buffer_add_text(struct buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

void buffer_add_char(struct buffer *buffer, char character)
{
    buffer_add(buffer, &character, 1);
}

void buffer_add_format(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_add_text(buffer, arena_format_list(buffer->arena, format, arguments));
    va_end(arguments);
}

size_t text_from_integer(int64_t integer, char text_out[TEXT_INTEGER_BYTES])
{
    char reversed[TEXT_INTEGER_BYTES];
    size_t count = 0, length = 0;
    uint64_t left = integer < 0 ? (uint64_t)0 - (uint64_t)integer : (uint64_t)integer;
    do {
        reversed[count++] = (char)('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (integer < 0)
        text_out[length++] = '-';
    while (count > 0)
        text_out[length++] = reversed[--count];
    return length;
}

void buffer_add_integer(struct buffer *buffer, int64_t integer)
{
    char text[TEXT_INTEGER_BYTES];
    buffer_add(buffer, text, text_from_integer(integer, text));
}

size_t utf8_next(const unsigned char *bytes, size_t left, uint32_t *code_point_out)
{
    static const uint32_t minimum[] = {0, 0, 0x80, 0x800, 0x10000};
    if (left == 0)
        return 0;
    uint32_t code_point;
    size_t length;
    if (bytes[0] < 0x80) {
        length = 1;
        code_point = bytes[0];
    } else if ((bytes[0] & 0xe0) == 0xc0) {
        length = 2;
        code_point = bytes[0] & 0x1fu;
    } else if ((bytes[0] & 0xf0) == 0xe0) {
        length = 3;
        code_point = bytes[0] & 0x0fu;
    } else if ((bytes[0] & 0xf8) == 0xf0) {
        length = 4;
        code_point = bytes[0] & 0x07u;
    } else {
        return 0;
    }
    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        code_point = code_point << 6 | (bytes[i] & 0x3fu);
    }
    if (code_point < minimum[length] || code_point > 0x10ffff || (code_point >= 0xd800 && code_point <= 0xdfff))
        return 0;
    if (code_point_out != NULL)
        *code_point_out = code_point;
    return length;
}

static void add_escaped(struct buffer *buffer, const unsigned char *bytes, size_t length, uint32_t code_point)
{
    static const char shorts[] = "btn\0fr";
    if (code_point == '"' || code_point == '\\') {
        buffer_add_char(buffer, '\\');
        buffer_add_char(buffer, (char)code_point);
    } else if (code_point >= 8 && code_point <= 13 && shorts[code_point - 8] != '\0') {
        buffer_add_char(buffer, '\\');
        buffer_add_char(buffer, shorts[code_point - 8]);
    } else if (code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) || code_point == 0x2028 ||
               code_point == 0x2029) {
        buffer_add_format(buffer, "\\u%04x", (unsigned)code_point);
    } else {
        buffer_add(buffer, bytes, length);
    }
}

/* The high bit of each byte that is zero. Bytes above a zero byte may have it as well. */
static uint64_t zero_bytes(uint64_t word)
{
    return (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080);
}

static uint64_t all_of(unsigned char byte)
{
    return UINT64_C(0x0101010101010101) * byte;
}

/* Whether none of eight bytes is a control character, a quote, a backslash, DEL or beyond ASCII. */
static bool all_plain(uint64_t word)
{
    uint64_t below_blank = (word - all_of(0x20)) & ~word;
    uint64_t marked = word | below_blank | zero_bytes(word ^ all_of('"')) | zero_bytes(word ^ all_of('\\')) |
                      zero_bytes(word ^ all_of(0x7f));
    return (marked & all_of(0x80)) == 0;
}

size_t text_plain_length(const char *text, size_t length)
{
    size_t at = 0;
    for (uint64_t word; length - at >= sizeof word; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        if (!all_plain(word))
            break;
    }
    while (at < length && text[at] >= 0x20 && text[at] < 0x7f && text[at] != '"' && text[at] != '\\')
        at++;
    return at;
}

/* The caller has reserved space for both quotes. */
static void add_quoted(struct buffer *buffer, const char *text, size_t length)
{
    char *to = buffer->bytes + buffer->length;
    to[0] = '"';
    if (length != 0)
        memcpy(to + 1, text, length);
    to[length + 1] = '"';
    to[length + 2] = '\0';
    buffer->length += length + 2;
}

void buffer_add_json(struct buffer *buffer, const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t plain = 0; /* start of the run that needs no escape */
    size_t at = text_plain_length(text, length);
    buffer_reserve(buffer, length + 2);
    if (at == length) {
        add_quoted(buffer, text, length);
        return;
    }
    buffer_add_char(buffer, '"');
    for (;;) {
        at += text_plain_length(text + at, length - at);
        if (at == length)
            break;
        buffer_add(buffer, text + plain, at - plain);
        uint32_t code_point = 0;
        size_t step = utf8_next(bytes + at, length - at, &code_point);
        if (step == 0) {
            buffer_add_text(buffer, "\xef\xbf\xbd");
            step = 1;
        } else {
            add_escaped(buffer, bytes + at, step, code_point);
        }
        at += step;
        plain = at;
    }
    buffer_add(buffer, text + plain, at - plain);
    buffer_add_char(buffer, '"');
}

void buffer_add_json_text(struct buffer *buffer, const char *text)
{
    if (text == NULL)
        buffer_add_text(buffer, "null");
    else
        buffer_add_json(buffer, text, strlen(text));
}

bool utf8_valid(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t at = 0; at < length;) {
        size_t step = utf8_next(bytes + at, length - at, NULL);
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

size_t utf8_count(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

char text_lower(char character)
{
    return character >= 'A' && character <= 'Z' ? (char)(character - 'A' + 'a') : character;
}

bool text_equal_ignoring_case(const char *a, const char *b)
{
    while (*a != '\0' && text_lower(*a) == text_lower(*b)) {
        a++;
        b++;
    }
    return text_lower(*a) == text_lower(*b);
}

bool text_is_digit(char character)
{
    return character >= '0' && character <= '9';
}

bool text_is_alpha(char character)
{
    character = text_lower(character);
    return character >= 'a' && character <= 'z';
}

char *text_lowered(struct arena *arena, const char *text)
{
    char *copy = arena_text(arena, text);
    for (char *at = copy; *at != '\0'; at++)
        *at = text_lower(*at);
    return copy;
}

bool text_to_integer(const char *text, int64_t minimum, int64_t maximum, int64_t *value_out)
{
    bool negative = *text == '-';
    const char *digits = text + (negative ? 1 : 0);
    if (!text_is_digit(*digits) || (digits[0] == '0' && (digits[1] != '\0' || negative)))
        return false;
    int64_t value = 0;
    for (; *digits != '\0'; digits++) {
        if (!text_is_digit(*digits))
            return false;
        int64_t digit = *digits - '0';
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return false;
    }
    if (value < minimum || value > maximum)
        return false;
    *value_out = value;
    return true;
}

struct text_list text_words(struct arena *arena, const char *text)
{
    static const char blanks[] = " \t\r\n";
    struct text_list list = {0};
    if (text == NULL)
        return list;
    size_t most = strlen(text) / 2 + 1;
    list.items = arena_array(arena, most, sizeof *list.items);
    for (const char *at = text + strspn(text, blanks); *at != '\0'; at += strspn(at, blanks)) {
        size_t length = strcspn(at, blanks);
        list.items[list.count++] = arena_copy(arena, at, length);
        at += length;
    }
    return list;
}

bool text_list_has(const struct text_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

char *text_list_join(struct arena *arena, const struct text_list *list, const char *separator)
{
    struct buffer joined;
    buffer_init(&joined, arena);
    for (size_t i = 0; i < list->count; i++) {
        if (i != 0)
            buffer_add_text(&joined, separator);
        buffer_add_text(&joined, list->items[i]);
    }
    return joined.bytes;
}
