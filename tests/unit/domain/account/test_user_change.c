/* SPDX-License-Identifier: MIT */
/* Changing users under their row's lock. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/user.h"
#include "domain/support.h"
#include "support_database.h"

/* What a transaction is to find, and what it is to make of it. */
struct work {
    struct id organisation;
    struct id id;
    struct user *user;
};

static struct error *lock_body(struct database *database, struct arena *arena, void *context)
{
    struct work *work = context;
    return user_lock(database, arena, work->organisation, work->id, &work->user);
}

static struct user *locked(struct database *database, struct arena *arena, struct id organisation, struct id id)
{
    struct work work = {.organisation = organisation, .id = id};
    expect_ok(database_transaction(database, arena, lock_body, &work, NULL));
    return work.user;
}

static struct error *update_body(struct database *database, struct arena *arena, void *context)
{
    return user_update(database, arena, context);
}

static void update(struct database *database, struct arena *arena, struct user *user)
{
    expect_ok(database_transaction(database, arena, update_body, user, NULL));
}

static struct user *read_again(struct database *database, struct arena *arena, const struct user *user)
{
    struct user *again = NULL;
    expect_ok(user_find_any(database, arena, user->id, &again));
    assert_non_null(again);
    return again;
}

static void lock_reads_within_one_organisation(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id ours = given_organisation(database, arena);
    struct id theirs = given_organisation(database, arena);
    struct user *user = given_user(database, arena, ours, "owner", "cus:file:r");
    struct user *found = locked(database, arena, ours, user->id);
    assert_non_null(found);
    assert_string_equal(found->email, user->email);
    assert_string_equal(text_list_join(arena, &found->roles, ","), "owner");
    assert_string_equal(text_list_join(arena, &found->permissions, ","), "cus:file:r");
    assert_null(locked(database, arena, theirs, user->id));
    assert_null(locked(database, arena, ours, id_new()));
    sql(database, arena, "UPDATE user SET status = 'provisioning' WHERE id = %s", sql_id(arena, user->id));
    assert_null(locked(database, arena, ours, user->id));
    database_free(&database);
}

static void update_writes_every_member(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user *user = given_user(database, arena, organisation, "owner", "cus:file:r");
    sql(database, arena, "UPDATE user SET updated_at = '2020-01-01', created_at = '2020-01-01' WHERE id = %s",
        sql_id(arena, user->id));
    struct user *changed = locked(database, arena, organisation, user->id);
    changed->first_name = "Zo\xc3\xab";
    changed->last_name = "O'Hara";
    changed->phone = "+4512345678";
    changed->permissions = TEXTS(arena, "inv:*:w", "cus:user:r");
    changed->roles = TEXTS(arena, "log-manage", "owner");
    changed->status = USER_DISABLED;
    changed->email_verified = true;
    changed->phone_verified = true;
    changed->email = "not.written@example.com";
    update(database, arena, changed);
    struct user *again = read_again(database, arena, user);
    assert_string_equal(again->first_name, "Zo\xc3\xab");
    assert_string_equal(again->last_name, "O'Hara");
    assert_string_equal(again->phone, "+4512345678");
    assert_string_equal(text_list_join(arena, &again->permissions, ","), "inv:*:w,cus:user:r");
    assert_string_equal(text_list_join(arena, &again->roles, ","), "log-manage,owner");
    assert_int_equal(again->status, USER_DISABLED);
    assert_true(again->email_verified);
    assert_true(again->phone_verified);
    assert_string_equal(again->email, user->email);
    assert_memory_equal(again->created_at, "2020-01-01T", 11);
    assert_memory_not_equal(again->updated_at, "2020-01-01T", 11);
    again->phone = NULL;
    again->roles = NO_TEXTS;
    again->permissions = NO_TEXTS;
    update(database, arena, again);
    again = read_again(database, arena, user);
    assert_null(again->phone);
    assert_int_equal(again->roles.count, 0);
    assert_int_equal(again->permissions.count, 0);
    database_free(&database);
}

static void update_stays_within_the_organisation(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct user *user = given_user(database, arena, given_organisation(database, arena), "owner", NULL);
    struct user *stranger = given_user(database, arena, given_organisation(database, arena), "owner", NULL);
    struct user forged = *user;
    forged.organisation_id = stranger->organisation_id;
    forged.first_name = "Forged";
    forged.roles = NO_TEXTS;
    update(database, arena, &forged);
    assert_string_equal(read_again(database, arena, user)->first_name, "Ada");
    assert_int_equal(read_again(database, arena, user)->roles.count, 1);
    assert_string_equal(read_again(database, arena, stranger)->first_name, "Ada");
    database_free(&database);
}

/* Each reads a number, and writes one more: without the lock some would overwrite one another. */
static struct error *count_body(struct database *database, struct arena *arena, void *context)
{
    struct work *work = context;
    TRY(user_lock(database, arena, work->organisation, work->id, &work->user));
    work->user->last_name = arena_format(arena, "%ld", strtol(work->user->last_name, NULL, 10) + 1);
    return user_update(database, arena, work->user);
}

static int race_to_count(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    struct work work = *(struct work *)context;
    return database_transaction(database, arena, count_body, &work, NULL) == NULL ? 0 : 99;
}

static void lock_loses_no_update(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user *user = given_user(database, arena, organisation, "owner", NULL);
    struct work work = {.organisation = organisation, .id = user->id};
    int results[RACERS_MAX];
    sql(database, arena, "UPDATE user SET last_name = '0' WHERE id = %s", sql_id(arena, user->id));
    race(16, race_to_count, &work, results);
    assert_int_equal(race_count(results, 16, 0), 16);
    assert_string_equal(read_again(database, arena, user)->last_name, "16");
    assert_int_equal(read_again(database, arena, user)->roles.count, 1);
    database_free(&database);
}

static bool confirm(struct database *database, struct arena *arena, struct id organisation, struct id id)
{
    bool changed = false;
    expect_ok(user_confirm(database, arena, organisation, id, &changed));
    return changed;
}

static void confirming_is_for_who_awaits_it(void **state)
{
    static const char *const others[] = {"provisioning", "awaiting-first-login", "active", "disabled"};
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user *user = given_user(database, arena, organisation, NULL, NULL);
    const char *id = sql_id(arena, user->id);
    for (size_t i = 0; i < 4; i++) {
        sql(database, arena, "UPDATE user SET status = '%s' WHERE id = %s", others[i], id);
        assert_false(confirm(database, arena, organisation, user->id));
        assert_string_equal(sql_text(database, arena, "SELECT status FROM user WHERE id = %s", id), others[i]);
    }
    sql(database, arena, "UPDATE user SET status = 'awaiting-confirmation', phone = '+4512345678' WHERE id = %s", id);
    assert_false(confirm(database, arena, given_organisation(database, arena), user->id));
    assert_true(confirm(database, arena, organisation, user->id));
    assert_false(confirm(database, arena, organisation, user->id));
    struct user *again = read_again(database, arena, user);
    assert_int_equal(again->status, USER_ACTIVE);
    assert_true(again->email_verified);
    assert_false(again->phone_verified);
    expect_ok(user_confirm(database, arena, organisation, user->id, NULL));
    database_free(&database);
}

static int race_to_confirm(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    const struct work *work = context;
    bool changed = false;
    if (user_confirm(database, arena, work->organisation, work->id, &changed) != NULL)
        return 99;
    return changed ? 1 : 0;
}

static void of_many_that_confirm_one_does(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user *user = given_user(database, arena, organisation, NULL, NULL);
    struct work work = {.organisation = organisation, .id = user->id};
    int results[RACERS_MAX];
    sql(database, arena, "UPDATE user SET status = 'awaiting-confirmation' WHERE id = %s", sql_id(arena, user->id));
    race(16, race_to_confirm, &work, results);
    assert_int_equal(race_count(results, 16, 1), 1);
    assert_int_equal(race_count(results, 16, 0), 15);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(lock_reads_within_one_organisation),   HARNESS_TEST(update_writes_every_member),
    HARNESS_TEST(update_stays_within_the_organisation), HARNESS_TEST(lock_loses_no_update),
    HARNESS_TEST(confirming_is_for_who_awaits_it),      HARNESS_TEST(of_many_that_confirm_one_does),
};
HARNESS_MODULE(user_change, cases)
