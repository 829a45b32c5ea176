/* SPDX-License-Identifier: MIT */
/* Raises the walls in a child of a test, which then tries something. */
#ifndef GATEHOUSE_TESTS_UNIT_BASE_SANDBOX_SUPPORT_WALLS_H
#define GATEHOUSE_TESTS_UNIT_BASE_SANDBOX_SUPPORT_WALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sandbox/sandbox.h"

struct arena;

/* How a child of a test ends. */
enum end { END_DENIED, END_DONE, END_OTHER, END_KILLED };

/* The folders inside and outside, a port of each kind, and the process that raised no walls. */
struct walls_stand {
    const char *inside;
    const char *outside;
    uint16_t port_inside;
    uint16_t port_outside;
    pid_t parent;
    int landlock_most;
};
extern struct walls_stand stand;

/* New folders and ports, in `arena`. */
void walls_set_up(struct arena *arena);

/* Raises the walls of a service around this process. */
struct sandbox_walls walls_raise(void);

/*
 * Has a child try something behind the walls of a service, or of the process that examines files where `all_walls` is
 * true. An attempt answers 0 when it succeeded, else -1 with errno.
 */
enum end walls_run(int (*attempt)(void), bool all_walls);

/* The path of a file in a folder; until the next call. */
const char *walls_path(const char *folder, const char *name);

/* Attempts. */
int walls_open(const char *path, int flags);
int walls_connect(uint16_t port);
int walls_socket(int family, int type, int protocol);

#define PROBE(name, expression)                                                                                        \
    static int name(void)                                                                                              \
    {                                                                                                                  \
        return (expression);                                                                                           \
    }

#endif
