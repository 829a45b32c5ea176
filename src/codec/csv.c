/* SPDX-License-Identifier: MIT */
/* Writes comma-separated values. */
#include "codec/csv.h"

#include <string.h>

#include "base/text.h"

void csv_add_cell(struct buffer *buffer, const char *text, bool first)
{
    if (!first)
        buffer_add_char(buffer, ',');
    if (text == NULL || *text == '\0')
        return;
    const char *mark = strchr("=+-@\t\r", *text) == NULL ? "" : "'";
    if (text[strcspn(text, ",\"\r\n")] == '\0' && strchr(" \t", *text) == NULL) {
        buffer_add_text(buffer, mark);
        buffer_add_text(buffer, text);
        return;
    }
    buffer_add_char(buffer, '"');
    buffer_add_text(buffer, mark);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            buffer_add_char(buffer, '"');
        buffer_add_char(buffer, *text);
    }
    buffer_add_char(buffer, '"');
}

void csv_end_row(struct buffer *buffer)
{
    buffer_add(buffer, "\r\n", 2);
}
