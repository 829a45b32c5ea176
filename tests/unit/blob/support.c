/* SPDX-License-Identifier: MIT */
/* What the tests of the blob store share: looking at a directory, and file calls that fail. */
#include "blob/support.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/directory.h"
#include "harness.h"

struct support_faults support_faults;

static size_t files_found;

static int count_file(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)path;
    (void)status;
    (void)walk;
    files_found += kind == FTW_F;
    return 0;
}

size_t support_files(const char *directory)
{
    files_found = 0;
    assert_int_equal(nftw(directory, count_file, 8, FTW_PHYS), 0);
    return files_found;
}

size_t support_descriptors(void)
{
    DIR *stream = opendir("/proc/self/fd");
    assert_non_null(stream);
    size_t count = 0;
    while (readdir(stream) != NULL)
        count++;
    closedir(stream);
    return count;
}

unsigned char *support_bytes(struct arena *arena, size_t length, unsigned seed)
{
    struct harness_random random = {.state = seed};
    unsigned char *bytes = arena_alloc(arena, length);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)harness_random_next(&random);
    return bytes;
}

struct error *support_store(struct blob_store *store, struct arena *arena, struct id id, const void *bytes,
                            size_t length, size_t piece)
{
    struct blob_writer *writer;
    const unsigned char *from = bytes;
    TRY(blob_begin(store, arena, &writer));
    for (size_t at = 0; at < length; at += piece)
        TRY(blob_write(writer, from + at, length - at < piece ? length - at : piece));
    assert_int_equal(blob_writer_size(writer), length);
    return blob_commit(writer, id);
}

void support_assert_stored(struct blob_store *store, struct arena *arena, struct id id, const void *bytes,
                           size_t length)
{
    struct blob_reader *reader;
    struct error *error = blob_open(store, arena, id, &reader);
    if (error != NULL)
        fail_msg("the blob is not there: %s", error->detail);
    assert_int_equal(blob_reader_size(reader), length);
    unsigned char *read_back = arena_alloc(arena, length + 1);
    size_t got = 0;
    assert_null(blob_read(reader, 0, read_back, length + 1, &got));
    blob_close(reader);
    assert_int_equal(got, length);
    assert_memory_equal(read_back, bytes, length);
}

void support_faults_clear(void)
{
    support_faults = (struct support_faults){0};
}

void support_faults_restart(void)
{
    support_faults.calls = 0;
    support_faults.started = support_faults.flushed = support_faults.dropped = 0;
}

const char *support_call_text(enum support_call call)
{
    static const char *const texts[CALL_KINDS] = {
        "openat",
        "write",
        "pread",
        "ftruncate",
        "flock",
        "fsync",
        "sync_file_range",
        "sync_file_range (waiting)",
        "sync_file_range (asking)",
        "posix_fadvise",
        "lseek",
        "close",
        "fchmod",
        "mkdirat",
        "linkat",
        "utimensat",
        "unlinkat",
        "fstat",
        "fstatat",
        "fstatfs",
        "fstatvfs",
        "fdopendir",
        "readdir",
        "closedir",
    };
    return texts[call];
}

/* Notes the call; true when it is the one to fail, with errno set. */
static bool fails(enum support_call call, int fd)
{
    struct stat status;
    bool is_directory = fd >= 0 && fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
    struct support_faults *faults = &support_faults;
    if (faults->calls < SUPPORT_TRACE_MAX) {
        faults->trace[faults->calls] = call;
        faults->trace_directory[faults->calls] = is_directory;
    }
    if (++faults->calls != faults->fail_at)
        return false;
    faults->failed = call;
    faults->failed_on_directory = is_directory;
    errno = faults->number;
    return true;
}

static int fault_openat(int directory, const char *path, int flags, mode_t mode)
{
    if (fails(CALL_OPENAT, -1))
        return -1;
    if (support_faults.no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return openat(directory, path, flags, mode);
}

static ssize_t fault_write(int fd, const void *bytes, size_t length)
{
    if (fails(CALL_WRITE, fd)) {
        if (!support_faults.short_write)
            return -1;
        length = length / 2 + (length == 1);
    }
    return write(fd, bytes, length);
}

static ssize_t fault_pread(int fd, void *bytes, size_t length, off_t offset)
{
    if (support_faults.short_read)
        return 0;
    return fails(CALL_PREAD, fd) ? -1 : pread(fd, bytes, length, offset);
}

static int fault_ftruncate(int fd, off_t length)
{
    return fails(CALL_FTRUNCATE, fd) ? -1 : ftruncate(fd, length);
}

static int fault_flock(int fd, int operation)
{
    return fails(CALL_FLOCK, fd) ? -1 : flock(fd, operation);
}

/* Everything that was written is waited for. */
static int fault_fsync(int fd)
{
    struct stat status;
    if (fails(CALL_FSYNC, fd))
        return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        support_faults.flushed = status.st_size;
    return fsync(fd);
}

static int fault_sync_file_range(int fd, off_t offset, off_t length, unsigned flags)
{
    static const unsigned waiting = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    struct support_faults *faults = &support_faults;
    if (fails(flags == 0 ? CALL_PROBE_FILE_RANGE : flags == waiting ? CALL_WAIT_FILE_RANGE : CALL_SYNC_FILE_RANGE, fd))
        return -1;
    assert_true(flags == 0 || length > 0); /* 0 is all there is from there on */
    if (flags == waiting) {                /* one part after the other, each when two more are under way */
        assert_int_equal(offset, faults->flushed);
        faults->flushed = offset + length;
        assert_true(faults->started - faults->flushed >= 4 * 1024 * 1024);
    } else if (flags != 0) {
        assert_int_equal(flags, SYNC_FILE_RANGE_WRITE);
        assert_int_equal(offset, faults->started);
        faults->started = offset + length;
    }
    return sync_file_range(fd, offset, length, flags);
}

/* What is not on the disk would be written out by the call itself, and nobody would hear of an error. */
static int fault_posix_fadvise(int fd, off_t offset, off_t length, int advice)
{
    if (fails(CALL_POSIX_FADVISE, fd))
        return support_faults.number;
    assert_int_equal(advice, POSIX_FADV_DONTNEED);
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(offset, length == 0 ? 0 : support_faults.flushed - length);
    assert_true(length > 0 || support_faults.flushed == status.st_size);
    support_faults.dropped = support_faults.flushed;
    return posix_fadvise(fd, offset, length, advice);
}

static off_t fault_lseek(int fd, off_t offset, int whence)
{
    if (fails(CALL_LSEEK, fd))
        return -1;
    if (whence == SEEK_SET) /* of bytes that arrive in pieces */
        return lseek(fd, offset, whence);
    assert_int_equal(whence, SEEK_HOLE);
    assert_int_equal(offset, 0);
    return support_faults.hole != 0 ? support_faults.hole : lseek(fd, offset, whence);
}

/* As the kernel does it: the descriptor is gone even where the call fails. */
static int fault_close(int fd)
{
    bool failing = fails(CALL_CLOSE, fd);
    int number = errno;
    if (close(fd) != 0)
        fail_msg("a descriptor was closed that is not open");
    errno = number;
    return failing ? -1 : 0;
}

static int fault_fchmod(int fd, mode_t mode)
{
    return fails(CALL_FCHMOD, fd) ? -1 : fchmod(fd, mode);
}

static int fault_mkdirat(int directory, const char *path, mode_t mode)
{
    return fails(CALL_MKDIRAT, -1) ? -1 : mkdirat(directory, path, mode);
}

static int fault_linkat(int from_directory, const char *from, int to_directory, const char *to, int flags)
{
    if (fails(CALL_LINKAT, -1))
        return -1;
    if (support_faults.no_proc && strncmp(from, "/proc/", 6) == 0) {
        errno = ENOENT;
        return -1;
    }
    return linkat(from_directory, from, to_directory, to, flags);
}

static int fault_utimensat(int directory, const char *path, const struct timespec times[2], int flags)
{
    return fails(CALL_UTIMENSAT, -1) ? -1 : utimensat(directory, path, times, flags);
}

static int fault_unlinkat(int directory, const char *path, int flags)
{
    return fails(CALL_UNLINKAT, -1) ? -1 : unlinkat(directory, path, flags);
}

static int fault_fstat(int fd, struct stat *status_out)
{
    return fails(CALL_FSTAT, fd) ? -1 : fstat(fd, status_out);
}

static int fault_fstatat(int directory, const char *path, struct stat *status_out, int flags)
{
    return fails(CALL_FSTATAT, -1) ? -1 : fstatat(directory, path, status_out, flags);
}

static int fault_fstatfs(int fd, struct statfs *status_out)
{
    if (fails(CALL_FSTATFS, fd))
        return -1;
    int result = fstatfs(fd, status_out);
    status_out->f_type = support_faults.file_system != 0 ? support_faults.file_system : EXT4_SUPER_MAGIC;
    return result;
}

static int fault_fstatvfs(int fd, struct statvfs *status_out)
{
    if (fails(CALL_FSTATVFS, fd))
        return -1;
    int result = fstatvfs(fd, status_out);
    if (support_faults.free_bytes != 0)
        status_out->f_bavail = support_faults.free_bytes / status_out->f_frsize;
    return result;
}

static DIR *fault_fdopendir(int fd)
{
    return fails(CALL_FDOPENDIR, fd) ? NULL : fdopendir(fd);
}

static struct dirent *fault_readdir(DIR *stream)
{
    int number = errno;
    if (fails(CALL_READDIR, -1))
        return NULL;
    errno = number;
    return readdir(stream);
}

static int fault_closedir(DIR *stream)
{
    bool failing = fails(CALL_CLOSEDIR, -1);
    return closedir(stream) != 0 || failing ? -1 : 0;
}

const struct blob_io support_io = {
    .openat = fault_openat,
    .write = fault_write,
    .pread = fault_pread,
    .ftruncate = fault_ftruncate,
    .flock = fault_flock,
    .fsync = fault_fsync,
    .sync_file_range = fault_sync_file_range,
    .posix_fadvise = fault_posix_fadvise,
    .lseek = fault_lseek,
    .close = fault_close,
    .fchmod = fault_fchmod,
    .mkdirat = fault_mkdirat,
    .linkat = fault_linkat,
    .utimensat = fault_utimensat,
    .unlinkat = fault_unlinkat,
    .fstat = fault_fstat,
    .fstatat = fault_fstatat,
    .fstatfs = fault_fstatfs,
    .fstatvfs = fault_fstatvfs,
    .fdopendir = fault_fdopendir,
    .readdir = fault_readdir,
    .closedir = fault_closedir,
};

struct blob_store *support_new_store(struct arena *arena, const struct blob_io *io)
{
    struct blob_store *store;
    support_faults_clear();
    assert_null(blob_directory_open(arena, harness_directory(arena), io, &store));
    return store;
}

const char *support_path(struct blob_store *store, struct arena *arena, struct id id)
{
    return arena_format(arena, "%s/%s", blob_root(store), blob_path(arena, id));
}

const struct support_way support_ways[SUPPORT_WAYS] = {{false, false}, {false, true}, {true, false}, {true, true}};

struct id support_next_id(struct id id)
{
    id.bytes[0]++; /* the same directory */
    return id;
}

struct blob_store *support_prepare(struct arena *arena, const struct support_way *way, struct id id)
{
    struct blob_store *store;
    support_faults_clear();
    support_faults.no_tmpfile = way->no_tmpfile;
    assert_null(blob_directory_open(arena, harness_directory(arena), &support_io, &store));
    if (way->shard_there)
        assert_null(support_store(store, arena, support_next_id(id), "there", 5, 5));
    support_faults_restart();
    return store;
}
