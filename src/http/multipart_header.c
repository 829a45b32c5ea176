/* SPDX-License-Identifier: MIT */
/*
 * Reads the texts around a multipart body: the boundary in the request's Content-Type, and the header of each part, of
 * which three fields count (RFC 7578, section 4.8). File names come in three forms: quoted with backslashes (RFC 2183,
 * curl), quoted with %22, %0D and %0A (browsers), and filename* (RFC 8187).
 */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "codec/encoding.h"
#include "http/multipart.h"
#include "http/multipart_int.h"

struct error *multipart_refuse(struct arena *arena, const char *what)
{
    struct error *error = error_new(arena, ERROR_REQUEST_MALFORMED, "multipart body: %s", what);
    error_message(error, "The multipart body cannot be read: %s. Send it as RFC 7578 describes.", what);
    return error_entry(error, "", "multipart", what);
}

/* RFC 2046, section 5.1.1. */
static bool is_boundary_character(char character)
{
    return text_is_alpha(character) || text_is_digit(character) ||
           (character != '\0' && strchr("'()+_,-./:=? ", character) != NULL);
}

/* RFC 9110, section 5.6.2. */
static bool is_token_character(char character)
{
    return text_is_alpha(character) || text_is_digit(character) ||
           (character != '\0' && strchr("!#$%&'*+-.^_`|~", character) != NULL);
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static size_t token_length(const char *at)
{
    size_t length = 0;
    while (is_token_character(at[length]))
        length++;
    return length;
}

/*
 * Reads a quoted-string at *at (on its opening quote) and moves *at behind it; NULL where it does not end. `\"` and
 * `\\` stand for the second character. Any other backslash is a backslash, since file names of Windows clients have
 * them.
 */
static char *quoted_string(struct arena *arena, const char **at)
{
    struct buffer text;
    buffer_init(&text, arena);
    const char *from = *at + 1;
    for (;;) {
        size_t plain = strcspn(from, "\"\\");
        buffer_add(&text, from, plain);
        from += plain;
        if (*from == '\0')
            return NULL;
        if (*from == '"')
            break;
        if (from[1] == '"' || from[1] == '\\')
            from++;
        buffer_add_char(&text, *from++);
    }
    *at = from + 1;
    return text.bytes;
}

struct parameter {
    char *name; /* lower case; NULL where there is none between two semicolons (RFC 9110, section 5.6.6) */
    char *value;
    bool quoted;
};

/* Reads "; name=value" at *at, which moves behind it; false where the syntax is broken. */
static bool parameter_next(struct arena *arena, const char **at, bool (*plain)(char), struct parameter *parameter_out)
{
    const char *from = *at;
    if (*from != ';')
        return false;
    from += strspn(from, "; \t");
    *parameter_out = (struct parameter){0};
    *at = from;
    if (*from == '\0')
        return true;
    size_t length = token_length(from);
    if (length == 0 || from[length] != '=')
        return false;
    parameter_out->name = text_lowered(arena, arena_copy(arena, from, length));
    from += length + 1;
    parameter_out->quoted = *from == '"';
    if (parameter_out->quoted) {
        parameter_out->value = quoted_string(arena, &from);
        if (parameter_out->value == NULL)
            return false;
    } else {
        length = 0;
        while (plain(from[length]) && from[length] != ' ')
            length++;
        if (length == 0)
            return false;
        parameter_out->value = arena_copy(arena, from, length);
        from += length;
    }
    *at = skip_blanks(from);
    return true;
}

static bool boundary_valid(const char *boundary)
{
    size_t length = strlen(boundary);
    if (length == 0 || length > LIMIT_BOUNDARY_BYTES || boundary[length - 1] == ' ')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!is_boundary_character(boundary[i]))
            return false;
    return true;
}

struct error *multipart_boundary(struct arena *arena, const char *content_type, const char **boundary_out)
{
    static const char wanted[] = "multipart/form-data";
    if (content_type == NULL)
        return error_new(arena, ERROR_MEDIA_TYPE, "no Content-Type");
    const char *at = skip_blanks(content_type);
    size_t length = strcspn(at, "; \t");
    if (!text_equal_ignoring_case(arena_copy(arena, at, length), wanted))
        return error_new(arena, ERROR_MEDIA_TYPE, "the Content-Type is not multipart/form-data");
    const char *boundary = NULL;
    for (at = skip_blanks(at + length); *at != '\0';) {
        struct parameter parameter;
        if (!parameter_next(arena, &at, is_boundary_character, &parameter))
            return multipart_refuse(arena, "its Content-Type is not well formed");
        if (parameter.name == NULL || strcmp(parameter.name, "boundary") != 0)
            continue;
        if (boundary != NULL)
            return multipart_refuse(arena, "its Content-Type names two boundaries");
        boundary = parameter.value;
    }
    if (boundary == NULL)
        return multipart_refuse(arena, "its Content-Type names no boundary");
    if (!boundary_valid(boundary))
        return multipart_refuse(arena,
                                "its boundary is not 1 to " LIMIT_TEXT(LIMIT_BOUNDARY_BYTES) " permitted characters");
    *boundary_out = boundary;
    return NULL;
}

/* The parameters of a Content-Disposition, before they are checked. */
struct disposition {
    const char *name;
    const char *file_name;
    const char *extended_name;
};

/*
 * Restores the three characters that browsers encode because they would break the header (WHATWG HTML,
 * multipart/form-data encoding algorithm): %22, %0D, %0A. Every other per cent sign stands for itself.
 */
static void unescape_form(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        char second = from[0] == '%' && from[1] != '\0' ? text_lower(from[2]) : '\0';
        if (from[0] == '%' && from[1] == '2' && second == '2') {
            *to++ = '"';
            from += 3;
        } else if (from[0] == '%' && from[1] == '0' && (second == 'd' || second == 'a')) {
            *to++ = second == 'd' ? '\r' : '\n';
            from += 3;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* RFC 8187, section 3.2: charset ' [language] ' value; only UTF-8 is accepted. NULL for anything else. */
static const char *extended_value(struct arena *arena, const char *value)
{
    static const char charset[] = "utf-8'";
    for (size_t i = 0; i < sizeof charset - 1; i++)
        if (text_lower(value[i]) != charset[i])
            return NULL;
    const char *text = strchr(value + sizeof charset - 1, '\'');
    if (text == NULL)
        return NULL;
    text++;
    if (strpbrk(text, "*'") != NULL)
        return NULL;
    char *decoded;
    return percent_decode(arena, text, strlen(text), false, &decoded, NULL) ? decoded : NULL;
}

/* NULL, or `fault` when *place is set already. */
static const char *once(const char **place, const char *value, const char *fault)
{
    if (*place != NULL)
        return fault;
    *place = value;
    return NULL;
}

static const char *take_parameter(struct arena *arena, struct parameter *parameter, struct disposition *disposition)
{
    if (strcmp(parameter->name, "filename*") == 0) {
        const char *value = parameter->quoted ? NULL : extended_value(arena, parameter->value);
        if (value == NULL)
            return "a part's filename* is not UTF-8 as RFC 8187 writes it";
        return once(&disposition->extended_name, value, "a part has two parameters filename*");
    }
    if (strchr(parameter->name, '*') != NULL)
        return "a part's Content-Disposition has an extended parameter other than filename*";
    if (parameter->quoted)
        unescape_form(parameter->value);
    if (strcmp(parameter->name, "name") == 0)
        return once(&disposition->name, parameter->value, "a part has two names");
    if (strcmp(parameter->name, "filename") == 0)
        return once(&disposition->file_name, parameter->value, "a part has two file names");
    return NULL;
}

static const char *parse_disposition(struct arena *arena, const char *value, struct part_header *header)
{
    size_t length = token_length(value);
    if (!text_equal_ignoring_case(arena_copy(arena, value, length), "form-data"))
        return "a part's Content-Disposition is not form-data";
    struct disposition disposition = {0};
    for (const char *at = skip_blanks(value + length); *at != '\0';) {
        struct parameter parameter;
        if (!parameter_next(arena, &at, is_token_character, &parameter))
            return "a part's Content-Disposition is not well formed";
        const char *fault = parameter.name == NULL ? NULL : take_parameter(arena, &parameter, &disposition);
        if (fault != NULL)
            return fault;
    }
    if (disposition.name == NULL)
        return "a part has no name";
    header->name = disposition.name;
    header->file_name = disposition.extended_name != NULL ? disposition.extended_name : disposition.file_name;
    return NULL;
}

static bool is_control(char character)
{
    return ((unsigned char)character < 0x20 && character != '\t') || character == 0x7f;
}

/*
 * Whether control characters stand where no client sends them: anywhere but in a quoted value. Quoted values may hold
 * them, since file names may (they are cleaned later); multipart_header_parse() checks the other values.
 */
static bool has_bare_control(const char *line)
{
    bool quoted = false;
    for (; *line != '\0'; line++) {
        if (quoted && *line == '\\' && line[1] != '\0')
            line++;
        else if (*line == '"')
            quoted = !quoted;
        else if (!quoted && is_control(*line))
            return true;
    }
    return false;
}

static bool has_control(const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        if (is_control(*text))
            return true;
    return false;
}

/* `line` is one header field, NUL-terminated, and may be written to. */
static const char *parse_field(struct arena *arena, char *line, const char **disposition, struct part_header *header)
{
    if (has_bare_control(line))
        return "a part's header holds a control character";
    if (*line == ' ' || *line == '\t')
        return "a line of a part's header is folded";
    size_t length = token_length(line);
    if (length == 0 || line[length] != ':')
        return "a line of a part's header is not a field";
    line[length] = '\0';
    const char *start = skip_blanks(line + length + 1);
    size_t end = strlen(start);
    while (end > 0 && (start[end - 1] == ' ' || start[end - 1] == '\t'))
        end--;
    const char *value = arena_copy(arena, start, end);
    if (text_equal_ignoring_case(line, "Content-Disposition"))
        return once(disposition, value, "a part has two Content-Disposition fields");
    if (text_equal_ignoring_case(line, "Content-Type"))
        return once(&header->content_type, value, "a part has two Content-Type fields");
    if (text_equal_ignoring_case(line, "Content-Transfer-Encoding"))
        return once(&header->transfer_encoding, value, "a part has two Content-Transfer-Encoding fields");
    return NULL; /* RFC 7578, section 4.8: other fields are ignored */
}

const char *multipart_header_parse(struct arena *arena, char *bytes, size_t length, struct part_header *header_out)
{
    if (!utf8_valid(bytes, length))
        return "a part's header is not UTF-8";
    *header_out = (struct part_header){0};
    const char *disposition = NULL;
    char *end = bytes + length - 2; /* the empty line */
    while (bytes < end) {
        char *line_end = memmem(bytes, (size_t)(end - bytes), "\r\n", 2);
        *line_end = '\0';
        const char *fault = parse_field(arena, bytes, &disposition, header_out);
        if (fault != NULL)
            return fault;
        bytes = line_end + 2;
    }
    if (disposition == NULL)
        return "a part has no Content-Disposition";
    const char *fault = parse_disposition(arena, disposition, header_out);
    if (fault != NULL)
        return fault;
    if (has_control(header_out->name) || has_control(header_out->content_type) ||
        has_control(header_out->transfer_encoding))
        return "a part's header holds a control character";
    return NULL;
}
