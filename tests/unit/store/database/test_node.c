/* SPDX-License-Identifier: MIT */
/* What a node of a cluster says of itself, whole or not: one that does not say that it is ready is not used. */
#include "harness.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/id.h"
#include "store/database/database_int.h"
#include "store/support_cut.h"

/* ---- a server as the test wants it ------------------------------------------------------------------ */

#define ROWS 6
#define WAIT_MICROSECONDS 30000

/* What the client library answers while `on`. */
static struct {
    bool on;
    bool no_query;   /* the query fails, */
    size_t answers;  /* after so many that did not */
    bool slow;       /* it takes WAIT_MICROSECONDS, and the row is the time at its beginning and `ahead` */
    bool no_result;  /* it has no result, */
    size_t results;  /* after so many that had one */
    unsigned number; /* the error of either */
    const char *rows[ROWS][2];
    size_t count;
    size_t next;
    int64_t began, ahead; /* of a slow one, in microseconds */
    char told[24];
} server;

static struct {
    bool no_socket;
    int connecting;  /* the errno of connect(); 0: it is made at once; -1: the real one */
    int interrupted; /* so many waits, before one that tells that the connection is there */
    bool late;       /* each wait ends without it */
    bool no_answer;  /* the kernel does not say what became of it */
} network = {.connecting = -1};

int __real_mysql_real_query(MYSQL *mysql, const char *sql, unsigned long length);
int __wrap_mysql_real_query(MYSQL *mysql, const char *sql, unsigned long length);
MYSQL_RES *__real_mysql_store_result(MYSQL *mysql);
MYSQL_RES *__wrap_mysql_store_result(MYSQL *mysql);
MYSQL_ROW __real_mysql_fetch_row(MYSQL_RES *result);
MYSQL_ROW __wrap_mysql_fetch_row(MYSQL_RES *result);
void __real_mysql_free_result(MYSQL_RES *result);
void __wrap_mysql_free_result(MYSQL_RES *result);
unsigned __real_mysql_errno(MYSQL *mysql);
unsigned __wrap_mysql_errno(MYSQL *mysql);
int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol);
int __real_connect(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);
int __real_poll(struct pollfd *list, nfds_t count, int milliseconds);
int __wrap_poll(struct pollfd *list, nfds_t count, int milliseconds);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *length);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length);

int __wrap_mysql_real_query(MYSQL *mysql, const char *sql, unsigned long length)
{
    if (server.on && server.slow) {
        server.began = clock_now_microseconds();
        (void)snprintf(server.told, sizeof server.told, "%" PRId64, server.began + server.ahead);
        (void)usleep(WAIT_MICROSECONDS);
    }
    if (server.on && server.answers > 0) {
        server.answers--;
        return 0;
    }
    if (server.on)
        return server.no_query;
    support_cut_before(mysql);
    return __real_mysql_real_query(mysql, sql, length);
}

MYSQL_RES *__wrap_mysql_store_result(MYSQL *mysql)
{
    static char result;
    if (!server.on)
        return __real_mysql_store_result(mysql);
    server.next = 0;
    if (server.results > 0) {
        server.results--;
        return (MYSQL_RES *)(void *)&result;
    }
    return server.no_result ? NULL : (MYSQL_RES *)(void *)&result;
}

MYSQL_ROW __wrap_mysql_fetch_row(MYSQL_RES *result)
{
    if (!server.on)
        return __real_mysql_fetch_row(result);
    return server.next == server.count ? NULL : (MYSQL_ROW)(uintptr_t)server.rows[server.next++];
}

void __wrap_mysql_free_result(MYSQL_RES *result)
{
    if (!server.on)
        __real_mysql_free_result(result);
}

unsigned __wrap_mysql_errno(MYSQL *mysql)
{
    return server.on ? server.number : __real_mysql_errno(mysql);
}

int __wrap_socket(int family, int type, int protocol)
{
    errno = EMFILE;
    return network.no_socket ? -1 : __real_socket(family, type, protocol);
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    if (network.connecting < 0)
        return __real_connect(fd, address, length);
    errno = network.connecting;
    return network.connecting == 0 ? 0 : -1;
}

int __wrap_poll(struct pollfd *list, nfds_t count, int milliseconds)
{
    if (network.connecting != EINPROGRESS)
        return __real_poll(list, count, milliseconds);
    if (network.interrupted == 0)
        return network.late ? 0 : 1;
    network.interrupted--;
    errno = EINTR;
    return -1;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
    if (network.connecting != EINPROGRESS)
        return __real_getsockopt(fd, level, name, value, length);
    errno = ENOBUFS;
    memset(value, 0, *length);
    return network.no_answer ? -1 : 0;
}

static void serve(const char *const (*rows)[2])
{
    memset(&server, 0, sizeof server);
    server.on = true;
    for (size_t i = 0; i < ROWS && rows[i][0] != NULL; i++, server.count++)
        memcpy(server.rows[i], rows[i], sizeof server.rows[i]);
}

static void stop_serving(void)
{
    memset(&server, 0, sizeof server);
    memset(&network, 0, sizeof network);
    network.connecting = -1;
}

/* ---- its quorum ------------------------------------------------------------------------------------- */

#define PROVIDER {"wsrep_provider_name", "Galera"}
#define REJECTS(value) {"wsrep_reject_queries", value}

static void a_node_is_ready_only_where_it_says_so(void **state)
{
    static const struct {
        const char *rows[ROWS][2];
        bool is_node, ready;
        const char *said;
    } table[] = {
        {{{"wsrep_ready", "ON"}, PROVIDER, {"wsrep_local_state_comment", "Synced"}}, true, true, "Synced"},
        {{PROVIDER, {"wsrep_ready", "ON"}, {"something_else", "x"}}, true, true, ""},
        {{{"wsrep_ready", "OFF"}, PROVIDER, {"wsrep_local_state_comment", "Joining"}}, true, false, "Joining"},
        {{{"wsrep_ready", NULL}, PROVIDER, {"wsrep_local_state_comment", NULL}}, true, false, ""},
        {{PROVIDER, {"wsrep_cluster_status", NULL}, {"wsrep_cluster_size", NULL}}, true, false, ""},
        {{REJECTS("ALL"), {"wsrep_ready", "ON"}, PROVIDER}, true, false, ""},
        {{REJECTS("ALL_KILL"), {"wsrep_ready", "ON"}, PROVIDER}, true, false, ""},
        {{REJECTS("NONE"), {"wsrep_ready", "ON"}, PROVIDER}, true, true, ""},
        {{REJECTS(NULL), {"wsrep_ready", "ON"}, PROVIDER}, true, true, ""},
        {{REJECTS("ALL"), {"wsrep_ready", "ON"}}, false, true, ""},
        {{{"wsrep_ready", "OFF"}, {"wsrep_provider_name", ""}}, false, true, ""},
        {{{"wsrep_ready", "OFF"}, {"wsrep_provider_name", NULL}}, false, true, ""},
        {{{NULL, NULL}}, false, true, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct node_state node;
        serve(table[i].rows);
        bool answered = node_ask(NULL, &node);
        stop_serving();
        if (!answered || node.is_node != table[i].is_node || node.ready != table[i].ready)
            fail_msg("row %zu: answered %d, node %d, ready %d", i, answered, node.is_node, node.ready);
        assert_string_equal(node.state, table[i].said);
    }
}

static void a_node_that_does_not_answer_says_nothing(void **state)
{
    static const char *const none[ROWS][2] = {{NULL, NULL}};
    struct node_state node;
    (void)state;
    serve(none);
    server.no_query = true;
    assert_false(node_ask(NULL, &node));
    serve(none);
    server.no_result = true;
    assert_false(node_ask(NULL, &node));
    stop_serving();
}

static void a_node_that_does_not_tell_whether_it_refuses_is_not_used(void **state)
{
    static const char *const ready[ROWS][2] = {{"wsrep_ready", "ON"}, PROVIDER};
    struct node_state node;
    (void)state;
    serve(ready);
    server.no_query = true;
    server.answers = 1;
    assert_false(node_ask(NULL, &node));
    serve(ready);
    server.results = 1;
    server.no_result = true;
    assert_false(node_ask(NULL, &node));
    stop_serving();
}

/* ---- its clock -------------------------------------------------------------------------------------- */

static void a_clock_is_a_number_or_is_not_told(void **state)
{
    static const struct {
        const char *rows[ROWS][2];
        int64_t least;
        bool no_query, no_result;
        unsigned number;
        bool answered;
    } table[] = {
        {{{"1795428000000000", NULL}}, INT64_C(1795428000000000), false, false, 0, true},
        {{{"yesterday", NULL}}, 0, false, false, 0, true},
        {{{"-5", NULL}}, 0, false, false, 0, true},
        {{{NULL, NULL}}, 0, false, false, 0, true},
        {{{NULL, NULL}}, 0, true, false, 1064, true},  /* the server does not know the statement */
        {{{NULL, NULL}}, 0, true, false, 2013, false}, /* the connection is lost */
        {{{NULL, NULL}}, 0, false, true, 0, true},
        {{{NULL, NULL}}, 0, false, true, 2013, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int64_t now = 1;
        serve(table[i].rows);
        server.no_query = table[i].no_query;
        server.no_result = table[i].no_result;
        server.number = table[i].number;
        bool answered = node_clock(NULL, &now);
        if (answered != table[i].answered || now < table[i].least || (table[i].least == 0 && now != 0))
            fail_msg("row %zu: answered %d, %lld", i, answered, (long long)now);
        if (table[i].least == 0) /* ids go on as before */
            assert_int_equal(node_follow_clock(NULL), table[i].answered);
        stop_serving();
    }
}

static void a_row_without_a_value_tells_no_clock(void **state)
{
    static const char *const none[ROWS][2] = {{NULL, NULL}};
    int64_t now = 1;
    (void)state;
    serve(none);
    server.count = 1; /* one row, of NULL */
    assert_true(node_clock(NULL, &now));
    assert_int_equal(now, 0);
    stop_serving();
}

/* What a row is taken for that says the time plus so many microseconds, in an answer that takes a while. */
static int64_t slow_clock(int64_t ahead, int64_t *began_out)
{
    static const char *const none[ROWS][2] = {{NULL, NULL}};
    int64_t now = 0;
    serve(none);
    server.ahead = ahead;
    server.rows[0][0] = server.told;
    server.count = 1;
    server.slow = true;
    assert_true(node_clock(NULL, &now));
    *began_out = server.began;
    stop_serving();
    return now;
}

static void a_clock_that_may_be_our_own_is_taken_for_it(void **state)
{
    int64_t began;
    (void)state;
    /* Whether the server read it at once or at the end: on one machine all processes have one time. */
    for (int64_t ahead = 0; ahead <= WAIT_MICROSECONDS; ahead += WAIT_MICROSECONDS) {
        int64_t now = slow_clock(ahead, &began);
        assert_true(now >= began + WAIT_MICROSECONDS && now <= clock_now_microseconds());
    }
    /* Another clock: half of what the answer took is added. */
    for (int64_t ahead = -5000000; ahead <= 5000000; ahead += 10000000) {
        int64_t now = slow_clock(ahead, &began) - began - ahead;
        assert_true(now >= WAIT_MICROSECONDS / 2 && now <= clock_now_microseconds() - began);
    }
}

static void a_node_tells_how_long_its_own_threads_wait_for_a_lock(void **state)
{
    static const char *const fifty[ROWS][2] = {{"50", NULL}}, *const words[ROWS][2] = {{"long", NULL}};
    int64_t seconds = 1;
    (void)state;
    serve(fifty);
    assert_true(node_lock_wait(NULL, &seconds));
    assert_int_equal(seconds, 50);
    serve(words);
    assert_true(node_lock_wait(NULL, &seconds));
    assert_int_equal(seconds, 0);
    server.no_query = true;
    server.number = 2013; /* the connection is lost */
    assert_false(node_lock_wait(NULL, &seconds));
    stop_serving();
}

/* ---- whether it takes connections ------------------------------------------------------------------- */

static void expect_reachable(bool wanted, const char *words)
{
    static const struct host host = {.name = "127.0.0.1", .port = 3306};
    struct fault fault = {.number = 0};
    bool reachable = node_reachable(&host, clock_monotonic() - 1, &fault);
    if (reachable != wanted || (!wanted && strcmp(fault.text, words) != 0))
        fail_msg("%s: %d, %s", words, reachable, fault.text);
    assert_int_equal(fault.number, wanted ? 0 : 2003);
    stop_serving();
}

static void a_host_is_reachable_when_its_connection_is_made(void **state)
{
    (void)state;
    network.connecting = 0;
    expect_reachable(true, "at once");
    network.connecting = EINPROGRESS;
    network.interrupted = 2;
    expect_reachable(true, "later");
    network.connecting = EINPROGRESS;
    network.late = true;
    expect_reachable(false, strerror(ETIMEDOUT));
    network.connecting = EINPROGRESS;
    network.no_answer = true;
    expect_reachable(false, strerror(ENOBUFS));
    network.connecting = ENETUNREACH;
    expect_reachable(false, strerror(ENETUNREACH));
    network.no_socket = true;
    expect_reachable(false, strerror(EMFILE));
}

static void an_unknown_host_is_told_so(void **state)
{
    static const struct host host = {.name = "no-such-host.invalid", .port = 3306};
    struct fault fault;
    (void)state;
    assert_false(node_reachable(&host, clock_monotonic() + 1000000, &fault));
    assert_int_equal(fault.number, 2005);
    assert_true(fault.text[0] != '\0');
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_node_is_ready_only_where_it_says_so),
    HARNESS_TEST(a_node_that_does_not_answer_says_nothing),
    HARNESS_TEST(a_node_that_does_not_tell_whether_it_refuses_is_not_used),
    HARNESS_TEST(a_clock_is_a_number_or_is_not_told),
    HARNESS_TEST(a_row_without_a_value_tells_no_clock),
    HARNESS_TEST(a_clock_that_may_be_our_own_is_taken_for_it),
    HARNESS_TEST(a_node_tells_how_long_its_own_threads_wait_for_a_lock),
    HARNESS_TEST(a_host_is_reachable_when_its_connection_is_made),
    HARNESS_TEST(an_unknown_host_is_told_so),
};
HARNESS_MODULE(node, cases)
