/* SPDX-License-Identifier: MIT */
#include "base/bodies.h"

#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "harness.h"

#define NOW INT64_C(1800000000000)
#define MINUTE INT64_C(60000)
#define CHILDREN 4

static const struct bodies_bounds bounds = {.per_token = 3, .per_address = 5};

static const char *open_new(void **state)
{
    const char *problem = NULL;
    metrics_close();
    struct arena *arena = harness_arena(state);
    const char *path = arena_format(arena, "%s/metrics", harness_directory(arena));
    if (!metrics_open(path, &problem))
        fail_msg("%s", problem);
    return path;
}

/* How many more bodies of that owner are let in. The shortest notes, so that giving them back takes no other. */
static int room(struct bodies_owner owner, const struct bodies_bounds *most, int64_t now)
{
    int count = 0;
    while (count <= LIMIT_UPLOAD_NOTES && bodies_begin(owner, most, 1, now))
        count++;
    for (int i = 0; i < count; i++)
        bodies_end(owner, now);
    return count;
}

static void a_token_and_an_address_have_so_many(void **state)
{
    (void)open_new(state);
    const struct bodies_owner one = {1, 1};
    const struct bodies_owner other = {2, 1};
    const struct bodies_owner elsewhere = {1, 2};
    for (int i = 0; i < 3; i++)
        assert_true(bodies_begin(one, &bounds, 60, NOW));
    assert_false(bodies_begin(one, &bounds, 60, NOW));
    assert_false(bodies_begin(elsewhere, &bounds, 60, NOW));
    assert_int_equal(room(other, &bounds, NOW), 2);
    assert_int_equal(room((struct bodies_owner){3, 3}, &bounds, NOW), 3);
    bodies_end(one, NOW);
    assert_int_equal(room(elsewhere, &bounds, NOW), 1);
    assert_int_equal(room(other, &bounds, NOW), 3);
    metrics_close();
}

static void an_end_takes_one_note_of_its_owner_and_no_other(void **state)
{
    (void)open_new(state);
    const struct bodies_owner owner = {7, 7};
    const struct bodies_owner strangers[] = {{7, 8}, {8, 7}, {0, 0}};
    assert_true(bodies_begin(owner, &bounds, 60, NOW));
    for (size_t i = 0; i < 3; i++)
        bodies_end(strangers[i], NOW);
    assert_int_equal(room(owner, &bounds, NOW), 2);
    bodies_end(owner, NOW);
    bodies_end(owner, NOW);
    assert_int_equal(room(owner, &bounds, NOW), 3);
    metrics_close();
}

/* The note nearest to its end goes first, so a body that came never shortens the time of one under way. */
static void a_note_is_forgotten_when_its_time_is_over(void **state)
{
    (void)open_new(state);
    const struct bodies_owner owner = {9, 9};
    assert_true(bodies_begin(owner, &bounds, 10, NOW));
    assert_true(bodies_begin(owner, &bounds, 100, NOW));
    assert_true(bodies_begin(owner, &bounds, 1000000000, NOW));
    assert_int_equal(room(owner, &bounds, NOW + 9999), 0);
    assert_int_equal(room(owner, &bounds, NOW + 10000), 1);
    assert_true(bodies_begin(owner, &bounds, 10, NOW + 20000));
    bodies_end(owner, NOW + 20000);
    assert_int_equal(room(owner, &bounds, NOW + 99999), 1);
    assert_int_equal(room(owner, &bounds, NOW + 100000), 2);
    assert_int_equal(room(owner, &bounds, NOW + LIMIT_UPLOAD_SECONDS * 1000 - 1), 2);
    assert_int_equal(room(owner, &bounds, NOW + LIMIT_UPLOAD_SECONDS * 1000), 3);
    metrics_close();
}

/* Seconds are kept modulo 2^24: a note from before the turn is no eternal one, and one across it holds. */
static void the_turn_of_the_seconds_changes_nothing(void **state)
{
    (void)open_new(state);
    const int64_t turn = (NOW / 1000 / (1 << 24) + 1) * (1 << 24) * 1000;
    const struct bodies_owner owner = {11, 11};
    assert_true(bodies_begin(owner, &bounds, 60, turn - 30000));
    assert_int_equal(room(owner, &bounds, turn + 29999), 2);
    assert_int_equal(room(owner, &bounds, turn + 30000), 3);
    metrics_close();
}

static void a_clock_that_was_set_back_keeps_nobody_out_for_ever(void **state)
{
    (void)open_new(state);
    const struct bodies_owner owner = {12, 12};
    for (int i = 0; i < 3; i++)
        assert_true(bodies_begin(owner, &bounds, 60, NOW));
    assert_int_equal(room(owner, &bounds, NOW - LIMIT_UPLOAD_SECONDS * 1000), 3);
    metrics_close();
}

static void a_full_table_makes_room_for_the_newest(void **state)
{
    (void)open_new(state);
    const struct bodies_bounds wide = {LIMIT_UPLOAD_NOTES, LIMIT_UPLOAD_NOTES};
    const struct bodies_owner first = {1, 1};
    const struct bodies_owner newest = {2, 2};
    assert_true(bodies_begin(first, &wide, 50, NOW));
    for (int i = 0; i < LIMIT_UPLOAD_NOTES - 1; i++)
        assert_true(bodies_begin(first, &wide, 60, NOW));
    assert_false(bodies_begin(first, &wide, 60, NOW));
    for (int i = 0; i < 3; i++)
        assert_true(bodies_begin(newest, &bounds, 70, NOW));
    assert_false(bodies_begin(newest, &bounds, 70, NOW));
    /* Those that left were the ones nearest to their end, the others are all there. */
    for (int i = 0; i < LIMIT_UPLOAD_NOTES - 3; i++)
        bodies_end(first, NOW);
    assert_int_equal(room(first, &bounds, NOW), 3);
    assert_int_equal(room(newest, &bounds, NOW), 0);
    metrics_close();
}

static void without_a_shared_file_nothing_is_counted(void **state)
{
    (void)state;
    metrics_close();
    for (int i = 0; i < 20; i++)
        assert_true(bodies_begin((struct bodies_owner){1, 1}, &bounds, 60, NOW));
    bodies_end((struct bodies_owner){1, 1}, NOW);
}

/* ---- several processes ----------------------------------------------------------------------------- */

/* Asks for one place again and again, and gives it back; ends with 1 when more than one process had it at a time. */
static void compete(const char *path, int inside, int outside)
{
    const struct bodies_bounds one = {1, 1};
    const struct bodies_owner owner = {5, 5};
    const char *problem;
    char byte;
    if (!metrics_open(path, &problem))
        _exit(2);
    for (int done = 0; done < 200;) {
        if (!bodies_begin(owner, &one, 60, NOW))
            continue;
        /* A pipe with one byte: who finds none is not alone. */
        if (read(inside, &byte, 1) != 1)
            _exit(1);
        (void)!write(outside, "x", 1);
        bodies_end(owner, NOW);
        done++;
    }
    _exit(0);
}

static void of_processes_that_ask_at_once_no_more_are_let_in(void **state)
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
    assert_int_equal(room((struct bodies_owner){5, 5}, &bounds, NOW), 3);
    (void)close(place[0]);
    (void)close(place[1]);
    metrics_close();
}

/*
 * Killed anywhere between its steps, it leaves its own notes behind until they are over, and nothing that holds others
 * up.
 */
static void a_killed_process_leaves_notes_that_are_forgotten(void **state)
{
    const char *path = open_new(state);
    const struct bodies_owner owner = {6, 6};
    for (int round = 0; round < 20; round++) {
        int ready[2];
        char byte;
        int64_t now = NOW + round * MINUTE;
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const char *problem;
            if (!metrics_open(path, &problem))
                _exit(2);
            (void)!write(ready[1], "x", 1);
            for (;;)
                if (bodies_begin(owner, &bounds, 60, now))
                    bodies_end(owner, now);
        }
        assert_int_equal(read(ready[0], &byte, 1), 1);
        const struct timespec moment = {.tv_nsec = 1000000 + round * 37000};
        (void)nanosleep(&moment, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        (void)close(ready[0]);
        (void)close(ready[1]);
        assert_in_range(room(owner, &bounds, now), 2, 3);
        assert_int_equal(room(owner, &bounds, now + MINUTE), 3);
    }
    metrics_close();
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_token_and_an_address_have_so_many),
    HARNESS_TEST(an_end_takes_one_note_of_its_owner_and_no_other),
    HARNESS_TEST(a_note_is_forgotten_when_its_time_is_over),
    HARNESS_TEST(the_turn_of_the_seconds_changes_nothing),
    HARNESS_TEST(a_clock_that_was_set_back_keeps_nobody_out_for_ever),
    HARNESS_TEST(a_full_table_makes_room_for_the_newest),
    HARNESS_TEST(without_a_shared_file_nothing_is_counted),
    HARNESS_TEST(of_processes_that_ask_at_once_no_more_are_let_in),
    HARNESS_TEST(a_killed_process_leaves_notes_that_are_forgotten),
};
HARNESS_MODULE(bodies, cases)
