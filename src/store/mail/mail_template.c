/* SPDX-License-Identifier: MIT */
/* Reads the templates of e-mails and fills in their placeholders. */
#include "store/mail/mail_template.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/language.h"
#include "base/text.h"
#include "store/mail/mail.h"
#include "store/source_int.h"

struct filling {
    const char *path;
    const struct mail_template_value *values;
    size_t count;
    bool html;
};

static const char *value_of(const struct filling *filling, const char *name, size_t length)
{
    for (size_t i = 0; i < filling->count; i++)
        if (strlen(filling->values[i].name) == length && memcmp(filling->values[i].name, name, length) == 0)
            return filling->values[i].value;
    return NULL;
}

static const char *entity(char character)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Some programs break lines at line and paragraph separators too. */
static bool breaks_line(uint32_t code_point)
{
    return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) || code_point == 0x2028 ||
           code_point == 0x2029;
}

static void add_value(struct buffer *out, const char *value, bool html)
{
    const unsigned char *bytes = (const unsigned char *)value;
    size_t length = strlen(value);
    for (size_t at = 0, step; at < length; at += step) {
        uint32_t code_point = 0;
        step = utf8_next(bytes + at, length - at, &code_point);
        const char *escaped = html && step == 1 ? entity(value[at]) : NULL;
        if (escaped != NULL)
            buffer_add_text(out, escaped);
        else if (step == 0 || breaks_line(code_point))
            buffer_add_char(out, ' ');
        else
            buffer_add(out, value + at, step);
        step = step == 0 ? 1 : step;
    }
}

/* A placeholder in the text: {{name}}, {{#name}} or {{/name}}. */
struct mark {
    char sign; /* '#', '/' or '\0' */
    const char *name;
    size_t length;
    const char *value;
    const char *behind; /* the text behind it */
};

static struct error *read_mark(struct arena *arena, const struct filling *filling, const char *open,
                               struct mark *mark_out)
{
    const char *name = open + 2;
    char sign = *name == '#' || *name == '/' ? *name : '\0';
    name += sign != '\0';
    size_t length = strcspn(name, "{}\n");
    if (strncmp(name + length, "}}", 2) != 0)
        return error_new(arena, ERROR_INTERNAL, "%s: a placeholder does not end", filling->path);
    *mark_out = (struct mark){sign, name, length, value_of(filling, name, length), name + length + 2};
    if (mark_out->value == NULL)
        return error_new(arena, ERROR_INTERNAL, "%s: there is no value for the placeholder {{%.*s}}", filling->path,
                         (int)length, name);
    return NULL;
}

/* Where the part that `mark` begins ends: behind its {{/name}}. *inside_out is its length up to there. */
static struct error *find_end(struct arena *arena, const struct filling *filling, const struct mark *mark,
                              const char **end_out, size_t *inside_out)
{
    const char *end = arena_format(arena, "{{/%.*s}}", (int)mark->length, mark->name);
    const char *found = strstr(mark->behind, end);
    if (found == NULL)
        return error_new(arena, ERROR_INTERNAL, "%s: the part %.*s does not end", filling->path, (int)mark->length,
                         mark->name);
    *inside_out = (size_t)(found - mark->behind);
    *end_out = found + strlen(end);
    return NULL;
}

static struct error *fill(struct arena *arena, const struct filling *filling, const char *text, struct buffer *out)
{
    struct mark mark;
    for (const char *open; (open = strstr(text, "{{")) != NULL; text = mark.behind) {
        buffer_add(out, text, (size_t)(open - text));
        TRY(read_mark(arena, filling, open, &mark));
        if (mark.sign == '/')
            return error_new(arena, ERROR_INTERNAL, "%s: the part %.*s does not begin", filling->path, (int)mark.length,
                             mark.name);
        if (mark.sign == '\0') {
            add_value(out, mark.value, filling->html);
            continue;
        }
        const char *behind;
        size_t inside;
        TRY(find_end(arena, filling, &mark, &behind, &inside));
        if (*mark.value != '\0')
            TRY(fill(arena, filling, arena_copy(arena, mark.behind, inside), out));
        mark.behind = behind;
    }
    buffer_add_text(out, text);
    return NULL;
}

static struct error *fill_file(struct arena *arena, struct filling *filling, const char **text_out)
{
    char *source;
    size_t length;
    struct buffer out;
    TRY(source_read(arena, filling->path, &source, &length));
    buffer_init(&out, arena);
    TRY(fill(arena, filling, source, &out));
    *text_out = out.bytes;
    return NULL;
}

/* Names come from our own code; one with a slash or a dot could lead to another folder. */
static bool name_valid(const char *name)
{
    if (*name == '\0')
        return false;
    for (; *name != '\0'; name++)
        if (!(*name >= 'a' && *name <= 'z') && *name != '-')
            return false;
    return true;
}

struct error *mail_template_fill(struct arena *arena, const char *directory, const char *name,
                                 const struct mail_template_value *values, size_t count, struct mail *mail_out)
{
    if (!name_valid(name))
        return error_new(arena, ERROR_INTERNAL, "no mail template has such a name");
    struct filling filling = {.values = values, .count = count};
    const char *subject;
    filling.path = arena_format(arena, "%s/%s.subject", directory, name);
    TRY(fill_file(arena, &filling, &subject));
    mail_out->subject = arena_copy(arena, subject, strcspn(subject, "\r\n"));
    filling.path = arena_format(arena, "%s/%s.txt", directory, name);
    TRY(fill_file(arena, &filling, &mail_out->text));
    filling.path = arena_format(arena, "%s/%s.html", directory, name);
    filling.html = true;
    mail_out->html = NULL;
    if (source_exists(filling.path))
        TRY(fill_file(arena, &filling, &mail_out->html));
    return NULL;
}

bool mail_template_exists(struct arena *arena, const char *directory, const char *name)
{
    return name_valid(name) && source_exists(arena_format(arena, "%s/%s.subject", directory, name));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct text_list mail_template_languages(struct arena *arena, const char *directory, const char *first)
{
    struct text_list list = {arena_array(arena, MAIL_TEMPLATE_LANGUAGES_MAX + 1, sizeof *list.items), 1};
    list.items[0] = arena_text(arena, first);
    DIR *folder = opendir(directory);
    if (folder == NULL)
        return list;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL && list.count <= MAIL_TEMPLATE_LANGUAGES_MAX;)
        if (language_valid(entry->d_name) && strcmp(entry->d_name, first) != 0)
            list.items[list.count++] = arena_text(arena, entry->d_name);
    (void)closedir(folder);
    qsort(list.items + 1, list.count - 1, sizeof *list.items, compare_names);
    return list;
}
