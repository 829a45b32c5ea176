/* SPDX-License-Identifier: MIT */
/*
 * Saves the bytes of a backup, each from the cheapest source that has them: an interrupted backup (if the hash is
 * right: a power cut may have come between), a link to the backup before, a link to the store, a link to the same bytes
 * in this backup, a copy.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "service/maintenance/backup_run_int.h"
#include "service/runtime/service.h"

#define SHARDS 256
#define PART ".part"

static struct error *lose(struct backup *backup, const struct backup_item *item, const char *why)
{
    backup->result->lost++;
    if (backup->options->lost != NULL)
        backup->options->lost(backup->options->context, item->id, why);
    return NULL;
}

static bool has_size(const char *path, int64_t size)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == size;
}

/* ---- what is there already ----------------------------------------------------------------------- */

static struct error *keep_left_over(struct backup *backup, const struct backup_item *item, const char *target,
                                    bool *kept_out)
{
    *kept_out = false;
    int fd = backup->resumed ? open(target, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0)
        return NULL;
    enum backup_bytes bytes;
    struct error *error =
        backup_copy(&backup->copy, backup->arena, item, (struct backup_source){.file = fd}, -1, &bytes);
    (void)close(fd);
    TRY(error);
    *kept_out = bytes == BACKUP_GOOD;
    if (!*kept_out && unlink(target) != 0)
        return backup_failure(backup->arena, errno, "replaced", target);
    return NULL;
}

/* Links to the backup before. On another file system there can be no link, and the bytes are copied. */
static bool link_previous(struct backup *backup, const struct backup_item *item, const char *path, const char *target)
{
    if (backup->previous == NULL)
        return false;
    const char *source = arena_format(backup->scratch, "%s/%s", backup->previous, path);
    return has_size(source, item->size) && link(source, target) == 0;
}

/* ---- from the store ------------------------------------------------------------------------------ */

static struct error *link_store(struct backup *backup, const struct backup_item *item, const char *path,
                                const char *target)
{
    const char *source = arena_format(backup->scratch, "%s/%s", blob_root(backup->service->blobs), path);
    if (link(source, target) == 0) {
        if (has_size(target, item->size))
            return NULL;
        (void)unlink(target);
        return lose(backup, item, "not of the recorded size");
    }
    if (errno == ENOENT)
        return lose(backup, item, "not there");
    int number = errno;
    struct error *error = backup_failure(backup->arena, number, "linked to", source);
    return number == EXDEV ? error_message(error, "Links need the backup on the file system of the files directory.")
                           : error;
}

/* Links bytes that the store has once, under several names, to their first name in this backup. */
static bool link_first(struct backup *backup, const struct backup_item *item, int from, const char *target)
{
    struct id first;
    if (!backup_names_find(backup->copy.names, from, item, &first))
        return false;
    const char *source =
        arena_format(backup->scratch, "%s/" BACKUP_FILES "/%s", backup->work, blob_path(backup->scratch, first));
    return has_size(source, item->size) && link(source, target) == 0;
}

static struct error *copy_to(struct backup *backup, const struct backup_item *item, struct blob_reader *from,
                             const char *target)
{
    enum backup_bytes bytes = BACKUP_UNREADABLE;
    const char *part = arena_format(backup->scratch, "%s" PART, target);
    int to = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0)
        return backup_failure(backup->arena, errno, "written", part);
    struct error *error =
        backup_copy(&backup->copy, backup->arena, item, (struct backup_source){.blob = from}, to, &bytes);
    if (close(to) != 0 && errno != EINTR && error == NULL)
        error = backup_failure(backup->arena, errno, "written", part);
    if (error == NULL && bytes == BACKUP_GOOD && rename(part, target) != 0)
        error = backup_failure(backup->arena, errno, "written", target);
    if (error != NULL || bytes != BACKUP_GOOD)
        (void)unlink(part);
    TRY(error);
    if (bytes == BACKUP_GOOD) {
        backup_names_note(backup->copy.names, blob_reader_file(from), item);
        return NULL;
    }
    return lose(backup, item, bytes == BACKUP_DIFFERENT ? "not what was uploaded" : "unreadable");
}

static struct error *copy_store(struct backup *backup, const struct backup_item *item, const char *target)
{
    struct blob_reader *from;
    if (blob_open(backup->service->blobs, backup->scratch, item->id, &from) != NULL)
        return lose(backup, item, "not there");
    bool linked = link_first(backup, item, blob_reader_file(from), target);
    struct error *error = linked ? NULL : copy_to(backup, item, from, target);
    blob_close(from);
    return error;
}

static struct error *save_file(struct backup *backup, const struct backup_item *item)
{
    bool kept = false;
    const char *path = blob_path(backup->scratch, item->id);
    const char *target = arena_format(backup->scratch, "%s/" BACKUP_FILES "/%s", backup->work, path);
    TRY(keep_left_over(backup, item, target, &kept));
    if (kept)
        return NULL;
    if (link_previous(backup, item, path, target)) {
        backup->result->reused++;
        return NULL;
    }
    return backup->options->link ? link_store(backup, item, path, target) : copy_store(backup, item, target);
}

/* ---- all of them --------------------------------------------------------------------------------- */

static struct error *make_shards(struct backup *backup)
{
    for (unsigned shard = 0; shard < SHARDS; shard++) {
        const char *path = arena_format(backup->scratch, "%s/" BACKUP_FILES "/%02x", backup->work, shard);
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return backup_failure(backup->arena, errno, "made", path);
    }
    return NULL;
}

static struct error *clear_left_over(struct backup *backup, const char *path, const char *name, int list)
{
    struct id id;
    bool listed = false;
    if (name[0] == '.')
        return NULL;
    if (blob_id_of(name, &id))
        TRY(backup_listed(backup->arena, list, id, &listed));
    if (!listed && unlink(arena_format(backup->scratch, "%s/%s", path, name)) != 0)
        return backup_failure(backup->arena, errno, "cleared", path);
    return NULL;
}

/* Removes what an interrupted backup has left and no file of the list has: purged since, or cut off. */
static struct error *clear_shard(struct backup *backup, const char *path, int list)
{
    struct error *error = NULL;
    DIR *stream = opendir(path);
    if (stream == NULL)
        return backup_failure(backup->arena, errno, "read", path);
    while (error == NULL) {
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (entry == NULL) {
            if (errno != 0)
                error = backup_failure(backup->arena, errno, "read", path);
            break;
        }
        error = clear_left_over(backup, path, entry->d_name, list);
    }
    (void)closedir(stream);
    return error;
}

static struct error *clear_left_overs(struct backup *backup, int list)
{
    for (unsigned shard = 0; shard < SHARDS && backup->resumed; shard++) {
        arena_reset(backup->scratch);
        TRY(clear_shard(backup, arena_format(backup->scratch, "%s/" BACKUP_FILES "/%02x", backup->work, shard), list));
    }
    return NULL;
}

static struct error *save_listed(struct backup *backup, FILE *list)
{
    struct backup_item item;
    bool more = true;
    TRY(make_shards(backup));
    TRY(clear_left_overs(backup, fileno(list)));
    rewind(list);
    for (;;) {
        arena_reset(backup->scratch);
        TRY(backup_item_read(backup->scratch, list, &item, &more));
        if (!more)
            return NULL;
        TRY(save_file(backup, &item));
        backup->done++;
        TRY(backup_step(backup, 0));
    }
}

struct error *backup_save_files(struct backup *backup)
{
    const char *path = arena_format(backup->arena, "%s/" BACKUP_LIST, backup->work);
    FILE *list = fopen(path, "re");
    if (list == NULL)
        return backup_failure(backup->arena, errno, "read", path);
    struct error *error = save_listed(backup, list);
    (void)fclose(list);
    return error;
}
