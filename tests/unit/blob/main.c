/* SPDX-License-Identifier: MIT */
/* The unit tests of the blob floor. */
#include "harness.h"

#define MODULES(X)                                                                                                     \
    X(content)                                                                                                         \
    X(directory)                                                                                                       \
    X(directory_stored)                                                                                                \
    X(faults)                                                                                                          \
    X(partial)                                                                                                         \
    X(partial_faults)                                                                                                  \
    X(directory_order)                                                                                                 \
    X(image)                                                                                                           \
    X(directory_sweep)                                                                                                 \
    X(s3)                                                                                                              \
    X(s3_answers)                                                                                                      \
    X(s3_faults)                                                                                                       \
    X(s3_partial)                                                                                                      \
    X(refusal)                                                                                                         \
    X(scanner)                                                                                                         \
    X(scanner_faults)                                                                                                  \
    X(sniff)                                                                                                           \
    X(sniffer)                                                                                                         \
    X(sniffer_child)                                                                                                   \
    X(sniffer_faults)                                                                                                  \
    X(sniffer_types)
HARNESS_MAIN("blob", MODULES)
