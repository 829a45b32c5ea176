/* SPDX-License-Identifier: MIT */
/*
 * Making accounts while things fail: at each call of the provider, before and after it was done, in each table of the
 * transaction that concludes, and by the death of the process. Whatever it was: nobody sees a half-made account, asking
 * again makes a whole one, and the job runner undoes what nobody asks for again.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/provisioning.h"
#include "domain/permission/principal.h"
#include "service/account/member.h"
#include "service/account/recovery.h"
#include "service/support_accounts.h"
#include "support_database.h"

#define EMAIL "new.one@example.com"

struct maker {
    struct error *(*make)(struct stage *stage, const struct caller *caller, const char *email, struct user *user_out);
    bool customer;
};

static const struct maker makers[] = {{make_customer, true}, {make_member, false}};

/* Who makes the accounts: staff the customers, an owner the members. */
static struct caller *given_maker(struct stage *stage, const struct maker *maker)
{
    struct caller *staff = given_staff(stage);
    return maker->customer ? staff : given_owner(stage, staff, "owner@example.com");
}

static int64_t count_rows(struct stage *stage, const char *table, const char *where)
{
    return sql_integer(stage->database, stage->arena, "SELECT COUNT(*) FROM %s WHERE %s", table, where);
}

static void expect_nobody_sees_it(struct stage *stage, const struct maker *maker)
{
    struct user *user = NULL;
    stage_fault(stage, FAULT_NONE, 0);
    expect_ok(user_find_by_username(stage->database, stage->arena, EMAIL, &user));
    assert_null(user);
    expect_error(stage_login(stage, EMAIL, CHOSEN, NULL, NULL), ERROR_CREDENTIALS);
    assert_int_equal(count_rows(stage, "organisation", "name = 'Quarry' AND status <> 'provisioning'"),
                     maker->customer ? 0 : 1);
    assert_int_equal(count_rows(stage, "outbox o JOIN user u ON u.id = o.user_id", "u.email = '" EMAIL "'"), 0);
    assert_int_equal(count_rows(stage, "code", "TRUE"), 0);
    const char *made = maker->customer ? "action = 'customer.create'" : "action = 'user.create'";
    assert_int_equal(count_rows(stage, "audit", made), 0);
}

static void expect_whole(struct stage *stage, const struct maker *maker, const struct user *user)
{
    assert_int_equal(count_rows(stage, "user", "email = '" EMAIL "'"), 1);
    assert_int_equal(count_rows(stage, "organisation", "name = 'Quarry' AND status = 'active'"), 1);
    assert_int_equal(count_rows(stage, "organisation", "status = 'provisioning'"), 0);
    assert_int_equal(count_rows(stage, "identity_account", "username = '" EMAIL "'"), 1);
    assert_int_equal(mails_waiting(stage, user->id), 1);
    if (maker->customer) {
        expect_ok(stage_login(stage, EMAIL, mailed(stage, user->id, "temporaryPassword"), OTHER, NULL));
    } else {
        const char *code = mailed(stage, user->id, "code");
        expect_error(stage_login(stage, EMAIL, CHOSEN, NULL, NULL), ERROR_USER_UNCONFIRMED);
        expect_ok(member_confirm(&stage->service, stage->arena, &stage->stranger, EMAIL, code));
    }
    struct caller *caller = stage_caller(stage, EMAIL, maker->customer ? OTHER : CHOSEN);
    assert_true(id_equal(caller_user(caller), user->id));
    assert_int_equal(caller->principal->user.status, USER_ACTIVE);
    assert_int_equal(caller->principal->user.roles.count, maker->customer ? 2 : 1);
}

static void grow_old(struct stage *stage)
{
    sql(stage->database, stage->arena,
        "UPDATE user SET updated_at = updated_at - INTERVAL 61 SECOND WHERE status = 'provisioning'");
}

static size_t undo(struct stage *stage)
{
    size_t count = 77;
    expect_ok(recovery_undo_stale(&stage->service, stage->arena, &count));
    return count;
}

/* Undoes what a failure left; afterwards there is nothing of it anywhere, and the address is free. */
static void expect_undone(struct stage *stage, const struct maker *maker, const struct caller *caller)
{
    struct user user;
    assert_int_equal(undo(stage), 0); /* too young: somebody may be at it, or ask again */
    grow_old(stage);
    assert_int_equal(undo(stage), 1);
    assert_int_equal(undo(stage), 0);
    assert_int_equal(count_rows(stage, "user", "email = '" EMAIL "'"), 0);
    assert_int_equal(count_rows(stage, "user_role", "user_id NOT IN (SELECT id FROM user)"), 0);
    assert_int_equal(count_rows(stage, "organisation", "name = 'Quarry'"), maker->customer ? 0 : 1);
    assert_int_equal(count_rows(stage, "identity_account", "username = '" EMAIL "'"), 0);
    expect_ok(maker->make(stage, caller, EMAIL, &user));
    expect_whole(stage, maker, &user);
}

/* How often the making of an account calls the provider. */
static unsigned calls_of(struct arena *arena, const struct maker *maker)
{
    struct stage *stage = stage_new(arena);
    struct caller *caller = given_maker(stage, maker);
    stage_fault(stage, FAULT_NONE, 0);
    expect_ok(maker->make(stage, caller, EMAIL, NULL));
    assert_true(stage->faulty.calls >= 1);
    return stage->faulty.calls;
}

/* Runs body(stage, maker, caller) after a failure of each call of each maker, before and after it was done. */
static void at_every_call(struct arena *arena,
                          void (*body)(struct stage *stage, const struct maker *maker, const struct caller *caller))
{
    for (size_t m = 0; m < 2; m++) {
        unsigned calls = calls_of(arena, &makers[m]);
        for (unsigned at = 1; at <= calls; at++)
            for (enum fault fault = FAULT_BEFORE; fault <= FAULT_AFTER; fault++) {
                struct stage *stage = stage_new(arena);
                struct caller *caller = given_maker(stage, &makers[m]);
                stage_fault(stage, fault, at);
                expect_error(makers[m].make(stage, caller, EMAIL, NULL), ERROR_IDENTITY_UNAVAILABLE);
                expect_nobody_sees_it(stage, &makers[m]);
                body(stage, &makers[m], caller);
            }
    }
}

static void repeat(struct stage *stage, const struct maker *maker, const struct caller *caller)
{
    struct user user;
    expect_ok(maker->make(stage, caller, "NEW.one@Example.com", &user));
    expect_whole(stage, maker, &user);
    grow_old(stage);
    assert_int_equal(undo(stage), 0);
}

static void asking_again_makes_a_whole_one(void **state)
{
    at_every_call(harness_arena(state), repeat);
}

static void what_nobody_asks_for_again_is_undone(void **state)
{
    at_every_call(harness_arena(state), expect_undone);
}

static void undo_that_fails_is_taken_up_again(struct stage *stage, const struct maker *maker,
                                              const struct caller *caller)
{
    size_t count = 77;
    grow_old(stage);
    for (enum fault fault = FAULT_BEFORE; fault <= FAULT_AFTER; fault++) {
        stage_fault(stage, fault, 1);
        expect_error(recovery_undo_stale(&stage->service, stage->arena, &count), ERROR_IDENTITY_UNAVAILABLE);
        assert_int_equal(count, 0);
        expect_nobody_sees_it(stage, maker);
        assert_int_equal(count_rows(stage, "user", "email = '" EMAIL "' AND status = 'provisioning'"), 1);
    }
    /* The lock was given back, and the half-undone account may be resumed, or undone. */
    if (maker->customer) {
        repeat(stage, maker, caller);
        return;
    }
    sql(stage->database, stage->arena, "UPDATE user SET updated_at = UTC_TIMESTAMP(3) WHERE status = 'provisioning'");
    expect_undone(stage, maker, caller);
}

static void failing_undo_converges(void **state)
{
    at_every_call(harness_arena(state), undo_that_fails_is_taken_up_again);
}

/* ---- the database fails after the provider ------------------------------------------------------- */

struct breakage {
    struct stage *stage;
    const char *table;
};

static void take_away(void *context)
{
    struct database *database = database_fixture_new();
    const struct breakage *breakage = context;
    sql(database, breakage->stage->arena, "RENAME TABLE %s TO %s_away", breakage->table, breakage->table);
    database_free(&database);
}

static void put_back(const struct breakage *breakage)
{
    sql(breakage->stage->database, breakage->stage->arena, "RENAME TABLE %s_away TO %s", breakage->table,
        breakage->table);
}

static void concluding_is_all_or_nothing(void **state)
{
    static const char *const tables[] = {"mail_allowance", "outbox", "audit", "code"};
    struct arena *arena = harness_arena(state);
    for (size_t m = 0; m < 2; m++)
        for (size_t t = 0; t < (makers[m].customer ? 3 : 4); t++) {
            struct stage *stage = stage_new(arena);
            struct caller *caller = given_maker(stage, &makers[m]);
            struct breakage breakage = {stage, tables[t]};
            stage_fault(stage, FAULT_NONE, 1);
            stage->faulty.after = take_away;
            stage->faulty.context = &breakage;
            struct error *error = makers[m].make(stage, caller, EMAIL, NULL);
            put_back(&breakage);
            expect_error(error, ERROR_INTERNAL);
            expect_nobody_sees_it(stage, &makers[m]);
            repeat(stage, &makers[m], caller);
        }
}

/* ---- the process dies ---------------------------------------------------------------------------- */

struct death {
    struct stage *stage;
    const struct maker *maker;
    struct id user;
    struct id session;
    enum fault fault;
    unsigned at;
    bool undoing;
};

/* In a process of its own, on connections of its own. */
static void die_at_work(void *context)
{
    struct death *death = context;
    struct arena *arena = arena_new();
    struct stage *stage = stage_join(arena);
    struct principal *principal = NULL;
    struct caller caller = stage->stranger;
    size_t count;
    if (principal_load(stage->database, arena, death->user, death->session, &principal) != NULL)
        _exit(1);
    caller.principal = principal;
    stage_fault(stage, death->fault, death->at);
    struct error *error = death->undoing ? recovery_undo_stale(&stage->service, arena, &count)
                                         : death->maker->make(stage, &caller, EMAIL, NULL);
    (void)fprintf(stderr, "# it lived on: %s\n", error == NULL ? "all went well" : error->detail);
    _exit(0);
}

static int64_t connections(const struct death *death)
{
    return sql_integer(
        death->stage->database, death->stage->arena,
        "SELECT COUNT(*) FROM information_schema.processlist WHERE user = SUBSTRING_INDEX(USER(), '@', 1)");
}

/* The server may take a moment to notice that a process has died; until then it keeps the process' locks. */
static void await_connections(const struct death *death, int64_t wanted)
{
    for (int tries = 0; connections(death) > wanted; tries++) {
        assert_true(tries < 1000);
        (void)usleep(10000);
    }
}

static void expect_death(struct death *death)
{
    int64_t before = connections(death);
    int status = harness_fork(die_at_work, death);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), DEATH_STATUS);
    await_connections(death, before);
}

static void death_leaves_nothing_that_does_not_heal(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t m = 0; m < 2; m++)
        for (enum fault fault = FAULT_DEATH_BEFORE; fault <= FAULT_DEATH_AFTER; fault++)
            for (int undoing = 0; undoing < 2; undoing++) {
                struct stage *stage = stage_new(arena);
                struct caller *caller = given_maker(stage, &makers[m]);
                struct death death = {stage, &makers[m], caller_user(caller), caller->principal->session_id, fault,
                                      1,     false};
                expect_death(&death);
                expect_nobody_sees_it(stage, &makers[m]);
                if (!undoing) {
                    repeat(stage, &makers[m], caller);
                    continue;
                }
                grow_old(stage);
                death.undoing = true;
                expect_death(&death);
                expect_nobody_sees_it(stage, &makers[m]);
                assert_int_equal(undo(stage), 1);
                assert_int_equal(count_rows(stage, "identity_account", "username = '" EMAIL "'"), 0);
                repeat(stage, &makers[m], caller);
            }
}

/* ---- refusals ------------------------------------------------------------------------------------ */

static void address_that_the_provider_knows_leaves_no_rows(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t m = 0; m < 2; m++) {
        struct stage *stage = stage_new(arena);
        struct caller *caller = given_maker(stage, &makers[m]);
        struct provider_account foreign = {
            .kind = PROVIDER_CONFIRMED_ALREADY,
            .user_id = id_new(),
            .email = EMAIL,
            .permissions = "",
            .password = secret_of(OTHER),
        };
        const char *subject;
        enum provider_outcome outcome;
        expect_ok(provider_create(stage->faulty.inner, arena, &foreign, &subject, &outcome));
        assert_int_equal(outcome, PROVIDER_OK);
        expect_error(makers[m].make(stage, caller, EMAIL, NULL), ERROR_USER_EXISTS);
        expect_nobody_sees_it(stage, &makers[m]);
        assert_int_equal(count_rows(stage, "user", "email = '" EMAIL "'"), 0);
        assert_int_equal(count_rows(stage, "organisation", "status = 'provisioning'"), 0);
        expect_ok(provider_remove(stage->faulty.inner, arena, foreign.user_id, foreign.email));
        repeat(stage, &makers[m], caller);
    }
}

static void so_many_are_made_in_an_hour(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t m = 0; m < 2; m++) {
        struct stage *stage = stage_new(arena);
        struct caller *caller = given_maker(stage, &makers[m]);
        sql(stage->database, arena, "DELETE FROM throttle");
        stage->configuration.limits.accounts_per_hour = makers[m].customer ? 1 : 2;
        stage->configuration.limits.customers_per_hour = makers[m].customer ? 2 : 1;
        expect_ok(makers[m].make(stage, caller, "one@example.com", NULL));
        /* What is taken, or what the provider refuses, is not counted. */
        expect_error(makers[m].make(stage, caller, "one@example.com", NULL), ERROR_USER_EXISTS);
        struct provider_account foreign = {.kind = PROVIDER_CONFIRMED_ALREADY,
                                           .user_id = id_new(),
                                           .email = EMAIL,
                                           .permissions = "",
                                           .password = secret_of(OTHER)};
        const char *subject;
        enum provider_outcome outcome;
        expect_ok(provider_create(stage->faulty.inner, arena, &foreign, &subject, &outcome));
        expect_error(makers[m].make(stage, caller, EMAIL, NULL), ERROR_USER_EXISTS);
        expect_ok(makers[m].make(stage, caller, "two@example.com", NULL));
        stage_fault(stage, FAULT_NONE, 0);
        struct error *error = makers[m].make(stage, caller, "three@example.com", NULL);
        expect_error(error, ERROR_RATE_LIMITED);
        assert_in_range(error->retry_after, 3500, 3600);
        /* Nothing of it was made, here or at the provider, and no mail is due. */
        assert_int_equal(stage->faulty.calls, 0);
        assert_int_equal(count_rows(stage, "user", "email = 'three@example.com'"), 0);
        assert_int_equal(count_rows(stage, "organisation", "status = 'provisioning'"), 0);
        sql(stage->database, arena, "UPDATE throttle SET since = since - INTERVAL 1 HOUR");
        expect_ok(makers[m].make(stage, caller, "three@example.com", NULL));
    }
}

static void address_is_taken_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct stage *stage = stage_new(arena);
    struct caller *staff = given_staff(stage);
    struct user user;
    expect_ok(make_customer(stage, staff, EMAIL, &user));
    const char *temporary = mailed(stage, user.id, "temporaryPassword");
    expect_entry(make_customer(stage, staff, "New.One@EXAMPLE.com", NULL), ERROR_USER_EXISTS, "email", "taken");
    expect_entry(make_member(stage, staff, EMAIL, NULL), ERROR_USER_EXISTS, "email", "taken");
    /* And the first one's password is what it was. */
    assert_string_equal(mailed(stage, user.id, "temporaryPassword"), temporary);
    assert_int_equal(count_rows(stage, "organisation", "name = 'Quarry'"), 1);
    expect_whole(stage, &makers[0], &user);
}

static void account_in_the_making_is_not_undone(void **state)
{
    struct arena *arena = harness_arena(state);
    struct stage *stage = stage_new(arena);
    struct caller *owner = given_owner(stage, given_staff(stage), "owner@example.com");
    struct database *other = database_fixture_new();
    enum provisioning_outcome outcome;
    struct user user = {
        .id = id_new(),
        .organisation_id = caller_home(owner),
        .email = EMAIL,
        .first_name = "Ben",
        .last_name = "Brick",
    };
    expect_ok(provisioning_begin(other, arena, NULL, &user, NULL, &outcome));
    assert_int_equal(outcome, PROVISIONING_NEW);
    grow_old(stage);
    assert_int_equal(undo(stage), 0); /* slow, but at it: the lock is held */
    assert_int_equal(count_rows(stage, "user", "email = '" EMAIL "'"), 1);
    database_free(&other);
    size_t undone = 0;
    while (undone == 0) /* the server takes its time to see that the connection, and with it the lock, is gone */
        undone = undo(stage);
    assert_int_equal(undone, 1);
    assert_int_equal(count_rows(stage, "user", "email = '" EMAIL "'"), 0);
}

static void activate_it(void *context)
{
    const struct stage *stage = context;
    sql(stage->database, stage->arena, "UPDATE user SET status = 'active' WHERE email = '" EMAIL "'");
}

/* Where the lock does not reach (another node of a cluster), the row still lets one of two win. */
static void of_two_that_conclude_one_wins(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t m = 0; m < 2; m++) {
        struct stage *stage = stage_new(arena);
        struct caller *caller = given_maker(stage, &makers[m]);
        stage_fault(stage, FAULT_NONE, 1);
        stage->faulty.after = activate_it;
        stage->faulty.context = stage;
        expect_error(makers[m].make(stage, caller, EMAIL, NULL), ERROR_USER_EXISTS);
        assert_int_equal(count_rows(stage, "outbox o JOIN user u ON u.id = o.user_id", "u.email = '" EMAIL "'"), 0);
        assert_int_equal(count_rows(stage, "code", "TRUE"), 0);
        assert_int_equal(count_rows(stage, "user", "email = '" EMAIL "' AND status = 'active'"), 1);
    }
}

static void input_is_checked_before_anything_is_made(void **state)
{
    struct arena *arena = harness_arena(state);
    struct stage *stage = stage_new(arena);
    struct caller *owner = given_owner(stage, given_staff(stage), "owner@example.com");
    struct sign_up_member member = {
        .email = EMAIL,
        .password = secret_of("short"),
        .first_name = "Ben",
        .last_name = "Brick",
        .roles = TEXTS(arena, "owner", "nobody"),
        .permissions = TEXTS(arena, "*:*:*"),
    };
    struct user user;
    stage_fault(stage, FAULT_NONE, 0);
    struct error *error = sign_up_member(&stage->service, arena, owner, &member, &user);
    expect_entry(error, ERROR_REQUEST_INVALID, "roles[1]", "unknown");
    expect_entry(error, ERROR_REQUEST_INVALID, "permissions[0]", "format");
    expect_entry(error, ERROR_REQUEST_INVALID, "password", "length");
    member.roles = TEXTS(arena, "owner");
    member.permissions = NO_TEXTS;
    expect_entry(sign_up_member(&stage->service, arena, owner, &member, &user), ERROR_PASSWORD_POLICY, "password",
                 "length");
    member.password = secret_of(CHOSEN);
    member.roles = TEXTS(arena, "owner", "account-admin");
    member.permissions = TEXTS(arena, "cus:user:w", "cus:user:a");
    error = sign_up_member(&stage->service, arena, owner, &member, &user);
    expect_entry(error, ERROR_ROLE_NOT_GRANTABLE, "roles[1]", "notGrantable");
    expect_entry(error, ERROR_ROLE_NOT_GRANTABLE, "permissions[1]", "notGrantable");
    assert_int_equal(error->entry_count, 2);
    /* Who holds inv-manage only cannot make somebody an owner. */
    (void)given_member(stage, owner, "member@example.com");
    struct caller *weak = stage_caller(stage, "member@example.com", CHOSEN);
    int64_t accounts = count_rows(stage, "identity_account", "TRUE");
    expect_entry(make_customer(stage, weak, EMAIL, NULL), ERROR_ROLE_NOT_GRANTABLE, "services", "notGrantable");
    assert_int_equal(count_rows(stage, "identity_account", "TRUE"), accounts);
    assert_int_equal(count_rows(stage, "user", "email = '" EMAIL "'"), 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(asking_again_makes_a_whole_one),
    HARNESS_TEST(what_nobody_asks_for_again_is_undone),
    HARNESS_TEST(failing_undo_converges),
    HARNESS_TEST(concluding_is_all_or_nothing),
    HARNESS_TEST(death_leaves_nothing_that_does_not_heal),
    HARNESS_TEST(address_that_the_provider_knows_leaves_no_rows),
    HARNESS_TEST(so_many_are_made_in_an_hour),
    HARNESS_TEST(address_is_taken_once),
    HARNESS_TEST(account_in_the_making_is_not_undone),
    HARNESS_TEST(of_two_that_conclude_one_wins),
    HARNESS_TEST(input_is_checked_before_anything_is_made),
};
HARNESS_MODULE(sign_up, cases)
