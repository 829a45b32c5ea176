/* SPDX-License-Identifier: MIT */
/* Comparison keys of stored addresses, computed while workers run. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/address_keys.h"
#include "domain/account/user.h"
#include "domain/support.h"
#include "support_database.h"

/* A row that was added by hand, without a key. */
static struct id given_old(struct database *database, struct arena *arena, struct id organisation, const char *email)
{
    struct id id = id_new();
    sql(database, arena,
        "INSERT INTO user (id, organisation_id, email, first_name, last_name, status) VALUES (%s, %s, '%s', 'A',"
        " 'B', 'active')",
        sql_id(arena, id), sql_id(arena, organisation), email);
    return id;
}

static const char *key_of(struct database *database, struct arena *arena, struct id id)
{
    return sql_text(database, arena, "SELECT email_key FROM user WHERE id = %s", sql_id(arena, id));
}

static void keys_of_old_rows_are_worked_out_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct id organisation = given_organisation(database, arena);
    struct id plain = given_old(database, arena, organisation, "ann@example.org");
    struct id foreign = given_old(database, arena, organisation, "ÉlÀn@example.org");
    struct id unseen = given_old(database, arena, organisation, "ann\xe3\x85\xa4@example.org");
    struct user *found;
    expect_ok(user_find_by_username(database, arena, "ÉlÀn@example.org", &found));
    assert_null(found);
    size_t count;
    expect_ok(address_keys_unfilled(database, arena, &count));
    assert_int_equal(count, 1);
    expect_ok(address_keys_fill(database, arena, &count));
    assert_int_equal(count, 1);
    expect_ok(address_keys_unfilled(database, arena, &count));
    assert_int_equal(count, 0);
    assert_string_equal(key_of(database, arena, plain), "ann@example.org");
    assert_string_equal(key_of(database, arena, foreign), "élàn@example.org");
    assert_string_equal(key_of(database, arena, unseen), "ann\xe3\x85\xa4@example.org");
    static const char *const spellings[] = {"ÉlÀn@example.org", "élàn@example.org", "ÉLÀN@EXAMPLE.ORG"};
    for (size_t i = 0; i < 3; i++) {
        expect_ok(user_find_by_username(database, arena, spellings[i], &found));
        assert_non_null(found);
        assert_true(id_equal(found->id, foreign));
    }
    expect_ok(address_keys_fill(database, arena, &count));
    assert_int_equal(count, 0);
    /* Changed by hand. */
    sql(database, arena, "UPDATE user SET email = 'other@example.org' WHERE id = %s", sql_id(arena, foreign));
    expect_ok(address_keys_unfilled(database, arena, &count));
    assert_int_equal(count, 1);
    expect_ok(address_keys_fill(database, arena, &count));
    assert_int_equal(count, 1);
    assert_string_equal(key_of(database, arena, foreign), "other@example.org");
    database_free(&database);
}

static void every_collision_is_named_and_nothing_changes(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct id organisation = given_organisation(database, arena);
    (void)given_old(database, arena, organisation, "alone@example.org");
    (void)given_old(database, arena, organisation, "élan@other.example");
    struct id ids[] = {given_old(database, arena, organisation, "élan@example.org"),
                       given_old(database, arena, organisation, "Élan@example.org"),
                       given_old(database, arena, organisation, "e\xcc\x81lan@example.org"),
                       given_old(database, arena, organisation, "max.mustermann@example.org"),
                       given_old(database, arena, organisation, "ｍax.mustermann@example.org"),
                       given_old(database, arena, organisation, "straße@example.org"),
                       given_old(database, arena, organisation, "strasse@example.org")};
    struct address_holder *holders;
    size_t count;
    expect_ok(address_keys_collisions(database, arena, &holders, &count));
    assert_int_equal(count, 7);
    static const char *const keys[] = {"max.mustermann@example.org", "strasse@example.org", "élan@example.org"};
    static const size_t from[] = {3, 5, 0}, until[] = {5, 7, 3};
    size_t at = 0;
    for (size_t group = 0; group < 3; group++)
        for (size_t i = from[group]; i < until[group]; i++, at++) {
            assert_string_equal(holders[at].key, keys[group]);
            assert_true(id_equal(holders[at].user, ids[i]));
        }
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM user WHERE email_key <> email"), 0);
    /* Solved, one by one. */
    sql(database, arena,
        "UPDATE user SET email = CONCAT(HEX(id), '@example.org'), email_key = email WHERE id IN (%s, %s, %s, %s)",
        sql_id(arena, ids[1]), sql_id(arena, ids[2]), sql_id(arena, ids[4]), sql_id(arena, ids[5]));
    expect_ok(address_keys_collisions(database, arena, &holders, &count));
    assert_int_equal(count, 0);
    database_free(&database);
}

/* Whoever comes first by id is given the address of another, whose key is written later; two swap theirs. */
static void addresses_that_were_passed_on_are_in_nobodys_way(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct id organisation = given_organisation(database, arena);
    static const char *const before[] = {"ann@example.org", "élan@example.org", "bob@example.org", "cid@example.org",
                                         "øre@example.org"};
    static const char *const after[] = {"élan@example.org", "ülan@example.org", "cid@example.org", "bob@example.org",
                                        "ann@example.org"};
    struct id ids[5];
    size_t count;
    for (size_t i = 0; i < 5; i++)
        ids[i] = given_old(database, arena, organisation, before[i]);
    for (size_t i = 0; i < 5; i++)
        sql(database, arena, "UPDATE user SET email = HEX(id) WHERE id = %s", sql_id(arena, ids[i]));
    for (size_t i = 0; i < 5; i++)
        sql(database, arena, "UPDATE user SET email = '%s' WHERE id = %s", after[i], sql_id(arena, ids[i]));
    expect_ok(address_keys_fill(database, arena, &count));
    assert_int_equal(count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(key_of(database, arena, ids[i]), after[i]);
    expect_ok(address_keys_unfilled(database, arena, &count));
    assert_int_equal(count, 0);
    database_free(&database);
}

static void a_collision_that_came_meanwhile_stops_the_filling(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct id organisation = given_organisation(database, arena);
    (void)given_old(database, arena, organisation, "élan@example.org");
    struct id second = given_old(database, arena, organisation, "ÉLAN@example.org");
    size_t count;
    struct error *error = address_keys_fill(database, arena, &count);
    assert_non_null(error);
    assert_non_null(strstr(error->message, id_text(arena, second)));
    assert_string_equal(key_of(database, arena, second), "ÉLAN@example.org");
    database_free(&database);
}

static void a_database_without_users_has_none(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database_options options = support_database_empty("no_users");
    struct database *database = database_new(&options);
    struct address_holder *holders;
    size_t count = 1;
    expect_ok(address_keys_collisions(database, arena, &holders, &count));
    assert_int_equal(count, 0);
    database_free(&database);
}

static void many_are_gone_through_in_pages(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct id organisation = given_organisation(database, arena);
    /* Few at a time: triggers work for each row, and a statement has a bound of time. */
    for (int from = 1; from <= 2000; from += 200)
        sql(database, arena,
            "INSERT INTO user (id, organisation_id, email, first_name, last_name, status)"
            " SELECT UNHEX(LPAD(HEX(seq), 32, '0')), %s, CONCAT('É', seq, '@example.org'), 'A', 'B', 'active' FROM "
            "seq_1_to_2000 WHERE seq BETWEEN %d AND %d",
            sql_id(arena, organisation), from, from + 199);
    size_t count;
    expect_ok(address_keys_fill(database, arena, &count));
    assert_int_equal(count, 2000);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM user WHERE email_key LIKE 'é%%'"), 2000);
    struct address_holder *holders;
    (void)given_old(database, arena, organisation, "é2000@example.org.");
    sql(database, arena, "UPDATE user SET email = 'é1@example.org' WHERE email = 'É2000@example.org'");
    expect_ok(address_keys_collisions(database, arena, &holders, &count));
    assert_int_equal(count, 2);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(keys_of_old_rows_are_worked_out_once),
    HARNESS_TEST(every_collision_is_named_and_nothing_changes),
    HARNESS_TEST(addresses_that_were_passed_on_are_in_nobodys_way),
    HARNESS_TEST(a_collision_that_came_meanwhile_stops_the_filling),
    HARNESS_TEST(a_database_without_users_has_none),
    HARNESS_TEST(many_are_gone_through_in_pages),
};
HARNESS_MODULE(address_keys, cases)
