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

struct sending {
    struct scene *scene;
    struct user user;
    struct error *(*notify)(struct sending *sending); /* the mail to queue */
    const char *organisation;
    bool fails; /* the transaction does, behind the mail */
};

static struct error *first_login(struct sending *sending)
{
    return notification_first_login(&sending->scene->service, sending->scene->arena, &sending->user,
                                    sending->organisation, secret_of(SECRET));
}

static struct error *confirm(struct sending *sending)
{
    return notification_confirm(&sending->scene->service, sending->scene->arena, &sending->user, sending->organisation,
                                secret_of(SECRET));
}

static struct error *reset(struct sending *sending)
{
    return notification_reset(&sending->scene->service, sending->scene->arena, &sending->user, secret_of(SECRET));
}

static struct error *password_changed(struct sending *sending)
{
    return notification_password_changed(&sending->scene->service, sending->scene->arena, &sending->user);
}

static struct error *notify_body(struct database *database, struct arena *arena, void *context)
{
    struct sending *sending = context;
    (void)database;
    TRY(sending->notify(sending));
    return sending->fails ? error_plain(arena, ERROR_REQUEST_INVALID) : NULL;
}

/* Queues a mail in a transaction of its own. */
static struct error *queue(struct sending *sending, struct error *(*notify)(struct sending *sending))
{
    sending->notify = notify;
    return database_transaction(sending->scene->database, sending->scene->arena, notify_body, sending, NULL);
}

static struct sending sending_new(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct id organisation = given_organisation(scene->database, scene->arena);
    scene->configuration.service.web_url = WEB;
    scene->configuration.identity.temporary_password_seconds = 3 * 86400;
    return (struct sending){.scene = scene,
                            .user = *given_user(scene->database, scene->arena, organisation, NULL, NULL),
                            .organisation = ORGANISATION};
}

static void expect_said(struct sending *sending, const char *name, const char *expected)
{
    const char *value = mailed(sending->scene, sending->user.id, name);
    assert_non_null(value);
    assert_string_equal(value, expected);
}

static void expect_link(struct sending *sending, const char *page)
{
    struct arena *arena = sending->scene->arena;
    expect_said(sending, "link", arena_format(arena, WEB "/%s?id=%s", page, id_text(arena, sending->user.id)));
}

static void a_first_login_brings_password_link_and_how_long_they_hold(void **state)
{
    struct sending sending = sending_new(state);
    expect_ok(queue(&sending, first_login));
    expect_said(&sending, "temporaryPassword", SECRET);
    expect_said(&sending, "organisation", ORGANISATION);
    expect_said(&sending, "firstName", "Ada");
    expect_said(&sending, "lastName", "Quill");
    expect_said(&sending, "email", sending.user.email);
    expect_said(&sending, "days", "3");
    expect_link(&sending, "first-login");
}

static void a_confirmation_and_a_reset_bring_code_link_and_how_long_they_hold(void **state)
{
    struct sending sending = sending_new(state);
    struct scene *scene = sending.scene;
    expect_ok(queue(&sending, confirm));
    expect_said(&sending, "code", SECRET);
    expect_said(&sending, "hours", "24");
    expect_link(&sending, "confirm");
    expect_ok(queue(&sending, reset));
    expect_said(&sending, "code", SECRET);
    expect_said(&sending, "minutes", "60");
    expect_link(&sending, "reset");
    assert_null(mailed(scene, sending.user.id, "organisation"));
    assert_int_equal(mails_waiting(scene, sending.user.id), 2);
}

static void a_changed_password_is_told_with_its_time_and_without_a_link(void **state)
{
    struct sending sending = sending_new(state);
    struct scene *scene = sending.scene;
    expect_ok(queue(&sending, password_changed));
    const char *time = mailed(scene, sending.user.id, "time");
    assert_non_null(time);
    assert_string_equal(
        time, sql_text(scene->database, scene->arena,
                       "SELECT DATE_FORMAT(LEAST(UTC_TIMESTAMP(), STR_TO_DATE(LEFT('%s', 16), '%%Y-%%m-%%d %%H:%%i')),"
                       " '%%Y-%%m-%%d %%H:%%i UTC')",
                       time));
    assert_null(mailed(scene, sending.user.id, "link"));
}

static void names_from_which_mail_programs_make_links_are_mailed_without_them(void **state)
{
    struct sending sending = sending_new(state);
    sending.user.first_name = "http://evil.example";
    sending.organisation = "<b>@www.evil.example";
    expect_ok(queue(&sending, confirm));
    expect_said(&sending, "firstName", "http   evil. example");
    expect_said(&sending, "organisation", " b  www. evil. example");
}

static void what_is_queued_is_sealed(void **state)
{
    struct sending sending = sending_new(state);
    struct scene *scene = sending.scene;
    expect_ok(queue(&sending, confirm));
    assert_int_equal(sql_integer(scene->database, scene->arena,
                                 "SELECT COUNT(*) FROM outbox WHERE INSTR(payload, '" SECRET "') > 0"
                                 " OR INSTR(payload, 'Quarry') > 0 OR INSTR(payload, 'confirm') > 0"),
                     0);
}

static void a_mail_goes_with_the_transaction_that_fails(void **state)
{
    struct sending sending = sending_new(state);
    sending.fails = true;
    expect_error(queue(&sending, reset), ERROR_REQUEST_INVALID);
    assert_int_equal(mails_waiting(sending.scene, sending.user.id), 0);
}

static void a_mail_that_cannot_be_queued_is_an_error(void **state)
{
    struct sending sending = sending_new(state);
    struct error *errors[4];
    struct error *(*const all[])(struct sending *sending) = {first_login, confirm, reset, password_changed};
    sql(sending.scene->database, sending.scene->arena,
        "CREATE TRIGGER no_outbox BEFORE INSERT ON outbox FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = "
        "'broken'");
    for (size_t i = 0; i < 4; i++)
        errors[i] = queue(&sending, all[i]);
    sql(sending.scene->database, sending.scene->arena, "DROP TRIGGER no_outbox");
    for (size_t i = 0; i < 4; i++)
        assert_non_null(errors[i]);
    assert_int_equal(mails_waiting(sending.scene, sending.user.id), 0);
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
