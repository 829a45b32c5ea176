/* SPDX-License-Identifier: MIT */
/* Counts tries in the database and computes how long the next one must wait. */
#include "domain/account/throttle.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/address.h"
#include "codec/digest.h"
#include "store/database/database.h"

/*
 * A statement's time is that of its start: a transaction that waited for a row may find it written a little in the
 * future.
 */
#define CLOCK_SLACK_SECONDS 5

/* A failure or success while its transaction runs. */
struct step {
    const struct throttle_key *key;
    bool success;
    unsigned wait;
};

static struct throttle_key make_key(const char *scope, char kind, const void *bytes, size_t length)
{
    struct throttle_key key = {.scope = scope};
    static const char prefix[] = "gatehouse throttle ";
    uint8_t inner[DIGEST_BYTES];
    uint8_t joined[sizeof prefix + DIGEST_BYTES];
    /* The kind separates an id from a name of the same bytes. */
    digest_sha256(bytes, length, inner);
    memcpy(joined, prefix, sizeof prefix - 1);
    joined[sizeof prefix - 1] = (uint8_t)kind;
    memcpy(joined + sizeof prefix, inner, sizeof inner);
    digest_sha256(joined, sizeof joined, key.subject);
    return key;
}

struct throttle_key throttle_of_user(struct id user)
{
    return make_key("account", 'u', user.bytes, sizeof user.bytes);
}

struct throttle_key throttle_of_name(struct arena *arena, const char *username)
{
    const char *key = address_key(arena, username);
    return make_key("account", 'n', key, strlen(key));
}

struct throttle_key throttle_of_device(struct id device)
{
    return make_key("account", 'd', device.bytes, sizeof device.bytes);
}

static struct throttle_key network_key(const char *scope, const char *address)
{
    struct in6_addr v6;
    /* A customer's IPv6 network has 2^64 addresses, so the network is counted. */
    if (inet_pton(AF_INET6, address, &v6) == 1 && !IN6_IS_ADDR_V4MAPPED(&v6))
        return make_key(scope, '6', v6.s6_addr, 8);
    return make_key(scope, 'a', address, strlen(address));
}

struct throttle_key throttle_of_address(const char *address)
{
    return network_key("address", address);
}

struct throttle_key throttle_of_mail(const char *address)
{
    return network_key("mail", address);
}

struct throttle_key throttle_of_members(struct id organisation)
{
    return make_key("organisation", 'm', organisation.bytes, sizeof organisation.bytes);
}

struct throttle_key throttle_of_customers(struct id organisation)
{
    return make_key("organisation", 'c', organisation.bytes, sizeof organisation.bytes);
}

struct throttle_key throttle_of_taken(const struct throttle_key *making)
{
    return make_key("organisation", 't', making->subject, sizeof making->subject);
}

struct throttle_key throttle_of_cancelling(const struct throttle_key *account, const char *address)
{
    struct throttle_key client = network_key("cancel", address);
    uint8_t both[2 * sizeof client.subject];
    memcpy(both, account->subject, sizeof account->subject);
    memcpy(both + sizeof account->subject, client.subject, sizeof client.subject);
    return make_key("cancel", 'e', both, sizeof both);
}

static bool is_account(const struct throttle_key *key)
{
    return strcmp(key->scope, "account") == 0;
}

/* The wait that the n-th consecutive failure of an account starts, in seconds. */
static unsigned wait_after(int64_t failures)
{
    unsigned wait = 1;
    if (failures >= THROTTLE_ACCOUNT_MOST)
        return THROTTLE_ACCOUNT_STOP_SECONDS;
    for (int64_t n = THROTTLE_ACCOUNT_FREE; n < failures && wait < THROTTLE_ACCOUNT_WAIT_MAX; n++)
        wait *= 2;
    return wait < THROTTLE_ACCOUNT_WAIT_MAX ? wait : THROTTLE_ACCOUNT_WAIT_MAX;
}

/* The longest possible wait for such a key after so many failures. */
static int64_t longest_wait(const struct throttle_key *key, int64_t failures)
{
    if (!is_account(key))
        return THROTTLE_ADDRESS_SECONDS;
    return failures >= THROTTLE_ACCOUNT_MOST ? THROTTLE_ACCOUNT_STOP_SECONDS : THROTTLE_ACCOUNT_WAIT_MAX;
}

/* Milliseconds until the lock ends (NULL: none), failures, seconds since the window began. */
#define STATE_COLUMNS                                                                                                  \
    "TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(3), locked_until) DIV 1000, failures, "                                  \
    "TIMESTAMPDIFF(SECOND, since, UTC_TIMESTAMP(3))"

static const struct statement read_state = {"SELECT " STATE_COLUMNS " FROM throttle WHERE scope = ? AND subject = ?"};
/* Which of the two a row is about comes last, so that the columns stand where they do in the others. */
static const struct statement read_both = {"SELECT " STATE_COLUMNS ", 0 FROM throttle WHERE scope = ? AND subject = ?"
                                           " UNION ALL SELECT " STATE_COLUMNS
                                           ", 1 FROM throttle WHERE scope = ? AND subject = ?"};
static const struct statement lock_state = {"SELECT " STATE_COLUMNS
                                            " FROM throttle WHERE scope = ? AND subject = ? FOR UPDATE"};
/* Not INSERT IGNORE, which leaves a shared lock on an existing row: parallel tries would deadlock at the next read. */
static const struct statement make_state = {
    "INSERT INTO throttle (scope, subject) VALUES (?, ?) ON DUPLICATE KEY UPDATE scope = scope"};
static const struct statement write_state = {
    "UPDATE throttle SET failures = ?, since = IF(? = 1, UTC_TIMESTAMP(3), since), updated_at = UTC_TIMESTAMP(3),"
    " locked_until = IF(? = 0, NULL, UTC_TIMESTAMP(3) + INTERVAL ? SECOND) WHERE scope = ? AND subject = ?"};
static const struct statement shorten_wait = {
    "UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) + INTERVAL ? SECOND"
    " WHERE scope = ? AND subject = ? AND locked_until > UTC_TIMESTAMP(3) + INTERVAL ? SECOND"};
static const struct statement give_use_back = {
    "UPDATE throttle SET failures = failures - 1 WHERE scope = ? AND subject = ? AND failures > 0"};
static const struct statement remove_state = {"DELETE FROM throttle WHERE scope = ? AND subject = ?"};
static const struct statement purge_states = {
    "DELETE FROM throttle WHERE updated_at < UTC_TIMESTAMP(3) - INTERVAL 1 DAY"
    " AND (locked_until IS NULL OR locked_until < UTC_TIMESTAMP(3)) LIMIT ?"};

#define KEY_VALUES(key) database_text((key)->scope), database_bytes((key)->subject, sizeof(key)->subject)

/*
 * Seconds left of the wait in a row of STATE_COLUMNS, rounded up. A wait longer than the longest possible one was
 * written before the clock was set back: its end is moved to the latest possible time. Otherwise it would start again
 * with every try.
 */
static struct error *seconds_left(struct database *database, struct arena *arena, const struct throttle_key *key,
                                  const struct rows *rows, size_t row, unsigned *wait_out)
{
    *wait_out = 0;
    if (row >= rows->count || rows_is_null(rows, row, 0) || rows_integer(rows, row, 0) <= 0)
        return NULL;
    int64_t most = longest_wait(key, rows_integer(rows, row, 1));
    int64_t seconds = (rows_integer(rows, row, 0) + 999) / 1000;
    *wait_out = (unsigned)(seconds < most ? seconds : most);
    if (seconds <= most)
        return NULL;
    return database_change(database, arena, &shorten_wait,
                           VALUES(database_integer(most), KEY_VALUES(key), database_integer(most)), NULL);
}

struct error *throttle_check(struct database *database, struct arena *arena, const struct throttle_key *key,
                             unsigned *wait_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &read_state, VALUES(KEY_VALUES(key)), &rows));
    return seconds_left(database, arena, key, rows, 0, wait_out);
}

struct error *throttle_check_both(struct database *database, struct arena *arena, const struct throttle_key keys[2],
                                  unsigned waits_out[2])
{
    struct rows *rows;
    waits_out[0] = waits_out[1] = 0;
    TRY(database_query(database, arena, &read_both, VALUES(KEY_VALUES(&keys[0]), KEY_VALUES(&keys[1])), &rows));
    for (size_t i = 0; i < rows->count; i++) {
        size_t which = (size_t)rows_integer(rows, i, 3);
        TRY(seconds_left(database, arena, &keys[which], rows, i, &waits_out[which]));
    }
    return NULL;
}

static struct error *write_failure(struct database *database, struct arena *arena, const struct throttle_key *key,
                                   int64_t failures, int64_t window)
{
    /* A window that is over, or that lies in the future because the clock was set back, begins again. */
    bool over = !is_account(key) && (window >= THROTTLE_ADDRESS_SECONDS || window < -CLOCK_SLACK_SECONDS);
    int64_t now = over ? 1 : failures + 1;
    int64_t wait = 0;
    if (is_account(key) && now >= THROTTLE_ACCOUNT_FREE)
        wait = wait_after(now);
    else if (!is_account(key) && now >= THROTTLE_ADDRESS_FREE)
        wait = window > 0 ? THROTTLE_ADDRESS_SECONDS - window : THROTTLE_ADDRESS_SECONDS;
    return database_change(database, arena, &write_state,
                           VALUES(database_integer(now), database_boolean(over || failures == 0),
                                  database_integer(wait), database_integer(wait), KEY_VALUES(key)),
                           NULL);
}

static struct error *take_step(struct database *database, struct arena *arena, void *context)
{
    struct step *step = context;
    struct rows *rows;
    step->wait = 0;
    if (!step->success)
        TRY(database_change(database, arena, &make_state, VALUES(KEY_VALUES(step->key)), NULL));
    TRY(database_query(database, arena, &lock_state, VALUES(KEY_VALUES(step->key)), &rows));
    TRY(seconds_left(database, arena, step->key, rows, 0, &step->wait));
    if (rows->count == 0 || step->wait > 0)
        return NULL;
    if (step->success)
        return database_change(database, arena, &remove_state, VALUES(KEY_VALUES(step->key)), NULL);
    return write_failure(database, arena, step->key, rows_integer(rows, 0, 1), rows_integer(rows, 0, 2));
}

struct error *throttle_fail(struct database *database, struct arena *arena, const struct throttle_key *key,
                            unsigned *wait_out)
{
    struct step step = {.key = key};
    TRY(database_transaction(database, arena, take_step, &step, NULL));
    *wait_out = step.wait;
    return NULL;
}

struct error *throttle_succeed(struct database *database, struct arena *arena, const struct throttle_key *key,
                               unsigned *wait_out)
{
    struct step step = {.key = key, .success = true};
    struct rows *rows;
    *wait_out = 0;
    /* For most successes there is no row: one read and no transaction. */
    TRY(database_query(database, arena, &read_state, VALUES(KEY_VALUES(key)), &rows));
    if (rows->count == 0)
        return NULL;
    TRY(database_transaction(database, arena, take_step, &step, NULL));
    *wait_out = step.wait;
    return NULL;
}

/* ---- uses ---------------------------------------------------------------------------------------- */

/* A use while its transaction runs. */
struct use {
    const struct throttle_key *key;
    int64_t most;
    unsigned wait;
};

static int64_t period_of(const struct throttle_key *key)
{
    if (strcmp(key->scope, "cancel") == 0)
        return THROTTLE_CANCEL_SECONDS;
    return strcmp(key->scope, "mail") == 0 ? THROTTLE_MAIL_SECONDS : THROTTLE_ORGANISATION_SECONDS;
}

/* A time that is over, or that lies in the future because the clock was set back, begins again. */
static bool is_over(const struct throttle_key *key, int64_t age)
{
    return age >= period_of(key) || age < -CLOCK_SLACK_SECONDS;
}

/* The seconds to wait of a row of STATE_COLUMNS whose uses are used up, else 0. */
static unsigned wait_of_use(const struct throttle_key *key, const struct rows *rows, int64_t most)
{
    int64_t age = rows_integer(rows, 0, 2);
    if (is_over(key, age) || rows_integer(rows, 0, 1) < most)
        return 0;
    return (unsigned)(age > 0 ? period_of(key) - age : period_of(key));
}

static struct error *take_use(struct database *database, struct arena *arena, void *context)
{
    struct use *use = context;
    struct rows *rows;
    TRY(database_change(database, arena, &make_state, VALUES(KEY_VALUES(use->key)), NULL));
    TRY(database_query(database, arena, &lock_state, VALUES(KEY_VALUES(use->key)), &rows));
    use->wait = wait_of_use(use->key, rows, use->most);
    if (use->wait > 0)
        return NULL;
    int64_t count = rows_integer(rows, 0, 1);
    bool over = is_over(use->key, rows_integer(rows, 0, 2));
    return database_change(database, arena, &write_state,
                           VALUES(database_integer(over ? 1 : count + 1), database_boolean(over || count == 0),
                                  database_integer(0), database_integer(0), KEY_VALUES(use->key)),
                           NULL);
}

struct error *throttle_take(struct database *database, struct arena *arena, const struct throttle_key *key,
                            int64_t most, unsigned *wait_out)
{
    struct use use = {.key = key, .most = most};
    TRY(database_transaction(database, arena, take_use, &use, NULL));
    *wait_out = use.wait;
    return NULL;
}

struct error *throttle_look(struct database *database, struct arena *arena, const struct throttle_key *key,
                            int64_t most, unsigned *wait_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &read_state, VALUES(KEY_VALUES(key)), &rows));
    *wait_out = rows->count == 0 ? 0 : wait_of_use(key, rows, most);
    return NULL;
}

struct error *throttle_give_back(struct database *database, struct arena *arena, const struct throttle_key *key)
{
    return database_change(database, arena, &give_use_back, VALUES(KEY_VALUES(key)), NULL);
}

/* ---- both ---------------------------------------------------------------------------------------- */

struct error *throttle_lift(struct database *database, struct arena *arena, const struct throttle_key *key)
{
    return database_change(database, arena, &remove_state, VALUES(KEY_VALUES(key)), NULL);
}

struct error *throttle_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out)
{
    struct change change;
    TRY(database_change(database, arena, &purge_states, VALUES(database_integer(limit)), &change));
    *count_out = change.affected;
    return NULL;
}
