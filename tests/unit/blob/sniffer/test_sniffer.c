/* SPDX-License-Identifier: MIT */
/* The sniffer apart: it answers as the library does, and one that dies, hangs or lies costs one file an error. */
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/sandbox/sandbox.h"
#include "blob/image_int.h"
#include "blob/sniff.h"
#include "blob/sniffer/child_int.h"
#include "blob/sniffer/message_int.h"
#include "blob/sniffer/sniffer.h"
#include "blob/sniffer/support_sniffer.h"
#include "blob/sniffer/support_warm_up.h"

#define PNG "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x20\0\0\0\x10\x08\x02\0\0\0\x12\x34\x56\x78"

/* ---- the real one -------------------------------------------------------------------------------- */

static struct sniff_process *start(struct arena *arena, bool walls)
{
    struct sniff_process *process;
    struct sandbox_walls held;
    support_sniffer_warm_up();
    assert_null(sniff_process_fork(arena, NULL, &process));
    assert_null(sniff_process_start(process, arena, walls, &held));
    const struct sandbox_walls offered = sandbox_offered();
    assert_int_equal(held.landlock, walls ? offered.landlock : 0);
    assert_int_equal(held.calls, walls && offered.calls);
    return process;
}

static struct error *examine(struct sniff_process *process, struct arena *arena, struct sniffed *sniffed_out)
{
    return sniff_process_examine(process, arena, PNG, sizeof PNG - 1, NULL, sniffed_out);
}

static void expect_png(struct sniff_process *process, struct arena *arena)
{
    struct sniffed sniffed;
    assert_null(examine(process, arena, &sniffed));
    assert_string_equal(sniffed.media_type, "image/png");
    assert_int_equal(sniffed.pixels, 0x20 * 0x10);
}

/* The only child of a process, which has one thread. */
static pid_t child_of(struct arena *arena, pid_t parent)
{
    char *path = arena_format(arena, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    return (pid_t)strtol(harness_read(arena, path, NULL), NULL, 10);
}

static pid_t sniffer_pid(struct arena *arena)
{
    pid_t pid = child_of(arena, child_of(arena, getpid()));
    assert_true(pid > 0);
    return pid;
}

/* Nobody has asked how it ended, so it stays in the list of processes; its socket is closed by then. */
static void await_death(struct arena *arena, pid_t pid)
{
    const char *path = arena_format(arena, "/proc/%d/stat", (int)pid);
    while (strstr(harness_read(arena, path, NULL), ") Z ") == NULL)
        clock_sleep(1000);
}

/* A JPEG whose size stands behind more segments than the first bytes hold. */
struct long_picture {
    unsigned char bytes[200000];
    size_t size;
};

static size_t read_picture(void *context, uint64_t offset, void *bytes, size_t length)
{
    const struct long_picture *picture = context;
    size_t got = offset >= picture->size ? 0 : picture->size - (size_t)offset;
    got = got < length ? got : length;
    memcpy(bytes, picture->bytes + offset, got);
    return got;
}

static struct long_picture *make_picture(struct arena *arena)
{
    static const unsigned char frame[] = {0xff, 0xc0, 0, 17, 8, 0, 100, 0, 50, 3};
    struct long_picture *picture = arena_alloc(arena, sizeof *picture);
    memcpy(picture->bytes, "\xff\xd8", 2);
    picture->size = 2;
    for (int i = 0; i < 3; i++) {
        memcpy(picture->bytes + picture->size, "\xff\xe1\xea\x60", 4); /* 60,000 bytes */
        picture->size += 2 + 60000;
    }
    memcpy(picture->bytes + picture->size, frame, sizeof frame);
    picture->size += sizeof frame;
    return picture;
}

static void it_answers_as_the_library_does(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
    } files[] = {
        {PNG, sizeof PNG - 1},
        {"a line\n", 7},
        {"{\"a\": 1}", 8},
        {"%PDF-1.7\n", 9},
        {"PK\x03\x04", 4},
        {"\x7f"
         "ELF\x02",
         5},
        {"MZ\x90\0\x03\0\0\0", 8},
        {"\0", 1},
        {"GIF89a\x02\0\x02\0", 10},
    };
    struct arena *arena = harness_arena(state);
    struct long_picture *picture = make_picture(arena);
    const struct sniff_rest rest = {read_picture, picture};
    struct sniffer *library;
    assert_null(sniffer_open(arena, &library));
    for (int walls = 0; walls < 2; walls++) {
        struct sniff_process *process = start(arena, walls != 0);
        struct sniffed apart;
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            struct sniffed here = sniff(library, arena, files[i].bytes, files[i].length, NULL);
            assert_null(sniff_process_examine(process, arena, files[i].bytes, files[i].length, NULL, &apart));
            assert_string_equal(apart.media_type, here.media_type);
            assert_int_equal(apart.text, here.text);
            assert_int_equal(apart.pixels, here.pixels);
        }
        assert_null(sniff_process_examine(process, arena, picture->bytes, picture->size, &rest, &apart));
        assert_string_equal(apart.media_type, "image/jpeg");
        assert_int_equal(apart.pixels, 50 * 100);
    }
}

static void one_that_died_before_it_was_asked_costs_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start(arena, true);
    pid_t first = sniffer_pid(arena);
    assert_int_equal(kill(first, SIGKILL), 0);
    await_death(arena, first);
    expect_png(process, arena);
    assert_int_not_equal(sniffer_pid(arena), first);
}

/* It is asked while it stands still, and killed then: the reader of the rest runs in between. */
static size_t kill_and_read(void *context, uint64_t offset, void *bytes, size_t length)
{
    (void)offset;
    (void)kill(*(pid_t *)context, SIGKILL);
    memset(bytes, 0, length);
    return length;
}

static void one_that_dies_at_work_costs_one_file_an_error(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start(arena, true);
    struct long_picture *picture = make_picture(arena);
    pid_t pid = sniffer_pid(arena);
    const struct sniff_rest rest = {kill_and_read, &pid};
    struct sniffed sniffed;
    struct error *error = sniff_process_examine(process, arena, picture->bytes, picture->size, &rest, &sniffed);
    assert_non_null(error);
    assert_int_equal(error->code, ERROR_INTERNAL);
    assert_non_null(strstr(error->detail, "signal 9"));
    assert_false(sniff_process_lost(process));
    expect_png(process, arena);
}

static void one_that_hangs_is_ended_and_replaced(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start(arena, true);
    struct sniffed sniffed;
    pid_t pid = sniffer_pid(arena);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    struct error *error = examine(process, arena, &sniffed);
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "silent"));
    assert_int_equal(kill(pid, 0), -1);
    expect_png(process, arena);
}

static void without_its_keeper_the_worker_is_lost(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start(arena, true);
    struct sniffed sniffed;
    (void)sniffer_pid(arena);
    assert_int_equal(kill(child_of(arena, getpid()), SIGKILL), 0);
    /* The sniffer dies with it, now or while it answers. */
    for (int i = 0; i < 1000 && examine(process, arena, &sniffed) == NULL; i++)
        continue;
    assert_true(sniff_process_lost(process));
}

static void it_is_renewed_after_its_share_of_files(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start(arena, true);
    pid_t first = sniffer_pid(arena);
    for (int i = 1; i < LIMIT_SNIFFER_FILES; i++)
        expect_png(process, arena);
    assert_int_equal(sniffer_pid(arena), first);
    expect_png(process, arena);
    expect_png(process, arena);
    assert_int_not_equal(sniffer_pid(arena), first);
}

/* ---- a false one --------------------------------------------------------------------------------- */

/* What the first false sniffer says when it is asked. */
static void (*lie)(int socket);

static void send_bytes(int socket, const void *bytes, size_t length)
{
    (void)send(socket, bytes, length, MSG_NOSIGNAL);
}

static void send_answer(int socket, const char *media_type, size_t length)
{
    struct message_answer answer = {.text = 0};
    memcpy(answer.media_type, media_type, strlen(media_type) + 1);
    (void)message_send(socket, MESSAGE_ANSWER, 5, &answer, length, -1);
}

static void answer_unasked(int socket)
{
    send_answer(socket, "image/gif", sizeof(struct message_answer));
}

/* Keeper and sniffer in one: the first lies, the next ones are honest. */
static void be_false(int control)
{
    struct message head;
    unsigned char bytes[1024];
    int socket;
    const struct message_ready ready = {.calls = 1};
    const struct message_started started = {.status = -1, .pid = 1};
    for (unsigned turn = 0; message_receive(control, 0, &head, NULL, 0, &socket) == MESSAGE_GOT; turn++) {
        (void)message_send(socket, MESSAGE_READY, 0, &ready, sizeof ready, -1);
        if (lie == answer_unasked && turn == 0)
            lie(socket);
        (void)message_send(control, MESSAGE_STARTED, 0, &started, sizeof started, -1);
        if (message_receive(socket, 0, &head, bytes, sizeof bytes, NULL) == MESSAGE_GOT && turn == 0)
            lie(socket);
        else
            send_answer(socket, "image/png", sizeof(struct message_answer));
        (void)message_receive(socket, 0, &head, bytes, sizeof bytes, NULL);
        (void)close(socket);
    }
    _exit(0);
}

static void say_nothing_and_end(int socket)
{
    (void)shutdown(socket, SHUT_RDWR);
}

static void say_half_a_head(int socket)
{
    send_bytes(socket, "\7\0\0\0", 4);
}

static void promise_more_than_is_there(int socket)
{
    const struct message head = {.kind = MESSAGE_ANSWER, .length = sizeof(struct message_answer)};
    send_bytes(socket, &head, sizeof head);
}

static void promise_less_than_is_there(int socket)
{
    struct {
        struct message head;
        struct message_answer answer;
    } both = {.head = {.kind = MESSAGE_ANSWER, .length = 1}, .answer = {.media_type = "image/png"}};
    send_bytes(socket, &both, sizeof both);
}

static void say_too_much(int socket)
{
    static unsigned char bytes[65536];
    const struct message head = {.kind = MESSAGE_ANSWER, .length = sizeof bytes - sizeof head};
    memcpy(bytes, &head, sizeof head);
    send_bytes(socket, bytes, sizeof bytes);
}

static void say_garbage(int socket)
{
    static unsigned char bytes[333];
    memset(bytes, 0xee, sizeof bytes);
    send_bytes(socket, bytes, sizeof bytes);
}

static void name_no_type(int socket)
{
    send_answer(socket, "../../etc/passwd", sizeof(struct message_answer));
}

static void name_a_type_with_a_new_line(int socket)
{
    send_answer(socket, "image/png\nX: y", sizeof(struct message_answer));
}

static void name_nothing(int socket)
{
    send_answer(socket, "", sizeof(struct message_answer));
}

static void name_a_type_without_an_end(int socket)
{
    struct message_answer answer;
    memset(&answer, 'a', sizeof answer);
    memcpy(answer.media_type, "image/", 6);
    (void)message_send(socket, MESSAGE_ANSWER, 5, &answer, sizeof answer, -1);
}

static void cut_the_answer(int socket)
{
    send_answer(socket, "image/png", sizeof(struct message_answer) - 1);
}

static void say_another_kind(int socket)
{
    const struct message_ready ready = {.calls = 1};
    (void)message_send(socket, MESSAGE_READY, 0, &ready, sizeof ready, -1);
}

static void read_at(int socket, uint64_t offset, uint32_t length)
{
    const struct message_read wanted = {.length = length};
    (void)message_send(socket, MESSAGE_READ, offset, &wanted, sizeof wanted, -1);
}

static void read_too_much_at_once(int socket)
{
    read_at(socket, 0, IMAGE_READ_BYTES + 1);
}

static void read_behind_every_end(int socket)
{
    read_at(socket, UINT64_MAX, 1);
}

static void read_for_ever(int socket)
{
    struct message head;
    unsigned char bytes[IMAGE_READ_BYTES];
    do
        read_at(socket, 0, 1);
    while (message_receive(socket, 0, &head, bytes, sizeof bytes, NULL) == MESSAGE_GOT);
}

static void (*const lies[])(int socket) = {
    say_nothing_and_end,
    say_half_a_head,
    promise_more_than_is_there,
    promise_less_than_is_there,
    say_too_much,
    say_garbage,
    name_no_type,
    name_a_type_with_a_new_line,
    name_nothing,
    cut_the_answer,
    name_a_type_without_an_end,
    say_another_kind,
    read_too_much_at_once,
    read_behind_every_end,
    read_for_ever,
};

static struct sniff_process *start_false(struct arena *arena, void (*first)(int socket))
{
    struct sniff_process *process;
    struct sandbox_walls walls;
    lie = first;
    support_sniffer_keeper(be_false);
    assert_null(sniff_process_fork(arena, NULL, &process));
    support_sniffer_keeper(NULL);
    assert_null(sniff_process_start(process, arena, true, &walls));
    return process;
}

static void tell_what_is_in_another_file(int socket)
{
    send_answer(socket, "application/x-the-password-is-hunter2", sizeof(struct message_answer));
}

/* The answer reaches whoever uploaded the file. */
static void a_type_of_its_own_making_is_none(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start_false(arena, tell_what_is_in_another_file);
    struct sniffed sniffed;
    assert_null(examine(process, arena, &sniffed));
    assert_string_equal(sniffed.media_type, "application/octet-stream");
}

static size_t count_reads(void *context, uint64_t offset, void *bytes, size_t length)
{
    (void)offset;
    memset(bytes, 0, length);
    ++*(unsigned *)context;
    return length;
}

static void whatever_it_says_costs_one_file_an_error(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        unsigned reads = 0;
        const struct sniff_rest rest = {count_reads, &reads};
        struct sniff_process *process = start_false(arena, lies[i]);
        struct sniffed sniffed;
        struct error *error = sniff_process_examine(process, arena, "x", 1, &rest, &sniffed);
        if (error == NULL || error->code != ERROR_INTERNAL || sniff_process_lost(process))
            fail_msg("lie %zu was taken for an answer, or for the end", i);
        assert_true(reads <= IMAGE_READS_MAX);
        assert_null(sniff_process_examine(process, arena, "x", 1, &rest, &sniffed));
        assert_string_equal(sniffed.media_type, "image/png");
        assert_null(sniffed.complaint);
        assert_int_equal(sniffed.pixels, 5);
    }
}

static void complain_without_an_end(int socket)
{
    struct message_answer answer = {.media_type = "image/gif"};
    memset(answer.complaint, 'x', sizeof answer.complaint);
    (void)message_send(socket, MESSAGE_ANSWER, 5, &answer, sizeof answer, -1);
}

static void a_complaint_is_cut_where_its_room_ends(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start_false(arena, complain_without_an_end);
    struct sniffed sniffed;
    assert_null(sniff_process_examine(process, arena, "x", 1, NULL, &sniffed));
    assert_int_equal(strlen(sniffed.complaint), MESSAGE_REASON_BYTES - 1);
}

/* Otherwise it would be the answer for the next file. */
static void an_answer_that_nobody_asked_for_is_dropped(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process = start_false(arena, answer_unasked);
    struct sniffed sniffed;
    assert_null(sniff_process_examine(process, arena, "x", 1, NULL, &sniffed));
    assert_string_equal(sniffed.media_type, "image/png");
}

static void a_database_that_cannot_be_loaded_is_told(void **state)
{
    struct arena *arena = harness_arena(state);
    struct sniff_process *process;
    struct sandbox_walls walls;
    harness_environment(arena, "MAGIC", "/nowhere/magic");
    assert_null(sniff_process_fork(arena, NULL, &process));
    struct error *error = sniff_process_start(process, arena, true, &walls);
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "database"));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_type_of_its_own_making_is_none),
    HARNESS_TEST(it_answers_as_the_library_does),
    HARNESS_TEST(one_that_died_before_it_was_asked_costs_nothing),
    HARNESS_TEST(one_that_dies_at_work_costs_one_file_an_error),
    HARNESS_TEST(one_that_hangs_is_ended_and_replaced),
    HARNESS_TEST(without_its_keeper_the_worker_is_lost),
    HARNESS_TEST(it_is_renewed_after_its_share_of_files),
    HARNESS_TEST(whatever_it_says_costs_one_file_an_error),
    HARNESS_TEST(a_complaint_is_cut_where_its_room_ends),
    HARNESS_TEST(an_answer_that_nobody_asked_for_is_dropped),
    HARNESS_TEST(a_database_that_cannot_be_loaded_is_told),
};
HARNESS_MODULE(sniffer, cases)
