/* SPDX-License-Identifier: MIT */
/* Raises the walls around this process, and notices when a folder behind them was replaced. */
#include "base/sandbox/sandbox.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/sandbox/sandbox_int.h"

#define LOOK_MICROSECONDS 1000000

/* A watched path, and what was there. */
struct watched {
    const char *path;
    bool found;
    dev_t device;
    ino_t inode;
};

static struct {
    bool landlock;
    bool outdated;
    int64_t looked; /* clock_monotonic() */
    struct watched watched[SANDBOX_PATHS_MAX];
    size_t watched_count;
} state;

void sandbox_allow_path(struct sandbox_plan *plan, const char *path, enum sandbox_access access, bool watched)
{
    if (path == NULL)
        return;
    for (size_t i = 0; i < plan->path_count; i++)
        if (plan->paths[i].access == access && strcmp(plan->paths[i].path, path) == 0) {
            plan->paths[i].watched = plan->paths[i].watched || watched;
            return;
        }
    if (plan->path_count < SANDBOX_PATHS_MAX)
        plan->paths[plan->path_count++] = (struct sandbox_path){path, access, watched};
}

void sandbox_allow_port(struct sandbox_plan *plan, int64_t port)
{
    if (port <= 0 || port > UINT16_MAX || plan->port_count == SANDBOX_PORTS_MAX)
        return;
    for (size_t i = 0; i < plan->port_count; i++)
        if (plan->ports[i] == port)
            return;
    plan->ports[plan->port_count++] = (uint16_t)port;
}

static void add_problem(struct sandbox_walls *walls, const char *problem)
{
    if (problem == NULL)
        return;
    if (walls->problem == NULL)
        walls->problem = problem;
    else
        walls->problem2 = problem;
}

/* What the versions of Landlock up to this one can do. */
static void set_landlock(struct sandbox_walls *walls, int version, const char *problem)
{
    if (version > 0 && version < SANDBOX_LANDLOCK_LEAST)
        problem =
            "this kernel's Landlock cannot let files move between folders (5.19 and newer can), so it is not used";
    else if (version >= SANDBOX_LANDLOCK_LEAST && version < SANDBOX_LANDLOCK_PORTS)
        problem = "this kernel's Landlock does not bound connections (6.7 and newer do)";
    walls->landlock = version < SANDBOX_LANDLOCK_LEAST ? 0 : version;
    walls->ports = version >= SANDBOX_LANDLOCK_PORTS;
    walls->signals = version >= SANDBOX_LANDLOCK_SIGNALS;
    add_problem(walls, problem);
}

struct sandbox_walls sandbox_offered(void)
{
    struct sandbox_walls walls = {0};
    const char *problem = NULL;
    int version = sandbox_landlock_version(&problem);
    set_landlock(&walls, version, problem);
    problem = NULL;
    walls.calls = sandbox_calls_offered(&problem);
    add_problem(&walls, problem);
    return walls;
}

static void look_at(struct watched *watched, const char *path)
{
    struct stat status;
    watched->path = path;
    watched->found = stat(path, &status) == 0;
    watched->device = watched->found ? status.st_dev : 0;
    watched->inode = watched->found ? status.st_ino : 0;
}

static void watch(const struct sandbox_plan *plan)
{
    state.watched_count = 0;
    for (size_t i = 0; i < plan->path_count; i++)
        if (plan->paths[i].watched)
            look_at(&state.watched[state.watched_count++], plan->paths[i].path);
}

struct sandbox_walls sandbox_raise(const struct sandbox_plan *plan)
{
    struct sandbox_walls walls = {0};
    const char *problem = NULL;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0) {
        add_problem(&walls, "this kernel lets no process give up new privileges");
        return walls;
    }
    int version = sandbox_landlock_version(&problem);
    if (plan->landlock_most != 0 && version > plan->landlock_most)
        version = plan->landlock_most;
    set_landlock(&walls, version, problem);
    watch(plan);
    problem = NULL;
    if (walls.landlock != 0 && !sandbox_landlock_raise(plan, version, &problem)) {
        walls = (struct sandbox_walls){0};
        add_problem(&walls, problem);
    }
    state.landlock = walls.landlock != 0;
    problem = NULL;
    walls.calls = sandbox_calls_raise(plan->calls, &problem);
    add_problem(&walls, problem);
    return walls;
}

bool sandbox_narrow(enum sandbox_calls calls, const char **problem_out)
{
    return sandbox_calls_raise(calls, problem_out);
}

bool sandbox_bound(size_t memory, unsigned seconds)
{
    const struct {
        unsigned char resource; /* one C library takes a signed number, the other an unsigned one */
        rlim_t most;
    } bounds[] = {
        {RLIMIT_NOFILE, 0}, {RLIMIT_FSIZE, 0}, {RLIMIT_NPROC, 0}, {RLIMIT_CPU, seconds}, {RLIMIT_DATA, memory}};
    bool good = true;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const struct rlimit most = {bounds[i].most, bounds[i].most};
        if (SANDBOX_SANITIZED && bounds[i].resource == RLIMIT_DATA)
            continue;
        if (setrlimit(bounds[i].resource, &most) != 0)
            good = false;
    }
    return good;
}

/* What is missing now may come back as it was. */
static bool is_replaced(const struct watched *watched)
{
    struct watched now;
    look_at(&now, watched->path);
    return now.found && (!watched->found || now.device != watched->device || now.inode != watched->inode);
}

bool sandbox_is_outdated(int64_t now)
{
    if (!state.landlock || state.outdated || now - state.looked < LOOK_MICROSECONDS)
        return state.outdated;
    state.looked = now;
    for (size_t i = 0; i < state.watched_count && !state.outdated; i++)
        state.outdated = is_replaced(&state.watched[i]);
    return state.outdated;
}

void sandbox_outdate(void)
{
    state.outdated = state.landlock;
}
