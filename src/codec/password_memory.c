/* SPDX-License-Identifier: MIT */
/*
 * Gives Argon2id large memory pages. The library calls the mmap() and munmap() below, since the executable's symbols
 * come before those of the C library. They do what the C library's do, except for the one mapping that Argon2id asks
 * for while memory is lent. Where the library asks in another way, or the kernel has no large pages, everything works
 * as without this file. They leave errno unchanged, since the library tells a wrong password from a failure by it.
 */
#include "codec/password_memory_int.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

/* The page size of the common processors. On others the memory is aligned, and nothing is gained. */
#define LARGE_PAGE ((size_t)2 * 1024 * 1024)

static struct {
    void *mapping; /* the whole, as the kernel gave it */
    size_t mapped;
    unsigned char *start; /* the part that is lent: from the first boundary of a large page on */
    size_t length;
    bool taken;
} range;

/* Other threads, such as the resolver's, map memory too. */
static _Thread_local bool lending;

typedef void *map_function(void *, size_t, int, int, int, off_t);
typedef int unmap_function(void *, size_t);

static void *map(void *address, size_t length, int protection, int flags, int descriptor, off_t offset)
{
    static map_function *next;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "mmap");
    return next(address, length, protection, flags, descriptor, offset);
}

static int unmap(void *address, size_t length)
{
    static unmap_function *next;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "munmap");
    return next(address, length);
}

static void forget(void)
{
    if (range.mapping != NULL)
        (void)unmap(range.mapping, range.mapped);
    range.mapping = NULL;
    range.length = 0;
}

/* Reserves addresses for so many bytes, without memory. */
static bool reserve(size_t length)
{
    if (length <= range.length)
        return true;
    forget();
    size_t whole = (length + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    if (whole < length || whole + LARGE_PAGE < whole)
        return false;
    void *mapping =
        map(NULL, whole + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
        return false;
    range.mapping = mapping;
    range.mapped = whole + LARGE_PAGE;
    range.start = (unsigned char *)mapping + (-(uintptr_t)mapping & (LARGE_PAGE - 1));
    range.length = whole;
#ifdef MADV_HUGEPAGE
    (void)madvise(range.start, range.length, MADV_HUGEPAGE);
#endif
    return true;
}

static void *take(size_t length)
{
    if (range.taken || !reserve(length))
        return NULL;
    range.taken = true;
#ifdef MADV_POPULATE_WRITE
    /* Maps all pages at once instead of one by one: with small pages that is most of the difference. */
    (void)madvise(range.start, length, MADV_POPULATE_WRITE);
#endif
    return range.start;
}

/* The contents would help to guess passwords, so they go at once, with the pages. */
static void give_back(void)
{
    range.taken = false;
    if (madvise(range.start, range.length, MADV_DONTNEED) != 0)
        forget();
}

void password_memory_begin(void)
{
    lending = true;
}

void password_memory_end(void)
{
    lending = false;
}

size_t password_memory_kept(void)
{
    return range.length;
}

__attribute__((visibility("default"))) void *mmap(void *address, size_t length, int protection, int flags,
                                                  int descriptor, off_t offset)
{
    if (lending && address == NULL && length >= PASSWORD_MEMORY_LEAST && (flags & MAP_ANONYMOUS) != 0 &&
        protection == (PROT_READ | PROT_WRITE)) {
        int before = errno;
        void *start = take(length);
        errno = before;
        if (start != NULL)
            return start;
    }
    return map(address, length, protection, flags, descriptor, offset);
}

__attribute__((visibility("default"))) int munmap(void *address, size_t length)
{
    if (!range.taken || address != range.start)
        return unmap(address, length);
    int before = errno;
    give_back();
    errno = before;
    return 0;
}
