/* SPDX-License-Identifier: MIT */
#include "service/file/file_update.h"

#include <unistd.h>

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

/* One change on its way through its transaction. */
struct filing {
    struct service *service;
    const struct caller *caller;
    const struct file_record *record;
    const struct filing_patch *patch; /* update only */
    const char *action;
    enum error_code unchanged; /* what FILE_UNCHANGED means here */
    struct error *(*apply)(struct filing *filing, struct database *database, struct arena *arena);
    enum file_outcome outcome;
    struct file_record *changed;
};

struct error *filing_unknown(struct arena *arena)
{
    return error_entry(error_plain(arena, ERROR_FILE_UNKNOWN), "id", "unknown", "is not the id of a file");
}

static struct error *apply_archive(struct filing *filing, struct database *database, struct arena *arena)
{
    return file_archive(database, arena, filing->record->organisation_id, filing->record->id, &filing->outcome);
}

static struct error *apply_restore(struct filing *filing, struct database *database, struct arena *arena)
{
    return file_restore(database, arena, filing->record->organisation_id, filing->record->id, &filing->outcome);
}

static struct error *apply_update(struct filing *filing, struct database *database, struct arena *arena)
{
    return file_update(database, arena, filing->record->organisation_id, filing->record->id, filing->patch->name,
                       filing->patch->tags, &filing->outcome);
}

/* What a patch sets, for the audit trail; {} for the rest, whose action says it all. */
static const char *describe(const struct filing *filing, struct arena *arena)
{
    const struct filing_patch *patch = filing->patch;
    struct buffer details;
    if (patch == NULL)
        return NULL;
    buffer_init(&details, arena);
    buffer_add_char(&details, '{');
    if (patch->name != NULL) {
        buffer_add_text(&details, "\"from\":");
        buffer_add_json_text(&details, filing->record->name);
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
    struct filing *filing = context;
    const struct file_record *record = filing->record;
    TRY(filing->apply(filing, database, arena));
    if (filing->outcome != FILE_CHANGED)
        return NULL;
    struct audit_entry entry = {
        .action = filing->action,
        .organisation_id = record->organisation_id,
        .target_type = "file",
        .target_id = id_text(arena, record->id),
        .details = describe(filing, arena),
    };
    TRY(caller_audit(filing->service, arena, filing->caller, &entry));
    return file_find(database, arena, record->organisation_id, record->id, &filing->changed);
}

/* The file that stands in the way; *found_out is false when it does not any more. */
static struct error *name_duplicate(const struct filing *filing, struct arena *arena, struct error *error, bool *found_out)
{
    struct id id;
    struct file_record wanted = *filing->record;
    if (filing->patch != NULL && filing->patch->name != NULL)
        wanted.name = filing->patch->name;
    TRY(file_find_duplicate(filing->service->database, arena, &wanted, &id, found_out));
    if (*found_out)
        (void)error_member(error, "id", id_text(arena, id));
    return NULL;
}

static struct error *run(struct filing *filing, struct arena *arena, struct file_record **changed_out)
{
    struct error *duplicate = NULL;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        bool found = false;
        TRY(database_transaction(filing->service->database, arena, change, filing, NULL));
        if (filing->outcome != FILE_DUPLICATE)
            break;
        duplicate = error_plain(arena, ERROR_FILE_DUPLICATE);
        TRY(name_duplicate(filing, arena, duplicate, &found));
        if (found)
            break;
    }
    if (filing->outcome == FILE_DUPLICATE)
        return duplicate;
    if (filing->outcome == FILE_UNCHANGED)
        return error_plain(arena, filing->unchanged);
    if (filing->outcome == FILE_ABSENT || filing->changed == NULL)
        return filing_unknown(arena);
    *changed_out = filing->changed;
    return NULL;
}

struct error *filing_archive(struct service *service, struct arena *arena, const struct caller *caller,
                             const struct file_record *record, struct file_record **changed_out)
{
    struct filing filing = {.service = service, .caller = caller, .record = record, .action = "file.archive",
                            .unchanged = ERROR_FILE_ARCHIVED, .apply = apply_archive};
    return run(&filing, arena, changed_out);
}

struct error *filing_restore(struct service *service, struct arena *arena, const struct caller *caller,
                             const struct file_record *record, struct file_record **changed_out)
{
    struct filing filing = {.service = service, .caller = caller, .record = record, .action = "file.restore",
                            .unchanged = ERROR_FILE_ACTIVE, .apply = apply_restore};
    return run(&filing, arena, changed_out);
}

/* Whether the bytes begin as text; not where they cannot be read. */
static struct error *look_for_text(struct service *service, struct arena *arena, const struct file_record *record, bool *text_out)
{
    unsigned char *head = arena_alloc(arena, LIMIT_SNIFF_BYTES);
    ssize_t got;
    size_t length = 0;
    uint64_t size;
    int fd;
    TRY(blob_open(service->blobs, arena, record->id, &fd, &size));
    while (length < LIMIT_SNIFF_BYTES && (got = pread(fd, head + length, LIMIT_SNIFF_BYTES - length, (off_t)length)) > 0)
        length += (size_t)got;
    (void)close(fd);
    *text_out = length > 0 && sniff_text(head, length);
    return NULL;
}

/* A new name must not stand for another kind of file than the bytes are, as at upload. They are read only if it counts. */
static struct error *judge_name(struct service *service, struct arena *arena, const struct file_record *record, const char *name)
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

struct error *filing_update(struct service *service, struct arena *arena, const struct caller *caller,
                            const struct file_record *record, const struct filing_patch *patch,
                            struct file_record **changed_out)
{
    struct filing filing = {.service = service, .caller = caller, .record = record, .patch = patch,
                            .action = "file.update", .unchanged = ERROR_FILE_ARCHIVED, .apply = apply_update};
    if (patch->name != NULL)
        TRY(judge_name(service, arena, record, patch->name));
    return run(&filing, arena, changed_out);
}
