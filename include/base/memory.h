/* SPDX-License-Identifier: MIT */
/*
 * The end of a process that has no memory left. It ends by abort() with a word on its standard error, and its
 * supervisor starts another: nothing goes on with half of a state.
 */
#ifndef GATEHOUSE_BASE_MEMORY_H
#define GATEHOUSE_BASE_MEMORY_H

#include <stddef.h>

/* Ends the process; `what` names who has asked for memory. */
_Noreturn void memory_end(const char *what);

/* `size` bytes, for free(). Never NULL. */
void *memory_get(size_t size);

/* `size` bytes of zeros, for free(). Never NULL. */
void *memory_new(size_t size);

#endif
