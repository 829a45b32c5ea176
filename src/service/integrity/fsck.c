/* SPDX-License-Identifier: MIT */
/* Compares every row with its bytes, and runs the other parts of fsck. */
#include <fcntl.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "blob/blob.h"
#include "domain/account/organisation.h"
#include "domain/file/file_damage.h"
#include "domain/file/file_usage.h"
#include "domain/lease.h"
#include "service/backup_int.h"
#include "service/integrity/fsck_int.h"
#include "service/runtime/service.h"

#define PAGE_ROWS 500
#define SAVE_MICROSECONDS INT64_C(2000000)
/* The lease of a fsck that was killed lasts this long. */
#define PATIENCE_SECONDS (LEASE_HOLDER_SECONDS + 5)

/* ---- the position -------------------------------------------------------------------------------- */

/* The position, for a run that goes on: "1 <id> <files> <bytes> <young> <unrepaired> <count of each kind>". */
#define POSITION_WORDS (6 + FSCK_KINDS)

static struct error *save(struct fsck *fsck, struct arena *arena)
{
    struct fsck_result *result = fsck->result;
    struct buffer text;
    buffer_init(&text, arena);
    buffer_add_format(&text, "1 %s %lld %lld %lld %lld", id_text(arena, fsck->at), (long long)result->files,
                      (long long)result->bytes, (long long)result->young, (long long)result->unrepaired);
    for (int kind = 0; kind < FSCK_KINDS; kind++)
        buffer_add_format(&text, " %lld", (long long)result->counts[kind]);
    fsck->saved = clock_monotonic();
    return lease_holder_save(&fsck->lease, arena, text.bytes);
}

/* A position of another version counts as none. */
static struct error *load(struct fsck *fsck)
{
    const char *position;
    struct fsck_result *result = fsck->result;
    TRY(lease_position(fsck->service->database, fsck->arena, LEASE_FSCK, &position));
    struct text_list words = text_words(fsck->arena, position);
    int64_t numbers[POSITION_WORDS] = {0};
    struct id at;
    if (words.count != POSITION_WORDS || strcmp(words.items[0], "1") != 0 || !id_parse(words.items[1], &at))
        return NULL;
    for (size_t i = 2; i < POSITION_WORDS; i++)
        if (!text_to_integer(words.items[i], 0, INT64_MAX, &numbers[i]))
            return NULL;
    fsck->at = at;
    result->files = numbers[2];
    result->bytes = numbers[3];
    result->young = numbers[4];
    result->unrepaired = numbers[5];
    memcpy(result->counts, numbers + 6, sizeof result->counts);
    return NULL;
}

/* ---- one file ------------------------------------------------------------------------------------ */

enum reading { READING_GOOD, READING_DIFFERENT, READING_FAILED, READING_ENDED };

static void forget_cached(struct blob_reader *blob)
{
    int file = blob_reader_file(blob);
    if (file < 0)
        return;
    (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    (void)posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
}

/* Reads the bytes from the disk and not from memory, as far as the system can be asked for that. */
static enum reading read_once(struct fsck *fsck, struct blob_reader *blob, const struct file_admin_record *kept)
{
    uint8_t sum[DIGEST_BYTES];
    enum reading reading = READING_GOOD;
    int64_t at = 0;
    size_t got = 0;
    forget_cached(blob);
    for (;;) {
        if (blob_read(blob, (uint64_t)at, fsck->block, FSCK_BLOCK_BYTES, &got) != NULL)
            reading = READING_FAILED;
        if (reading == READING_FAILED || got == 0)
            break;
        digest_update(fsck->digest, fsck->block, got);
        at += (int64_t)got;
        fsck->result->bytes += (int64_t)got;
        pace_spend(&fsck->pace, (int64_t)got);
        progress_show(fsck->options->progress, "files", fsck->result->files, fsck->total, fsck->result->bytes);
        if (progress_ends(fsck->options->progress) || lease_holder_renew(&fsck->lease, fsck->scratch) != NULL) {
            reading = READING_ENDED;
            break;
        }
    }
    digest_final(fsck->digest, sum);
    if (reading == READING_GOOD && (at != kept->size || !digest_equal(sum, kept->hash)))
        return READING_DIFFERENT;
    return reading;
}

/* Reads different bytes a second time: a fault of memory or of a cable must not condemn a file. */
static struct error *compare_hash(struct fsck *fsck, const struct file_admin_record *kept, enum reading *reading_out)
{
    struct blob_reader *blob;
    *reading_out = READING_FAILED;
    if (blob_open(fsck->service->blobs, fsck->scratch, kept->id, &blob) != NULL)
        return NULL;
    *reading_out = read_once(fsck, blob, kept);
    if (*reading_out == READING_DIFFERENT)
        *reading_out = read_once(fsck, blob, kept);
    blob_close(blob);
    return lease_holder_renew(&fsck->lease, fsck->arena);
}

/* Moves bytes that are not the file's into quarantine, and takes the right ones from the backup if it has them. */
static struct error *repair_file(struct fsck *fsck, const struct file_admin_record *kept, struct fsck_finding *finding)
{
    if (finding->kind == FSCK_SIZE || finding->kind == FSCK_HASH)
        TRY(blob_set_aside(fsck->service->blobs, fsck->scratch, kept->id, &finding->moved_to));
    if (finding->kind != FSCK_UNREADABLE && fsck->backup != NULL)
        TRY(fsck_fetch(fsck, kept, &finding->repaired));
    return NULL;
}

/*
 * Marks a file whose wrong bytes are still in place, so that it is not sent. A file whose bytes were moved or put back
 * needs no mark. Remembers a file without bytes as lost.
 */
static struct error *mark_file(struct fsck *fsck, const struct fsck_finding *finding)
{
    bool changed;
    struct database *database = fsck->service->database;
    bool wrong = finding->kind == FSCK_SIZE || finding->kind == FSCK_HASH;
    bool there = finding->repaired || (wrong && finding->moved_to == NULL);
    TRY((there ? file_lost_clear : file_lost_note)(database, fsck->scratch, finding->id, &changed));
    if (wrong && !finding->repaired && finding->moved_to == NULL)
        return file_damage_mark(database, fsck->scratch, finding->id, &changed);
    if (finding->repaired || finding->moved_to != NULL)
        return file_damage_clear(database, fsck->scratch, finding->id, &changed);
    return NULL;
}

/* Reports a file, unless its row is gone: a purge may have removed the file meanwhile. */
static struct error *report_file(struct fsck *fsck, const struct file_admin_record *kept, enum fsck_kind kind)
{
    struct file_admin_record now;
    bool found = false;
    TRY(file_admin_find(fsck->service->database, fsck->scratch, kept->id, &now, &found));
    if (!found)
        return NULL;
    TRY(lease_holder_check(&fsck->lease, fsck->arena));
    struct fsck_finding finding = {.kind = kind,
                                   .id = kept->id,
                                   .organisation_id = kept->organisation_id,
                                   .path = blob_path(fsck->scratch, kept->id)};
    if (fsck->options->repair)
        TRY(repair_file(fsck, kept, &finding));
    TRY(mark_file(fsck, &finding));
    fsck_report(fsck, &finding);
    return NULL;
}

static struct error *check_file(struct fsck *fsck, const struct file_admin_record *kept)
{
    struct blob_found found;
    bool there = false;
    bool cleared;
    enum reading reading = READING_GOOD;
    if (blob_look(fsck->service->blobs, fsck->scratch, kept->id, &found, &there) != NULL)
        return report_file(fsck, kept, FSCK_UNREADABLE);
    if (!there)
        return report_file(fsck, kept, FSCK_MISSING);
    if (found.size != (uint64_t)kept->size)
        return report_file(fsck, kept, FSCK_SIZE);
    if (found.has_digest && !digest_equal(found.digest, kept->hash))
        return report_file(fsck, kept, FSCK_HASH);
    if (!fsck->options->quick)
        TRY(compare_hash(fsck, kept, &reading));
    if (reading == READING_DIFFERENT)
        return report_file(fsck, kept, FSCK_HASH);
    if (reading == READING_FAILED)
        return report_file(fsck, kept, FSCK_UNREADABLE);
    fsck->result->interrupted = reading == READING_ENDED;
    if (reading != READING_GOOD || fsck->options->quick)
        return NULL;
    if (kept->lost)
        TRY(file_lost_clear(fsck->service->database, fsck->scratch, kept->id, &cleared));
    return kept->damaged ? file_damage_clear(fsck->service->database, fsck->scratch, kept->id, &cleared) : NULL;
}

/* ---- all rows ------------------------------------------------------------------------------------ */

static struct error *check_page(struct fsck *fsck, const struct file_admin_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        const struct file_admin_record *kept = &page->items[i];
        if (kept->created >= fsck->before)
            fsck->result->young++;
        else
            TRY(check_file(fsck, kept));
        if (fsck->result->interrupted)
            return NULL;
        fsck->result->files += kept->created < fsck->before;
        fsck->at = kept->id;
        TRY(lease_holder_renew(&fsck->lease, fsck->arena));
        progress_show(fsck->options->progress, "files", fsck->result->files, fsck->total, fsck->result->bytes);
        if (clock_monotonic() - fsck->saved > SAVE_MICROSECONDS)
            TRY(save(fsck, fsck->scratch));
    }
    return NULL;
}

static struct error *check_rows(struct fsck *fsck)
{
    struct file_admin_page page = {.count = PAGE_ROWS};
    while (page.count == PAGE_ROWS && !fsck->result->interrupted) {
        arena_reset(fsck->scratch);
        TRY(file_admin_each(fsck->service->database, fsck->scratch, fsck->at, PAGE_ROWS, &page));
        TRY(check_page(fsck, &page));
        fsck->result->interrupted = fsck->result->interrupted || progress_ends(fsck->options->progress);
    }
    return NULL;
}

static struct error *check_usage(struct fsck *fsck, struct id organisation)
{
    bool holds = true;
    struct fsck_finding finding = {.kind = FSCK_USAGE, .organisation_id = organisation};
    TRY(file_admin_usage_agrees(fsck->service->database, fsck->scratch, organisation, &holds));
    if (holds)
        return NULL;
    if (fsck->options->repair) {
        TRY(file_usage_recount(fsck->service->database, fsck->scratch, organisation, NULL));
        finding.repaired = true;
    }
    fsck_report(fsck, &finding);
    return NULL;
}

static struct error *check_organisations(struct fsck *fsck)
{
    struct organisation_page page = {.more = true};
    struct id after = {{0}};
    while (page.more) {
        arena_reset(fsck->scratch);
        TRY(organisation_admin_each(fsck->service->database, fsck->scratch, after, PAGE_ROWS, &page));
        for (size_t i = 0; i < page.count; i++) {
            after = page.items[i].id;
            TRY(check_usage(fsck, after));
            TRY(lease_holder_renew(&fsck->lease, fsck->arena));
        }
    }
    return NULL;
}

static struct error *check_all(struct fsck *fsck)
{
    if (fsck->options->resume)
        TRY(load(fsck));
    TRY(save(fsck, fsck->arena));
    TRY(check_rows(fsck));
    if (fsck->result->interrupted)
        return save(fsck, fsck->arena);
    /*
     * Organisations and store are always gone through from their start, so what an interrupted run has found there is
     * counted again.
     */
    TRY(save(fsck, fsck->arena));
    TRY(check_organisations(fsck));
    TRY(fsck_store(fsck));
    if (fsck->result->interrupted)
        return NULL;
    return lease_holder_save(&fsck->lease, fsck->arena, "");
}

struct error *fsck_run(struct service *service, struct arena *arena, struct arena *scratch,
                       const struct fsck_options *options, struct fsck_result *result_out)
{
    *result_out = (struct fsck_result){0};
    struct fsck fsck = {.service = service,
                        .arena = arena,
                        .scratch = scratch,
                        .options = options,
                        .result = result_out,
                        .pace = {.bytes_per_second = options->bytes_per_second},
                        .digest = digest_open(arena),
                        .block = arena_alloc(arena, FSCK_BLOCK_BYTES),
                        .before = INT64_MAX};
    if (options->min_age_seconds > 0)
        fsck.before = clock_now() - options->min_age_seconds * 1000;
    struct error *error = blob_check(service->blobs, arena);
    if (error != NULL && error->code != ERROR_STORAGE_FULL)
        return error;
    if (options->from != NULL)
        TRY(backup_find(arena, options->from, &fsck.backup));
    TRY(file_admin_estimate(service->database, arena, &fsck.total));
    TRY(lease_holder_take(service, arena, LEASE_FSCK, PATIENCE_SECONDS, &fsck.lease));
    error = check_all(&fsck);
    lease_holder_release(&fsck.lease, arena);
    return error;
}
