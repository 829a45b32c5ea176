/* SPDX-License-Identifier: MIT */
/*
 * mmap() and munmap() below are the ones that the library calls: the executable's symbols come before the C library's.
 * They do what those do but for the one mapping that Argon2id asks for while memory is lent. Where the library does not
 * ask in this way, or the kernel has no large pages, everything works as without. They leave errno as it was, by which
 * the library tells a wrong password from a failure.
 */
#include "codec/password_memory_int.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

/* Of the processors in question; where it is not, memory is aligned for nothing. */
#define LARGE_PAGE ((size_t)2 * 1024 * 1024)

static struct {
    void *mapping; /* the whole, as the kernel gave it */
    size_t mapped;
    unsigned char *start; /* what is lent: its part from the first boundary of large pages on */
    size_t length;
    bool taken;
} range;

/* Other threads (the resolver's, say) map for themselves. */
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

/* Addresses for so many bytes, without memory behind them yet. */
static bool reserve(size_t length)
{
    if (length <= range.length)
        return true;
    forget();
    size_t whole = (length + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    if (whole < length || whole + LARGE_PAGE < whole)
        return false;
    void *mapping = map(NULL, whole + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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
    /* At once, not page by page: with small pages that is most of the difference. */
    (void)madvise(range.start, length, MADV_POPULATE_WRITE);
#endif
    return range.start;
}

/* What was in it is of use to whoever guesses passwords: it goes at once, with the pages. */
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

__attribute__((visibility("default"))) void *mmap(void *address, size_t length, int protection, int flags, int descriptor,
                                                  off_t offset)
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
