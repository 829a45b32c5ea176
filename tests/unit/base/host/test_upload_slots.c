/* SPDX-License-Identifier: MIT */
/* Slots of uploads: bounded by token and address, shared by processes, expiring. */
#include "base/host/upload_slots.h"

#include "config.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/host/process.h"
#include "base/host_memory_int.h"
#include "base/limits.h"
#include "harness.h"

#define NOW INT64_C(1800000000000)
#define MINUTE INT64_C(60000)
#define CHILDREN 4
#define ROUNDS 200
#define TENTATIVE (UINT64_C(1) << 23)

static const struct upload_slots_bounds bounds = {.per_token = 3, .per_address = 5};

static const char *open_new(void **state)
{
    const char *problem = NULL;
    host_process_close();
    struct arena *arena = harness_arena(state);
    const char *path = arena_format(arena, "%s/metrics", harness_directory(arena));
    if (!host_process_open(path, &problem))
        fail_msg("%s", problem);
    return path;
}

/*
 * How many more uploads of that owner are admitted. They last a second, so that a release frees one of these and no
 * other.
 */
static int free_slots(struct upload_slots_owner owner, const struct upload_slots_bounds *most, int64_t now)
{
    int count = 0;
    while (count <= LIMIT_UPLOAD_SLOTS && upload_slots_take(owner, most, 1, now))
        count++;
    for (int i = 0; i < count; i++)
        upload_slots_release(owner, now);
    return count;
}

static void a_token_and_an_address_have_their_bounds(void **state)
{
    (void)open_new(state);
    const struct upload_slots_owner one = {1, 1};
    const struct upload_slots_owner other = {2, 1};
    const struct upload_slots_owner elsewhere = {1, 2};
    for (int i = 0; i < 3; i++)
        assert_true(upload_slots_take(one, &bounds, 60, NOW));
    assert_false(upload_slots_take(one, &bounds, 60, NOW));
    assert_false(upload_slots_take(elsewhere, &bounds, 60, NOW));
    assert_int_equal(free_slots(other, &bounds, NOW), 2);
    assert_int_equal(free_slots((struct upload_slots_owner){3, 3}, &bounds, NOW), 3);
    upload_slots_release(one, NOW);
    assert_int_equal(free_slots(elsewhere, &bounds, NOW), 1);
    assert_int_equal(free_slots(other, &bounds, NOW), 3);
    host_process_close();
}

static void a_release_frees_one_slot_of_its_owner_and_no_other(void **state)
{
    (void)open_new(state);
    const struct upload_slots_owner owner = {7, 7};
    const struct upload_slots_owner strangers[] = {{7, 8}, {8, 7}, {0, 0}};
    assert_true(upload_slots_take(owner, &bounds, 60, NOW));
    for (size_t i = 0; i < 3; i++)
        upload_slots_release(strangers[i], NOW);
    assert_int_equal(free_slots(owner, &bounds, NOW), 2);
    upload_slots_release(owner, NOW);
    upload_slots_release(owner, NOW);
    assert_int_equal(free_slots(owner, &bounds, NOW), 3);
    host_process_close();
}

/*
 * A process that looks again, before it admits an upload or gives its slot back, may have a word that equals another
 * one's but for the mark, at a place that is found first. A release frees the other one.
 */
static void a_slot_of_who_still_looks_is_released_by_nobody_else(void **state)
{
    (void)open_new(state);
    const struct upload_slots_owner owner = {8, 8};
    assert_true(upload_slots_take(owner, &bounds, 60, NOW));
    size_t place = 0;
    while (atomic_load(&host_memory()->upload_slots[place]) == 0)
        place++;
    assert_int_equal(atomic_fetch_or(&host_memory()->upload_slots[place], TENTATIVE) & TENTATIVE, 0);
    assert_true(upload_slots_take(owner, &bounds, 60, NOW));
    assert_int_equal(free_slots(owner, &bounds, NOW), 1);
    upload_slots_release(owner, NOW);
    upload_slots_release(owner, NOW);
    assert_true((atomic_load(&host_memory()->upload_slots[place]) & TENTATIVE) != 0);
    assert_int_equal(free_slots(owner, &bounds, NOW), 2);
    assert_int_equal(free_slots(owner, &bounds, NOW + MINUTE), 3);
    host_process_close();
}

/* The slot that expires first is released first, so an upload that ended never shortens the time of one under way. */
static void a_slot_expires_when_its_time_is_over(void **state)
{
    (void)open_new(state);
    const struct upload_slots_owner owner = {9, 9};
    assert_true(upload_slots_take(owner, &bounds, 10, NOW));
    assert_true(upload_slots_take(owner, &bounds, 100, NOW));
    assert_true(upload_slots_take(owner, &bounds, 1000000000, NOW));
    assert_int_equal(free_slots(owner, &bounds, NOW + 9999), 0);
    assert_int_equal(free_slots(owner, &bounds, NOW + 10000), 1);
    assert_true(upload_slots_take(owner, &bounds, 10, NOW + 20000));
    upload_slots_release(owner, NOW + 20000);
    assert_int_equal(free_slots(owner, &bounds, NOW + 99999), 1);
    assert_int_equal(free_slots(owner, &bounds, NOW + 100000), 2);
    assert_int_equal(free_slots(owner, &bounds, NOW + LIMIT_UPLOAD_SECONDS * 1000 - 1), 2);
    assert_int_equal(free_slots(owner, &bounds, NOW + LIMIT_UPLOAD_SECONDS * 1000), 3);
    host_process_close();
}

/* Seconds are kept modulo 2^23. A slot taken before the turn expires after it, at its time. */
static void the_turn_of_the_seconds_changes_nothing(void **state)
{
    (void)open_new(state);
    const int64_t turn = (NOW / 1000 / (1 << 23) + 1) * (1 << 23) * 1000;
    const struct upload_slots_owner owner = {11, 11};
    assert_true(upload_slots_take(owner, &bounds, 60, turn - 30000));
    assert_int_equal(free_slots(owner, &bounds, turn + 29999), 2);
    assert_int_equal(free_slots(owner, &bounds, turn + 30000), 3);
    host_process_close();
}

static void a_clock_that_was_set_back_refuses_nobody_for_ever(void **state)
{
    (void)open_new(state);
    const struct upload_slots_owner owner = {12, 12};
    for (int i = 0; i < 3; i++)
        assert_true(upload_slots_take(owner, &bounds, 60, NOW));
    assert_int_equal(free_slots(owner, &bounds, NOW - LIMIT_UPLOAD_SECONDS * 1000), 3);
    host_process_close();
}

static void a_full_table_takes_the_newest(void **state)
{
    (void)open_new(state);
    const struct upload_slots_bounds wide = {LIMIT_UPLOAD_SLOTS, LIMIT_UPLOAD_SLOTS};
    const struct upload_slots_owner first = {1, 1};
    const struct upload_slots_owner newest = {2, 2};
    assert_true(upload_slots_take(first, &wide, 50, NOW));
    for (int i = 0; i < LIMIT_UPLOAD_SLOTS - 1; i++)
        assert_true(upload_slots_take(first, &wide, 60, NOW));
    assert_false(upload_slots_take(first, &wide, 60, NOW));
    for (int i = 0; i < 3; i++)
        assert_true(upload_slots_take(newest, &bounds, 70, NOW));
    assert_false(upload_slots_take(newest, &bounds, 70, NOW));
    /* The slots that expire first were overwritten; all others are there. */
    for (int i = 0; i < LIMIT_UPLOAD_SLOTS - 3; i++)
        upload_slots_release(first, NOW);
    assert_int_equal(free_slots(first, &bounds, NOW), 3);
    assert_int_equal(free_slots(newest, &bounds, NOW), 0);
    host_process_close();
}

static void without_a_shared_file_nothing_is_counted(void **state)
{
    (void)state;
    host_process_close();
    for (int i = 0; i < 20; i++)
        assert_true(upload_slots_take((struct upload_slots_owner){1, 1}, &bounds, 60, NOW));
    upload_slots_release((struct upload_slots_owner){1, 1}, NOW);
}

/* ---- several processes ----------------------------------------------------------------------------- */

/* Takes the only slot and releases it, again and again. Exits with 1 when another process had it at the same time. */
static void compete(const char *path, int inside, int outside)
{
    const struct upload_slots_bounds one = {1, 1};
    const struct upload_slots_owner owner = {5, 5};
    const char *problem;
    char byte;
    if (!host_process_open(path, &problem))
        _exit(2);
    for (int done = 0; done < 200;) {
        if (!upload_slots_take(owner, &one, 60, NOW))
            continue;
        /* The pipe holds one byte. A process that finds none is not alone. */
        if (read(inside, &byte, 1) != 1)
            _exit(1);
        (void)!write(outside, "x", 1);
        upload_slots_release(owner, NOW);
        done++;
    }
    _exit(0);
}

static void of_processes_that_ask_at_once_no_more_are_admitted(void **state)
{
    const char *path = open_new(state);
    int place[2];
    pid_t children[CHILDREN];
    assert_int_equal(pipe2(place, O_NONBLOCK), 0);
    assert_int_equal(write(place[1], "x", 1), 1);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            compete(path, place[0], place[1]);
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(free_slots((struct upload_slots_owner){5, 5}, &bounds, NOW), 3);
    (void)close(place[0]);
    (void)close(place[1]);
    host_process_close();
}

struct race {
    _Atomic int arrived;
    _Atomic int admitted;
};

/*
 * Goes on when both processes are here. Where they may run on several processors it does not yield, so that each of the
 * two stays on one of its own.
 */
static void meet(struct race *race)
{
    cpu_set_t processors;
    const bool alone = sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) == 1;
    int here = atomic_fetch_add(&race->arrived, 1) + 1;
    while (atomic_load(&race->arrived) < here + here % 2)
        if (alone)
            (void)sched_yield();
}

/* Exits with 1 when of two processes that ask for the only slot at one moment not just one has it. */
static void ask_together(const char *path, struct race *race, uint32_t address)
{
    const struct upload_slots_bounds one = {1, 1};
    const struct upload_slots_owner owner = {4, address};
    const char *problem;
    if (!host_process_open(path, &problem))
        _exit(2);
    (void)alarm(120);
    for (int round = 1; round <= ROUNDS; round++) {
        meet(race);
        bool admitted = upload_slots_take(owner, &one, 60, NOW);
        (void)atomic_fetch_add(&race->admitted, admitted);
        meet(race);
        if (atomic_load(&race->admitted) != round)
            _exit(1);
        if (admitted)
            upload_slots_release(owner, NOW);
    }
    _exit(0);
}

/* The address says where in the table the slots are: how long after it put its own each process looks at them. */
static void of_two_processes_that_ask_at_once_one_has_the_last_place(void **state)
{
    static const uint32_t addresses[] = {LIMIT_UPLOAD_SLOTS / 2, LIMIT_UPLOAD_SLOTS - 2};
    const char *path = open_new(state);
    for (size_t at = 0; at < 2; at++) {
        struct race *race = mmap(NULL, sizeof *race, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        pid_t children[2];
        assert_true(race != MAP_FAILED);
        for (int i = 0; i < 2; i++) {
            children[i] = fork();
            assert_true(children[i] >= 0);
            if (children[i] == 0)
                ask_together(path, race, addresses[at]);
        }
        for (int i = 0; i < 2; i++) {
            int status;
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
            assert_int_equal(status, 0);
        }
        assert_int_equal(munmap(race, sizeof *race), 0);
    }
    host_process_close();
}

/* Two processes do not read the clock at the same moment; a slot with the longest time is nobody's to free. */
static void a_clock_that_is_a_second_behind_frees_no_slot(void **state)
{
    (void)open_new(state);
    const struct upload_slots_owner owner = {14, 14};
    assert_true(upload_slots_take(owner, &bounds, LIMIT_UPLOAD_SECONDS, NOW));
    assert_int_equal(free_slots(owner, &bounds, NOW - 1), 2);
    assert_int_equal(free_slots(owner, &bounds, NOW), 2);
    host_process_close();
}

static bool has_tentative_slot(void)
{
    bool found = false;
    for (size_t i = 0; i < LIMIT_UPLOAD_SLOTS; i++)
        found |= (atomic_load(&host_memory()->upload_slots[i]) & TENTATIVE) != 0;
    return found;
}

/*
 * Killed between any two steps, a process leaves its own slots until they expire, and nothing that blocks others. A
 * slot that does not stand for an upload yet expires within two seconds.
 */
static void a_killed_process_leaves_slots_that_expire(void **state)
{
    const char *path = open_new(state);
    const struct upload_slots_owner owner = {6, 6};
    for (int round = 0; round < 20; round++) {
        int ready[2];
        char byte;
        int64_t now = NOW + round * MINUTE;
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const char *problem;
            if (!host_process_open(path, &problem))
                _exit(2);
            (void)!write(ready[1], "x", 1);
            for (;;)
                if (upload_slots_take(owner, &bounds, 60, now))
                    upload_slots_release(owner, now);
        }
        assert_int_equal(read(ready[0], &byte, 1), 1);
        const struct timespec moment = {.tv_nsec = 1000000 + round * 37000};
        (void)nanosleep(&moment, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        (void)close(ready[0]);
        (void)close(ready[1]);
        const bool is_tentative = has_tentative_slot();
        assert_in_range(free_slots(owner, &bounds, now), 2, 3);
        if (is_tentative)
            assert_int_equal(free_slots(owner, &bounds, now + 2000), 3);
        assert_int_equal(free_slots(owner, &bounds, now + MINUTE), 3);
    }
    host_process_close();
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_token_and_an_address_have_their_bounds),
    HARNESS_TEST(a_release_frees_one_slot_of_its_owner_and_no_other),
    HARNESS_TEST(a_slot_of_who_still_looks_is_released_by_nobody_else),
    HARNESS_TEST(a_slot_expires_when_its_time_is_over),
    HARNESS_TEST(the_turn_of_the_seconds_changes_nothing),
    HARNESS_TEST(a_clock_that_was_set_back_refuses_nobody_for_ever),
    HARNESS_TEST(a_full_table_takes_the_newest),
    HARNESS_TEST(without_a_shared_file_nothing_is_counted),
    HARNESS_TEST(of_processes_that_ask_at_once_no_more_are_admitted),
    HARNESS_TEST(of_two_processes_that_ask_at_once_one_has_the_last_place),
    HARNESS_TEST(a_clock_that_is_a_second_behind_frees_no_slot),
    HARNESS_TEST(a_killed_process_leaves_slots_that_expire),
};
HARNESS_MODULE(upload_slots, cases)
