/* SPDX-License-Identifier: MIT */
/*
 * The shared file: made whole under no name (O_TMPFILE), then linked to its path, so that nobody maps a half-made one;
 * link() refuses to replace, so of several makers one wins and the others map what it made. A file that is not of this
 * layout is unlinked under a lock on that very file; everybody then starts over. Its blocks are allocated at once: a full
 * disk must fail here, not as a SIGBUS at some later addition.
 */
#include "base/metrics.h"

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
#include "base/metrics_int.h"

#define MAGIC "ghmetric"
#define OPEN_TRIES 16
#define LOCK_TRIES 100
#define LOCK_PAUSE_NANOSECONDS 10000000
#define FOLLOW_MICROSECONDS 10000000
#define NO_SLOT (-1)

const int64_t metrics_bounds[METRICS_BUCKETS] = {500,    1000,   2500,   5000,    10000,   25000,   50000,
                                                 100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000};
const int metrics_statuses[METRICS_STATUSES - 1] = {200, 204, 206, 304, 400, 401, 403, 404, 405,
                                                    409, 412, 413, 415, 416, 429, 500, 503};

/* Counted into when there is no file. */
static struct metrics_area private_area;

static struct {
    struct metrics_area *area;
    const char *path;
    int fd; /* of the mapped file, -1 without one */
    dev_t device;
    ino_t inode;
    int64_t followed;
    int slot;
    enum metrics_role role;
    const char *pool;
    const char *names[LIMIT_METRICS_OPERATIONS]; /* what this process calls its operations, by their numbers */
    unsigned rows[LIMIT_METRICS_OPERATIONS];     /* and their rows in the area */
    unsigned name_count;
} state = {.fd = -1, .slot = NO_SLOT, .name_count = 1};

/* ---- layout --------------------------------------------------------------------------------------- */

static uint64_t digest(uint64_t value, const void *bytes, size_t length)
{
    /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        value = (value ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
    return value;
}

/* Differs when a number would come to stand where another one stood. */
static uint64_t layout(void)
{
    static const char words[] =
#define METRIC(symbol, type, name, labels, unit, help) name "{" labels "}" #unit ";"
#define METRIC_HISTOGRAM(symbol, name, help) name ";"
#include "base/metrics.def"
#undef METRIC
#undef METRIC_HISTOGRAM
        ;
    uint64_t value = digest(UINT64_C(14695981039346656037), words, sizeof words);
    value = digest(value, metrics_bounds, sizeof metrics_bounds);
    return digest(value, metrics_statuses, sizeof metrics_statuses);
}

static void area_init(struct metrics_area *area)
{
    area->layout = layout();
    area->size = sizeof *area;
    area->created = clock_now();
    (void)snprintf(area->operations[0].name, sizeof area->operations[0].name, "other");
    atomic_store(&area->operation_count, 1);
    memcpy(area->magic, MAGIC, sizeof area->magic);
}

struct metrics_area *metrics_area(void)
{
    if (state.area == NULL) {
        area_init(&private_area);
        state.area = &private_area;
    }
    return state.area;
}

bool metrics_are_shared(void)
{
    return state.fd >= 0;
}

/* ---- the file ------------------------------------------------------------------------------------- */

/* Waits a second at most: what holds it longer than moments is not one of ours in good order. */
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

static struct metrics_area *map(int fd)
{
    void *area = mmap(NULL, sizeof(struct metrics_area), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return area == MAP_FAILED ? NULL : area;
}

/* The area of a file that is of this layout and nobody else's, else NULL. */
static struct metrics_area *map_valid(int fd, const struct stat *status)
{
    if (status->st_size != (off_t)sizeof(struct metrics_area) || (status->st_mode & 07777) != 0600)
        return NULL;
    struct metrics_area *area = map(fd);
    if (area == NULL)
        return NULL;
    if (memcmp(area->magic, MAGIC, sizeof area->magic) == 0 && area->layout == layout() && area->size == sizeof *area)
        return area;
    (void)munmap(area, sizeof *area);
    return NULL;
}

/* Links a new file to the path; that somebody else was faster is fine. */
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
    bool made = fchmod(fd, 0600) == 0 && posix_fallocate(fd, 0, sizeof(struct metrics_area)) == 0;
    struct metrics_area *area = made ? map(fd) : NULL;
    if (area != NULL) {
        char name[sizeof "/proc/self/fd/" + 3 * sizeof(int)];
        area_init(area);
        (void)munmap(area, sizeof *area);
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        made = linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST;
    }
    (void)close(fd);
    return made && area != NULL;
}

/* Unlinks the file that `fd` is, unless the path has become another one meanwhile. */
static bool remove_file(const char *path, int fd, const struct stat *status)
{
    struct stat now;
    if (!lock_file(fd))
        return false;
    if (lstat(path, &now) != 0)
        return errno == ENOENT;
    return now.st_dev != status->st_dev || now.st_ino != status->st_ino || unlink(path) == 0;
}

enum found { FOUND_NOTHING, FOUND_FILE, FOUND_OTHER, FOUND_WRONG };

/* What is at the path; FOUND_FILE maps it and leaves *fd_out open. */
static enum found find_file(const char *path, struct metrics_area **area_out, int *fd_out, struct stat *status_out)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? FOUND_NOTHING : FOUND_WRONG;
    enum found found = FOUND_WRONG;
    if (fstat(fd, status_out) == 0 && S_ISREG(status_out->st_mode) && status_out->st_uid == geteuid() &&
        status_out->st_nlink <= 1) {
        *area_out = map_valid(fd, status_out);
        if (*area_out != NULL) {
            *fd_out = fd;
            return FOUND_FILE;
        }
        found = remove_file(path, fd, status_out) ? FOUND_OTHER : FOUND_WRONG;
    }
    (void)close(fd);
    return found;
}

static struct metrics_area *open_file(const char *path, int *fd_out, struct stat *status_out, const char **problem_out)
{
    struct metrics_area *area = NULL;
    for (int try = 0; try < OPEN_TRIES; try++) {
        switch (find_file(path, &area, fd_out, status_out)) {
        case FOUND_FILE:
            return area;
        case FOUND_NOTHING:
            if (!make_file(path)) {
                *problem_out = "the file of metrics cannot be made; this process counts for itself";
                return NULL;
            }
            break;
        case FOUND_OTHER:
            break;
        case FOUND_WRONG:
            *problem_out = "the file of metrics is not a file of ours; this process counts for itself";
            return NULL;
        }
    }
    *problem_out = "the file of metrics does not stay; this process counts for itself";
    return NULL;
}

/* A child's copy of the slot is its parent's still. */
static void leave(void)
{
    uint32_t own = (uint32_t)getpid();
    if (state.slot != NO_SLOT)
        (void)atomic_compare_exchange_strong(&metrics_area()->slots[state.slot].pid, &own, 0);
    state.slot = NO_SLOT;
}

static void let_go(void)
{
    if (state.fd < 0)
        return;
    (void)munmap(state.area, sizeof *state.area);
    (void)close(state.fd);
    state.fd = -1;
    state.area = NULL;
}

bool metrics_open(const char *path, const char **problem_out)
{
    struct stat status;
    int fd = -1;
    struct metrics_area *area = NULL;
    if (folder_is_safe(path))
        area = open_file(path, &fd, &status, problem_out);
    else
        *problem_out = "root leaves the workers' file of metrics alone; this process counts for itself";
    state.path = path;
    if (area == NULL)
        return false;
    leave();
    let_go();
    state.area = area;
    state.fd = fd;
    state.device = status.st_dev;
    state.inode = status.st_ino;
    return true;
}

/* ---- slots ---------------------------------------------------------------------------------------- */

/*
 * The lock of a slot is on one byte of the file and belongs to the open file, not to the process as fcntl's older locks
 * do, which would go with the first descriptor closed. Returns whether it could be taken, or (`ask`) whether it could be.
 */
static bool slot_lock(size_t slot, bool ask)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)slot, .l_len = 1};
    if (fcntl(state.fd, ask ? F_OFD_GETLK : F_OFD_SETLK, &lock) != 0)
        return false;
    return !ask || lock.l_type == F_UNLCK;
}

/* Whoever takes the dead process's number out counts the death, so that it is counted once. */
static void bury(struct metrics_slot *slot, uint32_t pid)
{
    if (pid != 0 && atomic_compare_exchange_strong(&slot->pid, &pid, 0))
        metrics_add(METRIC_PROCESS_DEATHS, 1);
}

bool metrics_slot_lives(size_t index)
{
    struct metrics_slot *slot = &metrics_area()->slots[index];
    uint32_t pid = atomic_load(&slot->pid);
    if (pid == 0)
        return false;
    if ((int)index == state.slot || !metrics_are_shared() || !slot_lock(index, true))
        return true;
    bury(slot, pid);
    return false;
}

static void take_slot(int index)
{
    struct metrics_slot *slot = &metrics_area()->slots[index];
    bury(slot, atomic_load(&slot->pid));
    state.slot = index;
    slot->role = (uint32_t)state.role;
    slot->started = clock_now();
    (void)snprintf(slot->pool, sizeof slot->pool, "%s", state.pool);
    atomic_store(&slot->busy, 0);
    atomic_store(&slot->pid, (uint32_t)getpid());
}

static void join(void)
{
    state.slot = NO_SLOT;
    for (int i = 0; i < LIMIT_METRICS_PROCESSES && state.slot == NO_SLOT; i++)
        if (!metrics_are_shared() || slot_lock((size_t)i, false))
            take_slot(i);
}

void metrics_join(enum metrics_role role, const char *pool)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    bool good = pool != NULL && *pool != '\0' && pool[strspn(pool, allowed)] == '\0' &&
                strlen(pool) < sizeof(((struct metrics_slot *)NULL)->pool);
    state.role = role;
    state.pool = good ? pool : "worker";
    join();
    metrics_add(METRIC_PROCESS_STARTS, 1);
}

bool metrics_in_pool(const char *pool)
{
    return state.slot != NO_SLOT && state.role == METRICS_WORKER && strcmp(state.pool, pool) == 0;
}

unsigned metrics_pool_workers(void)
{
    unsigned count = 0;
    if (!metrics_are_shared() || state.slot == NO_SLOT || state.role != METRICS_WORKER)
        return 0;
    for (size_t i = 0; i < LIMIT_METRICS_PROCESSES; i++) {
        const struct metrics_slot *slot = &metrics_area()->slots[i];
        count += atomic_load(&slot->pid) != 0 && slot->role == METRICS_WORKER &&
                 strncmp(slot->pool, state.pool, sizeof slot->pool) == 0 && metrics_slot_lives(i);
    }
    return count;
}

void metrics_close(void)
{
    leave();
    let_go();
    state.path = NULL;
    state.pool = NULL;
    state.name_count = 1;
}

/* ---- operations ----------------------------------------------------------------------------------- */

/* The row of a name, made under the file's lock; a maker who dies before the count is raised leaves nothing. */
static unsigned find_row(const char *name)
{
    struct metrics_area *area = metrics_area();
    if (metrics_are_shared() && !lock_file(state.fd))
        return 0;
    unsigned count = atomic_load(&area->operation_count);
    count = count > LIMIT_METRICS_OPERATIONS ? LIMIT_METRICS_OPERATIONS : count;
    unsigned row = 0;
    while (row < count && strncmp(area->operations[row].name, name, METRICS_NAME_BYTES) != 0)
        row++;
    if (row == count && count < LIMIT_METRICS_OPERATIONS) {
        (void)snprintf(area->operations[row].name, METRICS_NAME_BYTES, "%s", name);
        atomic_store(&area->operation_count, count + 1);
    }
    if (metrics_are_shared())
        (void)flock(state.fd, LOCK_UN);
    return row < LIMIT_METRICS_OPERATIONS ? row : 0;
}

unsigned metrics_operation(const char *name)
{
    for (unsigned i = 1; i < state.name_count; i++)
        if (strcmp(state.names[i], name) == 0)
            return i;
    if (state.name_count == LIMIT_METRICS_OPERATIONS || strlen(name) >= METRICS_NAME_BYTES)
        return 0;
    state.names[state.name_count] = name;
    state.rows[state.name_count] = find_row(name);
    return state.name_count++;
}

void metrics_follow(int64_t now)
{
    struct stat status;
    const char *problem;
    if (state.path == NULL || now - state.followed < FOLLOW_MICROSECONDS)
        return;
    state.followed = now;
    if (state.fd >= 0 && lstat(state.path, &status) == 0 && status.st_dev == state.device && status.st_ino == state.inode)
        return;
    uint64_t version = metrics_change_version();
    if (!metrics_open(state.path, &problem))
        return;
    for (unsigned i = 1; i < state.name_count; i++)
        state.rows[i] = find_row(state.names[i]);
    if (state.pool != NULL)
        join();
    metrics_publish_change_version(version);
}

/* ---- counting ------------------------------------------------------------------------------------- */

static void add(_Atomic uint64_t *number, uint64_t count)
{
    (void)atomic_fetch_add_explicit(number, count, memory_order_relaxed);
}

void metrics_add(enum metric metric, uint64_t count)
{
    add(&metrics_area()->cells[metric].value, count);
}

void metrics_set(enum metric metric, uint64_t value)
{
    atomic_store_explicit(&metrics_area()->cells[metric].value, value, memory_order_relaxed);
}

uint64_t metrics_swap(enum metric metric, uint64_t value)
{
    return atomic_exchange_explicit(&metrics_area()->cells[metric].value, value, memory_order_relaxed);
}

/* The low bits tell the place, the high ones what stands there. */
static _Atomic uint32_t *hint_place(uint64_t value)
{
    return &metrics_area()->hints[value % METRICS_HINTS];
}

void metrics_hint(uint64_t value)
{
    atomic_store_explicit(hint_place(value), (uint32_t)(value >> 32), memory_order_relaxed);
}

bool metrics_hinted(uint64_t value)
{
    return !metrics_are_shared() ||
           atomic_load_explicit(hint_place(value), memory_order_relaxed) == (uint32_t)(value >> 32);
}

uint64_t metrics_value(enum metric metric)
{
    return atomic_load_explicit(&metrics_area()->cells[metric].value, memory_order_relaxed);
}

static void observe(struct metrics_histogram *histogram, int64_t microseconds)
{
    size_t bucket = 0;
    int64_t duration = microseconds < 0 ? 0 : microseconds;
    while (bucket < METRICS_BUCKETS && duration > metrics_bounds[bucket])
        bucket++;
    add(&histogram->buckets[bucket], 1);
    add(&histogram->sum, (uint64_t)duration);
}

void metrics_observe(enum metric_histogram histogram, int64_t microseconds)
{
    observe(&metrics_area()->histograms[histogram].histogram, microseconds);
}

void metrics_busy(void)
{
    if (state.slot != NO_SLOT)
        atomic_store_explicit(&metrics_area()->slots[state.slot].busy, 1, memory_order_relaxed);
}

void metrics_request(unsigned operation, int status, int64_t microseconds)
{
    struct metrics_area *area = metrics_area();
    struct metrics_operation_row *row = &area->operations[operation < state.name_count ? state.rows[operation] : 0];
    size_t column = 0;
    while (column < METRICS_STATUSES - 1 && metrics_statuses[column] != status)
        column++;
    add(&row->statuses[column], 1);
    observe(&row->durations, microseconds);
    metrics_idle();
}

void metrics_idle(void)
{
    if (state.slot != NO_SLOT)
        atomic_store_explicit(&metrics_area()->slots[state.slot].busy, 0, memory_order_relaxed);
}

uint64_t metrics_change_version(void)
{
    return atomic_load(&metrics_area()->change_version);
}

void metrics_publish_change_version(uint64_t version)
{
    _Atomic uint64_t *newest = &metrics_area()->change_version;
    uint64_t known = atomic_load(newest);
    while (known < version && !atomic_compare_exchange_weak(newest, &known, version))
        continue;
}
