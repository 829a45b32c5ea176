/* SPDX-License-Identifier: MIT */
/*
 * Looks in the store for what has no row. Bytes are stored before their row is committed, so bytes without a row may
 * belong to an upload under way: that is why young ones are skipped. Right before bytes are moved, their row is looked
 * up again.
 */
#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "service/integrity/fsck_int.h"
#include "service/runtime/service.h"

/* An error that ends blob_each() when fsck is to stop; it never leaves this file. */
static struct error *end(struct fsck *fsck)
{
    fsck->result->interrupted = true;
    return error_plain(fsck->arena, ERROR_INTERNAL);
}

static struct error *resolve_orphan(struct fsck *fsck, struct id id)
{
    struct service *service = fsck->service;
    struct arena *scratch = fsck->scratch;
    struct file_admin_record kept;
    bool found = false;
    bool noted = false;
    TRY(file_admin_find(service->database, scratch, id, &kept, &found));
    if (found)
        return NULL;
    TRY(file_admin_removal_noted(service->database, scratch, id, &noted));
    struct fsck_finding finding = {.kind = noted ? FSCK_REMOVAL : FSCK_ORPHAN,
                                   .id = id,
                                   .path = blob_path(scratch, id),
                                   .repaired = fsck->options->repair || noted};
    if (fsck->options->repair && noted) {
        TRY(blob_remove(service->blobs, scratch, id));
        TRY(file_admin_removal_done(service->database, scratch, id));
    } else if (fsck->options->repair) {
        TRY(blob_set_aside(service->blobs, scratch, id, &finding.moved_to));
        if (finding.moved_to == NULL) /* an upload that was given up has removed it */
            return NULL;
    }
    fsck_report(fsck, &finding);
    return NULL;
}

/* Looks up the rows of the ids that wait. */
static struct error *look_up_waiting(struct fsck *fsck)
{
    bool known[FILE_ADMIN_KNOWN_MAX];
    if (fsck->waiting_count == 0)
        return NULL;
    TRY(file_admin_known(fsck->service->database, fsck->scratch, fsck->waiting, fsck->waiting_count, known));
    for (size_t i = 0; i < fsck->waiting_count; i++)
        if (!known[i])
            TRY(resolve_orphan(fsck, fsck->waiting[i]));
    fsck->waiting_count = 0;
    arena_reset(fsck->scratch);
    return lease_holder_renew(&fsck->lease, fsck->arena);
}

static struct error *see_blob(void *context, const struct blob_found *found)
{
    struct fsck *fsck = context;
    fsck->result->blobs++;
    progress_show(fsck->options->progress, "names", fsck->result->blobs, fsck->total, fsck->result->bytes);
    if (progress_ends(fsck->options->progress))
        return end(fsck);
    if (found->modified >= fsck->before)
        return NULL;
    fsck->waiting[fsck->waiting_count++] = found->id;
    return fsck->waiting_count == FILE_ADMIN_KNOWN_MAX ? look_up_waiting(fsck) : NULL;
}

static struct error *see_stray(void *context, const struct blob_stray *stray)
{
    struct fsck *fsck = context;
    if (stray->modified >= fsck->before) {
        fsck->result->young++;
        return NULL;
    }
    struct fsck_finding finding = {.kind = stray->temporary ? FSCK_TEMPORARY : FSCK_STRAY,
                                   .path = arena_format(fsck->scratch, "%s/%s", stray->folder, stray->name)};
    if (fsck->options->repair && stray->is_file) {
        TRY(blob_set_stray_aside(fsck->service->blobs, fsck->scratch, stray->folder, stray->name, &finding.moved_to));
        if (finding.moved_to == NULL)
            return NULL;
        finding.repaired = true;
    }
    fsck_report(fsck, &finding);
    arena_reset(fsck->scratch);
    return NULL;
}

struct error *fsck_store(struct fsck *fsck)
{
    size_t swept = 0;
    arena_reset(fsck->scratch);
    struct error *error = blob_each(fsck->service->blobs, fsck->arena, see_blob, fsck);
    if (fsck->result->interrupted)
        return NULL;
    TRY(error);
    TRY(look_up_waiting(fsck));
    /* Nobody was told of a temporary file, so it may be deleted. */
    if (fsck->options->repair) {
        TRY(blob_sweep(fsck->service->blobs, fsck->arena, fsck->before, &swept));
        fsck->result->counts[FSCK_TEMPORARY] += (int64_t)swept;
    }
    return blob_each_stray(fsck->service->blobs, fsck->arena, see_stray, fsck);
}
