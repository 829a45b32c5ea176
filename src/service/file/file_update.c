/* SPDX-License-Identifier: MIT */
/* Archives, restores and renames files, in one transaction each. */
#include "service/file/file_update.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "blob/blob.h"
#include "blob/content.h"
#include "blob/sniff.h"
#include "domain/audit.h"
#include "domain/file/file.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define ATTEMPTS 3

/* A change and its outcome. */
struct update {
    struct service *service;
    const struct caller *caller;
    const struct file_record *record;
    const struct file_patch *patch; /* file_update_attributes() only */
    const char *action;
    enum error_code unchanged; /* the error for FILE_UNCHANGED */
    struct error *(*apply)(struct update *update, struct database *database, struct arena *arena);
    enum file_outcome outcome;
    struct file_record *changed;
};

struct error *file_update_unknown(struct arena *arena)
{
    return error_entry(error_plain(arena, ERROR_FILE_UNKNOWN), "id", "unknown", "is not the id of a file");
}

static struct error *apply_archive(struct update *update, struct database *database, struct arena *arena)
{
    return file_archive(database, arena, update->record->organisation_id, update->record->id, &update->outcome);
}

static struct error *apply_restore(struct update *update, struct database *database, struct arena *arena)
{
    return file_restore(database, arena, update->record->organisation_id, update->record->id, &update->outcome);
}

static struct error *apply_update(struct update *update, struct database *database, struct arena *arena)
{
    return file_update(database, arena, update->record->organisation_id, update->record->id, update->patch->name,
                       update->patch->tags, &update->outcome);
}

/* The details for the audit trail: what a patch sets. NULL for the others, whose action says it all. */
static const char *describe(const struct update *update, struct arena *arena)
{
    const struct file_patch *patch = update->patch;
    struct buffer details;
    if (patch == NULL)
        return NULL;
    buffer_init(&details, arena);
    buffer_add_char(&details, '{');
    if (patch->name != NULL) {
        buffer_add_text(&details, "\"from\":");
        buffer_add_json_text(&details, update->record->name);
        buffer_add_text(&details, ",\"name\":");
        buffer_add_json_text(&details, patch->name);
    }
    if (patch->tags != NULL) {
        buffer_add_text(&details, patch->name != NULL ? ",\"tags\":[" : "\"tags\":[");
        for (size_t i = 0; i < patch->tags->count; i++) {
            buffer_add_text(&details, i == 0 ? "" : ",");
            buffer_add_json_text(&details, patch->tags->items[i]);
        }
        buffer_add_char(&details, ']');
    }
    buffer_add_char(&details, '}');
    return details.bytes;
}

static struct error *change(struct database *database, struct arena *arena, void *context)
{
    struct update *update = context;
    const struct file_record *record = update->record;
    TRY(update->apply(update, database, arena));
    if (update->outcome != FILE_CHANGED)
        return NULL;
    struct audit_entry entry = {
        .action = update->action,
        .organisation_id = record->organisation_id,
        .target_type = "file",
        .target_id = id_text(arena, record->id),
        .details = describe(update, arena),
    };
    TRY(caller_audit(update->service, arena, update->caller, &entry));
    return file_find(database, arena, record->organisation_id, record->id, &update->changed);
}

/* Adds the id of the file that is in the way; *found_out is false when none is any more. */
static struct error *name_duplicate(const struct update *update, struct arena *arena, struct error *error,
                                    bool *found_out)
{
    struct id id;
    struct file_record wanted = *update->record;
    if (update->patch != NULL && update->patch->name != NULL)
        wanted.name = update->patch->name;
    TRY(file_find_duplicate(update->service->database, arena, &wanted, &id, found_out));
    if (*found_out)
        (void)error_member(error, "id", id_text(arena, id));
    return NULL;
}

static struct error *run(struct update *update, struct arena *arena, struct file_record **changed_out)
{
    struct error *duplicate = NULL;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        bool found = false;
        TRY(database_transaction(update->service->database, arena, change, update, NULL));
        if (update->outcome != FILE_DUPLICATE)
            break;
        duplicate = error_plain(arena, ERROR_FILE_DUPLICATE);
        TRY(name_duplicate(update, arena, duplicate, &found));
        if (found)
            break;
    }
    if (update->outcome == FILE_DUPLICATE)
        return duplicate;
    if (update->outcome == FILE_UNCHANGED)
        return error_plain(arena, update->unchanged);
    if (update->outcome == FILE_ABSENT || update->changed == NULL)
        return file_update_unknown(arena);
    *changed_out = update->changed;
    return NULL;
}

struct error *file_update_archive(struct service *service, struct arena *arena, const struct caller *caller,
                                  const struct file_record *record, struct file_record **changed_out)
{
    struct update update = {.service = service,
                            .caller = caller,
                            .record = record,
                            .action = "file.archive",
                            .unchanged = ERROR_FILE_ARCHIVED,
                            .apply = apply_archive};
    return run(&update, arena, changed_out);
}

struct error *file_update_restore(struct service *service, struct arena *arena, const struct caller *caller,
                                  const struct file_record *record, struct file_record **changed_out)
{
    struct update update = {.service = service,
                            .caller = caller,
                            .record = record,
                            .action = "file.restore",
                            .unchanged = ERROR_FILE_ACTIVE,
                            .apply = apply_restore};
    return run(&update, arena, changed_out);
}

/* Whether the bytes begin as text. */
static struct error *look_for_text(struct service *service, struct arena *arena, const struct file_record *record,
                                   bool *text_out)
{
    unsigned char *head = arena_alloc(arena, LIMIT_SNIFF_BYTES);
    size_t length;
    struct blob_reader *reader;
    TRY(blob_open(service->blobs, arena, record->id, &reader));
    struct error *error = blob_read(reader, 0, head, LIMIT_SNIFF_BYTES, &length);
    blob_close(reader);
    TRY(error);
    *text_out = length > 0 && sniff_text(head, length);
    return NULL;
}

/*
 * Checks that the ending of a new name does not stand for another kind of file than the bytes are, as at upload. The
 * bytes are read only when the answer depends on them.
 */
static struct error *check_name(struct service *service, struct arena *arena, const struct file_record *record,
                                const char *name)
{
    const char *contradiction = content_contradiction(arena, record->content_type, false, NULL, name);
    bool text = false;
    if (contradiction == NULL)
        return NULL;
    if (content_contradiction(arena, record->content_type, true, NULL, name) == NULL)
        TRY(look_for_text(service, arena, record, &text));
    if (text)
        return NULL;
    return error_entry(error_plain(arena, ERROR_REQUEST_INVALID), "name", "mismatch", contradiction);
}

struct error *file_update_attributes(struct service *service, struct arena *arena, const struct caller *caller,
                                     const struct file_record *record, const struct file_patch *patch,
                                     struct file_record **changed_out)
{
    struct update update = {.service = service,
                            .caller = caller,
                            .record = record,
                            .patch = patch,
                            .action = "file.update",
                            .unchanged = ERROR_FILE_ARCHIVED,
                            .apply = apply_update};
    if (patch->name != NULL)
        TRY(check_name(service, arena, record, patch->name));
    return run(&update, arena, changed_out);
}
