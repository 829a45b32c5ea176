/* SPDX-License-Identifier: MIT */
/*
 * The audit trail read back: every combination of filters, page by page, against the same rows filtered here.
 */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "domain/audit.h"
#include "support.h"
#include "support_database.h"

#define ROWS 48
#define START INT64_C(1700000000000)
#define STEP 1000

/* A row as it was written; row i stands at START + i / 2 * STEP, so that two share each moment. */
struct written {
    struct id id;
    struct id organisation;
    struct id user;
    const char *action;
    const char *outcome;
    const char *target;  /* NULL: none */
    const char *request; /* likewise */
    int64_t at;
};

static const char *const actions[] = {"user.login", "user.update", "file.upload"};
static const char *const targets[] = {"target-one", "Target-One", NULL};
static const char *const requests[] = {"request-one", NULL, "request-two"};

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

static void write_rows(struct database *database, struct arena *arena, const struct id organisations[2],
                       const struct id users[2], struct written rows[ROWS])
{
    support_database_clear();
    for (unsigned i = 0; i < ROWS; i++) {
        struct written *row = &rows[i];
        *row = (struct written){.id = id_new(),
                                .at = START + (int64_t)(i / 2) * STEP,
                                .action = actions[i % 3],
                                .outcome = i % 4 == 1 ? "failure" : "success",
                                .target = targets[i % 3],
                                .request = requests[i / 2 % 3]};
        /* Some rows have neither: failed logins of names that nobody has. */
        if (i % 5 != 4)
            row->organisation = organisations[i / 3 % 2];
        if (i % 7 != 6)
            row->user = users[i / 6 % 2];
        for (int byte = 0; byte < 6; byte++)
            row->id.bytes[byte] = (uint8_t)((uint64_t)row->at >> (40 - 8 * byte));
        row->id.bytes[6] = 0x70;
        row->id.bytes[7] = (uint8_t)(i % 2);
        char at[CLOCK_TEXT_BYTES];
        clock_format(row->at, at);
        sql(database, arena,
            "INSERT INTO audit (id, at, action, organisation_id, user_id, outcome, target_id, request_id) VALUES"
            " (%s, '%.10s %.12s', '%s', NULLIF(%s, REPEAT(x'00', 16)), NULLIF(%s, REPEAT(x'00', 16)), '%s',"
            " NULLIF('%s', ''), NULLIF('%s', ''))",
            sql_id(arena, row->id), at, at + 11, row->action, sql_id(arena, row->organisation),
            sql_id(arena, row->user), row->outcome, or_empty(row->target), or_empty(row->request));
    }
}

/* Whether a text passes a filter; NULL lets all pass. */
static bool passes(const char *asked, const char *text)
{
    return asked == NULL || (text != NULL && strcmp(asked, text) == 0);
}

static bool matches(const struct written *row, const struct audit_filter *filter)
{
    if (!id_is_none(filter->organisation_id) && !id_equal(row->organisation, filter->organisation_id))
        return false;
    if (!id_is_none(filter->user_id) && !id_equal(row->user, filter->user_id))
        return false;
    if (!passes(filter->action, row->action) || !passes(filter->outcome, row->outcome) ||
        !passes(filter->target_id, row->target) || !passes(filter->request_id, row->request))
        return false;
    return row->at >= filter->since && row->at < filter->until;
}

/* Reads all pages of `filter` and compares them with what should be there, newest first. */
static void expect_rows(struct database *database, struct arena *arena, struct audit_filter filter,
                        const struct written rows[ROWS])
{
    struct audit_page page = {NULL, 0, false};
    size_t at = 0;
    for (size_t i = ROWS; i-- > 0;) {
        if (!matches(&rows[i], &filter))
            continue;
        if (at == page.count) {
            expect_ok(audit_list(database, arena, &filter, &page));
            assert_true(page.count >= 1 && page.count <= filter.limit);
            at = 0;
        }
        assert_true(id_equal(page.items[at].id, rows[i].id));
        assert_string_equal(page.items[at].entry.action, rows[i].action);
        assert_true(id_equal(page.items[at].entry.organisation_id, rows[i].organisation));
        assert_true(id_equal(page.items[at].entry.user_id, rows[i].user));
        filter.before = page.items[at].id;
        at++;
    }
    assert_true(at == page.count && !page.more);
    expect_ok(audit_list(database, arena, &filter, &page));
    assert_int_equal(page.count, 0);
    assert_false(page.more);
}

static void every_combination_of_filters(void **state)
{
    /* Before all, at a row, between rows, at the last, behind all. */
    static const int64_t moments[] = {INT64_MIN,         -1,       START + 5 * STEP, START + 11 * STEP + 1,
                                      START + 23 * STEP, INT64_MAX};
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisations[2] = {id_new(), id_new()};
    struct id users[2] = {id_new(), id_new()};
    struct written rows[ROWS];
    write_rows(database, arena, organisations, users, rows);
    static const struct id none;
    const struct id asked_organisations[] = {none, organisations[0], organisations[1], id_new()};
    const struct id asked_users[] = {none, users[0], users[1]};
    const char *const asked_actions[] = {NULL, "user.login", "file.upload", "user.log", "nothing.such"};
    unsigned number = 0;
    for (unsigned o = 0; o < 4; o++)
        for (unsigned u = 0; u < 3; u++)
            for (unsigned a = 0; a < 5; a++)
                for (unsigned s = 0; s < 5; s++)
                    for (unsigned e = 1 + number % 2; e < 6; e += 2, number++)
                        expect_rows(database, arena,
                                    (struct audit_filter){.organisation_id = asked_organisations[o],
                                                          .user_id = asked_users[u],
                                                          .action = asked_actions[a],
                                                          .since = moments[s],
                                                          .until = moments[e],
                                                          .limit = 1 + number % 9 * 4},
                                    rows);
    database_free(&database);
}

/* Each filter with each other one, so that every statement is met with every rest. */
static void every_set_of_filters(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisations[2] = {id_new(), id_new()};
    struct id users[2] = {id_new(), id_new()};
    struct written rows[ROWS];
    write_rows(database, arena, organisations, users, rows);
    for (unsigned set = 0; set < 64; set++)
        for (unsigned variant = 0; variant < 4; variant++) {
            struct audit_filter filter = {.since = variant == 3 ? START + 5 * STEP : INT64_MIN,
                                          .until = variant == 3 ? START + 18 * STEP : INT64_MAX,
                                          .limit = 3 + set % 5 * 9};
            if ((set & 1) != 0)
                filter.organisation_id = organisations[variant % 2];
            if ((set & 2) != 0)
                filter.user_id = users[variant / 2];
            if ((set & 4) != 0)
                filter.action = actions[variant % 3];
            if ((set & 8) != 0)
                filter.outcome = variant % 2 == 0 ? "success" : "failure";
            if ((set & 16) != 0)
                filter.target_id = variant == 2 ? "target-one " : targets[variant % 2];
            if ((set & 32) != 0)
                filter.request_id = variant == 2 ? "nobody's" : requests[variant % 2 * 2];
            expect_rows(database, arena, filter, rows);
        }
    database_free(&database);
}

static void rows_may_be_skipped(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisations[2] = {id_new(), id_new()};
    struct id users[2] = {id_new(), id_new()};
    struct written rows[ROWS];
    struct audit_page page;
    write_rows(database, arena, organisations, users, rows);
    struct audit_filter filter = {.since = INT64_MIN, .until = INT64_MAX, .skip = ROWS - 2, .limit = 1};
    expect_ok(audit_list(database, arena, &filter, &page));
    assert_true(page.count == 1 && page.more && id_equal(page.items[0].id, rows[1].id));
    filter.skip = ROWS - 1;
    expect_ok(audit_list(database, arena, &filter, &page));
    assert_true(page.count == 1 && !page.more && id_equal(page.items[0].id, rows[0].id));
    filter.skip = ROWS;
    expect_ok(audit_list(database, arena, &filter, &page));
    assert_true(page.count == 0 && !page.more);
    database_free(&database);
}

static void window_holds_its_start_and_not_its_end(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisations[2] = {id_new(), id_new()};
    struct id users[2] = {id_new(), id_new()};
    struct written rows[ROWS];
    struct audit_page page;
    write_rows(database, arena, organisations, users, rows);
    struct audit_filter filter = {.since = START + 3 * STEP, .until = START + 4 * STEP, .limit = 100};
    expect_ok(audit_list(database, arena, &filter, &page));
    assert_int_equal(page.count, 2);
    assert_true(id_equal(page.items[0].id, rows[7].id) && id_equal(page.items[1].id, rows[6].id));
    filter.until = filter.since;
    expect_ok(audit_list(database, arena, &filter, &page));
    assert_int_equal(page.count, 0);
    filter.until = START;
    expect_ok(audit_list(database, arena, &filter, &page));
    assert_int_equal(page.count, 0);
    /* A cursor from outside the window does not widen it. */
    filter = (struct audit_filter){.since = START, .until = START + STEP, .before = rows[40].id, .limit = 100};
    expect_ok(audit_list(database, arena, &filter, &page));
    assert_int_equal(page.count, 2);
    database_free(&database);
}

static void rows_added_meanwhile_do_not_shift_pages(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct id organisation = id_new();
    struct audit_page page;
    support_database_clear();
    struct audit_entry entry = {.action = "file.upload", .organisation_id = organisation, .outcome = "success"};
    for (int i = 0; i < 5; i++)
        expect_ok(audit_insert(database, arena, &entry));
    struct audit_filter filter = {.organisation_id = organisation, .since = INT64_MIN, .until = INT64_MAX, .limit = 2};
    expect_ok(audit_list(database, arena, &filter, &page));
    assert_true(page.count == 2 && page.more);
    struct id last = page.items[1].id;
    filter.before = last;
    for (int i = 0; i < 3; i++)
        expect_ok(audit_insert(database, arena, &entry));
    expect_ok(audit_list(database, arena, &filter, &page));
    assert_true(page.count == 2 && page.more);
    assert_true(memcmp(page.items[0].id.bytes, last.bytes, ID_BYTES) < 0);
    filter.before = page.items[1].id;
    expect_ok(audit_list(database, arena, &filter, &page));
    assert_true(page.count == 1 && !page.more);
    database_free(&database);
}

static void every_member_comes_back(void **state)
{
    struct arena *arena = harness_arena(state);
    struct database *database = support_database_new();
    struct audit_page page;
    struct audit_filter filter = {.since = INT64_MIN, .until = INT64_MAX, .limit = 10};
    support_database_clear();
    struct audit_entry entry = {
        .action = "user.update",
        .organisation_id = id_new(),
        .user_id = id_new(),
        .target_type = "user",
        .target_id = "0192",
        .client_address = "2001:db8::1",
        .request_id = "request-12345678",
        .outcome = "failure",
        .details = "{\"name\":\"\xc3\x85sa\"}",
    };
    expect_ok(audit_insert(database, arena, &entry));
    struct audit_entry bare = {.action = "user.loginFailed", .outcome = "failure"};
    expect_ok(audit_insert(database, arena, &bare));
    expect_ok(audit_list(database, arena, &filter, &page));
    assert_int_equal(page.count, 2);
    const struct audit_entry *read = &page.items[1].entry;
    assert_string_equal(read->action, entry.action);
    assert_true(id_equal(read->organisation_id, entry.organisation_id));
    assert_true(id_equal(read->user_id, entry.user_id));
    assert_string_equal(read->target_type, "user");
    assert_string_equal(read->target_id, "0192");
    assert_string_equal(read->client_address, "2001:db8::1");
    assert_string_equal(read->request_id, "request-12345678");
    assert_string_equal(read->outcome, "failure");
    assert_string_equal(read->details, entry.details);
    assert_int_equal(strlen(page.items[1].at), 24);
    read = &page.items[0].entry;
    assert_true(id_is_none(read->organisation_id) && id_is_none(read->user_id));
    assert_true(read->target_type == NULL && read->target_id == NULL && read->client_address == NULL);
    assert_string_equal(read->details, "{}");
    database_free(&database);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(every_combination_of_filters),
    HARNESS_TEST(every_set_of_filters),
    HARNESS_TEST(rows_may_be_skipped),
    HARNESS_TEST(window_holds_its_start_and_not_its_end),
    HARNESS_TEST(rows_added_meanwhile_do_not_shift_pages),
    HARNESS_TEST(every_member_comes_back),
};
HARNESS_MODULE(audit_list, cases)
