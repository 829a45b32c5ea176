/* SPDX-License-Identifier: MIT */
/*
 * Landlock: which files this process may open, and which TCP ports it may connect to. The numbers and structs are those
 * of landlock(7); the header files of a system may be older than the kernel that the program meets.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sandbox/sandbox_int.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

#define VERSION_FLAG 1U
#define RULE_PATH_BENEATH 1
#define RULE_NET_PORT 2

/* Rights on files. */
#define WRITE_FILE (UINT64_C(1) << 1)
#define READ_FILE (UINT64_C(1) << 2)
#define READ_DIR (UINT64_C(1) << 3)
#define REMOVE_DIR (UINT64_C(1) << 4)
#define REMOVE_FILE (UINT64_C(1) << 5)
#define MAKE_DIR (UINT64_C(1) << 7)
#define MAKE_REG (UINT64_C(1) << 8)
#define ALL_OF_VERSION_1 ((UINT64_C(1) << 13) - 1)
#define REFER (UINT64_C(1) << 13)     /* version 2 */
#define TRUNCATE (UINT64_C(1) << 14)  /* version 3 */
#define IOCTL_DEV (UINT64_C(1) << 15) /* version 5 */
#define ON_FILES (WRITE_FILE | READ_FILE | TRUNCATE)
#define READING (READ_FILE | READ_DIR)
#define WRITING (READING | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE)

/* Rights on TCP. */
#define BIND_TCP (UINT64_C(1) << 0)
#define CONNECT_TCP (UINT64_C(1) << 1)

/* What stays inside: connections to abstract Unix sockets, signals. */
#define SCOPED_ALL UINT64_C(3)

struct ruleset {
    uint64_t files;
    uint64_t net;    /* version 4 */
    uint64_t scoped; /* version 6 */
};

struct path_rule {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

struct port_rule {
    uint64_t allowed;
    uint64_t port;
};

int sandbox_landlock_version(const char **problem_out)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, VERSION_FLAG);
    if (version > 0)
        return (int)version;
    *problem_out = errno == EOPNOTSUPP ? "Landlock is switched off on this machine (the kernel's parameter lsm=)"
                   : errno == ENOSYS   ? "this kernel has no Landlock (it came with 5.13), or a container hides it"
                                       : "a container or a service manager forbids Landlock";
    return 0;
}

static uint64_t known_files(int version)
{
    return ALL_OF_VERSION_1 | (version >= 2 ? REFER : 0) | (version >= 3 ? TRUNCATE : 0) |
           (version >= 5 ? IOCTL_DEV : 0);
}

/* Older kernels refuse a longer struct only where the surplus is not zero, so all of it can be passed. */
static int new_ruleset(int version)
{
    struct ruleset ruleset = {
        .files = known_files(version),
        .net = version >= SANDBOX_LANDLOCK_PORTS ? BIND_TCP | CONNECT_TCP : 0,
        .scoped = version >= SANDBOX_LANDLOCK_SIGNALS ? SCOPED_ALL : 0,
    };
    return (int)syscall(SYS_landlock_create_ruleset, &ruleset, sizeof ruleset, 0U);
}

/* What is not there, or may not be searched, needs no rule. */
static bool allow_path(int ruleset, int version, const struct sandbox_path *path)
{
    struct stat status;
    struct path_rule rule = {.allowed = path->access == SANDBOX_WRITE ? WRITING : READING};
    rule.folder = open(path->path, O_PATH | O_CLOEXEC);
    if (rule.folder < 0)
        return true;
    if (fstat(rule.folder, &status) == 0 && !S_ISDIR(status.st_mode))
        rule.allowed &= ON_FILES;
    rule.allowed &= known_files(version);
    bool added = syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0U) == 0;
    (void)close(rule.folder);
    return added;
}

static bool allow_port(int ruleset, uint16_t port)
{
    struct port_rule rule = {.allowed = CONNECT_TCP, .port = port};
    return syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &rule, 0U) == 0;
}

bool sandbox_landlock_raise(const struct sandbox_plan *plan, int version, const char **problem_out)
{
    int ruleset = new_ruleset(version);
    bool good = ruleset >= 0;
    for (size_t i = 0; good && i < plan->path_count; i++)
        good = allow_path(ruleset, version, &plan->paths[i]);
    for (size_t i = 0; good && version >= SANDBOX_LANDLOCK_PORTS && i < plan->port_count; i++)
        good = allow_port(ruleset, plan->ports[i]);
    good = good && syscall(SYS_landlock_restrict_self, ruleset, 0U) == 0;
    if (ruleset >= 0)
        (void)close(ruleset);
    if (!good)
        *problem_out = "the kernel refused the rules for Landlock";
    return good;
}
