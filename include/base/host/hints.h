/* SPDX-License-Identifier: MIT */
/*
 * The processes of one host tell each other two things through its shared memory (base/host/memory.h): the newest
 * version of the change log that any of them has heard of, and hints.
 *
 * A hint is a hash of something that one process has stored where others can find it. Hints may be lost, and two values
 * may share a place. So a hint only saves a look-up; it never decides anything.
 */
#ifndef GATEHOUSE_BASE_HOST_HINTS_H
#define GATEHOUSE_BASE_HOST_HINTS_H

#include <stdbool.h>
#include <stdint.h>

/* The newest version of the change log that this host has heard of; 0 when no process has published one. */
uint64_t host_hints_change_version(void);

/* Publishes a version. A version older than the published one changes nothing. */
void host_hints_publish_change_version(uint64_t version);

/* Leaves the hint `value`. It takes the place of an earlier one with the same low bits. */
void host_hints_put(uint64_t value);

/* Whether the hint `value` is there. Without a shared file always true: the caller has to look. */
bool host_hints_has(uint64_t value);

#endif
