/* SPDX-License-Identifier: MIT */
/*
 * gatehousectl jobs: the job runner. It claims due items from the outbox, does them, and cleans up from time to time.
 * Any number of runners may run on any host. The claims of a runner that dies end by themselves.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/host/process.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/sandbox/sandbox.h"
#include "ctl/command/jobs_int.h"
#include "ctl/ctl_int.h"
#include "domain/account/email_change.h"
#include "domain/outbox.h"
#include "service/account/email_cancel.h"
#include "service/account/email_change.h"
#include "service/account/mail_queue.h"
#include "service/account/member_erase.h"
#include "service/account/password.h"
#include "service/account/provider_sync.h"
#include "service/account/recovery.h"
#include "service/integrity/scrub.h"
#include "service/runtime/change_follower.h"
#include "service/runtime/confinement.h"
#include "service/runtime/service.h"
#include "service/runtime/startup.h"
#include "service/system/settings_update.h"
#include "service/system/stats.h"
#include "store/cache/cache.h"
#include "store/mail/mail.h"

/* Few at a time: all of them must be done within the lease, and a mail may take half a minute. */
#define CLAIM_ITEMS 3
#define LEASE_SECONDS 120
#define IDLE_MILLISECONDS 250
#define FAILURE_MILLISECONDS 2000
#define TIDY_SECONDS 600
#define UNDO_SECONDS 10
#define METRICS_SECONDS 2
#define ANNOUNCE_SECONDS 1
#define SCRUB_MICROSECONDS 50000
#define LIST_LINES 1000

static volatile sig_atomic_t ending;

static void on_end(int signal_number)
{
    (void)signal_number;
    ending = 1;
}

static void pause_for(long milliseconds)
{
    struct timespec wait = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
    (void)nanosleep(&wait, NULL);
}

/* An item whose report the database did not take: only its number and attempts, and whether its mail was sent. */
struct unreported {
    struct outbox_item item;
    bool sent;
};

/* How mail is sent, read again when secrets were changed; and what is still to be reported of the last claim. */
struct mailer {
    struct arena *arena;
    struct mail_transport *transport;
    unsigned secrets; /* of service->changes when it was read */
    struct unreported unreported[CLAIM_ITEMS];
    size_t unreported_count;
};

/* Reads the transport again after secrets were changed. One that cannot be read stays as it was. */
static void open_mailer(struct service *service, struct mailer *mailer)
{
    if (mailer->secrets == service->changes.secrets)
        return;
    struct mail_transport *transport;
    struct arena *arena = arena_new();
    struct error *error = mail_transport_load(arena, service->configuration, &transport);
    if (error != NULL) {
        LOG(ERROR, JOBS, "the mail server's credentials cannot be read again", LOG_TEXT("detail", error->detail));
        arena_free(&arena);
        return;
    }
    arena_free(&mailer->arena);
    mailer->arena = arena;
    mailer->transport = transport;
    mailer->secrets = service->changes.secrets;
}

/*
 * Remembers an item that could not be reported: a sent mail must not be sent again, and no item should wait for the end
 * of its lease because of a short outage.
 */
static void remember(struct mailer *mailer, const struct outbox_item *item, bool sent)
{
    LOG(WARN, JOBS, "the outbox could not be told the outcome of a job; it is told later",
        LOG_INTEGER("number", item->number), LOG_BOOLEAN("sent", sent));
    mailer->unreported[mailer->unreported_count++] =
        (struct unreported){{.number = item->number, .attempts = item->attempts}, sent};
}

/* Reports what was remembered. Does nothing where the lease has passed to another runner. */
static struct error *report(struct service *service, struct arena *arena, struct mailer *mailer)
{
    for (; mailer->unreported_count > 0; mailer->unreported_count--) {
        const struct unreported *one = &mailer->unreported[mailer->unreported_count - 1];
        bool dead;
        if (one->sent)
            TRY(outbox_finish(service->database, arena, &one->item, NULL));
        else
            TRY(outbox_retry(service->database, arena, &one->item, UINT_MAX,
                             "the database did not take what became of it", &dead));
    }
    return NULL;
}

static struct error *do_item(struct service *service, struct arena *arena, const struct mail_transport *transport,
                             const struct outbox_item *item, bool *sent_out)
{
    *sent_out = false;
    service->reader = NULL; /* the language of the item before is nobody's now */
    if (strcmp(item->kind, MAIL_QUEUE_KIND) == 0)
        return mail_queue_send(service, arena, transport, item, sent_out);
    if (strcmp(item->kind, PROVIDER_SYNC_KIND) == 0)
        return provider_sync_run(service, arena, item);
    if (strcmp(item->kind, MEMBER_ERASE_KIND) == 0)
        return member_erase_run(service, arena, item);
    if (strcmp(item->kind, RECOVERY_FORGOTTEN) == 0 || strcmp(item->kind, RECOVERY_RESEND) == 0)
        return recovery_run(service, arena, item);
    if (strcmp(item->kind, EMAIL_CHANGE_KIND) == 0)
        return email_change_run(service, arena, item);
    if (strcmp(item->kind, EMAIL_CANCEL_KIND) == 0)
        return email_cancel_run(service, arena, item);
    return outbox_bury(service->database, arena, item, "there is no job of this kind");
}

/*
 * Does one round; *count_out is how many items were claimed. First it reports the last ones and follows the change log.
 */
static struct error *do_round(struct service *service, struct arena *arena, struct mailer *mailer, size_t *count_out)
{
    struct outbox_items items = {0};
    *count_out = 0;
    TRY(report(service, arena, mailer));
    TRY(change_follower_catch_up(service, arena));
    open_mailer(service, mailer);
    TRY(outbox_claim(service->database, arena, CLAIM_ITEMS, LEASE_SECONDS, &items));
    *count_out = items.count;
    struct error *first = NULL;
    for (size_t i = 0; i < items.count; i++) {
        bool sent;
        struct error *error = do_item(service, arena, mailer->transport, &items.items[i], &sent);
        if (error != NULL)
            remember(mailer, &items.items[i], sent);
        first = first != NULL ? first : error;
    }
    return first;
}

/* Sets the metrics of the outbox. When the database cannot be asked, they grow old. */
static struct error *set_outbox_metrics(struct service *service, struct arena *arena)
{
    struct outbox_counts counts;
    int64_t lag;
    if (outbox_count(service->database, arena, &counts) != NULL || outbox_lag(service->database, arena, &lag) != NULL)
        return NULL;
    int64_t now = clock_now();
    metrics_set(METRIC_OUTBOX_PENDING, counts.waiting);
    metrics_set(METRIC_OUTBOX_DEAD, counts.dead);
    metrics_set(METRIC_OUTBOX_OLDEST, lag == 0 ? 0 : (uint64_t)(now - lag));
    metrics_set(METRIC_OUTBOX_SEEN, (uint64_t)now);
    (void)scrub_set_metrics(service, arena);
    return NULL;
}

/* Takes back what was begun with the identity provider and not ended. */
static struct error *undo_stale(struct service *service, struct arena *arena)
{
    size_t stale = 0;
    struct error *error = recovery_undo_stale(service, arena, &stale);
    struct error *unreconciled = password_reconcile(service, arena, &stale);
    return error != NULL ? error : unreconciled;
}

/* What is done now and then. */
struct chore {
    int64_t seconds;
    struct error *(*run)(struct service *service, struct arena *arena);
    int64_t done; /* when it was done last, in microseconds */
};

/* Does each chore whose time has come. The first failure ends the round. */
static struct error *do_chores(struct service *service, struct arena *arena, struct chore *chores, size_t count)
{
    struct error *error = NULL;
    for (size_t i = 0; i < count && error == NULL; i++) {
        if (clock_monotonic() - chores[i].done <= chores[i].seconds * 1000000)
            continue;
        error = chores[i].run(service, arena);
        chores[i].done = clock_monotonic();
    }
    return error;
}

static void complain(const struct error *error)
{
    LOG(ERROR, JOBS, "the round failed", LOG_TEXT("code", error_code_text(error->code)),
        LOG_TEXT("detail", error->detail));
}

/* Reads files for a moment. A failure is tried again soon, and must not keep mail from being sent. */
static void scrub_some(struct scrub *scrub)
{
    enum scrub_state state;
    struct error *error = scrub == NULL ? NULL : scrub_step(scrub, clock_monotonic(), &state);
    if (error != NULL)
        complain(error);
}

static struct scrub *open_scrub(struct service *service)
{
    const struct scrub_options options = {.bytes_per_second = service->configuration->scrub.bytes_per_second,
                                          .every_days = service->configuration->scrub.every_days,
                                          .step_microseconds = SCRUB_MICROSECONDS};
    return options.every_days == 0 ? NULL : scrub_new(service, &options);
}

static int run_until_told(struct service *service, struct mailer *mailer)
{
    struct chore chores[] = {{.seconds = UNDO_SECONDS, .run = undo_stale},
                             {.seconds = ANNOUNCE_SECONDS, .run = settings_update_announce},
                             {.seconds = TIDY_SECONDS, .run = jobs_tidy},
                             {.seconds = METRICS_SECONDS, .run = set_outbox_metrics}};
    struct arena *arena = arena_new();
    struct scrub *scrub = open_scrub(service);
    struct stats_runner stats = {.begun = false};
    host_process_join(HOST_PROCESS_JOBS, NULL);
    LOG(INFO, JOBS, "job runner started");
    while (!ending && !cache_spent(service->cache) && !sandbox_is_outdated(clock_monotonic())) {
        size_t count = 0;
        struct error *error = do_round(service, arena, mailer, &count);
        if (error == NULL)
            error = do_chores(service, arena, chores, sizeof chores / sizeof *chores);
        if (error == NULL)
            error = stats_step(service, arena, &stats, clock_now());
        if (error == NULL)
            scrub_some(scrub);
        host_process_follow(clock_monotonic());
        if (error != NULL)
            complain(error);
        log_context(NULL, NULL, NULL, NULL);
        arena_reset(arena);
        if (count == 0 && !ending)
            pause_for(error != NULL ? FAILURE_MILLISECONDS : IDLE_MILLISECONDS);
    }
    scrub_free(&scrub);
    LOG(INFO, JOBS, "job runner ended");
    arena_free(&arena);
    return EXIT_SUCCESS;
}

static int run_once(struct service *service, struct mailer *mailer)
{
    size_t count = 0;
    do {
        struct error *error = do_round(service, service->arena, mailer, &count);
        if (error != NULL)
            return ctl_fail(error);
    } while (count > 0);
    struct error *error = recovery_undo_stale(service, service->arena, &count);
    if (error == NULL)
        error = password_reconcile(service, service->arena, &count);
    if (error == NULL)
        error = jobs_tidy(service, service->arena);
    (void)set_outbox_metrics(service, service->arena);
    return error == NULL ? EXIT_SUCCESS : ctl_fail(error);
}

static void write_line(const struct outbox_line *line, struct ctl_json *json)
{
    ctl_json_open(json, NULL, '{');
    ctl_json_integer(json, "number", (int64_t)line->number);
    ctl_json_text(json, "kind", line->kind);
    ctl_json_text(json, "status", line->status);
    ctl_json_integer(json, "attempts", line->attempts);
    ctl_json_text(json, "createdAt", line->created_at);
    ctl_json_text(json, "nextAttemptAt", line->next_attempt_at);
    ctl_json_text(json, "lastError", line->last_error);
    ctl_json_close(json);
}

static void write_lines(struct arena *arena, const struct outbox_lines *lines)
{
    struct ctl_json json = {.arena = arena};
    ctl_json_open(&json, NULL, '{');
    ctl_json_open(&json, "items", '[');
    for (size_t i = 0; i < lines->count; i++)
        write_line(&lines->items[i], &json);
    ctl_json_close(&json);
    ctl_json_close(&json);
}

static void print_lines(const struct outbox_lines *lines)
{
    (void)printf("%-8s %-10s %-8s %8s  %-24s  %-24s  %s\n", "number", "kind", "status", "attempts", "created",
                 "next attempt", "last error");
    for (size_t i = 0; i < lines->count; i++) {
        const struct outbox_line *line = &lines->items[i];
        (void)printf("%-8llu %-10s %-8s %8u  %-24s  %-24s  %s\n", (unsigned long long)line->number, line->kind,
                     line->status, line->attempts, line->created_at, line->next_attempt_at,
                     line->last_error == NULL ? "" : line->last_error);
    }
}

static struct error *list(struct service *service, struct arena *arena, void *context)
{
    const struct run *run = context;
    struct outbox_lines lines;
    TRY(outbox_list(service->database, arena, LIST_LINES, &lines));
    if (run->json)
        write_lines(arena, &lines);
    else
        print_lines(&lines);
    return NULL;
}

/* What --once does is counted with the host's, as what the workers do. Where that cannot be, it is not counted. */
static void count_with_host(const struct configuration *configuration)
{
    const char *problem;
    if (!host_process_open(configuration->metrics.file, &problem))
        LOG(WARN, JOBS, problem, LOG_TEXT("file", configuration->metrics.file));
}

static int work(struct run *run, bool once)
{
    struct configuration *configuration;
    struct service service;
    struct mailer mailer = {.arena = arena_new()};
    struct error *error = startup_load(run->arena, run->config, once ? NULL : "gatehouse-jobs", &configuration);
    if (error == NULL && once)
        count_with_host(configuration);
    if (error == NULL)
        error = service_open(run->arena, configuration, &service);
    if (error == NULL)
        error = mail_transport_load(mailer.arena, configuration, &mailer.transport);
    if (error != NULL)
        return ctl_fail(error);
    struct sigaction end = {.sa_handler = on_end};
    (void)sigaction(SIGTERM, &end, NULL);
    (void)sigaction(SIGINT, &end, NULL);
    confinement_enter(run->arena, configuration);
    int status = once ? run_once(&service, &mailer) : run_until_told(&service, &mailer);
    error = report(&service, run->arena, &mailer);
    if (error != NULL)
        status = ctl_fail(error);
    service_close(&service);
    arena_free(&mailer.arena);
    host_process_close();
    return status;
}

static int jobs(struct run *run)
{
    bool once = ctl_has(run, "once");
    bool listed = ctl_has(run, "list");
    if (once && listed)
        return ctl_usage(run, "--once and --list do not go together");
    if (run->json && !listed)
        return ctl_usage(run, "--json goes with --list");
    return listed ? ctl_with_service(run, list, run) : work(run, once);
}

static const struct ctl_option options[] = {
    {"once", NULL, "do what is due now and leave", false},
    {"list", NULL, "print the jobs that wait or were given up, and change nothing", false},
    {0},
};

const struct ctl_command ctl_jobs = {
    .name = "jobs", .summary = "run the background jobs", .options = options, .json = true, .run = jobs};
