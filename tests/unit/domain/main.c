/* SPDX-License-Identifier: MIT */
/* Runs the unit tests of this floor. */
#include "harness.h"

#define MODULES(X)                                                                                                     \
    X(address_keys)                                                                                                    \
    X(permission)                                                                                                      \
    X(permission_use)                                                                                                  \
    X(statements)                                                                                                      \
    X(role)                                                                                                            \
    X(user)                                                                                                            \
    X(password_policy)                                                                                                 \
    X(provisioning)                                                                                                    \
    X(principal)                                                                                                       \
    X(principal_rebuild)                                                                                               \
    X(session_memo)                                                                                                    \
    X(refresh_token)                                                                                                   \
    X(session)                                                                                                         \
    X(known_device)                                                                                                    \
    X(session_list)                                                                                                    \
    X(outbox)                                                                                                          \
    X(file)                                                                                                            \
    X(file_list)                                                                                                       \
    X(file_list_sorted)                                                                                                \
    X(file_usage)                                                                                                      \
    X(link_key)                                                                                                        \
    X(throttle)                                                                                                        \
    X(throttle_use)                                                                                                    \
    X(one_time_code)                                                                                                   \
    X(user_change)                                                                                                     \
    X(user_list)                                                                                                       \
    X(audit_list)                                                                                                      \
    X(change_log)                                                                                                      \
    X(settings)                                                                                                        \
    X(refused_statements)                                                                                              \
    X(migrate_refusal)
HARNESS_MAIN("domain", MODULES)
