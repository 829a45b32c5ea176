/* SPDX-License-Identifier: MIT */
/*
 * Nobody learns from the time of an answer whether an account exists or a code is there. Times cannot be compared
 * exactly, but the work can: what the database counts for our connection must be the same for every name, the
 * statements of each kind, the rows looked up and written and the commits. A try at a code also writes as many bytes of
 * the server's redo log.
 */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/one_time_code.h"
#include "domain/account/user.h"
#include "service/account/member.h"
#include "service/account/member_erase.h"
#include "service/account/password.h"
#include "service/account/recovery.h"
#include "service/support_accounts.h"
#include "store/database/database.h"

#define UNKNOWN "nobody@example.com"
#define UNKNOWN_ID "01890000-0000-7000-8000-000000000000"

/* A request about a name, which is not to succeed. */
typedef struct error *request(struct scene *scene, const char *username);

/* What a request about a name takes. */
typedef const char *measure(struct scene *scene, request *ask, const char *username);

static struct error *confirm(struct scene *scene, const char *username)
{
    return member_confirm(&scene->service, scene->arena, &scene->stranger, username, "no code");
}

static struct error *reset(struct scene *scene, const char *username)
{
    return password_reset(&scene->service, scene->arena, &scene->stranger, username, "no code", secret_of(OTHER));
}

static struct error *login(struct scene *scene, const char *username)
{
    return scene_login(scene, username, "not the password", NULL, NULL);
}

static struct error *forgotten(struct scene *scene, const char *username)
{
    return recovery_ask(&scene->service, scene->arena, &scene->stranger, RECOVERY_FORGOTTEN, username);
}

static struct error *resend(struct scene *scene, const char *username)
{
    return recovery_ask(&scene->service, scene->arena, &scene->stranger, RECOVERY_RESEND, username);
}

/* ---- counting ------------------------------------------------------------------------------------ */

#define COUNTERS 15

/* Reads nothing that it counts itself differently from time to time. */
static const struct statement read_counters = {
    "SELECT VARIABLE_NAME, CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME IN"
    " ('COM_SELECT', 'COM_INSERT', 'COM_UPDATE', 'COM_DELETE', 'COM_BEGIN', 'COM_COMMIT', 'COM_ROLLBACK',"
    " 'COM_STMT_EXECUTE', 'HANDLER_COMMIT', 'HANDLER_UPDATE', 'HANDLER_DELETE', 'HANDLER_WRITE', 'HANDLER_READ_KEY',"
    " 'HANDLER_READ_FIRST', 'ROWS_SENT') ORDER BY 1"};

static struct rows *counters(struct scene *scene)
{
    struct rows *rows;
    expect_ok(database_query(scene->database, scene->arena, &read_counters, NO_VALUES, &rows));
    assert_int_equal(rows->count, COUNTERS);
    return rows;
}

/* What the request took, as a text such as "COM_COMMIT 2, COM_INSERT 3". */
static const char *work_now(struct scene *scene, request *ask, const char *username)
{
    struct buffer work;
    buffer_init(&work, scene->arena);
    struct rows *before = counters(scene);
    struct error *error = ask(scene, username);
    struct rows *after = counters(scene);
    for (size_t i = 0; i < COUNTERS; i++)
        buffer_add_format(&work, "%s %lld, ", rows_text(after, i, 0),
                          (long long)(rows_integer(after, i, 1) - rows_integer(before, i, 1)));
    buffer_add_text(&work, error == NULL ? "success" : error_code_text(error->code));
    return work.bytes;
}

/* The same where what is throttled is forgotten first. */
static const char *work_of(struct scene *scene, request *ask, const char *username)
{
    sql(scene->database, scene->arena, "DELETE FROM throttle");
    return work_now(scene, ask, username);
}

/* The same of a login with a name that has to wait for fifteen minutes. */
static const char *work_while_locked_out(struct scene *scene, request *ask, const char *username)
{
    sql(scene->database, scene->arena, "DELETE FROM throttle");
    while (error_status(ask(scene, username)->code) == 401)
        continue;
    sql(scene->database, scene->arena,
        "UPDATE throttle SET locked_until = UTC_TIMESTAMP(3) + INTERVAL 15 MINUTE WHERE scope = 'account'");
    return work_now(scene, ask, username);
}

/* ---- those who are asked about ------------------------------------------------------------------- */

/* A person of each state that an account, and a code of it, may be in. */
struct person {
    const char *state;
    const char *username;
};

#define PEOPLE 16

static void give_code(struct scene *scene, struct id user, const char *purpose, const char *change)
{
    struct secret code;
    expect_ok(one_time_code_issue(scene->database, scene->arena, scene->service.master, user, purpose, 3600, &code));
    sql(scene->database, scene->arena, "UPDATE code SET %s WHERE user_id = %s AND purpose = '%s'", change,
        sql_id(scene->arena, user), purpose);
}

/* A member in that state with that code. */
static struct person given_person(struct scene *scene, const struct caller *owner, const char *status,
                                  const char *purpose, const char *code, const char *change)
{
    struct arena *arena = scene->arena;
    struct user user;
    const char *email = arena_format(arena, "%s-%s-%s@example.com", status, purpose, code);
    expect_ok(make_member(scene, owner, email, &user));
    sql(scene->database, arena, "UPDATE user SET status = '%s' WHERE id = %s", status, sql_id(arena, user.id));
    sql(scene->database, arena, "DELETE FROM code WHERE user_id = %s", sql_id(arena, user.id));
    if (change != NULL)
        give_code(scene, user.id, purpose, change);
    return (struct person){email, email};
}

/* The owner of an organisation that is disabled. */
static struct person given_closed(struct scene *scene, const struct caller *staff)
{
    const struct caller *owner = given_owner(scene, staff, "closed@example.com");
    sql(scene->database, scene->arena, "UPDATE organisation SET status = 'disabled' WHERE id = %s",
        sql_id(scene->arena, caller_home(owner)));
    return (struct person){"of a disabled organisation", "closed@example.com"};
}

/* A member who was erased, by the address of before. */
static struct person given_erased(struct scene *scene, const struct caller *owner)
{
    bool finished;
    struct user user = given_member(scene, owner, "erased@example.com");
    sql(scene->database, scene->arena, "UPDATE user SET status = 'disabled' WHERE id = %s",
        sql_id(scene->arena, user.id));
    expect_ok(member_erase(&scene->service, scene->arena, owner, "cus:user:w", user.id, &finished));
    return (struct person){"erased", "erased@example.com"};
}

static void gather(struct scene *scene, struct person people[PEOPLE])
{
    static const struct {
        const char *name;
        const char *change; /* NULL: no code */
    } codes[] = {{"none", NULL},
                 {"live", "tries = 0"},
                 {"spent", "tries = 5"},
                 {"expired", "expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND"}};
    struct caller *staff = given_staff(scene);
    struct caller *owner = given_owner(scene, staff, "owner@example.com");
    struct user invited;
    size_t count = 0;
    for (size_t i = 0; i < 4; i++) {
        people[count++] =
            given_person(scene, owner, "awaiting-confirmation", "confirm", codes[i].name, codes[i].change);
        people[count++] = given_person(scene, owner, "active", "reset", codes[i].name, codes[i].change);
    }
    people[count++] = given_person(scene, owner, "disabled", "reset", "live", codes[1].change);
    people[count++] = given_person(scene, owner, "disabled", "confirm", "live", codes[1].change);
    expect_ok(make_customer(scene, staff, "invited@example.com", &invited));
    people[count++] = (struct person){"awaiting the first login", "invited@example.com"};
    people[count++] = given_closed(scene, staff);
    people[count++] = given_erased(scene, owner);
    people[count++] = (struct person){"by id", id_text(scene->arena, invited.id)};
    people[count++] = (struct person){"unknown id", UNKNOWN_ID};
    people[count++] = (struct person){"no address at all", "nobody"};
    assert_int_equal(count, PEOPLE);
}

/*
 * The names by id are compared with an id that is nobody's: an address is looked for in two spellings, an id in one.
 * The first requests prepare the statements of the connection, and each person's first one may make a decoy.
 */
static void expect_equal(struct scene *scene, request *ask, measure *work_of_one, const char *answer)
{
    struct person people[PEOPLE];
    gather(scene, people);
    (void)work_of_one(scene, ask, UNKNOWN);
    (void)work_of_one(scene, ask, UNKNOWN_ID);
    (void)work_of_one(scene, ask, people[0].username);
    const char *by_address = work_of_one(scene, ask, UNKNOWN);
    const char *by_id = work_of_one(scene, ask, UNKNOWN_ID);
    assert_non_null(strstr(by_address, answer));
    assert_non_null(strstr(by_id, answer));
    for (size_t i = 0; i < PEOPLE; i++) {
        (void)work_of_one(scene, ask, people[i].username);
        const char *work = work_of_one(scene, ask, people[i].username);
        struct id id;
        const char *nobody = id_parse(people[i].username, &id) ? by_id : by_address;
        if (strcmp(work, nobody) != 0)
            fail_msg("%s: %s; of nobody: %s", people[i].state, work, nobody);
    }
}

static void expect_equal_work(struct scene *scene, request *ask, const char *answer)
{
    expect_equal(scene, ask, work_of, answer);
}

static void confirming_takes_the_same_work_for_everybody(void **state)
{
    expect_equal_work(scene_new(harness_arena(state)), confirm, "code.mismatch");
}

static void resetting_takes_the_same_work_for_everybody(void **state)
{
    expect_equal_work(scene_new(harness_arena(state)), reset, "code.mismatch");
}

static void signing_in_takes_the_same_work_for_everybody(void **state)
{
    expect_equal_work(scene_new(harness_arena(state)), login, "auth.credentials");
}

static void signing_in_while_locked_out_takes_the_same_work_for_everybody(void **state)
{
    expect_equal(scene_new(harness_arena(state)), login, work_while_locked_out, "rate.limited");
}

static void asking_for_a_mail_takes_the_same_work_for_everybody(void **state)
{
    away_from_midnight();
    expect_equal_work(scene_new(harness_arena(state)), forgotten, "success");
    expect_equal_work(scene_new(harness_arena(state)), resend, "success");
}

/* ---- the redo log -------------------------------------------------------------------------------- */

#define LOG_ROUNDS 6
/* The log's numbers are packed, so the same write takes some bytes more or less from time to time. */
#define LOG_SLACK_BYTES 12

static int64_t log_position(struct scene *scene)
{
    return sql_integer(scene->database, scene->arena,
                       "SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS"
                       " WHERE VARIABLE_NAME = 'INNODB_LSN_CURRENT'");
}

/* The bytes of redo log that one try takes: the least of several, since the server writes for itself, too. */
static int64_t log_of_try(struct scene *scene, const char *username)
{
    struct user *user = NULL;
    int64_t least = INT64_MAX;
    expect_ok(user_find_by_username(scene->database, scene->arena, username, &user));
    struct one_time_code_attempt attempt = {.username = username, .purpose = ONE_TIME_CODE_CONFIRM, .code = "no code"};
    if (user != NULL)
        attempt.user = user->id;
    for (unsigned i = 0; i < LOG_ROUNDS; i++) {
        bool good = false;
        /* What others left behind is cleared away first. */
        sql(scene->database, scene->arena, "SET GLOBAL innodb_max_purge_lag_wait = 0");
        sql(scene->database, scene->arena, "UPDATE code SET tries = 0 WHERE tries BETWEEN 1 AND 4");
        sql(scene->database, scene->arena, "SET GLOBAL innodb_max_purge_lag_wait = 0");
        int64_t before = log_position(scene);
        expect_ok(one_time_code_try(scene->database, scene->arena, scene->service.master, &attempt, &good));
        int64_t bytes = log_position(scene) - before;
        least = bytes < least ? bytes : least;
    }
    return least;
}

static void a_try_writes_as_much_of_the_log_for_everybody(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct person people[PEOPLE];
    gather(scene, people);
    int64_t nobody = log_of_try(scene, UNKNOWN);
    assert_true(nobody > 100);
    for (size_t i = 0; i < PEOPLE; i++) {
        int64_t bytes = log_of_try(scene, people[i].username);
        if (bytes < nobody - LOG_SLACK_BYTES || bytes > nobody + LOG_SLACK_BYTES)
            fail_msg("%s: %lld bytes; of nobody: %lld", people[i].state, (long long)bytes, (long long)nobody);
    }
}

static void the_counters_see_a_row_that_is_written(void **state)
{
    struct scene *scene = scene_new(harness_arena(state));
    struct caller *owner = given_owner(scene, given_staff(scene), "owner@example.com");
    struct user user;
    expect_ok(make_member(scene, owner, "one@example.com", &user));
    (void)work_of(scene, confirm, UNKNOWN);
    const char *work = work_of(scene, confirm, "one@example.com");
    /* The code or the decoy, and the count of the address; three commits: the try, the audit row, the count. */
    assert_non_null(strstr(work, "HANDLER_UPDATE 2,"));
    assert_non_null(strstr(work, "HANDLER_COMMIT"));
    assert_int_equal(sql_integer(scene->database, scene->arena, "SELECT tries FROM code WHERE user_id = %s",
                                 sql_id(scene->arena, user.id)),
                     1);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(confirming_takes_the_same_work_for_everybody),
    HARNESS_TEST(resetting_takes_the_same_work_for_everybody),
    HARNESS_TEST(signing_in_takes_the_same_work_for_everybody),
    HARNESS_TEST(signing_in_while_locked_out_takes_the_same_work_for_everybody),
    HARNESS_TEST(asking_for_a_mail_takes_the_same_work_for_everybody),
    HARNESS_TEST(a_try_writes_as_much_of_the_log_for_everybody),
    HARNESS_TEST(the_counters_see_a_row_that_is_written),
};
HARNESS_MODULE(equal_work, cases)
