/* SPDX-License-Identifier: MIT */
/*
 * Gives secrets a type of their own. Neither the logger nor the reply writer accepts it, so no secret can be printed by
 * accident. The bytes live in an arena and are wiped with it.
 */
#ifndef GATEHOUSE_BASE_SECRET_H
#define GATEHOUSE_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct error;

struct secret {
    const unsigned char *bytes; /* NUL-terminated beyond length; NULL when there is no secret */
    size_t length;
    const struct secret *older; /* of a master secret: earlier ones, which still open what they sealed; NULL: none */
};

/* Wraps a copy of `length` bytes. */
struct secret secret_copy(struct arena *arena, const void *bytes, size_t length);

/* Wraps a NUL-terminated text that lives at least as long (no copy); NULL gives no secret. */
struct secret secret_of(const char *text);

/* The bytes as text, for the one library call that needs them. */
const char *secret_reveal(struct secret secret);

/* Whether both hold the same bytes; the time depends on the lengths only. */
bool secret_equal(struct secret a, struct secret b);

/*
 * Reads a file of at most 4096 bytes; one trailing line end is dropped. INTERNAL with a detail when it cannot be read
 * or is empty.
 */
struct error *secret_read(struct arena *arena, const char *path, struct secret *secret_out);

/*
 * Makes a file of the secret and a line end, whole or not at all, which the group of its folder may read: the workers'.
 * A file that is there already stays, and is no error. INTERNAL, with a sentence that names the file; also where a
 * symbolic link of that name leads nowhere.
 */
struct error *secret_create(struct arena *arena, const char *path, struct secret secret);

/*
 * Protects the memory of this process: it leaves no core file, and no other process of the same user may trace it or
 * read its memory. Call it in the first line of main().
 */
void secret_protect_process(void);

#endif
