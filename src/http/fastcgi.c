/* SPDX-License-Identifier: MIT */
/*
 * Serves requests over libfcgi. The pitfalls of libfcgi, and what is done about each:
 *
 * - It waits for ever for a silent peer. libfcgi calls the accept() below (the executable's symbol comes before the C
 *   library's), which sets receive and send time-outs on each connection.
 * - It waits as long as a byte comes now and then. So the head as a whole and the end of a connection have a deadline
 *   (fastcgi_deadline_int.h), and a body has a least rate: its sender has some time in advance (`patience`), spends it
 *   while the worker waits, and earns more by sending bytes.
 * - Anybody who can reach the socket can send any parameters. So accept() drops peers that are neither the web server's
 *   user, nor this process's user, nor root.
 * - When a connection is kept, libfcgi would parse unread bytes of a body as records of the next request, so a body
 *   could forge a request. A request that ends with unread body, or whose stream failed, closes its connection.
 * - It trusts the lengths and the order of records. So a guard looks at every byte before libfcgi does
 *   (fastcgi_guard_int.h).
 * - It takes parameters that end at the end of the connection for all of them. Such a request is dropped.
 * - It delivers more STDIN than CONTENT_LENGTH. http/request.c stops at the announced length, and a surplus closes the
 *   connection too.
 * - Signals: those that end the process are blocked while a request is served, and are looked at only between requests.
 *   The listening socket has a receive time-out of one second, so a signal that arrives just before accept() is seen
 *   soon as well.
 */
#include "http/fastcgi.h"

#include <errno.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "http/body_file.h"
#include "http/fastcgi_deadline_int.h"
#include "http/fastcgi_input_int.h"
#include "http/fastcgi_send_int.h"
#include "http/reply.h"

#define LISTEN_FD 0
#define MICROSECONDS INT64_C(1000000)
#define HEAD_SECONDS 2   /* for the whole head, and for each silence in it */
#define FINISH_SECONDS 2 /* for what follows the reply: the rest of the request, and the peer's close */
#define JSON_SECONDS 5   /* time in advance for a JSON body, which anybody may send */
#define LISTEN_WAIT_SECONDS 1
/* The least average rate of a body over its patience: slower than the slowest mobile networks. */
#define SLOWEST_BODY_BYTES_PER_SECOND 4096
#define BODY_STEP_BYTES 32768
#define ROLE_RESPONDER 1 /* FastCGI specification, section 8 */
#define ROLE_AUTHORIZER 2

static struct {
    struct fastcgi_options options;
    uid_t own;
    bool local; /* the listening socket is a Unix socket, and so is every connection */
    FCGX_Request request;
    bool bodiless;         /* the current request announces no body */
    int64_t patience;      /* with the body, in microseconds: how much longer it may take than its bytes have earned */
    int64_t patience_most; /* its value at the beginning, and its maximum */
    bool body_broken;      /* no more of the body will come */
    int body_fd;           /* the stored body of the request; -1 when there is none or it is not open yet */
    volatile sig_atomic_t ending;
    sigset_t ending_signals;
} state;

static void on_end(int signal_number)
{
    (void)signal_number;
    state.ending = 1;
}

static bool set_timeout(int fd, int option, int64_t seconds)
{
    struct timeval timeout = {.tv_sec = (time_t)seconds};
    return setsockopt(fd, SOL_SOCKET, option, &timeout, sizeof timeout) == 0;
}

static bool uid_is_welcome(uid_t uid)
{
    if (uid == 0 || uid == state.own)
        return true;
    for (size_t i = 0; i < state.options.peer_count; i++)
        if (state.options.peers[i] == uid)
            return true;
    return false;
}

static bool peer_is_welcome(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    if (state.local) {
        struct ucred peer;
        length = sizeof peer;
        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && uid_is_welcome(peer.uid);
    }
    if (getpeername(fd, (struct sockaddr *)&address, &length) != 0)
        return false;
    /* A TCP socket does not know its peer's user, so only this machine may connect. */
    if (address.ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)&address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)&address;
    return address.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* Nobody has called for a second. Signals wait until it is done, as they do while a request is served. */
static void while_idle(void)
{
    if (state.options.idle == NULL)
        return;
    (void)sigprocmask(SIG_BLOCK, &state.ending_signals, NULL);
    state.options.idle(state.options.idle_context);
    (void)sigprocmask(SIG_UNBLOCK, &state.ending_signals, NULL);
}

/*
 * The accept() that libfcgi calls. SIGTERM is deliverable only in here. EINTR makes libfcgi look at its shutdown flag.
 */
__attribute__((visibility("default"))) int accept(int listener, struct sockaddr *address, socklen_t *length)
{
    if (listener != LISTEN_FD)
        return accept4(listener, address, length, 0);
    int fd = -1;
    (void)fastcgi_deadline_end();
    (void)sigprocmask(SIG_UNBLOCK, &state.ending_signals, NULL);
    while (fd < 0 && !state.ending) {
        fd = accept4(listener, address, length, SOCK_CLOEXEC);
        if (fd < 0 && errno == EAGAIN) {
            while_idle();
            continue;
        }
        if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            break;
        if (fd >= 0 && !peer_is_welcome(fd)) {
            LOG(WARN, HTTP, "a connection from a user that is not allowed was dropped");
            (void)close(fd);
            fd = -1;
        }
    }
    int failure = errno;
    (void)sigprocmask(SIG_BLOCK, &state.ending_signals, NULL);
    if (fd < 0) {
        if (state.ending)
            FCGX_ShutdownPending();
        errno = state.ending ? EINTR : failure;
        return -1;
    }
    (void)set_timeout(fd, SO_RCVTIMEO, HEAD_SECONDS);
    (void)set_timeout(fd, SO_SNDTIMEO, state.options.io_timeout_seconds);
    fastcgi_deadline_start(fd, SHUT_RDWR, HEAD_SECONDS * MICROSECONDS);
    fastcgi_input_start(fd);
    return fd;
}

bool fastcgi_open(const struct fastcgi_options *options, const char **problem_out)
{
    state.options = *options;
    state.own = geteuid();
    state.body_fd = -1;
    int listening = 0;
    socklen_t length = sizeof listening;
    if (getsockopt(LISTEN_FD, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) != 0 || !listening) {
        *problem_out =
            "there is no listening socket at descriptor 0; start this program through spawn-fcgi or mod_fcgid";
        return false;
    }
    struct sockaddr_storage address = {0};
    length = sizeof address;
    state.local = getsockname(LISTEN_FD, (struct sockaddr *)&address, &length) == 0 && address.ss_family == AF_UNIX;
    int flags = fcntl(LISTEN_FD, F_GETFL);
    if (flags >= 0 && (flags & O_NONBLOCK) != 0)
        (void)fcntl(LISTEN_FD, F_SETFL, flags & ~O_NONBLOCK);
    (void)set_timeout(LISTEN_FD, SO_RCVTIMEO, LISTEN_WAIT_SECONDS);

    /*
     * libfcgi waits at most so many milliseconds for the first byte of a request and, after the last, for the peer to
     * close. Its own 2000 would let silent peers occupy a worker.
     */
    (void)setenv("LIBFCGI_IS_AF_UNIX_KEEPER_POLL_TIMEOUT", "1000", 1);
    (void)setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "200", 1);
    if (FCGX_Init() != 0 || FCGX_InitRequest(&state.request, LISTEN_FD, 0) != 0) {
        *problem_out = "libfcgi could not be initialised";
        return false;
    }
    (void)sigemptyset(&state.ending_signals);
    (void)sigaddset(&state.ending_signals, SIGTERM);
    (void)sigaddset(&state.ending_signals, SIGUSR1);
    /* What multiwatch 1.0.0 sends when its option says TERM. */
    (void)sigaddset(&state.ending_signals, SIGQUIT);
    (void)sigprocmask(SIG_BLOCK, &state.ending_signals, NULL);
    struct sigaction end = {.sa_handler = on_end};
    (void)sigaction(SIGTERM, &end, NULL);
    (void)sigaction(SIGUSR1, &end, NULL);
    (void)sigaction(SIGQUIT, &end, NULL);
    fastcgi_deadline_open();
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    return true;
}

/*
 * The place of a parameter, from `entry` on; NULL where there is none. FCGX_GetParam() with an inlined comparison: most
 * parameters differ early from the one in question.
 */
static char **find_parameter(char **entry, const char *name)
{
    for (; entry != NULL && *entry != NULL; entry++) {
        const char *at = *entry;
        const char *wanted = name;
        while (*wanted != '\0' && *at == *wanted) {
            at++;
            wanted++;
        }
        if (*wanted == '\0' && *at == '=')
            return entry;
    }
    return NULL;
}

static const char *parameter(const char *name)
{
    char **entry = find_parameter(state.request.envp, name);
    return entry == NULL ? NULL : *entry + strlen(name) + 1;
}

static bool source_repeated(void *context, const char *name)
{
    (void)context;
    char **entry = find_parameter(state.request.envp, name);
    return entry != NULL && find_parameter(entry + 1, name) != NULL;
}

static const char *source_parameter(void *context, const char *name)
{
    (void)context;
    return parameter(name);
}

/* Reads the body that the web server has stored (http/body_file.h); the first call opens it. */
static long read_body_file(const char *path, void *bytes, size_t size)
{
    if (state.body_fd < 0) {
        const struct body_file_rules rules = {state.options.body_directory, state.options.peers,
                                              state.options.peer_count};
        const char *length = parameter("CONTENT_LENGTH");
        const char *problem;
        int64_t announced = -1;
        if (length != NULL)
            (void)text_to_integer(length, 0, INT64_MAX, &announced);
        state.body_fd = body_file_open(&rules, path, announced, &problem);
        if (state.body_fd < 0) {
            LOG(ERROR, HTTP, problem, LOG_TEXT("path", path));
            return REQUEST_SOURCE_FAULT;
        }
    }
    ssize_t got;
    do
        got = read(state.body_fd, bytes, size);
    while (got < 0 && errno == EINTR);
    return got > 0 ? got : REQUEST_SOURCE_FAULT;
}

/* Reads one piece of the body. One that comes too slowly ends the body; a reply may still be sent. */
static int read_step(char *bytes, int size)
{
    int64_t started = clock_monotonic();
    fastcgi_deadline_start(state.request.ipcFd, SHUT_RD,
                           state.patience + size * MICROSECONDS / SLOWEST_BODY_BYTES_PER_SECOND);
    /* It returns fewer bytes at the end of the stream and on failure. */
    int got = FCGX_GetStr(bytes, size, state.request.in);
    bool late = fastcgi_deadline_end();
    if (late)
        LOG(WARN, HTTP, "a body was cut: it came too slowly");
    state.body_broken = late || FCGX_GetError(state.request.in) != 0;
    state.patience += got * MICROSECONDS / SLOWEST_BODY_BYTES_PER_SECOND - (clock_monotonic() - started);
    if (state.patience > state.patience_most)
        state.patience = state.patience_most;
    return got;
}

static long source_read(void *context, void *bytes, size_t size)
{
    (void)context;
    const char *path = parameter(BODY_FILE_PARAMETER);
    if (path != NULL && *path != '\0')
        return read_body_file(path, bytes, size);
    if (size > LIMIT_BLOB_BLOCK_BYTES)
        size = LIMIT_BLOB_BLOCK_BYTES;
    int all = 0;
    int got = 0;
    int step = 0;
    while (!state.body_broken && got == step && all < (int)size) {
        step = (int)size - all < BODY_STEP_BYTES ? (int)size - all : BODY_STEP_BYTES;
        got = read_step((char *)bytes + all, step);
        all += got;
    }
    /* What has come before a failure counts; the next call tells of it. */
    return all == 0 && state.body_broken ? -1 : all;
}

/* An authoriser only gets questions, whatever the parameters say. */
static enum request_kind request_kind(void)
{
    if (state.request.role == ROLE_AUTHORIZER)
        return REQUEST_AUTHORISER;
    const char *question = parameter(ADMISSION_PARAMETER);
    return question == NULL || *question == '\0' ? REQUEST_WHOLE : REQUEST_QUESTION;
}

/*
 * Between two blocks, a long body may take longer than the head of a request. JSON is short, and anybody may send it.
 * Any other body is read only from a client that may send it.
 */
static void allow_for_body(void)
{
    const char *length = parameter("CONTENT_LENGTH");
    const char *type = parameter("CONTENT_TYPE");
    const char *coding = parameter("HTTP_TRANSFER_ENCODING");
    bool unsaid = length == NULL || *length == '\0';
    state.body_broken = false;
    state.bodiless = unsaid ? coding == NULL || request_kind() != REQUEST_WHOLE : strcmp(length, "0") == 0;
    if (state.bodiless)
        return;
    int64_t patience = state.options.io_timeout_seconds;
    if (type != NULL && strncasecmp(type, "application/json", strlen("application/json")) == 0 &&
        patience > JSON_SECONDS)
        patience = JSON_SECONDS;
    state.patience = state.patience_most = patience * MICROSECONDS;
    (void)set_timeout(state.request.ipcFd, SO_RCVTIMEO, patience);
}

/* On a kept connection the time for a head includes the silence before the request. */
static void limit_head(void)
{
    if (state.request.ipcFd < 0)
        return;
    fastcgi_input_next();
    (void)set_timeout(state.request.ipcFd, SO_RCVTIMEO, HEAD_SECONDS);
    fastcgi_deadline_start(state.request.ipcFd, SHUT_RDWR, HEAD_SECONDS * MICROSECONDS);
}

/* Ends a request that is not served. */
static void drop(void)
{
    state.request.keepConnection = 0;
    FCGX_Finish_r(&state.request);
}

bool fastcgi_accept(struct request_source *source_out)
{
    for (;;) {
        (void)FCGX_Attach(&state.request);
        limit_head();
        int failure = state.ending ? -1 : FCGX_Accept_r(&state.request);
        bool late = fastcgi_deadline_end();
        if (failure != 0)
            return false;
        enum fastcgi_head head = fastcgi_input_head();
        if (head == FASTCGI_HEAD_UNSEEN) {
            LOG(FATAL, HTTP, "this libfcgi reads past the guard of the connection; nothing is served");
            return false;
        }
        bool whole = !late && head == FASTCGI_HEAD_WHOLE;
        if (whole && (state.request.role == ROLE_RESPONDER || state.request.role == ROLE_AUTHORIZER))
            break;
        if (whole)
            LOG(WARN, HTTP, "a request of another role than responder or authoriser was refused",
                LOG_INTEGER("role", state.request.role));
        drop();
    }
    allow_for_body();
    *source_out = (struct request_source){
        .kind = request_kind(), .parameter = source_parameter, .repeated = source_repeated, .read = source_read};
    return true;
}

bool fastcgi_refuse_more(void)
{
    return state.options.own_socket && shutdown(LISTEN_FD, SHUT_RD) == 0;
}

bool fastcgi_send(const struct reply *reply)
{
    return fastcgi_send_reply(&state.request, state.options.io_timeout_seconds, reply);
}

/* Whether the stream of the body has been read to its end, with its last, empty record. */
static bool all_is_read(int64_t body_left)
{
    return body_left == 0 && FCGX_GetError(state.request.in) == 0 && FCGX_GetChar(state.request.in) == EOF &&
           FCGX_GetError(state.request.in) == 0;
}

/*
 * libfcgi shuts down one direction and then waits for the web server to close. Otherwise a TCP connection could be
 * reset while a reply is still on its way. On a Unix socket the peer has the reply when write() returns, and it is
 * reset only when bytes stay unread. So where nothing is left (a request without a body, whose end the web server sends
 * together with its head), the connection is simply closed. That is what a detached request does: three calls and a
 * wait less.
 */
static void close_at_once(int64_t body_left)
{
    if (state.local && state.bodiless && state.request.keepConnection == 0 && all_is_read(body_left))
        (void)FCGX_Detach(&state.request);
}

/*
 * An authoriser gets no stream of standard input, not even an empty one, so waiting for its end would last until the
 * time-out.
 */
static void close_authoriser(void)
{
    state.request.keepConnection = 0;
    if (state.local)
        (void)FCGX_Detach(&state.request);
}

void fastcgi_finish(int64_t body_left)
{
    fastcgi_deadline_start(state.request.ipcFd, SHUT_RD, FINISH_SECONDS * MICROSECONDS);
    if (state.request.role == ROLE_AUTHORIZER)
        close_authoriser();
    else if (state.request.keepConnection != 0 && !all_is_read(body_left))
        state.request.keepConnection = 0;
    else
        close_at_once(body_left);
    FCGX_Finish_r(&state.request);
    (void)fastcgi_deadline_end();
    if (state.body_fd >= 0)
        (void)close(state.body_fd);
    state.body_fd = -1;
}
