/* SPDX-License-Identifier: MIT */
/* The folder of a file: its path, who owns it. */
#ifndef GATEHOUSE_BASE_FOLDER_H
#define GATEHOUSE_BASE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

struct arena;

/* The path of the folder that holds `path`: "." for a name without a slash, "/" for what lies in the root. */
char *folder_of(struct arena *arena, const char *path);

/* The owner of the folder that holds `path`; false when it cannot be found out. */
bool folder_owner(const char *path, uid_t *owner_out);

/*
 * Whether this process may open and map the shared file at `path`. Always true, except for root, who may only where
 * root owns the folder: another user could replace the file and mislead root.
 */
bool folder_is_safe(const char *path);

#endif
