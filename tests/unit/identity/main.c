/* SPDX-License-Identifier: MIT */
/* Runs the unit tests of this floor. */
#include "harness.h"

#define MODULES(X)                                                                                                     \
    X(provider_open)                                                                                                   \
    X(embedded_account)                                                                                                \
    X(embedded_key_failure)                                                                                            \
    X(embedded_login)                                                                                                  \
    X(embedded_password)                                                                                               \
    X(embedded_refusal)                                                                                                \
    X(embedded_session)                                                                                                \
    X(embedded_session_end)                                                                                            \
    X(embedded_signing_keys)                                                                                           \
    X(embedded_strange)                                                                                                \
    X(remote_check)                                                                                                    \
    X(remote_account_failure)                                                                                          \
    X(remote_circuit_breaker)                                                                                          \
    X(remote_meeting)                                                                                                  \
    X(remote_password_intent)                                                                                          \
    X(remote_provider)                                                                                                 \
    X(remote_session_failure)                                                                                          \
    X(cognito_codes)                                                                                                   \
    X(cognito_calls)                                                                                                   \
    X(cognito_answers)                                                                                                 \
    X(cognito_provider)                                                                                                \
    X(keycloak_faults)                                                                                                 \
    X(keycloak_answers)                                                                                                \
    X(keycloak_provider)
HARNESS_MAIN("identity", MODULES)
