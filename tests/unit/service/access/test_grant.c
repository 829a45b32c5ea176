/* SPDX-License-Identifier: MIT */
/* Who may give what to whom, as tables; and the text that mirrors what somebody may do. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/organisation.h"
#include "domain/permission/permission.h"
#include "domain/permission/principal.h"
#include "domain/permission/role.h"
#include "service/access/caller.h"
#include "service/access/grant.h"

/* The seeded roles, one that an operator added with what grants nothing in it, and one with no permission. */
static struct role_list known_roles(struct arena *arena)
{
    static const char *const table[][2] = {
        {"account-admin", "cus:*:w inv:*:w log:*:w"},
        {"admin", "*:*:a"},
        {"empty", ""},
        {"inv-manage", "cus:*:w inv:*:w"},
        {"log-manage", "cus:*:w log:*:w"},
        {"odd", "*:*:* cus:user:r INV:*:w"},
        {"owner", "rwx:*"},
    };
    size_t count = sizeof table / sizeof *table;
    struct role_list roles = {arena_array(arena, count, sizeof *roles.items), count};
    for (size_t i = 0; i < count; i++)
        roles.items[i] =
            (struct role){.id = table[i][0], .description = "", .permissions = text_words(arena, table[i][1])};
    return roles;
}

static struct caller caller_holding(struct arena *arena, const char *permissions)
{
    struct principal *principal = arena_alloc(arena, sizeof *principal);
    principal->user.permissions = permission_words(arena, permissions);
    return (struct caller){.principal = principal};
}

/* What is refused: the entries' paths, separated by blanks; "" when all may be granted. */
static const char *refused_in(struct arena *arena, struct id organisation, const char *held, const char *roles,
                              const char *permissions, const char *role_path)
{
    struct caller caller = caller_holding(arena, held == NULL ? "" : held);
    struct role_list known = known_roles(arena);
    struct user user = {.organisation_id = organisation,
                        .roles = text_words(arena, roles),
                        .permissions = text_words(arena, permissions)};
    struct error *error = grant_check(arena, held == NULL ? NULL : &caller, &known, &user, role_path);
    struct buffer paths;
    buffer_init(&paths, arena);
    if (error == NULL)
        return "";
    assert_string_equal(error_code_text(error->code), "role.notGrantable");
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next) {
        assert_string_equal(entry->code, "notGrantable");
        buffer_add_format(&paths, "%s%s", entry == error->entries ? "" : " ", entry->path);
    }
    return paths.bytes;
}

/* Of one of internal staff. */
static const char *refused(struct arena *arena, const char *held, const char *roles, const char *permissions,
                           const char *role_path)
{
    return refused_in(arena, organisation_internal_id(), held, roles, permissions, role_path);
}

/* Whoever asks: NULL is the operator. */
static void the_role_of_internal_staff_is_theirs_alone(void **state)
{
    static const struct id customer = {.bytes = {1}};
    static const char *const askers[] = {"*:*:a", NULL};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(refused(arena, askers[i], "admin account-admin owner", "*:*:a", NULL), "");
        assert_string_equal(refused_in(arena, customer, askers[i], "owner admin account-admin", "*:*:a", NULL),
                            "roles[1]");
        assert_string_equal(refused_in(arena, customer, askers[i], "owner account-admin odd", "*:*:a cus:user:a", NULL),
                            "");
    }
}

static void nobody_grants_more_than_they_hold(void **state)
{
    static const struct {
        const char *held;
        const char *roles;
        const char *permissions;
        const char *refused;
    } table[] = {
        /* Staff grant everything. */
        {"*:*:a", "admin account-admin owner inv-manage log-manage odd empty", "*:*:a rwx:* cus:user:a", ""},
        /* An owner grants what an owner holds: every w, no a, and neither of the reserved roles. */
        {"rwx:*", "owner inv-manage log-manage odd empty", "rwx:* *:*:w inv:stock:w cus:file:r r:* wx:*", ""},
        {"rwx:*", "account-admin", "", "roles[0]"},
        {"rwx:*", "owner admin", "cus:user:r *:*:a cus:user:a", "roles[1] permissions[1] permissions[2]"},
        {"*:*:w", "owner inv-manage", "rwx:* *:*:w", ""},
        {"*:*:w", "", "*:*:a", "permissions[0]"},
        /* Reserved roles need the whole of a, whatever else is held. */
        {"*:cus:a cus:*:a inv:*:a log:*:a", "account-admin inv-manage log-manage", "", "roles[0]"},
        {"cus:*:a inv:*:w", "inv-manage log-manage", "cus:user:a inv:x:r inv:x:a log:x:r",
         "roles[1] permissions[2] permissions[3]"},
        /* A wild card is covered by a wild card, not by many single ones. */
        {"inv:stock:w cus:*:w", "inv-manage", "inv:*:w inv:stock:w inv:stock:r inv:other:r",
         "roles[0] permissions[0] permissions[3]"},
        /* A letter covers those below it. */
        {"cus:user:r", "odd", "cus:user:r cus:user:w", "permissions[1]"},
        {"r:*", "odd", "*:*:r r:* rw:* x:*", "permissions[2]"},
        /* Nothing grants nothing; what is malformed is refused elsewhere and grants nothing here. */
        {"", "empty", "", ""},
        {"", "odd owner inv-manage", "cus:file:r", "roles[0] roles[1] roles[2] permissions[0]"},
        {"*:*:* INV:*:w inv:*", "inv-manage", "inv:*:r", "roles[0] permissions[0]"},
        {"", "unknown", "*:*:*", ""},
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *got = refused(arena, table[i].held, table[i].roles, table[i].permissions, NULL);
        if (strcmp(got, table[i].refused) != 0)
            fail_msg("row %zu, held \"%s\": refused \"%s\", not \"%s\"", i, table[i].held, got, table[i].refused);
    }
    assert_string_equal(refused(arena, "cus:*:a", "owner inv-manage", "", "services"), "services services");
}

/* The findings of grant_validate() and grant_validate_length(), as "path code" separated by commas. */
static const char *faults(struct arena *arena, const struct text_list *roles, const struct text_list *permissions)
{
    struct validation validation;
    struct role_list known = known_roles(arena);
    struct buffer found;
    buffer_init(&found, arena);
    validation_init(&validation, arena);
    grant_validate(&known, roles, permissions, &validation);
    grant_validate_length(arena, &known, roles, permissions, &validation);
    if (validation.error == NULL)
        return "";
    for (const struct error_entry *entry = validation.error->entries; entry != NULL; entry = entry->next)
        buffer_add_format(&found, "%s%s %s", entry == validation.error->entries ? "" : ",", entry->path, entry->code);
    return found.bytes;
}

static const char *faults_of_words(struct arena *arena, const char *roles, const char *permissions)
{
    struct text_list role_words = text_words(arena, roles);
    struct text_list permission_list = text_words(arena, permissions);
    return faults(arena, &role_words, &permission_list);
}

static void every_fault_of_the_input_is_named(void **state)
{
    static const char *const table[][3] = {
        {"", "", ""},
        {"owner inv-manage", "cus:file:r *:*:a rwx:*", ""},
        {"owner nobody owner", "", "roles[1] unknown,roles[2] duplicate"},
        {"Owner", "", "roles[0] unknown"},
        {"", "*:*:* inv:* INV:*:w cus:file:rw rr:* awx:* cus:file:x",
         "permissions[0] format,permissions[1] format,permissions[2] format,permissions[3] format,"
         "permissions[4] format,permissions[5] format,permissions[6] format"},
        {"nobody", "cus:file:r cus:file:r x", "roles[0] unknown,permissions[1] duplicate,permissions[2] format"},
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(faults_of_words(arena, table[i][0], table[i][1]), table[i][2]) != 0)
            fail_msg("row %zu: %s", i, faults_of_words(arena, table[i][0], table[i][1]));
    /* Something else was wrong with the item already: one fault is enough. */
    struct text_list unknown = text_words(arena, "nobody");
    struct role_list known = known_roles(arena);
    struct text_list nothing = {NULL, 0};
    struct validation validation;
    validation_init(&validation, arena);
    validation_add(&validation, "length", "is too long", "roles[0]");
    grant_validate(&known, &unknown, &nothing, &validation);
    assert_int_equal(validation.error->entry_count, 1);
    const char *blank = "cus:file:r ";
    struct text_list list = {&blank, 1};
    static const struct text_list none;
    assert_string_equal(faults(arena, &none, &list), "permissions[0] format");
}

/* `count` permissions of 16 bytes each; with a blank between them 17 a piece, less one. */
static struct text_list many(struct arena *arena, size_t count)
{
    struct text_list list = {arena_array(arena, count, sizeof *list.items), count};
    for (size_t i = 0; i < count; i++)
        list.items[i] = arena_format(arena, "inv:area-%05zu:w", i);
    return list;
}

static void mirror_holds_2048_characters(void **state)
{
    struct arena *arena = harness_arena(state);
    static const struct text_list none;
    struct text_list fitting = many(arena, 120);
    struct text_list exact = many(arena, 121);
    /* 120 pieces are 2039 characters with their blanks; a last one fills it up to the very limit. */
    assert_int_equal(strlen(text_list_join(arena, &fitting, " ")), 2039);
    exact.items[120] = "i:abcd:w";
    assert_int_equal(strlen(text_list_join(arena, &exact, " ")), 2048);
    assert_string_equal(faults(arena, &none, &exact), "");
    exact.items[120] = "i:abcde:w";
    assert_string_equal(faults(arena, &none, &exact), "permissions length");
    /* What the roles add counts, too, but nothing twice. */
    struct text_list roles = text_words(arena, "owner");
    exact.items[120] = "i:abcd:w";
    assert_string_equal(faults(arena, &roles, &exact), "permissions length");
    assert_string_equal(faults(arena, &roles, &fitting), "");
    exact.items[120] = "rwx:*";
    assert_string_equal(faults(arena, &roles, &exact), "");
    /* What stands there twice grants nothing more, and takes its place in the row all the same. */
    struct text_list twice = many(arena, 122);
    twice.items[121] = twice.items[120] = twice.items[0];
    assert_non_null(strstr(faults(arena, &none, &twice), "permissions length"));
}

static const char *mirror(struct arena *arena, const char *roles, const char *permissions)
{
    struct role_list known = known_roles(arena);
    struct text_list role_words = text_words(arena, roles);
    struct text_list permission_list = text_words(arena, permissions);
    return grant_mirror(arena, &known, &role_words, &permission_list);
}

static void mirror_text(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(mirror(arena, "", ""), "");
    assert_string_equal(mirror(arena, "owner", ""), "rwx:*");
    assert_string_equal(mirror(arena, "", "cus:file:r inv:*:w"), "cus:file:r inv:*:w");
    /* One's own first, then role by role; each once; nothing that is malformed or unknown. */
    assert_string_equal(mirror(arena, "inv-manage log-manage", "log:*:w"), "log:*:w cus:*:w inv:*:w");
    assert_string_equal(mirror(arena, "owner gone odd empty owner", "bad *:*:* cus:user:r"), "cus:user:r rwx:*");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_role_of_internal_staff_is_theirs_alone),
    HARNESS_TEST(nobody_grants_more_than_they_hold),
    HARNESS_TEST(every_fault_of_the_input_is_named),
    HARNESS_TEST(mirror_holds_2048_characters),
    HARNESS_TEST(mirror_text),
};
HARNESS_MODULE(grant, cases)
