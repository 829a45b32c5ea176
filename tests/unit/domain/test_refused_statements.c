/* SPDX-License-Identifier: MIT */
/*
 * What the server refuses is told to the caller: no list that is short, no "there is none", no lock or lease that is
 * held, and no row removed where nobody knows. Each statement of the calls is refused once.
 */
#include "harness.h"

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/address_keys.h"
#include "domain/account/email_change.h"
#include "domain/account/embedded_account.h"
#include "domain/account/one_time_code.h"
#include "domain/account/organisation.h"
#include "domain/account/password_intent.h"
#include "domain/account/provisioning.h"
#include "domain/account/remote_account.h"
#include "domain/account/throttle.h"
#include "domain/audit.h"
#include "domain/change_log.h"
#include "domain/file/file_admin.h"
#include "domain/file/file_damage.h"
#include "domain/file/file_link.h"
#include "domain/file/file_usage.h"
#include "domain/host_minute.h"
#include "domain/lease.h"
#include "domain/moment.h"
#include "domain/outbox.h"
#include "domain/permission/permission_use.h"
#include "domain/permission/principal.h"
#include "domain/permission/role.h"
#include "domain/sealed.h"
#include "domain/session/known_device.h"
#include "domain/session/session.h"
#include "domain/session/session_family.h"
#include "domain/session/session_list.h"
#include "domain/settings.h"
#include "domain/support.h"
#include "support_database.h"
#include "support_refusal.h"

#define LEASE "scrub"
#define MOST 10

struct bench {
    struct database *database;
    struct id organisation;
    struct user *user;
    struct id session;
    struct file_record file;
    struct id holder;
};

/* A call that is refused at each of its statements. */
struct refused {
    const char *name;
    struct error *(*call)(struct arena *arena, void *context);
};

static struct bench bench_new(struct arena *arena)
{
    struct bench bench = {.database = support_database_new(), .holder = id_new()};
    support_database_clear();
    bench.organisation = given_organisation(bench.database, arena);
    bench.user = given_user(bench.database, arena, bench.organisation, "owner", "cus:file:r");
    bench.session = given_session(bench.database, arena, bench.user->id);
    bench.file = given_file(bench.database, arena, bench.organisation, bench.user->id);
    return bench;
}

static void refuse_each(void **state, void (*prepare)(struct bench *bench, struct arena *arena),
                        const struct refused *calls, size_t count)
{
    struct arena *arena = harness_arena(state);
    struct bench bench = bench_new(arena);
    prepare(&bench, arena);
    for (size_t i = 0; i < count; i++) {
        print_message("# %s\n", calls[i].name);
        assert_in_range(refusal_each(bench.database, calls[i].call, &bench), 1, 200);
    }
    database_free(&bench.database);
}

/* A call of one line. D are the first two parameters of each function. */
#define D bench->database, arena
#define CALL(function, expression)                                                                                     \
    static struct error *function(struct arena *arena, void *context)                                                  \
    {                                                                                                                  \
        struct bench *bench = context;                                                                                 \
        return expression;                                                                                             \
    }                                                                                                                  \
    struct bench /* a semicolon follows */
/* The same as a transaction. */
#define STEP(function, expression)                                                                                     \
    static struct error *function##_step(struct database *database, struct arena *arena, void *context)                \
    {                                                                                                                  \
        struct bench *bench = context;                                                                                 \
        (void)database;                                                                                                \
        return expression;                                                                                             \
    }                                                                                                                  \
    CALL(function, database_transaction(bench->database, arena, function##_step, bench, NULL))
#define TABLE(...)                                                                                                     \
    (const struct refused[]){__VA_ARGS__}, sizeof((const struct refused[]){__VA_ARGS__}) / sizeof(struct refused)

/* ---- leases, the clock, the outbox, settings ------------------------------------------------------ */

CALL(take, lease_take(D, LEASE, bench->holder, 60, &(bool){false}));
CALL(renew, lease_renew(D, LEASE, bench->holder, 60, &(bool){false}));
STEP(fence, lease_fence(D, LEASE, bench->holder, &(bool){false}));
CALL(held, lease_held(D, LEASE, &(bool){false}));
CALL(save_position, lease_save_position(D, LEASE, bench->holder, "here", &(bool){false}));
CALL(position, lease_position(D, LEASE, &(const char *){NULL}));
CALL(release, lease_release(D, LEASE, bench->holder));
CALL(now, moment_now(D, &(int64_t){0}));
CALL(settings, settings_load(D, &(struct settings_state){0}));
CALL(one_version, settings_find(D, 1, &(struct settings_row *){NULL}));
CALL(versions, settings_list(D, 0, MOST, &(struct settings_page){0}));
CALL(changes, change_log_list(D, 0, 1, &(struct change_log_entries){0}));
CALL(old_changes, change_log_purge(D, 1, MOST, &(uint64_t){0}));
STEP(one_change, change_log_append(D, CHANGE_LOG_CACHE, "{}", &(int64_t){0}));
CALL(jobs, outbox_list(D, MOST, &(struct outbox_lines){0}));
CALL(job_counts, outbox_count(D, &(struct outbox_counts){0}));
CALL(job_lag, outbox_lag(D, &(int64_t){0}));
CALL(old_jobs, outbox_purge(D, 1, MOST, &(uint64_t){0}));
CALL(job_claim, outbox_claim(D, MOST, 60, &(struct outbox_items){0}));
CALL(job_finish, outbox_finish(D, &(struct outbox_item){.number = 1}, &(bool){false}));
CALL(job_bury, outbox_bury(D, &(struct outbox_item){.number = 1}, "no reason"));
CALL(job_retry, outbox_retry(D, &(struct outbox_item){.number = 1, .attempts = 1}, 3, NULL, &(bool){false}));
CALL(job_recent, outbox_has_recent(D, bench->user->id, "sync", "sync", 60, &(bool){false}));
CALL(minutes, host_minute_list(D, 0, MOST, &(struct host_minutes){0}));
CALL(old_minutes, host_minute_purge(D, MOST, &(uint64_t){0}));
CALL(old_audit, audit_purge(D, 1, MOST, &(uint64_t){0}));

static struct error *add_job(struct database *database, struct arena *arena, void *context)
{
    const struct bench *bench = context;
    struct outbox_work work = {.kind = "sync", .rank = OUTBOX_ORDINARY, .user_id = bench->user->id, .payload = ""};
    return outbox_add(database, arena, &work);
}

static void queue(struct bench *bench, struct arena *arena)
{
    expect_ok(database_transaction(bench->database, arena, add_job, bench, NULL));
}

static void what_the_host_keeps_is_not_guessed(void **state)
{
    refuse_each(state, queue,
                TABLE({"lease_take", take}, {"lease_renew", renew}, {"lease_fence", fence}, {"lease_held", held},
                      {"lease_save_position", save_position}, {"lease_position", position}, {"lease_release", release},
                      {"moment_now", now}, {"settings_load", settings}, {"settings_find", one_version},
                      {"settings_list", versions}, {"change_log_list", changes}, {"change_log_purge", old_changes},
                      {"change_log_append", one_change}, {"outbox_list", jobs}, {"outbox_count", job_counts},
                      {"outbox_lag", job_lag}, {"outbox_purge", old_jobs}, {"outbox_claim", job_claim},
                      {"outbox_finish", job_finish}, {"outbox_bury", job_bury}, {"outbox_retry", job_retry},
                      {"outbox_has_recent", job_recent}, {"host_minute_list", minutes},
                      {"host_minute_purge", old_minutes}, {"audit_purge", old_audit}));
}

/* ---- people --------------------------------------------------------------------------------------- */

CALL(stale, provisioning_stale(D, 60, MOST, &(struct user *){NULL}, &(size_t){0}));
CALL(collisions, address_keys_collisions(D, &(struct address_holder *){NULL}, &(size_t){0}));
CALL(unfilled, address_keys_unfilled(D, &(size_t){0}));
CALL(fill, address_keys_fill(D, &(size_t){0}));
CALL(addresses, email_change_addresses(D, bench->user->id, &(struct text_list){0}));
CALL(old_addresses, email_change_purge(D, MOST, &(uint64_t){0}));
CALL(old_codes, one_time_code_purge(D, MOST));
CALL(embedded, embedded_account_find(D, bench->user->id, &(struct embedded_account *){NULL}));
CALL(intents, password_intent_list_due(D, MOST, &(struct id *){NULL}, &(size_t){0}));
CALL(intent,
     password_intent_claim(D, bench->user->id, &(struct password_intent){.kept_session = {{0}}}, &(bool){false}));
CALL(first, remote_account_awaits_first_login(D, bench->user->id, &(const char *){NULL}));
CALL(over, remote_account_temporary_is_over(D, bench->user->id, &(bool){false}));
CALL(may_begin, remote_account_may_begin(D, bench->user->id, 1, &(bool){false}));
CALL(ends, remote_account_count_ends(D, bench->user->id, &(int64_t){0}));
STEP(hold_ends, remote_account_hold_ends(D, bench->user->id, &(int64_t){0}));
CALL(subject, user_find_by_subject(D, "nobody", &(struct id){{0}}, &(bool){false}));
CALL(reaching, user_find_reaching(D, bench->organisation, MOST, &(struct id *){NULL}, &(size_t){0}));
CALL(others, user_others_have_role(D, bench->organisation, bench->user->id, "owner", &(bool){false}));
CALL(administrators, user_others_hold_everything(D, bench->organisation, bench->user->id, &(bool){false}));
CALL(anybody, user_find_any(D, bench->user->id, &(struct user *){NULL}));
CALL(by_name, user_find_by_username(D, bench->user->email, &(struct user *){NULL}));
CALL(by_id, user_find_by_username(D, id_text(arena, bench->user->id), &(struct user *){NULL}));
CALL(every_organisation, organisation_admin_each(D, (struct id){{0}}, MOST, &(struct organisation_page){0}));
CALL(internal, organisation_ensure_internal(D));
CALL(old_throttles, throttle_purge(D, MOST, &(uint64_t){0}));

/* An address with a letter beyond ASCII, whose key is still to be written. */
static void give_foreign_address(struct bench *bench, struct arena *arena)
{
    sql(bench->database, arena, "UPDATE user SET email = 'ad\u00e4@example.com', email_key = 'old' WHERE id = %s",
        sql_id(arena, bench->user->id));
}

static void nobody_is_missed(void **state)
{
    refuse_each(state, give_foreign_address,
                TABLE({"provisioning_stale", stale}, {"address_keys_collisions", collisions},
                      {"address_keys_unfilled", unfilled}, {"address_keys_fill", fill},
                      {"email_change_addresses", addresses}, {"email_change_purge", old_addresses},
                      {"one_time_code_purge", old_codes}, {"embedded_account_find", embedded},
                      {"password_intent_list_due", intents}, {"password_intent_claim", intent},
                      {"remote_account_awaits_first_login", first}, {"remote_account_temporary_is_over", over},
                      {"remote_account_may_begin", may_begin}, {"remote_account_count_ends", ends},
                      {"remote_account_hold_ends", hold_ends}, {"user_find_by_subject", subject},
                      {"user_find_reaching", reaching}, {"user_others_have_role", others},
                      {"user_others_hold_everything", administrators}, {"user_find_any", anybody},
                      {"user_find_by_username", by_name}, {"user_find_by_username, an id", by_id},
                      {"organisation_admin_each", every_organisation}, {"organisation_ensure_internal", internal},
                      {"throttle_purge", old_throttles}));
}

/* ---- sessions and rights -------------------------------------------------------------------------- */

CALL(list, session_list(D, bench->user->id, bench->session, MOST, &(struct session_list){0}));
CALL(find, session_find(D, bench->user->id, bench->session, false, &(struct session_record *){NULL}));
CALL(surplus, session_find_surplus(D, bench->user->id, 0, MOST, &(struct id *){NULL}, &(size_t){0}));
CALL(check, session_check(D, bench->session, bench->user->id, &(bool){false}));
CALL(known, session_is_known(D, bench->session, bench->user->id, &(bool){false}));
CALL(old_sessions, session_purge(D, MOST, &(uint64_t){0}));
CALL(note_use, session_note_use(D, bench->session, &(struct session_client){0}, &(int64_t){0}));
STEP(portion, session_end_organisation(D, bench->organisation, &(struct id){{0}}, MOST, &(bool){false}));
CALL(family, session_family_find_token(D, bench->session, &(struct session_family_token){0}));
CALL(family_of, session_family_find_token_of(D, bench->session, &(struct session_family_token){0}));
CALL(families, session_family_find_others(D, bench->user->id, bench->session, MOST,
                                          &(struct session_family_token *){NULL}, &(size_t){0}));
CALL(device, known_device_find(D, bench->user->id, "", &(struct id){{0}}));
CALL(new_device, known_device_note(D, bench->user->id, (struct id){{0}}, bench->session, &(const char *){NULL}));
CALL(old_devices, known_device_purge(D, MOST, &(uint64_t){0}));
CALL(uses, permission_use_of_user(D, bench->user->id, 0, &(struct permission_uses){0}));
CALL(everyones_uses, permission_use_of_users(D, (struct id){{0}}, bench->user->id, 0, &(struct permission_uses){0}));
CALL(uses_began, permission_use_began(D, &(int64_t){0}));
CALL(old_uses, permission_use_purge(D, MOST, &(uint64_t){0}));
CALL(roles, role_list(D, &(struct role_list){0}));
CALL(compare, principal_compare(D, &(int64_t){0}));
CALL(principal, principal_load(D, bench->user->id, bench->session, &(struct principal *){NULL}));

CALL(rebuild, principal_rebuild(D, &(int64_t){0}));

/* What is kept of the user is not what the tables say. */
static void bend(struct bench *bench, struct arena *arena)
{
    sql(bench->database, arena, "UPDATE principal SET permissions = 'x' WHERE user_id = %s",
        sql_id(arena, bench->user->id));
}

static void nobody_has_a_session_or_a_right_by_a_failure(void **state)
{
    refuse_each(state, bend,
                TABLE({"session_list", list}, {"session_find", find}, {"session_find_surplus", surplus},
                      {"session_check", check}, {"session_is_known", known}, {"session_purge", old_sessions},
                      {"session_note_use", note_use}, {"session_end_organisation", portion},
                      {"session_family_find_token", family}, {"session_family_find_token_of", family_of},
                      {"session_family_find_others", families}, {"known_device_find", device},
                      {"known_device_note", new_device}, {"known_device_purge", old_devices},
                      {"permission_use_of_user", uses}, {"permission_use_of_users", everyones_uses},
                      {"permission_use_began", uses_began}, {"permission_use_purge", old_uses}, {"role_list", roles},
                      {"principal_compare", compare}, {"principal_load", principal}, {"principal_rebuild", rebuild}));
}

/* ---- files ---------------------------------------------------------------------------------------- */

CALL(each_file, file_admin_each(D, (struct id){{0}}, MOST, &(struct file_admin_page){0}));
CALL(one_file, file_admin_find(D, bench->file.id, &(struct file_admin_record){0}, &(bool){false}));
CALL(estimate, file_admin_estimate(D, &(int64_t){0}));
CALL(known_files, file_admin_known(D, &bench->file.id, 1, &(bool){false}));
CALL(removals, file_admin_removals(D, MOST, &(struct id *){NULL}, &(size_t){0}));
CALL(removal, file_admin_removal_noted(D, bench->file.id, &(bool){false}));
CALL(removal_done, file_admin_removal_done(D, bench->file.id));
CALL(sums, file_admin_sums(D, bench->organisation, &(struct file_admin_sums){0}));
CALL(agrees, file_admin_usage_agrees(D, bench->organisation, &(bool){false}));
CALL(damage, file_damage_mark(D, bench->file.id, &(bool){false}));
CALL(damages, file_damage_count(D, &(struct file_damage_counts){0}));
CALL(damaged, file_damage_each(D, (struct id){{0}}, MOST, &(struct file_admin_page){0}));
CALL(usage, file_usage_find(D, bench->organisation, &(struct file_usage){0}));
CALL(recount, file_usage_recount(D, bench->organisation, &(bool){false}));
CALL(old_links, file_link_purge(D, MOST, &(uint64_t){0}));
CALL(links,
     file_link_list(D, bench->organisation, bench->file.id, (struct id){{0}}, MOST, &(struct file_link_page){0}));

static struct error *find_twins(struct arena *arena, struct bench *bench)
{
    struct file_admin_record kept;
    bool found = false;
    TRY(file_admin_find(D, bench->file.id, &kept, &found));
    assert_true(found);
    return file_damage_twins(D, &kept, (struct id){{0}}, MOST, &(struct file_admin_page){0});
}

CALL(twins, find_twins(arena, bench));

static struct error *purge_archived(struct arena *arena, struct bench *bench)
{
    struct file_admin_record record = {.id = bench->file.id, .organisation_id = bench->organisation};
    bool taken = false;
    TRY(file_purge(D, &record, INT64_C(1700000000000), &taken));
    assert_true(taken);
    return NULL;
}

STEP(purge, purge_archived(arena, bench));

static void archive_long_ago(struct bench *bench, struct arena *arena)
{
    sql(bench->database, arena, "UPDATE file SET status = 'archived', archived_at = '2020-01-01' WHERE id = %s",
        sql_id(arena, bench->file.id));
}

static void a_file_is_known_damaged_or_purged_for_certain(void **state)
{
    refuse_each(state, archive_long_ago,
                TABLE({"file_admin_each", each_file}, {"file_admin_find", one_file}, {"file_admin_estimate", estimate},
                      {"file_admin_known", known_files}, {"file_admin_removals", removals},
                      {"file_admin_removal_noted", removal}, {"file_admin_removal_done", removal_done},
                      {"file_admin_sums", sums}, {"file_admin_usage_agrees", agrees}, {"file_damage_mark", damage},
                      {"file_damage_count", damages}, {"file_damage_each", damaged}, {"file_damage_twins", twins},
                      {"file_usage_find", usage}, {"file_usage_recount", recount}, {"file_link_purge", old_links},
                      {"file_link_list", links}, {"file_purge", purge}));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_the_host_keeps_is_not_guessed),
    HARNESS_TEST(nobody_is_missed),
    HARNESS_TEST(nobody_has_a_session_or_a_right_by_a_failure),
    HARNESS_TEST(a_file_is_known_damaged_or_purged_for_certain),
};
HARNESS_MODULE(refused_statements, cases)
