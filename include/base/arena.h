/* SPDX-License-Identifier: MIT */
/*
 * A region allocator: everything that a request needs is allocated here, and all of it is released when the request
 * ends.
 *
 * Allocation never returns NULL. A process that runs out of memory ends, and its supervisor starts another.
 * base/limits.h bounds every input, so no client can cause that. Memory is zeroed before it is handed out, and wiped
 * when it is taken back.
 */
#ifndef GATEHOUSE_BASE_ARENA_H
#define GATEHOUSE_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena;

/* Makes an empty arena. Owned by the caller, released with arena_free(). */
struct arena *arena_new(void);

/* Runs the deferred functions, wipes and releases everything, sets *arena to NULL. NULL inside is fine. */
void arena_free(struct arena **arena);

/*
 * Releases all allocations: runs the deferred functions (last registered first), wipes the memory, and keeps one block
 * for the next use. Pointers handed out before are invalid.
 */
void arena_reset(struct arena *arena);

/* `size` zeroed bytes aligned for any type; size 0 gives a valid unique pointer. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((malloc, returns_nonnull));

/* `count` zeroed elements of `size` bytes; an overflowing product ends the process. */
void *arena_array(struct arena *arena, size_t count, size_t size) __attribute__((malloc, returns_nonnull));

/* A copy of `length` bytes, followed by a NUL that `length` does not count. `bytes` may be NULL when length is 0. */
char *arena_copy(struct arena *arena, const void *bytes, size_t length) __attribute__((returns_nonnull));

/* A copy of a NUL-terminated text; NULL gives NULL. */
char *arena_text(struct arena *arena, const char *text);

/* printf into the arena. */
char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3), returns_nonnull));
char *arena_format_list(struct arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0), returns_nonnull));

/*
 * Calls release(argument) when the arena is reset or freed, in reverse order of registration. Register a resource where
 * it is acquired; then no exit path can leak it.
 */
void arena_defer(struct arena *arena, void (*release)(void *argument), void *argument);

/* Bytes handed out since the last reset; for tests and metrics. */
size_t arena_used(const struct arena *arena);

#endif
