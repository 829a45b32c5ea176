/* SPDX-License-Identifier: MIT */
/* Opens the file to which the web server has written a body, after it has checked the path. */
#include "http/body_file.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The right to search the folders is enough: O_PATH does not ask for the right to list them. */
#define FOLDER_FLAGS (O_PATH | O_DIRECTORY)
#define FILE_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY)

/* The path below the folder; NULL when it lies elsewhere. */
static const char *path_below(const char *directory, const char *path)
{
    size_t length = strlen(directory);
    while (length > 0 && directory[length - 1] == '/')
        length--;
    if (strncmp(path, directory, length) != 0 || path[length] != '/')
        return NULL;
    path += length;
    path += strspn(path, "/");
    return *path == '\0' ? NULL : path;
}

/* Takes one name of the path. A link, a dot and a name that is too long are refused. */
static int open_step(int at, const char *name, size_t length, int flags)
{
    char step[NAME_MAX + 1];
    if (length > NAME_MAX)
        return -1;
    memcpy(step, name, length);
    step[length] = '\0';
    if (strcmp(step, ".") == 0 || strcmp(step, "..") == 0)
        return -1;
    return openat(at, step, O_CLOEXEC | O_NOFOLLOW | flags);
}

/*
 * Opens the path name by name, so that neither dots nor links lead out of the folder. openat2() would do it in one
 * call, but systemd forbids that call to services with RestrictSUIDSGID=, and ours have it.
 */
static int open_below(int directory, const char *name)
{
    for (int at = directory;;) {
        size_t length = strcspn(name, "/");
        const char *rest = name + length + strspn(name + length, "/");
        int fd = open_step(at, name, length, *rest == '\0' ? FILE_FLAGS : FOLDER_FLAGS);
        if (at != directory)
            (void)close(at);
        if (fd < 0 || *rest == '\0')
            return fd;
        at = fd;
        name = rest;
    }
}

static bool is_owner(const struct body_file_rules *rules, uid_t uid)
{
    if (uid == 0 || uid == geteuid())
        return true;
    for (size_t i = 0; i < rules->owner_count; i++)
        if (rules->owners[i] == uid)
            return true;
    return false;
}

/* What is wrong with the folder; NULL when nothing is. */
static const char *check_directory(const struct body_file_rules *rules, int directory)
{
    struct stat status;
    if (fstat(directory, &status) != 0 || !is_owner(rules, status.st_uid))
        return "the folder of spooled bodies belongs to somebody else";
    if ((status.st_mode & S_IWOTH) != 0)
        return "the folder of spooled bodies is open to everybody";
    return NULL;
}

/* What is wrong with the file; NULL when nothing is. */
static const char *check_file(const struct body_file_rules *rules, int fd, int64_t size)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return "a spooled body is no regular file";
    if (!is_owner(rules, status.st_uid) || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "a spooled body belongs to somebody else";
    if (status.st_nlink != 1)
        return "a spooled body has another name";
    if (status.st_size != size)
        return "a spooled body is not of the announced size";
    return NULL;
}

int body_file_open(const struct body_file_rules *rules, const char *path, int64_t size, const char **problem_out)
{
    *problem_out = NULL;
    if (rules->directory == NULL) {
        *problem_out = "the web server hands over a file, but [files] body_directory is not set";
        return -1;
    }
    const char *name = path_below(rules->directory, path);
    if (name == NULL) {
        *problem_out = "a spooled body lies outside [files] body_directory";
        return -1;
    }
    int directory = open(rules->directory, FOLDER_FLAGS | O_CLOEXEC);
    if (directory < 0) {
        *problem_out = "the folder of spooled bodies cannot be opened";
        return -1;
    }
    *problem_out = check_directory(rules, directory);
    int fd = *problem_out == NULL ? open_below(directory, name) : -1;
    (void)close(directory);
    if (fd < 0) {
        if (*problem_out == NULL)
            *problem_out = "a spooled body cannot be opened";
        return -1;
    }
    *problem_out = check_file(rules, fd, size);
    if (*problem_out == NULL)
        return fd;
    (void)close(fd);
    return -1;
}
