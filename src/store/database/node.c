/* SPDX-License-Identifier: MIT */
/*
 * Whether a host of a list can be used: whether it takes connections at all, and whether it is a Galera node that takes
 * statements. A node without its quorum, or one that was told to refuse them, still takes connections, and then refuses
 * every statement. And what a server's clock says.
 */
#include <errmsg.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/text.h"
#include "store/database/database_int.h"

#define PORT_BYTES 8

/* Whether the connection that begins is made before `until`; errno tells why not. */
static bool connects(int fd, const struct addrinfo *address, int64_t until)
{
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0)
        return true;
    if (errno != EINPROGRESS)
        return false;
    struct pollfd waiting = {.fd = fd, .events = POLLOUT};
    int ready;
    do {
        int64_t left = until - clock_monotonic();
        ready = poll(&waiting, 1, left <= 0 ? 0 : (int)((left + 999) / 1000));
    } while (ready < 0 && errno == EINTR);
    int number = ETIMEDOUT;
    socklen_t length = sizeof number;
    if (ready > 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &length) != 0)
        number = errno;
    errno = number;
    return ready > 0 && number == 0;
}

static bool tries(const struct addrinfo *address, int64_t until)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool made = connects(fd, address, until);
    int number = errno;
    (void)close(fd);
    errno = number;
    return made;
}

bool node_reachable(const struct host *host, int64_t until, struct fault *fault)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char port[PORT_BYTES];
    bool reachable = false;
    (void)snprintf(port, sizeof port, "%u", host->port);
    int unknown = getaddrinfo(host->name, port, &hints, &found);
    for (const struct addrinfo *at = found; unknown == 0 && at != NULL && !reachable; at = at->ai_next)
        reachable = tries(at, until);
    int number = errno;
    if (unknown == 0)
        freeaddrinfo(found);
    if (reachable)
        return true;
    *fault = (struct fault){.failure = DATABASE_FAILURE_UNAVAILABLE, .number = unknown != 0 ? 2005 : 2003};
    (void)snprintf(fault->state, sizeof fault->state, "HY000");
    (void)snprintf(fault->text, sizeof fault->text, "%s", unknown != 0 ? gai_strerror(unknown) : strerror(number));
    return false;
}

/* ---- whether it takes statements ----------------------------------------------------------------- */

/* A node without its quorum answers this one. A server that is no node has no provider. */
static const char ask_state[] = "SHOW STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_provider_name',"
                                " 'wsrep_local_state_comment', 'wsrep_cluster_status', 'wsrep_cluster_size')";

static void keep(char *place, size_t size, const char *value)
{
    (void)snprintf(place, size, "%s", value == NULL ? "" : value);
}

/* A node that was told to refuse statements answers this one, and calls itself ready. */
static const char ask_refusal[] = "SHOW GLOBAL VARIABLES LIKE 'wsrep_reject_queries'";

/* Corrects the state of a node that refuses statements. False when there was no answer. */
static bool ask_whether_it_refuses(MYSQL *mysql, struct node_state *state)
{
    if (mysql_real_query(mysql, ask_refusal, sizeof ask_refusal - 1) != 0)
        return false;
    MYSQL_RES *result = mysql_store_result(mysql);
    if (result == NULL)
        return false;
    /* A server without Galera has no such variable. */
    MYSQL_ROW row = mysql_fetch_row(result);
    if (row != NULL && strcmp(row[0], "wsrep_reject_queries") == 0 && row[1] != NULL && strcmp(row[1], "NONE") != 0) {
        state->ready = false;
        keep(state->status, sizeof state->status, "refuses statements");
    }
    mysql_free_result(result);
    return true;
}

bool node_ask(MYSQL *mysql, struct node_state *state_out)
{
    *state_out = (struct node_state){.ready = true};
    if (mysql_real_query(mysql, ask_state, sizeof ask_state - 1) != 0)
        return false;
    MYSQL_RES *result = mysql_store_result(mysql);
    if (result == NULL)
        return false;
    bool on = false;
    for (MYSQL_ROW row; (row = mysql_fetch_row(result)) != NULL;) {
        if (strcmp(row[0], "wsrep_ready") == 0)
            on = row[1] != NULL && strcmp(row[1], "ON") == 0;
        else if (strcmp(row[0], "wsrep_provider_name") == 0)
            state_out->is_node = row[1] != NULL && row[1][0] != '\0';
        else if (strcmp(row[0], "wsrep_local_state_comment") == 0)
            keep(state_out->state, sizeof state_out->state, row[1]);
        else if (strcmp(row[0], "wsrep_cluster_status") == 0)
            keep(state_out->status, sizeof state_out->status, row[1]);
        else if (strcmp(row[0], "wsrep_cluster_size") == 0)
            keep(state_out->size, sizeof state_out->size, row[1]);
    }
    mysql_free_result(result);
    state_out->ready = on || !state_out->is_node;
    return !on || !state_out->is_node || ask_whether_it_refuses(mysql, state_out);
}

/* ---- its clock ----------------------------------------------------------------------------------- */

/* A node tells its clock also while it waits for the others, who agree on a death. */
static const char ask_clock[] =
    "SET STATEMENT wsrep_sync_wait = 0 FOR SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS INTEGER)";

/* The whole number that is the answer; 0: the server refuses it. False when there was no answer. */
static bool ask_number(MYSQL *mysql, const char *sql, int64_t *number_out)
{
    *number_out = 0;
    if (mysql_real_query(mysql, sql, strlen(sql)) != 0)
        return mysql_errno(mysql) < CR_MIN_ERROR;
    MYSQL_RES *result = mysql_store_result(mysql);
    MYSQL_ROW row = result == NULL ? NULL : mysql_fetch_row(result);
    if (row == NULL || row[0] == NULL || !text_to_integer(row[0], 0, INT64_MAX, number_out))
        *number_out = 0;
    /* An answer that broke off has no result either. */
    bool whole = result != NULL || mysql_errno(mysql) < CR_MIN_ERROR;
    mysql_free_result(result);
    return whole;
}

/* How far apart two clocks are, in microseconds, that are taken for one. */
#define ONE_CLOCK_MICROSECONDS 1000

/*
 * The server answered at some moment of our wait, so its time is between what it says and that plus the whole wait.
 * If ours lies there, or nearly so, nothing tells the clocks apart, and ours is exact: on one machine a guess would put
 * the ids of its processes out of order by as much as it is wrong. Otherwise the middle is taken.
 */
bool node_clock(MYSQL *mysql, int64_t *now_out)
{
    int64_t asked = clock_monotonic();
    bool answered = ask_number(mysql, ask_clock, now_out);
    int64_t own = clock_now_microseconds(), waited = clock_monotonic() - asked;
    bool is_own = own >= *now_out - ONE_CLOCK_MICROSECONDS && own <= *now_out + waited + ONE_CLOCK_MICROSECONDS;
    if (*now_out > 0)
        *now_out = is_own ? own : *now_out + waited / 2;
    return answered;
}

bool node_lock_wait(MYSQL *mysql, int64_t *seconds_out)
{
    return ask_number(mysql, "SET STATEMENT wsrep_sync_wait = 0 FOR SELECT @@GLOBAL.innodb_lock_wait_timeout",
                      seconds_out);
}

bool node_follow_clock(MYSQL *mysql)
{
    int64_t now;
    if (!node_clock(mysql, &now))
        return false;
    if (now > 0)
        id_follow_clock(now);
    return true;
}
