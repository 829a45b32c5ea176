/* SPDX-License-Identifier: MIT */
/* The reads that a preloaded library lets fail, or lets read half. It comes behind fails(), READ and PREAD. */
#ifndef GATEHOUSE_TESTS_TORTURE_PRELOAD_WATCHED_READS_H
#define GATEHOUSE_TESTS_TORTURE_PRELOAD_WATCHED_READS_H

ssize_t read(int fd, void *bytes, size_t length)
{
    ssize_t (*call)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))real("read");
    bool half = false;
    if (fails(READ, watched_fd(fd), &half))
        return -1;
    return call(fd, bytes, half && length > 1 ? length / 2 : length);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t at)
{
    ssize_t (*call)(int, void *, size_t, off_t) = (ssize_t(*)(int, void *, size_t, off_t))real("pread");
    bool half = false;
    if (fails(PREAD, watched_fd(fd), &half))
        return -1;
    return call(fd, bytes, half && length > 1 ? length / 2 : length, at);
}

#endif
