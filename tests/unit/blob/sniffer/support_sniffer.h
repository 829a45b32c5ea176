/* SPDX-License-Identifier: MIT */
/* A keeper of the test's own in the place of the sniffer's, and calls of the system that fail. */
#ifndef GATEHOUSE_TESTS_BLOB_SNIFFER_SUPPORT_SNIFFER_H
#define GATEHOUSE_TESTS_BLOB_SNIFFER_SUPPORT_SNIFFER_H

#include <stdbool.h>

/* What the next keeper does in its process, with its socket to the worker; NULL: the keeper is the real one. */
void support_sniffer_keeper(void (*keeper)(int control));

/* The next so many calls fail. A process that is forked has its own copy. */
struct support_sniffer_faults {
    unsigned socketpair, fork, close_range;
    unsigned poll_interrupted, poll_broken, receive_interrupted, send_interrupted;
    bool spent; /* the process has used half of a sniffer's time */
};
extern struct support_sniffer_faults support_sniffer_faults;

void support_sniffer_clear(void);

#endif
