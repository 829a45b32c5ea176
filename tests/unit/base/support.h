/* SPDX-License-Identifier: MIT */
/* What the tests of the host's shared memory have in common. */
#ifndef GATEHOUSE_TESTS_BASE_SUPPORT_H
#define GATEHOUSE_TESTS_BASE_SUPPORT_H

#include <stdbool.h>

/* Leaves the shared memory and returns a path in the test's own directory, where no file is yet. */
const char *support_new_path(void **state);

/* Opens the shared memory at `path`; the test fails where that is impossible. */
void support_open_host(const char *path);

/* All metrics as text. */
const char *support_metrics(void **state);

/* Whether `line` is one whole line of support_metrics(). */
bool support_metrics_have(void **state, const char *line);

#endif
