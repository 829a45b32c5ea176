/* SPDX-License-Identifier: MIT */
/* The two walls of base/sandbox.c. */
#ifndef GATEHOUSE_BASE_SANDBOX_INT_H
#define GATEHOUSE_BASE_SANDBOX_INT_H

#include "base/sandbox/sandbox.h"

/* Whether this program was built with a sanitizer: its end needs more than the program itself. */
#if defined(__SANITIZE_ADDRESS__)
#define SANDBOX_SANITIZED true
#else
#define SANDBOX_SANITIZED false
#endif

/* The first version of Landlock that lets files move from one folder to another. */
#define SANDBOX_LANDLOCK_LEAST 2
#define SANDBOX_LANDLOCK_PORTS 4
#define SANDBOX_LANDLOCK_SIGNALS 6

/* The kernel's version of Landlock; 0 with a sentence in *problem_out when there is none. */
int sandbox_landlock_version(const char **problem_out);

/* Confines this thread to the plan, by what version `version` can do. False with a sentence in *problem_out. */
bool sandbox_landlock_raise(const struct sandbox_plan *plan, int version, const char **problem_out);

/* Whether the kernel has filters of system calls. */
bool sandbox_calls_offered(const char **problem_out);

/* Allows this process only the system calls of a list. False with a sentence in *problem_out. */
bool sandbox_calls_raise(enum sandbox_calls calls, const char **problem_out);

#endif
