/* SPDX-License-Identifier: MIT */
/* What people change of themselves: what was sent and nothing else, and another phone number is not verified. */
#include "harness.h"

#include "base/arena.h"
#include "base/error.h"
#include "service/account/own_profile.h"
#include "service/support_accounts.h"

#define OWNER "owner@example.com"
#define PHONE "+4512345678"

static struct caller *given_verified(struct scene *scene)
{
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    sql(scene->database, scene->arena,
        "UPDATE user SET phone = '" PHONE "', phone_verified = TRUE, locale = 'da' WHERE email = '" OWNER "'");
    return owner;
}

/* The row afterwards, and what the newest row of the trail tells of the change. */
static const char *change(struct scene *scene, const struct caller *owner, const struct own_profile_patch *patch)
{
    struct user *user = NULL;
    expect_ok(own_profile_update(&scene->service, scene->arena, owner, patch, &user));
    assert_string_equal(user->email, OWNER);
    return sql_text(
        scene->database, scene->arena,
        "SELECT CONCAT_WS(' ', first_name, last_name, COALESCE(phone, 'none'), phone_verified,"
        " COALESCE(locale, 'none'), (SELECT details FROM audit WHERE action = 'user.update' ORDER BY id DESC"
        " LIMIT 1)) FROM user WHERE email = '" OWNER "'");
}

static void what_was_sent_is_changed_and_nothing_else(void **state)
{
    static const struct {
        struct own_profile_patch patch;
        const char *row;
    } rows[] = {
        {{.first_name = "Cleo"}, "Cleo Quill " PHONE " 1 da {\"names\":true,\"phone\":false,\"locale\":false}"},
        {{.last_name = "Clay"}, "Cleo Clay " PHONE " 1 da {\"names\":true,\"phone\":false,\"locale\":false}"},
        {{.has_phone = true, .phone = PHONE},
         "Cleo Clay " PHONE " 1 da {\"names\":false,\"phone\":true,\"locale\":false}"},
        {{.has_locale = true, .locale = "de"},
         "Cleo Clay " PHONE " 1 de {\"names\":false,\"phone\":false,\"locale\":true}"},
        {{.has_phone = true, .phone = "+4587654321"},
         "Cleo Clay +4587654321 0 de {\"names\":false,\"phone\":true,\"locale\":false}"},
        {{.has_phone = true, .has_locale = true},
         "Cleo Clay none 0 none {\"names\":false,\"phone\":true,\"locale\":true}"},
        {{.has_phone = true}, "Cleo Clay none 0 none {\"names\":false,\"phone\":true,\"locale\":false}"},
        {{.has_phone = true, .phone = PHONE},
         "Cleo Clay " PHONE " 0 none {\"names\":false,\"phone\":true,\"locale\":false}"},
    };
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_verified(scene);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(change(scene, owner, &rows[i].patch), rows[i].row);
}

static void who_was_shut_out_meanwhile_changes_nothing(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_verified(scene);
    struct own_profile_patch patch = {.first_name = "Cleo"};
    struct user *user = NULL;
    sql(scene->database, scene->arena, "UPDATE user SET status = 'disabled' WHERE email = '" OWNER "'");
    expect_error(own_profile_update(&scene->service, scene->arena, owner, &patch, &user), ERROR_TOKEN_REVOKED);
    assert_string_equal(
        sql_text(scene->database, scene->arena, "SELECT first_name FROM user WHERE email = '" OWNER "'"), "Ada");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_was_sent_is_changed_and_nothing_else),
    HARNESS_TEST(who_was_shut_out_meanwhile_changes_nothing),
};
HARNESS_MODULE(own_profile, cases)
