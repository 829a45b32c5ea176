/* SPDX-License-Identifier: MIT */
/* Makes errors, adds lines to their trace, and collects the entries of a validation. */
#include "base/error.h"

#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"

struct row {
    int status;
    const char *text;
    const char *sentence;
};

static const struct row rows[ERROR_CODE_COUNT] = {
#define ERROR(symbol, http_status, code_text, sentence_text) [ERROR_##symbol] = {http_status, code_text, sentence_text},
#include "base/errors.def"
#undef ERROR
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

struct error *error_make(struct arena *arena, enum error_code code, const char *function, const char *file, int line,
                         const char *format, ...)
{
    struct error *error = arena_alloc(arena, sizeof *error);
    error->arena = arena;
    error->code = code;
    error->message = rows[code].sentence;
    error->entries_end = &error->entries;
    error->stack = arena_format(arena, "%s (%s:%d)", function, base_name(file), line);
    if (rows[code].status == 500 && code != ERROR_INTERNAL)
        error->retry_after = 2;
    if (format != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->detail = arena_format_list(arena, format, arguments);
        va_end(arguments);
    }
    return error;
}

struct error *error_message(struct error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->message = arena_format_list(error->arena, format, arguments);
    va_end(arguments);
    return error;
}

struct error *error_entry(struct error *error, const char *path, const char *code, const char *message)
{
    if (error->entry_count == LIMIT_VALIDATION_ENTRIES)
        return error;
    struct error_entry *entry = arena_alloc(error->arena, sizeof *entry);
    entry->path = arena_text(error->arena, path);
    entry->code = arena_text(error->arena, code);
    entry->message = arena_text(error->arena, message);
    *error->entries_end = entry;
    error->entries_end = &entry->next;
    error->entry_count++;
    return error;
}

struct error *error_member(struct error *error, const char *name, const char *value)
{
    struct error_member *member = arena_alloc(error->arena, sizeof *member);
    member->name = arena_text(error->arena, name);
    member->value = arena_text(error->arena, value);
    struct error_member **end = &error->members;
    while (*end != NULL)
        end = &(*end)->next;
    *end = member;
    return error;
}

struct error *error_trace(struct error *error, const char *function, const char *file, int line)
{
    error->stack = arena_format(error->arena, "%s\n%s (%s:%d)", error->stack, function, base_name(file), line);
    return error;
}

int error_status(enum error_code code)
{
    return rows[code].status;
}

const char *error_code_text(enum error_code code)
{
    return rows[code].text;
}

const char *error_sentence(enum error_code code)
{
    return rows[code].sentence;
}

const char *error_words(const struct error *error)
{
    bool is_plain = error->detail != NULL && strcmp(error->message, error_sentence(ERROR_INTERNAL)) == 0;
    return is_plain ? error->detail : error->message;
}

void validation_init(struct validation *validation, struct arena *arena)
{
    *validation = (struct validation){.arena = arena};
}

void validation_add(struct validation *validation, const char *code, const char *message, const char *path_format, ...)
{
    va_list arguments;
    va_start(arguments, path_format);
    const char *path = arena_format_list(validation->arena, path_format, arguments);
    va_end(arguments);
    if (validation->error == NULL)
        validation->error = error_plain(validation->arena, ERROR_REQUEST_INVALID);
    error_entry(validation->error, path, code, message);
}

bool validation_has(const struct validation *validation, const char *path)
{
    if (validation->error == NULL)
        return false;
    for (const struct error_entry *entry = validation->error->entries; entry != NULL; entry = entry->next)
        if (strcmp(entry->path, path) == 0)
            return true;
    return false;
}
