/* SPDX-License-Identifier: MIT */
/* Signed links when a statement is refused, a key is not what it should be, or a token is signed and still no link. */
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "codec/seal.h"
#include "domain/change_log.h"
#include "domain/file/file_link.h"
#include "domain/file/link_key.h"
#include "domain/support.h"
#include "harness.h"
#include "service/access/signed_link.h"
#include "service/access/support_links.h"
#include "service/runtime/link_key_cache.h"
#include "store/database/database.h"
#include "support_refusal.h"

static int64_t count(struct links_bench *bench, const char *table)
{
    return sql_integer(bench->service.database, bench->arena, "SELECT COUNT(*) FROM %s", table);
}

static struct error *make(struct arena *arena, void *context)
{
    struct links_bench *bench = context;
    const char *url;
    const char *ends_at;
    return signed_link_make(&bench->service, arena, &bench->caller, &bench->file, 60, &url, &ends_at);
}

static void a_refused_statement_makes_no_link(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    /* Finds no key, makes one, and a link with it: the key stays when the link does not come about. */
    refusal_begin(2);
    expect_error(make(bench->arena, bench), ERROR_INTERNAL);
    assert_true(refusal_end());
    assert_int_equal(count(bench, "link_key") + count(bench, "file_link"), 0);
    refusal_begin(3);
    expect_error(make(bench->arena, bench), ERROR_INTERNAL);
    assert_true(refusal_end());
    assert_int_equal(count(bench, "link_key"), 1);
    /* Finds the key; BEGIN, the link, its entry in the audit trail, COMMIT. */
    assert_int_equal(refusal_each(bench->service.database, make, bench), 5);
    assert_int_equal(count(bench, "link_key"), 1);
    assert_int_equal(count(bench, "file_link"), 1);
    assert_int_equal(count(bench, "audit"), 1);
    links_bench_free(bench);
}

static struct error *revoke(struct arena *arena, void *context)
{
    struct links_bench *bench = context;
    struct file_link_page page = {0};
    struct id none = {{0}};
    TRY(file_link_list(bench->service.database, arena, bench->file.organisation_id, bench->file.id, none, 5, &page));
    assert_int_equal(page.count, 1);
    return signed_link_revoke(&bench->service, arena, &bench->caller, &bench->file, page.items[0].id);
}

static void a_refused_statement_revokes_no_link(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    const char *token = links_make(bench, 60);
    /* The list; BEGIN, the link, its entry, COMMIT. */
    assert_int_equal(refusal_each(bench->service.database, revoke, bench), 5);
    assert_false(links_opens(bench, &bench->service, token));
    assert_int_equal(count(bench, "audit"), 2);
    links_bench_free(bench);
}

static struct error *rotate(struct arena *arena, void *context)
{
    struct links_bench *bench = context;
    return signed_link_keys_rotate(&bench->service, arena);
}

static struct error *open_keys(struct arena *arena, void *context)
{
    struct links_bench *bench = context;
    struct service process = links_process(bench);
    return signed_link_keys_open(&process, arena);
}

static struct error *read_keys(struct arena *arena, void *context)
{
    struct links_bench *bench = context;
    return signed_link_keys_open(&bench->service, arena);
}

static void a_refused_statement_changes_no_key(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    expect_ok(open_keys(bench->arena, bench)); /* there is none yet */
    const char *token = links_make(bench, 60);
    for (unsigned nth = 1; nth <= 4; nth++) {
        refusal_begin(nth);
        expect_error(rotate(bench->arena, bench), ERROR_INTERNAL);
        assert_true(refusal_end());
        assert_true(links_opens(bench, &bench->service, token));
    }
    /* BEGIN, the new key, the others, COMMIT. */
    assert_int_equal(refusal_each(bench->service.database, rotate, bench), 4);
    assert_false(links_opens(bench, &bench->service, token));
    assert_int_equal(count(bench, "link_key"), 1);
    assert_int_equal(refusal_each(bench->service.database, read_keys, bench), 1);
    links_bench_free(bench);
}

static struct error *append_change(struct database *database, struct arena *arena, void *context)
{
    return change_log_append(database, arena, CHANGE_LOG_SECRETS, "{}", context);
}

struct opening {
    struct links_bench *bench;
    const char *token;
    int64_t version; /* the process has heard of the one before */
    bool opened;
};

static struct error *open_link(struct arena *arena, void *context)
{
    struct opening *opening = context;
    struct service process = opening->bench->service;
    struct file_record *record = NULL;
    struct id link;
    struct id maker;
    process.link_keys = link_key_cache_new(arena);
    process.changes.known = true;
    process.changes.version = opening->version - 1;
    struct error *error = signed_link_open(&process, arena, opening->token, &record, &link, &maker);
    opening->opened = record != NULL;
    assert_true(opening->opened == (error == NULL));
    return error;
}

static void a_refused_statement_opens_nothing(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    struct opening opening = {.bench = bench, .token = links_make(bench, 60)};
    expect_ok(database_transaction(bench->service.database, bench->arena, append_change, &opening.version, NULL));
    /* What the link names, and the change that the process has not heard of. */
    assert_int_equal(refusal_each(bench->service.database, open_link, &opening), 2);
    assert_true(opening.opened);
    links_bench_free(bench);
}

static void a_use_that_cannot_be_counted_is_left_out(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    (void)links_make(bench, 60);
    struct file_link_page page = {0};
    struct id none = {{0}};
    expect_ok(file_link_list(bench->service.database, bench->arena, bench->file.organisation_id, bench->file.id, none,
                             5, &page));
    struct arena *request = arena_new();
    signed_link_count(&bench->service, request, page.items[0].id);
    refusal_begin(1);
    arena_free(&request);
    assert_true(refusal_end());
    assert_int_equal(sql_integer(bench->service.database, bench->arena, "SELECT SUM(uses) FROM file_link"), 0);
    links_bench_free(bench);
}

/* ---- keys and tokens that are not what they should be ------------------------------------------- */

/* Seals so many bytes anew for the only key. */
static void seal_again(struct links_bench *bench, size_t count)
{
    struct link_key *key = NULL;
    unsigned char *sealed;
    size_t length;
    unsigned char *bytes = arena_alloc(bench->arena, count);
    expect_ok(link_key_find_newest(bench->service.database, bench->arena, &key));
    expect_ok(seal(bench->arena, bench->service.master,
                   arena_format(bench->arena, "link-key:%s", id_text(bench->arena, key->id)), bytes, count, &sealed,
                   &length));
    sql(bench->service.database, bench->arena, "UPDATE link_key SET key_sealed = x'%s'",
        hex_encode(bench->arena, sealed, length));
}

static void a_key_of_another_length_is_not_used(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    struct opening opening = {.bench = bench, .token = links_make(bench, 60)};
    expect_ok(database_transaction(bench->service.database, bench->arena, append_change, &opening.version, NULL));
    seal_again(bench, DIGEST_BYTES - 1);
    expect_error(open_link(bench->arena, &opening), ERROR_INTERNAL);
    expect_error(open_keys(bench->arena, bench), ERROR_INTERNAL);
    /* Of the right length and with other bytes: it opens, and the signature is not its. */
    seal_again(bench, DIGEST_BYTES);
    expect_error(open_link(bench->arena, &opening), ERROR_LINK_INVALID);
    links_bench_free(bench);
}

static void without_a_master_secret_no_key_is_made(void **state)
{
    struct links_bench *bench = links_bench_new(harness_arena(state));
    bench->service.master = secret_of("short");
    expect_error(make(bench->arena, bench), ERROR_INTERNAL);
    expect_error(rotate(bench->arena, bench), ERROR_INTERNAL);
    assert_int_equal(count(bench, "link_key"), 0);
    links_bench_free(bench);
}

/* A token with the signature of the real key, whose row is none. */
static void a_signed_token_without_a_row_opens_nothing(void **state)
{
    static const char label[] = "gatehouse link 3:";
    struct links_bench *bench = links_bench_new(harness_arena(state));
    const char *token = links_make(bench, 60);
    struct link_key *key = NULL;
    struct secret secret;
    unsigned char *bytes;
    size_t length;
    unsigned char text[sizeof label - 1 + 2 * ID_BYTES + 8];
    expect_ok(link_key_find_newest(bench->service.database, bench->arena, &key));
    expect_ok(unseal(bench->arena, bench->service.master,
                     arena_format(bench->arena, "link-key:%s", id_text(bench->arena, key->id)), key->sealed,
                     key->length, &secret));
    assert_true(base64url_decode(bench->arena, token, strlen(token), &bytes, &length));
    memset(bytes + ID_BYTES, 0, ID_BYTES);
    memcpy(text, label, sizeof label - 1);
    memcpy(text + sizeof label - 1, bytes, 2 * ID_BYTES + 8);
    digest_hmac(secret, text, sizeof text, bytes + 2 * ID_BYTES + 8);
    assert_false(links_opens(bench, &bench->service, base64url_encode(bench->arena, bytes, length)));
    links_bench_free(bench);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_refused_statement_makes_no_link),        HARNESS_TEST(a_refused_statement_revokes_no_link),
    HARNESS_TEST(a_refused_statement_changes_no_key),       HARNESS_TEST(a_refused_statement_opens_nothing),
    HARNESS_TEST(a_use_that_cannot_be_counted_is_left_out), HARNESS_TEST(a_key_of_another_length_is_not_used),
    HARNESS_TEST(without_a_master_secret_no_key_is_made),   HARNESS_TEST(a_signed_token_without_a_row_opens_nothing),
};
HARNESS_MODULE(signed_link_refused, cases)
