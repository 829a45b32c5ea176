/* SPDX-License-Identifier: MIT */
/* The list of users: pages that neither skip nor repeat, and a search that means what was typed. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/throttle.h"
#include "domain/support.h"
#include "support_database.h"

static struct id given_named(struct database *database, struct arena *arena, struct id organisation, const char *first,
                             const char *last)
{
    struct user *user = given_user(database, arena, organisation, "owner", NULL);
    sql(database, arena, "UPDATE user SET first_name = '%s', last_name = '%s' WHERE id = %s", first, last,
        sql_id(arena, user->id));
    return user->id;
}

static struct user_page list(struct database *database, struct arena *arena, const struct user_filter *filter)
{
    struct user_page page;
    expect_ok(user_list(database, arena, filter, &page));
    return page;
}

/* The first names found, in order, separated by commas. */
static const char *found(struct database *database, struct arena *arena, struct id organisation, const char *search)
{
    struct user_filter filter = {.organisation_id = organisation, .any_status = true, .search = search, .limit = 100};
    struct user_page page = list(database, arena, &filter);
    struct buffer names;
    buffer_init(&names, arena);
    buffer_add_text(&names, "");
    for (size_t i = 0; i < page.count; i++)
        buffer_add_format(&names, "%s%s", i == 0 ? "" : ",", page.items[i].first_name);
    assert_false(page.more);
    return names.length == 0 ? "" : names.bytes;
}

static void pages_are_stable_while_users_come_and_go(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct id ids[7];
    for (size_t i = 0; i < 7; i++)
        ids[i] = given_user(database, arena, organisation, NULL, NULL)->id;
    struct user_filter filter = {.organisation_id = organisation, .any_status = true, .limit = 3};
    struct user_page page = list(database, arena, &filter);
    assert_int_equal(page.count, 3);
    assert_true(page.more);
    for (size_t i = 0; i < 3; i++)
        assert_true(id_equal(page.items[i].id, ids[i]));
    /* Whom the first page showed goes, the cursor's own user as well; somebody new comes at the end. */
    sql(database, arena, "DELETE FROM user WHERE id IN (%s, %s)", sql_id(arena, ids[0]), sql_id(arena, ids[2]));
    struct id newest = given_user(database, arena, organisation, NULL, NULL)->id;
    filter.after = page.items[2].id;
    page = list(database, arena, &filter);
    assert_int_equal(page.count, 3);
    assert_true(page.more);
    for (size_t i = 0; i < 3; i++)
        assert_true(id_equal(page.items[i].id, ids[3 + i]));
    filter.after = page.items[2].id;
    page = list(database, arena, &filter);
    assert_int_equal(page.count, 2);
    assert_false(page.more);
    assert_true(id_equal(page.items[0].id, ids[6]));
    assert_true(id_equal(page.items[1].id, newest));
    filter.after = newest;
    page = list(database, arena, &filter);
    assert_int_equal(page.count, 0);
    assert_false(page.more);
    /* A page that ends with the last one says so. */
    filter.after = ids[3];
    filter.limit = 4;
    page = list(database, arena, &filter);
    assert_int_equal(page.count, 4);
    assert_false(page.more);
    database_free(&database);
}

static void one_organisation_and_no_half_made_ones(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id ours = given_organisation(database, arena);
    struct id theirs = given_organisation(database, arena);
    (void)given_named(database, arena, ours, "Here", "One");
    (void)given_named(database, arena, theirs, "There", "One");
    struct id half = given_named(database, arena, ours, "Half", "One");
    sql(database, arena, "UPDATE user SET status = 'provisioning' WHERE id = %s", sql_id(arena, half));
    assert_string_equal(found(database, arena, ours, NULL), "Here");
    assert_string_equal(found(database, arena, theirs, "one"), "There");
    assert_string_equal(found(database, arena, id_new(), NULL), "");
    database_free(&database);
}

static void status_filter(void **state)
{
    static const enum user_status all[] = {USER_AWAITING_FIRST_LOGIN, USER_AWAITING_CONFIRMATION, USER_ACTIVE,
                                           USER_DISABLED};
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    for (size_t i = 0; i < 4; i++)
        sql(database, arena, "UPDATE user SET status = '%s' WHERE id = %s", user_status_text(all[i]),
            sql_id(arena, given_named(database, arena, organisation, user_status_text(all[i]), "X")));
    for (size_t i = 0; i < 4; i++) {
        struct user_filter filter = {.organisation_id = organisation, .status = all[i], .limit = 10};
        struct user_page page = list(database, arena, &filter);
        assert_int_equal(page.count, 1);
        assert_int_equal(page.items[0].status, all[i]);
        assert_string_equal(page.items[0].first_name, user_status_text(all[i]));
        filter.search = "awaiting";
        assert_int_equal(list(database, arena, &filter).count, i < 2 ? 1 : 0);
    }
    database_free(&database);
}

static void wild_cards_are_plain(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    (void)given_named(database, arena, organisation, "100%", "Sure");
    (void)given_named(database, arena, organisation, "1000", "Sure");
    (void)given_named(database, arena, organisation, "a_b", "Under");
    (void)given_named(database, arena, organisation, "axb", "Under");
    (void)given_named(database, arena, organisation, "back\\\\slash", "Under");
    (void)given_named(database, arena, organisation, "O\\'Neill", "Under");
    assert_string_equal(found(database, arena, organisation, "%"), "100%");
    assert_string_equal(found(database, arena, organisation, "0%"), "100%");
    assert_string_equal(found(database, arena, organisation, "_"), "a_b");
    assert_string_equal(found(database, arena, organisation, "a_b"), "a_b");
    assert_string_equal(found(database, arena, organisation, "\\"), "back\\slash");
    assert_string_equal(found(database, arena, organisation, "\\%"), "");
    assert_string_equal(found(database, arena, organisation, "o'n"), "O'Neill");
    assert_string_equal(found(database, arena, organisation, "' OR '1'='1"), "");
    database_free(&database);
}

static void search_is_blind_to_case_in_every_script(void **state)
{
    static const char *const table[][2] = {
        {"\xc3\xa5sa", "\xc3\x85sa"},          /* å finds Åsa */
        {"\xc3\x85SA \xc3\x96", "\xc3\x85sa"}, /* over both names */
        {"\xc3\xb6"
         "berg",
         "\xc3\x85sa"}, /* ö finds Öberg */
        {"oberg", ""},  /* letters, not look-alikes */
        {"asa", ""},
        {"\xd0\x90\xd0\x9d\xd0\x9d\xd0\x90", "\xd0\x90\xd0\xbd\xd0\xbd\xd0\xb0"}, /* АННА finds Анна */
        {"\xd0\xb0\xd0\xbd", "\xd0\x90\xd0\xbd\xd0\xbd\xd0\xb0"},
        {"\xce\xba\xcf\x8e", "\xce\x9a\xcf\x8e\xcf\x83\xcf\x84\xce\xb1"}, /* κώ finds Κώστα */
        {"\xe5\xbc\xa0", "\xe5\xbc\xa0"},
        {"\xf0\x9f\x98\x80", "\xe5\xbc\xa0"}, /* beyond the BMP */
        {"\xf0\x9f\x98\x81", ""},
    };
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    (void)given_named(database, arena, organisation, "\xc3\x85sa",
                      "\xc3\x96"
                      "berg");
    (void)given_named(database, arena, organisation, "\xd0\x90\xd0\xbd\xd0\xbd\xd0\xb0", "X");
    (void)given_named(database, arena, organisation, "\xce\x9a\xcf\x8e\xcf\x83\xcf\x84\xce\xb1", "X");
    (void)given_named(database, arena, organisation, "\xe5\xbc\xa0", "\xf0\x9f\x98\x80");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(found(database, arena, organisation, table[i][0]), table[i][1]) != 0)
            fail_msg("%s finds %s", table[i][0], found(database, arena, organisation, table[i][0]));
    database_free(&database);
}

static void search_sees_names_and_address(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct id ann = given_named(database, arena, organisation, "Ann", "Smith");
    (void)given_named(database, arena, organisation, "Bob", "Jones");
    sql(database, arena, "UPDATE user SET email = 'Post.Office+box@quarry.example' WHERE id = %s", sql_id(arena, ann));
    sql(database, arena, "UPDATE user SET email = LOWER(email), email_key = LOWER(email) WHERE organisation_id = %s",
        sql_id(arena, organisation));
    assert_string_equal(found(database, arena, organisation, "POST.office+BOX@Quarry"), "Ann");
    assert_string_equal(found(database, arena, organisation, "nn sm"), "Ann");
    assert_string_equal(found(database, arena, organisation, "smith ann"), "");
    assert_string_equal(found(database, arena, organisation, "example.com"), "Bob");
    assert_string_equal(found(database, arena, organisation, "o"), "Ann,Bob");
    database_free(&database);
}

/* Pages of a search go on behind the cursor within the search. */
static void search_goes_on_behind_the_cursor(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct id hits[4];
    for (size_t i = 0; i < 4; i++) {
        hits[i] = given_named(database, arena, organisation, "Hit", "X");
        (void)given_named(database, arena, organisation, "Other", "X");
    }
    struct user_filter filter = {.organisation_id = organisation, .any_status = true, .search = "hit", .limit = 1};
    for (size_t i = 0; i < 4; i++) {
        struct user_page page = list(database, arena, &filter);
        assert_int_equal(page.count, 1);
        assert_true(id_equal(page.items[0].id, hits[i]));
        assert_int_equal(page.more, i < 3);
        filter.after = hits[i];
    }
    database_free(&database);
}

static void items_are_whole_users(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user *user = given_user(database, arena, organisation, "owner", "cus:file:r inv:*:w");
    sql(database, arena, "INSERT INTO user_role (user_id, role_id, position) VALUES (%s, 'inv-manage', 1)",
        sql_id(arena, user->id));
    (void)given_user(database, arena, organisation, NULL, NULL);
    struct user_filter filter = {.organisation_id = organisation, .any_status = true, .limit = 10};
    struct user_page page = list(database, arena, &filter);
    assert_int_equal(page.count, 2);
    assert_string_equal(page.items[0].email, user->email);
    assert_string_equal(text_list_join(arena, &page.items[0].roles, ","), "owner,inv-manage");
    assert_string_equal(text_list_join(arena, &page.items[0].permissions, ","), "cus:file:r,inv:*:w");
    assert_int_equal(page.items[1].roles.count, 0);
    assert_int_equal(page.items[1].permissions.count, 0);
    database_free(&database);
}

static void each_goes_over_every_organisation_once(void **state)
{
    struct arena *arena = harness_arena(state);
    support_database_clear();
    struct database *database = support_database_new();
    struct id half = {{0}};
    for (int i = 0; i < 5; i++)
        half = given_user(database, arena, given_organisation(database, arena), "owner", NULL)->id;
    sql(database, arena, "UPDATE user SET status = 'provisioning' WHERE id = %s", sql_id(arena, half));
    struct id after = {{0}};
    struct user_page page;
    size_t seen = 0;
    do {
        expect_ok(user_each(database, arena, after, 3, &page));
        for (size_t i = 0; i < page.count; i++) {
            assert_true(memcmp(page.items[i].id.bytes, after.bytes, ID_BYTES) > 0);
            assert_string_equal(text_list_join(arena, &page.items[i].roles, ","), "owner");
            after = page.items[i].id;
            seen++;
        }
    } while (page.more);
    assert_int_equal(seen, 4);
    database_free(&database);
}

/* The statement works out the throttle's key itself: it must be the one under which failures are counted. */
static void a_wait_is_found_under_the_throttles_own_key(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct id waiting = given_user(database, arena, organisation, NULL, NULL)->id;
    (void)given_user(database, arena, organisation, NULL, NULL);
    struct throttle_key key = throttle_of_user(waiting);
    unsigned wait;
    for (int i = 0; i < THROTTLE_ACCOUNT_FREE + 5; i++) {
        expect_ok(throttle_fail(database, arena, &key, &wait));
        sql(database, arena,
            "UPDATE throttle SET locked_until = locked_until + INTERVAL IF(failures < %d, -60, 60) SECOND",
            THROTTLE_ACCOUNT_FREE + 5);
    }
    struct user_filter filter = {.organisation_id = organisation, .any_status = true, .limit = 3};
    struct user_page page = list(database, arena, &filter);
    assert_int_equal(page.count, 2);
    assert_true(id_equal(page.items[0].id, waiting));
    assert_non_null(page.items[0].locked_until);
    assert_null(page.items[1].locked_until);
    struct user *found;
    expect_ok(user_find(database, arena, organisation, waiting, &found));
    assert_string_equal(found->locked_until, page.items[0].locked_until);
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_wait_is_found_under_the_throttles_own_key),
    HARNESS_TEST(pages_are_stable_while_users_come_and_go),
    HARNESS_TEST(one_organisation_and_no_half_made_ones),
    HARNESS_TEST(status_filter),
    HARNESS_TEST(wild_cards_are_plain),
    HARNESS_TEST(search_is_blind_to_case_in_every_script),
    HARNESS_TEST(search_sees_names_and_address),
    HARNESS_TEST(search_goes_on_behind_the_cursor),
    HARNESS_TEST(items_are_whole_users),
    HARNESS_TEST(each_goes_over_every_organisation_once),
};
HARNESS_MODULE(user_list, cases)
