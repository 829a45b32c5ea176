/* SPDX-License-Identifier: MIT */
/* Runs the unit tests of this floor. */
#include "harness.h"

#define MODULES(X) X(route) X(dispatch) X(session_cookie)
HARNESS_MAIN("api", MODULES)
