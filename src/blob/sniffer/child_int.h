/* SPDX-License-Identifier: MIT */
/* The two processes beside the worker. Their functions do not return: they end the process. */
#ifndef GATEHOUSE_BLOB_SNIFFER_CHILD_INT_H
#define GATEHOUSE_BLOB_SNIFFER_CHILD_INT_H

#include "base/sandbox/sandbox.h"

struct sniffer;

/* Lists of processes show these names (15 letters at most). */
#define KEEPER_NAME "sniffer-keeper"
#define SNIFFER_NAME "sniffer"

/* The keeper: obeys the worker at the other end of `control` until that is gone. */
void sniff_keeper_run(int control, char **arguments) __attribute__((noreturn));

/*
 * The sniffer: tells the worker at the other end of `socket` that it is ready, then answers it. `walls` are those that
 * the keeper has; NULL: none were wanted.
 */
void sniff_child_run(int socket, struct sniffer *sniffer, const struct sandbox_walls *walls) __attribute__((noreturn));

#endif
