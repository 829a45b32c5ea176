/* SPDX-License-Identifier: MIT */
/* Runs passes over all files in small steps, under a lease. */
#include "service/integrity/scrub.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "blob/blob.h"
#include "domain/file/file_damage.h"
#include "domain/lease.h"
#include "service/integrity/scrub_int.h"
#include "service/runtime/service.h"

#define SECOND INT64_C(1000000)
#define DAY_MILLISECONDS INT64_C(86400000)
#define PAGE_ROWS 200
#define SAVE_MICROSECONDS (5 * SECOND)
/* How often a lease that another process holds is tried: by the job runner, and for an operator who waits. */
#define TRY_MICROSECONDS (10 * SECOND)
#define TRY_PATIENT_MICROSECONDS (SECOND / 5)

/* ---- rate ---------------------------------------------------------------------------------------- */

int64_t scrub_rate_allow(struct scrub_rate *rate, int64_t now)
{
    if (rate->bytes_per_second == 0)
        return INT64_MAX;
    int64_t most = rate->bytes_per_second > SCRUB_BLOCK_BYTES ? rate->bytes_per_second : SCRUB_BLOCK_BYTES;
    int64_t passed = rate->since == 0 ? 0 : now - rate->since;
    passed = passed > SECOND ? SECOND : passed;
    rate->since = now;
    rate->allowance += (int64_t)((double)rate->bytes_per_second * (double)passed / (double)SECOND);
    rate->allowance = rate->allowance > most ? most : rate->allowance;
    return rate->allowance;
}

/* ---- making and ending --------------------------------------------------------------------------- */

struct scrub *scrub_new(struct service *service, const struct scrub_options *options)
{
    struct arena *arena = arena_new();
    struct scrub *scrub = arena_alloc(arena, sizeof *scrub);
    scrub->service = service;
    scrub->options = *options;
    scrub->arena = arena;
    scrub->scratch = arena_new();
    scrub->pages = arena_new();
    scrub->rate.bytes_per_second = options->bytes_per_second;
    scrub->reader.digest = digest_open(arena);
    scrub->reader.block = arena_alloc(arena, (size_t)SCRUB_BLOCK_BYTES);
    return scrub;
}

/*
 * Drops the file that is being read: the process that goes on reads it from its start. The memory of the page stays,
 * since an error of reading it lies there.
 */
static void let_go(struct scrub *scrub)
{
    scrub_read_end(scrub);
    scrub->page = (struct file_admin_page){.count = 0};
    scrub->next = 0;
    scrub->last = false;
    scrub->held = false;
}

static void give_back(struct scrub *scrub)
{
    if (scrub->held) {
        if (!scrub->options.damaged && scrub->position.begun != 0)
            (void)scrub_position_save(scrub, scrub->scratch);
        lease_holder_release(&scrub->lease, scrub->scratch);
    }
    let_go(scrub);
}

void scrub_free(struct scrub **scrub)
{
    struct scrub *gone = *scrub;
    if (gone == NULL)
        return;
    give_back(gone);
    if (gone->wished)
        lease_holder_release(&gone->wish, gone->scratch);
    *scrub = NULL;
    arena_free(&gone->scratch);
    arena_free(&gone->pages);
    struct arena *arena = gone->arena;
    arena_free(&arena);
}

const struct scrub_position *scrub_position(const struct scrub *scrub)
{
    return &scrub->position;
}

/* ---- the lease ----------------------------------------------------------------------------------- */

/* Says by a lease of its own that an operator waits. */
static struct error *wish(struct scrub *scrub)
{
    if (!scrub->options.patient)
        return NULL;
    if (scrub->wished)
        return lease_holder_renew(&scrub->wish, scrub->scratch);
    return lease_holder_try(scrub->service, scrub->scratch, LEASE_SCRUB_WANTED, &scrub->wish, &scrub->wished);
}

static struct error *take(struct scrub *scrub, int64_t now)
{
    bool wanted = false;
    int64_t pause = scrub->options.patient ? TRY_PATIENT_MICROSECONDS : TRY_MICROSECONDS;
    if (scrub->tried != 0 && now - scrub->tried < pause)
        return NULL;
    scrub->tried = now;
    TRY(wish(scrub));
    if (!scrub->options.patient)
        TRY(lease_held(scrub->service->database, scrub->scratch, LEASE_SCRUB_WANTED, &wanted));
    if (wanted)
        return NULL;
    TRY(lease_holder_try(scrub->service, scrub->scratch, LEASE_SCRUB, &scrub->lease, &scrub->held));
    if (scrub->held)
        TRY(scrub_position_load(scrub->service, scrub->scratch, &scrub->position));
    return NULL;
}

/*
 * Saves from time to time, and looks whether an operator waits. *goes_out is false when the lease was given back for
 * that.
 */
static struct error *save(struct scrub *scrub, bool *goes_out)
{
    bool wanted = false;
    *goes_out = true;
    TRY(lease_holder_renew(&scrub->lease, scrub->scratch));
    if (clock_monotonic() - scrub->saved < SAVE_MICROSECONDS)
        return NULL;
    TRY(wish(scrub));
    if (!scrub->options.damaged)
        TRY(scrub_position_save(scrub, scrub->scratch));
    if (!scrub->options.patient)
        TRY(lease_held(scrub->service->database, scrub->scratch, LEASE_SCRUB_WANTED, &wanted));
    if (wanted) {
        give_back(scrub);
        *goes_out = false;
    }
    return NULL;
}

/* ---- passes -------------------------------------------------------------------------------------- */

static struct error *begin_pass(struct scrub *scrub)
{
    struct scrub_position *position = &scrub->position;
    int64_t now = clock_now();
    *position = (struct scrub_position){.begun = now,
                                        .finished = position->finished,
                                        .last_lost = position->last_lost,
                                        .first = position->first != 0 ? position->first : now};
    scrub->asked = true;
    return scrub_position_save(scrub, scrub->scratch);
}

/* Finds the pass to go on with; begins one that is due. */
static struct error *find_pass(struct scrub *scrub, bool *due_out)
{
    const struct scrub_position *position = &scrub->position;
    bool now = scrub->options.now && !scrub->asked;
    *due_out = true;
    if (scrub->options.damaged || (position->begun != 0 && !now))
        return NULL;
    *due_out =
        now ||
        (scrub->options.every_days > 0 &&
         (position->finished == 0 || clock_now() - position->finished >= scrub->options.every_days * DAY_MILLISECONDS));
    return *due_out ? begin_pass(scrub) : NULL;
}

static struct error *end_pass(struct scrub *scrub)
{
    struct scrub_position *position = &scrub->position;
    if (!scrub->options.damaged) {
        LOG(INFO, FILES, "the scrub has read every file", LOG_INTEGER("files", position->files),
            LOG_INTEGER("bytes", position->bytes), LOG_INTEGER("damaged", position->damaged),
            LOG_INTEGER("lost", position->lost));
        position->finished = position->begun;
        position->last_lost = position->lost;
        position->begun = 0;
        position->at = id_none;
        TRY(scrub_position_save(scrub, scrub->scratch));
    }
    give_back(scrub);
    return NULL;
}

static struct error *next_page(struct scrub *scrub)
{
    struct id after = scrub->options.damaged ? scrub->damaged_at : scrub->position.at;
    arena_reset(scrub->pages);
    scrub->next = 0;
    scrub->page = (struct file_admin_page){.count = 0};
    TRY((scrub->options.damaged ? file_damage_each : file_admin_each)(scrub->service->database, scrub->pages, after,
                                                                      PAGE_ROWS, &scrub->page));
    scrub->last = scrub->page.count < PAGE_ROWS;
    return NULL;
}

/* Reads on in the open file, or opens the next one. */
static struct error *read_some(struct scrub *scrub)
{
    const struct file_admin_record *kept = &scrub->page.items[scrub->next];
    enum scrub_verdict verdict = SCRUB_VERDICT_NONE;
    if (scrub->reader.blob != NULL)
        verdict = scrub_read_more(scrub, kept);
    else if (scrub_read_begin(scrub, kept, &verdict))
        verdict = SCRUB_VERDICT_NONE;
    if (verdict == SCRUB_VERDICT_NONE)
        return NULL;
    TRY(scrub_mark(scrub, kept, verdict));
    if (scrub->options.damaged)
        scrub->damaged_at = kept->id;
    else
        scrub->position.at = kept->id;
    scrub->position.files += !scrub->options.damaged;
    scrub->next++;
    return NULL;
}

/* Reads until the rate, the time or the files are used up, or an operator asks for the lease. */
static struct error *read_on(struct scrub *scrub, int64_t now, enum scrub_state *state_out)
{
    bool goes = true;
    int64_t end = scrub->options.step_microseconds == 0 ? INT64_MAX : now + scrub->options.step_microseconds;
    *state_out = SCRUB_READING;
    while (scrub->rate.bytes_per_second == 0 || scrub->rate.allowance >= SCRUB_BLOCK_BYTES) {
        arena_reset(scrub->scratch);
        if (scrub->next == scrub->page.count && scrub->last) {
            *state_out = SCRUB_DONE;
            return end_pass(scrub);
        }
        if (scrub->next == scrub->page.count)
            TRY(next_page(scrub));
        else
            TRY(read_some(scrub));
        TRY(save(scrub, &goes));
        if (!goes || clock_monotonic() >= end)
            break;
    }
    return NULL;
}

static struct error *step(struct scrub *scrub, int64_t now, enum scrub_state *state_out)
{
    bool due = false;
    (void)scrub_rate_allow(&scrub->rate, now);
    *state_out = SCRUB_WAITING;
    if (!scrub->held)
        TRY(take(scrub, now));
    if (!scrub->held)
        return NULL;
    TRY(lease_holder_renew(&scrub->lease, scrub->scratch));
    TRY(find_pass(scrub, &due));
    if (due)
        return read_on(scrub, now, state_out);
    *state_out = SCRUB_IDLE;
    give_back(scrub);
    return NULL;
}

struct error *scrub_step(struct scrub *scrub, int64_t now, enum scrub_state *state_out)
{
    arena_reset(scrub->scratch);
    struct error *error = step(scrub, now, state_out);
    if (error == NULL)
        return NULL;
    if (scrub->held && error->code != ERROR_DATABASE_UNAVAILABLE)
        lease_holder_release(&scrub->lease, scrub->scratch);
    let_go(scrub);
    return error;
}
