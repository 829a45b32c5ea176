/* SPDX-License-Identifier: MIT */
/*
 * The memory that all processes of one host share: a file of fixed size that every worker and the job runner map.
 *
 * It holds the counters (base/metrics.h), a slot for each process (base/host/process.h), the hints (base/host/hints.h),
 * and the slots of uploads under way (base/host/upload_slots.h). All of them change it with atomic operations only:
 * there is no lock and no system call, and a process that is killed at any instant leaves every number valid.
 *
 * A process maps the file with host_process_open(). Before that, and where it fails, the process uses memory of its
 * own.
 */
#ifndef GATEHOUSE_BASE_HOST_MEMORY_H
#define GATEHOUSE_BASE_HOST_MEMORY_H

#include <stdbool.h>

/* Whether the memory is the host's (true) or this process's own. */
bool host_memory_is_shared(void);

#endif
