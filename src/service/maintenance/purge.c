/* SPDX-License-Identifier: MIT */
/* Removes archived files, in batches: rows in a transaction, then their bytes. */
#include "service/maintenance/purge.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "blob/blob.h"
#include "codec/encoding.h"
#include "domain/audit.h"
#include "domain/file/file_admin.h"
#include "domain/file/file_usage.h"
#include "domain/lease.h"
#include "service/maintenance/lease_holder.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define PAGE_ROWS 1000
/* The number of files in one transaction. */
#define BATCH_FILES 50
#define REMOVALS 100
#define AUDIT_ROWS 1000
#define PATIENCE_SECONDS 60

struct purge {
    struct service *service;
    struct arena *arena;
    struct arena *scratch;
    const struct purge_options *options;
    struct purge_result *result;
    struct lease_holder lease;
    int64_t total;
    int64_t seen;
};

/* ---- bytes --------------------------------------------------------------------------------------- */

/* Checks the store: in a directory that is missing, all bytes would count as removed. */
static struct error *check_store(struct service *service, struct arena *arena)
{
    struct error *error = blob_check(service->blobs, arena);
    return error == NULL || error->code == ERROR_STORAGE_FULL ? NULL : error;
}

static struct error *remove_noted(struct service *service, struct arena *arena, size_t *count_out)
{
    struct id *ids;
    TRY(file_admin_removals(service->database, arena, REMOVALS, &ids, count_out));
    for (size_t i = 0; i < *count_out; i++) {
        TRY(blob_remove(service->blobs, arena, ids[i]));
        TRY(file_admin_removal_done(service->database, arena, ids[i]));
    }
    return NULL;
}

static struct error *remove_all_noted(struct purge *purge)
{
    size_t count = REMOVALS;
    while (count == REMOVALS) {
        TRY(remove_noted(purge->service, purge->scratch, &count));
        TRY(lease_holder_renew(&purge->lease, purge->arena));
    }
    return NULL;
}

struct error *purge_finish(struct service *service, struct arena *arena, uint64_t *count_out)
{
    struct lease_holder lease;
    struct id *ids;
    bool held = false;
    size_t count = 0;
    *count_out = 0;
    TRY(file_admin_removals(service->database, arena, 1, &ids, &count));
    if (count == 0)
        return NULL;
    TRY(check_store(service, arena));
    TRY(lease_holder_try(service, arena, LEASE_FILES, &lease, &held));
    if (!held)
        return NULL;
    struct error *error = remove_noted(service, arena, &count);
    lease_holder_release(&lease, arena);
    *count_out = count;
    return error;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

struct batch {
    struct purge *purge;
    const struct file_admin_record *items[BATCH_FILES];
    bool taken[BATCH_FILES]; /* by the last attempt of the transaction */
    size_t count;
};

static struct error *audit_file(struct database *database, struct arena *arena, const struct file_admin_record *kept)
{
    char archived[CLOCK_TEXT_BYTES];
    clock_format(kept->archived, archived);
    struct audit_entry entry = {
        .action = "file.purge",
        .organisation_id = kept->organisation_id,
        .target_type = "file",
        .target_id = id_text(arena, kept->id),
        .outcome = "success",
        .details = arena_format(arena, "{\"size\":%lld,\"hash\":\"%s\",\"archivedAt\":\"%s\"}", (long long)kept->size,
                                hex_encode(arena, kept->hash, sizeof kept->hash), archived),
    };
    return audit_insert(database, arena, &entry);
}

/*
 * The sum of the files that belong to the organisation of item `first`, from that item on. Each file is counted once.
 */
static struct file_usage sum_up(const struct batch *batch, size_t first, bool *counted)
{
    struct file_usage sum = {0};
    for (size_t i = first; i < batch->count; i++) {
        if (!batch->taken[i] || counted[i] ||
            !id_equal(batch->items[i]->organisation_id, batch->items[first]->organisation_id))
            continue;
        counted[i] = true;
        sum.files++;
        sum.bytes += batch->items[i]->size;
    }
    return sum;
}

static struct error *take_out(struct database *database, struct arena *arena, void *context)
{
    struct batch *batch = context;
    bool counted[BATCH_FILES] = {false};
    /* A backup that has the lease by now copies what these rows name. */
    TRY(lease_holder_fence(&batch->purge->lease, arena));
    for (size_t i = 0; i < batch->count; i++) {
        TRY(file_purge(database, arena, batch->items[i], batch->purge->options->before, &batch->taken[i]));
        if (batch->taken[i])
            TRY(audit_file(database, arena, batch->items[i]));
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct file_usage less = sum_up(batch, i, counted);
        if (less.files > 0)
            TRY(file_usage_release(database, arena, batch->items[i]->organisation_id, less));
    }
    return NULL;
}

/* Removes the rows of a batch, then its bytes. */
static struct error *purge_batch(struct batch *batch)
{
    struct purge *purge = batch->purge;
    if (batch->count == 0)
        return NULL;
    TRY(lease_holder_renew(&purge->lease, purge->arena));
    TRY(database_transaction(purge->service->database, purge->scratch, take_out, batch, NULL));
    for (size_t i = 0; i < batch->count; i++) {
        purge->result->count += batch->taken[i];
        purge->result->bytes += batch->taken[i] ? batch->items[i]->size : 0;
    }
    batch->count = 0;
    return remove_all_noted(purge);
}

/* Whether the store has the bytes, or is known to have lost or damaged them. */
static struct error *bytes_are_known(struct purge *purge, const struct file_admin_record *kept, bool *known_out)
{
    struct blob_found found;
    *known_out = kept->lost || kept->damaged;
    return *known_out ? NULL : blob_look(purge->service->blobs, purge->scratch, kept->id, &found, known_out);
}

static struct error *purge_page(struct purge *purge, const struct file_admin_page *page)
{
    struct batch batch = {.purge = purge};
    for (size_t i = 0; i < page->count; i++) {
        const struct file_admin_record *kept = &page->items[i];
        if (kept->status != FILE_ARCHIVED || kept->archived == 0 || kept->archived > purge->options->before)
            continue;
        bool known = false;
        TRY(bytes_are_known(purge, kept, &known));
        if (!known) {
            purge->result->missing++;
            continue;
        }
        if (purge->options->dry_run) {
            purge->result->count++;
            purge->result->bytes += kept->size;
            continue;
        }
        batch.items[batch.count++] = kept;
        if (batch.count == BATCH_FILES)
            TRY(purge_batch(&batch));
    }
    return purge_batch(&batch);
}

static struct error *purge_rows(struct purge *purge)
{
    struct file_admin_page page = {.count = PAGE_ROWS};
    struct id after = {{0}};
    while (page.count == PAGE_ROWS && !purge->result->interrupted) {
        arena_reset(purge->scratch);
        TRY(file_admin_each(purge->service->database, purge->scratch, after, PAGE_ROWS, &page));
        if (page.count > 0)
            after = page.items[page.count - 1].id;
        TRY(purge_page(purge, &page));
        purge->seen += (int64_t)page.count;
        progress_show(purge->options->progress, "files", purge->seen, purge->total, purge->result->bytes);
        purge->result->interrupted = progress_ends(purge->options->progress);
    }
    return NULL;
}

struct error *purge_files(struct service *service, struct arena *arena, struct arena *scratch,
                          const struct purge_options *options, struct purge_result *result_out)
{
    *result_out = (struct purge_result){0};
    struct purge purge = {
        .service = service, .arena = arena, .scratch = scratch, .options = options, .result = result_out};
    TRY(file_admin_estimate(service->database, arena, &purge.total));
    if (options->dry_run)
        return purge_rows(&purge);
    TRY(check_store(service, arena));
    TRY(lease_holder_take(service, arena, LEASE_FILES, PATIENCE_SECONDS, &purge.lease));
    struct error *error = remove_all_noted(&purge);
    if (error == NULL)
        error = purge_rows(&purge);
    lease_holder_release(&purge.lease, arena);
    return error;
}

/* ---- the audit trail ----------------------------------------------------------------------------- */

static struct error *note_audit(struct service *service, struct arena *arena, const struct purge_options *options,
                                int64_t count)
{
    char before[CLOCK_TEXT_BYTES];
    clock_format(options->before, before);
    struct audit_entry entry = {
        .action = "audit.purge",
        .outcome = "success",
        .details = arena_format(arena, "{\"before\":\"%s\",\"rows\":%lld}", before, (long long)count),
    };
    return audit_insert(service->database, arena, &entry);
}

struct error *purge_audit(struct service *service, struct arena *arena, struct arena *scratch,
                          const struct purge_options *options, struct purge_result *result_out)
{
    *result_out = (struct purge_result){0};
    uint64_t count = AUDIT_ROWS;
    if (options->dry_run)
        return audit_count(service->database, arena, options->before, &result_out->count);
    struct error *error = NULL;
    while (error == NULL && count == AUDIT_ROWS && !result_out->interrupted) {
        arena_reset(scratch);
        error = audit_purge(service->database, scratch, options->before, AUDIT_ROWS, &count);
        result_out->count += error == NULL ? (int64_t)count : 0;
        progress_show(options->progress, "audit rows", result_out->count, 0, 0);
        result_out->interrupted = progress_ends(options->progress);
    }
    /* The audit row is written whatever ended the purge. */
    struct error *later = note_audit(service, arena, options, result_out->count);
    return error != NULL ? error : later;
}
