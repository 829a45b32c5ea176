/* SPDX-License-Identifier: MIT */
/*
 * The mails of the account flows: what each holds, that its secret is sealed, and that it is queued with the
 * transaction that it belongs to or not at all.
 */
#include "harness.h"

#include "base/arena.h"
#include "base/error.h"
#include "service/account/notification.h"
#include "service/support_accounts.h"
#include "store/database/database.h"

#define WEB "https://people.example.org"
#define ORGANISATION "Quarry & Sons"
#define SECRET "246810"

struct scene {
    struct stage *stage;
    struct user user;
    struct error *(*notify)(struct scene *scene); /* the mail to queue */
    const char *organisation;
    bool fails; /* the transaction does, behind the mail */
};

static struct error *first_login(struct scene *scene)
{
    return notification_first_login(&scene->stage->service, scene->stage->arena, &scene->user, scene->organisation,
                                    secret_of(SECRET));
}

static struct error *confirm(struct scene *scene)
{
    return notification_confirm(&scene->stage->service, scene->stage->arena, &scene->user, scene->organisation,
                                secret_of(SECRET));
}

static struct error *reset(struct scene *scene)
{
    return notification_reset(&scene->stage->service, scene->stage->arena, &scene->user, secret_of(SECRET));
}

static struct error *password_changed(struct scene *scene)
{
    return notification_password_changed(&scene->stage->service, scene->stage->arena, &scene->user);
}

static struct error *notify_body(struct database *database, struct arena *arena, void *context)
{
    struct scene *scene = context;
    (void)database;
    TRY(scene->notify(scene));
    return scene->fails ? error_plain(arena, ERROR_REQUEST_INVALID) : NULL;
}

/* Queues a mail in a transaction of its own. */
static struct error *queue(struct scene *scene, struct error *(*notify)(struct scene *scene))
{
    scene->notify = notify;
    return database_transaction(scene->stage->database, scene->stage->arena, notify_body, scene, NULL);
}

static struct scene scene_new(void **state)
{
    struct stage *stage = stage_new(harness_arena(state));
    struct id organisation = given_organisation(stage->database, stage->arena);
    stage->configuration.service.web_url = WEB;
    stage->configuration.identity.temporary_password_seconds = 3 * 86400;
    return (struct scene){.stage = stage,
                          .user = *given_user(stage->database, stage->arena, organisation, NULL, NULL),
                          .organisation = ORGANISATION};
}

static void expect_said(struct scene *scene, const char *name, const char *expected)
{
    const char *value = mailed(scene->stage, scene->user.id, name);
    assert_non_null(value);
    assert_string_equal(value, expected);
}

static void expect_link(struct scene *scene, const char *page)
{
    struct arena *arena = scene->stage->arena;
    expect_said(scene, "link", arena_format(arena, WEB "/%s?id=%s", page, id_text(arena, scene->user.id)));
}

static void a_first_login_brings_password_link_and_how_long_they_hold(void **state)
{
    struct scene scene = scene_new(state);
    expect_ok(queue(&scene, first_login));
    expect_said(&scene, "temporaryPassword", SECRET);
    expect_said(&scene, "organisation", ORGANISATION);
    expect_said(&scene, "firstName", "Ada");
    expect_said(&scene, "lastName", "Quill");
    expect_said(&scene, "email", scene.user.email);
    expect_said(&scene, "days", "3");
    expect_link(&scene, "first-login");
}

static void a_confirmation_and_a_reset_bring_code_link_and_how_long_they_hold(void **state)
{
    struct scene scene = scene_new(state);
    struct stage *stage = scene.stage;
    expect_ok(queue(&scene, confirm));
    expect_said(&scene, "code", SECRET);
    expect_said(&scene, "hours", "24");
    expect_link(&scene, "confirm");
    expect_ok(queue(&scene, reset));
    expect_said(&scene, "code", SECRET);
    expect_said(&scene, "minutes", "60");
    expect_link(&scene, "reset");
    assert_null(mailed(stage, scene.user.id, "organisation"));
    assert_int_equal(mails_waiting(stage, scene.user.id), 2);
}

static void a_changed_password_is_told_with_its_time_and_without_a_link(void **state)
{
    struct scene scene = scene_new(state);
    struct stage *stage = scene.stage;
    expect_ok(queue(&scene, password_changed));
    const char *time = mailed(stage, scene.user.id, "time");
    assert_non_null(time);
    assert_string_equal(
        time, sql_text(stage->database, stage->arena,
                       "SELECT DATE_FORMAT(LEAST(UTC_TIMESTAMP(), STR_TO_DATE(LEFT('%s', 16), '%%Y-%%m-%%d %%H:%%i')),"
                       " '%%Y-%%m-%%d %%H:%%i UTC')",
                       time));
    assert_null(mailed(stage, scene.user.id, "link"));
}

static void names_from_which_mail_programs_make_links_are_mailed_without_them(void **state)
{
    struct scene scene = scene_new(state);
    scene.user.first_name = "http://evil.example";
    scene.organisation = "<b>@www.evil.example";
    expect_ok(queue(&scene, confirm));
    expect_said(&scene, "firstName", "http   evil. example");
    expect_said(&scene, "organisation", " b  www. evil. example");
}

static void what_is_queued_is_sealed(void **state)
{
    struct scene scene = scene_new(state);
    struct stage *stage = scene.stage;
    expect_ok(queue(&scene, confirm));
    assert_int_equal(sql_integer(stage->database, stage->arena,
                                 "SELECT COUNT(*) FROM outbox WHERE INSTR(payload, '" SECRET "') > 0"
                                 " OR INSTR(payload, 'Quarry') > 0 OR INSTR(payload, 'confirm') > 0"),
                     0);
}

static void a_mail_goes_with_the_transaction_that_fails(void **state)
{
    struct scene scene = scene_new(state);
    scene.fails = true;
    expect_error(queue(&scene, reset), ERROR_REQUEST_INVALID);
    assert_int_equal(mails_waiting(scene.stage, scene.user.id), 0);
}

static void a_mail_that_cannot_be_queued_is_an_error(void **state)
{
    struct scene scene = scene_new(state);
    struct error *errors[4];
    struct error *(*const all[])(struct scene *scene) = {first_login, confirm, reset, password_changed};
    sql(scene.stage->database, scene.stage->arena,
        "CREATE TRIGGER no_outbox BEFORE INSERT ON outbox FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = "
        "'broken'");
    for (size_t i = 0; i < 4; i++)
        errors[i] = queue(&scene, all[i]);
    sql(scene.stage->database, scene.stage->arena, "DROP TRIGGER no_outbox");
    for (size_t i = 0; i < 4; i++)
        assert_non_null(errors[i]);
    assert_int_equal(mails_waiting(scene.stage, scene.user.id), 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_first_login_brings_password_link_and_how_long_they_hold),
    HARNESS_TEST(a_confirmation_and_a_reset_bring_code_link_and_how_long_they_hold),
    HARNESS_TEST(a_changed_password_is_told_with_its_time_and_without_a_link),
    HARNESS_TEST(names_from_which_mail_programs_make_links_are_mailed_without_them),
    HARNESS_TEST(what_is_queued_is_sealed),
    HARNESS_TEST(a_mail_goes_with_the_transaction_that_fails),
    HARNESS_TEST(a_mail_that_cannot_be_queued_is_an_error),
};
HARNESS_MODULE(notification, cases)
