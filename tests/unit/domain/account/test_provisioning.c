/* SPDX-License-Identifier: MIT */
/* Provisioning: each step of a new account, repeated and interrupted. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/provisioning.h"
#include "domain/support.h"
#include "support_database.h"

/* What a request to make a customer brings along. */
struct request {
    struct organisation organisation;
    struct user user;
};

static struct request a_customer(struct arena *arena, const char *email)
{
    struct request request = {
        .organisation = {.id = id_new(),
                         .name = "Quarry Ltd",
                         .services = TEXTS(arena, "inventory"),
                         .quota_bytes = ORGANISATION_NO_QUOTA,
                         .quota_files = ORGANISATION_NO_QUOTA},
        .user = {.id = id_new(),
                 .email = email,
                 .first_name = "Ada",
                 .last_name = "Quill",
                 .roles = TEXTS(arena, "owner", "inv-manage")},
    };
    request.user.organisation_id = request.organisation.id;
    return request;
}

static struct request a_member(struct arena *arena, const char *email, struct id organisation)
{
    struct request request = a_customer(arena, email);
    request.user.organisation_id = organisation;
    return request;
}

static enum provisioning_outcome begin_customer(struct database *database, struct arena *arena, struct request *request)
{
    enum provisioning_outcome outcome;
    expect_ok(provisioning_begin(database, arena, &request->organisation, &request->user, NULL, &outcome));
    return outcome;
}

static enum provisioning_outcome begin_member(struct database *database, struct arena *arena, struct request *request)
{
    enum provisioning_outcome outcome;
    expect_ok(provisioning_begin(database, arena, NULL, &request->user, NULL, &outcome));
    return outcome;
}

struct activation {
    const struct user *user;
    enum user_status status;
    bool won;
};

static struct error *activate_body(struct database *database, struct arena *arena, void *context)
{
    struct activation *activation = context;
    return provisioning_activate(database, arena, activation->user, "subject-9", activation->status, &activation->won);
}

static bool activate(struct database *database, struct arena *arena, const struct user *user, enum user_status status)
{
    struct activation activation = {user, status, false};
    expect_ok(database_transaction(database, arena, activate_body, &activation, NULL));
    return activation.won;
}

static const char *states(struct database *database, struct arena *arena, const struct request *request)
{
    return sql_text(database, arena,
                    "SELECT CONCAT(o.status, ' ', u.status) FROM user u JOIN organisation o ON"
                    " o.id = u.organisation_id WHERE u.id = %s",
                    sql_id(arena, request->user.id));
}

static void a_customer_is_made_in_two_steps(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct request request = a_customer(arena, "First.Owner@Example.com");
    assert_int_equal(begin_customer(database, arena, &request), PROVISIONING_NEW);
    assert_string_equal(request.user.email, "first.owner@example.com");
    assert_string_equal(states(database, arena, &request), "provisioning provisioning");
    struct user *found;
    expect_ok(user_find_by_username(database, arena, "first.owner@example.com", &found));
    assert_null(found);

    assert_true(activate(database, arena, &request.user, USER_AWAITING_FIRST_LOGIN));
    provisioning_end(database, arena, &request.user);
    assert_string_equal(states(database, arena, &request), "active awaiting-first-login");
    expect_ok(user_find_by_username(database, arena, "first.owner@example.com", &found));
    assert_string_equal(found->provider_subject, "subject-9");
    assert_string_equal(text_list_join(arena, &found->roles, " "), "owner inv-manage");
    assert_false(found->email_verified);

    /* Nobody wins a second time. */
    assert_false(activate(database, arena, &request.user, USER_ACTIVE));
    assert_string_equal(states(database, arena, &request), "active awaiting-first-login");
    database_free(&database);
}

static void a_user_active_from_the_start_is_verified(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct request request = a_member(arena, "operator@example.com", organisation);
    assert_int_equal(begin_member(database, arena, &request), PROVISIONING_NEW);
    assert_true(activate(database, arena, &request.user, USER_ACTIVE));
    provisioning_end(database, arena, &request.user);
    struct user *found;
    expect_ok(user_find(database, arena, organisation, request.user.id, &found));
    assert_int_equal(found->status, USER_ACTIVE);
    assert_true(found->email_verified);
    assert_false(found->phone_verified);
    database_free(&database);
}

static void what_a_crash_left_is_resumed_with_the_new_values(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *crashed = support_database_new();
    struct request first = a_customer(arena, "resume@example.com");
    assert_int_equal(begin_customer(crashed, arena, &first), PROVISIONING_NEW);
    database_free(&crashed); /* the connection is gone, and its lock with it */

    struct database *database = support_database_new();
    struct request again = a_customer(arena, "RESUME@example.com");
    again.organisation.name = "Quarry & Sons";
    again.organisation.services = TEXTS(arena, "inventory", "logistics");
    again.user.first_name = "Bea";
    again.user.phone = "+4912345678";
    again.user.roles = TEXTS(arena, "owner", "inv-manage", "log-manage");
    assert_int_equal(begin_customer(database, arena, &again), PROVISIONING_RESUMED);
    assert_true(id_equal(again.user.id, first.user.id));
    assert_true(id_equal(again.organisation.id, first.organisation.id));
    assert_true(id_equal(again.user.organisation_id, first.organisation.id));
    assert_true(activate(database, arena, &again.user, USER_AWAITING_FIRST_LOGIN));
    provisioning_end(database, arena, &again.user);

    struct user *found;
    expect_ok(user_find_by_username(database, arena, "resume@example.com", &found));
    assert_string_equal(found->first_name, "Bea");
    assert_string_equal(found->phone, "+4912345678");
    assert_string_equal(text_list_join(arena, &found->roles, " "), "owner inv-manage log-manage");
    struct organisation *organisation;
    expect_ok(organisation_find(database, arena, found->organisation_id, &organisation));
    assert_string_equal(organisation->name, "Quarry & Sons");
    assert_string_equal(text_list_join(arena, &organisation->services, " "), "inventory logistics");
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM user WHERE email = 'resume@example.com'"), 1);
    database_free(&database);
}

static void an_address_in_use_is_taken(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user *user = given_user(database, arena, organisation, "owner", NULL);
    int64_t organisations = sql_integer(database, arena, "SELECT COUNT(*) FROM organisation");
    static const char *const statuses[] = {"awaiting-first-login", "awaiting-confirmation", "active", "disabled"};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        sql(database, arena, "UPDATE user SET status = '%s' WHERE id = %s", statuses[i], sql_id(arena, user->id));
        struct request customer = a_customer(arena, user->email);
        assert_int_equal(begin_customer(database, arena, &customer), PROVISIONING_TAKEN);
        struct request member = a_member(arena, user->email, organisation);
        assert_int_equal(begin_member(database, arena, &member), PROVISIONING_TAKEN);
    }
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM organisation"), organisations);
    /* The lock was given back: another connection need not wait. */
    struct database *other = support_database_new();
    struct request customer = a_customer(arena, user->email);
    assert_int_equal(begin_customer(other, arena, &customer), PROVISIONING_TAKEN);
    database_free(&other);
    database_free(&database);
}

static void what_is_left_of_another_kind_is_taken(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id here = given_organisation(database, arena);
    struct id there = given_organisation(database, arena);

    struct request member = a_member(arena, "kind@example.com", here);
    assert_int_equal(begin_member(database, arena, &member), PROVISIONING_NEW);
    provisioning_end(database, arena, &member.user);
    struct request customer = a_customer(arena, "kind@example.com");
    assert_int_equal(begin_customer(database, arena, &customer), PROVISIONING_TAKEN);
    struct request foreign = a_member(arena, "kind@example.com", there);
    assert_int_equal(begin_member(database, arena, &foreign), PROVISIONING_TAKEN);
    struct request same = a_member(arena, "kind@example.com", here);
    assert_int_equal(begin_member(database, arena, &same), PROVISIONING_RESUMED);
    provisioning_end(database, arena, &same.user);

    struct request owner = a_customer(arena, "kind2@example.com");
    assert_int_equal(begin_customer(database, arena, &owner), PROVISIONING_NEW);
    provisioning_end(database, arena, &owner.user);
    struct request intruder = a_member(arena, "kind2@example.com", here);
    assert_int_equal(begin_member(database, arena, &intruder), PROVISIONING_TAKEN);
    intruder = a_member(arena, "kind2@example.com", owner.organisation.id);
    assert_int_equal(begin_member(database, arena, &intruder), PROVISIONING_TAKEN);
    database_free(&database);
}

static void two_requests_for_one_address_do_not_mix(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *one = support_database_new();
    struct database *other = support_database_new();
    struct request first = a_customer(arena, "busy@example.com");
    struct request second = a_customer(arena, "Busy@example.com");
    struct request third = a_customer(arena, "idle@example.com");
    assert_int_equal(begin_customer(one, arena, &first), PROVISIONING_NEW);
    assert_int_equal(begin_customer(other, arena, &second), PROVISIONING_BUSY);
    assert_int_equal(begin_customer(other, arena, &third), PROVISIONING_NEW);
    provisioning_end(other, arena, &third.user);
    assert_true(activate(one, arena, &first.user, USER_AWAITING_FIRST_LOGIN));
    provisioning_end(one, arena, &first.user);
    assert_int_equal(begin_customer(other, arena, &second), PROVISIONING_TAKEN);
    database_free(&one);
    database_free(&other);
}

static void an_abort_removes_what_is_half_done_and_nothing_else(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct request customer = a_customer(arena, "abort@example.com");
    assert_int_equal(begin_customer(database, arena, &customer), PROVISIONING_NEW);
    expect_ok(provisioning_abort(database, arena, &customer.user));
    provisioning_end(database, arena, &customer.user);
    assert_null(states(database, arena, &customer));
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM organisation WHERE id = %s",
                                 sql_id(arena, customer.organisation.id)),
                     0);

    /* A member: the organisation stays. */
    struct id organisation = given_organisation(database, arena);
    struct request member = a_member(arena, "abort2@example.com", organisation);
    assert_int_equal(begin_member(database, arena, &member), PROVISIONING_NEW);
    expect_ok(provisioning_abort(database, arena, &member.user));
    provisioning_end(database, arena, &member.user);
    assert_null(states(database, arena, &member));
    struct organisation *found;
    expect_ok(organisation_find(database, arena, organisation, &found));
    assert_non_null(found);

    /* A finished one: nothing happens. */
    struct user *user = given_user(database, arena, organisation, "owner", NULL);
    expect_ok(provisioning_abort(database, arena, user));
    struct user *kept;
    expect_ok(user_find(database, arena, organisation, user->id, &kept));
    assert_non_null(kept);
    assert_int_equal(kept->roles.count, 1);
    database_free(&database);
}

static void what_was_left_long_ago_can_be_claimed_by_one(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *one = support_database_new();
    struct database *other = support_database_new();
    support_database_clear();
    struct request old = a_customer(arena, "old@example.com");
    struct request fresh = a_customer(arena, "fresh@example.com");
    assert_int_equal(begin_customer(one, arena, &old), PROVISIONING_NEW);
    provisioning_end(one, arena, &old.user);
    assert_int_equal(begin_customer(one, arena, &fresh), PROVISIONING_NEW);
    provisioning_end(one, arena, &fresh.user);
    (void)given_user(one, arena, given_organisation(one, arena), "owner", NULL);
    sql(one, arena, "UPDATE user SET updated_at = updated_at - INTERVAL 90 SECOND WHERE email <> 'fresh@example.com'");
    struct user *users;
    size_t count;
    expect_ok(provisioning_stale(one, arena, 60, 10, &users, &count));
    assert_int_equal(count, 1);
    assert_true(id_equal(users[0].id, old.user.id));
    assert_string_equal(users[0].email, "old@example.com");

    bool held;
    expect_ok(provisioning_claim(one, arena, &users[0], &held));
    assert_true(held);
    expect_ok(provisioning_claim(other, arena, &users[0], &held));
    assert_false(held);
    assert_true(activate(one, arena, &users[0], USER_AWAITING_FIRST_LOGIN));
    provisioning_end(one, arena, &users[0]);
    expect_ok(provisioning_claim(other, arena, &users[0], &held)); /* done meanwhile */
    assert_false(held);
    /* And the lock was given back at once. */
    struct request again = a_customer(arena, "old@example.com");
    assert_int_equal(begin_customer(one, arena, &again), PROVISIONING_TAKEN);
    database_free(&one);
    database_free(&other);
}

/* The whole flow but for the provider. 0: made the account; 1: was told that it exists. */
static int create_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    struct request request = a_customer(arena, context);
    enum provisioning_outcome outcome;
    struct activation activation = {&request.user, USER_AWAITING_FIRST_LOGIN, false};
    if (provisioning_begin(database, arena, &request.organisation, &request.user, NULL, &outcome) != NULL)
        return 3;
    if (outcome == PROVISIONING_TAKEN || outcome == PROVISIONING_BUSY)
        return 1;
    if (database_transaction(database, arena, activate_body, &activation, NULL) != NULL)
        return 4;
    provisioning_end(database, arena, &request.user);
    return activation.won ? 0 : 1;
}

/* Members of one organisation, each of another address, of which seven may be made. 0: made; 1: told to wait. */
static int limited_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    const struct id *organisation = context;
    struct provisioning_limit limit = {.key = throttle_of_members(*organisation), .most = 7};
    struct request request = a_member(arena, arena_format(arena, "limited%u@example.com", index), *organisation);
    enum provisioning_outcome outcome;
    if (provisioning_begin(database, arena, NULL, &request.user, &limit, &outcome) != NULL)
        return 3;
    if (outcome == PROVISIONING_LIMITED)
        return limit.wait > 3500 && limit.wait <= 3600 ? 1 : 4;
    provisioning_end(database, arena, &request.user);
    return outcome == PROVISIONING_NEW ? 0 : 5;
}

static void no_number_of_requests_at_once_makes_more_than_may_be(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct id organisation = given_organisation(database, arena);
    int results[RACERS_MAX];
    race(30, limited_racer, &organisation, results);
    assert_int_equal(race_count(results, 30, 0), 7);
    assert_int_equal(race_count(results, 30, 1), 23);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM user"), 7);

    /* What is taken or resumed is not counted, and another organisation has a number of its own. */
    struct provisioning_limit limit = {.key = throttle_of_members(organisation), .most = 7};
    enum provisioning_outcome outcome;
    const char *made = sql_text(database, arena, "SELECT MIN(email) FROM user");
    struct request again = a_member(arena, made, organisation);
    expect_ok(provisioning_begin(database, arena, NULL, &again.user, &limit, &outcome));
    assert_int_equal(outcome, PROVISIONING_RESUMED);
    assert_true(activate(database, arena, &again.user, USER_AWAITING_CONFIRMATION));
    provisioning_end(database, arena, &again.user);
    again = a_member(arena, made, organisation);
    expect_ok(provisioning_begin(database, arena, NULL, &again.user, &limit, &outcome));
    assert_int_equal(outcome, PROVISIONING_TAKEN);
    struct id other = given_organisation(database, arena);
    struct request elsewhere = a_member(arena, "elsewhere@example.com", other);
    limit.key = throttle_of_members(other);
    expect_ok(provisioning_begin(database, arena, NULL, &elsewhere.user, &limit, &outcome));
    assert_int_equal(outcome, PROVISIONING_NEW);
    provisioning_end(database, arena, &elsewhere.user);
    database_free(&database);
}

static enum provisioning_outcome try_member(struct database *database, struct arena *arena, const char *email,
                                            struct id organisation, struct provisioning_limit *limit)
{
    struct request request = a_member(arena, email, organisation);
    enum provisioning_outcome outcome;
    expect_ok(provisioning_begin(database, arena, NULL, &request.user, limit, &outcome));
    if (outcome == PROVISIONING_NEW)
        provisioning_end(database, arena, &request.user);
    return outcome;
}

static void only_so_many_addresses_are_told_to_be_taken_elsewhere(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct id here = given_organisation(database, arena);
    struct provisioning_limit none = {.key = throttle_of_members(here), .most = 100};
    struct id there = given_organisation(database, arena);
    struct provisioning_limit limit = {.key = throttle_of_members(there), .most = 2};
    assert_int_equal(try_member(database, arena, "here@example.com", here, &none), PROVISIONING_NEW);
    assert_int_equal(try_member(database, arena, "one@example.com", there, &limit), PROVISIONING_NEW);
    assert_int_equal(try_member(database, arena, "here@example.com", there, &limit), PROVISIONING_TAKEN);
    assert_int_equal(try_member(database, arena, "here@example.com", there, &limit), PROVISIONING_TAKEN);
    /* Now a free address and a taken one are answered alike, although another account might be made. */
    assert_int_equal(try_member(database, arena, "here@example.com", there, &limit), PROVISIONING_LIMITED);
    assert_in_range(limit.wait, 3500, 3600);
    assert_int_equal(try_member(database, arena, "two@example.com", there, &limit), PROVISIONING_LIMITED);
    assert_in_range(limit.wait, 3500, 3600);
    /* What was refused has taken no account away; and once these are used up, nothing is told either. */
    sql(database, arena, "DELETE FROM throttle");
    assert_int_equal(try_member(database, arena, "two@example.com", there, &limit), PROVISIONING_NEW);
    assert_int_equal(try_member(database, arena, "here@example.com", there, &limit), PROVISIONING_TAKEN);
    assert_int_equal(try_member(database, arena, "three@example.com", there, &limit), PROVISIONING_NEW);
    assert_int_equal(try_member(database, arena, "four@example.com", there, &limit), PROVISIONING_LIMITED);
    assert_int_equal(try_member(database, arena, "here@example.com", there, &limit), PROVISIONING_LIMITED);
    database_free(&database);
}

static void of_those_who_create_one_customer_at_once_one_wins(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    for (unsigned round = 0; round < 15; round++) {
        char email[40];
        int results[RACERS_MAX];
        (void)snprintf(email, sizeof email, "racer%u@example.com", round);
        race(4, create_racer, email, results);
        assert_int_equal(race_count(results, 4, 0), 1);
        assert_int_equal(race_count(results, 4, 1), 3);
    }
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM organisation"), 15);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM user WHERE status = 'awaiting-first-login'"),
                     15);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_customer_is_made_in_two_steps),
    HARNESS_TEST(a_user_active_from_the_start_is_verified),
    HARNESS_TEST(what_a_crash_left_is_resumed_with_the_new_values),
    HARNESS_TEST(an_address_in_use_is_taken),
    HARNESS_TEST(what_is_left_of_another_kind_is_taken),
    HARNESS_TEST(two_requests_for_one_address_do_not_mix),
    HARNESS_TEST(an_abort_removes_what_is_half_done_and_nothing_else),
    HARNESS_TEST(what_was_left_long_ago_can_be_claimed_by_one),
    HARNESS_TEST(of_those_who_create_one_customer_at_once_one_wins),
    HARNESS_TEST(no_number_of_requests_at_once_makes_more_than_may_be),
    HARNESS_TEST(only_so_many_addresses_are_told_to_be_taken_elsewhere),
};
HARNESS_MODULE(provisioning, cases)
