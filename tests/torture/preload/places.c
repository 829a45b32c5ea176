/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into gatehousectl: notes from which places of the program it calls the system or the database, and lets the
 * call of one place fail.
 *
 * A place is the kind of a call and the return addresses in the program's own code, the innermost first. The same
 * program run in the same way has the same places, so the test picks one of those that the run before has noted.
 *
 * PLACES_CONTROL is a file that the test shares with us: struct control. PLACES_FOLDER is the folder below which calls
 * on files count; all others pass untouched.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <mysql.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "watched.h"

#define FRAMES 40
#define PLACES 4096

/* In the order of KINDS in support_places.py. */
enum kind {
    OPEN,
    FOPEN,
    FDOPEN,
    OPENDIR,
    READDIR,
    READ,
    PREAD,
    GETLINE,
    FGETS,
    FREAD,
    WRITE,
    FWRITE,
    FFLUSH,
    FCLOSE,
    CLOSE,
    FSYNC,
    SYNCFS,
    STAT,
    FCHMOD,
    FCHOWN,
    RENAME,
    LINK,
    UNLINK,
    MKDIR,
    CONNECT,
    QUERY
};

struct place {
    uint32_t kind;
    uint32_t depth;
    uint64_t frames[FRAMES];
};

struct control {
    uint32_t kind; /* of the call that is to fail */
    uint32_t depth;
    uint64_t frames[FRAMES];
    int32_t number; /* with this errno; 0: it moves half of the bytes; of QUERY 0: the connection is lost; below 0: the
                       command gets the signal, and the call is carried out if it goes on */
    uint32_t armed;
    uint32_t fired; /* the call has failed */
    uint32_t count; /* of places that were noted */
    struct place places[PLACES];
};

static struct control *control;
static uintptr_t program_begin, program_end;
static __thread bool inside;

/* The first object is the program itself. */
static int find_program(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    program_begin = info->dlpi_addr;
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            program_end = program_begin + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 1;
}

__attribute__((constructor)) static void start(void)
{
    void *frames[2];
    (void)dl_iterate_phdr(find_program, NULL);
    (void)backtrace(frames, 2); /* it loads a library when it is called first */
    control = watched_start("PLACES_CONTROL", "PLACES_FOLDER", sizeof *control);
}

/* ---- places --------------------------------------------------------------------------------------------- */

static void find_place(enum kind kind, struct place *place)
{
    void *frames[FRAMES + 8];
    int count = backtrace(frames, FRAMES + 8);
    *place = (struct place){.kind = kind};
    for (int i = 0; i < count && place->depth < FRAMES; i++) {
        uintptr_t address = (uintptr_t)frames[i];
        if (address >= program_begin && address < program_end)
            place->frames[place->depth++] = address - program_begin;
    }
}

static void note(const struct place *place)
{
    for (uint32_t i = 0; i < control->count; i++)
        if (memcmp(&control->places[i], place, sizeof *place) == 0)
            return;
    if (control->count < PLACES)
        control->places[control->count++] = *place;
}

/* Whether this call is the one that fails, once. Only calls that the program makes itself count. */
static bool is_due(enum kind kind, bool watched)
{
    struct place place;
    if (control == NULL || !watched || inside)
        return false;
    inside = true;
    find_place(kind, &place);
    inside = false;
    if (place.depth == 0)
        return false;
    note(&place);
    if (control->armed == 0 || control->kind != place.kind || control->depth != place.depth ||
        memcmp(control->frames, place.frames, sizeof place.frames) != 0)
        return false;
    /* A host that cannot be reached stays so. */
    control->armed = kind == CONNECT;
    control->fired = 1;
    if (control->number >= 0)
        return true;
    (void)raise(-control->number);
    return false;
}

static bool fails(enum kind kind, bool watched, bool *half)
{
    if (!is_due(kind, watched))
        return false;
    if (control->number == 0) {
        if (half != NULL)
            *half = true;
        return false;
    }
    errno = control->number;
    return true;
}

/* ---- files ---------------------------------------------------------------------------------------------- */

#define HAS_MODE(flags) (((flags) & O_CREAT) != 0 || ((flags) & O_TMPFILE) == O_TMPFILE)

int open(const char *path, int flags, ...)
{
    int (*call)(const char *, int, ...) = (int (*)(const char *, int, ...))real("open");
    va_list list;
    va_start(list, flags);
    mode_t mode = HAS_MODE(flags) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return fails(OPEN, watched_path(AT_FDCWD, path), NULL) ? -1 : call(path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
    int (*call)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))real("openat");
    va_list list;
    va_start(list, flags);
    mode_t mode = HAS_MODE(flags) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return fails(OPEN, watched_path(directory, path), NULL) ? -1 : call(directory, path, flags, mode);
}

FILE *fopen(const char *path, const char *how)
{
    FILE *(*call)(const char *, const char *) = (FILE * (*)(const char *, const char *)) real("fopen");
    return fails(FOPEN, watched_path(AT_FDCWD, path), NULL) ? NULL : call(path, how);
}

FILE *fdopen(int fd, const char *how)
{
    FILE *(*call)(int, const char *) = (FILE * (*)(int, const char *)) real("fdopen");
    return fails(FDOPEN, watched_fd(fd), NULL) ? NULL : call(fd, how);
}

DIR *opendir(const char *path)
{
    DIR *(*call)(const char *) = (DIR * (*)(const char *)) real("opendir");
    return fails(OPENDIR, watched_path(AT_FDCWD, path), NULL) ? NULL : call(path);
}

DIR *fdopendir(int fd)
{
    DIR *(*call)(int) = (DIR * (*)(int)) real("fdopendir");
    return fails(OPENDIR, watched_fd(fd), NULL) ? NULL : call(fd);
}

struct dirent *readdir(DIR *stream)
{
    struct dirent *(*call)(DIR *) = (struct dirent * (*)(DIR *)) real("readdir");
    return fails(READDIR, watched_fd(dirfd(stream)), NULL) ? NULL : call(stream);
}

#include "watched_reads.h"

/* A stream that has failed says so until it is closed. */
static bool stream_fails(enum kind kind, FILE *stream)
{
    if (!fails(kind, watched_fd(fileno(stream)), NULL))
        return false;
    stream->_flags |= 0x20; /* what ferror() looks at in glibc */
    return true;
}

ssize_t getline(char **text, size_t *capacity, FILE *stream)
{
    ssize_t (*call)(char **, size_t *, FILE *) = (ssize_t(*)(char **, size_t *, FILE *))real("getline");
    return stream_fails(GETLINE, stream) ? -1 : call(text, capacity, stream);
}

char *fgets(char *text, int size, FILE *stream)
{
    char *(*call)(char *, int, FILE *) = (char *(*)(char *, int, FILE *))real("fgets");
    return stream_fails(FGETS, stream) ? NULL : call(text, size, stream);
}

size_t fread(void *bytes, size_t size, size_t count, FILE *stream)
{
    size_t (*call)(void *, size_t, size_t, FILE *) = (size_t (*)(void *, size_t, size_t, FILE *))real("fread");
    return stream_fails(FREAD, stream) ? 0 : call(bytes, size, count, stream);
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    ssize_t (*call)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))real("write");
    bool half = false;
    if (fails(WRITE, watched_fd(fd), &half))
        return -1;
    return call(fd, bytes, half && length > 1 ? length / 2 : length);
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream)
{
    size_t (*call)(const void *, size_t, size_t, FILE *) =
        (size_t (*)(const void *, size_t, size_t, FILE *))real("fwrite");
    return stream_fails(FWRITE, stream) ? 0 : call(bytes, size, count, stream);
}

int fflush(FILE *stream)
{
    int (*call)(FILE *) = (int (*)(FILE *))real("fflush");
    return stream != NULL && stream_fails(FFLUSH, stream) ? EOF : call(stream);
}

int fclose(FILE *stream)
{
    int (*call)(FILE *) = (int (*)(FILE *))real("fclose");
    bool fail = fails(FCLOSE, watched_fd(fileno(stream)), NULL);
    int number = errno;
    int result = call(stream);
    errno = fail ? number : errno;
    return fail ? EOF : result;
}

/* A close() that reports a failure has closed the descriptor all the same. */
int close(int fd)
{
    int (*call)(int) = (int (*)(int))real("close");
    bool fail = fails(CLOSE, watched_fd(fd), NULL);
    int number = errno;
    int result = call(fd);
    errno = fail ? number : errno;
    return fail ? -1 : result;
}

int fsync(int fd)
{
    int (*call)(int) = (int (*)(int))real("fsync");
    return fails(FSYNC, watched_fd(fd), NULL) ? -1 : call(fd);
}

int syncfs(int fd)
{
    int (*call)(int) = (int (*)(int))real("syncfs");
    return fails(SYNCFS, watched_fd(fd), NULL) ? -1 : call(fd);
}

/* ---- names and modes ------------------------------------------------------------------------------------ */

int stat(const char *restrict path, struct stat *restrict status)
{
    int (*call)(const char *, struct stat *) = (int (*)(const char *, struct stat *))real("stat");
    return fails(STAT, watched_path(AT_FDCWD, path), NULL) ? -1 : call(path, status);
}

int lstat(const char *restrict path, struct stat *restrict status)
{
    int (*call)(const char *, struct stat *) = (int (*)(const char *, struct stat *))real("lstat");
    return fails(STAT, watched_path(AT_FDCWD, path), NULL) ? -1 : call(path, status);
}

int fstat(int fd, struct stat *status)
{
    int (*call)(int, struct stat *) = (int (*)(int, struct stat *))real("fstat");
    return fails(STAT, watched_fd(fd), NULL) ? -1 : call(fd, status);
}

int fstatat(int directory, const char *restrict path, struct stat *restrict status, int flags)
{
    int (*call)(int, const char *, struct stat *, int) =
        (int (*)(int, const char *, struct stat *, int))real("fstatat");
    bool fail = fails(STAT, *path != '\0' && watched_path(directory, path), NULL);
    return fail ? -1 : call(directory, path, status, flags);
}

int fchmod(int fd, mode_t mode)
{
    int (*call)(int, mode_t) = (int (*)(int, mode_t))real("fchmod");
    return fails(FCHMOD, watched_fd(fd), NULL) ? -1 : call(fd, mode);
}

int fchown(int fd, uid_t user, gid_t group)
{
    int (*call)(int, uid_t, gid_t) = (int (*)(int, uid_t, gid_t))real("fchown");
    return fails(FCHOWN, watched_fd(fd), NULL) ? -1 : call(fd, user, group);
}

int rename(const char *from, const char *to)
{
    int (*call)(const char *, const char *) = (int (*)(const char *, const char *))real("rename");
    return fails(RENAME, watched_path(AT_FDCWD, to), NULL) ? -1 : call(from, to);
}

int renameat(int from, const char *old, int to, const char *new)
{
    int (*call)(int, const char *, int, const char *) = (int (*)(int, const char *, int, const char *))real("renameat");
    return fails(RENAME, watched_path(to, new), NULL) ? -1 : call(from, old, to, new);
}

int link(const char *from, const char *to)
{
    int (*call)(const char *, const char *) = (int (*)(const char *, const char *))real("link");
    return fails(LINK, watched_path(AT_FDCWD, to), NULL) ? -1 : call(from, to);
}

int linkat(int from, const char *source, int to, const char *target, int flags)
{
    int (*call)(int, const char *, int, const char *, int) =
        (int (*)(int, const char *, int, const char *, int))real("linkat");
    return fails(LINK, watched_path(to, target), NULL) ? -1 : call(from, source, to, target, flags);
}

int unlink(const char *path)
{
    int (*call)(const char *) = (int (*)(const char *))real("unlink");
    return fails(UNLINK, watched_path(AT_FDCWD, path), NULL) ? -1 : call(path);
}

int unlinkat(int directory, const char *path, int flags)
{
    int (*call)(int, const char *, int) = (int (*)(int, const char *, int))real("unlinkat");
    return fails(UNLINK, watched_path(directory, path), NULL) ? -1 : call(directory, path, flags);
}

int mkdir(const char *path, mode_t mode)
{
    int (*call)(const char *, mode_t) = (int (*)(const char *, mode_t))real("mkdir");
    return fails(MKDIR, watched_path(AT_FDCWD, path), NULL) ? -1 : call(path, mode);
}

int mkdirat(int directory, const char *path, mode_t mode)
{
    int (*call)(int, const char *, mode_t) = (int (*)(int, const char *, mode_t))real("mkdirat");
    return fails(MKDIR, watched_path(directory, path), NULL) ? -1 : call(directory, path, mode);
}

/* ---- the database --------------------------------------------------------------------------------------- */

MYSQL *mysql_real_connect(MYSQL *mysql, const char *host, const char *user, const char *password, const char *name,
                          unsigned port, const char *socket, unsigned long flags)
{
    MYSQL *(*call)(MYSQL *, const char *, const char *, const char *, const char *, unsigned, const char *,
                   unsigned long) = (MYSQL * (*)(MYSQL *, const char *, const char *, const char *, const char *,
                                                 unsigned, const char *, unsigned long)) real("mysql_real_connect");
    bool fail = is_due(CONNECT, true);
    return call(mysql, fail ? NULL : host, user, password, name, port, fail ? "/nonexistent/socket" : socket, flags);
}

/* Of a statement that is due: whether it is refused; otherwise the connection is lost, on which it then is sent. */
static bool is_refused(MYSQL *mysql)
{
    if (control->number == 0)
        (void)shutdown(mysql_get_socket(mysql), SHUT_RDWR);
    return control->number != 0;
}

int mysql_real_query(MYSQL *mysql, const char *text, unsigned long length)
{
    static const char refusal[] = "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1105, MESSAGE_TEXT = 'Unknown error'";
    int (*call)(MYSQL *, const char *, unsigned long) =
        (int (*)(MYSQL *, const char *, unsigned long))real("mysql_real_query");
    if (is_due(QUERY, true) && is_refused(mysql))
        return call(mysql, refusal, sizeof refusal - 1);
    return call(mysql, text, length);
}

int mysql_stmt_execute(MYSQL_STMT *statement)
{
    int (*call)(MYSQL_STMT *) = (int (*)(MYSQL_STMT *))real("mysql_stmt_execute");
    if (!is_due(QUERY, true) || !is_refused(statement->mysql))
        return call(statement);
    statement->last_errno = 1105;
    (void)snprintf(statement->last_error, sizeof statement->last_error, "Unknown error");
    (void)snprintf(statement->sqlstate, sizeof statement->sqlstate, "HY000");
    return 1;
}
