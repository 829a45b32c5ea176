/* SPDX-License-Identifier: MIT */
/* The list of database hosts: what it takes, what it refuses, and which of its hosts is used when. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/database/database_int.h"
#include "store/script_server.h"
#include "store/support.h"

#define NODES 3

/* ---- reading it ---------------------------------------------------------------------------------- */

static void a_list_is_read_in_its_order(void **state)
{
    static const struct {
        const char *text;
        size_t count;
        struct host first, last;
    } lists[] = {
        {"db1", 1, {"db1", 3306}, {"db1", 3306}},
        {"192.0.2.1:3307", 1, {"192.0.2.1", 3307}, {"192.0.2.1", 3307}},
        {"db1, db2:3307,db3", 3, {"db1", 3306}, {"db3", 3306}},
        {" db-1.example.com\t,db_2:65535 ", 2, {"db-1.example.com", 3306}, {"db_2", 65535}},
        {"::1", 1, {"::1", 3306}, {"::1", 3306}},
        {"[::1],[2001:db8::2]:1", 2, {"::1", 3306}, {"2001:db8::2", 1}},
        {"a,b,c,d,e,f,g,h,i", 9, {"a", 3306}, {"i", 3306}},
        {"a:1,a:2", 2, {"a", 1}, {"a", 2}},
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct host_list list;
        help_none(host_list_parse(arena, lists[i].text, 3306, &list));
        assert_int_equal(list.count, lists[i].count);
        const struct host *last = &list.items[list.count - 1];
        assert_string_equal(list.items[0].name, lists[i].first.name);
        assert_int_equal(list.items[0].port, lists[i].first.port);
        assert_string_equal(last->name, lists[i].last.name);
        assert_int_equal(last->port, lists[i].last.port);
    }
}

/* Each entry that is wrong is named, with what is wrong with it; those that are right are not. */
static void every_wrong_entry_is_named(void **state)
{
    static const struct {
        const char *text;
        const char *named;
    } lists[] = {
        {"", "wrong in it: \"\" (it is empty)."},
        {"db1,,db2", "wrong in it: \"\" (it is empty)."},
        {"db1 db2", "wrong in it: \"db1 db2\" (it is no host name"},
        {"db1:0", "wrong in it: \"db1:0\" (its port"},
        {"db1:65536", "wrong in it: \"db1:65536\" (its port"},
        {"db1:", "wrong in it: \"db1:\" (its port"},
        {":3306", "wrong in it: \":3306\" (it is no host name"},
        {"[::1", "wrong in it: \"[::1\" (an address in brackets"},
        {"[::1]3306", "wrong in it: \"[::1]3306\" (an address in brackets"},
        {"[db1]:1", "wrong in it: \"[db1]:1\" (it is no IPv6 address)"},
        {"1:2:3", "wrong in it: \"1:2:3\" (it is no IPv6 address)"},
        {"db1,DB1:3306", "wrong in it: \"DB1:3306\" (it is there already)."},
        {"a,b,c,d,e,f,g,h,i,j", "wrong in it: \"j\" (there are too many)."},
        {"a://b, db2, d/b, -x", "wrong in it: \"a://b\" (its port is no number from 1 to 65535), \"d/b\" (it is no host"
                                " name and no address), \"-x\" (it is no host name and no address)."},
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct host_list list;
        struct error *error = host_list_parse(arena, lists[i].text, 3306, &list);
        help_error(error, ERROR_INTERNAL);
        if (strstr(error->message, lists[i].named) == NULL)
            fail_msg("\"%s\" does not say %s", error->message, lists[i].named);
    }
}

/* ---- going through it ---------------------------------------------------------------------------- */

/* Scripted nodes and a handle on the list of them. */
struct cluster {
    struct arena *arena;
    const char *directory[NODES];
    const char *port[NODES];
    struct database_options options;
};

/* The state of a node from now on: lines as database_server.py describes them. */
static void set(struct cluster *cluster, size_t node, const char *lines)
{
    (void)harness_write(cluster->arena, cluster->directory[node], "state", lines, strlen(lines));
}

/* How often the node's log has the line. */
static size_t noted(struct cluster *cluster, size_t node, const char *line)
{
    size_t length, count = 0;
    const char *path = arena_format(cluster->arena, "%s/log", cluster->directory[node]);
    const char *wanted = arena_format(cluster->arena, "\n%s\n", line);
    const char *log = arena_format(cluster->arena, "\n%s", harness_read(cluster->arena, path, &length));
    for (const char *at = log; (at = strstr(at, wanted)) != NULL; at++)
        count++;
    return count;
}

static struct cluster cluster_new(void **state)
{
    static const char *const none[] = {NULL};
    struct cluster cluster = {.arena = harness_arena(state)};
    for (size_t i = 0; i < NODES; i++) {
        cluster.directory[i] = harness_directory(cluster.arena);
        (void)harness_write(cluster.arena, cluster.directory[i], "log", "", 0);
        cluster.port[i] =
            script_server_start(cluster.arena, "tests/unit/store/database_server.py", cluster.directory[i], none);
    }
    cluster.options =
        (struct database_options){.host = arena_format(cluster.arena, "127.0.0.1:%s,127.0.0.1:%s,127.0.0.1:%s",
                                                       cluster.port[0], cluster.port[1], cluster.port[2]),
                                  .port = 3306,
                                  .user = "somebody",
                                  .password = secret_of("word"),
                                  .connect_timeout_seconds = 30,
                                  .query_timeout_seconds = 30};
    return cluster;
}

static void the_first_node_that_can_be_used_is(void **state)
{
    struct cluster cluster = cluster_new(state);
    struct database *database = help_open(cluster.arena, &cluster.options);
    help_none(database_ping(database, cluster.arena));
    assert_int_equal(noted(&cluster, 0, "ping"), 1);
    assert_int_equal(noted(&cluster, 1, "connect"), 0);
    set(&cluster, 0, "waits\n");
    set(&cluster, 1, "1040 SET SESSION\n");
    struct database *other = help_open(cluster.arena, &cluster.options);
    help_none(database_ping(other, cluster.arena));
    assert_int_equal(noted(&cluster, 0, "ping"), 1);
    assert_int_equal(noted(&cluster, 1, "ping"), 0);
    assert_int_equal(noted(&cluster, 2, "ping"), 1);
}

/* One port that nobody listens at, one host that says nothing: the third is reached in the time of one. */
static void the_whole_list_has_one_deadline(void **state)
{
    struct cluster cluster = cluster_new(state);
    cluster.options.host =
        arena_format(cluster.arena, "127.0.0.1:1,127.0.0.1:%s,127.0.0.1:%s", cluster.port[1], cluster.port[2]);
    /* Long, so that a busy machine is not taken for a second deadline. */
    cluster.options.connect_timeout_seconds = 12;
    set(&cluster, 1, "silent\n");
    int64_t start = clock_monotonic();
    help_none(database_ping(help_open(cluster.arena, &cluster.options), cluster.arena));
    assert_int_equal(noted(&cluster, 2, "ping"), 1);
    assert_true(clock_monotonic() - start < 11000000);
    set(&cluster, 2, "silent\n");
    start = clock_monotonic();
    help_error(database_ping(help_open(cluster.arena, &cluster.options), cluster.arena), ERROR_DATABASE_UNAVAILABLE);
    assert_true(clock_monotonic() - start < 23000000);
}

/* A node is asked for its clock without waiting for the others. One that does not answer that is left like any other:
   no statement goes to it. */
static void a_node_that_does_not_tell_its_clock_is_left(void **state)
{
    struct cluster cluster = cluster_new(state);
    cluster.options.connect_timeout_seconds = 12;
    set(&cluster, 0, "hangs SET STATEMENT wsrep_sync_wait = 0 FOR SELECT\n");
    set(&cluster, 1, "1235 SET STATEMENT\n");
    help_none(database_ping(help_open(cluster.arena, &cluster.options), cluster.arena));
    assert_int_equal(noted(&cluster, 0, "connect"), 1);
    assert_int_equal(noted(&cluster, 0, "ping"), 0);
    assert_int_equal(noted(&cluster, 1, "ping"), 1);
    /* The only server as well: the connection is not taken for a good one. */
    cluster.options.host = arena_format(cluster.arena, "127.0.0.1:%s", cluster.port[0]);
    cluster.options.connect_timeout_seconds = 1;
    help_error(database_ping(help_open(cluster.arena, &cluster.options), cluster.arena), ERROR_DATABASE_UNAVAILABLE);
    assert_int_equal(noted(&cluster, 0, "ping"), 0);
}

/* An answer that breaks off is none. */
static void a_node_that_tells_half_of_its_clock_is_left(void **state)
{
    struct cluster cluster = cluster_new(state);
    set(&cluster, 0, "cuts SET STATEMENT\n");
    help_none(database_ping(help_open(cluster.arena, &cluster.options), cluster.arena));
    assert_int_equal(noted(&cluster, 0, "connect"), 1);
    assert_int_equal(noted(&cluster, 0, "ping"), 0);
    assert_int_equal(noted(&cluster, 1, "ping"), 1);
}

/* Puts the node in order, in another process, once another one's log has the line twice. */
static pid_t mend_later(struct cluster *cluster, size_t node, size_t other, const char *line)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    for (int i = 0; i < 3000 && noted(cluster, other, line) < 2; i++)
        (void)usleep(10000);
    set(cluster, node, "");
    _exit(0);
}

/* What is noted once nothing has come for a while: a node may note a connection when its client has given it up. */
static size_t noted_at_last(struct cluster *cluster, size_t node, const char *line)
{
    size_t before, now = noted(cluster, node, line);
    do {
        before = now;
        (void)usleep(300000);
        now = noted(cluster, node, line);
    } while (now != before);
    return now;
}

/* Nodes that agree on who is left, or that were told to refuse statements: until one of them takes them again. */
static void nodes_that_refuse_statements_are_waited_for(void **state)
{
    static const char *const answers[] = {"waits\n", "rejects\n"};
    for (size_t i = 0; i < 2; i++) {
        struct cluster cluster = cluster_new(state);
        int status;
        for (size_t node = 0; node < NODES; node++)
            set(&cluster, node, answers[i]);
        pid_t child = mend_later(&cluster, 1, 2, "connect");
        help_none(database_ping(help_open(cluster.arena, &cluster.options), cluster.arena));
        assert_int_equal(noted(&cluster, 1, "ping"), 1);
        assert_int_equal(waitpid(child, &status, 0), child);
    }
}

static void the_wait_for_nodes_that_refuse_has_an_end(void **state)
{
    struct cluster cluster = cluster_new(state);
    for (size_t node = 0; node < NODES; node++)
        set(&cluster, node, "waits\n");
    cluster.options.connect_timeout_seconds = 4;
    help_error(database_ping(help_open(cluster.arena, &cluster.options), cluster.arena), ERROR_DATABASE_UNAVAILABLE);
    size_t before = noted_at_last(&cluster, 2, "connect");
    /* Where there is no time for another walk, it is told at once. */
    clock_set_horizon(clock_monotonic() + 300000);
    help_error(database_ping(help_open(cluster.arena, &cluster.options), cluster.arena), ERROR_DATABASE_UNAVAILABLE);
    clock_set_horizon(0);
    assert_true(before >= 1 && noted(&cluster, 2, "connect") <= before + 1);
}

static const struct statement change = {"UPDATE sample SET amount = 1"};

static struct error *change_once(struct cluster *cluster, struct database *database, struct change *outcome)
{
    return database_change(database, cluster->arena, &change, NO_VALUES, outcome);
}

/* 1047, and 1205 of a node that is not ready: nothing was done, so the statement goes to the next node. */
static void a_node_that_loses_its_quorum_is_left(void **state)
{
    static const char *const refusals[] = {"waits\n1205 UPDATE\n", "waits\n1047 UPDATE\n"};
    struct cluster cluster = cluster_new(state);
    for (size_t i = 0; i < 2; i++) {
        struct change outcome;
        set(&cluster, 0, "");
        struct database *database = help_open(cluster.arena, &cluster.options);
        help_none(change_once(&cluster, database, &outcome));
        set(&cluster, 0, refusals[i]);
        help_none(change_once(&cluster, database, &outcome));
        assert_int_equal(noted(&cluster, 0, change.sql), 2 * (i + 1));
        assert_int_equal(noted(&cluster, 1, change.sql), i + 1);
    }
}

/* Told to by wsrep_reject_queries. Such a node says of itself that it is ready. */
static void a_node_that_refuses_statements_is_left(void **state)
{
    struct cluster cluster = cluster_new(state);
    struct database_host_state told;
    struct change outcome;
    set(&cluster, 0, "");
    struct database *database = help_open(cluster.arena, &cluster.options);
    help_none(change_once(&cluster, database, &outcome));
    set(&cluster, 0, "rejects\n1047 UPDATE\n");
    help_none(change_once(&cluster, database, &outcome));
    help_none(change_once(&cluster, help_open(cluster.arena, &cluster.options), &outcome));
    assert_int_equal(noted(&cluster, 0, change.sql), 2);
    assert_int_equal(noted(&cluster, 1, change.sql), 2);
    struct error *error = database_host_state(database, cluster.arena, 0, &told);
    help_error(error, ERROR_DATABASE_UNAVAILABLE);
    assert_non_null(strstr(error->message, "is not ready: Synced, refuses statements."));
}

/* 1205 of a node that is ready is the wait for a row, and ends like every conflict. */
static void a_lock_wait_leaves_no_node(void **state)
{
    struct cluster cluster = cluster_new(state);
    struct change outcome;
    /* How long it is tried again; an answer comes at once. */
    cluster.options.query_timeout_seconds = 4;
    set(&cluster, 0, "1205 UPDATE\n");
    struct database *database = help_open(cluster.arena, &cluster.options);
    help_none(database_ping(database, cluster.arena));
    help_error(change_once(&cluster, database, &outcome), ERROR_DATABASE_UNAVAILABLE);
    assert_false(outcome.unknown);
    assert_true(noted(&cluster, 0, change.sql) > 1);
    assert_int_equal(noted(&cluster, 0, "connect"), 1);
    assert_int_equal(noted(&cluster, 1, "connect"), 0);
}

static struct error *change_in(struct database *database, struct arena *arena, void *context)
{
    int *runs = context;
    struct change outcome;
    ++*runs;
    return database_change(database, arena, &change, NO_VALUES, &outcome);
}

/* The server says so of a table whose triggers it has not read to their end; the next time it does. */
static void a_prepared_statement_with_an_error_of_syntax_is_tried_again(void **state)
{
    struct cluster cluster = cluster_new(state);
    struct change outcome;
    int status, runs = 0;
    /* A host without a neighbour. */
    cluster.options.host = arena_format(cluster.arena, "127.0.0.1:%s", cluster.port[0]);
    cluster.options.query_timeout_seconds = 30;
    struct database *database = help_open(cluster.arena, &cluster.options);
    for (int in_transaction = 0; in_transaction < 2; in_transaction++) {
        (void)harness_write(cluster.arena, cluster.directory[0], "log", "", 0);
        set(&cluster, 0, "1064 UPDATE\n");
        pid_t child = mend_later(&cluster, 0, 0, change.sql);
        help_none(in_transaction ? database_transaction(database, cluster.arena, change_in, &runs, NULL)
                                 : change_once(&cluster, database, &outcome));
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    assert_true(runs > 2);
    assert_int_equal(noted(&cluster, 0, "COMMIT"), 1);
    assert_int_equal(noted(&cluster, 1, "connect"), 0);
}

/* And goes on saying so, as MariaDB does with the table that it used last: another node has a table of its own. */
static void a_node_that_cannot_read_triggers_is_left_for_another(void **state)
{
    struct cluster cluster = cluster_new(state);
    struct change outcome;
    cluster.options.query_timeout_seconds = 30;
    set(&cluster, 0, "1064 UPDATE\n");
    for (int in_transaction = 0; in_transaction < 2; in_transaction++) {
        int runs = 0;
        struct database *database = help_open(cluster.arena, &cluster.options);
        help_none(in_transaction ? database_transaction(database, cluster.arena, change_in, &runs, NULL)
                                 : change_once(&cluster, database, &outcome));
        help_none(change_once(&cluster, database, &outcome));
        assert_int_equal(noted(&cluster, 0, change.sql), 1 + in_transaction);
        assert_int_equal(noted(&cluster, 1, change.sql), 2 * (1 + in_transaction));
        assert_true(runs == 2 * in_transaction);
    }
    /* Unless nobody else is there. */
    set(&cluster, 1, "waits\n");
    set(&cluster, 2, "waits\n");
    struct database *database = help_open(cluster.arena, &cluster.options);
    int status;
    (void)harness_write(cluster.arena, cluster.directory[0], "log", "", 0);
    pid_t child = mend_later(&cluster, 0, 0, change.sql);
    help_none(change_once(&cluster, database, &outcome));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(noted(&cluster, 0, change.sql) > 2);
    assert_int_equal(noted(&cluster, 1, change.sql), 4);
}

/* The node may have sent the commit to the others before it left them. */
static void an_error_of_the_commit_leaves_the_outcome_unknown(void **state)
{
    struct cluster cluster = cluster_new(state);
    struct change outcome;
    bool unknown = false;
    int runs = 0;
    set(&cluster, 0, "1180 COMMIT\n1180 UPDATE\n");
    struct database *database = help_open(cluster.arena, &cluster.options);
    help_error(change_once(&cluster, database, &outcome), ERROR_DATABASE_UNAVAILABLE);
    assert_true(outcome.unknown);
    assert_int_equal(noted(&cluster, 1, change.sql), 0);
    set(&cluster, 0, "1180 COMMIT\n");
    help_error(database_transaction(database, cluster.arena, change_in, &runs, &unknown), ERROR_DATABASE_UNAVAILABLE);
    assert_true(unknown);
    assert_int_equal(runs, 1);
    assert_int_equal(noted(&cluster, 1, "COMMIT"), 0);
}

/* Whichever statement the node refuses first. */
static void a_transaction_that_lost_its_node_is_run_on_the_next(void **state)
{
    static const char *const refusals[] = {"waits\n1047 UPDATE\n", "waits\n1047 COMMIT\n"};
    struct cluster cluster = cluster_new(state);
    for (size_t i = 0; i < 2; i++) {
        bool unknown = true;
        int runs = 0;
        set(&cluster, 0, "");
        struct database *database = help_open(cluster.arena, &cluster.options);
        help_none(database_ping(database, cluster.arena));
        set(&cluster, 0, refusals[i]);
        help_none(database_transaction(database, cluster.arena, change_in, &runs, &unknown));
        assert_false(unknown);
        assert_int_equal(runs, 2);
        assert_int_equal(noted(&cluster, 0, "COMMIT"), i);
        assert_int_equal(noted(&cluster, 1, "COMMIT"), i + 1);
    }
}

static void each_host_tells_its_state(void **state)
{
    struct cluster cluster = cluster_new(state);
    struct database_host_state told;
    cluster.options.host =
        arena_format(cluster.arena, "127.0.0.1:%s,127.0.0.1:%s,127.0.0.1:1", cluster.port[0], cluster.port[1]);
    set(&cluster, 1, "waits\n");
    struct database *database = help_open(cluster.arena, &cluster.options);
    assert_int_equal(database_host_count(database), 3);
    help_none(database_host_state(database, cluster.arena, 0, &told));
    /* The server has the clock of this machine; a busy one may be slow to answer. */
    assert_true(told.ahead > -60000 && told.ahead < 60000);
    assert_string_equal(told.name, arena_format(cluster.arena, "127.0.0.1:%s", cluster.port[0]));
    assert_string_equal(told.words, "Synced, one of 3 nodes");
    assert_int_equal(told.lock_wait_seconds, 50);
    struct error *error = database_host_state(database, cluster.arena, 1, &told);
    help_error(error, ERROR_DATABASE_UNAVAILABLE);
    assert_string_equal(error->message, arena_format(cluster.arena,
                                                     "The database node 127.0.0.1:%s is not ready: Joining,"
                                                     " non-Primary.",
                                                     cluster.port[1]));
    error = database_host_state(database, cluster.arena, 2, &told);
    help_error(error, ERROR_DATABASE_UNAVAILABLE);
    assert_non_null(strstr(error->message, "The database host 127.0.0.1:1 cannot be used: Connection refused."));
}

/* ---- going back ---------------------------------------------------------------------------------- */

static struct error *ping_in(struct database *database, struct arena *arena, void *context)
{
    (void)context;
    database->look_at = 0;
    return database_ping(database, arena);
}

static void the_first_node_is_used_again_when_it_is_back(void **state)
{
    struct cluster cluster = cluster_new(state);
    set(&cluster, 0, "waits\n");
    struct database *database = help_open(cluster.arena, &cluster.options);
    help_none(database_ping(database, cluster.arena));
    assert_true(database->look_at > clock_monotonic() && database->look_at < clock_monotonic() + 60000000);
    database->look_at = 0;
    help_none(database_ping(database, cluster.arena));
    assert_int_equal(noted(&cluster, 1, "ping"), 2);
    set(&cluster, 0, "");
    help_none(database_ping(database, cluster.arena)); /* it is not time yet */
    assert_int_equal(noted(&cluster, 1, "ping"), 3);
    help_none(database_transaction(database, cluster.arena, ping_in, NULL, NULL));
    assert_int_equal(noted(&cluster, 1, "ping"), 4);
    database->locks = 1;
    help_none(database_ping(database, cluster.arena)); /* its lock counts on the connection */
    assert_int_equal(noted(&cluster, 1, "ping"), 5);
    database->locks = 0;
    help_none(database_ping(database, cluster.arena));
    /* A look back has less than a second. Where that was not enough, the next one is the test's to begin. */
    for (int looks = 1; looks < 50 && noted(&cluster, 0, "ping") == 0; looks++) {
        database->look_at = 0;
        help_none(database_ping(database, cluster.arena));
    }
    assert_int_equal(noted(&cluster, 0, "ping"), 1);
    size_t there = noted(&cluster, 1, "ping");
    help_none(database_ping(database, cluster.arena));
    assert_int_equal(noted(&cluster, 0, "ping"), 2);
    assert_int_equal(noted(&cluster, 1, "ping"), there);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_list_is_read_in_its_order),
    HARNESS_TEST(every_wrong_entry_is_named),
    HARNESS_TEST(the_first_node_that_can_be_used_is),
    HARNESS_TEST(a_node_that_does_not_tell_its_clock_is_left),
    HARNESS_TEST(a_node_that_tells_half_of_its_clock_is_left),
    HARNESS_TEST(the_whole_list_has_one_deadline),
    HARNESS_TEST(nodes_that_refuse_statements_are_waited_for),
    HARNESS_TEST(the_wait_for_nodes_that_refuse_has_an_end),
    HARNESS_TEST(a_node_that_loses_its_quorum_is_left),
    HARNESS_TEST(a_node_that_refuses_statements_is_left),
    HARNESS_TEST(a_lock_wait_leaves_no_node),
    HARNESS_TEST(a_prepared_statement_with_an_error_of_syntax_is_tried_again),
    HARNESS_TEST(a_node_that_cannot_read_triggers_is_left_for_another),
    HARNESS_TEST(an_error_of_the_commit_leaves_the_outcome_unknown),
    HARNESS_TEST(a_transaction_that_lost_its_node_is_run_on_the_next),
    HARNESS_TEST(each_host_tells_its_state),
    HARNESS_TEST(the_first_node_is_used_again_when_it_is_back),
};
HARNESS_MODULE(host_list, cases)
