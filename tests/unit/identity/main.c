/* SPDX-License-Identifier: MIT */
#include "harness.h"

#define MODULES(X)                                                                                                     \
    X(account)                                                                                                         \
    X(login)                                                                                                           \
    X(embedded_password)                                                                                               \
    X(session)                                                                                                         \
    X(session_end)                                                                                                     \
    X(keys)                                                                                                            \
    X(refusal)                                                                                                         \
    X(remote)                                                                                                          \
    X(gate)                                                                                                            \
    X(codes)                                                                                                           \
    X(check)                                                                                                           \
    X(intent)                                                                                                          \
    X(cognito)                                                                                                         \
    X(keycloak)                                                                                                        \
    X(keycloak_faults)
HARNESS_MAIN("identity", MODULES)
