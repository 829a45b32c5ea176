/* SPDX-License-Identifier: MIT */
/* Signing in, passwords, and what is guessed: the flows as a client meets them, with a provider that fails. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/outbox.h"
#include "domain/permission/principal.h"
#include "service/account/mail_queue.h"
#include "service/account/member.h"
#include "service/account/password.h"
#include "service/account/recovery.h"
#include "service/support_accounts.h"

#define OWNER "owner@example.com"

static void ask(struct scene *scene, const char *kind, const char *username)
{
    expect_ok(recovery_ask(&scene->service, scene->arena, &scene->stranger, kind, username));
}

static struct error *reset(struct scene *scene, const char *username, const char *code, const char *password)
{
    return password_reset(&scene->service, scene->arena, &scene->stranger, username, code, secret_of(password));
}

static const char *status_of(struct scene *scene, struct id user)
{
    return sql_text(scene->database, scene->arena, "SELECT status FROM user WHERE id = %s", sql_id(scene->arena, user));
}

static int64_t failures_of(struct scene *scene, const char *scope)
{
    return sql_integer(scene->database, scene->arena,
                       "SELECT COALESCE(SUM(failures), 0) FROM throttle WHERE scope = '%s'", scope);
}

/* Any other code. */
static const char *wrong(struct scene *scene, const char *code)
{
    char *other = arena_text(scene->arena, code);
    other[5] = other[5] == '9' ? '0' : (char)(other[5] + 1);
    return other;
}

/* ---- the first login ----------------------------------------------------------------------------- */

static void first_login_asks_for_a_password_and_takes_a_good_one(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct user user;
    expect_ok(make_customer(scene, given_staff(scene), OWNER, &user));
    const char *temporary = mailed(scene, user.id, "temporaryPassword");
    assert_int_equal(strlen(temporary), 20);
    assert_string_equal(
        mailed(scene, user.id, "link"),
        arena_format(scene->arena, "https://gatehouse.test/first-login?id=%s", id_text(scene->arena, user.id)));
    expect_entry(scene_login(scene, OWNER, temporary, NULL, NULL), ERROR_NEW_PASSWORD_REQUIRED, "newPassword",
                 "required");
    expect_entry(scene_login(scene, OWNER, temporary, "short", NULL), ERROR_PASSWORD_POLICY, "newPassword", "length");
    expect_entry(scene_login(scene, OWNER, temporary, temporary, NULL), ERROR_PASSWORD_POLICY, "newPassword", "same");
    assert_string_equal(status_of(scene, user.id), "awaiting-first-login");
    expect_ok(scene_login(scene, OWNER, temporary, CHOSEN, NULL));
    assert_string_equal(status_of(scene, user.id), "active");
    expect_error(scene_login(scene, OWNER, temporary, OTHER, NULL), ERROR_CREDENTIALS);
    expect_entry(scene_login(scene, OWNER, CHOSEN, OTHER, NULL), ERROR_REQUEST_INVALID, "newPassword", "unexpected");
    struct caller *caller = scene_caller(scene, OWNER, CHOSEN);
    assert_true(caller->principal->user.email_verified && caller->principal->user.phone_verified);
}

/* The provider's calls of a first login: the password is checked, the new one set, and perhaps marks are sent. */
static unsigned calls_of_first_login(struct arena *arena)
{
    struct scene *scene = scene_new(arena);
    struct user user;
    expect_ok(make_customer(scene, given_staff(scene), OWNER, &user));
    scene_fault(scene, FAULT_NONE, 0);
    expect_ok(scene_login(scene, OWNER, mailed(scene, user.id, "temporaryPassword"), CHOSEN, NULL));
    assert_true(scene->faulty.calls >= 2);
    return scene->faulty.calls;
}

/* Each call in turn, before and after it was done: the user comes in at the second try at the latest. */
static void first_login_that_breaks_off_is_finished_by_the_next(void **state)
{
    struct arena *arena = harness_arena(state);
    unsigned calls = calls_of_first_login(arena);
    for (unsigned at = 1; at <= calls; at++)
        for (enum fault fault = FAULT_BEFORE; fault <= FAULT_AFTER; fault++) {
            struct scene *scene = scene_new(arena);
            struct user user;
            expect_ok(make_customer(scene, given_staff(scene), OWNER, &user));
            const char *temporary = mailed(scene, user.id, "temporaryPassword");
            scene_fault(scene, fault, at);
            struct error *error = scene_login(scene, OWNER, temporary, CHOSEN, NULL);
            assert_int_equal(scene->faulty.calls, at <= 2 ? at : calls);
            if (at > 2) /* the marks: no reason to refuse who is in already */
                expect_ok(error);
            else
                expect_error(error, ERROR_IDENTITY_UNAVAILABLE);
            scene_fault(scene, FAULT_NONE, 0);
            if (at == 1 || (at == 2 && fault == FAULT_BEFORE))
                expect_ok(scene_login(scene, OWNER, temporary, CHOSEN, NULL));
            else /* the password was set, only the answer was lost */
                expect_error(scene_login(scene, OWNER, temporary, CHOSEN, NULL), ERROR_CREDENTIALS);
            assert_non_null(scene_caller(scene, OWNER, CHOSEN));
            assert_string_equal(status_of(scene, user.id), "active");
        }
}

/* ---- the throttle ----------------------------------------------------------------------------------- */

static void spellings_of_an_account_count_as_one(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    const char *id = id_text(scene->arena, caller_user(owner));
    const char *const names[] = {OWNER, "OWNER@example.com", "Owner@Example.COM", id, id};
    for (size_t i = 0; i < 5; i++)
        expect_error(scene_login(scene, names[i], "wrong-password-1", NULL, NULL), ERROR_CREDENTIALS);
    assert_int_equal(failures_of(scene, "account"), 5);
    sql(scene->database, scene->arena,
        "UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) + INTERVAL 60 SECOND WHERE scope = 'account'");
    for (size_t i = 0; i < 5; i++) {
        struct error *error = scene_login(scene, names[i], i % 2 ? CHOSEN : "wrong-password-1", NULL, NULL);
        expect_error(error, ERROR_RATE_LIMITED);
        assert_in_range(error->retry_after, 30, 60);
    }
    /* Changing the password is guessing as well. */
    expect_error(password_change(&scene->service, scene->arena, owner, secret_of(CHOSEN), secret_of(OTHER)),
                 ERROR_RATE_LIMITED);
    assert_int_equal(failures_of(scene, "account"), 5);
    assert_int_equal(failures_of(scene, "address"), 5);
    sql(scene->database, scene->arena, "UPDATE throttle SET locked_until = UTC_TIMESTAMP(3)");
    expect_ok(scene_login(scene, id, CHOSEN, NULL, NULL));
    assert_int_equal(failures_of(scene, "account"), 0);
}

static void names_that_nobody_has_are_throttled_alike(void **state)
{
    static const char *const names[] = {"nobody@example.com", "NOBODY@example.com", "Nobody@Example.Com"};
    struct scene *scene = scene_new(harness_arena(state));
    (void)given_owner(scene, given_staff(scene), OWNER);
    for (size_t i = 0; i < 5; i++)
        expect_error(scene_login(scene, names[i % 3], CHOSEN, NULL, NULL), ERROR_CREDENTIALS);
    sql(scene->database, scene->arena,
        "UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) + INTERVAL 60 SECOND WHERE scope = 'account'");
    for (size_t i = 0; i < 3; i++)
        expect_error(scene_login(scene, names[i], CHOSEN, NULL, NULL), ERROR_RATE_LIMITED);
    expect_ok(scene_login(scene, OWNER, CHOSEN, NULL, NULL));
    expect_error(scene_login(scene, "another@example.com", CHOSEN, NULL, NULL), ERROR_CREDENTIALS);
}

/* Logins, codes and refresh tokens share the address' thirty. */
static void address_has_thirty_failures_of_every_kind(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct service *service = &scene->service;
    struct provider_tokens tokens;
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    for (int i = 0; i < 7; i++) {
        const char *name = arena_format(scene->arena, "nobody%d@example.com", i);
        expect_error(scene_login(scene, name, CHOSEN, NULL, NULL), ERROR_CREDENTIALS);
        expect_error(member_confirm(service, scene->arena, &scene->stranger, name, "123456"), ERROR_CODE_MISMATCH);
        expect_error(reset(scene, name, "123456", OTHER), ERROR_CODE_MISMATCH);
        expect_error(sign_in_refresh(service, scene->arena, &scene->stranger, "no-token", false, &tokens),
                     ERROR_TOKEN_INVALID);
    }
    for (int i = 0; i < 2; i++)
        expect_entry(password_change(service, scene->arena, owner, secret_of("wrong-password-1"), secret_of(OTHER)),
                     ERROR_REQUEST_INVALID, "password", "mismatch");
    assert_int_equal(failures_of(scene, "address"), 30);
    struct error *error = scene_login(scene, OWNER, CHOSEN, NULL, NULL);
    expect_error(error, ERROR_RATE_LIMITED);
    assert_in_range(error->retry_after, 200, 300);
    expect_error(reset(scene, OWNER, "123456", OTHER), ERROR_RATE_LIMITED);
    expect_error(member_confirm(service, scene->arena, &scene->stranger, OWNER, "123456"), ERROR_RATE_LIMITED);
    expect_error(sign_in_refresh(service, scene->arena, &scene->stranger, "x", false, &tokens), ERROR_RATE_LIMITED);
    expect_error(password_change(service, scene->arena, owner, secret_of(CHOSEN), secret_of(OTHER)),
                 ERROR_RATE_LIMITED);
    assert_int_equal(failures_of(scene, "address"), 30);
    scene->stranger.client_address = "192.0.2.10";
    expect_ok(scene_login(scene, OWNER, CHOSEN, NULL, NULL));
    scene->stranger.client_address = NULL; /* a web server that gives none */
    expect_ok(scene_login(scene, OWNER, CHOSEN, NULL, NULL));
    expect_error(reset(scene, OWNER, "123456", OTHER), ERROR_CODE_MISMATCH);
}

/* What a parallel try's failure does while the provider checks this one. */
static void begin_wait(void *context)
{
    struct scene *scene = context;
    sql(scene->database, scene->arena,
        "UPDATE throttle SET failures = 12, locked_until = UTC_TIMESTAMP(3) + INTERVAL 60 SECOND WHERE scope = "
        "'account'");
}

static void wait_that_began_meanwhile_refuses_right_and_wrong_alike(void **state)
{
    static const char *const passwords[] = {"wrong-password-1", CHOSEN};
    struct scene *scene = scene_new(harness_arena(state));
    struct id id = caller_user(given_owner(scene, given_staff(scene), OWNER));
    expect_error(scene_login(scene, OWNER, "wrong-password-1", NULL, NULL), ERROR_CREDENTIALS);
    int64_t sessions =
        sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM session WHERE ended_at IS NULL");
    for (size_t i = 0; i < 2; i++) {
        sql(scene->database, scene->arena, "UPDATE throttle SET locked_until = NULL");
        scene_fault(scene, FAULT_NONE, 1);
        scene->faulty.after = begin_wait;
        scene->faulty.context = scene;
        struct error *error = scene_login(scene, OWNER, passwords[i], NULL, NULL);
        expect_error(error, ERROR_RATE_LIMITED);
        assert_in_range(error->retry_after, 30, 60);
        assert_int_equal(failures_of(scene, "account"), 12);
        assert_int_equal(failures_of(scene, "address"), 1);
    }
    /* Nothing that the right password opened stayed open. */
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM session WHERE ended_at IS NULL"),
                     sessions);
    assert_string_equal(status_of(scene, id), "active");
}

/* A provider that is down says nothing about a password. */
static void failing_provider_is_no_failed_try(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    scene_fault(scene, FAULT_BEFORE, 0);
    for (int i = 0; i < 8; i++) {
        expect_error(scene_login(scene, OWNER, "wrong-password-1", NULL, NULL), ERROR_IDENTITY_UNAVAILABLE);
        expect_error(password_change(&scene->service, scene->arena, owner, secret_of("x"), secret_of(OTHER)),
                     ERROR_IDENTITY_UNAVAILABLE);
    }
    assert_int_equal(failures_of(scene, "account") + failures_of(scene, "address"), 0);
}

/* ---- changing and setting ------------------------------------------------------------------------ */

static void changing_the_password(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct service *service = &scene->service;
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    struct caller *elsewhere = scene_caller(scene, OWNER, CHOSEN);
    for (int i = 0; i < 4; i++)
        expect_entry(password_change(service, scene->arena, owner, secret_of("wrong-password-1"), secret_of(OTHER)),
                     ERROR_REQUEST_INVALID, "password", "mismatch");
    assert_int_equal(failures_of(scene, "account"), 4);
    expect_entry(password_change(service, scene->arena, owner, secret_of(CHOSEN), secret_of("short")),
                 ERROR_PASSWORD_POLICY, "newPassword", "length");
    int64_t before = mails_waiting(scene, caller_user(owner));
    expect_ok(password_change(service, scene->arena, owner, secret_of(CHOSEN), secret_of(OTHER)));
    /* The right one starts afresh, as a login does. */
    assert_int_equal(failures_of(scene, "account"), 0);
    assert_int_equal(mails_waiting(scene, caller_user(owner)), before + 1);
    assert_non_null(scene_reload(scene, owner));
    assert_null(scene_reload(scene, elsewhere));
    expect_error(scene_login(scene, OWNER, CHOSEN, NULL, NULL), ERROR_CREDENTIALS);
    expect_ok(scene_login(scene, OWNER, OTHER, NULL, NULL));
    expect_entry(password_change(service, scene->arena, owner, secret_of(OTHER), secret_of(OTHER)),
                 ERROR_PASSWORD_POLICY, "newPassword", "same");
}

static void an_administrator_sets_a_password(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct service *service = &scene->service;
    struct caller *staff = given_staff(scene);
    struct caller *owner = given_owner(scene, staff, OWNER);
    expect_entry(password_set(service, scene->arena, staff, "nobody@example.com", secret_of(OTHER), true),
                 ERROR_USER_UNKNOWN, "username", "unknown");
    expect_entry(password_set(service, scene->arena, staff, OWNER, secret_of(OWNER), true), ERROR_PASSWORD_POLICY,
                 "password", "personal");
    expect_error(password_set(service, scene->arena, owner, "staff@gatehouse.test", secret_of(OTHER), true),
                 ERROR_PERMISSION);
    sql(scene->database, scene->arena, "UPDATE user SET permissions = 'cus:user:a' WHERE email = '" OWNER "'");
    expect_entry(password_set(service, scene->arena, owner, "staff@gatehouse.test", secret_of(OTHER), true),
                 ERROR_ROLE_NOT_GRANTABLE, "username", "notGrantable");
    expect_ok(scene_login(scene, "staff@gatehouse.test", CHOSEN, NULL, NULL));
    expect_ok(password_set(service, scene->arena, staff, "OWNER@example.com", secret_of(OTHER), false));
    assert_null(scene_reload(scene, owner));
    assert_string_equal(status_of(scene, caller_user(owner)), "active");
    expect_error(scene_login(scene, OWNER, CHOSEN, NULL, NULL), ERROR_CREDENTIALS);
    expect_entry(scene_login(scene, OWNER, OTHER, NULL, NULL), ERROR_NEW_PASSWORD_REQUIRED, "newPassword", "required");
    expect_ok(scene_login(scene, OWNER, OTHER, CHOSEN, NULL));
    expect_ok(password_set(service, scene->arena, staff, OWNER, secret_of(OTHER), true));
    expect_ok(scene_login(scene, OWNER, OTHER, NULL, NULL));
}

/* ---- forgotten ----------------------------------------------------------------------------------- */

static void forgotten_password_is_reset_by_the_mailed_code(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    struct id id = caller_user(owner);
    ask(scene, RECOVERY_FORGOTTEN, "OWNER@example.com");
    assert_int_equal(run_jobs(scene), 1);
    const char *code = mailed(scene, id, "code");
    assert_int_equal(strlen(code), 6);
    expect_error(reset(scene, OWNER, wrong(scene, code), OTHER), ERROR_CODE_MISMATCH);
    /* Passwords that are refused do not spend it, however many. */
    for (int i = 0; i < 7; i++)
        expect_entry(reset(scene, OWNER, code, "short"), ERROR_PASSWORD_POLICY, "newPassword", "length");
    for (int i = 0; i < 5; i++)
        expect_error(scene_login(scene, OWNER, "wrong-password-1", NULL, NULL), ERROR_CREDENTIALS);
    sql(scene->database, scene->arena,
        "UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) + INTERVAL 60 SECOND WHERE scope = 'account'");
    expect_ok(reset(scene, id_text(scene->arena, id), code, OTHER));
    assert_null(scene_reload(scene, owner));
    assert_non_null(mailed(scene, id, "time"));
    /* A proven reset lifts the wait. */
    expect_ok(scene_login(scene, OWNER, OTHER, NULL, NULL));
    expect_error(reset(scene, OWNER, code, CHOSEN), ERROR_CODE_MISMATCH);
    expect_error(scene_login(scene, OWNER, CHOSEN, NULL, NULL), ERROR_CREDENTIALS);
}

static void five_wrong_codes_spend_it(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct id id = caller_user(given_owner(scene, given_staff(scene), OWNER));
    ask(scene, RECOVERY_FORGOTTEN, OWNER);
    (void)run_jobs(scene);
    const char *code = mailed(scene, id, "code");
    for (int i = 0; i < 5; i++)
        expect_error(reset(scene, OWNER, wrong(scene, code), OTHER), ERROR_CODE_MISMATCH);
    expect_error(reset(scene, OWNER, code, OTHER), ERROR_CODE_MISMATCH);
    expect_ok(scene_login(scene, OWNER, CHOSEN, NULL, NULL));
}

static void nothing_is_mailed_to_who_may_not_reset(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *staff = given_staff(scene);
    struct caller *owner = given_owner(scene, staff, OWNER);
    struct user waiting;
    struct user invited;
    struct user disabled = given_member(scene, owner, "disabled@example.com");
    expect_ok(make_member(scene, owner, "waiting@example.com", &waiting));
    expect_ok(make_customer(scene, staff, "invited@example.com", &invited));
    sql(scene->database, scene->arena, "UPDATE user SET status = 'disabled' WHERE email = 'disabled@example.com'");
    sql(scene->database, scene->arena, "DELETE FROM outbox");
    static const char *const names[] = {"waiting@example.com", "invited@example.com", "disabled@example.com",
                                        "nobody@example.com", ""};
    for (size_t i = 0; i < 5; i++)
        ask(scene, RECOVERY_FORGOTTEN, names[i]);
    for (size_t i = 2; i < 5; i++)
        ask(scene, RECOVERY_RESEND, names[i]);
    ask(scene, RECOVERY_RESEND, OWNER);
    assert_int_equal(run_jobs(scene), 9);
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM outbox WHERE kind = 'mail'"), 0);
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM outbox WHERE status <> 'done'"),
                     0);
    assert_string_equal(status_of(scene, disabled.id), "disabled");
    /* Not even a code that was mailed before opens a disabled account. */
    sql(scene->database, scene->arena, "UPDATE user SET status = 'active' WHERE email = 'disabled@example.com'");
    ask(scene, RECOVERY_FORGOTTEN, "disabled@example.com");
    (void)run_jobs(scene);
    const char *code = mailed(scene, disabled.id, "code");
    sql(scene->database, scene->arena, "UPDATE user SET status = 'disabled' WHERE email = 'disabled@example.com'");
    expect_error(reset(scene, "disabled@example.com", code, OTHER), ERROR_CODE_MISMATCH);
}

static void five_mails_a_day_the_first_included(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *staff = given_staff(scene);
    struct id owner = caller_user(given_owner(scene, staff, OWNER));
    struct user invited;
    expect_ok(make_customer(scene, staff, "invited@example.com", &invited));
    sql(scene->database, scene->arena, "DELETE FROM outbox WHERE user_id = %s", sql_id(scene->arena, owner));
    const char *last = NULL;
    for (int i = 0; i < 7; i++) {
        ask(scene, RECOVERY_FORGOTTEN, OWNER);
        ask(scene, RECOVERY_RESEND, "invited@example.com");
        (void)run_jobs(scene);
        if (i == 3)
            last = mailed(scene, invited.id, "temporaryPassword");
    }
    assert_int_equal(mails_waiting(scene, owner), 5);
    assert_int_equal(mails_waiting(scene, invited.id), 5);
    /* What was not mailed was not set either. */
    expect_ok(scene_login(scene, "invited@example.com", last, CHOSEN, NULL));
    expect_ok(reset(scene, OWNER, mailed(scene, owner, "code"), OTHER));
}

static void invitation_sent_again_survives_a_failing_provider(void **state)
{
    struct arena *arena = harness_arena(state);
    for (enum fault fault = FAULT_BEFORE; fault <= FAULT_AFTER; fault++) {
        struct scene *scene = scene_new(arena);
        struct user user;
        expect_ok(make_customer(scene, given_staff(scene), OWNER, &user));
        const char *first = mailed(scene, user.id, "temporaryPassword");
        ask(scene, RECOVERY_RESEND, OWNER);
        scene_fault(scene, fault, 1);
        assert_int_equal(run_jobs(scene), 1);
        assert_int_equal(mails_waiting(scene, user.id), 1);
        assert_int_equal(run_jobs(scene), 1); /* the question waited to be asked again */
        assert_int_equal(run_jobs(scene), 0);
        assert_int_equal(mails_waiting(scene, user.id), 2);
        const char *second = mailed(scene, user.id, "temporaryPassword");
        expect_error(scene_login(scene, OWNER, first, CHOSEN, NULL), ERROR_CREDENTIALS);
        expect_ok(scene_login(scene, OWNER, second, CHOSEN, NULL));
    }
}

/* No account at the provider: no success may be reported for a password that was not set. */
static void reset_without_an_account_is_no_success(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct id id = caller_user(given_owner(scene, given_staff(scene), OWNER));
    ask(scene, RECOVERY_FORGOTTEN, OWNER);
    (void)run_jobs(scene);
    expect_ok(provider_remove(scene->faulty.inner, scene->arena, id, OWNER));
    expect_error(reset(scene, OWNER, mailed(scene, id, "code"), OTHER), ERROR_INTERNAL);
}

/* ---- the mails themselves ------------------------------------------------------------------------ */

struct letterbox {
    enum mail_outcome outcome;
    const char *bytes;
    unsigned count;
};

static enum mail_outcome receive(void *context, struct arena *arena, const struct mail_message *message,
                                 const char **reason_out)
{
    struct letterbox *box = context;
    (void)arena;
    box->bytes = message->bytes;
    box->count++;
    if (box->outcome != MAIL_SENT)
        *reason_out = "not today";
    return box->outcome;
}

static void mails_hold_what_is_typed_alone_on_a_line(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct letterbox box = {.outcome = MAIL_LATER};
    struct mail_transport transport = {.send = receive, .context = &box};
    struct outbox_items items;
    struct user user;
    bool sent;
    expect_ok(make_customer(scene, given_staff(scene), OWNER, &user));
    const char *temporary = mailed(scene, user.id, "temporaryPassword");
    const char *link = mailed(scene, user.id, "link");
    expect_ok(outbox_claim(scene->database, scene->arena, 10, 60, &items));
    assert_int_equal(items.count, 1);
    expect_ok(mail_queue_send(&scene->service, scene->arena, &transport, &items.items[0], &sent));
    assert_false(sent);
    assert_int_equal(mails_waiting(scene, user.id), 1);
    const char *first_try = box.bytes;
    sql(scene->database, scene->arena, "UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3)");
    box.outcome = MAIL_SENT;
    expect_ok(outbox_claim(scene->database, scene->arena, 10, 60, &items));
    expect_ok(mail_queue_send(&scene->service, scene->arena, &transport, &items.items[0], &sent));
    assert_true(sent);
    assert_int_equal(box.count, 2);
    assert_int_equal(mails_waiting(scene, user.id), 0);
    assert_non_null(strstr(box.bytes, arena_format(scene->arena, "\r\n%s\r\n", temporary)));
    assert_non_null(strstr(box.bytes, "To: " OWNER "\r\n"));
    assert_non_null(strstr(link, "/first-login?id="));
    /* A double can be told by its Message-ID. */
    const char *one = strstr(first_try, "Message-ID:");
    const char *two = strstr(box.bytes, "Message-ID:");
    assert_true(one != NULL && two != NULL && strncmp(one, two, strcspn(one, "\r")) == 0);
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT MAX(LENGTH(payload)) FROM outbox"), 0);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(first_login_asks_for_a_password_and_takes_a_good_one),
    HARNESS_TEST(first_login_that_breaks_off_is_finished_by_the_next),
    HARNESS_TEST(spellings_of_an_account_count_as_one),
    HARNESS_TEST(names_that_nobody_has_are_throttled_alike),
    HARNESS_TEST(address_has_thirty_failures_of_every_kind),
    HARNESS_TEST(wait_that_began_meanwhile_refuses_right_and_wrong_alike),
    HARNESS_TEST(failing_provider_is_no_failed_try),
    HARNESS_TEST(changing_the_password),
    HARNESS_TEST(an_administrator_sets_a_password),
    HARNESS_TEST(forgotten_password_is_reset_by_the_mailed_code),
    HARNESS_TEST(five_wrong_codes_spend_it),
    HARNESS_TEST(nothing_is_mailed_to_who_may_not_reset),
    HARNESS_TEST(five_mails_a_day_the_first_included),
    HARNESS_TEST(invitation_sent_again_survives_a_failing_provider),
    HARNESS_TEST(reset_without_an_account_is_no_success),
    HARNESS_TEST(mails_hold_what_is_typed_alone_on_a_line),
};
HARNESS_MODULE(sign_in, cases)
