/* SPDX-License-Identifier: MIT */
/* Signed links: what opens, what does not, and what it costs. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/id.h"
#include "base/secret.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "codec/seal.h"
#include "domain/file/file_link.h"
#include "domain/file/link_key.h"
#include "domain/permission/principal.h"
#include "domain/support.h"
#include "service/access/caller.h"
#include "service/access/signed_link.h"
#include "service/access/support_links.h"
#include "service/runtime/link_key_cache.h"
#include "service/runtime/service.h"

static void a_link_opens_its_file_in_every_process(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    const char *token = links_make(bench, 60);
    struct service other = links_process(bench);
    for (unsigned again = 0; again < 2; again++) {
        assert_true(links_opens(bench, &bench->service, token));
        assert_true(links_opens(bench, &other, token));
    }
    link_key_cache_clear(other.link_keys);
    assert_true(links_opens(bench, &other, token));
    assert_string_equal(sql_text(bench->service.database, bench->arena,
                                 "SELECT CONCAT(action, ' ', outcome, ' ', target_id = '%s') FROM audit",
                                 id_text(bench->arena, bench->file.id)),
                        "file.link success 1");
    links_bench_free(bench);
}

static void whatever_is_changed_of_a_link_it_opens_nothing(void **state)
{
    static const char alphabet[] = "AQgw_-azZ09.=";
    struct links_bench *bench = links_bench_new(harness_arena(state));
    const char *token = links_make(bench, 3600);
    for (unsigned fresh = 0; fresh < 2; fresh++) {
        for (size_t at = 0; at < SIGNED_LINK_TOKEN_CHARACTERS; at++) {
            char *bent = arena_text(bench->arena, token);
            bent[at] = alphabet[at % (sizeof alphabet - 1)];
            struct service process = fresh != 0 ? links_process(bench) : bench->service;
            if (bent[at] != token[at])
                assert_false(links_opens(bench, &process, bent));
        }
    }
    assert_false(links_opens(bench, &bench->service, ""));
    assert_false(
        links_opens(bench, &bench->service, arena_copy(bench->arena, token, SIGNED_LINK_TOKEN_CHARACTERS - 1)));
    assert_false(
        links_opens(bench, &bench->service, arena_copy(bench->arena, token, SIGNED_LINK_TOKEN_CHARACTERS - 4)));
    assert_false(links_opens(bench, &bench->service, arena_format(bench->arena, "%sA", token)));
    assert_false(links_opens(bench, &bench->service, arena_format(bench->arena, "%sAAAA", token)));
    assert_false(links_opens(bench, &bench->service, arena_format(bench->arena, "%s=", token)));
    assert_true(links_opens(bench, &bench->service, token));
    links_bench_free(bench);
}

static void a_link_ends_with_its_time_its_file_or_its_key(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    struct database *database = bench->service.database;
    enum file_outcome outcome;
    assert_false(links_opens(bench, &bench->service, links_make(bench, 0)));
    assert_false(links_opens(bench, &bench->service, links_make(bench, -3600)));
    const char *token = links_make(bench, 3600);
    struct service other = links_process(bench);
    assert_true(links_opens(bench, &other, token));
    expect_ok(file_archive(database, bench->arena, bench->file.organisation_id, bench->file.id, &outcome));
    assert_false(links_opens(bench, &bench->service, token));
    expect_ok(file_restore(database, bench->arena, bench->file.organisation_id, bench->file.id, &outcome));
    assert_true(links_opens(bench, &bench->service, token));

    /* Both have the key in memory; a third one does not. */
    expect_ok(signed_link_keys_rotate(&bench->service, bench->arena));
    struct service third = links_process(bench);
    assert_false(links_opens(bench, &bench->service, token));
    assert_false(links_opens(bench, &other, token));
    assert_false(links_opens(bench, &third, token));
    const char *next = links_make(bench, 3600);
    assert_true(links_opens(bench, &bench->service, next) && links_opens(bench, &other, next) &&
                links_opens(bench, &third, next));
    assert_int_equal(sql_integer(database, bench->arena, "SELECT COUNT(*) FROM link_key"), 1);
    links_bench_free(bench);
}

/* Opens, does what the statement says of the maker, opens not, does the other and opens again, in every process. */
static void closes_while(struct links_bench *bench, const char *token, const char *change, const char *back)
{
    struct service other = links_process(bench);
    assert_true(links_opens(bench, &bench->service, token) && links_opens(bench, &other, token));
    sql(bench->service.database, bench->arena, "SET @maker = %s",
        sql_id(bench->arena, bench->caller.principal->user.id));
    sql(bench->service.database, bench->arena, "%s", change);
    assert_false(links_opens(bench, &bench->service, token) || links_opens(bench, &other, token));
    sql(bench->service.database, bench->arena, "%s", back);
    assert_true(links_opens(bench, &bench->service, token) && links_opens(bench, &other, token));
}

static void a_link_holds_while_its_maker_may_read_the_file(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    const char *token = links_make(bench, 3600);
    static const char active[] = "UPDATE user SET status = 'active' WHERE id = @maker";
    static const char reads[] = "UPDATE user SET permissions = 'cus:file:r' WHERE id = @maker";
    closes_while(bench, token, "UPDATE user SET status = 'disabled' WHERE id = @maker", active);
    closes_while(bench, token, "UPDATE user SET status = 'awaiting-first-login' WHERE id = @maker", active);
    closes_while(bench, token, "UPDATE user SET permissions = '' WHERE id = @maker", reads);
    closes_while(bench, token, "UPDATE user SET permissions = 'cus:user:a inv:*:w' WHERE id = @maker", reads);
    closes_while(
        bench, token,
        "UPDATE organisation o JOIN user u ON u.organisation_id = o.id SET o.status = 'disabled' WHERE u.id = @maker",
        "UPDATE organisation o JOIN user u ON u.organisation_id = o.id SET o.status = 'active' WHERE u.id = @maker");
    /* A role is as good as a permission, while it is held and grants. */
    sql(bench->service.database, bench->arena, "UPDATE user SET permissions = ''");
    sql(bench->service.database, bench->arena, "INSERT INTO user_role (user_id, role_id) VALUES (%s, 'owner')",
        sql_id(bench->arena, bench->caller.principal->user.id));
    closes_while(bench, token, "DELETE FROM user_role WHERE user_id = @maker",
                 "INSERT INTO user_role (user_id, role_id) VALUES (@maker, 'owner')");
    links_bench_free(bench);
}

/* Staff may read files of others only while they hold `a`; theirs and the file's organisation both count. */
static void a_link_of_staff_holds_while_they_may_cross(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    struct database *database = bench->service.database;
    struct principal *staff = arena_alloc(bench->arena, sizeof *staff);
    staff->user.organisation_id = given_organisation(database, bench->arena);
    staff->user.id = given_user(database, bench->arena, staff->user.organisation_id, NULL, "*:*:a")->id;
    bench->caller.principal = staff;
    const char *token = links_make(bench, 3600);
    static const char may[] = "UPDATE user SET permissions = '*:*:a' WHERE id = @maker";
    closes_while(bench, token, "UPDATE user SET permissions = 'cus:file:w rwx:*' WHERE id = @maker", may);
    closes_while(
        bench, token,
        "UPDATE organisation o JOIN user u ON u.organisation_id = o.id SET o.status = 'disabled' WHERE u.id = @maker",
        "UPDATE organisation o JOIN user u ON u.organisation_id = o.id SET o.status = 'active' WHERE u.id = @maker");
    closes_while(bench, token, "UPDATE user SET status = 'disabled' WHERE id = @maker",
                 "UPDATE user SET status = 'active' WHERE id = @maker");
    links_bench_free(bench);
}

static void a_link_of_nobody_and_half_a_link_open_nothing(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    struct principal *stranger = arena_alloc(bench->arena, sizeof *stranger);
    const char *token = links_make(bench, 3600);
    assert_true(links_opens(bench, &bench->service, token));
    assert_false(links_opens(bench, &bench->service, arena_copy(bench->arena, token, 48)));
    stranger->user.organisation_id = bench->file.organisation_id;
    stranger->user.id = id_new();
    bench->caller.principal = stranger;
    assert_false(links_opens(bench, &bench->service, links_make(bench, 3600)));
    links_bench_free(bench);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static struct file_link_page rows_of(struct links_bench *bench, struct id after, unsigned limit)
{
    struct file_link_page page;
    expect_ok(file_link_list(bench->service.database, bench->arena, bench->file.organisation_id, bench->file.id, after,
                             limit, &page));
    return page;
}

static void links_are_listed_the_newest_first_in_pages(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    struct id none = {{0}};
    assert_int_equal(rows_of(bench, none, 5).count, 0);
    for (int i = 0; i < 5; i++)
        (void)links_make(bench, i == 2 ? -10 : 600);
    struct file_link_page page = rows_of(bench, none, 3);
    assert_int_equal(page.count, 3);
    assert_true(page.more);
    for (size_t i = 0; i < page.count; i++) {
        assert_true(id_equal(page.items[i].user_id, bench->caller.principal->user.id));
        assert_int_equal(page.items[i].uses, 0);
        assert_true(i == 0 || memcmp(page.items[i].id.bytes, page.items[i - 1].id.bytes, ID_BYTES) < 0);
    }
    page = rows_of(bench, page.items[2].id, 3);
    assert_int_equal(page.count, 1);
    assert_false(page.more);
    links_bench_free(bench);
}

static void a_revoked_link_opens_nothing_in_any_process(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    struct service other = links_process(bench);
    const char *token = links_make(bench, 600);
    const char *second = links_make(bench, 600);
    struct id none = {{0}};
    struct id id = rows_of(bench, none, 5).items[1].id;
    assert_true(links_opens(bench, &bench->service, token) && links_opens(bench, &other, token));
    expect_ok(signed_link_revoke(&other, bench->arena, &bench->caller, &bench->file, id));
    assert_false(links_opens(bench, &bench->service, token) || links_opens(bench, &other, token));
    assert_true(links_opens(bench, &bench->service, second) && links_opens(bench, &other, second));
    expect_error(signed_link_revoke(&other, bench->arena, &bench->caller, &bench->file, id), ERROR_LINK_UNKNOWN);
    expect_error(signed_link_revoke(&other, bench->arena, &bench->caller, &bench->file, id_new()), ERROR_LINK_UNKNOWN);
    assert_int_equal(sql_integer(bench->service.database, bench->arena,
                                 "SELECT COUNT(*) FROM audit WHERE action = 'file.unlink' AND target_id = '%s'",
                                 id_text(bench->arena, bench->file.id)),
                     1);
    links_bench_free(bench);
}

static void a_link_of_another_file_or_organisation_is_unknown(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    struct id none = {{0}};
    const char *token = links_make(bench, 600);
    struct id id = rows_of(bench, none, 5).items[0].id;
    struct file_record other =
        given_file(bench->service.database, bench->arena, bench->file.organisation_id, bench->file.user_id);
    struct file_record foreign = bench->file;
    foreign.organisation_id = given_organisation(bench->service.database, bench->arena);
    expect_error(signed_link_revoke(&bench->service, bench->arena, &bench->caller, &other, id), ERROR_LINK_UNKNOWN);
    expect_error(signed_link_revoke(&bench->service, bench->arena, &bench->caller, &foreign, id), ERROR_LINK_UNKNOWN);
    assert_true(links_opens(bench, &bench->service, token));
    links_bench_free(bench);
}

static void uses_are_counted_when_the_request_is_over(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    struct id none = {{0}};
    (void)links_make(bench, 600);
    struct id id = rows_of(bench, none, 5).items[0].id;
    for (int i = 0; i < 3; i++) {
        struct arena *request = arena_new();
        signed_link_count(&bench->service, request, id);
        assert_int_equal(rows_of(bench, none, 5).items[0].uses, i);
        arena_free(&request);
    }
    assert_int_equal(rows_of(bench, none, 5).items[0].uses, 3);
    links_bench_free(bench);
}

static void rows_of_links_that_ended_go(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    uint64_t count;
    const char *token = links_make(bench, 600);
    (void)links_make(bench, -60);
    (void)links_make(bench, -7200);
    expect_ok(file_link_purge(bench->service.database, bench->arena, 10, &count));
    assert_int_equal(count, 1);
    expect_ok(file_link_purge(bench->service.database, bench->arena, 10, &count));
    assert_int_equal(count, 0);
    assert_int_equal(sql_integer(bench->service.database, bench->arena, "SELECT COUNT(*) FROM file_link"), 2);
    assert_true(links_opens(bench, &bench->service, token));
    links_bench_free(bench);
}

static void an_archived_file_gets_no_link(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    const char *url;
    const char *ends_at;
    bench->file.status = FILE_ARCHIVED;
    expect_error(signed_link_make(&bench->service, bench->arena, &bench->caller, &bench->file, 60, &url, &ends_at),
                 ERROR_FILE_ARCHIVED);
    links_bench_free(bench);
}

/* More rotations than a process remembers keys. */
static void links_outlive_what_a_process_remembers(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    for (unsigned i = 0; i < 12; i++) {
        expect_ok(signed_link_keys_rotate(&bench->service, bench->arena));
        assert_true(links_opens(bench, &bench->service, links_make(bench, 60)));
    }
    links_bench_free(bench);
}

static void a_key_that_another_row_sealed_does_not_open(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    const char *token = links_make(bench, 3600);
    struct service other = links_process(bench);
    struct file_record *record;
    struct id link;
    struct id id = id_new();
    /* The same sealed bytes under another id: the purpose names the row. */
    sql(bench->service.database, bench->arena, "UPDATE link_key SET id = %s", sql_id(bench->arena, id));
    unsigned char *bytes;
    size_t length;
    assert_true(base64url_decode(bench->arena, token, strlen(token), &bytes, &length));
    memcpy(bytes, id.bytes, ID_BYTES);
    struct id maker;
    expect_error(
        signed_link_open(&other, bench->arena, base64url_encode(bench->arena, bytes, length), &record, &link, &maker),
        ERROR_INTERNAL);
    links_bench_free(bench);
}

static int64_t statements(struct links_bench *bench)
{
    return sql_integer(bench->service.database, bench->arena,
                       "SELECT variable_value FROM information_schema.session_status WHERE variable_name ="
                       " 'COM_STMT_EXECUTE'");
}

static void a_link_costs_one_round_trip_and_a_forged_one_none(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    const char *token = links_make(bench, 3600);
    char *forged = arena_text(bench->arena, token);
    forged[SIGNED_LINK_TOKEN_CHARACTERS - 1] = forged[SIGNED_LINK_TOKEN_CHARACTERS - 1] == 'A' ? 'B' : 'A';
    char *strange = arena_text(bench->arena, token);
    strange[3] = strange[3] == 'A' ? 'B' : 'A';
    int64_t start = statements(bench);
    int64_t own = statements(bench) - start; /* what counting itself costs */
    struct service cold = links_process(bench);
    struct {
        const char *token;
        struct service *service;
        int64_t cost;
    } cases[] = {{token, &bench->service, 1}, {token, &cold, 1},   {token, &cold, 1},
                 {forged, &cold, 0},          {strange, &cold, 1}, {"x", &cold, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start = statements(bench);
        (void)links_opens(bench, cases[i].service, cases[i].token);
        assert_int_equal(statements(bench) - start - own, cases[i].cost);
    }
    links_bench_free(bench);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_link_opens_its_file_in_every_process),
    HARNESS_TEST(whatever_is_changed_of_a_link_it_opens_nothing),
    HARNESS_TEST(a_link_ends_with_its_time_its_file_or_its_key),
    HARNESS_TEST(a_link_holds_while_its_maker_may_read_the_file),
    HARNESS_TEST(a_link_of_staff_holds_while_they_may_cross),
    HARNESS_TEST(a_link_of_nobody_and_half_a_link_open_nothing),
    HARNESS_TEST(links_are_listed_the_newest_first_in_pages),
    HARNESS_TEST(a_revoked_link_opens_nothing_in_any_process),
    HARNESS_TEST(a_link_of_another_file_or_organisation_is_unknown),
    HARNESS_TEST(uses_are_counted_when_the_request_is_over),
    HARNESS_TEST(rows_of_links_that_ended_go),
    HARNESS_TEST(an_archived_file_gets_no_link),
    HARNESS_TEST(links_outlive_what_a_process_remembers),
    HARNESS_TEST(a_key_that_another_row_sealed_does_not_open),
    HARNESS_TEST(a_link_costs_one_round_trip_and_a_forged_one_none),
};
HARNESS_MODULE(signed_link, cases)
