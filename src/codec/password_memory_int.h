/* SPDX-License-Identifier: MIT */
/*
 * The memory in which Argon2id works. The library maps it for each hash and unmaps it afterwards, in small pages. With
 * the default cost the kernel works on 4864 pages, and that is nearly half of the time of a hash. While memory is lent,
 * the library gets one range of addresses that the process keeps, in pages as large as the kernel has. Between two
 * hashes no contents stay there: the pages go back to the kernel, which clears them, as when the library unmaps.
 */
#ifndef GATEHOUSE_CODEC_PASSWORD_MEMORY_INT_H
#define GATEHOUSE_CODEC_PASSWORD_MEMORY_INT_H

#include <stddef.h>

/*
 * From now on, what the calling thread maps is Argon2id's, until password_memory_end(). Not nested; one thread at a
 * time.
 */
void password_memory_begin(void);
void password_memory_end(void);

/*
 * The size of the address range that the process keeps: 0 before the first hash of more than PASSWORD_MEMORY_LEAST
 * bytes. For tests.
 */
size_t password_memory_kept(void);

/* Below this size large pages gain nothing. */
#define PASSWORD_MEMORY_LEAST ((size_t)4 * 1024 * 1024)

#endif
