/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a worker: its allocations are counted, and one of them fails on purpose, whoever asks for it: our own
 * code, or a library.
 *
 * TORTURE_MEMORY names a file that the test shares with us: struct control, in which it says which allocation is to
 * fail and reads what happened. The sniffer, a child of the worker, shares the same count.
 *
 * Each time when the worker waits for its next connection it writes down what it has: allocations that nobody has
 * freed, and descriptors. Its children have their own, which nobody counts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More than a worker has. */
#define DESCRIPTORS 256

/* As MEMORY in support_memory.py. */
struct control {
    uint32_t counting; /* 1: allocations are counted */
    uint32_t nth;      /* the how-manieth fails, from 1; 0: none */
    uint32_t count;
    uint32_t fired; /* an allocation has failed */
    /* Leaks on purpose: so many calls of free() and close() do nothing. */
    uint32_t keep_memory;
    uint32_t keep_descriptors;
    uint32_t taken; /* connections */
    uint32_t seen;  /* the value of `taken` when the worker looked at what it has */
    uint32_t descriptors;
    uint32_t by_database; /* the allocation that has failed was the database client's */
    int64_t live;         /* allocations that were not freed, but for those before we were loaded */
};

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static struct control *control;
static int64_t live;
static bool is_child;

static void note_child(void)
{
    is_child = true;
}

__attribute__((constructor)) static void open_control(void)
{
    const char *path = getenv("TORTURE_MEMORY");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *map = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (map != MAP_FAILED && pthread_atfork(NULL, NULL, note_child) == 0)
        control = map;
}

static bool is_of_database(void *caller)
{
    Dl_info place;
    return dladdr(caller, &place) != 0 && place.dli_fname != NULL && strstr(place.dli_fname, "libmariadb") != NULL;
}

static bool fails(void *caller)
{
    if (control == NULL || __atomic_load_n(&control->counting, __ATOMIC_RELAXED) == 0)
        return false;
    if (__atomic_add_fetch(&control->count, 1, __ATOMIC_RELAXED) != control->nth)
        return false;
    control->fired = 1;
    control->by_database = is_of_database(caller);
    errno = ENOMEM;
    return true;
}

/* A thread of a library may allocate as well. */
static void *counted(void *memory)
{
    if (memory != NULL)
        (void)__atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
    return memory;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    if (fails(__builtin_return_address(0)))
        return NULL;
    void *moved = __libc_realloc(memory, size);
    if (memory == NULL)
        return counted(moved);
    if (moved == NULL && size == 0)
        (void)__atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
    return moved;
}

void *memalign(size_t alignment, size_t size)
{
    return counted(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory_out, size_t alignment, size_t size)
{
    void *memory = counted(__libc_memalign(alignment, size));
    if (memory == NULL)
        return ENOMEM;
    *memory_out = memory;
    return 0;
}

/* ---- what the worker has -------------------------------------------------------------------------------- */

static bool keeps(uint32_t *left)
{
    if (control == NULL || is_child || *left == 0)
        return false;
    --*left;
    return true;
}

void free(void *memory)
{
    if (memory == NULL || keeps(&control->keep_memory))
        return;
    (void)__atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
    __libc_free(memory);
}

int close(int fd)
{
    return keeps(&control->keep_descriptors) ? 0 : (int)syscall(SYS_close, fd);
}

static void look(void)
{
    if (control == NULL || is_child)
        return;
    uint32_t descriptors = 0;
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        descriptors += fcntl(fd, F_GETFD) >= 0;
    control->descriptors = descriptors;
    control->live = __atomic_load_n(&live, __ATOMIC_RELAXED);
    __atomic_store_n(&control->seen, control->taken, __ATOMIC_RELEASE);
}

int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags)
{
    int saved = errno;
    look();
    errno = saved;
    int fd = (int)syscall(SYS_accept4, listener, address, length, flags);
    if (fd >= 0 && control != NULL && !is_child)
        control->taken++;
    return fd;
}
