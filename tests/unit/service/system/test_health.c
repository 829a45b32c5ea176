/* SPDX-License-Identifier: MIT */
/* Tests checks in a child process: answers come back, and one that hangs is left in time, with no connection. */
#include "harness.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "service/runtime/service.h"
#include "service/system/health_int.h"

#define SECOND 1000000

static struct error *is_well(struct service *service, struct arena *arena)
{
    (void)service;
    (void)arena;
    return NULL;
}

static struct error *is_full(struct service *service, struct arena *arena)
{
    (void)service;
    return error_new(arena, ERROR_STORAGE_FULL, "%d bytes are free", 7);
}

static struct error *hangs(struct service *service, struct arena *arena)
{
    (void)service;
    (void)arena;
    (void)sleep(600);
    return NULL;
}

static struct error *dies(struct service *service, struct arena *arena)
{
    (void)service;
    (void)arena;
    _exit(1);
}

static void answers_come_in_the_order_of_the_questions(void **state)
{
    static const struct health_question questions[] = {
        {HEALTH_STORAGE, is_well}, {HEALTH_LOG, is_full}, {HEALTH_CACHE, is_well}};
    struct service service = {0};
    struct health_look look;
    struct error *errors[3] = {NULL};
    health_apart_begin(&service, questions, 3, clock_monotonic() + 60 * SECOND, &look);
    assert_int_equal(health_apart_end(harness_arena(state), &look, 3, errors), 3);
    assert_null(errors[0]);
    assert_int_equal(errors[1]->code, ERROR_STORAGE_FULL);
    assert_string_equal(errors[1]->detail, "7 bytes are free");
    assert_null(errors[2]);
}

/* No look begins before the child of the last one is gone, and on a busy machine even a killed one takes its time. */
static void begin(const struct health_question *questions, size_t count, int64_t patience, struct health_look *look_out)
{
    struct service service = {0};
    int64_t until = clock_monotonic() + 60 * (int64_t)SECOND;
    health_apart_begin(&service, questions, count, clock_monotonic() + patience, look_out);
    while (look_out->pid == 0 && clock_monotonic() < until) {
        (void)usleep(10000);
        health_apart_begin(&service, questions, count, clock_monotonic() + patience, look_out);
    }
    assert_true(look_out->pid > 0);
}

static size_t ask_in_vain(struct arena *arena, const struct health_question *questions, size_t count, int64_t patience)
{
    struct health_look look;
    struct error *errors[3] = {NULL};
    begin(questions, count, patience, &look);
    int64_t begun = clock_monotonic();
    size_t answered = health_apart_end(arena, &look, count, errors);
    /* A machine that others use, too; what hangs does so for ten minutes. */
    assert_true(clock_monotonic() - begun < patience + 20 * (int64_t)SECOND);
    return answered;
}

static void what_hangs_is_left_behind_and_the_next_look_begins_anew(void **state)
{
    static const struct health_question questions[] = {
        {HEALTH_STORAGE, is_well}, {HEALTH_LOG, hangs}, {HEALTH_CACHE, is_well}};
    for (int i = 0; i < 2; i++)
        assert_int_equal(ask_in_vain(harness_arena(state), questions, 3, 10 * (int64_t)SECOND), 1);
}

static void a_child_that_dies_ends_the_waiting_at_once(void **state)
{
    static const struct health_question questions[] = {{HEALTH_STORAGE, dies}, {HEALTH_LOG, is_well}};
    int64_t begun = clock_monotonic();
    assert_int_equal(ask_in_vain(harness_arena(state), questions, 2, 600 * (int64_t)SECOND), 0);
    assert_true(clock_monotonic() - begun < 300 * (int64_t)SECOND);
}

/* The client whose question it was would wait for the end of a connection that the child still had. */
static void what_hangs_keeps_no_connection_open(void **state)
{
    static const struct health_question questions[] = {{HEALTH_STORAGE, hangs}};
    struct health_look look;
    struct error *errors[1] = {NULL};
    int ends[2];
    char byte;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    begin(questions, 1, 60 * (int64_t)SECOND, &look);
    assert_int_equal(close(ends[0]), 0);
    struct pollfd wait = {.fd = ends[1], .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 60000), 1);
    assert_int_equal(read(ends[1], &byte, 1), 0);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(kill(look.pid, SIGKILL), 0);
    assert_int_equal(health_apart_end(harness_arena(state), &look, 1, errors), 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(answers_come_in_the_order_of_the_questions),
    HARNESS_TEST(what_hangs_is_left_behind_and_the_next_look_begins_anew),
    HARNESS_TEST(a_child_that_dies_ends_the_waiting_at_once),
    HARNESS_TEST(what_hangs_keeps_no_connection_open),
};
HARNESS_MODULE(health, cases)
