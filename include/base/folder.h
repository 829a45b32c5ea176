/* SPDX-License-Identifier: MIT */
/* Whose the folder of a shared file is. */
#ifndef GATEHOUSE_BASE_FOLDER_H
#define GATEHOUSE_BASE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/* The owner of the folder that `path` is in; false when that cannot be told. */
bool folder_owner(const char *path, uid_t *owner_out);

/*
 * Whether this process may open and map the shared file at `path`: always, but for root only where the folder is
 * root's. A file that another user may write or replace could lead root astray.
 */
bool folder_is_safe(const char *path);

#endif
