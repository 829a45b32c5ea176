/* SPDX-License-Identifier: MIT */
/*
 * Makes a file of an upload whose bytes have all come. Who may upload is read anew, since the bytes may have taken
 * hours; everything else is what each upload goes through.
 */
#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "blob/blob.h"
#include "blob/partial.h"
#include "domain/file/file_usage.h"
#include "http/request.h"
#include "service/access/caller.h"
#include "service/file/resumable.h"
#include "service/file/resumable_int.h"
#include "service/file/upload_int.h"
#include "service/runtime/service.h"

static struct error *check_caller_again(const struct resumable *resumable)
{
    struct file_record *none = NULL;
    TRY(caller_authenticate(resumable->service, resumable->arena,
                            request_header(resumable->piece->request, "AUTHORIZATION"), NULL, resumable->caller,
                            &none));
    TRY(caller_require(resumable->arena, resumable->caller, resumable->piece->permission));
    if (id_equal(caller_user(resumable->caller), resumable->upload->user_id) &&
        id_equal(caller_home(resumable->caller), resumable->upload->organisation_id))
        return NULL;
    return error_plain(resumable->arena, ERROR_UPLOAD_UNKNOWN);
}

struct finishing {
    const struct resumable *resumable;
    const struct upload *upload;
};

static struct error *finish_row(struct database *database, struct arena *arena, void *context)
{
    const struct finishing *finishing = context;
    struct file_upload row = *finishing->resumable->upload;
    bool held = false;
    row.file_id = finishing->upload->files[0].record.id;
    row.received = row.length;
    TRY(file_upload_finish(database, arena, &row, finishing->resumable->holder, &held));
    if (!held)
        return resumable_locked(arena);
    return file_usage_release(database, arena, row.organisation_id,
                              (struct file_usage){.bytes = row.reserved, .files = 1});
}

/* Whether the file will never be stored, however often its bytes are sent. */
static bool is_final(const struct error *error)
{
    return error->code == ERROR_REQUEST_INVALID || error->code == ERROR_FILE_DUPLICATE ||
           error->code == ERROR_TOO_LARGE;
}

static struct error *fill(struct resumable *resumable, struct upload *upload)
{
    struct upload_file *file = &upload->files[0];
    uint8_t digest[DIGEST_BYTES];
    running_digest_result(resumable->digest, digest);
    file->writer = blob_partial_finish(resumable->partial, (uint64_t)resumable->written, digest);
    file->head = arena_alloc(resumable->arena, LIMIT_SNIFF_BYTES);
    TRY(resumable_read_metadata(upload, resumable->upload->metadata));
    return blob_writer_read(file->writer, 0, file->head, LIMIT_SNIFF_BYTES, &file->head_length);
}

struct error *resumable_finish(struct resumable *resumable, struct file_record **record_out)
{
    struct service *service = resumable->service;
    TRY(check_caller_again(resumable));
    struct upload *upload = upload_new(service, resumable->arena, resumable->caller);
    struct finishing finishing = {resumable, upload};
    upload->release_reserved = finish_row;
    upload->release_context = &finishing;
    TRY(fill(resumable, upload));
    struct error *error = upload_complete(upload);
    if (error != NULL && is_final(error))
        TRY(resumable_discard(service, resumable->arena, resumable->caller, resumable->upload, NULL));
    if (error != NULL)
        return error;
    struct error *left = blob_partial_remove(service->blobs, resumable->arena, resumable->upload->id);
    if (left != NULL)
        LOG(WARN, FILES, "the second name of a file's bytes was left for the sweep", LOG_TEXT("detail", left->detail));
    metrics_add(METRIC_RESUMABLE_FINISHED, 1);
    resumable->upload->received = resumable->written;
    resumable->upload->file_id = upload->files[0].record.id;
    *record_out = &upload->files[0].record;
    return NULL;
}
