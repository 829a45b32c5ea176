/* SPDX-License-Identifier: MIT */
/*
 * Guards every step on the LMDB file: takes the lock, and returns from a step that cannot end.
 *
 * LMDB's own lock file is not used (MDB_NOLOCK). Its mutexes lie in a mapped file: garbage there, or a process that is
 * stopped while it holds one, would block all others for ever. The lock here is the kernel's, on the file itself
 * (flock). It has no content that could break, it ends with the process that holds it, and a new file has a new lock.
 *
 * Many processes may read at once; a writer is alone. That is what LMDB asks of callers that do the locking (it then
 * needs neither a reader table nor old pages). An unbroken stream of readers would keep a writer out for ever. So after
 * a while the writer closes a gate, a lock on the first byte of the file, which readers check before they take the
 * lock. Only readers that have checked the gate already still enter, each once.
 *
 * Waiting has an end. When nobody has written meanwhile, some process keeps the lock, and the file is as good as
 * broken: that process may go on with it, and all others make a new file.
 *
 * A broken page may end the process (SIGBUS, SIGSEGV, SIGFPE, an assertion of LMDB's own, or SIGABRT where the C
 * library finds that LMDB has overrun a list), send it into an endless loop, or make LMDB fill the machine's memory
 * (it notes each page that a value frees, as many as the page claims: up to 32 GiB of notes). cache_guarded() returns
 * from the first at once, from the second after WATCH_TICKS, and from the third after the tick that sees it. A tick is
 * a short piece of processor time: a process that is stopped or gets no processor does not count as one in a loop.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/cache/cache_int.h"

#define LOCK_MICROSECONDS 1000000
#define GATE_MICROSECONDS 100000
#define PAUSE_MIN_NANOSECONDS 50000L
#define PAUSE_MAX_NANOSECONDS 2000000L
#define WATCH_TICK_NANOSECONDS 20000000L
#define WATCH_TICKS 250
#define WATCH_SIGNAL SIGVTALRM

/* What a step may need beside the file's own pages. */
#define MEMORY_KIBIBYTES (64L * 1024)

/* The manual page and musl use this name; glibc lacks it. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* A variable, since a signal handler has no parameter for it. One thread, and one guarded step at a time. */
static struct {
    sigjmp_buf point;
    volatile sig_atomic_t armed;
    struct sigaction bus, segment, arithmetic, abortion;
    timer_t watch;
    volatile sig_atomic_t ticks; /* since the step began */
    long peak_at_first;          /* the most memory that the process had had by the first tick, in KiB */
    long allowance;              /* how much more it may have, in KiB */
    pid_t owner; /* the process whose timer it is: a forked child has none until it opens a file itself; 0: nobody's */
} guard;

/* ---- the lock ------------------------------------------------------------------------------------ */

/*
 * The numbers of the last two transactions, as LMDB 0.9 writes them into the first pages of the file; 0 for a file
 * without them.
 */
static uint64_t last_transactions(int descriptor)
{
    enum { TRANSACTION_AT = 144 };
    uint64_t first = 0, second = 0;
    if (pread(descriptor, &first, sizeof first, TRANSACTION_AT) != (ssize_t)sizeof first ||
        pread(descriptor, &second, sizeof second, TRANSACTION_AT + sysconf(_SC_PAGESIZE)) != (ssize_t)sizeof second)
        return 0;
    return first + second;
}

/* Any number of writers may close the gate. It is open when the last of them has opened it or is dead. */
static struct flock gate(short kind)
{
    return (struct flock){.l_type = kind, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
}

static void set_gate(int descriptor, bool closed)
{
    struct flock ours = gate(closed ? F_RDLCK : F_UNLCK);
    (void)fcntl(descriptor, F_OFD_SETLK, &ours);
}

static bool gate_is_closed(int descriptor)
{
    struct flock other = gate(F_WRLCK);
    return fcntl(descriptor, F_OFD_GETLK, &other) == 0 && other.l_type != F_UNLCK;
}

static int try_lock(int descriptor, bool alone)
{
    if (!alone && gate_is_closed(descriptor))
        return EWOULDBLOCK;
    return flock(descriptor, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 ? 0 : errno;
}

int cache_lock(int descriptor, bool alone)
{
    struct timespec pause = {.tv_nsec = PAUSE_MIN_NANOSECONDS};
    int64_t begun = 0;
    uint64_t before = 0;
    bool closed = false;
    int code;
    while ((code = try_lock(descriptor, alone)) == EWOULDBLOCK || code == EINTR) {
        int64_t now = clock_monotonic();
        if (begun == 0) {
            begun = now;
            before = last_transactions(descriptor);
        }
        if (now - begun > LOCK_MICROSECONDS) {
            code = last_transactions(descriptor) == before ? CACHE_STUCK : CACHE_BUSY;
            break;
        }
        if (alone && !closed && now - begun > GATE_MICROSECONDS) {
            closed = true;
            set_gate(descriptor, true);
        }
        (void)nanosleep(&pause, NULL);
        if (pause.tv_nsec < PAUSE_MAX_NANOSECONDS)
            pause.tv_nsec *= 2;
    }
    if (closed)
        set_gate(descriptor, false);
    return code;
}

void cache_unlock(int descriptor)
{
    (void)flock(descriptor, LOCK_UN);
}

/* ---- faults -------------------------------------------------------------------------------------- */

static void watch(long nanoseconds)
{
    const struct itimerspec time = {.it_interval = {.tv_nsec = nanoseconds}, .it_value = {.tv_nsec = nanoseconds}};
    if (guard.owner != 0)
        (void)timer_settime(guard.watch, 0, &time, NULL);
}

static void leave_step(void)
{
    guard.armed = 0;
    siglongjmp(guard.point, 1);
}

/* The fault is not LMDB's: the former handler is put back, and the instruction runs again. */
static void on_fault(int number)
{
    if (guard.armed)
        leave_step();
    (void)sigaction(number,
                    number == SIGBUS    ? &guard.bus
                    : number == SIGFPE  ? &guard.arithmetic
                    : number == SIGABRT ? &guard.abortion
                                        : &guard.segment,
                    NULL);
}

static void on_tick(int number)
{
    struct rusage usage;
    (void)number;
    if (!guard.armed)
        return;
    long peak = getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
    if (guard.ticks == 0)
        guard.peak_at_first = peak;
    guard.ticks = guard.ticks + 1;
    if (guard.ticks >= WATCH_TICKS || peak - guard.peak_at_first > guard.allowance)
        leave_step();
}

void cache_on_assert(MDB_env *env, const char *message)
{
    (void)env;
    (void)message;
    if (guard.armed)
        leave_step();
}

/* The signal goes to this thread alone: only this thread has a point to return to. */
static void make_watch(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WATCH_SIGNAL};
    event.sigev_notify_thread_id = gettid();
    guard.owner = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &guard.watch) == 0 ? getpid() : 0;
}

/* Installs the handler for a signal, unless it is installed already. */
static void catch_signal(int number, void (*handler)(int number), struct sigaction *before)
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER | SA_RESTART};
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler != handler)
        (void)sigaction(number, &action, before);
}

void cache_guard_install(void)
{
    catch_signal(SIGBUS, on_fault, &guard.bus);
    catch_signal(SIGSEGV, on_fault, &guard.segment);
    catch_signal(SIGFPE, on_fault, &guard.arithmetic); /* a page size of 0 */
    catch_signal(SIGABRT, on_fault, &guard.abortion);
    catch_signal(WATCH_SIGNAL, on_tick, NULL);
    if (guard.owner != getpid())
        make_watch();
}

int cache_guarded(int (*step)(struct cache_attempt *attempt), struct cache_attempt *attempt)
{
    if (sigsetjmp(guard.point, 0) != 0) {
        watch(0);
        return CACHE_FAULT;
    }
    guard.ticks = 0;
    guard.allowance = MEMORY_KIBIBYTES + (long)(attempt->cache->bytes / 1024);
    guard.armed = 1;
    watch(WATCH_TICK_NANOSECONDS);
    int code = step(attempt);
    guard.armed = 0;
    watch(0);
    return code;
}
