/* SPDX-License-Identifier: MIT */
/* Refuses each statement of a flow in turn. */
#include "service/support_refused.h"

#include <stdarg.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/outbox.h"
#include "harness.h"
#include "store/database/database.h"
#include "support_refusal.h"

#define LEASE_SECONDS 600
/* No flow has more; a refusal that is met for ever is a fault of the test's own. */
#define STATEMENTS_MAX 200
/* How often something is refused in a row to people for whom nothing has changed. */
#define KEPT_MOST 3

/* What everybody can see of people and organisations, as a number for each table. Counters of tries are not in it. */
static const struct statement seen = {
    "CHECKSUM TABLE user, user_role, organisation, identity_account, email_change, known_device, file, file_tag,"
    " file_usage, file_upload"};
#define TABLES 10

static int64_t look(struct stage *stage)
{
    struct rows *rows;
    uint64_t sum = 0;
    expect_ok(database_query(stage->scene->database, stage->scene->arena, &seen, NO_VALUES, &rows));
    assert_int_equal(rows->count, TABLES);
    for (size_t i = 0; i < rows->count; i++)
        sum = sum * 1099511628211u + (uint64_t)rows_integer(rows, i, 1);
    return (int64_t)sum;
}

static struct stage *stage_new(struct arena *arena)
{
    struct stage *stage = arena_alloc(arena, sizeof *stage);
    stage->scene = scene_new(arena);
    stage->scene->configuration.limits.accounts_per_hour = 100000;
    stage->scene->configuration.limits.customers_per_hour = 100000;
    stage->staff = given_staff(stage->scene);
    stage->owner = given_owner(stage->scene, stage->staff, "owner@example.com");
    return stage;
}

static void prepare(struct stage *stage, const struct flow *flow)
{
    sql(stage->scene->database, stage->scene->arena, "DELETE FROM throttle");
    /* The jobs of those who were there before. */
    sql(stage->scene->database, stage->scene->arena, "DELETE FROM outbox");
    stage->before = 0;
    flow->prepare(stage);
    stage->before = flow->count(stage);
}

static bool is_done(struct stage *stage, const struct flow *flow)
{
    return flow->count(stage) > stage->before;
}

/* As at the end of a request: what has happened is written to the log with ids that the arena keeps. */
static void end_request(struct arena **arena)
{
    log_context(NULL, NULL, NULL, NULL);
    arena_free(arena);
}

/* The flow once more, with nothing in its way. */
static void run_again(struct stage *stage, const struct flow *flow, unsigned nth)
{
    if (flow->again != NULL)
        flow->again(stage);
    struct arena *arena = arena_new();
    struct error *error = flow->run(stage, arena);
    if (error != NULL)
        fail_msg("%s: after the refusal of statement %u it fails for good: %s: %s", flow->name, nth, error->message,
                 error->detail != NULL ? error->detail : "");
    if (!is_done(stage, flow))
        fail_msg("%s: after the refusal of statement %u it is never done", flow->name, nth);
    end_request(&arena);
}

/* An error is told where something failed, and only for what is not done. */
static void check_answer(const struct flow *flow, unsigned nth, const struct error *error, bool refused, bool done)
{
    if (error != NULL && (!refused || error->code != ERROR_INTERNAL))
        fail_msg("%s: statement %u: %s: %s", flow->name, nth, error->message,
                 error->detail != NULL ? error->detail : "");
    if (error == NULL && !done && (!flow->job || !refused))
        fail_msg("%s: statement %u was refused, and it is told as done", flow->name, nth);
    if (error != NULL && done && (!flow->apart || flow->finds))
        fail_msg("%s: statement %u was refused, and it is done", flow->name, nth);
}

/* Whether the flow is done although its nth statement is refused; *refused_out: whether that was there. */
static bool refuse(struct stage *stage, const struct flow *flow, unsigned nth, bool *refused_out)
{
    int64_t before = look(stage);
    struct arena *arena = arena_new(); /* as of a request: what a failure has left open is closed with it */
    refusal_begin(nth);
    struct error *error = flow->run(stage, arena);
    *refused_out = refusal_end();
    bool done = is_done(stage, flow);
    assert_false(database_in_transaction(stage->scene->database));
    check_answer(flow, nth, error, *refused_out, done);
    if (!done && !flow->apart && look(stage) != before)
        fail_msg("%s: statement %u was refused, and half of it is done", flow->name, nth);
    end_request(&arena);
    return done;
}

/*
 * Where nothing has changed, what was prepared is there still: the next statement is refused to the same people, a few
 * times, before the flow is run with nothing in its way.
 */
static unsigned refuse_all(struct stage *stage, const struct flow *flow)
{
    unsigned nth = 0, kept = 0;
    bool refused = true, fresh = true;
    while (refused) {
        assert_in_range(++nth, 1, STATEMENTS_MAX);
        if (fresh)
            prepare(stage, flow);
        else if (flow->again != NULL)
            flow->again(stage);
        bool done = refuse(stage, flow, nth, &refused);
        kept = fresh ? 0 : kept + 1;
        fresh = done || flow->apart || kept == KEPT_MOST;
        if (fresh && !done)
            run_again(stage, flow, nth);
    }
    return nth - 1;
}

void stage_refuse_each(struct arena *arena, const struct flow *flows, size_t count)
{
    struct stage *stage = stage_new(arena);
    for (size_t i = 0; i < count; i++) {
        if (refuse_all(stage, &flows[i]) == 0)
            fail_msg("%s makes no statement", flows[i].name);
    }
}

/* Whether the answer to the nth COMMIT was there to be lost. */
static bool lose(struct stage *stage, const struct flow *flow, unsigned nth)
{
    prepare(stage, flow);
    struct arena *arena = arena_new();
    refusal_lose_commit(nth);
    struct error *error = flow->run(stage, arena);
    bool lost = refusal_end();
    bool done = is_done(stage, flow);
    assert_false(database_in_transaction(stage->scene->database));
    if (error != NULL && (!lost || error->code == ERROR_REQUEST_INVALID))
        fail_msg("%s: COMMIT %u: %s", flow->name, nth, error->message);
    if (error == NULL && !done && !flow->job)
        fail_msg("%s: the answer to COMMIT %u was lost, and it is told as done", flow->name, nth);
    if (error != NULL && done && flow->finds)
        fail_msg("%s: the answer to COMMIT %u was lost, and it is told as not done", flow->name, nth);
    arena_free(&arena);
    if (!done)
        run_again(stage, flow, nth);
    return lost;
}

void stage_lose_each_commit(struct arena *arena, const struct flow *flows, size_t count)
{
    struct stage *stage = stage_new(arena);
    for (size_t i = 0; i < count; i++) {
        unsigned nth = 0;
        while (lose(stage, &flows[i], ++nth))
            assert_in_range(nth, 1, STATEMENTS_MAX);
        if (nth == 1)
            fail_msg("%s commits nothing", flows[i].name);
    }
}

const char *stage_address(struct stage *stage)
{
    return arena_format(stage->scene->arena, "person.%u@example.com", ++stage->number);
}

void stage_person(struct stage *stage)
{
    const char *address = stage_address(stage);
    stage->person = given_member(stage->scene, stage->owner, address);
    stage->caller = scene_caller(stage->scene, address, CHOSEN);
}

void stage_claim(struct stage *stage, const char *kind)
{
    struct scene *scene = stage->scene;
    struct outbox_items items;
    sql(scene->database, scene->arena,
        "UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR WHERE status = 'waiting'");
    sql(scene->database, scene->arena,
        "UPDATE outbox SET next_attempt_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE status = 'waiting' AND"
        " kind = '%s' ORDER BY id DESC LIMIT 1",
        kind);
    expect_ok(outbox_claim(scene->database, scene->arena, 1, LEASE_SECONDS, &items));
    assert_int_equal(items.count, 1);
    assert_string_equal(items.items[0].kind, kind);
    stage->item = &items.items[0];
}

int64_t stage_rows(struct stage *stage, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *where = arena_format_list(stage->scene->arena, format, arguments);
    va_end(arguments);
    return sql_integer(stage->scene->database, stage->scene->arena, "SELECT COUNT(*) FROM %s", where);
}

int64_t stage_audited(struct stage *stage, const char *action)
{
    return stage_rows(stage, "audit WHERE action = '%s' AND outcome = 'success' AND target_id = '%s'", action,
                      id_text(stage->scene->arena, stage->person.id));
}
