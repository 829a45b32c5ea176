/* SPDX-License-Identifier: MIT */
/*
 * Marks files whose bytes are damaged. A file with different bytes is marked, and so is every file of the organisation
 * whose name leads to the very same bytes. Files with missing or unreadable bytes are remembered as lost and not
 * marked: nothing can be sent of them, and a disk that is not mounted must not mark every file.
 */
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "blob/blob.h"
#include "domain/audit.h"
#include "domain/file/file_damage.h"
#include "service/access/caller.h"
#include "service/access/caller_audit.h"
#include "service/integrity/scrub_int.h"
#include "service/runtime/service.h"
#include "store/database/database.h"

#define TWINS 100

/* A mark that is set or removed, together with its audit row. */
struct marking {
    struct scrub *scrub;
    const struct file_admin_record *kept;
    bool damaged;
    bool changed;
};

static struct error *write_mark(struct database *database, struct arena *arena, void *context)
{
    struct marking *marking = context;
    const struct caller nobody = {0};
    struct audit_entry entry = {
        .action = marking->damaged ? "file.damaged" : "file.repaired",
        .organisation_id = marking->kept->organisation_id,
        .target_type = "file",
        .target_id = id_text(arena, marking->kept->id),
    };
    TRY(lease_holder_fence(&marking->scrub->lease, arena));
    TRY((marking->damaged ? file_damage_mark : file_damage_clear)(database, arena, marking->kept->id,
                                                                  &marking->changed));
    return marking->changed ? caller_audit(marking->scrub->service, arena, &nobody, &entry) : NULL;
}

static void tell(struct scrub *scrub, const struct file_admin_record *kept, const char *what)
{
    if (scrub->options.found != NULL)
        scrub->options.found(scrub->options.context, kept->id, kept->organisation_id, what);
}

static struct error *mark(struct scrub *scrub, const struct file_admin_record *kept, bool damaged)
{
    struct marking marking = {.scrub = scrub, .kept = kept, .damaged = damaged};
    TRY(database_transaction(scrub->service->database, scrub->scratch, write_mark, &marking, NULL));
    if (!marking.changed)
        return NULL;
    if (damaged)
        LOG(ERROR, FILES, "the bytes of a file are damaged; it is not sent until they are put back",
            LOG_TEXT("file", id_text(scrub->scratch, kept->id)));
    else
        LOG(INFO, FILES, "the bytes of a damaged file are right again",
            LOG_TEXT("file", id_text(scrub->scratch, kept->id)));
    tell(scrub, kept, damaged ? "damaged" : "repaired");
    return NULL;
}

/* Finds the file that the name of a blob leads to; false where that is not known, and in a store without files. */
static bool identify(struct scrub *scrub, struct id id, struct stat *status_out)
{
    struct blob_reader *reader;
    if (!blob_has_links(scrub->service->blobs) || blob_open(scrub->service->blobs, scrub->scratch, id, &reader) != NULL)
        return false;
    int file = blob_reader_file(reader);
    bool told = file >= 0 && fstat(file, status_out) == 0;
    blob_close(reader);
    return told;
}

static struct error *mark_twins(struct scrub *scrub, const struct file_admin_record *kept)
{
    struct stat own, other;
    struct id after = {{0}};
    struct file_admin_page page = {.count = TWINS};
    if (!identify(scrub, kept->id, &own) || own.st_nlink < 2)
        return NULL;
    while (page.count == TWINS) {
        TRY(file_damage_twins(scrub->service->database, scrub->scratch, kept, after, TWINS, &page));
        for (size_t i = 0; i < page.count; i++) {
            after = page.items[i].id;
            if (identify(scrub, after, &other) && other.st_ino == own.st_ino && other.st_dev == own.st_dev)
                TRY(mark(scrub, &page.items[i], true));
        }
    }
    return NULL;
}

static struct error *note_lost(struct scrub *scrub, const struct file_admin_record *kept, const char *what)
{
    bool changed;
    scrub->position.lost++;
    TRY(file_lost_note(scrub->service->database, scrub->scratch, kept->id, &changed));
    LOG(ERROR, FILES, "the bytes of a file cannot be read", LOG_TEXT("file", id_text(scrub->scratch, kept->id)),
        LOG_TEXT("reason", what));
    tell(scrub, kept, what);
    return NULL;
}

/* The bytes could be read, whatever they are. */
static struct error *note_found(struct scrub *scrub, const struct file_admin_record *kept, bool good)
{
    bool changed = false;
    if (kept->lost)
        TRY(file_lost_clear(scrub->service->database, scrub->scratch, kept->id, &changed));
    if (!changed || !good || kept->damaged)
        return NULL;
    LOG(INFO, FILES, "the bytes of a lost file are there again", LOG_TEXT("file", id_text(scrub->scratch, kept->id)));
    tell(scrub, kept, "repaired");
    return NULL;
}

struct error *scrub_mark(struct scrub *scrub, const struct file_admin_record *kept, enum scrub_verdict verdict)
{
    struct file_admin_record now;
    bool found = false;
    if (verdict == SCRUB_VERDICT_GOOD && !kept->damaged && !kept->lost)
        return NULL;
    /* A purge may have removed the file meanwhile, and another process may have marked it. */
    TRY(file_admin_find(scrub->service->database, scrub->scratch, kept->id, &now, &found));
    if (!found)
        return NULL;
    if (verdict == SCRUB_VERDICT_MISSING)
        return note_lost(scrub, &now, "missing");
    if (verdict == SCRUB_VERDICT_UNREADABLE)
        return note_lost(scrub, &now, "unreadable");
    TRY(note_found(scrub, &now, verdict == SCRUB_VERDICT_GOOD));
    if (verdict == SCRUB_VERDICT_GOOD)
        return now.damaged ? mark(scrub, &now, false) : NULL;
    scrub->position.damaged++;
    TRY(mark(scrub, &now, true));
    return mark_twins(scrub, &now);
}
