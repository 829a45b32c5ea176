/* SPDX-License-Identifier: MIT */
/* Runs the unit tests of this floor. */
#include "harness.h"

#define MODULES(X)                                                                                                     \
    X(arena)                                                                                                           \
    X(clock)                                                                                                           \
    X(configuration)                                                                                                   \
    X(error)                                                                                                           \
    X(folder)                                                                                                          \
    X(host_hints)                                                                                                      \
    X(host_memory)                                                                                                     \
    X(host_memory_faults)                                                                                              \
    X(host_process)                                                                                                    \
    X(id)                                                                                                              \
    X(language)                                                                                                        \
    X(log)                                                                                                             \
    X(log_file)                                                                                                        \
    X(log_filter)                                                                                                      \
    X(metrics)                                                                                                         \
    X(metrics_totals)                                                                                                  \
    X(name)                                                                                                            \
    X(network)                                                                                                         \
    X(sandbox)                                                                                                         \
    X(sandbox_duties)                                                                                                  \
    X(sandbox_faults)                                                                                                  \
    X(sandbox_libraries)                                                                                               \
    X(secret)                                                                                                          \
    X(text)                                                                                                            \
    X(upload_slots)

HARNESS_MAIN("base", MODULES)
