/* SPDX-License-Identifier: MIT */
/*
 * The sniffer and its keeper where the system refuses something, or one of them says what it must not: the worker is
 * told, uses no answer of theirs, and leaks nothing.
 */
#include "harness.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/sandbox/sandbox.h"
#include "blob/sniff.h"
#include "blob/sniffer/message_int.h"
#include "blob/sniffer/sniffer.h"
#include "blob/sniffer/support_sniffer.h"
#include "blob/support.h"

/* ---- the worker's side ------------------------------------------------------------------------------ */

static void without_a_socket_or_a_process_there_is_no_sniffer(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process;
    size_t before = support_descriptors();
    support_sniffer_clear();
    support_sniffer_faults.socketpair = 1;
    struct error *error = sniff_process_fork(arena, NULL, &process);
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "no socket"));
    support_sniffer_faults.fork = 1;
    error = sniff_process_fork(arena, NULL, &process);
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "no process"));
    assert_int_equal(support_descriptors(), before);
}

/* The only child of a process, which has one thread. */
static pid_t child_of(struct arena *arena, pid_t parent)
{
    char *path = arena_format(arena, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    return (pid_t)strtol(harness_read(arena, path, NULL), NULL, 10);
}

static size_t entries(const char *folder)
{
    DIR *stream = opendir(folder);
    size_t count = 0;
    assert_non_null(stream);
    while (readdir(stream) != NULL)
        count++;
    (void)closedir(stream);
    return count - 2;
}

/* The worker may hold whatever it holds, and the kernel may be older than close_range(). */
static void the_keeper_holds_nothing_but_its_socket(void **state)
{
    struct arena *arena = harness_arena(state);
    for (unsigned older = 0; older < 2; older++) {
        struct sniff_process *process;
        struct sandbox_walls walls;
        struct arena *own = arena_new();
        support_sniffer_clear();
        int low = dup(STDOUT_FILENO);
        int high = dup2(low, 300);
        assert_int_equal(high, 300);
        support_sniffer_faults.close_range = older;
        assert_null(sniff_process_fork(own, NULL, &process));
        support_sniffer_clear();
        assert_null(sniff_process_start(process, own, false, &walls));
        size_t held = entries(arena_format(arena, "/proc/%d/fd", (int)child_of(arena, getpid())));
#ifdef __SANITIZE_ADDRESS__
        assert_in_range(held, 1, 2);
#else
        assert_int_equal(held, 1);
#endif
        arena_free(&own);
        (void)close(low);
        (void)close(high);
    }
}

static void await_end(struct arena *arena, pid_t pid)
{
    const char *path = arena_format(arena, "/proc/%d/stat", (int)pid);
    while (strstr(harness_read(arena, path, NULL), ") Z ") == NULL)
        clock_sleep(1000);
}

/* ---- keepers that say what they must not ------------------------------------------------------------ */

/* The socket of the sniffer that the worker wants started. */
static int receive_start(int control)
{
    struct message head;
    int socket;
    if (message_receive(control, 0, &head, NULL, 0, &socket) != MESSAGE_GOT || head.kind != MESSAGE_START)
        _exit(EXIT_SUCCESS);
    return socket;
}

static void tell(int control, enum message_kind kind, int32_t pid, int32_t status, size_t length)
{
    struct message_started started = {.pid = pid, .status = status};
    memset(started.problem, 'x', sizeof started.problem);
    (void)message_send(control, kind, 0, &started, length, -1);
}

static void be_ready(int socket, enum message_kind kind, size_t length)
{
    struct message_ready ready = {.calls = 1};
    (void)message_send(socket, kind, 0, &ready, length, -1);
}

/* Starts a sniffer as it should be; the socket to the worker. */
static int start_honestly(int control, int32_t status)
{
    int socket = receive_start(control);
    be_ready(socket, MESSAGE_READY, sizeof(struct message_ready));
    tell(control, MESSAGE_STARTED, 1, status, sizeof(struct message_started));
    return socket;
}

static void say_nothing(int control)
{
    (void)receive_start(control);
}

static void say_another_kind(int control)
{
    (void)receive_start(control);
    tell(control, MESSAGE_READY, 1, -1, sizeof(struct message_started));
    (void)receive_start(control);
}

static void say_half(int control)
{
    (void)receive_start(control);
    tell(control, MESSAGE_STARTED, 1, -1, sizeof(struct message_started) - 1);
    (void)receive_start(control);
}

static void start_nobody(int control)
{
    (void)close(receive_start(control));
    tell(control, MESSAGE_STARTED, 1, -1, sizeof(struct message_started));
    (void)receive_start(control);
}

static void start_one_of_another_kind(int control)
{
    be_ready(receive_start(control), MESSAGE_ANSWER, sizeof(struct message_ready));
    tell(control, MESSAGE_STARTED, 1, -1, sizeof(struct message_started));
    (void)receive_start(control);
}

static void start_half_a_one(int control)
{
    be_ready(receive_start(control), MESSAGE_READY, sizeof(struct message_ready) - 1);
    tell(control, MESSAGE_STARTED, 1, -1, sizeof(struct message_started));
    (void)receive_start(control);
}

static struct sniff_process *fork_keeper(struct arena *arena, void (*keeper)(int control))
{
    struct sniff_process *process;
    support_sniffer_clear();
    support_sniffer_keeper(keeper);
    assert_null(sniff_process_fork(arena, NULL, &process));
    support_sniffer_keeper(NULL);
    return process;
}

static void a_keeper_or_sniffer_that_does_not_answer_is_told_and_lost(void **state)
{
    static const struct {
        void (*keeper)(int control);
        const char *words;
    } rows[] = {
        {say_nothing, "keeper does not answer"},
        {say_another_kind, "keeper does not answer"},
        {say_half, "keeper does not answer"},
        {start_nobody, "new sniffer does not answer"},
        {start_one_of_another_kind, "new sniffer does not answer"},
        {start_half_a_one, "new sniffer does not answer"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena *arena = arena_new();
        struct sandbox_walls walls;
        struct sniff_process *process = fork_keeper(arena, rows[i].keeper);
        struct error *error = sniff_process_start(process, arena, true, &walls);
        if (error == NULL || strstr(error->detail, rows[i].words) == NULL)
            fail_msg("keeper %zu: %s", i, error == NULL ? "was believed" : error->detail);
        assert_true(sniff_process_lost(process));
        arena_free(&arena);
    }
    (void)state;
}

static void end_at_once(int control)
{
    (void)control;
}

static void a_keeper_that_has_ended_is_told_and_lost(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sandbox_walls walls;
    struct sniff_process *process = fork_keeper(arena, end_at_once);
    await_end(arena, child_of(arena, getpid()));
    struct error *error = sniff_process_start(process, arena, true, &walls);
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "keeper does not answer"));
    assert_true(sniff_process_lost(process));
}

static void refuse_without_an_end(int control)
{
    (void)receive_start(control);
    tell(control, MESSAGE_STARTED, -1, -1, sizeof(struct message_started));
    (void)receive_start(control);
}

static void warn_without_an_end(int control)
{
    struct message_ready ready = {.landlock = 3};
    memset(ready.problem, 'x', sizeof ready.problem);
    (void)message_send(receive_start(control), MESSAGE_READY, 0, &ready, sizeof ready, -1);
    tell(control, MESSAGE_STARTED, 1, -1, sizeof(struct message_started));
    (void)receive_start(control);
}

static void words_are_cut_where_their_room_ends(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sandbox_walls walls;
    struct error *error = sniff_process_start(fork_keeper(arena, refuse_without_an_end), arena, true, &walls);
    assert_non_null(error);
    assert_int_equal(strlen(strchr(error->detail, 'x')), MESSAGE_REASON_BYTES - 1);
    assert_null(sniff_process_start(fork_keeper(arena, warn_without_an_end), arena, true, &walls));
    assert_int_equal(strlen(walls.problem), MESSAGE_REASON_BYTES - 1);
    assert_int_equal(walls.landlock, 3);
    assert_false(walls.calls);
}

/* ---- sniffers that are replaced --------------------------------------------------------------------- */

static struct error *examine(struct sniff_process *process, struct arena *arena, const char *type)
{
    struct sniffed sniffed;
    struct error *error = sniff_process_examine(process, arena, "x", 1, NULL, &sniffed);
    if (error == NULL)
        assert_string_equal(sniffed.media_type, type);
    return error;
}

static struct sniff_process *start(struct arena *arena, void (*keeper)(int control))
{
    struct sandbox_walls walls;
    struct sniff_process *process = fork_keeper(arena, keeper);
    assert_null(sniff_process_start(process, arena, true, &walls));
    return process;
}

static void answer(int socket, const char *type, bool last)
{
    struct message head;
    char bytes[LIMIT_SNIFF_BYTES];
    struct message_answer said = {.last = last};
    memcpy(said.media_type, type, strlen(type) + 1);
    (void)message_receive(socket, 0, &head, bytes, sizeof bytes, NULL);
    (void)message_send(socket, MESSAGE_ANSWER, 0, &said, sizeof said, -1);
}

/* The sniffer ends when it is asked. Its keeper tells how. */
/* Starts a sniffer that has these walls. */
static int start_walled(int control, int32_t landlock, uint8_t calls, uint8_t bounds)
{
    struct message_ready ready = {.landlock = landlock, .calls = calls, .bounds = bounds, .problem = "a wall fell"};
    int socket = receive_start(control);
    (void)message_send(socket, MESSAGE_READY, 0, &ready, sizeof ready, -1);
    tell(control, MESSAGE_STARTED, 1, -1, sizeof(struct message_started));
    return socket;
}

static void start_the_first(int control)
{
    answer(start_walled(control, 6, 1, 1), "no type", false);
}

static void replace_without_calls(int control)
{
    start_the_first(control);
    answer(start_walled(control, 6, 0, 1), "image/gif", false);
}

static void replace_without_landlock(int control)
{
    start_the_first(control);
    answer(start_walled(control, 0, 1, 1), "image/gif", false);
}

static void replace_without_bounds(int control)
{
    start_the_first(control);
    answer(start_walled(control, 6, 1, 0), "image/gif", false);
}

static void replace_by_an_equal(int control)
{
    start_the_first(control);
    answer(start_walled(control, 6, 1, 1), "image/gif", false);
    (void)receive_start(control);
}

static void a_second_sniffer_with_fewer_walls_loses_the_worker(void **state)
{
    static void (*const keepers[])(int control) = {replace_without_calls, replace_without_landlock,
                                                   replace_without_bounds};
    (void)state;
    for (size_t i = 0; i < sizeof keepers / sizeof *keepers; i++) {
        struct arena *arena = arena_new();
        struct sniff_process *process = start(arena, keepers[i]);
        assert_non_null(examine(process, arena, ""));
        struct error *error = examine(process, arena, "");
        if (error == NULL || strstr(error->detail, "fewer walls than the first: a wall fell") == NULL)
            fail_msg("keeper %zu: %s", i, error == NULL ? "was believed" : error->detail);
        assert_true(sniff_process_lost(process));
        arena_free(&arena);
    }
}

static void a_second_sniffer_with_the_same_walls_is_used(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start(arena, replace_by_an_equal);
    assert_non_null(examine(process, arena, ""));
    assert_null(examine(process, arena, "image/gif"));
    assert_false(sniff_process_lost(process));
}

static void end_with_status_3(int control)
{
    int socket = start_honestly(control, -1);
    answer(socket, "no type", false);
    (void)close(socket);
    answer(start_honestly(control, 3 << 8), "image/gif", false);
    (void)receive_start(control);
}

static void how_a_sniffer_ended_is_told(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start(arena, end_with_status_3);
    struct error *error = examine(process, arena, "");
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "(status 3, signal 0)"));
    assert_false(sniff_process_lost(process));
    assert_null(examine(process, arena, "image/gif"));
}

static void be_gone_with_the_sniffer(int control)
{
    answer(start_honestly(control, -1), "no type", false);
}

static void a_sniffer_that_cannot_be_replaced_loses_the_worker(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start(arena, be_gone_with_the_sniffer);
    struct error *error = examine(process, arena, "");
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "no answer; the sniffer's keeper does not answer"));
    assert_true(sniff_process_lost(process));
}

static void replace_by_nobody(int control)
{
    answer(start_honestly(control, -1), "no type", false);
    start_nobody(control);
}

static void a_second_sniffer_that_does_not_answer_loses_the_worker(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start(arena, replace_by_nobody);
    assert_non_null(examine(process, arena, ""));
    assert_false(sniff_process_lost(process));
    struct error *error = examine(process, arena, "");
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "new sniffer does not answer"));
    assert_true(sniff_process_lost(process));
}

static void say_that_it_was_the_last(int control)
{
    answer(start_honestly(control, -1), "image/png", true);
    answer(start_honestly(control, 0), "image/gif", true);
}

static void one_that_says_so_is_replaced_behind_its_answer(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start(arena, say_that_it_was_the_last);
    assert_null(examine(process, arena, "image/png"));
    /* This time the keeper is gone as well. */
    assert_non_null(examine(process, arena, "image/gif"));
    assert_true(sniff_process_lost(process));
}

static void read_without_a_rest(int control)
{
    const struct message_read wanted = {.length = 1};
    struct message head;
    char byte;
    int socket = start_honestly(control, -1);
    (void)message_receive(socket, 0, &head, &byte, 1, NULL);
    (void)message_send(socket, MESSAGE_READ, 0, &wanted, sizeof wanted, -1);
    answer(start_honestly(control, 0), "image/gif", false);
    (void)receive_start(control);
}

static void a_rest_that_there_is_not_is_not_read(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start(arena, read_without_a_rest);
    struct error *error = examine(process, arena, "");
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "wanted more of the file"));
    assert_null(examine(process, arena, "image/gif"));
}

static void keep_going(int control)
{
    for (;;)
        answer(start_honestly(control, 0), "no type", false);
}

static void without_a_socket_the_worker_is_lost_until_there_is_one(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start(arena, keep_going);
    support_sniffer_faults.socketpair = 1;
    struct error *error = examine(process, arena, "");
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "no socket for the sniffer"));
    assert_true(sniff_process_lost(process));
    error = examine(process, arena, "");
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "it said what is no answer"));
    assert_false(sniff_process_lost(process));
}

static void waits_that_are_interrupted_go_on_and_broken_ones_end(void **state)
{
    struct arena *arena = harness_arena(state);
    int ends[2];
    struct message head;
    support_sniffer_clear();
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    support_sniffer_faults.send_interrupted = 2;
    assert_true(message_send(ends[0], MESSAGE_REST, 7, NULL, 0, -1));
    support_sniffer_faults.poll_interrupted = support_sniffer_faults.receive_interrupted = 2;
    int64_t until = clock_monotonic() + 60000000;
    assert_int_equal(message_receive(ends[1], until, &head, NULL, 0, NULL), MESSAGE_GOT);
    assert_true(head.kind == MESSAGE_REST && head.number == 7);
    support_sniffer_faults.poll_broken = 1;
    assert_int_equal(message_receive(ends[1], until, &head, NULL, 0, NULL), MESSAGE_LATE);
    assert_int_equal(message_receive(ends[1], clock_monotonic() - 1, &head, NULL, 0, NULL), MESSAGE_LATE);
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)arena;
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(without_a_socket_or_a_process_there_is_no_sniffer),
    HARNESS_TEST(the_keeper_holds_nothing_but_its_socket),
    HARNESS_TEST(a_keeper_or_sniffer_that_does_not_answer_is_told_and_lost),
    HARNESS_TEST(a_keeper_that_has_ended_is_told_and_lost),
    HARNESS_TEST(words_are_cut_where_their_room_ends),
    HARNESS_TEST(how_a_sniffer_ended_is_told),
    HARNESS_TEST(a_sniffer_that_cannot_be_replaced_loses_the_worker),
    HARNESS_TEST(a_second_sniffer_with_fewer_walls_loses_the_worker),
    HARNESS_TEST(a_second_sniffer_with_the_same_walls_is_used),
    HARNESS_TEST(a_second_sniffer_that_does_not_answer_loses_the_worker),
    HARNESS_TEST(one_that_says_so_is_replaced_behind_its_answer),
    HARNESS_TEST(a_rest_that_there_is_not_is_not_read),
    HARNESS_TEST(without_a_socket_the_worker_is_lost_until_there_is_one),
    HARNESS_TEST(waits_that_are_interrupted_go_on_and_broken_ones_end),
};
HARNESS_MODULE(sniffer_faults, cases)
