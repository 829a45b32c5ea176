/* SPDX-License-Identifier: MIT */
#include "harness.h"

#define MODULES(X) \
    X(account)     \
    X(login)       \
    X(session)     \
    X(keys)        \
    X(refusal)     \
    X(cognito)
HARNESS_MAIN("identity", MODULES)
