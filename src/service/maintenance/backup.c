/* SPDX-License-Identifier: MIT */
/* Runs a backup: chooses its place, saves the secret and the rows, has the bytes saved, and completes it. */
#include "service/maintenance/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "blob/blob.h"
#include "codec/encoding.h"
#include "domain/file/file_admin.h"
#include "domain/lease.h"
#include "service/maintenance/backup_run_int.h"
#include "service/runtime/service.h"
#include "store/database/database.h"
#include "store/database/dump.h"
#include "store/database/migrate.h"
#include "store/database/row_lock.h"

#define DIRECTORY_MODE 0700
#define PATIENCE_SECONDS 60
#define PAGE_ROWS 1000

/* ---- texts with a running hash ------------------------------------------------------------------- */

struct output {
    struct backup *backup;
    FILE *file;
    const char *path;
    struct digest *digest;
};

static struct error *output_open(struct backup *backup, const char *name, struct output *output)
{
    *output = (struct output){.backup = backup,
                              .path = arena_format(backup->arena, "%s/%s", backup->work, name),
                              .digest = digest_open(backup->arena)};
    int fd = open(output->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    output->file = fd < 0 ? NULL : fdopen(fd, "w");
    return output->file != NULL ? NULL : backup_failure(backup->arena, errno, "written", output->path);
}

static struct error *output_write(void *context, const char *bytes, size_t length)
{
    struct output *output = context;
    struct backup *backup = output->backup;
    digest_update(output->digest, bytes, length);
    if (fwrite(bytes, 1, length, output->file) != length)
        return backup_failure(backup->arena, errno, "written", output->path);
    return backup_step(backup, 0);
}

/* Ends the text and gives its hash. `error` is the error of the writing so far. */
static struct error *output_close(struct output *output, struct error *error, const char **hash_out)
{
    uint8_t sum[DIGEST_BYTES];
    struct arena *arena = output->backup->arena;
    digest_final(output->digest, sum);
    *hash_out = hex_encode(arena, sum, sizeof sum);
    int number = fflush(output->file) == 0 && fsync(fileno(output->file)) == 0 ? 0 : errno;
    (void)fclose(output->file);
    if (error != NULL)
        return error;
    return number == 0 ? NULL : backup_failure(arena, number, "written", output->path);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* Leases and positions describe the moment, and are not saved. */
static const char *const without_rows[] = {"maintenance", "row_lock", NULL};

static struct error *write_rows(struct database *database, struct backup *backup)
{
    struct output output;
    uint64_t rows = 0;
    TRY(output_open(backup, BACKUP_ROWS, &output));
    const struct dump_writer writer = {.write = output_write, .context = &output};
    struct error *error = dump_write(database, backup->arena, without_rows, &writer, &rows);
    backup->manifest.rows = (int64_t)rows;
    return output_close(&output, error, &backup->manifest.rows_hash);
}

static struct error *list_page(struct backup *backup, struct output *output, const struct file_admin_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        struct backup_item item = {.id = page->items[i].id, .size = page->items[i].size};
        memcpy(item.hash, page->items[i].hash, sizeof item.hash);
        const char *line = backup_item_line(backup->scratch, &item);
        TRY(output_write(output, line, strlen(line)));
        backup->manifest.files++;
        backup->manifest.bytes += item.size;
    }
    return NULL;
}

static struct error *list_pages(struct database *database, struct backup *backup, struct output *output)
{
    struct file_admin_page page = {.count = PAGE_ROWS};
    struct id after = {{0}};
    while (page.count == PAGE_ROWS) {
        arena_reset(backup->scratch);
        TRY(file_admin_each(database, backup->scratch, after, PAGE_ROWS, &page));
        if (page.count > 0)
            after = page.items[page.count - 1].id;
        TRY(list_page(backup, output, &page));
    }
    return NULL;
}

/* Reads the snapshot. The transaction may run it again after a conflict. */
static struct error *read_snapshot(struct database *database, struct arena *arena, void *context)
{
    struct backup *backup = context;
    struct output output;
    backup->manifest.files = 0;
    backup->manifest.bytes = 0;
    TRY(write_rows(database, backup));
    TRY(migrate_newest(database, arena, &backup->manifest.migration));
    TRY(output_open(backup, BACKUP_LIST, &output));
    struct error *error = list_pages(database, backup, &output);
    return output_close(&output, error, &backup->manifest.list_hash);
}

static struct error *save_rows(struct backup *backup)
{
    struct database_options options;
    TRY(database_options_load(backup->arena, backup->service->configuration, true, &options));
    options.query_timeout_seconds = 0;
    struct database *database = database_new(&options);
    struct error *error = dump_prepare(database, backup->arena);
    if (error == NULL)
        error = migrate_lock(database, backup->arena, &backup->migrations);
    if (error == NULL) {
        backup->migrations_renewed = clock_monotonic();
        error = database_transaction(database, backup->arena, read_snapshot, backup, NULL);
        backup->migrations_renewed = 0;
        row_lock_release(database, backup->arena, &backup->migrations);
    }
    database_free(&database);
    return error;
}

/* ---- the frame ----------------------------------------------------------------------------------- */

static struct error *make_directory(struct arena *arena, const char *path)
{
    if (mkdir(path, DIRECTORY_MODE) == 0 || errno == EEXIST)
        return NULL;
    return backup_failure(arena, errno, "made", path);
}

/* Chooses where the backup is made: in the place of an interrupted one, if there is one. */
static struct error *choose_place(struct backup *backup)
{
    struct arena *arena = backup->arena;
    const char *directory = backup->options->directory;
    const char *partial;
    const char *newest;
    char now[CLOCK_TEXT_BYTES];
    TRY(make_directory(arena, directory));
    TRY(backup_partial(arena, directory, &partial));
    TRY(backup_newest(arena, directory, &newest));
    clock_format(clock_now(), now);
    char *name = arena_text(arena, now);
    for (char *at = name; *at != '\0'; at++)
        *at = *at == ':' ? '-' : *at;
    backup->manifest.created_at = arena_text(arena, now);
    backup->manifest.id = id_text(arena, id_new());
    backup->resumed = partial != NULL;
    backup->work = arena_format(arena, "%s/%s" BACKUP_PARTIAL, directory, name);
    backup->result->path = arena_format(arena, "%s/%s", directory, name);
    if (newest != NULL)
        backup->previous = arena_format(arena, "%s/%s/" BACKUP_FILES, directory, newest);
    if (access(backup->result->path, F_OK) == 0)
        return backup_failure(arena, EEXIST, "made", backup->result->path);
    const char *old = arena_format(arena, "%s/%s", directory, partial == NULL ? "" : partial);
    if (partial != NULL && strcmp(old, backup->work) != 0 && rename(old, backup->work) != 0)
        return backup_failure(arena, errno, "renamed", old);
    TRY(make_directory(arena, backup->work));
    return make_directory(arena, arena_format(arena, "%s/" BACKUP_FILES, backup->work));
}

static struct error *save_secret(struct backup *backup)
{
    const char *source = backup->service->configuration->service.secret_file;
    const char *path = arena_format(backup->arena, "%s/" BACKUP_SECRET, backup->work);
    struct secret secret;
    TRY(backup_fingerprint(backup->arena, source, &backup->manifest.secret));
    backup->manifest.secret_included = backup->options->include_secret;
    if (unlink(path) != 0 && errno != ENOENT)
        return backup_failure(backup->arena, errno, "written", path);
    if (!backup->options->include_secret)
        return NULL;
    TRY(secret_read(backup->arena, source, &secret));
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int number = fd < 0 ? errno : backup_write_all(fd, secret_reveal(secret), secret.length);
    if (number == 0)
        number = backup_write_all(fd, "\n", 1);
    if (fd >= 0)
        (void)close(fd);
    return number == 0 ? NULL : backup_failure(backup->arena, number, "written", path);
}

static struct error *sync_directory(struct arena *arena, const char *path, bool whole)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int number = fd < 0 ? errno : 0;
    if (number == 0 && (whole ? syncfs(fd) : fsync(fd)) != 0)
        number = errno;
    if (fd >= 0)
        (void)close(fd);
    return number == 0 ? NULL : backup_failure(arena, number, "made durable", path);
}

/*
 * Everything is made durable before the manifest, and the manifest before the directory gets the name of a complete
 * backup.
 */
static struct error *finish(struct backup *backup)
{
    struct arena *arena = backup->arena;
    TRY(sync_directory(arena, backup->work, true));
    TRY(lease_holder_check(&backup->lease, arena));
    backup->manifest.lost = backup->result->lost;
    TRY(backup_manifest_write(arena, backup->work, &backup->manifest));
    TRY(sync_directory(arena, backup->work, false));
    if (rename(backup->work, backup->result->path) != 0)
        return backup_failure(arena, errno, "renamed", backup->work);
    TRY(sync_directory(arena, backup->options->directory, false));
    backup->result->rows = backup->manifest.rows;
    backup->result->files = backup->manifest.files;
    backup->result->bytes = backup->manifest.bytes;
    return NULL;
}

static struct error *make_backup(struct backup *backup)
{
    TRY(choose_place(backup));
    TRY(save_secret(backup));
    TRY(save_rows(backup));
    TRY(backup_save_files(backup));
    return finish(backup);
}

struct error *backup_run(struct service *service, struct arena *arena, struct arena *scratch,
                         const struct backup_options *options, struct backup_result *result_out)
{
    *result_out = (struct backup_result){0};
    if (options->link && !blob_has_files(service->blobs))
        return error_message(error_plain(arena, ERROR_INTERNAL),
                             "%s has no files to link to. Make the backup without links.", blob_root(service->blobs));
    struct backup backup = {
        .service = service, .arena = arena, .scratch = scratch, .options = options, .result = result_out};
    backup.copy = (struct backup_copy){.digest = digest_open(arena),
                                       .block = arena_alloc(arena, BACKUP_BLOCK_BYTES),
                                       .names = backup_names_new(arena),
                                       .pace = {.bytes_per_second = options->bytes_per_second},
                                       .step = backup_step,
                                       .context = &backup};
    TRY(lease_holder_take(service, arena, LEASE_FILES, PATIENCE_SECONDS, &backup.lease));
    struct error *error = make_backup(&backup);
    lease_holder_release(&backup.lease, arena);
    return error;
}
