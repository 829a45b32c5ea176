/* SPDX-License-Identifier: MIT */
/*
 * The virus scanner where a call to its daemon fails: whatever fails, a file with a virus is never called clean, and
 * neither is one of which the daemon has seen a part.
 */
#include "harness.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/scanner.h"
#include "blob/sniffer/support_sniffer.h"
#include "blob/support.h"

#define SIZE 200000

/* ---- calls that fail -------------------------------------------------------------------------------- */

static struct {
    bool on;        /* in this process, during a scan */
    size_t calls;   /* made so far */
    size_t fail_at; /* counted from 1; 0: none */
    int number;     /* with this errno; 0: it sends or receives one byte */
} fault;

ssize_t __real_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags);
ssize_t __real_recv(int fd, void *bytes, size_t length, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t length, int flags);
int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol);
int __real_connect(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);

static bool fails(void)
{
    if (!fault.on || ++fault.calls != fault.fail_at)
        return false;
    errno = fault.number;
    return true;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags)
{
    if (!fails())
        return __real_send(fd, bytes, length, flags);
    /* The daemon has no more of the bytes, and answers. */
    if (fault.number == EPIPE || fault.number == ECONNRESET)
        (void)shutdown(fd, SHUT_WR);
    errno = fault.number;
    return fault.number == 0 ? __real_send(fd, bytes, 1, flags) : -1;
}

ssize_t __wrap_recv(int fd, void *bytes, size_t length, int flags)
{
    if (!fails())
        return __real_recv(fd, bytes, length, flags);
    return fault.number == 0 ? __real_recv(fd, bytes, 1, flags) : -1;
}

int __wrap_socket(int family, int type, int protocol)
{
    return fails() && fault.number != 0 ? -1 : __real_socket(family, type, protocol);
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    return fails() && fault.number != 0 ? -1 : __real_connect(fd, address, length);
}

/* ---- a daemon --------------------------------------------------------------------------------------- */

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_true(strlen(path) < sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 8), 0);
    return fd;
}

/* Answers one connection when it has ended its bytes, or ended itself, as a daemon does that finds a virus early. */
static pid_t serve(int listener, const char *answer)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    unsigned char block[4096], tail[4] = {1, 1, 1, 1};
    int fd = accept(listener, NULL, NULL);
    for (ssize_t got; memcmp(tail, "\0\0\0\0", 4) != 0 && (got = read(fd, block, sizeof block)) > 0;)
        for (ssize_t i = got < 4 ? 0 : got - 4; i < got; i++) {
            memmove(tail, tail + 1, 3);
            tail[3] = block[i];
        }
    (void)!write(fd, answer, strlen(answer) + 1);
    _exit(0);
}

/* No four zeros in a row, which the daemon takes for the end. */
static struct blob_writer *new_blob(struct blob_store *store, struct arena *arena)
{
    struct blob_writer *writer;
    uint8_t digest[DIGEST_BYTES];
    unsigned char *bytes = support_bytes(arena, SIZE, 5);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] |= 1;
    assert_null(blob_begin(store, arena, &writer));
    assert_null(blob_write(writer, bytes, SIZE));
    blob_writer_digest(writer, digest);
    return writer;
}

/* One scan. Whether there was such a call. */
static bool scan(const char *answer, size_t call, int number, struct error **error_out, struct scan_verdict *verdict)
{
    struct arena *arena = arena_new();
    const char *path = arena_format(arena, "%s/clamd.sock", harness_directory(arena));
    struct blob_writer *writer = new_blob(support_new_store(arena, NULL), arena);
    struct scanner *scanner = scanner_new(arena, path, 30);
    int listener = listen_at(path);
    size_t before = support_descriptors();
    pid_t daemon = serve(listener, answer);
    memset(&fault, 0, sizeof fault);
    fault.on = true;
    fault.fail_at = call;
    fault.number = number;
    *error_out = scanner_scan(scanner, arena, writer, verdict);
    fault.on = false;
    bool reached = fault.calls >= call;
    assert_int_equal(support_descriptors(), before);
    if (*error_out != NULL)
        assert_int_equal((*error_out)->code, ERROR_STORAGE_UNAVAILABLE);
    (void)close(listener); /* a daemon that nobody has called ends with an error of accept() */
    (void)kill(daemon, SIGKILL);
    assert_int_equal(waitpid(daemon, NULL, 0), daemon);
    arena_free(&arena);
    return reached;
}

static void a_virus_is_found_or_nothing_is_said_whatever_call_fails(void **state)
{
    static const int numbers[] = {EIO, EINTR, EAGAIN, EPIPE, ECONNRESET, 0};
    size_t cases = 0;
    (void)state;
    support_sniffer_clear();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (size_t call = 1;; call++, cases++) {
            struct error *error;
            struct scan_verdict verdict = {.result = SCAN_CLEAN};
            if (!scan("stream: Eicar FOUND", call, numbers[i], &error, &verdict))
                break;
            if (error == NULL && verdict.result != SCAN_INFECTED)
                fail_msg("call %zu, %s: the virus is called clean", call, strerror(numbers[i]));
            if (error != NULL && (numbers[i] == EINTR || numbers[i] == 0) && call > 2)
                fail_msg("call %zu: an interrupted or short call is not gone on with", call);
        }
    assert_true(cases > 20);
}

/* The daemon has not had all bytes when it says so. */
static void a_part_of_a_file_is_never_clean(void **state)
{
    (void)state;
    for (size_t call = 3; call < 6; call++) {
        struct error *error;
        struct scan_verdict verdict;
        assert_true(scan("stream: OK", call, EPIPE, &error, &verdict));
        assert_non_null(error);
    }
}

static void a_wait_that_breaks_is_an_error_and_an_interrupted_one_goes_on(void **state)
{
    struct error *error;
    struct scan_verdict verdict = {.result = SCAN_CLEAN};
    (void)state;
    for (size_t call = 3; call < 5; call++) {
        support_sniffer_faults.poll_broken = 1;
        assert_true(scan("stream: Eicar FOUND", call, EAGAIN, &error, &verdict));
        assert_non_null(error);
        support_sniffer_clear();
        support_sniffer_faults.poll_interrupted = 2;
        assert_true(scan("stream: Eicar FOUND", call, EAGAIN, &error, &verdict));
        assert_true(error == NULL && verdict.result == SCAN_INFECTED);
        support_sniffer_clear();
    }
}

static void bytes_that_are_gone_are_missed(void **state)
{
    struct arena *arena = harness_arena(state);
    struct scan_verdict verdict;
    const char *path = arena_format(arena, "%s/clamd.sock", harness_directory(arena));
    struct blob_store *store = support_new_store(arena, &support_io);
    struct blob_writer *writer = new_blob(store, arena);
    int listener = listen_at(path);
    pid_t daemon = serve(listener, "stream: OK");
    support_faults_clear();
    support_faults.short_read = true;
    struct error *error = scanner_scan(scanner_new(arena, path, 30), arena, writer, &verdict);
    support_faults_clear();
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "bytes of the file are missing"));
    (void)kill(daemon, SIGKILL);
    assert_int_equal(waitpid(daemon, NULL, 0), daemon);
    (void)close(listener);
}

static void an_answer_without_an_end_is_none(void **state)
{
    struct error *error;
    struct scan_verdict verdict;
    char answer[4097];
    (void)state;
    memset(answer, 'x', sizeof answer - 1);
    answer[sizeof answer - 1] = '\0';
    (void)scan(answer, 0, 0, &error, &verdict);
    assert_non_null(error);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_virus_is_found_or_nothing_is_said_whatever_call_fails),
    HARNESS_TEST(a_part_of_a_file_is_never_clean),
    HARNESS_TEST(a_wait_that_breaks_is_an_error_and_an_interrupted_one_goes_on),
    HARNESS_TEST(bytes_that_are_gone_are_missed),
    HARNESS_TEST(an_answer_without_an_end_is_none),
};
HARNESS_MODULE(scanner_faults, cases)
