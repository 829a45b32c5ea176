/* SPDX-License-Identifier: MIT */
#include "harness.h"

#define MODULES(X) X(route) X(dispatch)
HARNESS_MAIN("api", MODULES)
