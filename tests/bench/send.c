/* SPDX-License-Identifier: MIT */
/*
 * Sends uploads, one after the other, over so many connections for so many seconds, and prints what came of it as a
 * line of JSON, like wrk's scripts:
 *
 *     send ADDRESS PORT CONNECTIONS SECONDS REQUEST PAYLOAD
 *
 * REQUEST is a file whose first line is a request, CR LF written as \r\n, with \P where the bytes of the file PAYLOAD
 * go, the first 32 of them different each time. It takes as little of the processors as it can: the payload goes from
 * the page cache into the socket by sendfile(), which over the loopback copies nothing.
 *
 * What has begun when the time is over is still sent, and is counted. Then a connection has run longer than asked for,
 * so the rate is the sum of the connections' own, and "microseconds" the time in which the requests make that rate.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define VARYING 32
#define REQUEST_BYTES 65536
#define ANSWER_BYTES 65536
#define CONNECTIONS_MAX 512
#define PATIENCE_MILLISECONDS 60000

struct connection {
    int fd;
    char varying[VARYING + 1];
    off_t sent; /* of the whole request */
    size_t got; /* of the answer */
    char answer[ANSWER_BYTES];
    int64_t began; /* the request at hand */
    int64_t ended; /* the last answer */
    int64_t requests;
};

static struct {
    struct sockaddr_in address;
    struct connection *connections;
    int64_t count; /* of the connections */
    char head[REQUEST_BYTES];
    off_t head_length;
    const char *tail;
    off_t tail_length;
    int payload;
    off_t payload_length;
    uint64_t stamp;  /* no other run has it */
    uint64_t number; /* of requests begun */
    int64_t began;
    int64_t deadline;
    int64_t *times;
    size_t time_count;
    int64_t refused;
    int64_t broken;
} run;

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

/* The request's line, unescaped, in two halves. */
static void read_request(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(run.head, sizeof run.head, file) == NULL)
        die(path);
    (void)fclose(file);
    char *to = run.head;
    for (const char *from = run.head; *from != '\0' && *from != '\n';) {
        if (strncmp(from, "\\r\\n", 4) == 0) {
            *to++ = '\r';
            *to++ = '\n';
            from += 4;
        } else if (strncmp(from, "\\P", 2) == 0 && run.tail == NULL) {
            run.tail = to;
            from += 2;
        } else {
            *to++ = *from++;
        }
    }
    if (run.tail == NULL) {
        (void)fprintf(stderr, "send: the request has no \\P\n");
        exit(EXIT_FAILURE);
    }
    run.head_length = run.tail - run.head;
    run.tail_length = to - run.tail;
}

static void open_connection(struct connection *connection)
{
    int on = 1;
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 || setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        connect(connection->fd, (const struct sockaddr *)&run.address, sizeof run.address) != 0 ||
        fcntl(connection->fd, F_SETFL, O_NONBLOCK) != 0)
        die("connect");
}

static void begin(struct connection *connection)
{
    (void)snprintf(connection->varying, sizeof connection->varying, "%016" PRIx64 "%016" PRIx64, run.stamp,
                   ++run.number);
    connection->sent = 0;
    connection->got = 0;
    connection->began = clock_monotonic();
}

/* What is left of the piece that starts at `start`; sends some of it. -1 with errno. */
static ssize_t send_piece(const struct connection *connection, const char *bytes, off_t start, off_t length)
{
    off_t done = connection->sent - start;
    bool more = start + length < run.head_length + run.payload_length + run.tail_length;
    return send(connection->fd, bytes + done, (size_t)(length - done), MSG_NOSIGNAL | (more ? MSG_MORE : 0));
}

/* Sends what the socket takes; false when the connection is broken. */
static bool send_some(struct connection *connection)
{
    const off_t file = run.head_length + VARYING, tail = run.head_length + run.payload_length;
    while (connection->sent < tail + run.tail_length) {
        off_t at = connection->sent - run.head_length;
        ssize_t step;
        if (connection->sent < run.head_length)
            step = send_piece(connection, run.head, 0, run.head_length);
        else if (connection->sent < file)
            step = send_piece(connection, connection->varying, run.head_length, VARYING);
        else if (connection->sent < tail)
            step = sendfile(connection->fd, run.payload, &at, (size_t)(tail - connection->sent));
        else
            step = send_piece(connection, run.tail, tail, run.tail_length);
        if (step <= 0)
            return step < 0 && (errno == EAGAIN || errno == EINTR);
        connection->sent += step;
    }
    return true;
}

/* Whether the answer is whole. */
static bool is_whole(const struct connection *connection)
{
    const char *end = strstr(connection->answer, "\r\n\r\n");
    if (end == NULL)
        return false;
    const char *length = strcasestr(connection->answer, "\r\nContent-Length:");
    if (length != NULL && length < end)
        return connection->got >=
               (size_t)(end + 4 - connection->answer) + strtoul(length + strlen("\r\nContent-Length:"), NULL, 10);
    return connection->got >= 5 && strcmp(connection->answer + connection->got - 5, "0\r\n\r\n") == 0;
}

static void start_again(struct connection *connection)
{
    (void)close(connection->fd);
    open_connection(connection);
}

/* The answer is there: counts it, and keeps the connection where it can be kept. */
static void finish(struct connection *connection)
{
    connection->ended = clock_monotonic();
    connection->requests++;
    run.times = realloc(run.times, (run.time_count + 1) * sizeof *run.times);
    if (run.times == NULL)
        die("realloc");
    run.times[run.time_count++] = connection->ended - connection->began;
    if (strncmp(connection->answer, "HTTP/1.1 2", 10) != 0)
        run.refused++;
    bool early = connection->sent < run.head_length + run.payload_length + run.tail_length;
    if (early || strcasestr(connection->answer, "\r\nConnection: close") != NULL)
        start_again(connection);
}

/* Reads what there is; false when the connection is broken. */
static bool receive_some(struct connection *connection, bool *whole_out)
{
    *whole_out = false;
    size_t free_bytes = ANSWER_BYTES - 1 - connection->got;
    ssize_t step = recv(connection->fd, connection->answer + connection->got, free_bytes, 0);
    if (step < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (step <= 0)
        return false;
    connection->got += (size_t)step;
    connection->answer[connection->got] = '\0';
    *whole_out = is_whole(connection);
    return true;
}

/* After poll(). False when the connection has done its last request. */
static bool go_on(struct connection *connection, short events)
{
    bool whole = false;
    bool well = (events & POLLOUT) == 0 || send_some(connection);
    if ((events & ~POLLOUT) != 0 || !well)
        well = receive_some(connection, &whole) && (well || whole);
    if (well && !whole)
        return true;
    if (whole) {
        finish(connection);
    } else {
        run.broken++;
        start_again(connection);
    }
    if (clock_monotonic() >= run.deadline)
        return false;
    begin(connection);
    return true;
}

static void drive(void)
{
    struct pollfd polled[CONNECTIONS_MAX];
    int64_t left = run.count;
    for (int64_t i = 0; i < run.count; i++) {
        open_connection(&run.connections[i]);
        polled[i] = (struct pollfd){.fd = run.connections[i].fd};
    }
    run.stamp = (uint64_t)clock_now();
    run.began = clock_monotonic();
    run.deadline += run.began;
    for (int64_t i = 0; i < run.count; i++)
        begin(&run.connections[i]);
    while (left > 0) {
        for (int64_t i = 0; i < run.count; i++)
            if (polled[i].fd >= 0) {
                bool all = run.connections[i].sent == run.head_length + run.payload_length + run.tail_length;
                polled[i] = (struct pollfd){.fd = run.connections[i].fd, .events = all ? POLLIN : POLLIN | POLLOUT};
            }
        if (poll(polled, (nfds_t)run.count, PATIENCE_MILLISECONDS) <= 0) {
            errno = ETIMEDOUT;
            die("send");
        }
        for (int64_t i = 0; i < run.count; i++)
            if (polled[i].fd >= 0 && polled[i].revents != 0 && !go_on(&run.connections[i], polled[i].revents)) {
                polled[i].fd = -1;
                left--;
            }
    }
}

static int compare(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void report(void)
{
    static const double points[] = {1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99};
    double rate = 0;
    for (int64_t i = 0; i < run.count; i++)
        if (run.connections[i].requests > 0)
            rate += (double)run.connections[i].requests / (double)(run.connections[i].ended - run.began);
    size_t count = run.time_count;
    if (count == 0) {
        (void)fprintf(stderr, "send: no request was answered, %" PRId64 " connections broke\n", run.broken);
        exit(EXIT_FAILURE);
    }
    qsort(run.times, count, sizeof *run.times, compare);
    (void)printf("{\"requests\":%zu,\"microseconds\":%.0f,\"refused\":%" PRId64 ",\"broken\":%" PRId64 ",\"latency\":{",
                 count, (double)count / rate, run.refused, run.broken);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        size_t rank = (count * (size_t)(points[i] * 100 + 0.5) + 9999) / 10000; /* the nearest rank, as in measure.py */
        (void)printf("%s\"%g\":%" PRId64, i == 0 ? "" : ",", points[i], run.times[rank == 0 ? 0 : rank - 1]);
    }
    (void)printf("}}\n");
}

int main(int argc, char **argv)
{
    int64_t port, seconds;
    struct stat status;
    if (argc != 7 || !text_to_integer(argv[2], 1, 65535, &port) ||
        !text_to_integer(argv[3], 1, CONNECTIONS_MAX, &run.count) || !text_to_integer(argv[4], 0, 3600, &seconds)) {
        (void)fprintf(stderr, "usage: send ADDRESS PORT CONNECTIONS SECONDS REQUEST PAYLOAD\n");
        return 2;
    }
    run.address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, argv[1], &run.address.sin_addr) != 1)
        die(argv[1]);
    run.deadline = seconds * 1000000;
    read_request(argv[5]);
    run.payload = open(argv[6], O_RDONLY | O_CLOEXEC);
    if (run.payload < 0 || fstat(run.payload, &status) != 0 || status.st_size <= VARYING)
        die(argv[6]);
    run.payload_length = status.st_size;
    run.connections = calloc((size_t)run.count, sizeof *run.connections);
    if (run.connections == NULL)
        die("calloc");
    drive();
    report();
    return EXIT_SUCCESS;
}
