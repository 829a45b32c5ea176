/* SPDX-License-Identifier: MIT */
/* Validates and stores what upload_read.c has received. */
#include "service/file/upload.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "blob/blob.h"
#include "blob/content.h"
#include "blob/sniffer/sniffer.h"
#include "domain/audit.h"
#include "domain/file/file_usage.h"
#include "http/disposition.h"
#include "service/access/authority.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/file/upload_int.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define INSERT_ATTEMPTS 3
/* After so long the caller is looked at again. */
#define SLOW_MICROSECONDS INT64_C(1000000)

/* Browsers send empty fields, so an empty name counts as none. */
static bool is_named(const struct upload *upload)
{
    return upload->form->name != NULL && upload->form->name[0] != '\0';
}

const char *upload_validate_name(struct validation *validation, const char *path, const char *raw)
{
    const char *name = disposition_clean_name(validation->arena, raw);
    if (name == NULL)
        validation_add(validation, "format", "is not a usable file name", "%s", path);
    else if (strlen(name) > LIMIT_FILE_NAME_BYTES)
        validation_add(validation, "length", "a file name may have " LIMIT_TEXT(LIMIT_FILE_NAME_BYTES) " bytes at most",
                       "%s", path);
    else
        return name;
    return NULL;
}

/* The name that the file gets; NULL, with an entry, when there is none that is usable. */
static const char *validate_name(struct upload *upload, size_t index)
{
    const struct upload_file *file = &upload->files[index];
    bool named = is_named(upload) && upload->file_parts == 1;
    const char *path = named ? "name" : arena_format(upload->arena, "file[%zu]", index);
    if (!named && file->raw_name == NULL) {
        validation_add(&upload->validation, "fileName", "has no file name, and no name was given", "%s", path);
        return NULL;
    }
    return upload_validate_name(&upload->validation, path, named ? upload->form->name : file->raw_name);
}

/* Whether the content is allowed: for type and bucket, or for the bucket alone when the type is refused already. */
static bool is_allowed(const struct file_record *record)
{
    if (record->bucket == NULL || !file_bucket_known(record->bucket))
        return true;
    if (record->type == NULL || !file_type_known(record->type))
        return content_allowed(file_content_of_bucket(record->bucket), record->content_type);
    return content_allowed(file_content_of(record->type, record->bucket), record->content_type);
}

/* Why the content is not allowed: because of the bucket or, where the bucket takes more, of the type. */
static const char *why_not_allowed(const struct upload *upload, const struct file_record *record)
{
    if (content_allowed(file_content_of_bucket(record->bucket), record->content_type))
        return arena_format(upload->arena, "is %s, but a file of type %s must be a picture", record->content_type,
                            record->type);
    return arena_format(upload->arena, "is %s, which the bucket %s does not take", record->content_type,
                        record->bucket);
}

/* Why the declared type or the name of the file contradicts its bytes; NULL: they do not. */
static const char *find_contradiction(const struct upload *upload, const struct upload_file *file)
{
    const struct file_record *record = &file->record;
    const char *found =
        content_contradiction(upload->arena, record->content_type, file->sniffed.text, file->declared, record->name);
    if (found != NULL)
        return found;
    return content_contradiction(upload->arena, record->content_type, file->sniffed.text, NULL, file->raw_name);
}

static void validate_content(struct upload *upload, size_t index)
{
    struct upload_file *file = &upload->files[index];
    struct file_record *record = &file->record;
    const char *contradiction = NULL;
    if (record->size == 0) {
        validation_add(&upload->validation, "empty", "is empty", "file[%zu]", index);
    } else if (content_is_program(record->content_type)) {
        validation_add(&upload->validation, "contentType", "programs and installers are not stored", "file[%zu]",
                       index);
    } else if (!is_allowed(record)) {
        validation_add(&upload->validation, "contentType", why_not_allowed(upload, record), "file[%zu]", index);
    } else if ((contradiction = find_contradiction(upload, file)) != NULL) {
        validation_add(&upload->validation, "mismatch", contradiction, "file[%zu]", index);
    } else if (!content_pixels_allowed(&file->sniffed)) {
        validation_add(&upload->validation, "pixels",
                       "is a picture of more than " LIMIT_TEXT(LIMIT_PICTURE_MEGAPIXELS) " megapixels", "file[%zu]",
                       index);
    }
}

/* Reads the bytes of one file for the sniffer; keeps an error of the storage for later. */
struct rest_of_file {
    struct blob_writer *writer;
    struct error *error;
};

static size_t read_rest(void *context, uint64_t offset, void *bytes, size_t length)
{
    struct rest_of_file *rest = context;
    size_t got = 0;
    if (rest->error == NULL)
        rest->error = blob_writer_read(rest->writer, offset, bytes, length, &got);
    return got;
}

/* Fills the record of one file from its bytes and the form. */
static struct error *fill_record(struct upload *upload, size_t index)
{
    struct upload_file *file = &upload->files[index];
    struct file_record *record = &file->record;
    record->id = id_new();
    record->organisation_id = caller_home(upload->caller);
    record->user_id = caller_user(upload->caller);
    record->bucket = upload->form->bucket;
    record->type = upload->form->type;
    record->name = validate_name(upload, index);
    record->tags = upload->form->tags;
    record->status = FILE_ACTIVE;
    record->size = (int64_t)blob_writer_size(file->writer);
    blob_writer_digest(file->writer, record->hash);
    struct rest_of_file rest = {.writer = file->writer};
    TRY(sniff_process_examine(upload->service->sniffer, upload->arena, file->head, file->head_length,
                              &(struct sniff_rest){read_rest, &rest}, &file->sniffed));
    record->content_type = content_media_type(&file->sniffed, record->name, file->declared);
    validate_content(upload, index);
    return rest.error;
}

static void validate_repetition(struct upload *upload, size_t index)
{
    const struct file_record *record = &upload->files[index].record;
    for (size_t i = 0; i < index; i++) {
        const struct file_record *other = &upload->files[i].record;
        if (record->name == NULL || other->name == NULL || strcmp(record->name, other->name) != 0 ||
            memcmp(record->hash, other->hash, FILE_HASH_BYTES) != 0)
            continue;
        validation_add(&upload->validation, "duplicate",
                       arena_format(upload->arena, "is the same file as file[%zu]", i), "file[%zu]", index);
        return;
    }
}

static void read_form(struct upload *upload)
{
    if (upload->file_parts > 0)
        upload->pairs[upload->pair_count++] = (struct schema_pair){upload_form_files()->name, ""};
    upload->form = schema_read_pairs(&upload_form_schema, upload->pairs, upload->pair_count, &upload->validation, NULL);
}

struct error *upload_validate_form(struct upload *upload)
{
    read_form(upload);
    (void)validate_name(upload, 0);
    return upload->validation.error;
}

/* Validates fields and files together; the error names every failing path. Fills the records. */
static struct error *validate(struct upload *upload)
{
    struct validation *validation = &upload->validation;
    read_form(upload);
    if (is_named(upload) && upload->file_parts > 1)
        validation_add(validation, "count", "can be given for one file only", "name");
    for (size_t i = 0; i < upload->file_count; i++) {
        TRY(fill_record(upload, i));
        validate_repetition(upload, i);
    }
    return validation->error;
}

/* ---- storing ------------------------------------------------------------------------------------- */

/* Reads the rows back: the database has added the times and the person's name. */
static struct error *read_rows(struct database *database, struct arena *arena, struct upload *upload)
{
    struct id ids[LIMIT_FILES];
    struct file_record *records[LIMIT_FILES];
    for (size_t i = 0; i < upload->file_count; i++)
        ids[i] = upload->files[i].record.id;
    TRY(file_find_each(database, arena, caller_home(upload->caller), ids, upload->file_count, records));
    for (size_t i = 0; i < upload->file_count; i++) {
        if (records[i] == NULL)
            return error_new(arena, ERROR_INTERNAL, "the row of file %s that was just added is missing",
                             id_text(arena, ids[i]));
        upload->files[i].record = *records[i];
    }
    return NULL;
}

static struct error *insert_rows(struct database *database, struct arena *arena, void *context)
{
    struct upload *upload = context;
    struct file_usage more = {.files = (int64_t)upload->file_count};
    bool exceeded = false;
    for (size_t i = 0; i < upload->file_count; i++) {
        const struct file_record *record = &upload->files[i].record;
        bool duplicate = false;
        more.bytes += record->size;
        struct audit_entry entry = {
            .action = "file.upload", .target_type = "file", .target_id = id_text(arena, record->id)};
        TRY(file_insert(database, arena, record, &duplicate));
        if (duplicate)
            return error_plain(arena, ERROR_FILE_DUPLICATE);
        TRY(caller_audit(upload->service, arena, upload->caller, &entry));
    }
    if (upload->release_reserved != NULL)
        TRY(upload->release_reserved(database, arena, upload->release_context));
    TRY(read_rows(database, arena, upload)); /* before the usage, whose row stays locked until the end */
    TRY(file_usage_take(database, arena, caller_home(upload->caller), more, &exceeded));
    return exceeded ? error_plain(arena, ERROR_QUOTA_EXCEEDED) : NULL;
}

/*
 * Adds the id of the file that is in the way. *found_out is false when none is any more. The transaction was rolled
 * back, so the id is looked up again.
 */
static struct error *explain_duplicate(struct upload *upload, struct error *error, bool *found_out)
{
    *found_out = false;
    for (size_t i = 0; i < upload->file_count && !*found_out; i++) {
        struct id id;
        TRY(file_find_duplicate(upload->service->database, upload->arena, &upload->files[i].record, &id, found_out));
        if (*found_out)
            (void)error_member(error, "id", id_text(upload->arena, id));
    }
    return NULL;
}

/* Inserts the rows. Tries again when the file that was in the way was archived before its id was found. */
static struct error *store_rows(struct upload *upload, bool *unknown_out)
{
    struct error *error = NULL;
    for (unsigned attempt = 0; attempt < INSERT_ATTEMPTS; attempt++) {
        bool found = false;
        error = database_transaction(upload->service->database, upload->arena, insert_rows, upload, unknown_out);
        if (error == NULL || error->code != ERROR_FILE_DUPLICATE)
            return error;
        TRY(explain_duplicate(upload, error, &found));
        if (found)
            return error;
    }
    return error;
}

static void remove_blobs(struct upload *upload)
{
    for (size_t i = 0; i < upload->file_count; i++) {
        if (!upload->files[i].stored)
            continue;
        struct error *error = blob_remove(upload->service->blobs, upload->arena, upload->files[i].record.id);
        if (error != NULL)
            LOG(WARN, FILES, "bytes without a row were left for fsck", LOG_TEXT("detail", error->detail));
    }
}

static struct error *commit_blobs(struct upload *upload)
{
    for (size_t i = 0; i < upload->file_count; i++)
        TRY(upload_deduplicate(upload, i));
    return NULL;
}

/* Commits the blobs, then the rows. */
static struct error *store(struct upload *upload)
{
    bool unknown = false;
    struct error *error = commit_blobs(upload);
    if (error == NULL)
        error = store_rows(upload, &unknown);
    if (error == NULL)
        return NULL;
    if (unknown)
        return upload_resolve_commit(upload, error); /* the bytes stay for fsck if the rows are not there */
    remove_blobs(upload);
    return error;
}

static void count_files(const struct upload *upload)
{
    metrics_add(METRIC_UPLOAD_FILES, upload->file_count);
    for (size_t i = 0; i < upload->file_count; i++)
        metrics_add(METRIC_UPLOAD_BYTES, (uint64_t)upload->files[i].record.size);
}

/* The least number of bytes that the files of such a body have together. */
static int64_t least_file_bytes(int64_t announced)
{
    return announced > LIMIT_UPLOAD_FORM_BYTES ? announced - LIMIT_UPLOAD_FORM_BYTES : 1;
}

struct error *upload_admit(struct service *service, struct arena *arena, const struct caller *caller, int64_t announced)
{
    bool exceeds = false;
    struct file_usage least = {.bytes = least_file_bytes(announced), .files = 1};
    int64_t most = service->configuration->service.max_file_bytes;
    if (least.bytes > most)
        return error_message(error_plain(arena, ERROR_TOO_LARGE), "An upload may have %lld bytes at most.",
                             (long long)most + LIMIT_UPLOAD_FORM_BYTES);
    TRY(file_usage_exceeds(service->database, arena, caller_home(caller), least, &exceeds));
    return exceeds ? error_plain(arena, ERROR_QUOTA_EXCEEDED) : NULL;
}

/* Releases the bytes before the refusal is sent: sending waits for the client, and would hold them as long. */
static struct error *release_bytes(struct upload *upload, struct error *error)
{
    for (size_t i = 0; i < upload->file_count; i++)
        if (upload->files[i].writer != NULL)
            blob_abort(upload->files[i].writer);
    return error;
}

struct upload *upload_new(struct service *service, struct arena *arena, const struct caller *caller)
{
    struct upload *upload = arena_alloc(arena, sizeof *upload);
    upload->service = service;
    upload->arena = arena;
    upload->caller = caller;
    validation_init(&upload->validation, arena);
    return upload;
}

static struct error *validate_and_store(struct upload *upload)
{
    TRY(validate(upload));
    TRY(upload_scan(upload));
    return store(upload);
}

struct error *upload_complete(struct upload *upload)
{
    struct error *error = validate_and_store(upload);
    if (error != NULL)
        return release_bytes(upload, error);
    count_files(upload);
    return NULL;
}

/* Receives the body. Whoever may not upload any more when a slow one has ended stores nothing. */
static struct error *receive(struct upload *upload, const char *permission, struct request *request)
{
    int64_t begun = clock_monotonic();
    TRY(upload_read(upload, request));
    if (clock_monotonic() - begun < SLOW_MICROSECONDS)
        return NULL;
    struct caller *now = arena_alloc(upload->arena, sizeof *now);
    TRY(authority_look_again(upload->service, upload->arena, upload->caller, permission, now));
    upload->caller = now;
    return NULL;
}

struct error *upload_receive(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *permission, struct request *request, struct file_record **records_out,
                             size_t *count_out)
{
    struct upload *upload = upload_new(service, arena, caller);
    struct error *error = receive(upload, permission, request);
    if (error != NULL)
        return release_bytes(upload, error);
    TRY(upload_complete(upload));
    struct file_record *records = arena_array(arena, upload->file_count, sizeof *records);
    for (size_t i = 0; i < upload->file_count; i++)
        records[i] = upload->files[i].record;
    *records_out = records;
    *count_out = upload->file_count;
    return NULL;
}
