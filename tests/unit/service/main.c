/* SPDX-License-Identifier: MIT */
#include "harness.h"

#define MODULES(X)     \
    X(health)          \
    X(inspect)         \
    X(grant)           \
    X(link)            \
    X(creation)        \
    X(accounts)        \
    X(member)          \
    X(equal_work)      \
    X(authority)       \
    X(mail_flood)      \
    X(live)            \
    X(token_share)     \
    X(fsck)            \
    X(purge)           \
    X(scrub)           \
    X(adjust)          \
    X(backup)
HARNESS_MAIN("service", MODULES)
