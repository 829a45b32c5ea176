/* SPDX-License-Identifier: MIT */
/* Runs the unit tests of this floor. */
#include "harness.h"

#define MODULES(X)                                                                                                     \
    X(database_failure)                                                                                                \
    X(sql_split)                                                                                                       \
    X(mail)                                                                                                            \
    X(mail_template)                                                                                                   \
    X(mail_file)                                                                                                       \
    X(mail_smtp)                                                                                                       \
    X(database)                                                                                                        \
    X(connection)                                                                                                      \
    X(connection_options)                                                                                              \
    X(connection_tls)                                                                                                  \
    X(host_list)                                                                                                       \
    X(node)                                                                                                            \
    X(connect)                                                                                                         \
    X(cut)                                                                                                             \
    X(conflict)                                                                                                        \
    X(transaction)                                                                                                     \
    X(row_lock)                                                                                                        \
    X(migrate)                                                                                                         \
    X(migrate_grants)                                                                                                  \
    X(dump)                                                                                                            \
    X(http_client)                                                                                                     \
    X(http_client_faults)                                                                                              \
    X(cache)                                                                                                           \
    X(cache_calls)                                                                                                     \
    X(cache_faults)                                                                                                    \
    X(cache_loader)                                                                                                    \
    X(cache_stuck)
HARNESS_MAIN("store", MODULES)
