/* SPDX-License-Identifier: MIT */
/* The rights that a migration gives the workers' account, and those that it takes away. */
#include "harness.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "store/database/migrate.h"
#include "store/support.h"
#include "support_database.h"

struct place {
    struct arena *arena;
    struct database *database; /* "migrations", empty at first */
};

static struct place place_new(void **state)
{
    struct place place = {.arena = harness_arena(state)};
    struct database_options options = support_database_empty("migrations");
    place.database = help_open(place.arena, &options);
    return place;
}

/* Another account in the same database. */
static struct database_options options_of(const char *user, struct secret password)
{
    struct database_options options = support_database_options();
    options.user = user;
    options.password = password;
    options.name = "migrations";
    return options;
}

static void a_failed_grant_tells_no_password(void **state)
{
    struct place place = place_new(state);
    char host[300];
    memset(host, 'h', sizeof host - 1);
    host[sizeof host - 1] = '\0';
    struct secret password = secret_of("Canary-1234");
    help_error(migrate_account(place.database, place.arena, "user", host, password), ERROR_INTERNAL);
    help_error(migrate_grant(place.database, place.arena, "x", "user", host, NULL, 0), ERROR_INTERNAL);
    /* A user without the right to make users. */
    struct database_options options = support_database_options();
    help_none(migrate_account(place.database, place.arena, "plain", "localhost", password));
    help_execute(place.database, place.arena, "GRANT SELECT ON migrations.* TO plain@localhost");
    options.user = "plain";
    options.password = password;
    options.name = "migrations";
    struct database *database = help_open(place.arena, &options);
    struct error *error = migrate_account(database, place.arena, "second", "localhost", password);
    assert_non_null(error);
    assert_null(strstr(error->detail, "Canary"));
    assert_null(strstr(error->message, "Canary"));
}

/* What an account could do before it was narrowed, and what it can do after. */
static void a_grant_takes_away_what_it_does_not_give(void **state)
{
    static const struct grant narrow[] = {{"trail", "SELECT, INSERT"}, {"counter", "SELECT, UPDATE (version)"}};
    static const char *const allowed[] = {"INSERT INTO trail VALUES (1)", "UPDATE counter SET version = version + 1"};
    static const char *const refused[] = {"UPDATE trail SET a = 2", "DELETE FROM trail",
                                          "UPDATE counter SET roles = 'x'", "INSERT INTO counter VALUES (1, '')",
                                          "SELECT * FROM other"};
    struct place place = place_new(state);
    struct secret password = secret_of("n");
    size_t excess = 0;
    help_execute(place.database, place.arena, "CREATE TABLE trail (a INT)");
    help_execute(place.database, place.arena, "CREATE TABLE counter (version INT, roles TEXT)");
    help_execute(place.database, place.arena, "CREATE TABLE other (a INT)");
    help_none(migrate_account(place.database, place.arena, "narrowed", "localhost", password));
    help_execute(place.database, place.arena,
                 "GRANT SELECT, INSERT, UPDATE, DELETE ON migrations.* TO narrowed@localhost");
    help_execute(place.database, place.arena, "GRANT UPDATE, DELETE ON migrations.counter TO narrowed@localhost");
    struct database_options options = options_of("narrowed", password);
    struct database *before = help_open(place.arena, &options);
    help_none(migrate_excess(before, place.arena, narrow, 2, &excess));
    assert_int_equal(excess, 5);
    help_execute(before, place.arena, refused[0]);
    for (int again = 0; again < 2; again++)
        help_none(migrate_grant(place.database, place.arena, "migrations", "narrowed", "localhost", narrow, 2));
    struct database *database = help_open(place.arena, &options);
    help_none(migrate_excess(database, place.arena, narrow, 2, &excess));
    assert_int_equal(excess, 0);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        help_execute(database, place.arena, allowed[i]);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct error *error = database_execute(database, place.arena, refused[i], strlen(refused[i]));
        assert_non_null(error);
        assert_non_null(strstr(error->detail, "denied"));
    }
}

/* Works until the pipe is closed, and tells once it does; exits with 1 when it was refused once. */
static void work_on(const struct database_options *options, int end, int told)
{
    static const char work[] = "UPDATE counter SET version = version + 1";
    struct arena *arena = arena_new();
    struct database *database = database_new(options);
    bool refused = false;
    (void)fcntl(end, F_SETFL, O_NONBLOCK);
    bool heard = false;
    for (char byte = 'x'; read(end, &byte, 1) != 0; heard = heard || write(told, &byte, 1) == 1)
        refused |= database_execute(database, arena, work, strlen(work)) != NULL;
    _exit(refused || !heard);
}

static void a_grant_made_again_refuses_nobody_meanwhile(void **state)
{
    static const struct grant narrow[] = {{"counter", "SELECT, UPDATE (version)"}};
    struct place place = place_new(state);
    struct secret password = secret_of("n");
    int ends[2], told[2], status;
    char byte;
    help_execute(place.database, place.arena, "CREATE TABLE counter (version INT, roles TEXT)");
    help_execute(place.database, place.arena, "INSERT INTO counter VALUES (0, '')");
    help_none(migrate_account(place.database, place.arena, "narrowed", "localhost", password));
    help_none(migrate_grant(place.database, place.arena, "migrations", "narrowed", "localhost", narrow, 1));
    struct database_options options = options_of("narrowed", password);
    options.query_timeout_seconds = 60;
    assert_int_equal(pipe(ends) + pipe(told), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(ends[1]);
        work_on(&options, ends[0], told[1]);
    }
    (void)close(told[1]);
    assert_int_equal(read(told[0], &byte, 1), 1);
    for (int again = 0; again < 100; again++)
        help_none(migrate_grant(place.database, place.arena, "migrations", "narrowed", "localhost", narrow, 1));
    (void)close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    (void)close(ends[0]);
    (void)close(told[0]);
}

/* Rights as people give them by hand: all of them, on the name without escapes, to an account with an @ in its name. */
static void rights_given_by_hand_are_seen_and_taken_away(void **state)
{
    static const struct grant narrow[] = {{"trail", "SELECT, INSERT"}};
    static const char *const refused[] = {"TRUNCATE trail", "DROP TABLE trail", "ALTER TABLE trail ADD COLUMN b INT",
                                          "CREATE TABLE more (a INT)", "GRANT SELECT ON trail TO 'n@rrow'@localhost"};
    static const char *const given[] = {"GRANT ALL ON my_base.* TO 'n@rrow'@localhost WITH GRANT OPTION",
                                        "GRANT ALL ON my_base.trail TO 'n@rrow'@localhost",
                                        "GRANT DROP ON `my\\_base`.* TO 'n@rrow'@localhost"};
    struct place place = place_new(state);
    struct secret password = secret_of("n");
    size_t excess = 0;
    help_none(migrate_create_database(place.database, place.arena, "my_base"));
    help_execute(place.database, place.arena, "CREATE TABLE my_base.trail (a INT)");
    help_none(migrate_account(place.database, place.arena, "n@rrow", "localhost", password));
    struct database_options options = support_database_options();
    options.user = "n@rrow";
    options.password = password;
    options.name = "my_base";
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        help_execute(place.database, place.arena, given[i]);
        struct database *before = help_open(place.arena, &options);
        help_none(migrate_excess(before, place.arena, narrow, 1, &excess));
        assert_true(excess > 0);
        help_none(migrate_grant(place.database, place.arena, "my_base", "n@rrow", "localhost", narrow, 1));
        struct database *after = help_open(place.arena, &options);
        help_none(migrate_excess(after, place.arena, narrow, 1, &excess));
        assert_int_equal(excess, 0);
        help_execute(after, place.arena, "INSERT INTO trail VALUES (1)");
        for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
            assert_non_null(database_execute(after, place.arena, refused[k], strlen(refused[k])));
    }
    help_execute(place.database, place.arena, "DROP DATABASE my_base");
}

/* An administrator who has fewer rights than somebody else gave the account. */
static void what_the_administrator_may_not_revoke_stays_and_is_seen(void **state)
{
    static const struct grant narrow[] = {{"trail", "SELECT, INSERT"}};
    struct place place = place_new(state);
    struct secret password = secret_of("n");
    size_t excess = 0;
    help_execute(place.database, place.arena, "CREATE TABLE trail (a INT)");
    help_none(migrate_account(place.database, place.arena, "lesser", "localhost", password));
    help_execute(place.database, place.arena,
                 "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, TRIGGER, DELETE HISTORY"
                 " ON migrations.* TO lesser@localhost WITH GRANT OPTION");
    help_none(migrate_account(place.database, place.arena, "narrowed", "localhost", password));
    help_execute(place.database, place.arena, "GRANT UPDATE, DROP, EVENT ON migrations.* TO narrowed@localhost");
    struct database_options options = options_of("lesser", password);
    struct database *lesser = help_open(place.arena, &options);
    help_none(migrate_grant(lesser, place.arena, "migrations", "narrowed", "localhost", narrow, 1));
    options.user = "narrowed";
    struct database *narrowed = help_open(place.arena, &options);
    help_none(migrate_excess(narrowed, place.arena, narrow, 1, &excess));
    assert_int_equal(excess, 1); /* EVENT */
    help_execute(place.database, place.arena, "REVOKE EVENT ON migrations.* FROM narrowed@localhost");
    help_execute(place.database, place.arena, "DROP USER lesser@localhost");
}

static void grants_can_be_printed(void **state)
{
    static const struct grant one[] = {{"trail", "SELECT, INSERT"}, {"counter", "UPDATE (version)"}};
    struct arena *arena = harness_arena(state);
    const char *text;
    help_none(migrate_grant_text(arena, "my_base", "it's", "%", one, 2, &text));
    assert_string_equal(text, "GRANT SELECT, INSERT ON `my_base`.`trail` TO 'it\\'s'@'%';\n"
                              "GRANT UPDATE (version) ON `my_base`.`counter` TO 'it\\'s'@'%';\n");
    help_error(migrate_grant_text(arena, "", "u", "%", one, 2, &text), ERROR_INTERNAL);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_failed_grant_tells_no_password),
    HARNESS_TEST(a_grant_takes_away_what_it_does_not_give),
    HARNESS_TEST(a_grant_made_again_refuses_nobody_meanwhile),
    HARNESS_TEST(rights_given_by_hand_are_seen_and_taken_away),
    HARNESS_TEST(what_the_administrator_may_not_revoke_stays_and_is_seen),
    HARNESS_TEST(grants_can_be_printed),
};
HARNESS_MODULE(migrate_grants, cases)
