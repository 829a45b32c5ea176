/* SPDX-License-Identifier: MIT */
/*
 * Another master secret reaches what identity providers of others left here: refresh tokens, and passwords on their
 * way.
 */
#include "service/maintenance/reseal.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/seal.h"
#include "harness.h"
#include "service/support_maintenance.h"
#include "store/database/database.h"
#include "support_refusal.h"

#define OLD "an old master secret of 32 bytes"
#define NEW "a newer master secret, 32 bytes."
#define STRANGE "a secret that nobody has, of 32."

static const struct statement read_token = {
    "SELECT refresh_sealed FROM outside_session WHERE refresh_sealed IS NOT NULL"};
static const struct statement read_password = {"SELECT sealed FROM outside_intent"};

/* `text` sealed, as a literal for SQL. */
static const char *sealed(struct keep *keep, const char *key, const char *purpose, const char *text)
{
    unsigned char *bytes;
    size_t length;
    struct buffer hex;
    expect_ok(seal(keep->arena, secret_of(key), purpose, text, strlen(text), &bytes, &length));
    buffer_init(&hex, keep->arena);
    buffer_add_text(&hex, "x'");
    for (size_t i = 0; i < length; i++)
        buffer_add_format(&hex, "%02x", bytes[i]);
    buffer_add_text(&hex, "'");
    return hex.bytes;
}

/* What the only row holds, opened with that key alone; NULL: it does not open. */
static const char *opened(struct keep *keep, const char *key, const char *purpose, const struct statement *statement)
{
    struct rows *rows;
    struct secret text;
    size_t length;
    expect_ok(database_query(keep->service.database, keep->arena, statement, NO_VALUES, &rows));
    assert_int_equal(rows->count, 1);
    const void *bytes = rows_bytes(rows, 0, 0, &length);
    return unseal(keep->arena, secret_of(key), purpose, bytes, length, &text) == NULL ? secret_reveal(text) : NULL;
}

static void what_outside_providers_left_is_sealed_anew(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct database *database = keep->service.database;
    struct id family = id_new();
    const char *token = arena_format(keep->arena, "provider-refresh:%s", id_text(keep->arena, family));
    const char *password = arena_format(keep->arena, "password asked for %s", id_text(keep->arena, keep->user));
    const struct secret old = secret_of(OLD);
    struct reseal reseal;
    bool found = false;
    sql(database, keep->arena, "INSERT INTO outside_session (session_id, family, refresh_sealed) VALUES (%s, %s, %s)",
        sql_id(keep->arena, id_new()), sql_id(keep->arena, family), sealed(keep, OLD, token, "token"));
    /* A later name of the same session has no token. */
    sql(database, keep->arena, "INSERT INTO outside_session (session_id, family) VALUES (%s, %s)",
        sql_id(keep->arena, id_new()), sql_id(keep->arena, family));
    sql(database, keep->arena,
        "INSERT INTO outside_intent (id, user_id, sealed, is_temporary, asked_at, due_at) VALUES"
        " (%s, %s, %s, 0, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3))",
        sql_id(keep->arena, id_new()), sql_id(keep->arena, keep->user), sealed(keep, OLD, password, "password"));
    keep->service.master = secret_of(NEW);
    keep->service.master.older = &old;
    expect_ok(reseal_finds(&keep->service, keep->arena, old, &found));
    assert_true(found);
    expect_ok(reseal_all(&keep->service, keep->arena, &reseal));
    assert_int_equal(reseal.done, 2);
    assert_int_equal(reseal.fine, 0);
    assert_int_equal(reseal.unknown, 0);
    assert_string_equal(opened(keep, NEW, token, &read_token), "token");
    assert_string_equal(opened(keep, NEW, password, &read_password), "password");
    assert_null(opened(keep, OLD, token, &read_token));
    assert_null(opened(keep, OLD, password, &read_password));
    expect_ok(reseal_finds(&keep->service, keep->arena, old, &found));
    assert_false(found);
    expect_ok(reseal_all(&keep->service, keep->arena, &reseal));
    assert_int_equal(reseal.done, 0);
    assert_int_equal(reseal.fine, 2);
}

static void what_no_key_opens_is_counted_and_left(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct id family = id_new();
    const char *token = arena_format(keep->arena, "provider-refresh:%s", id_text(keep->arena, family));
    struct reseal reseal;
    sql(keep->service.database, keep->arena,
        "INSERT INTO outside_session (session_id, family, refresh_sealed) VALUES (%s, %s, %s)",
        sql_id(keep->arena, id_new()), sql_id(keep->arena, family), sealed(keep, STRANGE, token, "token"));
    keep->service.master = secret_of(NEW);
    expect_ok(reseal_all(&keep->service, keep->arena, &reseal));
    assert_int_equal(reseal.done, 0);
    assert_int_equal(reseal.unknown, 1);
    assert_string_equal(opened(keep, STRANGE, token, &read_token), "token");
}

struct resealing {
    struct keep *keep;
    const struct secret *old;
};

static struct error *seal_anew(struct arena *arena, void *context)
{
    const struct resealing *resealing = context;
    struct reseal reseal;
    bool found;
    TRY(reseal_finds(&resealing->keep->service, arena, *resealing->old, &found));
    return reseal_all(&resealing->keep->service, arena, &reseal);
}

static void each_statement_may_be_refused_and_nothing_stays_closed(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    struct id family = id_new();
    const char *token = arena_format(keep->arena, "provider-refresh:%s", id_text(keep->arena, family));
    const struct secret old = secret_of(OLD);
    struct resealing resealing = {keep, &old};
    sql(keep->service.database, keep->arena,
        "INSERT INTO outside_session (session_id, family, refresh_sealed) VALUES (%s, %s, %s)",
        sql_id(keep->arena, id_new()), sql_id(keep->arena, family), sealed(keep, OLD, token, "token"));
    keep->service.master = secret_of(NEW);
    keep->service.master.older = &old;
    assert_true(refusal_each(keep->service.database, seal_anew, &resealing) > 5);
    assert_string_equal(opened(keep, NEW, token, &read_token), "token");
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(each_statement_may_be_refused_and_nothing_stays_closed),
    HARNESS_TEST(what_outside_providers_left_is_sealed_anew),
    HARNESS_TEST(what_no_key_opens_is_counted_and_left),
};
HARNESS_MODULE(reseal, cases)
