/* SPDX-License-Identifier: MIT */
/* Inspects files, folders, mail, clock and environment, and describes what is wrong for the operator. */
#include "service/system/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/network.h"
#include "base/sandbox/sandbox.h"
#include "base/text.h"
#include "domain/moment.h"
#include "identity/provider.h"
#include "service/access/signed_link.h"
#include "service/runtime/service.h"
#include "store/mail/mail.h"

/* Between text and its ground, as WCAG 2.2 asks for at level AA. */
static const double CONTRAST_MIN = 4.5;

/* Adds a finding: the first one is the message, the others are entries. */
static void add(struct arena *arena, struct error **error, const char *what, const char *sentence)
{
    if (*error == NULL)
        *error = error_message(error_plain(arena, ERROR_INTERNAL), "%s", sentence);
    else
        (void)error_entry(*error, what, "found", sentence);
}

static struct error *finding(struct arena *arena, const char *sentence)
{
    struct error *error = NULL;
    add(arena, &error, "", sentence);
    return error;
}

/* ---- settings ------------------------------------------------------------------------------------ */

struct error *inspect_environment(struct arena *arena, bool resembling)
{
    size_t count;
    struct error *error = NULL;
    const struct configuration_stray *strays = configuration_strays(arena, &count);
    for (size_t i = 0; i < count; i++) {
        const struct configuration_stray *stray = &strays[i];
        if (resembling && stray->resembles != NULL)
            add(arena, &error, stray->variable,
                arena_format(arena, "The variable %s is no setting; is %s meant?", stray->variable, stray->resembles));
        if (!resembling && stray->resembles == NULL)
            add(arena, &error, stray->variable,
                arena_format(arena, "The variable %s is no setting and does nothing.", stray->variable));
    }
    return error;
}

static bool is_clear(struct arena *arena, const char *url)
{
    if (strncmp(url, "http://", 7) != 0)
        return false;
    const char *host = url + 7;
    size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
    return !network_is_loopback(arena_copy(arena, host, length));
}

struct error *inspect_addresses(struct arena *arena, const struct configuration *configuration)
{
    struct error *error = NULL;
    const struct {
        const char *name;
        const char *url;
    } urls[] = {{"base_url", configuration->service.base_url}, {"web_url", configuration->service.web_url}};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        if (is_clear(arena, urls[i].url))
            add(arena, &error, urls[i].name,
                arena_format(arena, "%s in [service] is http: passwords and tokens cross the network in the clear.",
                             urls[i].name));
    return error;
}

/* Newton's steps; for values from 0.001 to 1. */
static double fifth_root(double value)
{
    double root = 1;
    for (int i = 0; i < 40; i++)
        root -= (root - value / (root * root * root * root)) / 5;
    return root;
}

/* A channel of sRGB, 0 to 255, as light. x to the power of 2.4 is x * x times the fifth root of x * x. */
static double light_of(unsigned long channel)
{
    double part = (double)channel / 255;
    double base = (part + 0.055) / 1.055;
    return part <= 0.04045 ? part / 12.92 : base * base * fifth_root(base * base);
}

/* As WCAG 2 defines it, from 1 to 21. */
static double contrast_on_white(const char *colour)
{
    unsigned long rgb = strtoul(colour + 1, NULL, 16);
    double luminance = 0.2126 * light_of(rgb >> 16) + 0.7152 * light_of(rgb >> 8 & 255) + 0.0722 * light_of(rgb & 255);
    return 1.05 / (luminance + 0.05);
}

struct error *inspect_accent(struct arena *arena, const struct configuration *configuration)
{
    const char *accent = configuration->branding.accent;
    double contrast = contrast_on_white(accent);
    if (contrast >= CONTRAST_MIN)
        return NULL;
    const char *sentence = arena_format(
        arena, "accent in [branding] is %s, and few can read it on white: its contrast is %.2f:1 and not %.1f:1.",
        accent, contrast, CONTRAST_MIN);
    return finding(arena, sentence);
}

struct error *inspect_testing(struct arena *arena, const struct configuration *configuration)
{
    struct error *error = NULL;
    size_t count;
    const struct configuration_row *rows = configuration_rows(&count);
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        if (strcmp(rows[i].section, "testing") != 0)
            continue;
        memcpy(&value, (const char *)configuration + rows[i].offset, sizeof value);
        if (value != strtoll(rows[i].fallback, NULL, 10))
            add(arena, &error, rows[i].name,
                arena_format(arena, "%s in [testing] is %lld and not %s: it is for the tests of Gatehouse.",
                             rows[i].name, (long long)value, rows[i].fallback));
    }
    return error;
}

struct error *inspect_sandbox(struct arena *arena, const struct configuration *configuration)
{
    struct error *error = NULL;
    if (!configuration->service.sandbox)
        return finding(
            arena, "sandbox in [service] is false: whoever finds a fault in a worker may do all that its user may.");
    const struct sandbox_walls walls = sandbox_offered();
    const char *const problems[] = {walls.problem, walls.problem2};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        if (problems[i] != NULL)
            add(arena, &error, "sandbox", arena_format(arena, "The sandbox is not whole: %s.", problems[i]));
    return error;
}

struct error *inspect_users(struct arena *arena, const struct configuration *configuration)
{
    struct error *error = NULL;
    const struct text_list *names = &configuration->service.web_server_user;
    for (size_t i = 0; i < names->count; i++)
        if (getpwnam(names->items[i]) == NULL)
            add(arena, &error, names->items[i],
                arena_format(arena, "web_server_user in [service] names %s, and there is no such user.",
                             names->items[i]));
    return error;
}

/* ---- files and folders --------------------------------------------------------------------------- */

/* Whether this process is in the group. Root checks a service of another user, whose groups it does not know. */
static bool is_own_group(gid_t group)
{
    gid_t groups[64];
    if (geteuid() == 0 || group == getegid() || group == 0)
        return true;
    int count = getgroups((int)(sizeof groups / sizeof *groups), groups);
    for (int i = 0; i < count; i++)
        if (groups[i] == group)
            return true;
    return false;
}

/* A sentence that says who else may read or change the file; NULL: nobody. */
static const char *too_open(struct arena *arena, const char *path, const struct stat *status)
{
    if (!S_ISREG(status->st_mode))
        return arena_format(arena, "%s is not a file.", path);
    if ((status->st_mode & (S_IROTH | S_IWOTH)) != 0)
        return arena_format(arena, "Everybody on this machine may read or change %s (mode %04o).", path,
                            status->st_mode & 07777u);
    if ((status->st_mode & S_IWGRP) != 0)
        return arena_format(arena, "A whole group may change %s (mode %04o).", path, status->st_mode & 07777u);
    if ((status->st_mode & S_IRGRP) != 0 && !is_own_group(status->st_gid))
        return arena_format(arena, "Another group than the service's may read %s (mode %04o, group %u).", path,
                            status->st_mode & 07777u, (unsigned)status->st_gid);
    if (geteuid() != 0 && status->st_uid != 0 && status->st_uid != geteuid())
        return arena_format(arena, "%s belongs to another user than the service's (%u).", path,
                            (unsigned)status->st_uid);
    return NULL;
}

static const char *inspect_secret(struct arena *arena, const struct configuration_row *row, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return arena_format(arena, "%s of [%s], %s, cannot be read: %s.", row->name, row->section, path,
                            strerror(errno));
    const char *open = too_open(arena, path, &status);
    if (open != NULL)
        return open;
    /*
     * The administrator's password is for `migrate`, which another user runs. faccessat() with AT_EACCESS counts the
     * capabilities of a process that is not root; access() would not.
     */
    if (strncmp(row->name, "admin_password", 14) != 0 && faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0)
        return arena_format(arena, "%s of [%s], %s, cannot be read: %s.", row->name, row->section, path,
                            strerror(errno));
    return NULL;
}

static bool holds_secret(const struct configuration_row *row)
{
    size_t length = strlen(row->name);
    return row->type == CONFIGURATION_PATH && length > 5 && strcmp(row->name + length - 5, "_file") == 0 &&
           strstr(row->name, "ca_file") == NULL;
}

struct error *inspect_secret_files(struct arena *arena, const struct configuration *configuration)
{
    size_t count;
    struct error *error = NULL;
    const struct configuration_row *rows = configuration_rows(&count);
    for (size_t i = 0; i < count; i++) {
        if (!holds_secret(&rows[i]))
            continue;
        const char *path = *(const char *const *)(const void *)((const char *)configuration + rows[i].offset);
        if (path == NULL)
            continue;
        const char *sentence = inspect_secret(arena, &rows[i], path);
        if (sentence != NULL)
            add(arena, &error, path, sentence);
    }
    return error;
}

/* A sentence that says why the file cannot be made or written; NULL: it can. */
static const char *unwritable(struct arena *arena, const char *setting, const char *path)
{
    const char *folder = folder_of(arena, path);
    struct stat status;
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return arena_format(arena, "The folder %s of %s is missing.", folder, setting);
    /* A symbolic link is not followed when the file is opened. */
    if (lstat(path, &status) == 0)
        return S_ISREG(status.st_mode) && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
                   ? NULL
                   : arena_format(arena, "%s of %s cannot be written: %s.", path, setting,
                                  S_ISREG(status.st_mode) ? strerror(errno) : "it is not a file");
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
        return arena_format(arena, "The folder %s of %s takes no file: %s.", folder, setting, strerror(errno));
    return NULL;
}

struct error *inspect_log(struct arena *arena, const struct configuration *configuration)
{
    if (strcmp(configuration->log.destination, "file") != 0)
        return NULL;
    const char *path = configuration->log.file;
    struct stat status;
    const char *problem = lstat(path, &status) == 0 ? log_file_problem(&status) : NULL;
    if (problem != NULL)
        return finding(arena, arena_format(arena, "%s of [log] file %s.", path, problem));
    const char *sentence = unwritable(arena, "[log] file", path);
    if (sentence == NULL)
        return NULL;
    return finding(arena,
                   arena_format(arena, "%s Make the folder, and give it and the log to the workers' user.", sentence));
}

/*
 * The name of the network file system that the folder is on; NULL: none. Locks and shared memory work between processes
 * of one machine only.
 */
static const char *of_network(const char *folder)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } kinds[] = {{NFS_SUPER_MAGIC, "NFS"},   {SMB_SUPER_MAGIC, "SMB"}, {0xff534d42, "CIFS"},      {0xfe534d42, "SMB"},
                 {CEPH_SUPER_MAGIC, "Ceph"}, {AFS_SUPER_MAGIC, "AFS"}, {V9FS_MAGIC, "9P"},        {0x65735546, "FUSE"},
                 {0x7461636f, "OCFS2"},      {0x01161970, "GFS2"},     {CODA_SUPER_MAGIC, "Coda"}};
    struct statfs status;
    if (statfs(folder, &status) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((unsigned long)status.f_type == kinds[i].magic)
            return kinds[i].name;
    return NULL;
}

static struct error *inspect_shared(struct arena *arena, const char *setting, const char *path)
{
    const char *sentence = unwritable(arena, setting, path);
    if (sentence != NULL)
        return finding(arena, sentence);
    const char *kind = of_network(folder_of(arena, path));
    if (kind == NULL)
        return NULL;
    return finding(arena, arena_format(arena, "%s of %s is on %s: it must be on a file system of this machine.", path,
                                       setting, kind));
}

struct error *inspect_cache(struct arena *arena, const struct configuration *configuration)
{
    return configuration->cache.size_mib == 0 ? NULL : inspect_shared(arena, "[cache] file", configuration->cache.file);
}

struct error *inspect_metrics(struct arena *arena, const struct configuration *configuration)
{
    return inspect_shared(arena, "[metrics] file", configuration->metrics.file);
}

/* Adds a finding where the folder belongs to another user than `owner`. */
static void check_owner(struct arena *arena, struct error **error, const char *path, const struct stat *status,
                        uid_t owner)
{
    if (status->st_uid != owner)
        add(arena, error, path,
            arena_format(arena, "%s belongs to user %u and not to the user who writes files there, %u.", path,
                         (unsigned)status->st_uid, (unsigned)owner));
}

static bool in_directory(const struct configuration *configuration)
{
    return strcmp(configuration->files.store, "directory") == 0;
}

struct error *inspect_files_owner(struct arena *arena, const struct configuration *configuration)
{
    const char *path = configuration->files.directory;
    struct error *error = NULL;
    struct stat status;
    if (!in_directory(configuration))
        return NULL;
    if (stat(path, &status) != 0)
        return finding(arena, arena_format(arena, "The folder %s of [files] directory cannot be looked at: %s.", path,
                                           strerror(errno)));
    if (geteuid() != 0)
        check_owner(arena, &error, path, &status, geteuid());
    if (faccessat(AT_FDCWD, path, R_OK | W_OK | X_OK, AT_EACCESS) != 0)
        add(arena, &error, path,
            arena_format(arena, "The folder %s of [files] directory takes no file: %s.", path, strerror(errno)));
    /* The folders in it, which somebody else may have made: root, when files were put back by hand. */
    for (unsigned shard = 0; shard < 256; shard++) {
        struct stat inner;
        const char *name = arena_format(arena, "%s/%02x", path, shard);
        if (lstat(name, &inner) == 0)
            check_owner(arena, &error, name, &inner, status.st_uid);
    }
    return error;
}

struct error *inspect_files_mode(struct arena *arena, const struct configuration *configuration)
{
    const char *path = configuration->files.directory;
    struct stat status;
    if (!in_directory(configuration) || stat(path, &status) != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return NULL;
    return finding(arena, arena_format(arena, "%s may put files into %s of [files] directory (mode %04o).",
                                       (status.st_mode & S_IWOTH) != 0 ? "Everybody on this machine" : "A whole group",
                                       path, status.st_mode & 07777u));
}

struct error *inspect_bodies(struct arena *arena, const struct configuration *configuration)
{
    const char *path = configuration->files.body_directory;
    struct stat status;
    const char *reason = NULL;
    if (path == NULL)
        return NULL;
    if (stat(path, &status) != 0)
        reason = strerror(errno);
    else if (!S_ISDIR(status.st_mode))
        reason = "it is not a folder";
    else if (access(path, X_OK) != 0)
        reason = strerror(errno);
    if (reason == NULL)
        return NULL;
    return finding(arena, arena_format(arena, "body_directory of [files], %s, cannot be used: %s.", path, reason));
}

/* ---- mail ---------------------------------------------------------------------------------------- */

struct error *inspect_mail_sender(struct arena *arena, const struct configuration *configuration)
{
    if (mail_sender_valid(arena, configuration->mail.from))
        return NULL;
    return finding(arena, arena_format(arena, "from in [mail] is neither an address nor \"Name <address>\": %s",
                                       configuration->mail.from));
}

struct error *inspect_mail_way(struct arena *arena, const struct configuration *configuration, unsigned seconds)
{
    struct mail_transport *transport;
    const char *reason;
    bool by_file = strcmp(configuration->mail.transport, "file") == 0;
    TRY(mail_transport_load(arena, configuration, &transport));
    if (mail_probe(transport, arena, seconds, &reason))
        return NULL;
    return finding(arena, arena_format(arena, "No mail can leave by %s: %s.",
                                       by_file ? configuration->mail.directory : configuration->mail.smtp_url, reason));
}

/* ---- with the database --------------------------------------------------------------------------- */

struct error *inspect_sealed(struct service *service, struct arena *arena)
{
    struct error *error = provider_check_sealed(service->provider, arena);
    if (error == NULL)
        error = signed_link_keys_open(service, arena);
    if (error == NULL || error->code == ERROR_DATABASE_UNAVAILABLE)
        return error;
    return error_message(error, "What is sealed in the database does not open with %s.",
                         service->configuration->service.secret_file);
}

struct error *inspect_clock(struct service *service, struct arena *arena, int64_t *ahead_out)
{
    int64_t theirs;
    int64_t before = clock_now();
    TRY(moment_now(service->database, arena, &theirs));
    /* The database read its clock somewhere between the two. */
    int64_t after = clock_now();
    *ahead_out = theirs < before ? before - theirs : theirs > after ? after - theirs : 0;
    return NULL;
}
