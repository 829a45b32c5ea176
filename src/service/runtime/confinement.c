/* SPDX-License-Identifier: MIT */
/* Plans the sandbox of workers and job runners from the configuration, and raises it. */
#include "service/runtime/confinement.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/text.h"
#include "codec/digest.h"
#include "store/database/database.h"
#include "store/database/host_list.h"
#include "store/http_client.h"

#define DNS_PORT 53
#define HTTPS_PORT 443
#define NSSWITCH "/etc/nsswitch.conf"

/* ---- files --------------------------------------------------------------------------------------- */

/* What the C library, OpenSSL and libcurl read when they look up a name or verify a certificate. */
static const char *const system_paths[] = {
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
    "/etc/ca-certificates",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    NSSWITCH,
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ssl/cert.pem",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/ca-certificates",
    "/usr/share/zoneinfo",
    "/usr/local/share/ca-certificates",
};

static bool is_one_of_the_shared(const char *folder)
{
    static const char *const shared[] = {
        ".",          "/",        "/boot",      "/dev",       "/dev/shm",   "/etc",           "/home",
        "/media",     "/mnt",     "/opt",       "/proc",      "/root",      "/run",           "/run/lock",
        "/srv",       "/sys",     "/tmp",       "/usr",       "/usr/local", "/usr/local/etc", "/usr/local/share",
        "/usr/share", "/var",     "/var/cache", "/var/lib",   "/var/local", "/var/lock",      "/var/log",
        "/var/mail",  "/var/opt", "/var/run",   "/var/spool", "/var/tmp",   "/var/www"};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (strcmp(folder, shared[i]) == 0)
            return true;
    return false;
}

/* Folders that hold more than one program's files, by whatever name: of these only the file itself is opened. */
static bool is_shared(const char *folder)
{
    if (is_one_of_the_shared(folder))
        return true;
    char *target = realpath(folder, NULL);
    bool shared = target != NULL && is_one_of_the_shared(target);
    free(target);
    return shared;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/*
 * A file is replaced by another one of its name when it changes, so its folder is opened. What a link points to is
 * opened as well.
 */
static void allow_reading(struct arena *arena, struct sandbox_plan *plan, const char *path)
{
    const char *folder = folder_of(arena, path);
    bool alone = is_folder(path) || is_shared(folder);
    sandbox_allow_path(plan, alone ? path : folder, SANDBOX_READ, true);
    char *target = realpath(path, NULL);
    if (target != NULL && strcmp(target, path) != 0 && !is_folder(target)) {
        folder = folder_of(arena, target);
        sandbox_allow_path(plan, is_shared(folder) ? arena_text(arena, target) : folder, SANDBOX_READ, true);
    }
    free(target);
}

/*
 * The folder of a file that the service makes anew now and then. A folder that others use is never opened for it: the
 * file that is there is opened alone, and where another one takes its place the process ends and its successor opens
 * that.
 */
static void allow_writing_beside(struct arena *arena, struct sandbox_plan *plan, const char *path)
{
    if (path == NULL)
        return;
    const char *folder = folder_of(arena, path);
    sandbox_allow_path(plan, is_shared(folder) ? path : folder, SANDBOX_WRITE, true);
}

/* What is written, only connected to, or read by others. The rest of the configuration's paths is only read. */
static bool is_only_read(const struct configuration_row *row)
{
    static const char *const others[] = {"service.security_txt", "files.directory", "files.s3_spool",
                                         "files.clamd_socket",   "database.socket", "mail.directory",
                                         "cache.file",           "log.file",        "metrics.file"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t section = strlen(row->section);
        if (strncmp(others[i], row->section, section) == 0 && others[i][section] == '.' &&
            strcmp(others[i] + section + 1, row->name) == 0)
            return false;
    }
    return true;
}

static void plan_files(struct arena *arena, const struct configuration *configuration, struct sandbox_plan *plan)
{
    bool kept_here = strcmp(configuration->files.store, "directory") == 0;
    sandbox_allow_path(plan, kept_here ? configuration->files.directory : configuration->files.s3_spool, SANDBOX_WRITE,
                       false);
    if (strcmp(configuration->mail.transport, "file") == 0)
        sandbox_allow_path(plan, configuration->mail.directory, SANDBOX_WRITE, true);
    allow_writing_beside(arena, plan, configuration->cache.file);
    allow_writing_beside(arena, plan, configuration->metrics.file);
    allow_writing_beside(arena, plan, configuration->log.file);
    sandbox_allow_path(plan, configuration_data_directory(), SANDBOX_READ, false);
    size_t count;
    const struct configuration_row *rows = configuration_rows(&count);
    for (size_t i = 0; i < count; i++) {
        const char *path;
        if (rows[i].type != CONFIGURATION_PATH || !is_only_read(&rows[i]))
            continue;
        memcpy(&path, (const char *)configuration + rows[i].offset, sizeof path);
        if (path != NULL)
            allow_reading(arena, plan, path);
    }
    for (size_t i = 0; i < sizeof system_paths / sizeof *system_paths; i++)
        sandbox_allow_path(plan, system_paths[i], SANDBOX_READ, false);
    allow_reading(arena, plan, "/etc/hosts");
    allow_reading(arena, plan, "/etc/resolv.conf");
    /* A module that it names anew is loaded by a new process only. */
    allow_reading(arena, plan, NSSWITCH);
}

/* ---- connections --------------------------------------------------------------------------------- */

/* The port of an address that names one or whose scheme has one; 0: it is no address. */
static int64_t port_of(const char *address)
{
    static const struct {
        const char *scheme;
        int64_t port;
    } schemes[] = {{"http://", 80}, {"https://", HTTPS_PORT}, {"smtp://", 25}, {"smtps://", 465}};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i].scheme);
        if (strncmp(address, schemes[i].scheme, length) != 0)
            continue;
        const char *host = address + length;
        host += *host == '[' ? strcspn(host, "]") : 0;
        const char *at = host + strcspn(host, ":/?");
        return *at == ':' ? strtoll(at + 1, NULL, 10) : schemes[i].port;
    }
    return 0;
}

static void plan_address(const struct configuration *configuration, const struct configuration_row *row,
                         struct sandbox_plan *plan)
{
    const char *at = (const char *)configuration + row->offset;
    if (row->type == CONFIGURATION_WORDS) {
        const struct text_list *list = (const struct text_list *)(const void *)at;
        for (size_t i = 0; i < list->count; i++)
            sandbox_allow_port(plan, port_of(list->items[i]));
    } else if (row->type == CONFIGURATION_TEXT || row->type == CONFIGURATION_URL) {
        const char *text;
        memcpy(&text, at, sizeof text);
        sandbox_allow_port(plan, text == NULL ? 0 : port_of(text));
    }
}

/* The addresses of the service itself, and those that only tokens and pages show, are nothing that it connects to. */
static bool is_only_shown(const struct configuration_row *row)
{
    static const char *const sections[] = {"service", "branding", "identity"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(row->section, sections[i]) == 0)
            return true;
    return false;
}

/* A list that cannot be read is told by database_options_load(). */
static void plan_database(struct arena *arena, const struct configuration *configuration, struct sandbox_plan *plan)
{
    struct host_list hosts;
    unsigned port = (unsigned)configuration->database.port;
    if (configuration->database.socket != NULL || configuration->database.host == NULL ||
        host_list_parse(arena, configuration->database.host, port, &hosts) != NULL)
        return;
    for (size_t i = 0; i < hosts.count; i++)
        sandbox_allow_port(plan, hosts.items[i].port);
}

static void plan_ports(struct arena *arena, const struct configuration *configuration, struct sandbox_plan *plan)
{
    size_t count;
    const struct configuration_row *rows = configuration_rows(&count);
    for (size_t i = 0; i < count; i++)
        if (!is_only_shown(&rows[i]))
            plan_address(configuration, &rows[i], plan);
    plan_database(arena, configuration, plan);
    if (strcmp(configuration->identity.provider, "cognito") == 0)
        sandbox_allow_port(plan, HTTPS_PORT);
    sandbox_allow_port(plan, DNS_PORT);
}

/* ---- the sandbox --------------------------------------------------------------------------------- */

void confinement_plan(struct arena *arena, const struct configuration *configuration, struct sandbox_plan *plan_out)
{
    *plan_out = (struct sandbox_plan){.path_count = 0};
    plan_files(arena, configuration, plan_out);
    plan_ports(arena, configuration, plan_out);
}

/* Behind the walls no file becomes code. What a library loads at its first use, it loads here. */
static void load_libraries(void)
{
    sandbox_load_libraries(NSSWITCH);
    digest_load();
    if (!http_client_load())
        LOG(ERROR, WORKER, "libcurl could not be started");
    database_load_plugins();
}

void confinement_enter(struct arena *arena, const struct configuration *configuration)
{
    if (!configuration->service.sandbox) {
        LOG(WARN, WORKER, "the sandbox is switched off ([service] sandbox)");
        return;
    }
    struct sandbox_plan *plan = arena_alloc(arena, sizeof *plan);
    load_libraries();
    /* Whatever asks for the local time later finds the zone in memory. */
    tzset();
    /* The folder of mails that are only written is made with the first of them; its parent may not be written. */
    if (strcmp(configuration->mail.transport, "file") == 0 && configuration->mail.directory != NULL)
        (void)mkdir(configuration->mail.directory, 0700);
    confinement_plan(arena, configuration, plan);
    struct sandbox_walls walls = sandbox_raise(plan);
    if (walls.problem != NULL)
        LOG(WARN, WORKER, "the sandbox is not whole", LOG_TEXT("missing", walls.problem),
            LOG_TEXT("too", walls.problem2));
    LOG(INFO, WORKER, "the sandbox is up", LOG_INTEGER("landlock", walls.landlock), LOG_BOOLEAN("ports", walls.ports),
        LOG_BOOLEAN("systemCalls", walls.calls));
}
