/* SPDX-License-Identifier: MIT */
/*
 * Takes from this process what it needs no more once it has started: new privileges, all files but those of a plan, TCP
 * ports but those of the plan (both by Landlock), and all system calls but those of a list (by seccomp, through
 * libseccomp). It holds for the process and all its threads and children, and cannot be taken back.
 *
 * A rule of Landlock belongs to the folder that was there, not to its path. Where another folder takes its place, by a
 * mount or by renaming, this process may not look into that one: sandbox_is_outdated() tells so, and a new process must
 * take over.
 *
 * Nothing becomes code behind the walls: neither memory nor a file can be mapped to be run. So every library must be
 * loaded before, those of the C library by sandbox_load_libraries().
 *
 * A helper process gives up more: it has a shorter list of calls, and bounds on memory and processor time.
 *
 * For the main thread, before there is another one.
 */
#ifndef GATEHOUSE_BASE_SANDBOX_H
#define GATEHOUSE_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SANDBOX_PATHS_MAX 96
#define SANDBOX_PORTS_MAX 32

enum sandbox_access {
    SANDBOX_READ, /* files, and what is in folders */
    SANDBOX_WRITE /* all of it, and to make, change, rename and remove files and folders */
};

struct sandbox_path {
    const char *path; /* must live as long as the process */
    enum sandbox_access access;
    /* Whether sandbox_is_outdated() looks at it. Not where a look may hang, as on a disk of another machine. */
    bool watched;
};

/* Which system calls stay. */
enum sandbox_calls {
    SANDBOX_CALLS_SERVICE, /* what workers and job runners need */
    SANDBOX_CALLS_KEEPER,  /* to start and end children that narrow themselves, and to speak by sockets that are open */
    SANDBOX_CALLS_SNIFFER  /* to compute, and to speak by one socket that is open: a dozen calls */
};

struct sandbox_plan {
    enum sandbox_calls calls;
    struct sandbox_path paths[SANDBOX_PATHS_MAX]; /* files, and folders with all below; missing ones are left out */
    size_t path_count;
    uint16_t ports[SANDBOX_PORTS_MAX]; /* of TCP, to connect to */
    size_t port_count;
    int landlock_most; /* for tests: the newest version of Landlock to use; 0: any */
};

/* What the kernel offers, and what of it holds for this process after sandbox_raise(). */
struct sandbox_walls {
    int landlock;         /* its version (ABI); 0: none, or one too old to be used */
    bool ports;           /* Landlock bounds TCP connections; from its version 4 */
    bool signals;         /* Landlock keeps signals inside; from its version 6 */
    bool calls;           /* seccomp */
    const char *problem;  /* why one is missing, a sentence; NULL: none is */
    const char *problem2; /* another one */
};

/* What this kernel offers. Changes nothing. */
struct sandbox_walls sandbox_offered(void);

/*
 * Adds a path or a port to the plan. A NULL path, a port of 0, what is there already and what has no room is not added.
 */
void sandbox_allow_path(struct sandbox_plan *plan, const char *path, enum sandbox_access access, bool watched);
void sandbox_allow_port(struct sandbox_plan *plan, int64_t port);

/*
 * Loads what the C library would load later: the modules by which `nsswitch`, a file as /etc/nsswitch.conf, has hosts
 * looked up, and what ends threads. Once, before the walls are raised.
 */
void sandbox_load_libraries(const char *nsswitch);

/* Raises every wall that the kernel offers, and tells which ones hold. */
struct sandbox_walls sandbox_raise(const struct sandbox_plan *plan);

/*
 * Takes more system calls from a process whose walls stand with SANDBOX_CALLS_KEEPER, or has none. False with a
 * sentence in *problem_out.
 */
bool sandbox_narrow(enum sandbox_calls calls, const char **problem_out);

/*
 * Bounds what this process may use from now on: `memory` bytes of data (not where the program was built with a
 * sanitizer, which takes more), so many seconds of the processor, no new descriptor, file or process. More than that
 * ends it, or is refused. False when one of the bounds was not set; the others hold.
 */
bool sandbox_bound(size_t memory, unsigned seconds);

/*
 * Whether another file or folder is now at a watched path, so that this process may not open it. Looks at most once a
 * second by `now` (clock_monotonic(), microseconds). Always false without Landlock.
 */
bool sandbox_is_outdated(int64_t now);

/* Makes sandbox_is_outdated() true where Landlock holds: somebody found that a folder was replaced. */
void sandbox_outdate(void);

#endif
