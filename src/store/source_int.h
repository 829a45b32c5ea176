/* SPDX-License-Identifier: MIT */
/* Reads texts that are shipped with the program: SQL files and mail templates. */
#ifndef GATEHOUSE_STORE_SOURCE_INT_H
#define GATEHOUSE_STORE_SOURCE_INT_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct error;

/* The longest SQL file or mail template. */
#define SOURCE_BYTES_MAX 1048576

/*
 * The whole of a file of at most SOURCE_BYTES_MAX, NUL-terminated in the arena. INTERNAL, naming the path,
 * when it cannot be read, is longer, holds a NUL or is not UTF-8.
 */
struct error *source_read(struct arena *arena, const char *path, char **text_out, size_t *length_out);

/* Whether there is something at `path`, also where this process may not look at it. */
bool source_exists(const char *path);

#endif
