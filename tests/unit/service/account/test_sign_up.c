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
    struct error *(*make)(struct scene *scene, const struct caller *caller, const char *email, struct user *user_out);
    bool customer;
};

static const struct maker makers[] = {{make_customer, true}, {make_member, false}};

/* Who makes the accounts: staff the customers, an owner the members. */
static struct caller *given_maker(struct scene *scene, const struct maker *maker)
{
    struct caller *staff = given_staff(scene);
    return maker->customer ? staff : given_owner(scene, staff, "owner@example.com");
}

static int64_t count_rows(struct scene *scene, const char *table, const char *where)
{
    return sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM %s WHERE %s", table, where);
}

static void expect_nobody_sees_it(struct scene *scene, const struct maker *maker)
{
    struct user *user = NULL;
    scene_fault(scene, FAULT_NONE, 0);
    expect_ok(user_find_by_username(scene->database, scene->arena, EMAIL, &user));
    assert_null(user);
    expect_error(scene_login(scene, EMAIL, CHOSEN, NULL, NULL), ERROR_CREDENTIALS);
    assert_int_equal(count_rows(scene, "organisation", "name = 'Quarry' AND status <> 'provisioning'"),
                     maker->customer ? 0 : 1);
    assert_int_equal(count_rows(scene, "outbox o JOIN user u ON u.id = o.user_id", "u.email = '" EMAIL "'"), 0);
    assert_int_equal(count_rows(scene, "code", "TRUE"), 0);
    const char *made = maker->customer ? "action = 'customer.create'" : "action = 'user.create'";
    assert_int_equal(count_rows(scene, "audit", made), 0);
}

static void expect_whole(struct scene *scene, const struct maker *maker, const struct user *user)
{
    assert_int_equal(count_rows(scene, "user", "email = '" EMAIL "'"), 1);
    assert_int_equal(count_rows(scene, "organisation", "name = 'Quarry' AND status = 'active'"), 1);
    assert_int_equal(count_rows(scene, "organisation", "status = 'provisioning'"), 0);
    assert_int_equal(count_rows(scene, "identity_account", "username = '" EMAIL "'"), 1);
    assert_int_equal(mails_waiting(scene, user->id), 1);
    if (maker->customer) {
        expect_ok(scene_login(scene, EMAIL, mailed(scene, user->id, "temporaryPassword"), OTHER, NULL));
    } else {
        const char *code = mailed(scene, user->id, "code");
        expect_error(scene_login(scene, EMAIL, CHOSEN, NULL, NULL), ERROR_USER_UNCONFIRMED);
        expect_ok(member_confirm(&scene->service, scene->arena, &scene->stranger, EMAIL, code));
    }
    struct caller *caller = scene_caller(scene, EMAIL, maker->customer ? OTHER : CHOSEN);
    assert_true(id_equal(caller_user(caller), user->id));
    assert_int_equal(caller->principal->user.status, USER_ACTIVE);
    assert_int_equal(caller->principal->user.roles.count, maker->customer ? 2 : 1);
}

static void grow_old(struct scene *scene)
{
    sql(scene->database, scene->arena,
        "UPDATE user SET updated_at = updated_at - INTERVAL 61 SECOND WHERE status = 'provisioning'");
}

static size_t undo(struct scene *scene)
{
    size_t count = 77;
    expect_ok(recovery_undo_stale(&scene->service, scene->arena, &count));
    return count;
}

/* Undoes what a failure left; afterwards there is nothing of it anywhere, and the address is free. */
static void expect_undone(struct scene *scene, const struct maker *maker, const struct caller *caller)
{
    struct user user;
    assert_int_equal(undo(scene), 0); /* too young: somebody may be at it, or ask again */
    grow_old(scene);
    assert_int_equal(undo(scene), 1);
    assert_int_equal(undo(scene), 0);
    assert_int_equal(count_rows(scene, "user", "email = '" EMAIL "'"), 0);
    assert_int_equal(count_rows(scene, "user_role", "user_id NOT IN (SELECT id FROM user)"), 0);
    assert_int_equal(count_rows(scene, "organisation", "name = 'Quarry'"), maker->customer ? 0 : 1);
    assert_int_equal(count_rows(scene, "identity_account", "username = '" EMAIL "'"), 0);
    expect_ok(maker->make(scene, caller, EMAIL, &user));
    expect_whole(scene, maker, &user);
}

/* How often the making of an account calls the provider. */
static unsigned calls_of(struct arena *arena, const struct maker *maker)
{
    struct scene *scene = scene_new(arena);
    struct caller *caller = given_maker(scene, maker);
    scene_fault(scene, FAULT_NONE, 0);
    expect_ok(maker->make(scene, caller, EMAIL, NULL));
    assert_true(scene->faulty.calls >= 1);
    return scene->faulty.calls;
}

/* Runs body(scene, maker, caller) after a failure of each call of each maker, before and after it was done. */
static void at_every_call(struct arena *arena,
                          void (*body)(struct scene *scene, const struct maker *maker, const struct caller *caller))
{
    for (size_t m = 0; m < 2; m++) {
        unsigned calls = calls_of(arena, &makers[m]);
        for (unsigned at = 1; at <= calls; at++)
            for (enum fault fault = FAULT_BEFORE; fault <= FAULT_AFTER; fault++) {
                struct scene *scene = scene_new(arena);
                struct caller *caller = given_maker(scene, &makers[m]);
                scene_fault(scene, fault, at);
                expect_error(makers[m].make(scene, caller, EMAIL, NULL), ERROR_IDENTITY_UNAVAILABLE);
                expect_nobody_sees_it(scene, &makers[m]);
                body(scene, &makers[m], caller);
            }
    }
}

static void repeat(struct scene *scene, const struct maker *maker, const struct caller *caller)
{
    struct user user;
    expect_ok(maker->make(scene, caller, "NEW.one@Example.com", &user));
    expect_whole(scene, maker, &user);
    grow_old(scene);
    assert_int_equal(undo(scene), 0);
}

static void asking_again_makes_a_whole_one(void **state)
{
    at_every_call(harness_arena(state), repeat);
}

static void what_nobody_asks_for_again_is_undone(void **state)
{
    at_every_call(harness_arena(state), expect_undone);
}

static void undo_that_fails_is_taken_up_again(struct scene *scene, const struct maker *maker,
                                              const struct caller *caller)
{
    size_t count = 77;
    grow_old(scene);
    for (enum fault fault = FAULT_BEFORE; fault <= FAULT_AFTER; fault++) {
        scene_fault(scene, fault, 1);
        expect_error(recovery_undo_stale(&scene->service, scene->arena, &count), ERROR_IDENTITY_UNAVAILABLE);
        assert_int_equal(count, 0);
        expect_nobody_sees_it(scene, maker);
        assert_int_equal(count_rows(scene, "user", "email = '" EMAIL "' AND status = 'provisioning'"), 1);
    }
    /* The lock was given back, and the half-undone account may be resumed, or undone. */
    if (maker->customer) {
        repeat(scene, maker, caller);
        return;
    }
    sql(scene->database, scene->arena, "UPDATE user SET updated_at = UTC_TIMESTAMP(3) WHERE status = 'provisioning'");
    expect_undone(scene, maker, caller);
}

static void failing_undo_converges(void **state)
{
    at_every_call(harness_arena(state), undo_that_fails_is_taken_up_again);
}

/* ---- the database fails after the provider ------------------------------------------------------- */

struct breakage {
    struct scene *scene;
    const char *table;
};

static void take_away(void *context)
{
    struct database *database = support_database_new();
    const struct breakage *breakage = context;
    sql(database, breakage->scene->arena, "RENAME TABLE %s TO %s_away", breakage->table, breakage->table);
    database_free(&database);
}

static void put_back(const struct breakage *breakage)
{
    sql(breakage->scene->database, breakage->scene->arena, "RENAME TABLE %s_away TO %s", breakage->table,
        breakage->table);
}

static void concluding_is_all_or_nothing(void **state)
{
    static const char *const tables[] = {"mail_allowance", "outbox", "audit", "code"};
    struct arena *arena = harness_arena(state);
    for (size_t m = 0; m < 2; m++)
        for (size_t t = 0; t < (makers[m].customer ? 3 : 4); t++) {
            struct scene *scene = scene_new(arena);
            struct caller *caller = given_maker(scene, &makers[m]);
            struct breakage breakage = {scene, tables[t]};
            scene_fault(scene, FAULT_NONE, 1);
            scene->faulty.after = take_away;
            scene->faulty.context = &breakage;
            struct error *error = makers[m].make(scene, caller, EMAIL, NULL);
            put_back(&breakage);
            expect_error(error, ERROR_INTERNAL);
            expect_nobody_sees_it(scene, &makers[m]);
            repeat(scene, &makers[m], caller);
        }
}

/* ---- the process dies ---------------------------------------------------------------------------- */

struct death {
    struct scene *scene;
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
    struct scene *scene = scene_join(arena);
    struct principal *principal = NULL;
    struct caller caller = scene->stranger;
    size_t count;
    if (principal_load(scene->database, arena, death->user, death->session, &principal) != NULL)
        _exit(1);
    caller.principal = principal;
    scene_fault(scene, death->fault, death->at);
    struct error *error = death->undoing ? recovery_undo_stale(&scene->service, arena, &count)
                                         : death->maker->make(scene, &caller, EMAIL, NULL);
    (void)fprintf(stderr, "# it lived on: %s\n", error == NULL ? "all went well" : error->detail);
    _exit(0);
}

static int64_t connections(const struct death *death)
{
    return sql_integer(
        death->scene->database, death->scene->arena,
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
                struct scene *scene = scene_new(arena);
                struct caller *caller = given_maker(scene, &makers[m]);
                struct death death = {scene, &makers[m], caller_user(caller), caller->principal->session_id, fault,
                                      1,     false};
                expect_death(&death);
                expect_nobody_sees_it(scene, &makers[m]);
                if (!undoing) {
                    repeat(scene, &makers[m], caller);
                    continue;
                }
                grow_old(scene);
                death.undoing = true;
                expect_death(&death);
                expect_nobody_sees_it(scene, &makers[m]);
                assert_int_equal(undo(scene), 1);
                assert_int_equal(count_rows(scene, "identity_account", "username = '" EMAIL "'"), 0);
                repeat(scene, &makers[m], caller);
            }
}

/* ---- refusals ------------------------------------------------------------------------------------ */

static void address_that_the_provider_knows_leaves_no_rows(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t m = 0; m < 2; m++) {
        struct scene *scene = scene_new(arena);
        struct caller *caller = given_maker(scene, &makers[m]);
        struct provider_account foreign = {
            .kind = PROVIDER_CONFIRMED_ALREADY,
            .user_id = id_new(),
            .email = EMAIL,
            .permissions = "",
            .password = secret_of(OTHER),
        };
        const char *subject;
        enum provider_outcome outcome;
        expect_ok(provider_create(scene->faulty.inner, arena, &foreign, &subject, &outcome));
        assert_int_equal(outcome, PROVIDER_OK);
        expect_error(makers[m].make(scene, caller, EMAIL, NULL), ERROR_USER_EXISTS);
        expect_nobody_sees_it(scene, &makers[m]);
        assert_int_equal(count_rows(scene, "user", "email = '" EMAIL "'"), 0);
        assert_int_equal(count_rows(scene, "organisation", "status = 'provisioning'"), 0);
        expect_ok(provider_remove(scene->faulty.inner, arena, foreign.user_id, foreign.email));
        repeat(scene, &makers[m], caller);
    }
}

static void so_many_are_made_in_an_hour(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t m = 0; m < 2; m++) {
        struct scene *scene = scene_new(arena);
        struct caller *caller = given_maker(scene, &makers[m]);
        sql(scene->database, arena, "DELETE FROM throttle");
        scene->configuration.limits.accounts_per_hour = makers[m].customer ? 1 : 3;
        scene->configuration.limits.customers_per_hour = makers[m].customer ? 3 : 1;
        expect_ok(makers[m].make(scene, caller, "one@example.com", NULL));
        /* What is taken, here or at the provider, leaves as many. */
        expect_error(makers[m].make(scene, caller, "one@example.com", NULL), ERROR_USER_EXISTS);
        struct provider_account foreign = {.kind = PROVIDER_CONFIRMED_ALREADY,
                                           .user_id = id_new(),
                                           .email = EMAIL,
                                           .permissions = "",
                                           .password = secret_of(OTHER)};
        const char *subject;
        enum provider_outcome outcome;
        expect_ok(provider_create(scene->faulty.inner, arena, &foreign, &subject, &outcome));
        expect_error(makers[m].make(scene, caller, EMAIL, NULL), ERROR_USER_EXISTS);
        expect_ok(makers[m].make(scene, caller, "two@example.com", NULL));
        assert_int_equal(sql_integer(scene->database, arena, "SELECT SUM(failures) FROM throttle"),
                         makers[m].customer ? 4 : 3);
        expect_ok(makers[m].make(scene, caller, "another@example.com", NULL));
        scene_fault(scene, FAULT_NONE, 0);
        struct error *error = makers[m].make(scene, caller, "three@example.com", NULL);
        expect_error(error, ERROR_RATE_LIMITED);
        assert_in_range(error->retry_after, 3500, 3600);
        /* Nothing of it was made, here or at the provider, and no mail is due. */
        assert_int_equal(scene->faulty.calls, 0);
        assert_int_equal(count_rows(scene, "user", "email = 'three@example.com'"), 0);
        assert_int_equal(count_rows(scene, "organisation", "status = 'provisioning'"), 0);
        sql(scene->database, arena, "UPDATE throttle SET since = since - INTERVAL 1 HOUR");
        expect_ok(makers[m].make(scene, caller, "three@example.com", NULL));
    }
}

static void address_is_taken_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct scene *scene = scene_new(arena);
    struct caller *staff = given_staff(scene);
    struct user user;
    expect_ok(make_customer(scene, staff, EMAIL, &user));
    const char *temporary = mailed(scene, user.id, "temporaryPassword");
    expect_entry(make_customer(scene, staff, "New.One@EXAMPLE.com", NULL), ERROR_USER_EXISTS, "email", "taken");
    expect_entry(make_member(scene, staff, EMAIL, NULL), ERROR_USER_EXISTS, "email", "taken");
    /* And the first one's password is what it was. */
    assert_string_equal(mailed(scene, user.id, "temporaryPassword"), temporary);
    assert_int_equal(count_rows(scene, "organisation", "name = 'Quarry'"), 1);
    expect_whole(scene, &makers[0], &user);
}

static void account_in_the_making_is_not_undone(void **state)
{
    struct arena *arena = harness_arena(state);
    struct scene *scene = scene_new(arena);
    struct caller *owner = given_owner(scene, given_staff(scene), "owner@example.com");
    struct database *other = support_database_new();
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
    grow_old(scene);
    assert_int_equal(undo(scene), 0); /* slow, but at it: the lock is held */
    assert_int_equal(count_rows(scene, "user", "email = '" EMAIL "'"), 1);
    database_free(&other);
    size_t undone = 0;
    while (undone == 0) /* the server takes its time to see that the connection, and with it the lock, is gone */
        undone = undo(scene);
    assert_int_equal(undone, 1);
    assert_int_equal(count_rows(scene, "user", "email = '" EMAIL "'"), 0);
}

static void activate_it(void *context)
{
    const struct scene *scene = context;
    sql(scene->database, scene->arena, "UPDATE user SET status = 'active' WHERE email = '" EMAIL "'");
}

/* Where the lock does not reach (another node of a cluster), the row still lets one of two win. */
static void of_two_that_conclude_one_wins(void **state)
{
    struct arena *arena = harness_arena(state);
    for (size_t m = 0; m < 2; m++) {
        struct scene *scene = scene_new(arena);
        struct caller *caller = given_maker(scene, &makers[m]);
        scene_fault(scene, FAULT_NONE, 1);
        scene->faulty.after = activate_it;
        scene->faulty.context = scene;
        expect_error(makers[m].make(scene, caller, EMAIL, NULL), ERROR_USER_EXISTS);
        assert_int_equal(count_rows(scene, "outbox o JOIN user u ON u.id = o.user_id", "u.email = '" EMAIL "'"), 0);
        assert_int_equal(count_rows(scene, "code", "TRUE"), 0);
        assert_int_equal(count_rows(scene, "user", "email = '" EMAIL "' AND status = 'active'"), 1);
    }
}

static void input_is_checked_before_anything_is_made(void **state)
{
    struct arena *arena = harness_arena(state);
    struct scene *scene = scene_new(arena);
    struct caller *owner = given_owner(scene, given_staff(scene), "owner@example.com");
    struct sign_up_member member = {
        .email = EMAIL,
        .password = secret_of("short"),
        .first_name = "Ben",
        .last_name = "Brick",
        .roles = TEXTS(arena, "owner", "nobody"),
        .permissions = TEXTS(arena, "*:*:*"),
    };
    struct user user;
    scene_fault(scene, FAULT_NONE, 0);
    struct error *error = sign_up_member(&scene->service, arena, owner, &member, &user);
    expect_entry(error, ERROR_REQUEST_INVALID, "roles[1]", "unknown");
    expect_entry(error, ERROR_REQUEST_INVALID, "permissions[0]", "format");
    expect_entry(error, ERROR_REQUEST_INVALID, "password", "length");
    member.roles = TEXTS(arena, "owner");
    member.permissions = NO_TEXTS;
    expect_entry(sign_up_member(&scene->service, arena, owner, &member, &user), ERROR_PASSWORD_POLICY, "password",
                 "length");
    member.password = secret_of(CHOSEN);
    member.roles = TEXTS(arena, "owner", "account-admin");
    member.permissions = TEXTS(arena, "cus:user:w", "cus:user:a");
    error = sign_up_member(&scene->service, arena, owner, &member, &user);
    expect_entry(error, ERROR_ROLE_NOT_GRANTABLE, "roles[1]", "notGrantable");
    expect_entry(error, ERROR_ROLE_NOT_GRANTABLE, "permissions[1]", "notGrantable");
    assert_int_equal(error->entry_count, 2);
    /* Who holds inv-manage only cannot make somebody an owner. */
    (void)given_member(scene, owner, "member@example.com");
    struct caller *weak = scene_caller(scene, "member@example.com", CHOSEN);
    int64_t accounts = count_rows(scene, "identity_account", "TRUE");
    expect_entry(make_customer(scene, weak, EMAIL, NULL), ERROR_ROLE_NOT_GRANTABLE, "services", "notGrantable");
    assert_int_equal(count_rows(scene, "identity_account", "TRUE"), accounts);
    assert_int_equal(count_rows(scene, "user", "email = '" EMAIL "'"), 0);
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
