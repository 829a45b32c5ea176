/* SPDX-License-Identifier: MIT */
/*
 * The log: one JSON object a line, at most LIMIT_LOG_LINE_BYTES, written with one write(2), to stderr, a file opened
 * for appending, or syslog. Values are escaped and bounded; there is no way to log a struct secret.
 *
 *     LOG(INFO, FILES, "file stored", LOG_TEXT("fileId", id), LOG_INTEGER("size", size));
 *
 * What is written is decided by one level a module: a general level, and over it a filter such as "*=warn,files=debug"
 * (log_levels_read()).
 */
#ifndef GATEHOUSE_BASE_LOG_H
#define GATEHOUSE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_FATAL, LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG, LOG_LEVEL_TRACE, LOG_LEVEL_COUNT };

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
 * Opens the destination. `path` is used with LOG_TO_FILE only and copied. Returns false (with errno set) when the file
 * cannot be opened; the log then stays where it was. May be called again to reopen.
 *
 * A file that is renamed or removed by whoever rotates logs is opened anew: the process looks at its first line of each
 * second, and lines until then go into the old file. Where the new one cannot be opened the lines go on into the old.
 */
bool log_open(enum log_destination destination, const char *path, const char *program);

/* The least severe level that is written, for all modules. */
void log_set_level(enum log_level level);

/* The level of one module, over the general one, until the next log_set_level(). */
void log_set_module_level(enum log_module module, enum log_level level);

/* The least severe level that is written, for each module. */
struct log_levels {
    enum log_level of[LOG_MODULE_COUNT];
};

void log_set_levels(const struct log_levels *levels);

enum log_filter_result {
    LOG_FILTER_GOOD,
    LOG_FILTER_TOO_LONG, /* over LIMIT_LOG_FILTER_BYTES */
    LOG_FILTER_SYNTAX,   /* an entry is not module=level */
    LOG_FILTER_MODULE,   /* an entry names a module that there is not */
    LOG_FILTER_LEVEL     /* an entry names a level that there is not */
};

/*
 * The levels that a general level and a filter make together. The filter is a list of module=level separated by commas,
 * "*" for every module; entries hold over `level` for the modules they name, the last one wins, blanks and tabs round
 * modules and levels are dropped. A blank filter has no entries; an empty entry beside others is LOG_FILTER_SYNTAX.
 * *levels_out is set with LOG_FILTER_GOOD only. Takes time in proportion to the filter's length, whatever it holds.
 */
enum log_filter_result log_levels_read(enum log_level level, const char *filter, struct log_levels *levels_out);

/* What is wrong with a filter, for a person; NULL for LOG_FILTER_GOOD. */
const char *log_filter_sentence(enum log_filter_result result);

/*
 * What every following line carries, until changed; NULL for none. The texts must live as long (the worker sets them
 * when a request begins and clears them at its end). Lines of a request (request_id is not NULL) always have all four
 * members, null where nothing is known; other lines have those that are set.
 */
void log_context(const char *request_id, const char *user_id, const char *organisation_id, const char *operation);

/* Who is acting, once that is proven; the rest of the context stays. */
void log_actor(const char *user_id, const char *organisation_id);

bool log_wants(enum log_level level, enum log_module module);

/* Writes a line; `fields` ends with a LOG_KIND_NONE entry. Use LOG(). */
void log_event(enum log_level level, enum log_module module, const char *message, const struct log_field *fields);

const char *log_level_text(enum log_level level);

/* The text that log_module_parse() reads; for tests. */
const char *log_module_text(enum log_module module);

/* Reads a level or module by its text; false when there is none of that name. */
bool log_level_parse(const char *text, enum log_level *level_out);
bool log_module_parse(const char *text, enum log_module *module_out);

#endif
