/* SPDX-License-Identifier: MIT */
/* Makes, finds and ends uploads that arrive in pieces. */
#include "service/file/resumable.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "blob/blob.h"
#include "blob/partial.h"
#include "domain/audit.h"
#include "domain/file/file_usage.h"
#include "http/upload_header.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/file/resumable_int.h"
#include "service/file/upload_int.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define UPLOAD_SECONDS (LIMIT_UPLOAD_HOURS * 3600)
#define DAY_MILLISECONDS INT64_C(86400000)

struct error *resumable_locked(struct arena *arena)
{
    return error_plain(arena, ERROR_UPLOAD_LOCKED);
}

/* ---- metadata ------------------------------------------------------------------------------------ */

static void add_pair(struct upload *upload, const char *name, const char *value)
{
    /* One place is for the file itself. The form takes fewer tags than there are places. */
    if (upload->pair_count < LIMIT_PARTS)
        upload->pairs[upload->pair_count++] = (struct schema_pair){name, value};
}

/* Each line is a tag: a tag holds no line ends. */
static void add_tags(struct upload *upload, const char *value)
{
    while (*value != '\0') {
        size_t length = strcspn(value, "\n");
        add_pair(upload, "tags", arena_copy(upload->arena, value, length));
        value += length + (value[length] == '\n');
    }
}

static void add_field(struct upload *upload, const struct upload_metadata_pair *pair)
{
    if (strcmp(pair->key, "filename") == 0)
        upload->files[0].raw_name = pair->value;
    else if (strcmp(pair->key, "filetype") == 0)
        upload->files[0].declared = *pair->value == '\0' ? NULL : pair->value;
    else if (strcmp(pair->key, "tags") == 0)
        add_tags(upload, pair->value);
    else if (upload_form_text(pair->key) != NULL)
        add_pair(upload, pair->key, pair->value);
    else if (strcmp(pair->key, "relativePath") != 0) /* which a common client always sends */
        validation_add(&upload->validation, "unknown", "is not a key of Upload-Metadata here", "%s", pair->key);
}

struct error *resumable_read_metadata(struct upload *upload, const char *metadata)
{
    struct upload_metadata read;
    const char *fault = upload_metadata_read(upload->arena, metadata == NULL ? "" : metadata, &read);
    if (fault != NULL)
        validation_add(&upload->validation, "format", fault, "Upload-Metadata");
    for (size_t i = 0; fault == NULL && i < read.count; i++)
        add_field(upload, &read.pairs[i]);
    upload->file_count = upload->file_parts = 1;
    return fault == NULL ? NULL : upload->validation.error;
}

/* ---- making -------------------------------------------------------------------------------------- */

static struct error *too_large(struct arena *arena, int64_t most)
{
    return error_entry(
        error_message(error_plain(arena, ERROR_TOO_LARGE), "A file may have %lld bytes at most.", (long long)most),
        "Upload-Length", "tooLarge", "is larger than allowed");
}

static struct error *validate(struct service *service, struct arena *arena, const struct caller *caller,
                              const struct resumable_order *order)
{
    struct upload *form = upload_new(service, arena, caller);
    form->validation.error = order->fault;
    if (order->length > service->configuration->service.max_file_bytes)
        return too_large(arena, service->configuration->service.max_file_bytes);
    if (order->length == 0)
        validation_add(&form->validation, "empty", "must not be 0: an empty file is not stored", "Upload-Length");
    TRY(resumable_read_metadata(form, order->metadata));
    return upload_validate_form(form);
}

struct making {
    struct service *service;
    const struct caller *caller;
    const struct file_upload *upload;
};

static struct error *make_row(struct database *database, struct arena *arena, void *context)
{
    const struct making *making = context;
    const struct file_upload *upload = making->upload;
    bool exceeded = false;
    struct audit_entry entry = {
        .action = "upload.create", .target_type = "upload", .target_id = id_text(arena, upload->id)};
    TRY(file_upload_insert(database, arena, upload, UPLOAD_SECONDS));
    TRY(caller_audit(making->service, arena, making->caller, &entry));
    TRY(file_usage_take(database, arena, upload->organisation_id,
                        (struct file_usage){.bytes = upload->reserved, .files = 1}, &exceeded));
    return exceeded ? error_plain(arena, ERROR_QUOTA_EXCEEDED) : NULL;
}

static void remove_bytes(struct service *service, struct arena *arena, struct id id)
{
    struct error *error = blob_partial_remove(service->blobs, arena, id);
    if (error != NULL)
        LOG(WARN, FILES, "bytes of an upload that has ended were left for the sweep",
            LOG_TEXT("detail", error->detail));
}

static struct error *check_store(struct service *service, struct arena *arena)
{
    if (blob_has_partials(service->blobs))
        return NULL;
    return error_message(error_plain(arena, ERROR_STORAGE_UNAVAILABLE),
                         "The file store of this installation takes no resumable uploads. Send the file in one request "
                         "to /system/files.");
}

struct error *resumable_create(struct service *service, struct arena *arena, const struct caller *caller,
                               const struct resumable_order *order, struct file_upload **upload_out)
{
    struct file_upload *upload = arena_alloc(arena, sizeof *upload);
    bool unknown = false;
    TRY(check_store(service, arena));
    TRY(validate(service, arena, caller, order));
    upload->id = id_new();
    upload->organisation_id = caller_home(caller);
    upload->user_id = caller_user(caller);
    upload->length = order->length;
    upload->reserved = order->length == FILE_UPLOAD_LENGTH_UNKNOWN ? 0 : order->length;
    upload->metadata = order->metadata == NULL ? "" : order->metadata;
    running_digest_save(running_digest_new(arena), upload->digest);
    TRY(blob_partial_create(service->blobs, arena, upload->id));
    struct making making = {service, caller, upload};
    struct error *error = database_transaction(service->database, arena, make_row, &making, &unknown);
    if (error != NULL && !unknown)
        remove_bytes(service, arena, upload->id);
    if (error != NULL)
        return error;
    metrics_add(METRIC_RESUMABLE_CREATED, 1);
    return resumable_find(service, arena, caller, upload->id, upload_out);
}

struct error *resumable_find(struct service *service, struct arena *arena, const struct caller *caller, struct id id,
                             struct file_upload **upload_out)
{
    TRY(check_store(service, arena));
    TRY(file_upload_find(service->database, arena, caller_home(caller), caller_user(caller), id, upload_out));
    if (*upload_out == NULL)
        return error_plain(arena, ERROR_UPLOAD_UNKNOWN);
    return (*upload_out)->expired ? error_plain(arena, ERROR_UPLOAD_EXPIRED) : NULL;
}

/* ---- ending -------------------------------------------------------------------------------------- */

struct ending {
    struct service *service;
    const struct caller *caller; /* NULL: the service itself */
    const struct file_upload *upload;
    const char *action; /* NULL: no audit row */
    bool gone;
};

static struct error *audit_end(const struct ending *ending, struct database *database, struct arena *arena,
                               const struct file_upload *row)
{
    struct audit_entry entry = {
        .action = ending->action, .target_type = "upload", .target_id = id_text(arena, row->id)};
    if (ending->caller != NULL)
        return caller_audit(ending->service, arena, ending->caller, &entry);
    entry.organisation_id = row->organisation_id;
    entry.user_id = row->user_id;
    entry.outcome = "success";
    return audit_insert(database, arena, &entry);
}

static struct error *end_row(struct database *database, struct arena *arena, void *context)
{
    struct ending *ending = context;
    struct file_upload *row;
    TRY(file_upload_lock(database, arena, ending->upload->organisation_id, ending->upload->id, &row));
    ending->gone = row == NULL;
    if (row == NULL)
        return NULL;
    bool stored = !id_is_none(row->file_id);
    TRY(file_upload_delete(database, arena, row->organisation_id, row->id));
    if (stored)
        return NULL;
    if (ending->action != NULL)
        TRY(audit_end(ending, database, arena, row));
    return file_usage_release(database, arena, row->organisation_id,
                              (struct file_usage){.bytes = row->reserved, .files = 1});
}

struct error *resumable_discard(struct service *service, struct arena *arena, const struct caller *caller,
                                const struct file_upload *upload, const char *action)
{
    struct ending ending = {service, caller, upload, action, false};
    TRY(database_transaction(service->database, arena, end_row, &ending, NULL));
    remove_bytes(service, arena, upload->id);
    return NULL;
}

struct error *resumable_hold(struct service *service, struct arena *arena, const struct file_upload *upload,
                             struct id holder, struct blob_partial **partial_out)
{
    enum blob_partial_state outcome;
    bool held = false;
    TRY(blob_partial_open(service->blobs, arena, upload->id, partial_out, &outcome));
    if (outcome == BLOB_PARTIAL_BUSY)
        return resumable_locked(arena);
    TRY(file_upload_hold(service->database, arena, upload, holder, RESUMABLE_HOLD_SECONDS, &held));
    /* A lock on the bytes tells that the writer before has died. */
    if (!held && *partial_out != NULL && blob_partials_lock(service->blobs))
        TRY(file_upload_take_over(service->database, arena, upload, holder, RESUMABLE_HOLD_SECONDS, &held));
    return held ? NULL : resumable_locked(arena);
}

struct error *resumable_terminate(struct service *service, struct arena *arena, const struct caller *caller,
                                  struct id id)
{
    struct file_upload *upload;
    struct blob_partial *partial;
    TRY(resumable_find(service, arena, caller, id, &upload));
    TRY(resumable_hold(service, arena, upload, id_new(), &partial));
    TRY(resumable_discard(service, arena, caller, upload, "upload.terminate"));
    if (partial != NULL)
        blob_partial_close(partial);
    metrics_add(METRIC_RESUMABLE_TERMINATED, 1);
    return NULL;
}

/* ---- what nobody has finished -------------------------------------------------------------------- */

struct sweep {
    struct service *service;
    struct arena *arena;
    int64_t before;
};

static struct error *sweep_one(void *context, const struct blob_partial_found *found)
{
    const struct sweep *sweep = context;
    bool known = true;
    if (found->modified >= sweep->before)
        return NULL;
    TRY(file_upload_known(sweep->service->database, sweep->arena, found->id, &known));
    return known ? NULL : blob_partial_remove(sweep->service->blobs, sweep->arena, found->id);
}

struct error *resumable_expire(struct service *service, struct arena *arena, unsigned limit, uint64_t *count_out)
{
    struct file_upload_listed *items;
    size_t count;
    *count_out = 0;
    if (!blob_has_partials(service->blobs))
        return NULL;
    TRY(file_upload_list(service->database, arena, true, id_none, limit, &items, &count));
    for (size_t i = 0; i < count; i++) {
        TRY(resumable_discard(service, arena, NULL, &items[i].upload, "upload.expire"));
        metrics_add(METRIC_RESUMABLE_EXPIRED, id_is_none(items[i].upload.file_id) ? 1 : 0);
    }
    *count_out = count;
    struct sweep sweep = {service, arena, clock_now() - DAY_MILLISECONDS};
    return blob_partial_each(service->blobs, arena, sweep_one, &sweep);
}
