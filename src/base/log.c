/* SPDX-License-Identifier: MIT */
/*
 * Writes the log. A line is built in a fixed buffer: logging must work when memory is short, and it must never make a
 * request fail. A member that does not fit is cut (a text) or left out, and the line then holds "truncated":true.
 */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "base/text.h"

/* Kept free at the end of a line for its closing members. */
#define TAIL_BYTES 32

/* Enough bytes for any number in a member. */
#define NUMBER_BYTES 40

struct line {
    char bytes[LIMIT_LOG_LINE_BYTES];
    size_t length;
    bool truncated;
};

static struct {
    enum log_destination destination;
    int fd;
    char path[LIMIT_LOG_PATH_BYTES]; /* LOG_TO_FILE */
    struct stat file;                /* what the path was when it was opened */
    int64_t looked;                  /* the second in which the path was last checked */
    pid_t pid;                       /* 0: not asked for yet */
    struct log_levels levels;
    const char *request_id;
    const char *user_id;
    const char *organisation_id;
    const char *operation;
} state = {
    .destination = LOG_TO_STDERR,
    .fd = STDERR_FILENO,
    .levels = {{[0 ... LOG_MODULE_COUNT - 1] = LOG_LEVEL_INFO}},
};

static const char *const level_texts[LOG_LEVEL_COUNT] = {"fatal", "error", "warn", "info", "debug", "trace"};

static const char *const module_texts[LOG_MODULE_COUNT] = {
#define X(symbol, text) text,
    LOG_MODULES(X)
#undef X
};

const char *log_file_problem(const struct stat *file)
{
    if (S_ISLNK(file->st_mode))
        return "is a symbolic link, which the log does not follow: name the file itself, or set destination = stderr";
    if (S_ISDIR(file->st_mode))
        return "is a folder: name a file in it";
    if (!S_ISREG(file->st_mode))
        return "is not a file: set destination = stderr, and redirect that to where the lines shall go";
    if (file->st_nlink > 1)
        return "has another name (a hard link): name a file that has none";
    return NULL;
}

/*
 * Opens the file and notes its identity; -1 with errno. The workers may write in the folder, and root may run a command
 * that logs there. So only a regular file with one name is opened: no link leads root to a file elsewhere, and no pipe
 * can make root wait.
 */
static int open_file(const char *path)
{
    size_t length = strlen(path);
    if (length >= sizeof state.path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0640);
    struct stat file;
    if (fd < 0)
        return -1;
    if (fstat(fd, &file) != 0 || log_file_problem(&file) != NULL) {
        (void)close(fd);
        errno = EINVAL;
        return -1;
    }
    state.file = file;
    if (path != state.path)
        memcpy(state.path, path, length + 1);
    return fd;
}

bool log_open(enum log_destination destination, const char *path, const char *program)
{
    int fd = STDERR_FILENO;
    if (destination == LOG_TO_FILE) {
        fd = open_file(path);
        if (fd < 0)
            return false;
    } else if (destination == LOG_TO_SYSLOG) {
        openlog(program, LOG_PID | LOG_NDELAY, LOG_DAEMON);
    }
    if (state.fd != STDERR_FILENO)
        (void)close(state.fd);
    state.fd = fd;
    state.destination = destination;
    return true;
}

/*
 * Log rotation renames the file and informs nobody. So the path is checked at the first line of each second, before the
 * line is written. No signal to processes that others started is needed.
 */
static void follow_file(int64_t second)
{
    struct stat now;
    if (second == state.looked)
        return;
    state.looked = second;
    if (lstat(state.path, &now) == 0 && now.st_ino == state.file.st_ino && now.st_dev == state.file.st_dev)
        return;
    int fd = open_file(state.path);
    if (fd < 0)
        return;
    (void)close(state.fd);
    state.fd = fd;
}

void log_set_level(enum log_level level)
{
    for (int i = 0; i < LOG_MODULE_COUNT; i++)
        state.levels.of[i] = level;
}

void log_set_module_level(enum log_module module, enum log_level level)
{
    state.levels.of[module] = level;
}

void log_set_levels(const struct log_levels *levels)
{
    state.levels = *levels;
}

void log_context(const char *request_id, const char *user_id, const char *organisation_id, const char *operation)
{
    state.request_id = request_id;
    state.user_id = user_id;
    state.organisation_id = organisation_id;
    state.operation = operation;
}

void log_actor(const char *user_id, const char *organisation_id)
{
    state.user_id = user_id;
    state.organisation_id = organisation_id;
}

bool log_wants(enum log_level level, enum log_module module)
{
    return level <= state.levels.of[module];
}

static bool line_add(struct line *line, const char *bytes, size_t length)
{
    if (length > sizeof line->bytes - TAIL_BYTES - line->length) {
        line->truncated = true;
        return false;
    }
    memcpy(line->bytes + line->length, bytes, length);
    line->length += length;
    return true;
}

/* One character of a text, escaped so that the line stays one valid line; see buffer_add_json(). */
static size_t escape(const unsigned char *bytes, size_t left, char out[8], size_t *length_out)
{
    uint32_t code_point = 0;
    size_t step = utf8_next(bytes, left, &code_point);
    if (step == 0) {
        memcpy(out, "\xef\xbf\xbd", 3);
        *length_out = 3;
        return 1;
    }
    if (code_point == '"' || code_point == '\\') {
        out[0] = '\\';
        out[1] = (char)code_point;
        *length_out = 2;
    } else if (code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) || code_point == 0x2028 ||
               code_point == 0x2029) {
        (void)snprintf(out, 8, "\\u%04x", (unsigned)code_point & 0xffffu);
        *length_out = 6;
    } else {
        memcpy(out, bytes, step);
        *length_out = step;
    }
    return step;
}

static void line_add_text(struct line *line, const char *text)
{
    if (text == NULL) {
        (void)line_add(line, "null", 4);
        return;
    }
    const unsigned char *bytes = (const unsigned char *)text;
    size_t left = strlen(text);
    if (!line_add(line, "\"", 1))
        return;
    size_t plain = text_plain_length(text, left);
    if (plain + 1 <= sizeof line->bytes - TAIL_BYTES - line->length) {
        (void)line_add(line, text, plain);
        bytes += plain;
        left -= plain;
    }
    while (left > 0) {
        char escaped[8];
        size_t length;
        size_t step = escape(bytes, left, escaped, &length);
        /* Keeps one byte more than the character needs, so that the closing quote always fits. */
        if (length + 1 > sizeof line->bytes - TAIL_BYTES - line->length) {
            line->truncated = true;
            break;
        }
        (void)line_add(line, escaped, length);
        bytes += step;
        left -= step;
    }
    line->bytes[line->length++] = '"';
}

/* Milliseconds that were measured in whole microseconds: three decimals are exact. */
static int print_microseconds(char number[NUMBER_BYTES], int64_t microseconds)
{
    int length = (int)text_from_integer(microseconds / 1000, number);
    number[length++] = '.';
    number[length++] = (char)('0' + microseconds / 100 % 10);
    number[length++] = (char)('0' + microseconds / 10 % 10);
    number[length++] = (char)('0' + microseconds % 10);
    return length;
}

/* Writes three decimals; a number too large for them with an exponent, and NaN or infinity as null. */
static int print_real(char number[NUMBER_BYTES], double real)
{
    if (!isfinite(real))
        return snprintf(number, NUMBER_BYTES, "null");
    if (real >= 0 && real < 1e9 && real * 1000 == floor(real * 1000 + 0.5))
        return print_microseconds(number, (int64_t)(real * 1000));
    return snprintf(number, NUMBER_BYTES, fabs(real) < 1e15 ? "%.3f" : "%.6e", real);
}

static void line_add_field(struct line *line, const struct log_field *field)
{
    char number[NUMBER_BYTES];
    size_t name_length = strlen(field->name);
    if (line->length + name_length + sizeof number + 8 > sizeof line->bytes - TAIL_BYTES) {
        line->truncated = true;
        return;
    }
    char *at = line->bytes + line->length;
    memcpy(at, ",\"", 2);
    memcpy(at + 2, field->name, name_length);
    memcpy(at + 2 + name_length, "\":", 2);
    line->length += name_length + 4;
    if (field->kind == LOG_KIND_TEXT) {
        line_add_text(line, field->text);
        return;
    }
    int length;
    if (field->kind == LOG_KIND_INTEGER)
        length = (int)text_from_integer(field->integer, number);
    else if (field->kind == LOG_KIND_REAL)
        length = print_real(number, field->real);
    else
        length = snprintf(number, sizeof number, "%s", field->integer != 0 ? "true" : "false");
    (void)line_add(line, number, (size_t)length);
}

static void add_context(struct line *line)
{
    const struct log_field fields[] = {
        LOG_TEXT("requestId", state.request_id),
        LOG_TEXT("operation", state.operation),
        LOG_TEXT("userId", state.user_id),
        LOG_TEXT("organisationId", state.organisation_id),
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].text != NULL || state.request_id != NULL)
            line_add_field(line, &fields[i]);
}

static void line_write(const struct line *line, enum log_level level, int64_t second)
{
    static const int priorities[LOG_LEVEL_COUNT] = {LOG_CRIT, LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_DEBUG};
    if (state.destination == LOG_TO_SYSLOG) {
        syslog(priorities[level], "%.*s", (int)(line->length - 1), line->bytes);
        return;
    }
    if (state.destination == LOG_TO_FILE)
        follow_file(second);
    /* One write keeps the lines of several processes apart. A log that cannot be written must not stop the service. */
    ssize_t written = write(state.fd, line->bytes, line->length);
    (void)written;
}

static void forget_pid(void)
{
    state.pid = 0;
}

/* getpid() is a system call, so its result is kept. A forked child asks again. */
static pid_t own_pid(void)
{
    static bool watching;
    if (state.pid == 0) {
        watching = watching || pthread_atfork(NULL, NULL, forget_pid) == 0;
        if (!watching)
            return getpid();
        state.pid = getpid();
    }
    return state.pid;
}

static void count_line(enum log_level level)
{
    if (level == LOG_LEVEL_FATAL)
        metrics_add(METRIC_LOG_FATAL, 1);
    else if (level == LOG_LEVEL_ERROR)
        metrics_add(METRIC_LOG_ERROR, 1);
    else if (level == LOG_LEVEL_WARN)
        metrics_add(METRIC_LOG_WARN, 1);
}

void log_event(enum log_level level, enum log_module module, const char *message, const struct log_field *fields)
{
    struct line line; /* the bytes are not initialised: zeroing 8 KiB took longer than the line */
    line.length = 0;
    line.truncated = false;
    char now[CLOCK_TEXT_BYTES];
    count_line(level);
    int64_t milliseconds = clock_now();
    clock_format(milliseconds, now);
    (void)line_add(&line, "{\"time\":\"", 9);
    (void)line_add(&line, now, strlen(now));
    (void)line_add(&line, "\"", 1);
    line_add_field(&line, &LOG_TEXT("level", level_texts[level]));
    line_add_field(&line, &LOG_TEXT("module", module_texts[module]));
    line_add_field(&line, &LOG_INTEGER("pid", own_pid()));
    line_add_field(&line, &LOG_TEXT("message", message));
    add_context(&line);
    for (; fields->kind != LOG_KIND_NONE; fields++)
        line_add_field(&line, fields);
    static const char cut[] = ",\"truncated\":true";
    if (line.truncated) {
        memcpy(line.bytes + line.length, cut, sizeof cut - 1);
        line.length += sizeof cut - 1;
    }
    line.bytes[line.length++] = '}';
    line.bytes[line.length++] = '\n';
    line_write(&line, level, milliseconds / 1000);
}

const char *log_level_text(enum log_level level)
{
    return level_texts[level];
}

const char *log_module_text(enum log_module module)
{
    return module_texts[module];
}

bool log_level_parse(const char *text, enum log_level *level_out)
{
    for (unsigned i = 0; i < LOG_LEVEL_COUNT; i++)
        if (strcmp(text, level_texts[i]) == 0) {
            *level_out = (enum log_level)i;
            return true;
        }
    return false;
}

bool log_module_parse(const char *text, enum log_module *module_out)
{
    for (unsigned i = 0; i < LOG_MODULE_COUNT; i++)
        if (strcmp(text, module_texts[i]) == 0) {
            *module_out = (enum log_module)i;
            return true;
        }
    return false;
}
