/* SPDX-License-Identifier: MIT */
/* The two processes beside the worker, each alone with a test as its worker: what ends them, and what they say. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/sandbox/sandbox.h"
#include "blob/sniff.h"
#include "blob/sniffer/child_int.h"
#include "blob/sniffer/message_int.h"
#include "blob/sniffer/sniffer.h"
#include "blob/sniffer/support_sniffer.h"

#define PNG "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x20\0\0\0\x10\x08\x02\0\0\0\x12\x34\x56\x78"

/* A process with the other end of the socket. */
struct other {
    pid_t pid;
    int socket;
};

static struct other start(void (*body)(int socket, void *context), void *context)
{
    int ends[2];
    struct other other;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    other.pid = fork();
    assert_true(other.pid >= 0);
    if (other.pid == 0) {
        (void)close(ends[0]);
        body(ends[1], context);
        abort();
    }
    (void)close(ends[1]);
    other.socket = ends[0];
    return other;
}

static void expect_end(struct other *other, int status)
{
    int found;
    assert_int_equal(waitpid(other->pid, &found, 0), other->pid);
    assert_true(WIFEXITED(found));
    assert_int_equal(WEXITSTATUS(found), status);
    (void)close(other->socket);
}

/* ---- the sniffer ------------------------------------------------------------------------------------ */

static void be_sniffer(int socket, void *context)
{
    sniff_child_run(socket, context, NULL);
}

static struct other start_sniffer(struct sniffer *library)
{
    struct message head;
    struct message_ready ready;
    struct other other = start(be_sniffer, library);
    assert_int_equal(message_receive(other.socket, 0, &head, &ready, sizeof ready, NULL), MESSAGE_GOT);
    assert_int_equal(head.kind, MESSAGE_READY);
    assert_string_equal(ready.problem, "");
    return other;
}

static struct sniffer *open_library(void **state)
{
    struct sniffer *library;
    assert_null(sniffer_open(harness_arena(state), &library));
    support_sniffer_clear();
    return library;
}

static void it_answers_and_ends_with_its_worker(void **state)
{
    struct message head;
    struct message_answer answer;
    struct other other = start_sniffer(open_library(state));
    assert_true(message_send(other.socket, MESSAGE_EXAMINE, 0, PNG, sizeof PNG - 1, -1));
    assert_int_equal(message_receive(other.socket, 0, &head, &answer, sizeof answer, NULL), MESSAGE_GOT);
    assert_int_equal(head.kind, MESSAGE_ANSWER);
    assert_string_equal(answer.media_type, "image/png");
    assert_int_equal(head.number, 0x20 * 0x10);
    assert_false(answer.last);
    assert_int_equal(shutdown(other.socket, SHUT_RDWR), 0);
    expect_end(&other, EXIT_SUCCESS);
}

static void wait_and_be_sniffer(int socket, void *context)
{
    char byte;
    (void)!recv(socket, &byte, 1, 0);
    be_sniffer(socket, context);
}

static void it_ends_where_nobody_hears_that_it_is_ready(void **state)
{
    struct other other = start(wait_and_be_sniffer, open_library(state));
    assert_int_equal(shutdown(other.socket, SHUT_RDWR), 0);
    expect_end(&other, EXIT_SUCCESS);
}

static void it_obeys_no_other_message(void **state)
{
    struct other other = start_sniffer(open_library(state));
    assert_true(message_send(other.socket, MESSAGE_REST, 0, PNG, sizeof PNG - 1, -1));
    expect_end(&other, EXIT_SUCCESS);
}

/* Asks about a JPEG whose size stands behind the bytes that are sent, and takes the wish for more. */
static struct other ask_for_a_long_picture(struct sniffer *library)
{
    static unsigned char picture[LIMIT_SNIFF_BYTES] = "\xff\xd8\xff\xe1\xea\x60";
    struct message head;
    struct message_read wanted;
    struct other other = start_sniffer(library);
    assert_true(message_send(other.socket, MESSAGE_EXAMINE, 1, picture, sizeof picture, -1));
    assert_int_equal(message_receive(other.socket, 0, &head, &wanted, sizeof wanted, NULL), MESSAGE_GOT);
    assert_int_equal(head.kind, MESSAGE_READ);
    return other;
}

static void it_takes_nothing_else_for_the_rest_of_a_file(void **state)
{
    static const unsigned char zeros[64];
    struct sniffer *library = open_library(state);
    struct other other = ask_for_a_long_picture(library);
    assert_true(message_send(other.socket, MESSAGE_EXAMINE, 0, zeros, sizeof zeros, -1));
    expect_end(&other, EXIT_FAILURE);
    other = ask_for_a_long_picture(library);
    assert_int_equal(shutdown(other.socket, SHUT_RDWR), 0);
    expect_end(&other, EXIT_FAILURE);
}

/* The only child of a process, which has one thread. */
static pid_t child_of(struct arena *arena, pid_t parent)
{
    char *path = arena_format(arena, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    return (pid_t)strtol(harness_read(arena, path, NULL), NULL, 10);
}

/* The kernel would end it in the midst of a file that comes later. */
static void one_that_has_used_half_of_its_time_answers_and_is_replaced(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process;
    struct sandbox_walls walls;
    struct sniffed sniffed;
    support_sniffer_clear();
    support_sniffer_faults.spent = true;
    assert_null(sniff_process_fork(arena, NULL, &process));
    support_sniffer_clear();
    assert_null(sniff_process_start(process, arena, true, &walls));
    const pid_t keeper = child_of(arena, getpid());
    for (int i = 0; i < 3; i++) {
        pid_t before = child_of(arena, keeper);
        assert_null(sniff_process_examine(process, arena, PNG, sizeof PNG - 1, NULL, &sniffed));
        assert_string_equal(sniffed.media_type, "image/png");
        assert_int_not_equal(child_of(arena, keeper), before);
    }
    assert_false(sniff_process_lost(process));
}

/* ---- the keeper ------------------------------------------------------------------------------------- */

static void be_keeper(int socket, void *context)
{
    if (context == &support_sniffer_faults)
        support_sniffer_faults.fork = 1;
    sniff_keeper_run(socket, context == &support_sniffer_faults ? NULL : context);
}

/* Asks for a sniffer; the test's end of its socket. */
static int ask_for_sniffer(const struct other *keeper, bool walls, struct message_started *started)
{
    struct message head;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_true(message_send(keeper->socket, MESSAGE_START, walls, NULL, 0, ends[1]));
    (void)close(ends[1]);
    assert_int_equal(message_receive(keeper->socket, 0, &head, started, sizeof *started, NULL), MESSAGE_GOT);
    assert_int_equal(head.kind, MESSAGE_STARTED);
    return ends[0];
}

static void the_keeper_ends_at_a_message_that_is_none(void **state)
{
    (void)state;
    support_sniffer_clear();
    struct other keeper = start(be_keeper, NULL);
    assert_true(message_send(keeper.socket, MESSAGE_EXAMINE, 0, NULL, 0, -1));
    expect_end(&keeper, EXIT_SUCCESS);
    keeper = start(be_keeper, NULL);
    assert_true(message_send(keeper.socket, MESSAGE_START, 0, NULL, 0, -1)); /* without a socket for the sniffer */
    expect_end(&keeper, EXIT_SUCCESS);
}

static void a_keeper_that_cannot_fork_says_so_and_can_later(void **state)
{
    struct message_started started;
    struct message head;
    struct message_ready ready;
    (void)state;
    support_sniffer_clear();
    struct other keeper = start(be_keeper, &support_sniffer_faults);
    (void)close(ask_for_sniffer(&keeper, false, &started));
    assert_int_equal(started.pid, -1);
    assert_string_equal(started.problem, "no process can be started");
    int socket = ask_for_sniffer(&keeper, false, &started);
    assert_true(started.pid > 0);
    assert_int_equal(started.status, -1);
    assert_int_equal(message_receive(socket, 0, &head, &ready, sizeof ready, NULL), MESSAGE_GOT);
    assert_int_equal(head.kind, MESSAGE_READY);
    /* One that lives is ended for the next. */
    int second = ask_for_sniffer(&keeper, false, &started);
    assert_true(WIFSIGNALED(started.status));
    (void)close(socket);
    (void)close(second);
    assert_int_equal(shutdown(keeper.socket, SHUT_RDWR), 0);
    expect_end(&keeper, EXIT_SUCCESS);
}

/* Arguments lie one behind the other; what lies behind them is somebody else's. */
static void the_arguments_show_the_name_within_their_room(void **state)
{
    static const char given[] = "gh\0-c\0\0behind";
    struct message head;
    struct message_ready ready;
    struct message_started started;
    char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    memcpy(shared, given, sizeof given);
    char *arguments[] = {shared, shared + 3, NULL};
    (void)state;
    support_sniffer_clear();
    struct other keeper = start(be_keeper, arguments);
    int socket = ask_for_sniffer(&keeper, false, &started);
    assert_int_equal(message_receive(socket, 0, &head, &ready, sizeof ready, NULL), MESSAGE_GOT);
    assert_memory_equal(shared, "sniff\0\0behind", 13);
    (void)close(socket);
    assert_int_equal(shutdown(keeper.socket, SHUT_RDWR), 0);
    expect_end(&keeper, EXIT_SUCCESS);
    assert_int_equal(munmap(shared, 4096), 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(it_answers_and_ends_with_its_worker),
    HARNESS_TEST(it_ends_where_nobody_hears_that_it_is_ready),
    HARNESS_TEST(it_obeys_no_other_message),
    HARNESS_TEST(it_takes_nothing_else_for_the_rest_of_a_file),
    HARNESS_TEST(one_that_has_used_half_of_its_time_answers_and_is_replaced),
    HARNESS_TEST(the_keeper_ends_at_a_message_that_is_none),
    HARNESS_TEST(a_keeper_that_cannot_fork_says_so_and_can_later),
    HARNESS_TEST(the_arguments_show_the_name_within_their_room),
};
HARNESS_MODULE(sniffer_child, cases)
