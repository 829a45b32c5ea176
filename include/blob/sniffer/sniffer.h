/* SPDX-License-Identifier: MIT */
/*
 * Finds out what a file is (blob/sniff.h) in another process. libmagic and the reader of picture headers look at bytes
 * that anybody may send, so a fault in them must not cost more than the answer for these bytes.
 *
 *     worker --- keeper --- sniffer
 *
 * The keeper is forked before the worker has read a secret or opened a file. It loads libmagic's database, and never
 * sees a byte of a client. It forks the sniffer, ends it when it is told so, and forks the next one. The sniffer has
 * one socket to the worker, no file, no network, the system calls of SANDBOX_CALLS_SNIFFER, and bounds on memory and
 * processor time (base/limits.h, LIMIT_SNIFFER_...). Both end with the worker, whatever ends that.
 *
 * A sniffer that dies, is silent for LIMIT_SNIFFER_MILLISECONDS or says what cannot be costs one file an error. The
 * next one is started at once.
 */
#ifndef GATEHOUSE_BLOB_SNIFFER_SNIFFER_H
#define GATEHOUSE_BLOB_SNIFFER_SNIFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "blob/sniff.h"

struct arena;
struct error;
struct sandbox_walls;
struct sniff_process;

/*
 * Forks the keeper; to be called before a secret is in memory, a file is open or a thread runs. `arguments` are those
 * of main(), which the keeper overwrites with a name of its own, so that lists of processes show what it is (NULL: it
 * keeps them). Lives in `arena` (the process's), with which the processes end. INTERNAL where there is no room for it.
 */
struct error *sniff_process_fork(struct arena *arena, char **arguments, struct sniff_process **process_out);

/*
 * Starts the first sniffer, with the walls of base/sandbox where `sandbox` is true, waits until it is ready, and tells
 * which walls hold. INTERNAL when libmagic's database cannot be loaded or no process can be started.
 */
struct error *sniff_process_start(struct sniff_process *process, struct arena *arena, bool sandbox,
                                  struct sandbox_walls *walls_out);

/* As sniff(), in the sniffer. INTERNAL, with the reason as its detail, when the sniffer gives no usable answer. */
struct error *sniff_process_examine(struct sniff_process *process, struct arena *arena, const void *bytes,
                                    size_t length, const struct sniff_rest *rest, struct sniffed *sniffed_out);

/* Whether no sniffer can be started any more: this process must end, and its successor take over. */
bool sniff_process_lost(const struct sniff_process *process);

#endif
