/* SPDX-License-Identifier: MIT */
/* Loads the configuration, and opens log and metrics. */
#include "service/runtime/startup.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/configuration.h"
#include "base/error.h"
#include "base/host/process.h"
#include "base/log.h"

static enum log_destination destination_of(const char *text)
{
    if (strcmp(text, "syslog") == 0)
        return LOG_TO_SYSLOG;
    return strcmp(text, "file") == 0 ? LOG_TO_FILE : LOG_TO_STDERR;
}

/*
 * The configuration file to read. NULL where nobody named one and the built-in one does not exist: then environment
 * variables alone configure the service, as on hosts where only the web server can be configured.
 */
static const char *find_file(const char *option)
{
    const char *named = getenv("GATEHOUSE_CONFIG");
    const char *path = configuration_path(option);
    bool was_named = option != NULL || (named != NULL && *named != '\0');
    /* A file that this process may not read is there: it is named in an error, and the defaults do not apply. */
    return was_named || access(path, F_OK) == 0 || errno != ENOENT ? path : NULL;
}

static void report_strays(struct arena *arena)
{
    size_t count;
    const struct configuration_stray *strays = configuration_strays(arena, &count);
    for (size_t i = 0; i < count; i++)
        LOG(WARN, WORKER, "an environment variable looks like a setting but is none",
            LOG_TEXT("variable", strays[i].variable), LOG_TEXT("meant", strays[i].resembles));
}

static struct error *log_failure(struct arena *arena, const char *path, int number)
{
    struct stat file;
    struct error *error = error_new(arena, ERROR_INTERNAL, "the log file cannot be opened: %s", strerror(number));
    const char *problem = lstat(path, &file) == 0 ? log_file_problem(&file) : NULL;
    if (problem != NULL)
        return error_message(error, "%s of [log] file %s.", path, problem);
    return error_message(error, "The log file %s cannot be opened: %s.", path, strerror(number));
}

struct error *startup_load(struct arena *arena, const char *option, const char *program,
                           struct configuration **configuration_out)
{
    enum log_level level = LOG_LEVEL_WARN;
    /*
     * Writing to a file that has reached the limit of its size, the log above all, must fail and not end the process.
     */
    (void)signal(SIGXFSZ, SIG_IGN);
    const char *path = find_file(option);
    struct error *error = configuration_load(arena, path, configuration_out);
    if (error != NULL && path == NULL)
        error = error_message(error,
                              "The configuration is not valid: no file is named (--config, GATEHOUSE_CONFIG), and %s"
                              " does not exist.",
                              configuration_path(NULL));
    TRY(error);
    const struct configuration *configuration = *configuration_out;
    if (program == NULL) {
        log_set_level(level);
        return NULL;
    }
    (void)log_level_parse(configuration->log.level, &level);
    log_set_level(level);
    if (!log_open(destination_of(configuration->log.destination), configuration->log.file, program))
        return log_failure(arena, configuration->log.file, errno);
    report_strays(arena);
    const char *problem = NULL;
    if (!host_process_open(configuration->metrics.file, &problem))
        LOG(WARN, WORKER, problem, LOG_TEXT("file", configuration->metrics.file));
    return NULL;
}

void startup_report(const struct error *error)
{
    LOG(FATAL, WORKER, error->message, LOG_TEXT("detail", error->detail));
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next)
        LOG(FATAL, WORKER, entry->message, LOG_TEXT("path", entry->path), LOG_TEXT("code", entry->code));
}
