/* SPDX-License-Identifier: MIT */
/* The throttle in front of logins: whom it counts, when it refuses, and that a fault never lets anybody through. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "service/access/login_throttle.h"
#include "service/file/support_files.h"
#include "store/database/database.h"

#define NAME "nobody@example.com"

struct scene {
    struct keep *keep;
    struct caller caller;
    struct error *failure; /* what a failed try is answered */
};

static struct scene scene_new(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct error *failure = error_plain(keep->arena, ERROR_CREDENTIALS);
    return (struct scene){.keep = keep, .caller = files_caller(keep), .failure = failure};
}

static struct error *check(struct scene *scene, const struct login_throttle *throttle)
{
    return login_throttle_check(&scene->keep->service, scene->keep->arena, throttle);
}

static struct error *failed(struct scene *scene, const struct login_throttle *throttle)
{
    return login_throttle_failed(&scene->keep->service, scene->keep->arena, throttle, scene->failure);
}

static struct error *passed(struct scene *scene, const struct login_throttle *throttle)
{
    return login_throttle_passed(&scene->keep->service, scene->keep->arena, throttle);
}

static struct login_throttle of_name(struct scene *scene, const char *username)
{
    return login_throttle_of_password(scene->keep->arena, &scene->caller, NULL, username, (struct id){{0}});
}

/* The waits that are running end, as if the time had passed. */
static void let_waits_end(struct scene *scene)
{
    sql(scene->keep->service.database, scene->keep->arena,
        "UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE locked_until IS NOT NULL");
}

/* A wait that has begun, so long that no slow machine sees its end. */
static void let_waits_last(struct scene *scene)
{
    sql(scene->keep->service.database, scene->keep->arena,
        "UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) + INTERVAL 600 SECOND WHERE locked_until IS NOT NULL");
}

/* The milliseconds that the wait of the account has from its beginning to its end. */
static int64_t wait_begun(struct scene *scene)
{
    return sql_integer(scene->keep->service.database, scene->keep->arena,
                       "SELECT TIMESTAMPDIFF(MICROSECOND, updated_at, locked_until) DIV 1000 FROM throttle"
                       " WHERE locked_until IS NOT NULL");
}

static void expect_refused(struct error *error, unsigned least, unsigned most)
{
    expect_error(error, ERROR_RATE_LIMITED);
    assert_in_range(error->retry_after, least, most);
}

static void fail_free_tries(struct scene *scene, const struct login_throttle *throttle)
{
    for (unsigned i = 0; i < THROTTLE_ACCOUNT_FREE; i++) {
        expect_ok(check(scene, throttle));
        assert_ptr_equal(failed(scene, throttle), scene->failure);
    }
}

static void after_five_failures_every_try_is_refused_for_a_while(void **state)
{
    struct scene scene = scene_new(state);
    struct login_throttle throttle = of_name(&scene, NAME);
    fail_free_tries(&scene, &throttle);
    assert_int_equal(wait_begun(&scene), 1000);
    let_waits_last(&scene);
    expect_refused(check(&scene, &throttle), 300, 600);
    expect_refused(failed(&scene, &throttle), 300, 600);
    expect_refused(passed(&scene, &throttle), 300, 600);
    let_waits_end(&scene);
    expect_ok(check(&scene, &throttle));
    assert_ptr_equal(failed(&scene, &throttle), scene.failure);
    assert_int_equal(wait_begun(&scene), 2000);
}

static void a_right_try_starts_the_account_afresh_and_not_the_address(void **state)
{
    struct scene scene = scene_new(state);
    struct login_throttle throttle = of_name(&scene, NAME);
    for (unsigned i = 0; i < THROTTLE_ACCOUNT_FREE - 1; i++)
        assert_ptr_equal(failed(&scene, &throttle), scene.failure);
    expect_ok(passed(&scene, &throttle));
    fail_free_tries(&scene, &throttle);
    assert_int_equal(sql_integer(scene.keep->service.database, scene.keep->arena,
                                 "SELECT failures FROM throttle WHERE scope = 'address'"),
                     2 * THROTTLE_ACCOUNT_FREE - 1);
}

static void a_user_is_one_account_whatever_name_was_typed(void **state)
{
    struct scene scene = scene_new(state);
    struct arena *arena = scene.keep->arena;
    struct user *user = given_user(scene.keep->service.database, arena, scene.keep->organisation, NULL, NULL);
    struct login_throttle by_email =
        login_throttle_of_password(arena, &scene.caller, user, user->email, (struct id){{0}});
    struct login_throttle by_id =
        login_throttle_of_password(arena, &scene.caller, user, id_text(arena, user->id), (struct id){{0}});
    struct login_throttle another = of_name(&scene, "somebody.else@example.com");
    fail_free_tries(&scene, &by_email);
    let_waits_last(&scene);
    expect_refused(check(&scene, &by_id), 300, 600);
    expect_ok(check(&scene, &another));
}

static void a_name_that_nobody_has_is_not_stored(void **state)
{
    struct scene scene = scene_new(state);
    struct login_throttle throttle = of_name(&scene, NAME);
    fail_free_tries(&scene, &throttle);
    assert_int_equal(sql_integer(scene.keep->service.database, scene.keep->arena,
                                 "SELECT COUNT(*) FROM throttle WHERE INSTR(subject, 'nobody') > 0"),
                     0);
    assert_int_equal(files_rows(scene.keep, "throttle"), 2);
}

static void codes_count_for_the_address_alone(void **state)
{
    struct scene scene = scene_new(state);
    struct login_throttle code = login_throttle_of_code(&scene.caller);
    assert_false(code.has_account);
    for (unsigned i = 0; i < THROTTLE_ADDRESS_FREE; i++)
        assert_ptr_equal(failed(&scene, &code), scene.failure);
    expect_refused(check(&scene, &code), THROTTLE_ADDRESS_SECONDS - 60, THROTTLE_ADDRESS_SECONDS);
    expect_ok(passed(&scene, &code));
    expect_refused(check(&scene, &code), THROTTLE_ADDRESS_SECONDS - 60, THROTTLE_ADDRESS_SECONDS);
    struct login_throttle login = of_name(&scene, NAME);
    expect_refused(check(&scene, &login), THROTTLE_ADDRESS_SECONDS - 60, THROTTLE_ADDRESS_SECONDS);
    scene.caller.client_address = "198.51.100.7";
    struct login_throttle elsewhere = of_name(&scene, NAME);
    expect_ok(check(&scene, &elsewhere));
}

static void without_an_address_only_the_account_counts(void **state)
{
    static const char *const none[] = {NULL, ""};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct scene scene = scene_new(state);
        scene.caller.client_address = none[i];
        struct login_throttle code = login_throttle_of_code(&scene.caller);
        struct login_throttle login = of_name(&scene, NAME);
        assert_false(code.has_address);
        assert_ptr_equal(failed(&scene, &code), scene.failure);
        assert_int_equal(files_rows(scene.keep, "throttle"), 0);
        fail_free_tries(&scene, &login);
        let_waits_last(&scene);
        expect_refused(check(&scene, &login), 300, 600);
    }
}

static void a_failed_code_is_answered_at_a_whole_step(void **state)
{
    static const char *const addresses[] = {"192.0.2.1", NULL};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        struct scene scene = scene_new(state);
        scene.caller.client_address = addresses[i];
        struct login_throttle code = login_throttle_of_code(&scene.caller);
        int64_t before = (clock_monotonic() - code.began) / LOGIN_THROTTLE_STEP;
        assert_ptr_equal(failed(&scene, &code), scene.failure);
        assert_true((clock_monotonic() - code.began) / LOGIN_THROTTLE_STEP > before);
    }
}

static int one_failure(struct database *database, struct arena *arena, unsigned index, void *context)
{
    (void)index;
    struct service service = {.database = database};
    struct error *error = login_throttle_failed(&service, arena, context, NULL);
    return error == NULL ? 1 : error->code == ERROR_RATE_LIMITED ? 2 : 3;
}

static void of_parallel_failures_five_are_answered_as_such(void **state)
{
    struct scene scene = scene_new(state);
    struct login_throttle throttle = of_name(&scene, NAME);
    int results[RACERS_MAX];
    race(20, one_failure, &throttle, results);
    assert_int_equal(race_count(results, 20, 3), 0);
    /* On a slow machine a wait of a second may end meanwhile, and lets one more through. */
    assert_in_range(race_count(results, 20, 1), THROTTLE_ACCOUNT_FREE, THROTTLE_ACCOUNT_FREE + 3);
}

static void without_a_database_nobody_is_let_through(void **state)
{
    struct scene scene = scene_new(state);
    struct login_throttle throttle = of_name(&scene, NAME);
    struct login_throttle code = login_throttle_of_code(&scene.caller);
    files_lose_database(scene.keep);
    expect_error(check(&scene, &throttle), ERROR_DATABASE_UNAVAILABLE);
    expect_error(check(&scene, &code), ERROR_DATABASE_UNAVAILABLE);
    expect_error(failed(&scene, &throttle), ERROR_DATABASE_UNAVAILABLE);
    expect_error(passed(&scene, &throttle), ERROR_DATABASE_UNAVAILABLE);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(after_five_failures_every_try_is_refused_for_a_while),
    HARNESS_TEST(a_right_try_starts_the_account_afresh_and_not_the_address),
    HARNESS_TEST(a_user_is_one_account_whatever_name_was_typed),
    HARNESS_TEST(a_name_that_nobody_has_is_not_stored),
    HARNESS_TEST(codes_count_for_the_address_alone),
    HARNESS_TEST(without_an_address_only_the_account_counts),
    HARNESS_TEST(a_failed_code_is_answered_at_a_whole_step),
    HARNESS_TEST(of_parallel_failures_five_are_answered_as_such),
    HARNESS_TEST(without_a_database_nobody_is_let_through),
};
HARNESS_MODULE(login_throttle, cases)
