/* SPDX-License-Identifier: MIT */
/*
 * The strict reader in front of the JSON library: RFC 8259's grammar over raw bytes, by recursive descent, at most
 * LIMIT_JSON_DEPTH deep. It builds nothing. It keeps the path to the current value (for the paths of the faults) and
 * the names of the open objects (to find duplicates).
 *
 * Unescaped names are collected in one list that works as a stack: the names of an object are those above the height
 * that the list had when the object opened. When the object ends, they are sorted and neighbours are compared. So ten
 * thousand members cost one sort instead of ten thousand searches.
 *
 * There are two kinds of faults. A fault of grammar or encoding ends the scan, because everything behind it could mean
 * anything. Duplicates, U+0000, half surrogate pairs and overlong numbers are noted and the scan goes on, so that the
 * caller learns of all of them at once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "codec/document.h"
#include "codec/document_int.h"

/* The path of a fault is cut to this length, since names come from the client. */
#define PATH_BYTES 200

struct name {
    const char *bytes; /* NULL: none */
    size_t length;
};

/* An array or object that is open. */
struct level {
    bool is_object;
    struct name name; /* of the current member */
    size_t index;     /* of the current element */
};

struct scan {
    struct arena *arena;
    const unsigned char *start;
    const unsigned char *at;
    const unsigned char *end;
    struct error *error;
    const char *last_path; /* of the last fault */
    const char *last_code;
    struct level levels[LIMIT_JSON_DEPTH];
    unsigned depth;
    struct name *names;
    size_t name_count;
    size_t name_capacity;
};

static bool scan_value(struct scan *scan);

static void add_cut(struct buffer *path, const char *bytes, size_t length)
{
    size_t space = path->length < PATH_BYTES ? PATH_BYTES - path->length : 0;
    if (length > space) {
        length = space;
        while (length > 0 && ((unsigned char)bytes[length] & 0xc0) == 0x80)
            length--;
    }
    buffer_add(path, bytes, length);
}

/* The path of the current value, as `organisation.tags[2]`. */
static const char *path_here(struct scan *scan)
{
    struct buffer path;
    buffer_init(&path, scan->arena);
    for (unsigned i = 0; i < scan->depth; i++) {
        const struct level *level = &scan->levels[i];
        if (!level->is_object) {
            const char *index = arena_format(scan->arena, "[%zu]", level->index);
            add_cut(&path, index, strlen(index));
        } else if (level->name.bytes != NULL) {
            if (path.length > 0)
                add_cut(&path, ".", 1);
            add_cut(&path, level->name.bytes, level->name.length);
        }
    }
    return path.bytes;
}

/* One fault of one value is reported once. */
static void note(struct scan *scan, const char *path, const char *code, const char *message)
{
    if (scan->last_path != NULL && strcmp(scan->last_path, path) == 0 && strcmp(scan->last_code, code) == 0)
        return;
    scan->last_path = path;
    scan->last_code = code;
    if (scan->error == NULL)
        scan->error = error_plain(scan->arena, ERROR_REQUEST_MALFORMED);
    error_entry(scan->error, path, code, message);
}

/* Ends the scan. */
static bool stop(struct scan *scan, const char *code, const char *what)
{
    size_t byte = (size_t)(scan->at - scan->start);
    note(scan, "", code, arena_format(scan->arena, "Byte %zu: %s.", byte, what));
    return false;
}

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\r' || *scan->at == '\t'))
        scan->at++;
}

static bool next_is(const struct scan *scan, unsigned char character)
{
    return scan->at < scan->end && *scan->at == character;
}

static bool take(struct scan *scan, unsigned char character)
{
    if (!next_is(scan, character))
        return false;
    scan->at++;
    return true;
}

static void add_code_point(struct buffer *text, uint32_t code_point)
{
    if (code_point < 0x80) {
        buffer_add_char(text, (char)code_point);
        return;
    }
    unsigned more = code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    buffer_add_char(text, (char)(first[more] | code_point >> (6 * more)));
    while (more-- > 0)
        buffer_add_char(text, (char)(0x80 | (code_point >> (6 * more) & 0x3f)));
}

/* The four digits after \u. */
static bool scan_unit(struct scan *scan, uint32_t *unit_out)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++, scan->at++) {
        unsigned char character = scan->at < scan->end ? (unsigned char)text_lower((char)*scan->at) : 0;
        if (character >= '0' && character <= '9')
            unit = unit << 4 | (uint32_t)(character - '0');
        else if (character >= 'a' && character <= 'f')
            unit = unit << 4 | (uint32_t)(character - 'a' + 10);
        else
            return stop(scan, "syntax", "\\u must be followed by four hexadecimal digits");
    }
    *unit_out = unit;
    return true;
}

/* Reads what follows \u. A code point that no text can hold is noted, and U+FFFD takes its place. */
static bool scan_unicode(struct scan *scan, uint32_t *code_point_out)
{
    uint32_t code_point = 0;
    if (!scan_unit(scan, &code_point))
        return false;
    if (code_point >= 0xd800 && code_point < 0xdc00 && scan->end - scan->at >= 2 && scan->at[0] == '\\' &&
        scan->at[1] == 'u') {
        const unsigned char *before = scan->at;
        uint32_t low = 0;
        scan->at += 2;
        if (!scan_unit(scan, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            code_point = 0x10000 + ((code_point - 0xd800) << 10) + (low - 0xdc00);
        else
            scan->at = before;
    }
    if (code_point == 0 || (code_point >= 0xd800 && code_point < 0xe000)) {
        note(scan, path_here(scan), "character",
             code_point == 0 ? "The text holds U+0000." : "The text holds half a surrogate pair.");
        code_point = 0xfffd;
    }
    *code_point_out = code_point;
    return true;
}

/* Reads what follows a backslash. */
static bool scan_escape(struct scan *scan, uint32_t *code_point_out)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    unsigned char letter = scan->at < scan->end ? *scan->at : 0;
    if (letter == 'u') {
        scan->at++;
        return scan_unicode(scan, code_point_out);
    }
    const char *found = letter != 0 ? strchr(letters, letter) : NULL;
    if (found == NULL)
        return stop(scan, "syntax", "there is no such escape");
    scan->at++;
    *code_point_out = (unsigned char)meanings[found - letters];
    return true;
}

/* Reads one character that is no quote. Once there was an escape, characters are added to `unescaped` (may be NULL). */
static bool scan_character(struct scan *scan, const unsigned char *first, struct buffer *unescaped)
{
    if (*scan->at == '\\') {
        uint32_t code_point = 0;
        if (unescaped != NULL && unescaped->bytes == NULL) {
            buffer_init(unescaped, scan->arena);
            buffer_add(unescaped, first, (size_t)(scan->at - first));
        }
        scan->at++;
        if (!scan_escape(scan, &code_point))
            return false;
        if (unescaped != NULL)
            add_code_point(unescaped, code_point);
        return true;
    }
    if (*scan->at < 0x20)
        return stop(scan, "syntax", "control characters in a text must be escaped");
    size_t length = utf8_next(scan->at, (size_t)(scan->end - scan->at), NULL);
    if (length == 0)
        return stop(scan, "encoding", "the text is not UTF-8");
    if (unescaped != NULL && unescaped->bytes != NULL)
        buffer_add(unescaped, scan->at, length);
    scan->at += length;
    return true;
}

/*
 * Reads a text with its quotes. `name_out` (may be NULL) receives it unescaped; without escapes it points into the
 * input.
 */
static bool scan_text(struct scan *scan, struct name *name_out)
{
    scan->at++;
    const unsigned char *first = scan->at;
    struct buffer unescaped = {0};
    while (scan->at < scan->end && *scan->at != '"')
        if (!scan_character(scan, first, name_out == NULL ? NULL : &unescaped))
            return false;
    if (scan->at == scan->end)
        return stop(scan, "syntax", "a text is not closed");
    if (name_out != NULL && unescaped.bytes != NULL)
        *name_out = (struct name){.bytes = unescaped.bytes, .length = unescaped.length};
    else if (name_out != NULL)
        *name_out = (struct name){.bytes = (const char *)first, .length = (size_t)(scan->at - first)};
    scan->at++;
    return true;
}

static bool scan_digits(struct scan *scan)
{
    const unsigned char *first = scan->at;
    while (scan->at < scan->end && text_is_digit((char)*scan->at))
        scan->at++;
    if (scan->at == first)
        return stop(scan, "syntax", "a digit is missing");
    return true;
}

static bool scan_number(struct scan *scan)
{
    const unsigned char *first = scan->at;
    (void)take(scan, '-');
    if (take(scan, '0')) {
        if (scan->at < scan->end && text_is_digit((char)*scan->at))
            return stop(scan, "syntax", "a number must not begin with 0");
    } else if (!scan_digits(scan)) {
        return false;
    }
    if (take(scan, '.') && !scan_digits(scan))
        return false;
    if (take(scan, 'e') || take(scan, 'E')) {
        if (!take(scan, '+'))
            (void)take(scan, '-');
        if (!scan_digits(scan))
            return false;
    }
    if (scan->at - first > DOCUMENT_NUMBER_BYTES)
        note(scan, path_here(scan), "length", "The number has too many digits.");
    return true;
}

static bool scan_word(struct scan *scan, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0)
        return stop(scan, "syntax", "there is no such word in JSON");
    scan->at += length;
    return true;
}

static bool open_level(struct scan *scan, bool is_object)
{
    if (scan->depth == LIMIT_JSON_DEPTH)
        return stop(scan, "depth", "arrays and objects are nested too deep");
    scan->levels[scan->depth++] = (struct level){.is_object = is_object};
    scan->at++;
    return true;
}

static bool scan_array(struct scan *scan)
{
    if (!open_level(scan, false))
        return false;
    struct level *level = &scan->levels[scan->depth - 1];
    skip_blanks(scan);
    if (!next_is(scan, ']')) {
        do {
            if (!scan_value(scan))
                return false;
            level->index++;
        } while (take(scan, ','));
    }
    if (!take(scan, ']'))
        return stop(scan, "syntax", "a comma or ] is missing");
    scan->depth--;
    return true;
}

static void push_name(struct scan *scan, struct name name)
{
    if (scan->name_count == scan->name_capacity) {
        size_t capacity = scan->name_capacity == 0 ? 64 : scan->name_capacity * 2;
        struct name *names = arena_array(scan->arena, capacity, sizeof *names);
        if (scan->name_count > 0)
            memcpy(names, scan->names, scan->name_count * sizeof *names);
        scan->names = names;
        scan->name_capacity = capacity;
    }
    scan->names[scan->name_count++] = name;
}

static int compare_names(const void *one, const void *other)
{
    const struct name *a = one;
    const struct name *b = other;
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = shorter == 0 ? 0 : memcmp(a->bytes, b->bytes, shorter);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/*
 * Looks for duplicates among the names of the object that ends here, those from `first` on, and takes them off the
 * stack.
 */
static void check_names(struct scan *scan, struct level *level, size_t first)
{
    size_t count = scan->name_count - first;
    scan->name_count = first;
    if (count < 2)
        return;
    struct name *names = scan->names + first;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 1; i < count; i++) {
        bool same = compare_names(&names[i - 1], &names[i]) == 0;
        bool noted = i > 1 && compare_names(&names[i - 2], &names[i - 1]) == 0;
        if (!same || noted)
            continue;
        level->name = names[i];
        note(scan, path_here(scan), "duplicate", "The member stands here more than once.");
    }
}

static bool scan_member(struct scan *scan, struct level *level)
{
    struct name name;
    level->name = (struct name){0};
    skip_blanks(scan);
    if (!next_is(scan, '"'))
        return stop(scan, "syntax", "a member's name in double quotes is missing");
    if (!scan_text(scan, &name))
        return false;
    level->name = name;
    push_name(scan, name);
    skip_blanks(scan);
    if (!take(scan, ':'))
        return stop(scan, "syntax", "a colon is missing");
    return scan_value(scan);
}

static bool scan_object(struct scan *scan)
{
    if (!open_level(scan, true))
        return false;
    struct level *level = &scan->levels[scan->depth - 1];
    size_t first = scan->name_count;
    skip_blanks(scan);
    if (!next_is(scan, '}')) {
        do {
            if (!scan_member(scan, level))
                return false;
        } while (take(scan, ','));
    }
    if (!take(scan, '}'))
        return stop(scan, "syntax", "a comma or } is missing");
    check_names(scan, level, first);
    scan->depth--;
    return true;
}

static bool scan_bare_value(struct scan *scan)
{
    switch (scan->at < scan->end ? *scan->at : 0) {
    case '{':
        return scan_object(scan);
    case '[':
        return scan_array(scan);
    case '"':
        return scan_text(scan, NULL);
    case 't':
        return scan_word(scan, "true");
    case 'f':
        return scan_word(scan, "false");
    case 'n':
        return scan_word(scan, "null");
    case '-':
    case '0' ... '9':
        return scan_number(scan);
    default:
        return stop(scan, "syntax", scan->at == scan->end ? "a value is missing" : "no value begins like this");
    }
}

/* Reads a value and the blanks around it. */
static bool scan_value(struct scan *scan)
{
    skip_blanks(scan);
    if (!scan_bare_value(scan))
        return false;
    skip_blanks(scan);
    return true;
}

struct error *document_scan(struct arena *arena, const char *bytes, size_t length)
{
    const unsigned char *start = (const unsigned char *)bytes;
    struct scan scan = {.arena = arena, .start = start, .at = start, .end = start + length};
    if (length > LIMIT_JSON_BYTES_MAX)
        (void)stop(&scan, "length", "the document is too long");
    else if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        (void)stop(&scan, "syntax", "a byte order mark must not stand before JSON");
    else if (scan_value(&scan) && scan.at < scan.end)
        (void)stop(&scan, "syntax", "there is text after the value");
    return scan.error;
}
