/* SPDX-License-Identifier: MIT */
/* The sandbox where the kernel offers less, or refuses: what does not hold is told, and the other walls stand. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/sandbox/sandbox_int.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

/* ---- a kernel as the test wants it ------------------------------------------------------------------ */

/* All zero: the kernel as it is. */
static struct {
    int no_landlock;         /* the errno with which the question for Landlock's version is answered */
    unsigned landlock_fail;  /* which call of Landlock fails, counted from 1 behind that question */
    unsigned landlock_calls; /* made so far */
    bool keeps_privileges;   /* no_new_privs is refused */
    bool no_filters;         /* of system calls */
    bool no_filter_memory;   /* a filter cannot be begun */
    unsigned rule_fail;      /* which rule of a filter cannot be added, counted from 1 */
    unsigned rules;          /* added so far */
    bool rules_are_there;    /* a rule that is added is there already */
    bool load_fails;         /* the kernel refuses the filter */
    bool load_pretends;      /* the filter is not loaded, and the answer is as if it were */
    unsigned loads;          /* filters that reached the kernel */
    unsigned limit_fail;     /* which limit of a resource is refused, counted from 1 */
    unsigned limits;         /* asked for so far */
} kernel;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);
unsigned __real_seccomp_api_get(void);
unsigned __wrap_seccomp_api_get(void);
scmp_filter_ctx __real_seccomp_init(uint32_t action);
scmp_filter_ctx __wrap_seccomp_init(uint32_t action);
int __real_seccomp_rule_add_array(scmp_filter_ctx filter, uint32_t action, int call, unsigned count,
                                  const struct scmp_arg_cmp *arguments);
int __wrap_seccomp_rule_add_array(scmp_filter_ctx filter, uint32_t action, int call, unsigned count,
                                  const struct scmp_arg_cmp *arguments);
int __real_seccomp_load(scmp_filter_ctx filter);
int __wrap_seccomp_load(scmp_filter_ctx filter);

int __real_setrlimit(int resource, const struct rlimit *limit);
int __wrap_setrlimit(int resource, const struct rlimit *limit);

int __wrap_setrlimit(int resource, const struct rlimit *limit)
{
    if (++kernel.limits != kernel.limit_fail)
        return __real_setrlimit(resource, limit);
    errno = EPERM;
    return -1;
}

static bool landlock_fails(long number, long first)
{
    if (number == SYS_landlock_create_ruleset && first == 0) {
        errno = kernel.no_landlock;
        return kernel.no_landlock != 0;
    }
    if (number < SYS_landlock_create_ruleset || number > SYS_landlock_restrict_self ||
        ++kernel.landlock_calls != kernel.landlock_fail)
        return false;
    errno = EINVAL;
    return true;
}

long __wrap_syscall(long number, ...)
{
    va_list list;
    long values[6];
    va_start(list, number);
    for (size_t i = 0; i < 6; i++)
        values[i] = va_arg(list, long);
    va_end(list);
    if (landlock_fails(number, values[0]))
        return -1;
    return __real_syscall(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

int __wrap_prctl(int option, ...)
{
    va_list list;
    unsigned long values[4];
    va_start(list, option);
    for (size_t i = 0; i < 4; i++)
        values[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_NO_NEW_PRIVS && kernel.keeps_privileges) {
        errno = EINVAL;
        return -1;
    }
    return __real_prctl(option, values[0], values[1], values[2], values[3]);
}

unsigned __wrap_seccomp_api_get(void)
{
    return kernel.no_filters ? 2 : __real_seccomp_api_get();
}

scmp_filter_ctx __wrap_seccomp_init(uint32_t action)
{
    return kernel.no_filter_memory ? NULL : __real_seccomp_init(action);
}

int __wrap_seccomp_rule_add_array(scmp_filter_ctx filter, uint32_t action, int call, unsigned count,
                                  const struct scmp_arg_cmp *arguments)
{
    if (++kernel.rules == kernel.rule_fail)
        return -ENOMEM;
    int code = __real_seccomp_rule_add_array(filter, action, call, count, arguments);
    return code == 0 && kernel.rules_are_there ? -EEXIST : code;
}

int __wrap_seccomp_load(scmp_filter_ctx filter)
{
    kernel.loads++;
    if (kernel.load_fails)
        return -EFAULT;
    return kernel.load_pretends ? 0 : __real_seccomp_load(filter);
}

/* ---- what still stands ------------------------------------------------------------------------------ */

/* What a child sees behind the walls that it could raise. */
struct seen {
    struct sandbox_walls walls;
    bool reads_outside; /* Landlock would deny it */
    bool makes_netlink; /* seccomp would deny it */
    bool outdated;      /* after somebody has found a folder replaced */
    int next;           /* the descriptor that is free next, before and after */
    int next_then;
};

static int free_descriptor(void)
{
    int fd = dup(STDIN_FILENO);
    (void)close(fd);
    return fd;
}

static bool opens_passwords(void)
{
    int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

static bool makes_netlink(void)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

/* Raises the walls for one folder and one port in a child, with the kernel as it is told. */
static struct seen raise_in_child(void)
{
    struct seen seen;
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct sandbox_plan plan = {.calls = SANDBOX_CALLS_SERVICE};
        sandbox_allow_path(&plan, "/usr/lib", SANDBOX_READ, true);
        sandbox_allow_path(&plan, "/etc/hosts", SANDBOX_WRITE, false);
        sandbox_allow_port(&plan, 53);
        memset(&seen, 0, sizeof seen);
        seen.next = free_descriptor();
        seen.walls = sandbox_raise(&plan);
        seen.next_then = free_descriptor();
        seen.reads_outside = opens_passwords();
        seen.makes_netlink = makes_netlink();
        sandbox_outdate();
        seen.outdated = sandbox_is_outdated(5000000);
        _exit(write(ends[1], &seen, sizeof seen) == (ssize_t)sizeof seen ? 0 : 1);
    }
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &seen, sizeof seen), sizeof seen);
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(seen.next_then, seen.next);
    return seen;
}

static void reset(void)
{
    memset(&kernel, 0, sizeof kernel);
}

/* Nothing of Landlock is claimed, and the filter of system calls stands all the same. */
static void expect_calls_alone(const struct seen *seen, const char *words)
{
    if (seen->walls.landlock != 0 || seen->walls.ports || seen->walls.signals)
        fail_msg("%s: Landlock is claimed", words);
    if (seen->walls.problem == NULL || strstr(seen->walls.problem, words) == NULL)
        fail_msg("%s: is told as: %s", words, seen->walls.problem == NULL ? "nothing" : seen->walls.problem);
    assert_true(seen->reads_outside);
    assert_true(seen->walls.calls);
    assert_false(seen->makes_netlink);
    assert_false(seen->outdated);
}

static void a_kernel_without_landlock_is_told_and_the_filter_stands(void **state)
{
    static const struct {
        int number;
        const char *words;
    } rows[] = {{EOPNOTSUPP, "switched off"}, {ENOSYS, "no Landlock"}, {EPERM, "forbids Landlock"}};
    (void)state;
    reset();
    if (!sandbox_offered().calls)
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reset();
        kernel.no_landlock = rows[i].number;
        const struct sandbox_walls offered = sandbox_offered();
        assert_int_equal(offered.landlock, 0);
        assert_non_null(strstr(offered.problem, rows[i].words));
        assert_true(offered.calls);
        const struct seen seen = raise_in_child();
        expect_calls_alone(&seen, rows[i].words);
    }
    reset();
}

/* The ruleset, its rules for two paths and a port, and the last step. */
static void rules_that_the_kernel_refuses_are_told_and_the_filter_stands(void **state)
{
    (void)state;
    reset();
    const struct sandbox_walls offered = sandbox_offered();
    const unsigned steps = offered.ports ? 5 : 4;
    if (!offered.calls || offered.landlock == 0)
        skip();
    for (unsigned step = 1; step <= steps; step++) {
        reset();
        kernel.landlock_fail = step;
        const struct seen seen = raise_in_child();
        expect_calls_alone(&seen, "refused the rules for Landlock");
    }
    reset();
    kernel.landlock_fail = steps + 1;
    const struct seen seen = raise_in_child();
    assert_int_equal(seen.walls.landlock, offered.landlock);
    assert_false(seen.reads_outside);
    assert_true(seen.outdated);
    reset();
}

static void a_process_that_keeps_its_privileges_has_no_walls(void **state)
{
    (void)state;
    reset();
    kernel.keeps_privileges = true;
    const struct seen seen = raise_in_child();
    assert_true(seen.walls.landlock == 0 && !seen.walls.calls && !seen.walls.ports && !seen.walls.signals);
    assert_non_null(strstr(seen.walls.problem, "new privileges"));
    assert_true(seen.reads_outside);
    assert_false(seen.outdated);
    reset();
}

static void expect_landlock_alone(const struct seen *seen, int landlock, const char *words)
{
    assert_false(seen->walls.calls);
    assert_non_null(seen->walls.problem);
    /* A kernel's Landlock may be told of first. */
    if (strstr(seen->walls.problem, words) == NULL &&
        (seen->walls.problem2 == NULL || strstr(seen->walls.problem2, words) == NULL))
        fail_msg("%s: is told as: %s", words, seen->walls.problem);
    assert_int_equal(seen->walls.landlock, landlock);
    assert_int_equal(seen->reads_outside, landlock == 0);
    assert_true(seen->makes_netlink);
}

static void a_filter_that_does_not_stand_is_told_and_landlock_stands(void **state)
{
    (void)state;
    reset();
    const int landlock = sandbox_offered().landlock;
    kernel.no_filters = true;
    assert_false(sandbox_offered().calls);
    struct seen seen = raise_in_child();
    expect_landlock_alone(&seen, landlock, "no filters of system calls");
    reset();
    kernel.no_filter_memory = true;
    seen = raise_in_child();
    expect_landlock_alone(&seen, landlock, "refused the filter");
    reset();
    kernel.load_fails = true;
    seen = raise_in_child();
    expect_landlock_alone(&seen, landlock, "refused the filter");
    reset();
    kernel.rule_fail = 1;
    seen = raise_in_child();
    expect_landlock_alone(&seen, landlock, "refused the filter");
    reset();
}

static void two_problems_are_both_told(void **state)
{
    (void)state;
    reset();
    kernel.no_landlock = ENOSYS;
    kernel.no_filters = true;
    const struct sandbox_walls offered = sandbox_offered();
    assert_non_null(strstr(offered.problem, "Landlock"));
    assert_non_null(strstr(offered.problem2, "seccomp"));
    const struct seen seen = raise_in_child();
    assert_true(seen.walls.landlock == 0 && !seen.walls.calls && !seen.outdated);
    assert_non_null(strstr(seen.walls.problem2, "seccomp"));
    reset();
}

/* A filter with a hole would be worse than none that is told. */
static void a_filter_without_one_of_its_rules_is_never_loaded(void **state)
{
    static const enum sandbox_calls lists[] = {SANDBOX_CALLS_SERVICE, SANDBOX_CALLS_KEEPER, SANDBOX_CALLS_SNIFFER};
    (void)state;
    reset();
    if (!sandbox_offered().calls)
        skip();
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *problem = NULL;
        reset();
        kernel.load_pretends = true;
        assert_true(sandbox_narrow(lists[i], &problem));
        assert_null(problem);
        assert_int_equal(kernel.loads, 1);
        const unsigned rules = kernel.rules;
        assert_true(rules > 20);
        /* The last one makes clone3() tell that it is not there. */
        for (unsigned fail = 1; fail <= rules; fail += fail < rules && fail + 5 > rules ? rules - fail : 5) {
            reset();
            kernel.load_pretends = true;
            kernel.rule_fail = fail;
            problem = NULL;
            if (sandbox_narrow(lists[i], &problem) || kernel.loads != 0)
                fail_msg("list %zu was loaded without rule %u", i, fail);
            assert_non_null(strstr(problem, "refused the filter"));
        }
    }
    reset();
}

/* Two names of one call make the same rule. */
static void a_rule_that_is_there_already_is_no_failure(void **state)
{
    const char *problem = NULL;
    (void)state;
    reset();
    if (!sandbox_offered().calls)
        skip();
    kernel.load_pretends = true;
    kernel.rules_are_there = true;
    assert_true(sandbox_narrow(SANDBOX_CALLS_SNIFFER, &problem));
    assert_int_equal(kernel.loads, 1);
    reset();
}

#define BOUNDS (SANDBOX_SANITIZED ? 4U : 5U)

/* Ends with 0 where a bound that the kernel refuses, if it refuses one, is told, and all others hold. */
static void bound_this_process(void *context)
{
    static const struct {
        int resource;
        rlim_t most;
    } bounds[] = {{RLIMIT_NOFILE, 0}, {RLIMIT_FSIZE, 0}, {RLIMIT_NPROC, 0}, {RLIMIT_CPU, 60}, {RLIMIT_DATA, 64 << 20}};
    const unsigned refused = *(const unsigned *)context;
    struct rlimit limit;
    kernel.limit_fail = refused;
    bool good = sandbox_bound(64 << 20, 60) == (refused == 0);
    for (unsigned i = 0; i < BOUNDS; i++) {
        bool found = getrlimit(bounds[i].resource, &limit) == 0;
        good = good && found && (limit.rlim_max == bounds[i].most) == (i + 1 != refused);
    }
    _exit(good ? 0 : 1);
}

static void a_bound_that_is_refused_is_told_and_the_others_hold(void **state)
{
    (void)state;
    reset();
    for (unsigned refused = 0; refused <= BOUNDS; refused++)
        if (harness_fork(bound_this_process, &refused) != 0)
            fail_msg("bound %u", refused);
}

static void a_plan_is_never_longer_than_its_room(void **state)
{
    static struct sandbox_plan plan;
    struct arena *arena = harness_arena(state);
    for (int i = 0; i < SANDBOX_PATHS_MAX + 5; i++)
        sandbox_allow_path(&plan, arena_format(arena, "/some/%d", i), SANDBOX_READ, false);
    assert_int_equal(plan.path_count, SANDBOX_PATHS_MAX);
    assert_string_equal(plan.paths[SANDBOX_PATHS_MAX - 1].path, arena_format(arena, "/some/%d", SANDBOX_PATHS_MAX - 1));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_kernel_without_landlock_is_told_and_the_filter_stands),
    HARNESS_TEST(rules_that_the_kernel_refuses_are_told_and_the_filter_stands),
    HARNESS_TEST(a_process_that_keeps_its_privileges_has_no_walls),
    HARNESS_TEST(a_filter_that_does_not_stand_is_told_and_landlock_stands),
    HARNESS_TEST(two_problems_are_both_told),
    HARNESS_TEST(a_filter_without_one_of_its_rules_is_never_loaded),
    HARNESS_TEST(a_rule_that_is_there_already_is_no_failure),
    HARNESS_TEST(a_bound_that_is_refused_is_told_and_the_others_hold),
    HARNESS_TEST(a_plan_is_never_longer_than_its_room),
};
HARNESS_MODULE(sandbox_faults, cases)
