/* SPDX-License-Identifier: MIT */
/*
 * This process among the processes of its host: it opens the shared memory (base/host/memory.h), takes a slot there,
 * says whether it is busy, and gives the slot back when it ends.
 *
 * Each process holds a lock on its slot, and the kernel drops that lock when the process ends, however it ends. So
 * other processes can tell a living process from a dead one.
 *
 * For one thread. All calls work before host_process_open() and after its failure.
 */
#ifndef GATEHOUSE_BASE_HOST_PROCESS_H
#define GATEHOUSE_BASE_HOST_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum host_process_role { HOST_PROCESS_WORKER, HOST_PROCESS_JOBS };

/*
 * Maps the file at `path`. It makes the file (mode 0600, all blocks allocated) where it is missing, and replaces a file
 * of this user that has another layout. False with a static sentence in *problem_out when that is impossible, or when
 * the path is a link or another user's file; this process then uses memory of its own. `path` must live as long as the
 * process.
 */
bool host_process_open(const char *path, const char **problem_out);

/*
 * Takes a slot for this process and counts its start. `pool` names the group of workers: lower-case letters, digits and
 * hyphens, at most 19. Any other name, and NULL, becomes "worker".
 */
void host_process_join(enum host_process_role role, const char *pool);

/* Gives the slot back and unmaps the file. For programs that end in good order. */
void host_process_close(void);

/*
 * Looks, at most every ten seconds by `now` (clock_monotonic(), microseconds), whether the file at the path is still
 * the mapped one. Where it was replaced or removed, this process maps the new file, takes a slot there and publishes
 * its change version.
 */
void host_process_follow(int64_t now);

/*
 * The number of living workers in the pool of this process, itself included. 0 when it is unknown: this process is no
 * worker, or its memory is its own.
 */
unsigned host_process_pool_workers(void);

/* Whether this process is a worker of the pool `pool`. */
bool host_process_in_pool(const char *pool);

/*
 * Whether the process of slot `slot` (below LIMIT_METRICS_PROCESSES) lives. A dead one's slot is freed, and its death
 * counted.
 */
bool host_process_lives(size_t slot);

/* A request begins: the process is busy until host_process_idle(). */
void host_process_busy(void);
void host_process_idle(void);

#endif
