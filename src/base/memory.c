/* SPDX-License-Identifier: MIT */
/* Allocates, or ends the process. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Nothing here may need memory. */
_Noreturn void memory_end(const char *what)
{
    static char before[] = "gatehouse: out of memory: ";
    static char after[] = "\n";
    char name[80];
    (void)strncpy(name, what, sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const struct iovec parts[] = {{before, sizeof before - 1}, {name, strlen(name)}, {after, sizeof after - 1}};
    (void)!writev(STDERR_FILENO, parts, sizeof parts / sizeof *parts);
    abort();
}

void *memory_get(size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL)
        memory_end("a library");
    return memory;
}

void *memory_new(size_t size)
{
    void *memory = calloc(1, size);
    if (memory == NULL)
        memory_end("an object");
    return memory;
}
