/* SPDX-License-Identifier: MIT */
/*
 * The blocks are a list, the newest first. An allocation that does not fit opens a block of at least BLOCK_BYTES.
 * Deferred calls lie in the arena itself, so registering one cannot fail either.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define BLOCK_BYTES ((size_t)32 * 1024)
#define ALIGNMENT alignof(max_align_t)

/*
 * With the address sanitizer every allocation is a block of its own, so that the sanitizer sees each access beyond its
 * end.
 */
#ifdef __SANITIZE_ADDRESS__
#define BLOCK_PER_ALLOCATION true
#else
#define BLOCK_PER_ALLOCATION false
#endif

struct block {
    struct block *next;
    size_t size;
    size_t used;
    alignas(max_align_t) unsigned char bytes[];
};

struct deferred {
    struct deferred *next;
    void (*release)(void *argument);
    void *argument;
};

struct arena {
    struct block *blocks;
    struct deferred *deferred;
    size_t used;
};

static struct block *block_new(size_t size)
{
    struct block *block = calloc(1, sizeof *block + size);
    if (block == NULL)
        memory_end("an arena");
    block->size = size;
    return block;
}

static void run_deferred(struct arena *arena)
{
    while (arena->deferred != NULL) {
        struct deferred *deferred = arena->deferred;
        arena->deferred = deferred->next;
        deferred->release(deferred->argument);
    }
}

/* Freed memory must keep no secret of the request that used it. */
static void block_wipe(struct block *block)
{
    explicit_bzero(block->bytes, block->used);
    block->used = 0;
}

static void block_free(struct block *block)
{
    block_wipe(block);
    free(block);
}

struct arena *arena_new(void)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL)
        memory_end("an arena");
    arena->blocks = block_new(BLOCK_BYTES);
    return arena;
}

void arena_reset(struct arena *arena)
{
    run_deferred(arena);
    struct block *kept = NULL;
    while (arena->blocks != NULL) {
        struct block *block = arena->blocks;
        arena->blocks = block->next;
        if (kept == NULL && block->size == BLOCK_BYTES) {
            block_wipe(block);
            kept = block;
        } else {
            block_free(block);
        }
    }
    arena->blocks = kept != NULL ? kept : block_new(BLOCK_BYTES);
    arena->blocks->next = NULL;
    arena->used = 0;
}

void arena_free(struct arena **arena)
{
    if (*arena == NULL)
        return;
    run_deferred(*arena);
    struct block *block = (*arena)->blocks;
    while (block != NULL) {
        struct block *next = block->next;
        block_free(block);
        block = next;
    }
    free(*arena);
    *arena = NULL;
}

static void *alloc_alone(struct arena *arena, size_t size)
{
    struct block *block = block_new(size);
    block->used = size;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->used += size;
    return block->bytes;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        memory_end("an arena");
    if (BLOCK_PER_ALLOCATION)
        return alloc_alone(arena, size);
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (rounded == 0)
        rounded = ALIGNMENT;
    struct block *block = arena->blocks;
    if (block->size - block->used < rounded) {
        struct block *fresh = block_new(rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES);
        /* A huge allocation goes behind the current block, which still has room for small ones. */
        if (rounded > BLOCK_BYTES / 2) {
            fresh->next = block->next;
            block->next = fresh;
        } else {
            fresh->next = block;
            arena->blocks = fresh;
        }
        block = fresh;
    }
    void *memory = block->bytes + block->used;
    block->used += rounded;
    arena->used += rounded;
    return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        memory_end("an arena");
    return arena_alloc(arena, total);
}

char *arena_copy(struct arena *arena, const void *bytes, size_t length)
{
    if (length == SIZE_MAX)
        memory_end("an arena");
    char *copy = arena_alloc(arena, length + 1);
    if (length != 0)
        memcpy(copy, bytes, length);
    return copy;
}

char *arena_text(struct arena *arena, const char *text)
{
    return text == NULL ? NULL : arena_copy(arena, text, strlen(text));
}

char *arena_format_list(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0)
        memory_end("an arena");
    char *text = arena_alloc(arena, (size_t)length + 1);
    (void)vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_format_list(arena, format, arguments);
    va_end(arguments);
    return text;
}

void arena_defer(struct arena *arena, void (*release)(void *argument), void *argument)
{
    struct deferred *deferred = arena_alloc(arena, sizeof *deferred);
    deferred->release = release;
    deferred->argument = argument;
    deferred->next = arena->deferred;
    arena->deferred = deferred;
}

size_t arena_used(const struct arena *arena)
{
    return arena->used;
}
