/* SPDX-License-Identifier: MIT */
/* Writes and reads base64, base64url, hexadecimal and percent-encoding. */
#include "codec/encoding.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"

static const char standard_alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/*
 * Three bytes become four characters. One or two last bytes need two or three characters; the rest is padding, or
 * nothing.
 */
static char *encode(struct arena *arena, const void *data, size_t length, const char *alphabet, bool padded)
{
    const unsigned char *bytes = data;
    char *text = arena_array(arena, length / 3 + 2, 4);
    char *to = text;
    for (size_t at = 0; at < length; at += 3) {
        size_t left = length - at;
        unsigned group = (unsigned)bytes[at] << 16 | (left > 1 ? (unsigned)bytes[at + 1] << 8 : 0) |
                         (left > 2 ? (unsigned)bytes[at + 2] : 0);
        size_t characters = left > 2 ? 4 : left + 1;
        for (size_t i = 0; i < characters; i++)
            *to++ = alphabet[group >> (18 - 6 * i) & 63];
        for (size_t i = characters; padded && i < 4; i++)
            *to++ = '=';
    }
    *to = '\0';
    return text;
}

char *base64url_encode(struct arena *arena, const void *bytes, size_t length)
{
    return encode(arena, bytes, length, url_alphabet, false);
}

char *base64_encode(struct arena *arena, const void *bytes, size_t length)
{
    return encode(arena, bytes, length, standard_alphabet, true);
}

/*
 * The value of each character plus one; 0: none. Comparisons in place of this table took a tenth of the time of
 * verifying a token.
 */
static const signed char url_values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['-'] = 63, ['_'] = 64,
};

static int base64url_value(char character)
{
    return url_values[(unsigned char)character] - 1;
}

bool base64url_decode(struct arena *arena, const char *text, size_t length, unsigned char **bytes_out,
                      size_t *length_out)
{
    if (length % 4 == 1)
        return false;
    unsigned char *bytes = arena_array(arena, length / 4 + 1, 3);
    size_t count = 0;
    unsigned bits = 0; /* read but not yet stored; `waiting` of them */
    unsigned waiting = 0;
    for (size_t i = 0; i < length; i++) {
        int value = base64url_value(text[i]);
        if (value < 0)
            return false;
        bits = (bits << 6 | (unsigned)value) & 0x3fff;
        waiting += 6;
        if (waiting >= 8) {
            waiting -= 8;
            bytes[count++] = (unsigned char)(bits >> waiting);
        }
    }
    /* If bits that belong to no byte could be set, one value would have many spellings. */
    if ((bits & ((1u << waiting) - 1)) != 0)
        return false;
    bytes[count] = '\0';
    *bytes_out = bytes;
    *length_out = count;
    return true;
}

char *hex_encode(struct arena *arena, const void *data, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = data;
    char *text = arena_array(arena, length + 1, 2);
    for (size_t i = 0; i < length; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * length] = '\0';
    return text;
}

static int hex_value(char character)
{
    if (text_is_digit(character))
        return character - '0';
    character = text_lower(character);
    return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/* The byte of two hexadecimal digits; -1 when they are none. */
static int hex_byte(const char *text)
{
    int high = hex_value(text[0]);
    int low = hex_value(text[1]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

bool hex_decode(struct arena *arena, const char *text, size_t length, unsigned char **bytes_out, size_t *length_out)
{
    if (length % 2 != 0)
        return false;
    unsigned char *bytes = arena_alloc(arena, length / 2 + 1);
    for (size_t i = 0; i < length; i += 2) {
        int byte = hex_byte(text + i);
        if (byte < 0)
            return false;
        bytes[i / 2] = (unsigned char)byte;
    }
    *bytes_out = bytes;
    *length_out = length / 2;
    return true;
}

static bool is_unreserved(char character)
{
    return text_is_alpha(character) || text_is_digit(character) || character == '-' || character == '.' ||
           character == '_' || character == '~';
}

char *percent_encode(struct arena *arena, const void *data, size_t length)
{
    static const char digits[] = "0123456789ABCDEF";
    const unsigned char *bytes = data;
    char *text = arena_array(arena, length + 1, 3);
    char *to = text;
    for (size_t i = 0; i < length; i++) {
        if (is_unreserved((char)bytes[i])) {
            *to++ = (char)bytes[i];
            continue;
        }
        *to++ = '%';
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = '\0';
    return text;
}

bool percent_decode(struct arena *arena, const char *text, size_t length, bool plus_is_blank, char **text_out,
                    size_t *length_out)
{
    char *decoded = arena_alloc(arena, length + 1);
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        int byte = (unsigned char)text[i];
        if (text[i] == '%') {
            if (length - i < 3 || (byte = hex_byte(text + i + 1)) < 0)
                return false;
            i += 2;
        } else if (text[i] == '+' && plus_is_blank) {
            byte = ' ';
        }
        if (byte == 0)
            return false;
        decoded[count++] = (char)byte;
    }
    if (!utf8_valid(decoded, count))
        return false;
    *text_out = decoded;
    if (length_out != NULL)
        *length_out = count;
    return true;
}
