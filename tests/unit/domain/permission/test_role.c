/* SPDX-License-Identifier: MIT */
/* Roles and organisations. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/organisation.h"
#include "domain/permission/role.h"
#include "domain/support.h"
#include "support_database.h"

static void the_built_in_roles_are_those_of_the_guide(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    static const struct {
        const char *id;
        const char *permissions;
    } expected[] = {{"account-admin", "cus:*:w inv:*:w log:*:w"},
                    {"admin", "*:*:a"},
                    {"inv-manage", "cus:*:w inv:*:w"},
                    {"log-manage", "cus:*:w log:*:w"},
                    {"owner", "rwx:*"}};
    struct role_list roles;
    expect_ok(role_list(database, arena, &roles));
    assert_int_equal(roles.count, 5);
    for (size_t i = 0; i < roles.count; i++) {
        assert_string_equal(roles.items[i].id, expected[i].id);
        assert_string_equal(text_list_join(arena, &roles.items[i].permissions, " "), expected[i].permissions);
        assert_true(strlen(roles.items[i].description) > 10);
        assert_ptr_equal(role_find(&roles, expected[i].id), &roles.items[i]);
    }
    assert_null(role_find(&roles, "Owner"));
    assert_null(role_find(&roles, "owner "));
    assert_null(role_find(&roles, ""));
    database_free(&database);
}

static void a_role_without_permissions_is_listed(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    sql(database, arena, "INSERT INTO role (id, description) VALUES ('empty', 'Nothing yet')");
    struct role_list roles;
    expect_ok(role_list(database, arena, &roles));
    const struct role *role = role_find(&roles, "empty");
    sql(database, arena, "DELETE FROM role WHERE id = 'empty'");
    assert_non_null(role);
    assert_int_equal(role->permissions.count, 0);
    database_free(&database);
}

static void nobody_grants_a_role_that_exceeds_what_they_hold(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    static const struct {
        const char *held;
        const char *grantable;
    } rows[] = {{"*:*:a", "account-admin admin inv-manage log-manage owner"},
                {"rwx:*", "inv-manage log-manage owner"},
                {"*:*:w", "inv-manage log-manage owner"},
                {"inv:*:w cus:*:w", "inv-manage"},
                {"inv:*:w log:*:w cus:*:w", "inv-manage log-manage"},
                {"inv:*:a cus:*:a log:*:a sys:*:a", "inv-manage log-manage"},
                {"cus:user:w", ""},
                {"*:*:r", ""},
                {"*:*:*", ""},
                {"", ""}};
    struct role_list roles;
    expect_ok(role_list(database, arena, &roles));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text_list held = text_words(arena, rows[i].held);
        struct text_list grantable = {arena_array(arena, roles.count, sizeof(char *)), 0};
        for (size_t r = 0; r < roles.count; r++)
            if (role_grantable(&roles.items[r], &held))
                grantable.items[grantable.count++] = roles.items[r].id;
        assert_string_equal(text_list_join(arena, &grantable, " "), rows[i].grantable);
    }
    /* A reserved role stays reserved when somebody empties it. */
    struct role emptied = {"admin", "", NO_TEXTS};
    struct text_list owner = TEXTS(arena, "rwx:*");
    assert_false(role_grantable(&emptied, &owner));
    /* What is malformed in a role grants nothing and stands in nobody's way. */
    struct role odd = {"odd", "", TEXTS(arena, "*:*:*", "cus:file:r")};
    assert_true(role_grantable(&odd, &owner));
    database_free(&database);
}

static void an_owners_roles_go_with_the_services(void **state)
{
    struct arena *arena = harness_arena(state);
    struct text_list services = TEXTS(arena, "inventory");
    struct text_list roles = role_of_owner(arena, &services);
    assert_string_equal(text_list_join(arena, &roles, " "), "owner inv-manage");
    services = TEXTS(arena, "logistics");
    roles = role_of_owner(arena, &services);
    assert_string_equal(text_list_join(arena, &roles, " "), "owner log-manage");
    services = TEXTS(arena, "logistics", "inventory");
    roles = role_of_owner(arena, &services);
    assert_string_equal(text_list_join(arena, &roles, " "), "owner inv-manage log-manage");
}

static void an_organisation_is_found_as_inserted(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct organisation organisation = {
        .id = id_new(),
        .name = "Æther & Söhne 🚚",
        .services = TEXTS(arena, "inventory", "logistics"),
        .status = ORGANISATION_PROVISIONING,
        .quota_bytes = INT64_C(5000000000),
        .quota_files = ORGANISATION_NO_QUOTA,
    };
    expect_ok(organisation_insert(database, arena, &organisation));
    struct organisation *found;
    expect_ok(organisation_find(database, arena, organisation.id, &found));
    assert_string_equal(found->name, organisation.name);
    assert_string_equal(text_list_join(arena, &found->services, " "), "inventory logistics");
    assert_int_equal(found->status, ORGANISATION_PROVISIONING);
    assert_int_equal(found->quota_bytes, organisation.quota_bytes);
    assert_int_equal(found->quota_files, ORGANISATION_NO_QUOTA);
    assert_int_equal(strlen(found->updated_at), 24);

    bool changed;
    expect_ok(organisation_activate(database, arena, organisation.id, &changed));
    assert_true(changed);
    expect_ok(organisation_activate(database, arena, organisation.id, &changed));
    assert_false(changed);
    sql(database, arena, "UPDATE organisation SET status = 'disabled' WHERE id = %s", sql_id(arena, organisation.id));
    expect_ok(organisation_activate(database, arena, organisation.id, &changed));
    assert_false(changed);
    expect_ok(organisation_find(database, arena, organisation.id, &found));
    assert_int_equal(found->status, ORGANISATION_DISABLED);
    expect_error(organisation_insert(database, arena, &organisation), ERROR_INTERNAL);
    expect_ok(organisation_find(database, arena, id_new(), &found));
    assert_null(found);
    database_free(&database);
}

static int ensure_racer(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    (void)context;
    return organisation_ensure_internal(database, arena) == NULL ? 0 : 1;
}

static void the_internal_organisation_is_made_once(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    support_database_clear();
    int results[RACERS_MAX];
    race(4, ensure_racer, NULL, results);
    assert_int_equal(race_count(results, 4, 0), 4);
    assert_int_equal(sql_integer(database, arena, "SELECT COUNT(*) FROM organisation"), 1);
    struct organisation *found;
    expect_ok(organisation_find(database, arena, organisation_internal_id(), &found));
    assert_string_equal(found->name, "Internal");
    assert_int_equal(found->status, ORGANISATION_ACTIVE);
    struct id parsed;
    assert_true(id_parse(id_text(arena, organisation_internal_id()), &parsed));
    assert_true(id_equal(parsed, organisation_internal_id()));
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_built_in_roles_are_those_of_the_guide),
    HARNESS_TEST(a_role_without_permissions_is_listed),
    HARNESS_TEST(nobody_grants_a_role_that_exceeds_what_they_hold),
    HARNESS_TEST(an_owners_roles_go_with_the_services),
    HARNESS_TEST(an_organisation_is_found_as_inserted),
    HARNESS_TEST(the_internal_organisation_is_made_once),
};
HARNESS_MODULE(role, cases)
