/* SPDX-License-Identifier: MIT */
/* Runs the unit tests of this floor. */
#include "harness.h"

#define MODULES(X)                                                                                                     \
    X(address)                                                                                                         \
    X(csv)                                                                                                             \
    X(digest)                                                                                                          \
    X(document)                                                                                                        \
    X(document_scan)                                                                                                   \
    X(encoding)                                                                                                        \
    X(key_set_read)                                                                                                    \
    X(language_tag)                                                                                                    \
    X(password_hash)                                                                                                   \
    X(random)                                                                                                          \
    X(running_digest)                                                                                                  \
    X(seal)                                                                                                            \
    X(signing_key)                                                                                                     \
    X(sigv4)                                                                                                           \
    X(token)                                                                                                           \
    X(token_attack)                                                                                                    \
    X(token_library)                                                                                                   \
    X(token_memo)                                                                                                      \
    X(visible)                                                                                                         \
    X(xml)

HARNESS_MAIN("codec", MODULES)
