/* SPDX-License-Identifier: MIT */
/* The unit tests of the http floor. */
#include "harness.h"

#define MODULES(X)                                                                                                     \
    X(accept)                                                                                                          \
    X(body_file)                                                                                                       \
    X(cookie)                                                                                                          \
    X(disposition)                                                                                                     \
    X(fastcgi)                                                                                                         \
    X(fastcgi_guard)                                                                                                   \
    X(multipart)                                                                                                       \
    X(multipart_header)                                                                                                \
    X(range)                                                                                                           \
    X(request)                                                                                                         \
    X(schema)                                                                                                          \
    X(upload_header)
HARNESS_MAIN("http", MODULES)
