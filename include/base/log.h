/* SPDX-License-Identifier: MIT */
/*
 * The log: one JSON object a line, at most LIMIT_LOG_LINE_BYTES, written with one write(2) to stderr, to a file opened
 * for appending, or to syslog. Values are escaped and bounded. A struct secret cannot be logged.
 *
 *     LOG(INFO, FILES, "file stored", LOG_TEXT("fileId", id), LOG_INTEGER("size", size));
 *
 * Each module has a level, and lines below that level are not written. A general level sets all of them; a filter such
 * as "*=warn,files=debug" overrides it (log_levels_read()).
 */
#ifndef GATEHOUSE_BASE_LOG_H
#define GATEHOUSE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat;

enum log_level {
    LOG_LEVEL_FATAL,
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARN,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG,
    LOG_LEVEL_TRACE,
    LOG_LEVEL_COUNT
};

#define LOG_MODULES(X)                                                                                                 \
    X(WORKER, "worker")                                                                                                \
    X(HTTP, "http")                                                                                                    \
    X(ACCOUNTS, "accounts")                                                                                            \
    X(FILES, "files")                                                                                                  \
    X(SYSTEM, "system")                                                                                                \
    X(IDENTITY, "identity")                                                                                            \
    X(STORE, "store")                                                                                                  \
    X(BLOB, "blob")                                                                                                    \
    X(MAIL, "mail")                                                                                                    \
    X(JOBS, "jobs")                                                                                                    \
    X(CTL, "ctl")

enum log_module {
#define X(symbol, text) LOG_MODULE_##symbol,
    LOG_MODULES(X)
#undef X
        LOG_MODULE_COUNT
};

enum log_kind { LOG_KIND_NONE, LOG_KIND_TEXT, LOG_KIND_INTEGER, LOG_KIND_REAL, LOG_KIND_BOOLEAN };

/* One member of a line. `name` is a camelCase literal. */
struct log_field {
    const char *name;
    enum log_kind kind;
    const char *text; /* NULL is written as null */
    int64_t integer;
    double real;
};

#define LOG_TEXT(member, value) ((struct log_field){.name = (member), .kind = LOG_KIND_TEXT, .text = (value)})
#define LOG_INTEGER(member, value)                                                                                     \
    ((struct log_field){.name = (member), .kind = LOG_KIND_INTEGER, .integer = (int64_t)(value)})
#define LOG_REAL(member, value) ((struct log_field){.name = (member), .kind = LOG_KIND_REAL, .real = (value)})
#define LOG_BOOLEAN(member, value) ((struct log_field){.name = (member), .kind = LOG_KIND_BOOLEAN, .integer = (value)})

#define LOG(level, module, message, ...)                                                                               \
    do {                                                                                                               \
        if (log_wants(LOG_LEVEL_##level, LOG_MODULE_##module))                                                         \
            log_event(LOG_LEVEL_##level, LOG_MODULE_##module, (message),                                               \
                      (const struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){.kind = LOG_KIND_NONE}});                  \
    } while (0)

enum log_destination { LOG_TO_STDERR, LOG_TO_SYSLOG, LOG_TO_FILE };

/*
 * Opens the destination. `path` is used with LOG_TO_FILE only, and it is copied. False (with errno set) when the file
 * cannot be opened; the destination then stays as it was. May be called again to reopen.
 *
 * When the file is renamed or removed (log rotation), it is opened again: the process checks the path at its first line
 * of each second, and lines until then go into the old file. Where the new file cannot be opened, lines go on into the
 * old one.
 */
bool log_open(enum log_destination destination, const char *path, const char *program);

/*
 * Why a file cannot be the log, from its lstat(): a link, a folder, a pipe or a device, a file with a second name. The
 * text goes on after the path and names the way out. NULL: the file may be the log.
 */
const char *log_file_problem(const struct stat *file);

/* The least severe level that is written, for all modules. */
void log_set_level(enum log_level level);

/* The level of one module, in place of the general one, until the next log_set_level(). */
void log_set_module_level(enum log_module module, enum log_level level);

/* The least severe level that is written, for each module. */
struct log_levels {
    enum log_level of[LOG_MODULE_COUNT];
};

void log_set_levels(const struct log_levels *levels);

enum log_filter_result {
    LOG_FILTER_GOOD,
    LOG_FILTER_TOO_LONG, /* more than LIMIT_LOG_FILTER_BYTES */
    LOG_FILTER_SYNTAX,   /* an entry is not module=level */
    LOG_FILTER_MODULE,   /* an entry names an unknown module */
    LOG_FILTER_LEVEL     /* an entry names an unknown level */
};

/*
 * Combines a general level and a filter. The filter is a list of module=level separated by commas; "*" stands for every
 * module. Entries override `level` for the modules that they name, and the last one wins. Blanks and tabs around
 * modules and levels are dropped. A blank filter has no entries; an empty entry beside others is LOG_FILTER_SYNTAX.
 * *levels_out is set with LOG_FILTER_GOOD only. The time is proportional to the length of the filter, whatever it
 * holds.
 */
enum log_filter_result log_levels_read(enum log_level level, const char *filter, struct log_levels *levels_out);

/* What is wrong with a filter, for a person; NULL for LOG_FILTER_GOOD. */
const char *log_filter_sentence(enum log_filter_result result);

/*
 * Sets what every following line carries; NULL for none. The texts must live as long: the worker sets them when a
 * request begins and clears them when it ends. Lines of a request (request_id is not NULL) always have all four
 * members, null where nothing is known; other lines have only those that are set.
 */
void log_context(const char *request_id, const char *user_id, const char *organisation_id, const char *operation);

/* Sets the user once a token or a password has proven who it is. The rest of the context stays. */
void log_actor(const char *user_id, const char *organisation_id);

bool log_wants(enum log_level level, enum log_module module);

/* Writes a line; `fields` ends with a LOG_KIND_NONE entry. Use LOG(). */
void log_event(enum log_level level, enum log_module module, const char *message, const struct log_field *fields);

const char *log_level_text(enum log_level level);

/* The text that log_module_parse() reads; for tests. */
const char *log_module_text(enum log_module module);

/* Reads a level or a module by its text; false when there is none of that name. */
bool log_level_parse(const char *text, enum log_level *level_out);
bool log_module_parse(const char *text, enum log_module *module_out);

#endif
