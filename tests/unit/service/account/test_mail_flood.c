/* SPDX-License-Identifier: MIT */
/* Tests the bounds of requests that send mails to strangers, and that mails with codes are sent first. */
#include "harness.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/outbox.h"
#include "service/account/password.h"
#include "service/account/recovery.h"
#include "service/support_accounts.h"

#define OWNER "owner@example.com"

static void ask(struct scene *scene, const char *kind, const char *username)
{
    expect_ok(recovery_ask(&scene->service, scene->arena, &scene->stranger, kind, username));
}

static void an_address_asks_for_thirty_mails_whoever_has_an_account(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller elsewhere = scene->stranger;
    struct user user;
    expect_ok(make_customer(scene, given_staff(scene), OWNER, &user));
    static const char *const kinds[] = {RECOVERY_FORGOTTEN, RECOVERY_RESEND};
    static const char *const names[] = {OWNER, "nobody@example.com", "nobody"};
    sql(scene->database, scene->arena, "DELETE FROM outbox");
    for (unsigned i = 0; i < 30; i++)
        ask(scene, kinds[i % 2], names[i % 3]);
    for (unsigned i = 0; i < 6; i++) {
        struct error *error = recovery_ask(&scene->service, scene->arena, &scene->stranger, kinds[i % 2], names[i % 3]);
        expect_error(error, ERROR_RATE_LIMITED);
        assert_in_range(error->retry_after, 200, 300);
    }
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT COUNT(*) FROM outbox"), 30);
    elsewhere.client_address = "192.0.2.77";
    expect_ok(recovery_ask(&scene->service, scene->arena, &elsewhere, RECOVERY_RESEND, OWNER));
    sql(scene->database, scene->arena, "UPDATE throttle SET since = since - INTERVAL 5 MINUTE");
    ask(scene, RECOVERY_FORGOTTEN, OWNER);
    /* They are no failures: whoever asked may sign in. */
    assert_int_equal(sql_integer(scene->database, scene->arena,
                                 "SELECT COUNT(*) FROM throttle WHERE scope IN ('address', 'account')"),
                     0);
}

static int64_t rank_of(struct scene *scene, const char *where)
{
    return sql_integer(scene->database, scene->arena, "SELECT priority FROM outbox WHERE %s ORDER BY id DESC LIMIT 1",
                       where);
}

static void mails_with_codes_have_the_highest_rank(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), OWNER);
    struct user user;
    /* A temporary password; what came behind it was the first login's. */
    assert_int_equal(rank_of(scene, "kind = 'mail'"), OUTBOX_URGENT);
    assert_int_equal(rank_of(scene, "kind = 'sync'"), OUTBOX_ORDINARY);
    expect_ok(make_member(scene, owner, "one@example.com", &user));
    assert_int_equal(rank_of(scene, "kind = 'mail'"), OUTBOX_URGENT);
    ask(scene, RECOVERY_FORGOTTEN, OWNER);
    assert_int_equal(rank_of(scene, "kind = 'forgotten'"), OUTBOX_QUESTION);
    (void)run_jobs(scene);
    assert_int_equal(rank_of(scene, "kind = 'mail'"), OUTBOX_URGENT);
    expect_ok(password_change(&scene->service, scene->arena, owner, secret_of(CHOSEN), secret_of(OTHER)));
    assert_int_equal(rank_of(scene, "kind = 'mail'"), OUTBOX_ORDINARY);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(an_address_asks_for_thirty_mails_whoever_has_an_account),
    HARNESS_TEST(mails_with_codes_have_the_highest_rank),
};
HARNESS_MODULE(mail_flood, cases)
