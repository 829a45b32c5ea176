/* SPDX-License-Identifier: MIT */
/* Who owns the folder of a shared file. */
#ifndef GATEHOUSE_BASE_FOLDER_H
#define GATEHOUSE_BASE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/* The owner of the folder that holds `path`; false when it cannot be found out. */
bool folder_owner(const char *path, uid_t *owner_out);

/*
 * Whether this process may open and map the shared file at `path`. Always true, except for root, who may only where
 * root owns the folder: another user could replace the file and mislead root.
 */
bool folder_is_safe(const char *path);

#endif
