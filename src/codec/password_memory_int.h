/* SPDX-License-Identifier: MIT */
/*
 * The memory that Argon2id works in. The library maps it anew for each hash and unmaps it afterwards, in small pages: with
 * the cost that is the default the kernel's work on 4864 of them takes near half of a hash's time. While memory is lent,
 * the library gets one range of addresses instead that the process keeps, in pages as large as the kernel has. Nothing
 * lies in it between two hashes: the pages go back to the kernel, which clears them, as they do when the library unmaps.
 */
#ifndef GATEHOUSE_CODEC_PASSWORD_MEMORY_INT_H
#define GATEHOUSE_CODEC_PASSWORD_MEMORY_INT_H

#include <stddef.h>

/* What the calling thread maps from now on, up to password_memory_end(), is Argon2id's. Not nested; one thread at a time. */
void password_memory_begin(void);
void password_memory_end(void);

/*
 * How many bytes of addresses the process keeps for it: 0 before the first hash of over PASSWORD_MEMORY_LEAST bytes. For
 * tests.
 */
size_t password_memory_kept(void);

/* Less gains nothing by large pages. */
#define PASSWORD_MEMORY_LEAST ((size_t)4 * 1024 * 1024)

#endif
