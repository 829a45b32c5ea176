/* SPDX-License-Identifier: MIT */
/* Runs the unit tests of this floor. */
#include "harness.h"

#define MODULES(X) X(route) X(dispatch)
HARNESS_MAIN("api", MODULES)
