/* SPDX-License-Identifier: MIT */
/* Users: their rows, lists, roles and states. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/organisation.h"
#include "domain/account/user.h"
#include "domain/support.h"
#include "support_database.h"

/* A user to insert, of the organisation, with the address. */
static struct user a_user(struct arena *arena, struct id organisation, const char *email)
{
    return (struct user){
        .id = id_new(),
        .organisation_id = organisation,
        .email = email,
        .phone = "+441234567890",
        .first_name = "Zoë",
        .last_name = "O'Brien \"Ω\"",
        .roles = TEXTS(arena, "owner", "log-manage", "inv-manage"),
        .permissions = TEXTS(arena, "cus:file:r", "inv:*:w"),
        .status = USER_ACTIVE,
    };
}

struct insertion {
    const struct user *user;
    bool duplicate;
};

static struct error *insert_body(struct database *database, struct arena *arena, void *context)
{
    struct insertion *insertion = context;
    return user_insert(database, arena, insertion->user, &insertion->duplicate);
}

static bool insert(struct database *database, struct arena *arena, const struct user *user)
{
    struct insertion insertion = {user, false};
    expect_ok(database_transaction(database, arena, insert_body, &insertion, NULL));
    return insertion.duplicate;
}

static void what_is_inserted_is_found(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user user = a_user(arena, organisation, "Zoe.OBrien@Example.COM");
    user.email_verified = true;
    user.provider_subject = "subject-1";
    assert_false(insert(database, arena, &user));

    struct user *found;
    expect_ok(user_find(database, arena, organisation, user.id, &found));
    assert_non_null(found);
    assert_true(id_equal(found->id, user.id));
    assert_true(id_equal(found->organisation_id, organisation));
    assert_string_equal(found->email, "zoe.obrien@example.com");
    assert_string_equal(found->phone, user.phone);
    assert_string_equal(found->first_name, user.first_name);
    assert_string_equal(found->last_name, user.last_name);
    assert_string_equal(text_list_join(arena, &found->roles, ","), "owner,log-manage,inv-manage");
    assert_string_equal(text_list_join(arena, &found->permissions, ","), "cus:file:r,inv:*:w");
    assert_int_equal(found->status, USER_ACTIVE);
    assert_true(found->email_verified);
    assert_false(found->phone_verified);
    assert_string_equal(found->provider_subject, "subject-1");
    assert_int_equal(strlen(found->created_at), 24);
    assert_int_equal(found->created_at[23], 'Z');

    struct user plain = a_user(arena, organisation, "plain@example.com");
    plain.phone = NULL;
    plain.roles = TEXTS(arena, "owner", "inv-manage", "owner");
    plain.permissions = NO_TEXTS;
    assert_false(insert(database, arena, &plain));
    expect_ok(user_find(database, arena, organisation, plain.id, &found));
    assert_null(found->phone);
    assert_string_equal(text_list_join(arena, &found->roles, ","), "owner,inv-manage");
    assert_int_equal(found->permissions.count, 0);
    assert_null(found->provider_subject);
    database_free(&database);
}

static void an_address_is_one_in_any_case(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct id organisation = given_organisation(database, arena);
    struct user user = a_user(arena, organisation, "Case@Example.com");
    assert_false(insert(database, arena, &user));
    static const char *const same[] = {"case@example.com", "CASE@EXAMPLE.COM", "cAsE@eXaMpLe.CoM"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct user *found;
        expect_ok(user_find_by_username(database, arena, same[i], &found));
        assert_non_null(found);
        assert_true(id_equal(found->id, user.id));
        struct user again = a_user(arena, organisation, same[i]);
        assert_true(insert(database, arena, &again));
        expect_ok(user_find(database, arena, organisation, again.id, &found));
        assert_null(found);
    }
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM user_role"), 3);
    database_free(&database);
}

static void an_address_is_no_other_spelling(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user user = a_user(arena, organisation, "ringo.s@example.com");
    assert_false(insert(database, arena, &user));
    static const char *const others[] = {
        "ringo.s@example.com ",
        " ringo.s@example.com",
        "ringo.s@example.com\t",
        "ringo.s@example.com.",
        "ringos@example.com",
        "ringo.s+x@example.com",
        "r\xc4\xb1ngo.s@example.com", /* dotless i */
        "r\xc4\xb0ngo.s@example.com", /* capital i with a dot */
        "r\xc3\xadngo.s@example.com", /* i with acute */
        "r\xd1\x96ngo.s@example.com", /* Cyrillic i */
        ("ringo.s@example.\xe2\x80\x8b"
         "com"),                       /* zero-width blank */
        "ringo.s@example.co\xcc\x81m", /* combining accent */
        "",
        "%",
        "ringo.s@example.co_",
        "' OR '1'='1",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct user *found;
        expect_ok(user_find_by_username(database, arena, others[i], &found));
        if (found != NULL)
            fail_msg("'%s' was taken for ringo.s@example.com", others[i]);
        struct user other = a_user(arena, organisation, others[i]);
        assert_false(insert(database, arena, &other));
    }
    database_free(&database);
}

static void an_address_is_one_in_every_spelling(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user user = a_user(arena, organisation, "Élan@Bücher.example");
    assert_false(insert(database, arena, &user));
    static const char *const same[] = {"élan@bücher.example", "ÉLAN@BÜCHER.EXAMPLE",
                                       ("e\xcc\x81lan@bu\xcc\x88"
                                        "cher.example"),
                                       "élan@xn--bcher-kva.example", "ｅ\xcc\x81lan＠bücher．example"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct user *found;
        expect_ok(user_find_by_username(database, arena, same[i], &found));
        if (found == NULL)
            fail_msg("%s is nobody", same[i]);
        assert_true(id_equal(found->id, user.id));
        assert_string_equal(found->email, "Élan@bücher.example");
        struct user again = a_user(arena, organisation, same[i]);
        assert_true(insert(database, arena, &again));
    }
    database_free(&database);
}

static void an_account_that_is_being_made_is_nobody(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    struct id organisation = given_organisation(database, arena);
    struct user user = a_user(arena, organisation, "élan@example.com");
    struct user *found;
    assert_false(insert(database, arena, &user));
    static const char *const same[] = {"ÉLAN@example.com", "élan@example.com"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        expect_ok(user_find_by_username(database, arena, same[i], &found));
        if (found == NULL)
            fail_msg("%s is nobody", same[i]);
        assert_true(id_equal(found->id, user.id));
    }
    sql(database, arena, "UPDATE user SET status = 'provisioning'");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        expect_ok(user_find_by_username(database, arena, same[i], &found));
        assert_null(found);
    }
    database_free(&database);
}

static void an_id_is_compared_exactly(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user *user = given_user(database, arena, organisation, "owner", NULL);
    const char *text = id_text(arena, user->id);
    struct user *found;
    expect_ok(user_find_by_username(database, arena, text, &found));
    assert_non_null(found);
    assert_true(id_equal(found->id, user->id));

    char *upper = arena_text(arena, text);
    for (char *at = upper; *at != '\0'; at++)
        if (*at >= 'a' && *at <= 'f')
            *at = (char)(*at - 'a' + 'A');
    char hex[ID_HEX_BYTES];
    id_hex(user->id, hex);
    const char *variants[] = {
        upper,
        arena_format(arena, "%s ", text),
        arena_format(arena, " %s", text),
        arena_format(arena, "{%s}", text),
        arena_format(arena, "urn:uuid:%s", text),
        arena_format(arena, "%.35s", text),
        arena_format(arena, "%s0", text),
        arena_format(arena, "%.35s\xef\xbc\x90", text),
        hex,
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        if (strcmp(variants[i], text) == 0)
            continue; /* no letter in this id: upper case is the same */
        expect_ok(user_find_by_username(database, arena, variants[i], &found));
        if (found != NULL)
            fail_msg("'%s' was taken for %s", variants[i], text);
    }
    struct id other = user->id;
    other.bytes[15] ^= 1;
    expect_ok(user_find(database, arena, organisation, other, &found));
    assert_null(found);
    database_free(&database);
}

static void one_organisation_does_not_see_anothers_users(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id here = given_organisation(database, arena);
    struct id there = given_organisation(database, arena);
    struct user *user = given_user(database, arena, there, "owner", NULL);
    struct user *found;
    expect_ok(user_find(database, arena, here, user->id, &found));
    assert_null(found);
    expect_ok(user_find(database, arena, there, user->id, &found));
    assert_non_null(found);
    expect_ok(user_find_any(database, arena, user->id, &found));
    assert_true(id_equal(found->organisation_id, there));

    /* Neither can it change them. */
    bool changed = true;
    sql(database, arena, "UPDATE user SET status = 'awaiting-first-login' WHERE id = %s", sql_id(arena, user->id));
    expect_ok(user_activate(database, arena, here, user->id, &changed));
    assert_false(changed);
    assert_string_equal(sql_text(database, arena, "SELECT status FROM user WHERE id = %s", sql_id(arena, user->id)),
                        "awaiting-first-login");
    database_free(&database);
}

static void a_provisioning_user_is_invisible(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user *user = given_user(database, arena, organisation, "owner", NULL);
    sql(database, arena, "UPDATE user SET status = 'provisioning' WHERE id = %s", sql_id(arena, user->id));
    struct user *found;
    expect_ok(user_find_by_username(database, arena, user->email, &found));
    assert_null(found);
    expect_ok(user_find_by_username(database, arena, id_text(arena, user->id), &found));
    assert_null(found);
    expect_ok(user_find(database, arena, organisation, user->id, &found));
    assert_null(found);
    expect_ok(user_find_any(database, arena, user->id, &found));
    assert_null(found);
    enum user_status status;
    assert_false(user_status_parse("provisioning", &status));
    database_free(&database);
}

static void only_a_first_login_activates(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    static const struct {
        const char *status;
        bool changes;
    } rows[] = {{"awaiting-first-login", true},
                {"awaiting-confirmation", false},
                {"active", false},
                {"disabled", false},
                {"provisioning", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct user *user = given_user(database, arena, organisation, "owner", NULL);
        const char *id = sql_id(arena, user->id);
        sql(database, arena, "UPDATE user SET status = '%s', phone = IF(%zu = 0, '+4412345678', NULL) WHERE id = %s",
            rows[i].status, i, id);
        bool changed;
        expect_ok(user_activate(database, arena, organisation, user->id, &changed));
        assert_int_equal(changed, rows[i].changes);
        const char *expected = rows[i].changes ? "active 1 1" : arena_format(arena, "%s 0 0", rows[i].status);
        assert_string_equal(sql_text(database, arena,
                                     "SELECT CONCAT(status, ' ', email_verified, ' ', phone_verified) FROM user"
                                     " WHERE id = %s",
                                     id),
                            expected);
        expect_ok(user_activate(database, arena, organisation, user->id, &changed));
        assert_false(changed);
    }
    /* Without a phone number there is none to verify. */
    struct user *user = given_user(database, arena, organisation, "owner", NULL);
    sql(database, arena, "UPDATE user SET status = 'awaiting-first-login' WHERE id = %s", sql_id(arena, user->id));
    expect_ok(user_activate(database, arena, organisation, user->id, NULL));
    assert_int_equal(
        sql_integer(database, arena, "SELECT phone_verified FROM user WHERE id = %s", sql_id(arena, user->id)), 0);
    database_free(&database);
}

struct replacement {
    struct id organisation;
    struct id id;
    struct text_list roles;
};

static struct error *replace(struct database *database, struct arena *arena, void *context)
{
    const struct replacement *replacement = context;
    return user_roles_set(database, arena, replacement->organisation, replacement->id, &replacement->roles);
}

static void roles_are_replaced_within_the_organisation_only(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id here = given_organisation(database, arena);
    struct id there = given_organisation(database, arena);
    struct user *user = given_user(database, arena, here, "owner", NULL);
    struct user *found;
    struct replacement foreign = {there, user->id, TEXTS(arena, "admin")};
    expect_ok(database_transaction(database, arena, replace, &foreign, NULL));
    expect_ok(user_find(database, arena, here, user->id, &found));
    assert_string_equal(text_list_join(arena, &found->roles, ","), "owner");

    struct replacement own = {here, user->id, TEXTS(arena, "log-manage", "inv-manage")};
    expect_ok(database_transaction(database, arena, replace, &own, NULL));
    expect_ok(user_find(database, arena, here, user->id, &found));
    assert_string_equal(text_list_join(arena, &found->roles, ","), "log-manage,inv-manage");
    database_free(&database);
}

static int insert_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    const struct user *shared = context;
    struct user user = *shared;
    user.id = id_new();
    if (index % 2 == 1)
        user.email = "RACE@example.com";
    struct insertion insertion = {&user, false};
    if (database_transaction(database, arena, insert_body, &insertion, NULL) != NULL)
        return 2;
    return insertion.duplicate ? 1 : 0;
}

static void of_those_who_take_one_address_at_once_one_gets_it(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = given_organisation(database, arena);
    struct user user = a_user(arena, organisation, "race@example.com");
    for (unsigned round = 0; round < 10; round++) {
        int results[RACERS_MAX];
        race(4, insert_racer, &user, results);
        assert_int_equal(race_count(results, 4, 0), 1);
        assert_int_equal(race_count(results, 4, 1), 3);
        assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM user WHERE email = 'race@example.com'"), 1);
        sql(database, arena,
            "DELETE r FROM user_role r JOIN user u ON u.id = r.user_id WHERE u.email = 'race@example.com'");
        sql(database, arena, "DELETE FROM user WHERE email = 'race@example.com'");
    }
    database_free(&database);
}

static void statuses_have_the_interfaces_words(void **state)
{
    (void)state;
    static const char *const words[] = {"awaiting-first-login", "awaiting-confirmation", "active", "disabled"};
    for (size_t i = 0; i < 4; i++) {
        enum user_status status;
        assert_true(user_status_parse(words[i], &status));
        assert_string_equal(user_status_text(status), words[i]);
    }
    enum user_status untouched = USER_DISABLED;
    static const char *const wrong[] = {"", "Active", "active ", "archived"};
    for (size_t i = 0; i < 4; i++)
        assert_false(user_status_parse(wrong[i], &untouched));
    assert_int_equal(untouched, USER_DISABLED);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_is_inserted_is_found),
    HARNESS_TEST(an_address_is_one_in_any_case),
    HARNESS_TEST(an_address_is_no_other_spelling),
    HARNESS_TEST(an_address_is_one_in_every_spelling),
    HARNESS_TEST(an_account_that_is_being_made_is_nobody),
    HARNESS_TEST(an_id_is_compared_exactly),
    HARNESS_TEST(one_organisation_does_not_see_anothers_users),
    HARNESS_TEST(a_provisioning_user_is_invisible),
    HARNESS_TEST(only_a_first_login_activates),
    HARNESS_TEST(roles_are_replaced_within_the_organisation_only),
    HARNESS_TEST(of_those_who_take_one_address_at_once_one_gets_it),
    HARNESS_TEST(statuses_have_the_interfaces_words),
};
HARNESS_MODULE(user, cases)
