/* SPDX-License-Identifier: MIT */
/* Has the machine read libmagic's data, so that a cold disk is not what the tests of the sniffer measure. */
#ifndef GATEHOUSE_TESTS_BLOB_SNIFFER_SUPPORT_WARM_UP_H
#define GATEHOUSE_TESTS_BLOB_SNIFFER_SUPPORT_WARM_UP_H

/*
 * Starts sniffers in a process that then ends, once for the whole program: three at most, until one is ready. What
 * becomes of them counts for nothing.
 */
void support_sniffer_warm_up(void);

#endif
