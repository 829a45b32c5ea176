/* SPDX-License-Identifier: MIT */
/*
 * What the preloaded libraries of these tests share: the real calls, the struct that the test shares with them, and
 * which descriptors and paths lie below the folder whose calls count.
 */
#ifndef GATEHOUSE_TESTS_TORTURE_PRELOAD_WATCHED_H
#define GATEHOUSE_TESTS_TORTURE_PRELOAD_WATCHED_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *watched_folder;
static size_t watched_length;

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/*
 * Maps `size` bytes of the file that the variable `control` of the environment names, and watches the folder that
 * `folder` names. NULL where one of them is not set.
 */
static void *watched_start(const char *control, const char *folder, size_t size)
{
    const char *path = getenv(control), *below = getenv(folder);
    if (path == NULL || below == NULL)
        return NULL;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *mapping = fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapping == MAP_FAILED) {
        (void)fprintf(stderr, "%s: %s cannot be mapped\n", control, path);
        abort();
    }
    (void)close(fd);
    watched_folder = below;
    watched_length = strlen(below);
    return mapping;
}

static bool watched_below(const char *path)
{
    return strncmp(path, watched_folder, watched_length) == 0 &&
           (path[watched_length] == '/' || path[watched_length] == '\0');
}

/* It leaves errno alone. */
static bool watched_fd(int fd)
{
    char link[64], path[PATH_MAX];
    if (watched_length == 0 || fd < 0)
        return false;
    int before = errno;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = before;
    if (length <= 0)
        return false;
    path[length] = '\0';
    return watched_below(path);
}

static bool watched_path(int directory, const char *path)
{
    if (watched_length == 0)
        return false;
    return *path == '/' ? watched_below(path) : directory != AT_FDCWD && watched_fd(directory);
}

#endif
