/* SPDX-License-Identifier: MIT */
/* Writes a message as MIME text: encoded headers, both parts of the body, their transfer encodings. */
#include "store/mail/mail_encode_int.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/text.h"
#include "codec/encoding.h"

/*
 * How many bytes an encoded word holds: 39 become 52 in base64, and with its frame the word fits behind "Subject: " in
 * 76 columns.
 */
#define WORD_BYTES 39
#define PLAIN_WORDS 60
#define LINE_BYTES_MAX 998 /* RFC 5322, section 2.1.1 */
#define QUOTED_COLUMNS 75  /* 76 with the = of a soft line break */

static bool printable(char character)
{
    return character >= ' ' && character <= '~';
}

bool mail_text_is_line(const char *text)
{
    size_t length = strlen(text);
    if (!utf8_valid(text, length))
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return true;
}

static bool plain(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length > PLAIN_WORDS || text[0] == ' ' || text[length - 1] == ' ')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!printable(text[i]))
            return false;
    return strstr(text, "=?") == NULL;
}

static void add_encoded_words(struct buffer *out, const char *text)
{
    size_t left = strlen(text);
    for (bool first = true; left > 0; first = false) {
        size_t length = 0;
        for (;;) {
            size_t step = utf8_next((const unsigned char *)text + length, left - length, NULL);
            if (step == 0 || length + step > WORD_BYTES)
                break;
            length += step;
        }
        if (!first)
            buffer_add_text(out, "\r\n ");
        buffer_add_format(out, "=?UTF-8?B?%s?=", base64_encode(out->arena, text, length));
        text += length;
        left -= length;
    }
}

void mail_add_words(struct buffer *out, const char *text)
{
    if (plain(text))
        buffer_add_text(out, text);
    else
        add_encoded_words(out, text);
}

void mail_add_phrase(struct buffer *out, const char *name)
{
    if (!plain(name)) {
        add_encoded_words(out, name);
        return;
    }
    if (strpbrk(name, "()<>[]:;@\\,.\"") == NULL) {
        buffer_add_text(out, name);
        return;
    }
    buffer_add_char(out, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"' || *name == '\\')
            buffer_add_char(out, '\\');
        buffer_add_char(out, *name);
    }
    buffer_add_char(out, '"');
}

/* Names in English whatever the locale, so strftime() is not used. */
void mail_add_date(struct buffer *out, int64_t milliseconds)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t seconds = (time_t)(milliseconds / 1000);
    struct tm parts;
    (void)gmtime_r(&seconds, &parts);
    const char *day = days + (ptrdiff_t)3 * parts.tm_wday;
    const char *month = months + (ptrdiff_t)3 * parts.tm_mon;
    buffer_add_format(out, "%.3s, %02d %.3s %04d %02d:%02d:%02d +0000", day, parts.tm_mday, month, parts.tm_year + 1900,
                      parts.tm_hour, parts.tm_min, parts.tm_sec);
}

/* ---- bodies -------------------------------------------------------------------------------------- */

/* The line at `text` without its end; *next_out is where the next one begins, NULL after the last. */
static size_t line_at(const char *text, const char **next_out)
{
    size_t length = strcspn(text, "\n");
    *next_out = text[length] == '\0' || text[length + 1] == '\0' ? NULL : text + length + 1;
    if (text[length] == '\n' && length > 0 && text[length - 1] == '\r')
        length--;
    return length;
}

/* Mailboxes put a > before lines that begin with "From ", and blanks at the end of a line may be lost on the way. */
static bool safe_line(const char *line, size_t length)
{
    if (length > LINE_BYTES_MAX || (length >= 5 && memcmp(line, "From ", 5) == 0))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!printable(line[i]) && line[i] != '\t')
            return false;
    return length == 0 || (line[length - 1] != ' ' && line[length - 1] != '\t');
}

static void add_quoted_line(struct buffer *out, const char *line, size_t length)
{
    size_t column = 0;
    bool from = length >= 5 && memcmp(line, "From ", 5) == 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)line[i];
        bool blank_at_end = (byte == ' ' || byte == '\t') && i == length - 1;
        bool raw = (printable(line[i]) && byte != '=') || byte == '\t';
        raw = raw && !blank_at_end && !(i == 0 && (from || byte == '.'));
        size_t width = raw ? 1 : 3;
        if (column + width > QUOTED_COLUMNS) {
            buffer_add_text(out, "=\r\n");
            column = 0;
        }
        if (raw)
            buffer_add_char(out, line[i]);
        else
            buffer_add_format(out, "=%02X", byte);
        column += width;
    }
}

void mail_add_body(struct buffer *out, const char *text)
{
    bool safe = true;
    const char *next;
    for (const char *line = text; line != NULL && safe; line = next)
        safe = safe_line(line, line_at(line, &next));
    buffer_add_format(out, "Content-Transfer-Encoding: %s\r\n\r\n", safe ? "7bit" : "quoted-printable");
    for (const char *line = text; line != NULL; line = next) {
        size_t length = line_at(line, &next);
        if (safe)
            buffer_add(out, line, length);
        else
            add_quoted_line(out, line, length);
        buffer_add_text(out, "\r\n");
    }
}
