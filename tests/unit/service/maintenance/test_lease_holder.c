/* SPDX-License-Identifier: MIT */
/* Leases: one run at a time, and a run that was taken over can do nothing in the name of the other. */
#include "service/maintenance/lease_holder.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/lease.h"
#include "harness.h"
#include "service/support_maintenance.h"
#include "store/database/database.h"
#include "support_database.h"

static bool take(struct keep *keep, struct lease_holder *holder)
{
    bool held = false;
    expect_ok(lease_holder_try(&keep->service, keep->arena, LEASE_FILES, holder, &held));
    return held;
}

/* The time of the lease is over; its holder does not know yet. */
static void expire(struct keep *keep)
{
    sql(keep->service.database, keep->arena,
        "UPDATE maintenance SET held_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");
}

static const char *position(struct keep *keep)
{
    const char *text;
    expect_ok(lease_position(keep->service.database, keep->arena, LEASE_FILES, &text));
    return text;
}

static struct error *fenced(struct database *database, struct arena *arena, void *context)
{
    (void)database;
    return lease_holder_fence(context, arena);
}

static struct error *fence(struct keep *keep, struct lease_holder *holder)
{
    return database_transaction(keep->service.database, keep->arena, fenced, holder, NULL);
}

static void expect_lost(struct keep *keep, struct lease_holder *holder)
{
    struct error *error = lease_holder_check(holder, keep->arena);
    expect_error(error, ERROR_INTERNAL);
    assert_non_null(strstr(error->message, "This run stood still for more than 30 seconds"));
    expect_error(fence(keep, holder), ERROR_INTERNAL);
    expect_error(lease_holder_save(holder, keep->arena, "mine"), ERROR_INTERNAL);
}

static void one_holds_it_until_it_is_given_back(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct lease_holder first, second;
    assert_true(take(keep, &first));
    assert_false(take(keep, &second));
    expect_ok(lease_holder_check(&first, keep->arena));
    expect_ok(fence(keep, &first));
    expect_ok(lease_holder_save(&first, keep->arena, "here"));
    assert_string_equal(position(keep), "here");
    lease_holder_release(&second, keep->arena);
    assert_false(take(keep, &second));
    lease_holder_release(&first, keep->arena);
    assert_true(take(keep, &second));
    expect_lost(keep, &first);
}

static void who_was_taken_over_is_so_whatever_became_of_the_other(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct lease_holder first, second, third;
    assert_true(take(keep, &first));
    expect_ok(lease_holder_save(&first, keep->arena, "first"));
    expire(keep);
    /* Nobody has taken it yet: it may not be renewed all the same, since nobody knows that. */
    expect_lost(keep, &first);
    assert_true(take(keep, &second));
    expect_ok(lease_holder_save(&second, keep->arena, "second"));
    expect_lost(keep, &first);
    lease_holder_release(&first, keep->arena);
    assert_false(take(keep, &third));
    /* Its clock says that no time has passed (a machine that was paused): the server's clock counts. */
    lease_holder_release(&second, keep->arena);
    expect_lost(keep, &first);
    assert_true(take(keep, &third));
    expire(keep);
    expect_lost(keep, &first);
    assert_string_equal(position(keep), "second");
}

struct hold {
    struct keep *keep;
    struct lease_holder *first;
    struct error *error; /* what the other run was told meanwhile */
};

static struct error *try_to_take(struct database *database, struct arena *arena, void *context)
{
    struct hold *hold = context;
    struct database *other = support_database_new();
    bool held = false;
    (void)database;
    TRY(lease_holder_fence(hold->first, arena));
    while (sql_integer(other, arena, "SELECT COUNT(*) FROM maintenance WHERE held_until > UTC_TIMESTAMP(3)") > 0)
        (void)usleep(50000);
    sql(other, arena, "SET SESSION innodb_lock_wait_timeout = 1");
    hold->error = lease_take(other, arena, LEASE_FILES, id_new(), LEASE_HOLDER_SECONDS, &held);
    assert_false(held);
    database_free(&other);
    return NULL;
}

/* The lease runs out while the transaction that the fence protects is under way. */
static void nobody_takes_it_before_the_transaction_has_ended(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct lease_holder first;
    bool held = false;
    struct hold hold = {.keep = keep, .first = &first};
    expect_ok(lease_take(keep->service.database, keep->arena, LEASE_FILES, id_new(), 0, &held));
    assert_true(take(keep, &first));
    sql(keep->service.database, keep->arena,
        "UPDATE maintenance SET held_until = UTC_TIMESTAMP(3) + INTERVAL 10 SECOND");
    expect_ok(database_transaction(keep->service.database, keep->arena, try_to_take, &hold, NULL));
    assert_non_null(hold.error);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(one_holds_it_until_it_is_given_back),
    HARNESS_TEST(who_was_taken_over_is_so_whatever_became_of_the_other),
    HARNESS_TEST(nobody_takes_it_before_the_transaction_has_ended),
};
HARNESS_MODULE(lease_holder, cases)
