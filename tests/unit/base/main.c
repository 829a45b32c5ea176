/* SPDX-License-Identifier: MIT */
#include "harness.h"

#define MODULES(X)                                                                                           \
    X(arena)                                                                                                 \
    X(bodies)                                                                                                \
    X(clock)                                                                                                 \
    X(configuration)                                                                                         \
    X(error)                                                                                                 \
    X(id)                                                                                                    \
    X(log)                                                                                                   \
    X(log_filter)                                                                                            \
    X(metrics)                                                                                               \
    X(name)                                                                                                  \
    X(network)                                                                                               \
    X(secret)                                                                                                \
    X(text)

HARNESS_MAIN("base", MODULES)
