/* SPDX-License-Identifier: MIT */
/*
 * A worker's socket, from outside: who may connect, what is served and what is dropped, and what becomes of a worker
 * whose calls fail. A child process is the worker; the test is the web server and speaks FastCGI by hand.
 */
#include "harness.h"

#include <errno.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "fastcgi_client.h"
#include "http/body_file.h"
#include "http/fastcgi.h"
#include "http/fastcgi_input_int.h"
#include "http/reply.h"

#define LISTED 65534
#define UNLISTED 65533

/* ---- calls that fail in the worker ------------------------------------------------------------------ */

static struct {
    const struct sockaddr *peer; /* whom getpeername() tells; NULL: the truth */
    socklen_t peer_length;
    bool no_peer;   /* getpeername() or the question for the peer's user fails */
    int accepts[3]; /* the errnos of the first calls of accept4(); 0: none */
    size_t accepted;
    bool no_library; /* libfcgi cannot be initialised */
    bool unseen;     /* libfcgi reads past the guard */
} fault;

int __real_getpeername(int fd, struct sockaddr *address, socklen_t *length);
int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *length);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *length);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length);
int __real_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int __real_FCGX_Init(void);
int __wrap_FCGX_Init(void);
enum fastcgi_head __real_fastcgi_input_head(void);
enum fastcgi_head __wrap_fastcgi_input_head(void);

int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *length)
{
    errno = ENOTCONN;
    if (fault.no_peer)
        return -1;
    if (fault.peer == NULL)
        return __real_getpeername(fd, address, length);
    memcpy(address, fault.peer, fault.peer_length);
    *length = fault.peer_length;
    return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
    errno = ENOTCONN;
    return name == SO_PEERCRED && fault.no_peer ? -1 : __real_getsockopt(fd, level, name, value, length);
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    errno = fault.accepted < 3 ? fault.accepts[fault.accepted] : 0;
    fault.accepted += errno != 0;
    return errno != 0 ? -1 : __real_accept4(fd, address, length, flags);
}

int __wrap_FCGX_Init(void)
{
    return fault.no_library ? 1 : __real_FCGX_Init();
}

enum fastcgi_head __wrap_fastcgi_input_head(void)
{
    enum fastcgi_head head = __real_fastcgi_input_head();
    return fault.unseen ? FASTCGI_HEAD_UNSEEN : head;
}

/* ---- the worker ------------------------------------------------------------------------------------- */

struct worker {
    pid_t pid;
    bool local;
    struct sockaddr_storage address;
    socklen_t length;
    int ticks; /* a byte for each time that the worker was idle */
};

static struct fastcgi_options options = {.io_timeout_seconds = 20};

static void tick(void *context)
{
    (void)!write(*(int *)context, "t", 1);
}

/* Answers with what the worker has seen of the request. */
static void answer(struct arena *arena, const struct request_source *source)
{
    struct reply reply;
    char bytes[4096];
    long all = 0, got;
    const char *much = source->parameter(source->context, "READ");
    long most = much == NULL ? 1000000 : atol(much);
    do {
        got = most > 0 ? source->read(source->context, bytes, sizeof bytes) : 0;
        all += got > 0 ? got : 0;
        most -= got > 0 ? got : 0;
    } while (got > 0);
    const char *word = source->parameter(source->context, "WORD");
    reply_init(&reply, arena);
    buffer_add_format(&reply.body, "kind %d, body %ld, end %ld, word %s, twice %d", (int)source->kind, all, got,
                      word == NULL ? "none" : word, source->repeated(source->context, "WORD"));
    (void)fastcgi_send(&reply);
    fastcgi_finish(much == NULL ? 0 : 1);
}

/* Ends with the number of requests that were served. */
static void serve(int listener, int ticks)
{
    struct request_source source;
    struct arena *arena = arena_new();
    const char *problem = NULL;
    int served = 0;
    log_set_level(LOG_LEVEL_FATAL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(listener, STDIN_FILENO);
    (void)close(listener);
    options.idle_context = &ticks;
    if (!fastcgi_open(&options, &problem))
        _exit(100);
    for (; fastcgi_accept(&source); served++) {
        answer(arena, &source);
        arena_reset(arena);
    }
    _exit(served);
}

static struct worker start(const struct sockaddr *address, socklen_t length)
{
    struct worker worker = {.local = address->sa_family == AF_UNIX, .length = sizeof worker.address};
    int ends[2];
    int listener = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(listener, address, length), 0);
    assert_int_equal(listen(listener, 16), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&worker.address, &worker.length), 0);
    assert_int_equal(pipe(ends), 0);
    worker.pid = fork();
    assert_true(worker.pid >= 0);
    if (worker.pid == 0)
        serve(listener, ends[1]);
    worker.ticks = ends[0];
    (void)close(ends[1]);
    (void)close(listener);
    return worker;
}

static struct worker start_local(struct arena *arena)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", harness_directory_for_all(arena));
    mode_t mask = umask(0);
    struct worker worker = start((struct sockaddr *)&address, sizeof address);
    (void)umask(mask);
    return worker;
}

static struct worker start_tcp(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return start((struct sockaddr *)&address, sizeof address);
}

/* Asks it to end; how many requests it has served. */
static int end(struct worker *worker)
{
    int status;
    assert_int_equal(kill(worker->pid, SIGTERM), 0);
    assert_int_equal(waitpid(worker->pid, &status, 0), worker->pid);
    assert_true(WIFEXITED(status));
    (void)close(worker->ticks);
    memset(&fault, 0, sizeof fault);
    memset(&options, 0, sizeof options);
    options.io_timeout_seconds = 20;
    return WEXITSTATUS(status);
}

/* ---- the web server --------------------------------------------------------------------------------- */

static int connect_to(const struct worker *worker)
{
    int fd = socket(worker->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&worker->address, worker->length), 0);
    return fd;
}

/* One request over a connection of its own. */
static const char *ask(struct arena *arena, const struct worker *worker, int role, const char *parameters,
                       const char *body)
{
    int fd = connect_to(worker);
    fastcgi_client_put(fd, role, false, parameters, body);
    const char *text = fastcgi_client_take(arena, fd);
    (void)close(fd);
    return text;
}

static void expect_answer(const char *text, const char *words)
{
    if (text == NULL || strstr(text, words) == NULL)
        fail_msg("%s: %s", words, text == NULL ? "no answer" : text);
}

/* The same from a process of another user. */
static const char *ask_as(struct arena *arena, const struct worker *worker, uid_t user)
{
    assert_int_equal(seteuid(user), 0);
    int fd = connect_to(worker);
    assert_int_equal(seteuid(0), 0);
    fastcgi_client_put(fd, 1, false, "WORD=a", "");
    const char *text = fastcgi_client_take(arena, fd);
    (void)close(fd);
    return text;
}

/* ---- who may connect -------------------------------------------------------------------------------- */

static void only_users_of_the_list_are_served(void **state)
{
    struct arena *arena = harness_arena(state);
    if (geteuid() != 0)
        skip();
    options.peers[0] = LISTED + 1;
    options.peers[1] = LISTED;
    options.peer_count = 2;
    struct worker worker = start_local(arena);
    expect_answer(ask(arena, &worker, 1, "WORD=a", ""), "word a");
    expect_answer(ask_as(arena, &worker, LISTED), "word a");
    assert_null(ask_as(arena, &worker, UNLISTED));
    assert_int_equal(end(&worker), 2);
}

static void a_peer_that_is_not_known_is_not_served(void **state)
{
    struct arena *arena = harness_arena(state);
    fault.no_peer = true;
    struct worker worker = start_local(arena);
    assert_null(ask(arena, &worker, 1, "WORD=a", ""));
    assert_int_equal(end(&worker), 0);
    fault.no_peer = true;
    worker = start_tcp();
    assert_null(ask(arena, &worker, 1, "WORD=a", ""));
    assert_int_equal(end(&worker), 0);
}

static void over_tcp_only_this_machine_is_served(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct sockaddr_in loopback = {.sin_family = AF_INET};
    static const struct sockaddr_in6 loopback6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in local = loopback, other = loopback;
    struct sockaddr_in6 other6[4] = {loopback6, loopback6, loopback6, loopback6};
    struct sockaddr unknown = {.sa_family = AF_UNIX};
    local.sin_addr.s_addr = htonl(0x7f010203);
    other.sin_addr.s_addr = htonl(0x0a000001);
    for (size_t i = 0; i < 4; i++)
        other6[i].sin6_addr.s6_addr[4 * i + (i < 3 ? 0 : 3)] = 0xfe;
    const struct {
        const void *peer;
        socklen_t length;
        bool served;
    } rows[] = {
        {&local, sizeof local, true},
        {&other, sizeof other, false},
        {&loopback6, sizeof loopback6, true},
        {&other6[0], sizeof other6[0], false},
        {&other6[1], sizeof other6[1], false},
        {&other6[2], sizeof other6[2], false},
        {&other6[3], sizeof other6[3], false},
        {&unknown, sizeof unknown, false},
        {NULL, 0, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fault.peer = rows[i].peer;
        fault.peer_length = rows[i].length;
        struct worker worker = start_tcp();
        if ((ask(arena, &worker, 1, "WORD=a", "") != NULL) != rows[i].served)
            fail_msg("row %zu is %s", i, rows[i].served ? "dropped" : "served");
        assert_int_equal(end(&worker), rows[i].served);
    }
}

/* ---- what is served --------------------------------------------------------------------------------- */

static void a_request_is_seen_as_it_was_sent(void **state)
{
    struct arena *arena = harness_arena(state);
    struct worker worker = start_local(arena);
    expect_answer(ask(arena, &worker, 1, "WORD=a WORD=b CONTENT_LENGTH=5", "hello"), "body 5, end 0, word a, twice 1");
    expect_answer(ask(arena, &worker, 1, "CONTENT_LENGTH= X=1", ""), "kind 0, body 0, end 0, word none, twice 0");
    expect_answer(ask(arena, &worker, 1, "HTTP_TRANSFER_ENCODING=chunked", "abc"), "kind 0, body 3");
    expect_answer(ask(arena, &worker, 1, "GATEHOUSE_ADMISSION=1 HTTP_TRANSFER_ENCODING=chunked", ""), "kind 1");
    expect_answer(ask(arena, &worker, 1, "GATEHOUSE_ADMISSION=", ""), "kind 0");
    expect_answer(ask(arena, &worker, 1, "CONTENT_LENGTH=2 CONTENT_TYPE=application/json", "{}"), "body 2");
    expect_answer(ask(arena, &worker, 1, "CONTENT_LENGTH=2 CONTENT_TYPE=text/plain", "{}"), "body 2");
    expect_answer(ask(arena, &worker, 2, "GATEHOUSE_ADMISSION=", NULL), "kind 2");
    assert_int_equal(end(&worker), 8);
}

/* libfcgi would take what is left of a body for the next request. */
static void a_connection_with_an_unread_body_is_closed_and_another_kept(void **state)
{
    struct arena *arena = harness_arena(state);
    for (int tcp = 0; tcp < 2; tcp++) {
        struct worker worker = tcp ? start_tcp() : start_local(arena);
        char byte;
        int fd = connect_to(&worker);
        fastcgi_client_put(fd, 1, true, "WORD=one", "");
        expect_answer(fastcgi_client_take(arena, fd), "word one");
        fastcgi_client_put(fd, 1, true, "WORD=two CONTENT_LENGTH=3", "abc");
        expect_answer(fastcgi_client_take(arena, fd), "body 3, end 0, word two");
        fastcgi_client_put(fd, 1, true, "WORD=three CONTENT_LENGTH=3 READ=0", "abc");
        expect_answer(fastcgi_client_take(arena, fd), "body 0, end 0, word three");
        assert_true(recv(fd, &byte, 1, 0) <= 0);
        (void)close(fd);
        fd = connect_to(&worker);
        fastcgi_client_put(fd, 2, true, "WORD=four", NULL);
        expect_answer(fastcgi_client_take(arena, fd), "kind 2");
        assert_true(recv(fd, &byte, 1, 0) <= 0);
        (void)close(fd);
        assert_int_equal(end(&worker), 4);
    }
}

/* A filter, and a role that there is not. The worker goes on. */
static void another_role_is_not_served(void **state)
{
    struct arena *arena = harness_arena(state);
    struct worker worker = start_local(arena);
    static const int roles[] = {3, 7};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        const char *text = ask(arena, &worker, roles[i], "WORD=a", "");
        assert_true(text == NULL || strstr(text, "word") == NULL);
    }
    expect_answer(ask(arena, &worker, 1, "WORD=a", ""), "word a");
    assert_int_equal(end(&worker), 1);
}

static void a_body_in_a_file_is_read_from_there(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory(arena);
    const char *path = harness_write(arena, folder, "0000000001", "from a file", 11);
    assert_int_equal(chmod(path, 0600), 0);
    options.body_directory = folder;
    struct worker worker = start_local(arena);
    expect_answer(ask(arena, &worker, 1, arena_format(arena, BODY_FILE_PARAMETER "=%s CONTENT_LENGTH=11", path), ""),
                  "body 11, end -2");
    expect_answer(ask(arena, &worker, 1, arena_format(arena, BODY_FILE_PARAMETER "=%s CONTENT_LENGTH=12", path), ""),
                  "body 0, end -2"); /* it is shorter than it was announced */
    expect_answer(ask(arena, &worker, 1, arena_format(arena, BODY_FILE_PARAMETER "=%s", path), ""), "end -2");
    expect_answer(ask(arena, &worker, 1, BODY_FILE_PARAMETER "=/etc/hostname CONTENT_LENGTH=1", ""), "body 0, end -2");
    expect_answer(ask(arena, &worker, 1, BODY_FILE_PARAMETER "= CONTENT_LENGTH=2", "ab"), "body 2, end 0");
    assert_int_equal(end(&worker), 5);
}

/* ---- what ends a worker, and what does not ---------------------------------------------------------- */

static void a_connection_that_is_gone_already_ends_no_worker(void **state)
{
    struct arena *arena = harness_arena(state);
    char byte;
    fault.accepts[0] = ECONNABORTED;
    fault.accepts[1] = EINTR;
    fault.accepts[2] = EAGAIN;
    options.idle = tick;
    struct worker worker = start_local(arena);
    expect_answer(ask(arena, &worker, 1, "WORD=a", ""), "word a");
    assert_int_equal(read(worker.ticks, &byte, 1), 1); /* it had nothing to do for a moment */
    assert_int_equal(end(&worker), 1);
    fault.accepts[0] = EAGAIN;
    worker = start_local(arena);
    expect_answer(ask(arena, &worker, 1, "WORD=a", ""), "word a");
    assert_int_equal(end(&worker), 1);
}

/* The supervisor starts another one. */
static void a_worker_that_cannot_accept_ends(void **state)
{
    int status;
    fault.accepts[0] = EMFILE;
    struct worker worker = start_local(harness_arena(state));
    assert_int_equal(waitpid(worker.pid, &status, 0), worker.pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)close(worker.ticks);
    memset(&fault, 0, sizeof fault);
}

static void nothing_is_served_that_came_past_the_guard(void **state)
{
    struct arena *arena = harness_arena(state);
    int status;
    fault.unseen = true;
    struct worker worker = start_local(arena);
    assert_null(ask(arena, &worker, 1, "WORD=a", ""));
    assert_int_equal(waitpid(worker.pid, &status, 0), worker.pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)close(worker.ticks);
    memset(&fault, 0, sizeof fault);
}

static void open_on(void *context)
{
    const char *problem = NULL;
    int fd = *(int *)context;
    if (fd >= 0)
        (void)dup2(fd, STDIN_FILENO);
    else
        (void)close(STDIN_FILENO);
    if (fastcgi_open(&options, &problem))
        _exit(1);
    _exit(problem != NULL && strstr(problem, fault.no_library ? "libfcgi" : "no listening socket") != NULL ? 0 : 2);
}

static void without_a_listening_socket_or_libfcgi_nothing_is_opened(void **state)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC), closed = -1;
    int deaf = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)state;
    assert_int_equal(harness_fork(open_on, &null), 0);
    assert_int_equal(harness_fork(open_on, &closed), 0);
    assert_int_equal(harness_fork(open_on, &deaf), 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    fault.no_library = true;
    assert_int_equal(harness_fork(open_on, &listener), 0);
    fault.no_library = false;
    (void)close(null);
    (void)close(deaf);
    (void)close(listener);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(only_users_of_the_list_are_served),
    HARNESS_TEST(a_peer_that_is_not_known_is_not_served),
    HARNESS_TEST(over_tcp_only_this_machine_is_served),
    HARNESS_TEST(a_request_is_seen_as_it_was_sent),
    HARNESS_TEST(a_connection_with_an_unread_body_is_closed_and_another_kept),
    HARNESS_TEST(another_role_is_not_served),
    HARNESS_TEST(a_body_in_a_file_is_read_from_there),
    HARNESS_TEST(a_connection_that_is_gone_already_ends_no_worker),
    HARNESS_TEST(a_worker_that_cannot_accept_ends),
    HARNESS_TEST(nothing_is_served_that_came_past_the_guard),
    HARNESS_TEST(without_a_listening_socket_or_libfcgi_nothing_is_opened),
};
HARNESS_MODULE(fastcgi, cases)
