/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a worker: its allocations are counted, and one of them fails on purpose, whoever asks for it: our own
 * code, or a library.
 *
 * TORTURE_MEMORY names a file that the test shares with us: struct control, in which it says which allocation is to
 * fail and reads what happened. The sniffer, a child of the worker, shares the same count.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* As MEMORY in support_memory.py. */
struct control {
    uint32_t counting; /* 1: allocations are counted */
    uint32_t nth;      /* the how-manieth fails, from 1; 0: none */
    uint32_t count;
    uint32_t fired; /* an allocation has failed */
};

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static struct control *control;

__attribute__((constructor)) static void open_control(void)
{
    const char *path = getenv("TORTURE_MEMORY");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *map = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (map != MAP_FAILED)
        control = map;
}

static bool fails(void)
{
    if (control == NULL || __atomic_load_n(&control->counting, __ATOMIC_RELAXED) == 0)
        return false;
    if (__atomic_add_fetch(&control->count, 1, __ATOMIC_RELAXED) != control->nth)
        return false;
    control->fired = 1;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}
