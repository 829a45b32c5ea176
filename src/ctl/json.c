/* SPDX-License-Identifier: MIT */
/* Writes JSON to the standard output. Lists may be long, so nothing is collected first. */
#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "ctl/ctl_int.h"

static void print_text(struct ctl_json *json, const char *text)
{
    struct buffer buffer;
    buffer_init(&buffer, json->arena);
    buffer_add_json_text(&buffer, text);
    (void)fwrite(buffer.bytes, 1, buffer.length, stdout);
}

/* Writes what comes before a value: a comma, the name. */
static void begin(struct ctl_json *json, const char *name)
{
    if (json->comma)
        (void)putchar(',');
    if (name != NULL) {
        print_text(json, name);
        (void)putchar(':');
    }
    json->comma = true;
}

void ctl_json_open(struct ctl_json *json, const char *name, char bracket)
{
    begin(json, name);
    if (name == NULL && bracket == '{' && json->depth == 2 && json->open[1] == '[')
        (void)putchar('\n'); /* each object of a list begins a line */
    (void)putchar(bracket);
    json->open[json->depth++] = bracket;
    json->comma = false;
}

void ctl_json_close(struct ctl_json *json)
{
    (void)putchar(json->open[--json->depth] == '[' ? ']' : '}');
    json->comma = true;
    if (json->depth == 0)
        (void)putchar('\n');
}

void ctl_json_text(struct ctl_json *json, const char *name, const char *text)
{
    begin(json, name);
    if (text == NULL)
        (void)fputs("null", stdout);
    else
        print_text(json, text);
}

void ctl_json_integer(struct ctl_json *json, const char *name, int64_t integer)
{
    begin(json, name);
    (void)printf("%" PRId64, integer);
}

void ctl_json_boolean(struct ctl_json *json, const char *name, bool boolean)
{
    begin(json, name);
    (void)fputs(boolean ? "true" : "false", stdout);
}

void ctl_json_raw(struct ctl_json *json, const char *name, const char *text)
{
    begin(json, name);
    (void)fputs(text, stdout);
}

void ctl_json_words(struct ctl_json *json, const char *name, const struct text_list *words)
{
    ctl_json_open(json, name, '[');
    for (size_t i = 0; i < words->count; i++)
        ctl_json_text(json, NULL, words->items[i]);
    ctl_json_close(json);
}
