/* SPDX-License-Identifier: MIT */
/* Reads gatehouse.conf and the environment into the configuration, by the table of configuration_rows.c. */
#include "base/configuration.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/language.h"
#include "base/limits.h"
#include "base/network.h"

/* inih takes "; …" for a comment and "# …" for a part of the value. Users expect both to be comments. */
#define COMMENT_WRONG "a comment must stand on a line of its own; behind a value, blank and ; or # are refused"

struct reading {
    struct arena *arena;
    const char *path;
    struct configuration *configuration;
    const struct configuration_row *rows;
    size_t count;
    int *lines;   /* for each row the line where the value was set; 0: not yet */
    bool *faulty; /* for each row: the value is not valid, and an entry says so */
    bool comment; /* the current line has a comment behind its value; both were cut off */
    bool unread;  /* the file cannot be read, and an entry says so */
    struct error *error;
};

static void fault(struct reading *reading, const char *where, const char *code, const char *message)
{
    if (reading->error == NULL)
        reading->error = error_message(error_plain(reading->arena, ERROR_INTERNAL), "The configuration is not valid.");
    error_entry(reading->error, where, code, message);
}

static bool one_of(const char *choices, const char *value)
{
    size_t length = strlen(value);
    if (strchr(value, '|') != NULL)
        return false;
    for (const char *at = choices; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (length > 0 && strncmp(at, value, length) == 0 && (at[length] == '|' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* The length of http:// or https://, 0 for anything else. */
static size_t scheme_length(const char *value)
{
    return strncmp(value, "http://", 7) == 0 ? 7 : strncmp(value, "https://", 8) == 0 ? 8 : 0;
}

/* Paths are appended to the URL, so it must end with its own path or its host. */
static const char *store_url(struct arena *arena, const char *value, const char **place)
{
    size_t scheme = scheme_length(value);
    if (scheme == 0)
        return "must start with http:// or https://";
    if (value[scheme] == '\0' || strchr("/:?#", value[scheme]) != NULL)
        return "must name a host";
    if (strpbrk(value, " \t?#\"\\<>") != NULL)
        return "must not hold blanks, quotes, ? or #";
    char *url = arena_text(arena, value);
    for (size_t length = strlen(url); url[length - 1] == '/'; length--)
        url[length - 1] = '\0';
    *place = url;
    return NULL;
}

/* Texts go into e-mails, replies and the log, which are UTF-8. Names of files may hold any bytes. */
static bool is_text(enum configuration_type type)
{
    return type != CONFIGURATION_PATH;
}

static bool has_control_character(const char *value)
{
    for (; *value != '\0'; value++)
        if ((unsigned char)*value < ' ' || *value == 0x7f)
            return true;
    return false;
}

/* What is wrong with a text of any kind, or NULL. */
static const char *fault_of_text(enum configuration_type type, const char *value)
{
    if (!is_text(type))
        return NULL;
    if (!utf8_valid(value, strlen(value)))
        return "holds bytes that are not UTF-8";
    return has_control_character(value) ? "holds a control character" : NULL;
}

/* "#" and six hexadecimal digits. */
static bool is_colour(const char *value)
{
    return *value == '#' && strlen(value) == 7 && strspn(value + 1, "0123456789abcdefABCDEF") == 6;
}

/*
 * An address that a page or a mail shows as a link: https, http or mailto, without what would end it or the attribute
 * that it stands in.
 */
static const char *fault_of_link(const char *value)
{
    bool mail = strncmp(value, "mailto:", 7) == 0;
    if (mail ? strchr(value + 7, '@') == NULL : scheme_length(value) == 0)
        return "must start with https://, http:// or mailto: and an address";
    return strpbrk(value, " \t\"'\\<>") != NULL ? "must not hold blanks, quotes or angle brackets" : NULL;
}

/* A picture: an address with https or http, or a path below the pages. */
static const char *fault_of_picture(const char *value)
{
    if (strpbrk(value, " \t\"'\\<>()") != NULL)
        return "must not hold blanks, quotes or brackets";
    if (scheme_length(value) > 0)
        return NULL;
    bool climbs = *value == '/' || strstr(value, "..") != NULL || strchr(value, ':') != NULL;
    return climbs ? "must start with https:// or http://, or be a path below the pages such as assets/logo.svg" : NULL;
}

/* What is wrong with a value of the types that are texts of a certain form. */
static const char *fault_of_form(enum configuration_type type, const char *value)
{
    if (type == CONFIGURATION_COLOUR)
        return is_colour(value) ? NULL : "must be # and six hexadecimal digits, such as #1d4f7c";
    if (type == CONFIGURATION_LANGUAGE)
        return language_valid(value) ? NULL : "must be a language such as en, de or pt-BR";
    if (type == CONFIGURATION_LINK)
        return fault_of_link(value);
    return type == CONFIGURATION_PICTURE ? fault_of_picture(value) : NULL;
}

static const char *store_boolean(const char *value, bool *place)
{
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return "must be true or false";
    *place = value[0] == 't';
    return NULL;
}

/* Stores a value; the result is NULL or what is wrong with it. */
static const char *store(struct reading *reading, const struct configuration_row *row, const char *value)
{
    struct arena *arena = reading->arena;
    char *place = (char *)reading->configuration + row->offset;
    const char *fault_found = fault_of_text(row->type, value);
    if (fault_found == NULL)
        fault_found = fault_of_form(row->type, value);
    if (fault_found != NULL)
        return fault_found;
    switch (row->type) {
    case CONFIGURATION_URL:
        return store_url(arena, value, (const char **)(void *)place);
    case CONFIGURATION_PATH:
        if (*value != '/')
            return "must be an absolute path";
        *(const char **)(void *)place = arena_text(arena, value);
        return NULL;
    case CONFIGURATION_CHOICE:
        if (!one_of(row->choices, value))
            return arena_format(arena, "must be one of %s", row->choices);
        *(const char **)(void *)place = arena_text(arena, value);
        return NULL;
    case CONFIGURATION_WORDS:
        *(struct text_list *)(void *)place = text_words(arena, value);
        return NULL;
    case CONFIGURATION_INTEGER:
        if (!text_to_integer(value, row->minimum, row->maximum, (int64_t *)(void *)place))
            return arena_format(arena, "must be a whole number from %lld to %lld", (long long)row->minimum,
                                (long long)row->maximum);
        return NULL;
    case CONFIGURATION_BOOLEAN:
        return store_boolean(value, (bool *)(void *)place);
    default:
        *(const char **)(void *)place = arena_text(arena, value);
        return NULL;
    }
}

static int on_line(void *user, const char *section, const char *name, const char *value, int line)
{
    struct reading *reading = user;
    const struct configuration_row *rows = reading->rows;
    for (size_t i = 0; i < reading->count; i++) {
        if (strcmp(rows[i].section, section) != 0 || strcmp(rows[i].name, name) != 0)
            continue;
        const char *where = arena_format(reading->arena, "%s.%s", section, name);
        if (reading->lines[i] != 0) {
            fault(reading, where, "duplicate",
                  arena_format(reading->arena, "line %d: is set in line %d already", line, reading->lines[i]));
            return 1;
        }
        reading->lines[i] = line;
        const char *wrong = reading->comment ? COMMENT_WRONG : *value == '\0' ? NULL : store(reading, &rows[i], value);
        reading->faulty[i] = wrong != NULL;
        if (wrong != NULL)
            fault(reading, where, "invalid", arena_format(reading->arena, "line %d: %s", line, wrong));
        return 1;
    }
    fault(reading, arena_format(reading->arena, "%s.%s", section, name), "unknown",
          arena_format(reading->arena, "line %d: there is no such setting", line));
    return 1;
}

/*
 * Gives the file to inih line by line, for three reasons. Only builds with INI_HANDLER_LINENO pass the line number.
 * inih names only the first of several lines that it cannot read. And it takes an indented line for a continuation of
 * the value above.
 */
struct counted_file {
    FILE *file;
    int line;
    struct reading *reading;
};

static void line_fault(struct counted_file *counted, const char *code, const char *what)
{
    struct arena *arena = counted->reading->arena;
    fault(counted->reading, arena_format(arena, "line %d", counted->line), code, what);
}

static bool line_is_readable(const char *start)
{
    if (*start == '\0' || *start == '#' || *start == ';')
        return true;
    if (*start == '[')
        return strchr(start, ']') != NULL;
    return strcspn(start, "=:") > 0 && strpbrk(start, "=:") != NULL;
}

/* Cuts off a value that is a comment or has one behind it. Returns whether it did. */
static bool cut_commented(char *start)
{
    char *value = *start == '[' || *start == '#' || *start == ';' ? NULL : strpbrk(start, "=:");
    if (value == NULL || is_colour(value + 1 + strspn(value + 1, " \t")))
        return false;
    for (char *at = value + 1; *at != '\0'; at++)
        if ((*at == ';' || *at == '#') && (at[-1] == ' ' || at[-1] == '\t')) {
            value[1] = '\0';
            return true;
        }
    return false;
}

/*
 * Cuts off the end of the line. False when the line is longer than the limit; its rest is then skipped. Some releases
 * of inih skip further lines by themselves when `size` bytes hold no end of a line, so the buffer is never full.
 */
static bool end_line(struct counted_file *counted, char *text, size_t size)
{
    size_t length = strlen(text);
    bool whole = length < size - 1 || text[length - 1] == '\n';
    for (int next = whole ? '\n' : getc(counted->file); next != EOF && next != '\n'; next = getc(counted->file))
        if (next != '\r')
            length = size;
    if (length >= size)
        return false;
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        text[--length] = '\0';
    return length <= LIMIT_CONFIGURATION_LINE_BYTES && length < size - 1;
}

static char *next_line(char *text, int size, void *stream)
{
    struct counted_file *counted = stream;
    if (fgets(text, size, counted->file) == NULL)
        return NULL;
    counted->line++;
    if (!end_line(counted, text, (size_t)size)) {
        line_fault(counted, "length", "is too long");
        *text = '\0';
        return text;
    }
    static const char mark[] = "\xef\xbb\xbf";
    const char *start = text + (counted->line == 1 && strncmp(text, mark, 3) == 0 ? 3 : 0);
    start += strspn(start, " \t\r\n");
    if (line_is_readable(start)) {
        memmove(text, start, strlen(start) + 1);
        counted->reading->comment = cut_commented(text);
    } else {
        line_fault(counted, "syntax", "is neither [section], name = value nor a comment");
        *text = '\0';
    }
    return text;
}

static int on_counted(void *user, const char *section, const char *name, const char *value)
{
    struct counted_file *counted = user;
    return on_line(counted->reading, section, name, value, counted->line);
}

static void read_file(struct reading *reading)
{
    struct counted_file counted = {.file = fopen(reading->path, "re"), .reading = reading};
    if (counted.file == NULL) {
        reading->unread = true;
        fault(reading, "file", "unreadable",
              arena_format(reading->arena, "%s cannot be opened: %s", reading->path, strerror(errno)));
        return;
    }
    int wrong = ini_parse_stream(next_line, &counted, on_counted, &counted);
    bool unread = ferror(counted.file) != 0;
    (void)fclose(counted.file);
    reading->unread = unread;
    if (unread)
        fault(reading, "file", "unreadable", arena_format(reading->arena, "%s cannot be read", reading->path));
    else if (wrong != 0 && reading->error == NULL)
        fault(reading, "file", "syntax", arena_format(reading->arena, "%s is not an INI file", reading->path));
}

const char *configuration_variable(struct arena *arena, const struct configuration_row *row)
{
    char *variable = arena_format(arena, CONFIGURATION_PREFIX "%s_%s", row->section, row->name);
    for (char *at = variable; *at != '\0'; at++)
        if (*at >= 'a' && *at <= 'z')
            *at = (char)(*at - 'a' + 'A');
    return variable;
}

static void read_environment(struct reading *reading)
{
    const struct configuration_row *rows = reading->rows;
    for (size_t i = 0; i < reading->count; i++) {
        const char *variable = configuration_variable(reading->arena, &rows[i]);
        const char *value = getenv(variable);
        if (value == NULL || *value == '\0')
            continue;
        const char *wrong = store(reading, &rows[i], value);
        reading->faulty[i] = reading->faulty[i] || wrong != NULL;
        if (wrong != NULL)
            fault(reading, arena_format(reading->arena, "%s.%s", rows[i].section, rows[i].name), "invalid",
                  arena_format(reading->arena, "%s: %s", variable, wrong));
    }
}

static void check_required(struct reading *reading)
{
    const struct configuration_row *rows = reading->rows;
    for (size_t i = 0; i < reading->count; i++) {
        const char *place = (const char *)reading->configuration + rows[i].offset;
        if (rows[i].required && !reading->faulty[i] && *(const char *const *)(const void *)place == NULL)
            fault(reading, arena_format(reading->arena, "%s.%s", rows[i].section, rows[i].name), "required",
                  "must be set");
    }
}

/* Ranges of addresses, or only the word "none". */
static void check_ranges(struct reading *reading, const struct text_list *words, const char *where)
{
    bool none = words->count == 1 && strcmp(words->items[0], "none") == 0;
    for (size_t i = 0; i < words->count && !none; i++)
        if (!network_is_range(words->items[i]))
            fault(reading, where, "invalid",
                  arena_format(reading->arena, "%s is neither an address nor a range such as 192.0.2.0/24",
                               words->items[i]));
}

/* Fills values that follow from others when they are not set, and checks rules over several values. */
static void complete(struct reading *reading)
{
    struct configuration *configuration = reading->configuration;
    if (configuration->service.web_url == NULL)
        configuration->service.web_url = configuration->service.base_url;
    if (configuration->identity.issuer == NULL)
        configuration->identity.issuer = configuration->service.base_url;
    if (configuration->database.admin_user == NULL)
        configuration->database.admin_user = configuration->database.user;
    if (strcmp(configuration->mail.transport, "file") == 0 && configuration->mail.directory == NULL)
        fault(reading, "mail.directory", "required", "must be set when mail.transport is file");
    const char *prefix = configuration->files.accel_prefix;
    if (prefix[0] != '/' || prefix[strlen(prefix) - 1] != '/')
        fault(reading, "files.accel_prefix", "invalid", "must begin and end with a slash");
    if (strcmp(configuration->log.destination, "file") == 0 && configuration->log.file == NULL)
        fault(reading, "log.file", "required", "must be set when log.destination is file");
    check_ranges(reading, &configuration->metrics.allow, "metrics.allow");
}

struct error *configuration_load(struct arena *arena, const char *path, struct configuration **configuration_out)
{
    struct configuration *configuration = arena_alloc(arena, sizeof *configuration);
    struct reading reading = {.arena = arena, .path = path, .configuration = configuration};
    reading.rows = configuration_rows(&reading.count);
    reading.lines = arena_array(arena, reading.count, sizeof *reading.lines);
    reading.faulty = arena_array(arena, reading.count, sizeof *reading.faulty);
    for (size_t i = 0; i < reading.count; i++)
        if (reading.rows[i].fallback != NULL)
            (void)store(&reading, &reading.rows[i], reading.rows[i].fallback);
    if (path != NULL)
        read_file(&reading);
    read_environment(&reading);
    /* When the file cannot be read, missing values are no further faults. */
    if (!reading.unread)
        check_required(&reading);
    complete(&reading);
    *configuration_out = configuration;
    return reading.error;
}

const char *configuration_path(const char *option)
{
    if (option != NULL)
        return option;
    const char *path = getenv("GATEHOUSE_CONFIG");
    return path != NULL && *path != '\0' ? path : GATEHOUSE_SYSCONFDIR "/gatehouse.conf";
}

const char *configuration_data_directory(void)
{
    const char *path = getenv("GATEHOUSE_DATA_DIR");
    return path != NULL && *path != '\0' ? path : GATEHOUSE_DATADIR;
}
