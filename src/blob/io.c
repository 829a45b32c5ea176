/* SPDX-License-Identifier: MIT */
/* The table of the system's own file calls, with which the service runs. */
#include "blob/io.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

/* openat() is variadic, and the table needs a fixed signature. */
static int system_openat(int directory, const char *path, int flags, mode_t mode)
{
    return openat(directory, path, flags, mode);
}

const struct blob_io blob_io_system = {
    .openat = system_openat,
    .write = write,
    .pread = pread,
    .ftruncate = ftruncate,
    .flock = flock,
    .fsync = fsync,
    .sync_file_range = sync_file_range,
    .posix_fadvise = posix_fadvise,
    .lseek = lseek,
    .close = close,
    .fchmod = fchmod,
    .mkdirat = mkdirat,
    .linkat = linkat,
    .utimensat = utimensat,
    .unlinkat = unlinkat,
    .fstat = fstat,
    .fstatat = fstatat,
    .fstatfs = fstatfs,
    .fstatvfs = fstatvfs,
    .fdopendir = fdopendir,
    .readdir = readdir,
    .closedir = closedir,
};
