/* SPDX-License-Identifier: MIT */
/* Runs the unit tests of this floor. */
#include "harness.h"

#define MODULES(X)                                                                                                     \
    X(embedded_account)                                                                                                \
    X(embedded_login)                                                                                                  \
    X(embedded_password)                                                                                               \
    X(embedded_refusal)                                                                                                \
    X(embedded_session)                                                                                                \
    X(embedded_session_end)                                                                                            \
    X(embedded_signing_keys)                                                                                           \
    X(remote_check)                                                                                                    \
    X(remote_circuit_breaker)                                                                                          \
    X(remote_password_intent)                                                                                          \
    X(remote_provider)                                                                                                 \
    X(cognito_codes)                                                                                                   \
    X(cognito_provider)                                                                                                \
    X(keycloak_faults)                                                                                                 \
    X(keycloak_provider)
HARNESS_MAIN("identity", MODULES)
