/* SPDX-License-Identifier: MIT */
/*
 * Finds, makes and maps the file of the host's shared memory.
 *
 * A new file is made complete before it has a name (O_TMPFILE), then linked to its path, so no process can map half a
 * file. link() never replaces: of several processes that make the file, one wins, and the others map its file. A file
 * with another layout is unlinked under a lock on that same file; then everybody starts over. All blocks are allocated
 * at once: a full disk is an error here, and not a SIGBUS at a later addition.
 */
#include "base/host/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/host_memory_int.h"
#include "base/metrics_int.h"

#define MAGIC "ghmetric"
#define FIND_TRIES 16
#define LOCK_TRIES 100
#define LOCK_PAUSE_NANOSECONDS 10000000

/* In use while there is no file. */
static struct host_memory private_memory;

static struct host_memory_file used = {.fd = -1};

static void memory_init(struct host_memory *memory)
{
    memory->layout = metrics_layout();
    memory->size = sizeof *memory;
    memory->created = clock_now();
    (void)snprintf(memory->operations[0].name, sizeof memory->operations[0].name, "other");
    atomic_store(&memory->operation_count, 1);
    memcpy(memory->magic, MAGIC, sizeof memory->magic);
}

struct host_memory *host_memory(void)
{
    if (used.memory == NULL) {
        memory_init(&private_memory);
        used.memory = &private_memory;
    }
    return used.memory;
}

bool host_memory_is_shared(void)
{
    return used.fd >= 0;
}

/* ---- locks ----------------------------------------------------------------------------------------- */

static bool lock_file(int fd)
{
    for (int try = 0; try < LOCK_TRIES; try++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NANOSECONDS};
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

bool host_memory_lock(void)
{
    return !host_memory_is_shared() || lock_file(used.fd);
}

void host_memory_unlock(void)
{
    if (host_memory_is_shared())
        (void)flock(used.fd, LOCK_UN);
}

static bool control_lock(size_t index, int command, struct flock *lock)
{
    *lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)index, .l_len = 1};
    return fcntl(used.fd, command, lock) == 0;
}

bool host_memory_lock_byte(size_t index)
{
    struct flock lock;
    return control_lock(index, F_OFD_SETLK, &lock);
}

bool host_memory_byte_is_free(size_t index)
{
    struct flock lock;
    return control_lock(index, F_OFD_GETLK, &lock) && lock.l_type == F_UNLCK;
}

/* ---- the file -------------------------------------------------------------------------------------- */

static struct host_memory *map(int fd)
{
    void *memory = mmap(NULL, sizeof(struct host_memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/*
 * Whether the file has this program's layout, and only its owner may read it. *memory_out is NULL for a file that has
 * not, and where it cannot be mapped: that says nothing of the file.
 */
static bool map_valid(int fd, const struct stat *status, struct host_memory **memory_out)
{
    *memory_out = NULL;
    if (status->st_size != (off_t)sizeof(struct host_memory) || (status->st_mode & 07777) != 0600)
        return false;
    struct host_memory *memory = map(fd);
    if (memory == NULL || (memcmp(memory->magic, MAGIC, sizeof memory->magic) == 0 &&
                           memory->layout == metrics_layout() && memory->size == sizeof *memory)) {
        *memory_out = memory;
        return true;
    }
    (void)munmap(memory, sizeof *memory);
    return false;
}

/* Links a new file to the path. True as well when another process has linked one first. */
static bool make_file(const char *path)
{
    char directory[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    if (length == 0 || length >= sizeof directory)
        return false;
    memcpy(directory, path, length);
    directory[length] = '\0';
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool made = fchmod(fd, 0600) == 0 && posix_fallocate(fd, 0, sizeof(struct host_memory)) == 0;
    struct host_memory *memory = made ? map(fd) : NULL;
    if (memory != NULL) {
        char name[sizeof "/proc/self/fd/" + 3 * sizeof(int)];
        memory_init(memory);
        (void)munmap(memory, sizeof *memory);
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        made = linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST;
    }
    (void)close(fd);
    return made && memory != NULL;
}

/* Unlinks the open file, unless another file has taken its path. */
static bool remove_file(const char *path, int fd, const struct stat *status)
{
    struct stat now;
    if (!lock_file(fd))
        return false;
    if (lstat(path, &now) != 0)
        return errno == ENOENT;
    return now.st_dev != status->st_dev || now.st_ino != status->st_ino || unlink(path) == 0;
}

enum found { FOUND_NOTHING, FOUND_FILE, FOUND_REMOVED, FOUND_WRONG };

/* Looks at the path once. FOUND_FILE fills *file_out; FOUND_REMOVED: there was a file of another layout. */
static enum found find_file(const char *path, struct host_memory_file *file_out)
{
    struct stat status;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? FOUND_NOTHING : FOUND_WRONG;
    enum found found = FOUND_WRONG;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_nlink <= 1) {
        struct host_memory *memory;
        bool valid = map_valid(fd, &status, &memory);
        if (memory != NULL) {
            *file_out =
                (struct host_memory_file){.memory = memory, .fd = fd, .device = status.st_dev, .inode = status.st_ino};
            return FOUND_FILE;
        }
        found = !valid && remove_file(path, fd, &status) ? FOUND_REMOVED : FOUND_WRONG;
    }
    (void)close(fd);
    return found;
}

bool host_memory_find(const char *path, struct host_memory_file *file_out, const char **problem_out)
{
    if (!folder_is_safe(path)) {
        *problem_out = "root leaves the workers' file of metrics alone; this process counts for itself";
        return false;
    }
    for (int try = 0; try < FIND_TRIES; try++) {
        enum found found = find_file(path, file_out);
        if (found == FOUND_FILE)
            return true;
        if (found == FOUND_NOTHING && !make_file(path)) {
            *problem_out = "the file of metrics cannot be made; this process counts for itself";
            return false;
        }
        if (found == FOUND_WRONG) {
            *problem_out = "the path of the file of metrics leads to something else; this process counts for itself";
            return false;
        }
    }
    *problem_out = "the file of metrics is replaced again and again; this process counts for itself";
    return false;
}

/* ---- the memory in use ------------------------------------------------------------------------------ */

void host_memory_close(void)
{
    if (used.fd < 0)
        return;
    (void)munmap(used.memory, sizeof *used.memory);
    (void)close(used.fd);
    used = (struct host_memory_file){.fd = -1};
}

void host_memory_use(const struct host_memory_file *file)
{
    host_memory_close();
    used = *file;
}

bool host_memory_is_file(const char *path)
{
    struct stat status;
    return used.fd >= 0 && lstat(path, &status) == 0 && status.st_dev == used.device && status.st_ino == used.inode;
}
