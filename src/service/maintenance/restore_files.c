/* SPDX-License-Identifier: MIT */
/* Restores the bytes. The blob store writes them: durable, and never in place of others. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "service/maintenance/restore_int.h"

static struct error *lose(struct restore *restore, const struct backup_item *item, const char *why)
{
    restore->result->lost++;
    if (restore->options->lost != NULL)
        restore->options->lost(restore->options->context, item->id, why);
    return NULL;
}

/* ---- an empty store ------------------------------------------------------------------------------ */

struct survey {
    struct restore *restore;
    int list;
};

static struct error *see_blob(void *context, const struct blob_found *found)
{
    struct survey *survey = context;
    struct restore *restore = survey->restore;
    bool listed = false;
    if (restore->resumed)
        TRY(backup_listed(restore->arena, survey->list, found->id, &listed));
    if (listed)
        return NULL;
    return error_message(
        error_new(restore->arena, ERROR_INTERNAL, "the store holds %s", id_text(restore->arena, found->id)),
        "%s %s is not empty. Restore into an empty one.",
        blob_has_files(restore->blobs) ? "The files directory" : "The store", blob_root(restore->blobs));
}

static int open_list(struct restore *restore)
{
    const char *path = arena_format(restore->arena, "%s/" BACKUP_LIST, restore->result->path);
    return open(path, O_RDONLY | O_CLOEXEC);
}

struct error *restore_check_store(struct restore *restore)
{
    struct survey survey = {.restore = restore, .list = open_list(restore)};
    if (survey.list < 0)
        return backup_failure(restore->arena, errno, "read", BACKUP_LIST);
    struct error *error = blob_each(restore->blobs, restore->arena, see_blob, &survey);
    (void)close(survey.list);
    return error;
}

/* ---- one file ------------------------------------------------------------------------------------ */

/* Keeps what an interrupted run has left where it is right, and removes it where it is not. */
static struct error *keep_left_over(struct restore *restore, const struct backup_item *item, bool *kept_out)
{
    struct blob_reader *blob;
    bool there = false;
    struct blob_found found;
    enum backup_bytes bytes;
    *kept_out = false;
    if (!restore->resumed)
        return NULL;
    TRY(blob_look(restore->blobs, restore->scratch, item->id, &found, &there));
    if (!there)
        return NULL;
    TRY(blob_open(restore->blobs, restore->scratch, item->id, &blob));
    const struct backup_source left = {.blob = blob};
    struct error *error = backup_copy(&restore->copy, restore->arena, item, left, -1, &bytes);
    blob_close(blob);
    TRY(error);
    *kept_out = bytes == BACKUP_GOOD;
    return *kept_out ? NULL : blob_remove(restore->blobs, restore->scratch, item->id);
}

static struct error *write_blob(struct restore *restore, const struct backup_item *item, int from, bool *good_out)
{
    struct blob_writer *writer;
    uint8_t sum[DIGEST_BYTES];
    ssize_t got;
    *good_out = false;
    TRY(blob_begin(restore->blobs, restore->scratch, &writer));
    while ((got = read(from, restore->copy.block, BACKUP_BLOCK_BYTES)) > 0 || (got < 0 && errno == EINTR)) {
        if (got < 0)
            continue;
        TRY(blob_write(writer, restore->copy.block, (size_t)got));
        TRY(restore->copy.step(restore->copy.context, got));
    }
    blob_writer_digest(writer, sum);
    *good_out = got == 0 && blob_writer_size(writer) == (uint64_t)item->size && digest_equal(sum, item->hash);
    if (!*good_out) {
        blob_abort(writer);
        return NULL;
    }
    return blob_commit(writer, item->id);
}

/* Takes the bytes from the backup, or gives restored bytes a second name. */
static struct error *put_blob(struct restore *restore, const struct backup_item *item, int from, bool *good_out)
{
    struct id first;
    *good_out = false;
    if (backup_names_find(restore->copy.names, from, item, &first))
        TRY(blob_link(restore->blobs, restore->scratch, first, item->id, (uint64_t)item->size, good_out));
    if (*good_out)
        return NULL;
    TRY(write_blob(restore, item, from, good_out));
    if (*good_out)
        backup_names_note(restore->copy.names, from, item);
    return NULL;
}

static struct error *restore_file(struct restore *restore, const struct backup_item *item)
{
    bool good = false;
    TRY(keep_left_over(restore, item, &good));
    if (good)
        return blob_give(restore->blobs, restore->scratch, item->id);
    const char *source = arena_format(restore->scratch, "%s/" BACKUP_FILES "/%s", restore->result->path,
                                      blob_path(restore->scratch, item->id));
    int from = open(source, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0)
        return lose(restore, item, "not in the backup");
    struct error *error = put_blob(restore, item, from, &good);
    (void)close(from);
    TRY(error);
    if (!good)
        return lose(restore, item, "not the recorded bytes any more");
    return blob_give(restore->blobs, restore->scratch, item->id);
}

static struct error *restore_listed(struct restore *restore, FILE *list)
{
    struct backup_item item;
    bool more = true;
    for (;;) {
        arena_reset(restore->scratch);
        TRY(backup_item_read(restore->scratch, list, &item, &more));
        if (!more)
            return NULL;
        TRY(restore_file(restore, &item));
        restore->done++;
        restore->result->bytes += item.size;
        TRY(restore->copy.step(restore->copy.context, 0));
    }
}

struct error *restore_files(struct restore *restore)
{
    int fd = open_list(restore);
    FILE *list = fd < 0 ? NULL : fdopen(fd, "r");
    if (list == NULL)
        return backup_failure(restore->arena, errno, "read", BACKUP_LIST);
    struct error *error = restore_listed(restore, list);
    (void)fclose(list);
    restore->result->files = restore->done;
    return error;
}
