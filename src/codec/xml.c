/* SPDX-License-Identifier: MIT */
/*
 * Reads XML from its beginning to its end, one tag or one run of text at a time. The path grows by a name where an
 * element begins and shrinks where it ends. Attributes, comments and instructions are passed over.
 */
#include "codec/xml.h"

#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"

#define SPACE " \t\r\n"
/* What ends a name. */
#define NAME_ENDS SPACE "/>=<&'\""

struct reader {
    const char *at;
    const char *end;
    char path[LIMIT_XML_PATH_BYTES + 1];
    size_t path_length;
    size_t depth;
    size_t elements; /* that were opened at the top */
    char text[LIMIT_XML_TEXT_BYTES + 1];
    size_t text_length;
    bool leaf; /* the innermost open element has no element in it */
    bool (*visit)(void *context, const struct xml_element *element);
    void *context;
};

static bool at_text(const struct reader *reader, const char *wanted)
{
    size_t length = strlen(wanted);
    return (size_t)(reader->end - reader->at) >= length && memcmp(reader->at, wanted, length) == 0;
}

static void skip_space(struct reader *reader)
{
    while (reader->at < reader->end && strchr(SPACE, *reader->at) != NULL && *reader->at != '\0')
        reader->at++;
}

/* Goes behind the next `mark`. */
static bool skip_behind(struct reader *reader, const char *mark)
{
    while (reader->at < reader->end && !at_text(reader, mark))
        reader->at++;
    if (reader->at >= reader->end)
        return false;
    reader->at += strlen(mark);
    return true;
}

/* Reads a name; *name_out is its part behind the prefix of a namespace. */
static bool read_name(struct reader *reader, const char **name_out, size_t *length_out)
{
    const char *start = reader->at;
    while (reader->at < reader->end && *reader->at != '\0' && strchr(NAME_ENDS, *reader->at) == NULL)
        reader->at++;
    const char *colon = memchr(start, ':', (size_t)(reader->at - start));
    *name_out = colon == NULL ? start : colon + 1;
    *length_out = (size_t)(reader->at - *name_out);
    return *length_out > 0;
}

/* ---- text ----------------------------------------------------------------------------------------- */

static bool add_byte(struct reader *reader, char byte)
{
    if (reader->text_length == LIMIT_XML_TEXT_BYTES || byte == '\0')
        return false;
    reader->text[reader->text_length++] = byte;
    return true;
}

static bool add_character(struct reader *reader, uint32_t code)
{
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return false;
    if (code < 0x80)
        return add_byte(reader, (char)code);
    if (code >= 0x10000 && !add_byte(reader, (char)(0xf0 | code >> 18)))
        return false;
    if (code >= 0x800 && !add_byte(reader, (char)(code < 0x10000 ? 0xe0 | code >> 12 : 0x80 | (code >> 12 & 0x3f))))
        return false;
    if (!add_byte(reader, (char)(code < 0x800 ? 0xc0 | code >> 6 : 0x80 | (code >> 6 & 0x3f))))
        return false;
    return add_byte(reader, (char)(0x80 | (code & 0x3f)));
}

/* The value of the digits up to the semicolon; 0 where they are no number of a character. */
static uint32_t read_number(struct reader *reader, unsigned base)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t code = 0;
    size_t count = 0;
    for (; reader->at < reader->end && *reader->at != ';'; reader->at++, count++) {
        const char *digit = memchr(digits, text_lower(*reader->at), base);
        if (digit == NULL || count == 8)
            return 0;
        code = code * base + (uint32_t)(digit - digits);
    }
    return count == 0 ? 0 : code;
}

/* Reads a reference to a character, from the & on. */
static bool read_reference(struct reader *reader)
{
    static const struct {
        const char *text;
        char byte;
    } names[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (at_text(reader, names[i].text)) {
            reader->at += strlen(names[i].text);
            return add_byte(reader, names[i].byte);
        }
    if (!at_text(reader, "&#"))
        return false;
    reader->at += 2;
    bool hexadecimal = at_text(reader, "x");
    reader->at += hexadecimal;
    uint32_t code = read_number(reader, hexadecimal ? 16 : 10);
    if (reader->at >= reader->end)
        return false;
    reader->at++;
    return add_character(reader, code);
}

static bool read_text(struct reader *reader)
{
    while (reader->at < reader->end && *reader->at != '<') {
        bool kept = reader->depth > 0 && reader->leaf;
        if (!kept && (*reader->at == '\0' || strchr(SPACE, *reader->at) == NULL))
            return false; /* text outside an element, or beside one */
        if (kept ? (*reader->at == '&' ? !read_reference(reader) : !add_byte(reader, *reader->at++)) : !reader->at++)
            return false;
    }
    return true;
}

/* ---- tags ----------------------------------------------------------------------------------------- */

static bool open_element(struct reader *reader, const char *name, size_t length)
{
    if (reader->depth == LIMIT_XML_DEPTH || reader->path_length + 1 + length > LIMIT_XML_PATH_BYTES ||
        memchr(name, '\0', length) != NULL)
        return false;
    if (reader->depth == 0 && reader->elements++ > 0)
        return false;
    reader->path[reader->path_length++] = '/';
    memcpy(reader->path + reader->path_length, name, length);
    reader->path_length += length;
    reader->path[reader->path_length] = '\0';
    reader->depth++;
    reader->text_length = 0;
    reader->leaf = true;
    return true;
}

static bool close_element(struct reader *reader)
{
    reader->text[reader->leaf ? reader->text_length : 0] = '\0';
    const struct xml_element element = {reader->path, reader->text};
    if (!reader->visit(reader->context, &element))
        return false;
    while (reader->path[reader->path_length] != '/')
        reader->path_length--;
    reader->path[reader->path_length] = '\0';
    reader->depth--;
    reader->text_length = 0;
    reader->leaf = false;
    return true;
}

/* Passes over the attributes up to the end of a tag. */
static bool skip_attributes(struct reader *reader)
{
    const char *name;
    size_t length;
    for (;;) {
        skip_space(reader);
        if (reader->at >= reader->end)
            return false;
        if (*reader->at == '>' || at_text(reader, "/>"))
            return true;
        if (!read_name(reader, &name, &length))
            return false;
        skip_space(reader);
        if (!at_text(reader, "="))
            return false;
        reader->at++;
        skip_space(reader);
        if (reader->at >= reader->end || (*reader->at != '"' && *reader->at != '\''))
            return false;
        const char quote[] = {*reader->at++, '\0'};
        if (!skip_behind(reader, quote))
            return false;
    }
}

static bool read_begin(struct reader *reader)
{
    const char *name;
    size_t length;
    reader->at++;
    if (!read_name(reader, &name, &length) || !open_element(reader, name, length) || !skip_attributes(reader))
        return false;
    bool empty = *reader->at == '/';
    reader->at += empty ? 2 : 1;
    return !empty || close_element(reader);
}

static bool read_end(struct reader *reader)
{
    const char *name;
    size_t length;
    reader->at += 2;
    if (reader->depth == 0 || !read_name(reader, &name, &length))
        return false;
    const char *open = strrchr(reader->path, '/') + 1;
    if (strlen(open) != length || memcmp(open, name, length) != 0)
        return false;
    skip_space(reader);
    if (!at_text(reader, ">"))
        return false;
    reader->at++;
    return close_element(reader);
}

static bool read_tag(struct reader *reader)
{
    if (at_text(reader, "<?"))
        return skip_behind(reader, "?>");
    if (at_text(reader, "<!--"))
        return skip_behind(reader, "-->");
    if (at_text(reader, "<!"))
        return false;
    return at_text(reader, "</") ? read_end(reader) : read_begin(reader);
}

bool xml_read(const char *text, size_t length, bool (*visit)(void *context, const struct xml_element *element),
              void *context)
{
    struct reader reader = {.at = text, .end = text + length, .visit = visit, .context = context};
    if (!utf8_valid(text, length))
        return false;
    if (at_text(&reader, "\xef\xbb\xbf"))
        reader.at += 3;
    while (reader.at < reader.end)
        if (!(*reader.at == '<' ? read_tag(&reader) : read_text(&reader)))
            return false;
    return reader.depth == 0 && reader.elements == 1;
}
