/* SPDX-License-Identifier: MIT */
/* What queues mails for strangers is bounded, and what they wait for is sent first. */
#include "harness.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/outbox.h"
#include "service/account/password.h"
#include "service/account/recovery.h"
#include "service/support_accounts.h"

#define OWNER "owner@example.com"

static void ask(struct stage *stage, const char *kind, const char *username)
{
    expect_ok(recovery_ask(&stage->service, stage->arena, &stage->stranger, kind, username));
}

static void an_address_asks_for_thirty_mails_whoever_has_an_account(void **state)
{
    struct stage *stage = stage_new(harness_arena(state));
    struct caller elsewhere = stage->stranger;
    struct user user;
    expect_ok(make_customer(stage, given_staff(stage), OWNER, &user));
    static const char *const kinds[] = {RECOVERY_FORGOTTEN, RECOVERY_RESEND};
    static const char *const names[] = {OWNER, "nobody@example.com", "nobody"};
    sql(stage->database, stage->arena, "DELETE FROM outbox");
    for (unsigned i = 0; i < 30; i++)
        ask(stage, kinds[i % 2], names[i % 3]);
    for (unsigned i = 0; i < 6; i++) {
        struct error *error = recovery_ask(&stage->service, stage->arena, &stage->stranger, kinds[i % 2], names[i % 3]);
        expect_error(error, ERROR_RATE_LIMITED);
        assert_in_range(error->retry_after, 200, 300);
    }
    assert_int_equal(sql_integer(stage->database, stage->arena, "SELECT COUNT(*) FROM outbox"), 30);
    elsewhere.client_address = "192.0.2.77";
    expect_ok(recovery_ask(&stage->service, stage->arena, &elsewhere, RECOVERY_RESEND, OWNER));
    sql(stage->database, stage->arena, "UPDATE throttle SET since = since - INTERVAL 5 MINUTE");
    ask(stage, RECOVERY_FORGOTTEN, OWNER);
    /* They are no failures: whoever asked may sign in. */
    assert_int_equal(sql_integer(stage->database, stage->arena,
                                 "SELECT COUNT(*) FROM throttle WHERE scope IN ('address', 'account')"),
                     0);
}

static int64_t rank_of(struct stage *stage, const char *where)
{
    return sql_integer(stage->database, stage->arena, "SELECT priority FROM outbox WHERE %s ORDER BY id DESC LIMIT 1",
                       where);
}

static void mails_with_codes_have_the_highest_rank(void **state)
{
    struct stage *stage = stage_new(harness_arena(state));
    struct caller *owner = given_owner(stage, given_staff(stage), OWNER);
    struct user user;
    /* A temporary password; what came behind it was the first login's. */
    assert_int_equal(rank_of(stage, "kind = 'mail'"), OUTBOX_URGENT);
    assert_int_equal(rank_of(stage, "kind = 'sync'"), OUTBOX_ORDINARY);
    expect_ok(make_member(stage, owner, "one@example.com", &user));
    assert_int_equal(rank_of(stage, "kind = 'mail'"), OUTBOX_URGENT);
    ask(stage, RECOVERY_FORGOTTEN, OWNER);
    assert_int_equal(rank_of(stage, "kind = 'forgotten'"), OUTBOX_QUESTION);
    (void)run_jobs(stage);
    assert_int_equal(rank_of(stage, "kind = 'mail'"), OUTBOX_URGENT);
    expect_ok(password_change(&stage->service, stage->arena, owner, secret_of(CHOSEN), secret_of(OTHER)));
    assert_int_equal(rank_of(stage, "kind = 'mail'"), OUTBOX_ORDINARY);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(an_address_asks_for_thirty_mails_whoever_has_an_account),
    HARNESS_TEST(mails_with_codes_have_the_highest_rank),
};
HARNESS_MODULE(mail_flood, cases)
