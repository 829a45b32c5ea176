/* SPDX-License-Identifier: MIT */
/*
 * Every file call of the directory store, in one table. Tests replace it to let each call fail in turn. The members are
 * the system's functions of the same name and follow their conventions (-1 and errno; only posix_fadvise() returns the
 * number).
 */
#ifndef GATEHOUSE_BLOB_IO_H
#define GATEHOUSE_BLOB_IO_H

#include <dirent.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <time.h>

struct blob_io {
    int (*openat)(int directory, const char *path, int flags, mode_t mode);
    ssize_t (*write)(int fd, const void *bytes, size_t length);
    ssize_t (*pread)(int fd, void *bytes, size_t length, off_t offset);
    int (*ftruncate)(int fd, off_t length);
    int (*flock)(int fd, int operation);
    int (*fsync)(int fd);
    int (*sync_file_range)(int fd, off_t offset, off_t length, unsigned flags);
    int (*posix_fadvise)(int fd, off_t offset, off_t length, int advice);
    off_t (*lseek)(int fd, off_t offset, int whence);
    int (*close)(int fd);
    int (*fchmod)(int fd, mode_t mode);
    int (*mkdirat)(int directory, const char *path, mode_t mode);
    int (*linkat)(int from_directory, const char *from, int to_directory, const char *to, int flags);
    int (*utimensat)(int directory, const char *path, const struct timespec times[2], int flags);
    int (*unlinkat)(int directory, const char *path, int flags);
    int (*fstat)(int fd, struct stat *status_out);
    int (*fstatat)(int directory, const char *path, struct stat *status_out, int flags);
    int (*fstatfs)(int fd, struct statfs *status_out);
    int (*fstatvfs)(int fd, struct statvfs *status_out);
    DIR *(*fdopendir)(int fd);
    struct dirent *(*readdir)(DIR *stream);
    int (*closedir)(DIR *stream);
};

/* The system's own calls. */
extern const struct blob_io blob_io_system;

#endif
