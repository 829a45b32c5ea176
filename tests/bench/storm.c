/* SPDX-License-Identifier: MIT */
/*
 * Sends requests at a fixed rate, whether or not the ones before are answered, and prints what came of them as a line
 * of JSON:
 *
 *     storm ADDRESS PORT RATE SECONDS REQUESTS
 *
 * RATE is in requests a second. REQUESTS is a file of requests, one a line, CR LF written as \r\n, gone through in
 * order again and again. A request takes a connection that is idle, or a new one. Times are taken from the moment at
 * which a request was due.
 *
 * After SECONDS nothing more is sent, and what is under way is waited for. An answer of 2xx is good, any other one a
 * refusal. Waiting for more than PATIENCE is a break, as for a person who has gone.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define HEAD_BYTES 4096
#define TAIL_BYTES 5
#define READ_BYTES 65536
#define CONNECTIONS_MAX 8192
#define REQUESTS_MAX 1024
#define EVENTS_MAX 256
#define PATIENCE 10000000 /* microseconds */

struct request {
    char *bytes;
    size_t length;
};

struct exchange {
    int fd;      /* -1 when there is no connection */
    bool active; /* a request is under way */
    const struct request *request;
    size_t sent;
    size_t got;                /* of the answer */
    char head[HEAD_BYTES];     /* its start */
    char tail[TAIL_BYTES + 1]; /* its last bytes */
    int64_t due;
};

struct times {
    int64_t *each;
    size_t count;
};

static struct {
    struct sockaddr_in address;
    struct request requests[REQUESTS_MAX];
    size_t request_count;
    struct exchange exchanges[CONNECTIONS_MAX];
    struct exchange *free[CONNECTIONS_MAX]; /* without a request; those with a connection at the end */
    size_t free_count;
    int poll;
    int64_t rate;
    int64_t due_count; /* all that are due within the time */
    int64_t began;
    int64_t begun;
    int64_t ended; /* the last good answer */
    struct times good;
    struct times refused;
    int64_t without_retry_after;
    int64_t broken;
    int64_t unsent;
} run;

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

/* In place: what is written as \r\n becomes CR LF. */
static size_t unescape(char *line)
{
    char *to = line;
    for (const char *from = line; *from != '\0' && *from != '\n';) {
        if (strncmp(from, "\\r\\n", 4) == 0) {
            *to++ = '\r';
            *to++ = '\n';
            from += 4;
        } else {
            *to++ = *from++;
        }
    }
    return (size_t)(to - line);
}

static void read_requests(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        die(path);
    size_t capacity = 0;
    for (char *line = NULL; run.request_count < REQUESTS_MAX && getline(&line, &capacity, file) > 0;
         line = NULL, capacity = 0)
        run.requests[run.request_count++] = (struct request){.bytes = line, .length = unescape(line)};
    (void)fclose(file);
    if (run.request_count == 0) {
        (void)fprintf(stderr, "storm: %s has no request\n", path);
        exit(EXIT_FAILURE);
    }
}

static void prepare(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        die("getrlimit");
    limit.rlim_cur = limit.rlim_max < CONNECTIONS_MAX + 64 ? limit.rlim_max : CONNECTIONS_MAX + 64;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        die("setrlimit");
    run.poll = epoll_create1(EPOLL_CLOEXEC);
    if (run.poll < 0)
        die("epoll_create1");
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        run.exchanges[i] = (struct exchange){.fd = -1};
        run.free[run.free_count++] = &run.exchanges[i];
    }
}

static void keep(struct times *times, int64_t taken)
{
    if ((times->count & (times->count - 1)) == 0) {
        times->each = realloc(times->each, (times->count == 0 ? 1 : 2 * times->count) * sizeof *times->each);
        if (times->each == NULL)
            die("realloc");
    }
    times->each[times->count++] = taken;
}

/* Closes by a reset, so that no port of ours is kept waiting. */
static void hang_up(struct exchange *exchange)
{
    struct linger at_once = {.l_onoff = 1};
    (void)setsockopt(exchange->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)close(exchange->fd);
    exchange->fd = -1;
}

/* The request is over. */
static void release(struct exchange *exchange, bool kept)
{
    exchange->active = false;
    if (kept) {
        run.free[run.free_count++] = exchange;
        return;
    }
    hang_up(exchange);
    memmove(run.free + 1, run.free, run.free_count++ * sizeof *run.free);
    run.free[0] = exchange;
}

static void give_up(struct exchange *exchange)
{
    run.broken++;
    release(exchange, false);
}

static bool open_connection(struct exchange *exchange)
{
    exchange->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (exchange->fd < 0)
        return false;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = exchange};
    if (epoll_ctl(run.poll, EPOLL_CTL_ADD, exchange->fd, &event) != 0)
        die("epoll_ctl");
    return connect(exchange->fd, (const struct sockaddr *)&run.address, sizeof run.address) == 0 ||
           errno == EINPROGRESS;
}

/* Sends what the socket takes; false when the connection is broken. */
static bool send_some(struct exchange *exchange)
{
    while (exchange->sent < exchange->request->length) {
        ssize_t step = send(exchange->fd, exchange->request->bytes + exchange->sent,
                            exchange->request->length - exchange->sent, MSG_NOSIGNAL);
        if (step < 0)
            return errno == EAGAIN || errno == ENOTCONN;
        exchange->sent += (size_t)step;
    }
    return true;
}

static void begin(int64_t due)
{
    if (run.free_count == 0) {
        run.unsent++;
        return;
    }
    struct exchange *exchange = run.free[--run.free_count];
    exchange->active = true;
    exchange->request = &run.requests[(size_t)run.begun % run.request_count];
    exchange->sent = exchange->got = 0;
    exchange->head[0] = exchange->tail[0] = '\0';
    exchange->due = due;
    if (!(exchange->fd >= 0 ? send_some(exchange) : open_connection(exchange)))
        give_up(exchange);
}

/* The head says how long the body is, or the chunks end. */
static bool is_whole(const struct exchange *exchange)
{
    const char *end = strstr(exchange->head, "\r\n\r\n");
    if (end == NULL)
        return false;
    const char *length = strcasestr(exchange->head, "\r\nContent-Length:");
    if (length != NULL && length < end)
        return exchange->got >=
               (size_t)(end + 4 - exchange->head) + strtoul(length + strlen("\r\nContent-Length:"), NULL, 10);
    return strcmp(exchange->tail, "0\r\n\r\n") == 0;
}

static void finish(const struct exchange *exchange)
{
    int64_t now = clock_monotonic();
    if (strncmp(exchange->head, "HTTP/1.1 2", 10) == 0) {
        keep(&run.good, now - exchange->due);
        run.ended = now;
        return;
    }
    keep(&run.refused, now - exchange->due);
    if (strcasestr(exchange->head, "\r\nRetry-After:") == NULL)
        run.without_retry_after++;
}

static void take(struct exchange *exchange, const char *bytes, size_t count)
{
    if (exchange->got < HEAD_BYTES - 1) {
        size_t free_bytes = HEAD_BYTES - 1 - exchange->got;
        size_t part = count < free_bytes ? count : free_bytes;
        memcpy(exchange->head + exchange->got, bytes, part);
        exchange->head[exchange->got + part] = '\0';
    }
    size_t kept = strlen(exchange->tail);
    size_t fresh = count < TAIL_BYTES ? count : TAIL_BYTES;
    size_t old = kept + fresh > TAIL_BYTES ? TAIL_BYTES - fresh : kept;
    memmove(exchange->tail, exchange->tail + kept - old, old);
    memcpy(exchange->tail + old, bytes + count - fresh, fresh);
    exchange->tail[old + fresh] = '\0';
    exchange->got += count;
}

/* Reads what there is. 1 when the answer is whole, 0 when there is more to come, -1 when the connection is broken. */
static int receive_some(struct exchange *exchange)
{
    static char bytes[READ_BYTES];
    for (;;) {
        ssize_t step = recv(exchange->fd, bytes, sizeof bytes, 0);
        if (step < 0)
            return errno == EAGAIN ? 0 : -1;
        if (step == 0)
            return -1;
        take(exchange, bytes, (size_t)step);
        if (is_whole(exchange))
            return 1;
    }
}

/* After epoll. A connection that is idle has nothing to say but that it ends. */
static void go_on(struct exchange *exchange, uint32_t events)
{
    int state = 0;
    if (exchange->fd < 0)
        return;
    if (!exchange->active) {
        if ((events & ~(uint32_t)EPOLLOUT) != 0)
            hang_up(exchange);
        return;
    }
    bool well = (events & EPOLLOUT) == 0 || send_some(exchange);
    if ((events & ~(uint32_t)EPOLLOUT) != 0 || !well)
        state = receive_some(exchange);
    if (well && state == 0)
        return;
    if (state != 1) {
        give_up(exchange);
        return;
    }
    finish(exchange);
    release(exchange, strcasestr(exchange->head, "\r\nConnection: close") == NULL);
}

static void give_up_old_ones(int64_t now)
{
    for (size_t i = 0; i < CONNECTIONS_MAX; i++)
        if (run.exchanges[i].active && now - run.exchanges[i].due > PATIENCE)
            give_up(&run.exchanges[i]);
}

static int64_t due_time(int64_t number)
{
    return run.began + number * 1000000 / run.rate;
}

static void drive(void)
{
    struct epoll_event events[EVENTS_MAX];
    run.began = clock_monotonic();
    run.ended = run.began;
    int64_t looked = run.began;
    while (run.begun < run.due_count || run.free_count < CONNECTIONS_MAX) {
        int64_t now = clock_monotonic();
        for (; run.begun < run.due_count && due_time(run.begun) <= now; run.begun++)
            begin(due_time(run.begun));
        if (now - looked > 100000) {
            give_up_old_ones(now);
            looked = now;
        }
        int count = epoll_wait(run.poll, events, EVENTS_MAX, 1);
        for (int i = 0; i < count; i++)
            go_on(events[i].data.ptr, events[i].events);
    }
}

static int compare(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void report_times(const char *name, struct times *times)
{
    static const double points[] = {1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99};
    qsort(times->each, times->count, sizeof *times->each, compare);
    (void)printf("\"%s\":{\"count\":%zu,\"latency\":{", name, times->count);
    for (size_t i = 0; times->count > 0 && i < sizeof points / sizeof *points; i++) {
        /* the nearest rank, as in measure.py */
        size_t rank = (times->count * (size_t)(points[i] * 100 + 0.5) + 9999) / 10000;
        (void)printf("%s\"%g\":%" PRId64, i == 0 ? "" : ",", points[i], times->each[rank == 0 ? 0 : rank - 1]);
    }
    (void)printf("}},");
}

int main(int argc, char **argv)
{
    int64_t port, seconds;
    if (argc != 6 || !text_to_integer(argv[2], 1, 65535, &port) || !text_to_integer(argv[3], 1, 1000000, &run.rate) ||
        !text_to_integer(argv[4], 1, 3600, &seconds)) {
        (void)fprintf(stderr, "usage: storm ADDRESS PORT RATE SECONDS REQUESTS\n");
        return 2;
    }
    run.address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, argv[1], &run.address.sin_addr) != 1)
        die(argv[1]);
    run.due_count = run.rate * seconds;
    read_requests(argv[5]);
    prepare();
    drive();
    (void)printf("{");
    report_times("good", &run.good);
    report_times("refused", &run.refused);
    (void)printf("\"microseconds\":%" PRId64 ",\"without_retry_after\":%" PRId64 ",\"broken\":%" PRId64
                 ",\"unsent\":%" PRId64 "}\n",
                 run.ended - run.began, run.without_retry_after, run.broken, run.unsent);
    return EXIT_SUCCESS;
}
