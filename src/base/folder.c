/* SPDX-License-Identifier: MIT */
/* Finds the folder of a file, who owns it, and whether it is safe. */
#include "base/folder.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

char *folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return arena_text(arena, ".");
    return slash == path ? arena_text(arena, "/") : arena_copy(arena, path, (size_t)(slash - path));
}

bool folder_owner(const char *path, uid_t *owner_out)
{
    char folder[PATH_MAX];
    struct stat status;
    const char *slash = strrchr(path, '/');
    int length = slash == NULL ? 0 : slash == path ? 1 : (int)(slash - path);
    if (length >= PATH_MAX)
        return false;
    (void)snprintf(folder, sizeof folder, "%.*s", length == 0 ? 1 : length, length == 0 ? "." : path);
    if (stat(folder, &status) != 0)
        return false;
    *owner_out = status.st_uid;
    return true;
}

bool folder_is_safe(const char *path)
{
    uid_t owner = 0;
    return geteuid() != 0 || !folder_owner(path, &owner) || owner == 0;
}
