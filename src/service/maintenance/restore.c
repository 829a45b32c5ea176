/* SPDX-License-Identifier: MIT */
/* Runs a restore: checks the backup, the secret and the database, has the bytes restored, and loads the rows. */
#include "service/maintenance/restore.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/secret.h"
#include "blob/open.h"
#include "domain/file/file_link.h"
#include "domain/file/link_key.h"
#include "domain/session/known_device.h"
#include "domain/session/session.h"
#include "service/maintenance/restore_int.h"
#include "store/database/database.h"
#include "store/database/dump.h"
#include "store/database/migrate.h"

#define MARKER "gatehouse_restore"

static struct error *refuse(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
static struct error *refuse(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_format_list(arena, format, arguments);
    va_end(arguments);
    return error_message(error_new(arena, ERROR_INTERNAL, "restore refused"), "%s", text);
}

/* ---- the backup ---------------------------------------------------------------------------------- */

static struct error *find_backup(struct restore *restore)
{
    TRY(backup_find(restore->arena, restore->options->directory, &restore->result->path));
    return backup_manifest_read(restore->arena, restore->result->path, &restore->manifest);
}

static struct error *check_hash(struct restore *restore, const char *name, const char *expected)
{
    const char *hash;
    const char *path = arena_format(restore->arena, "%s/%s", restore->result->path, name);
    TRY(backup_hash_file(restore->arena, path, &hash));
    if (strcmp(hash, expected) == 0)
        return NULL;
    return refuse(restore->arena, "%s is not what the backup's manifest says: it was changed or damaged.", path);
}

static struct error *check_backup(struct restore *restore)
{
    struct id id;
    TRY(find_backup(restore));
    if (!id_parse(restore->manifest.id, &id))
        return refuse(restore->arena, "The manifest in %s has no id of a backup.", restore->result->path);
    restore->result->created_at = restore->manifest.created_at;
    TRY(check_hash(restore, BACKUP_ROWS, restore->manifest.rows_hash));
    return check_hash(restore, BACKUP_LIST, restore->manifest.list_hash);
}

/* ---- the secret ---------------------------------------------------------------------------------- */

/* Puts the backup's copy of the secret in place. */
static struct error *install_secret(struct restore *restore, const char *path)
{
    struct secret secret;
    TRY(secret_read(restore->arena, arena_format(restore->arena, "%s/" BACKUP_SECRET, restore->result->path), &secret));
    return secret_create(restore->arena, path, secret);
}

/* Checks the secret: keys, waiting mail and codes in the rows open only with the secret that has sealed them. */
static struct error *check_secret(struct restore *restore)
{
    const char *path = restore->configuration->service.secret_file;
    bool has;
    if (access(path, F_OK) != 0 && restore->manifest.secret_included)
        TRY(install_secret(restore, path));
    if (access(path, F_OK) != 0)
        return refuse(restore->arena,
                      "Put the secret file that belongs to the backup to %s first: without it nobody can"
                      " sign in. The backup does not hold it.",
                      path);
    TRY(backup_secret_has(restore->arena, path, restore->manifest.secret, &has));
    if (has)
        return NULL;
    return refuse(restore->arena,
                  "The secret file %s is not the one that belongs to the backup. Put that one in its"
                  " place.",
                  path);
}

/* ---- the database -------------------------------------------------------------------------------- */

static struct error *open_database(struct arena *arena, const struct configuration *configuration,
                                   struct database **database_out)
{
    struct database_options options;
    TRY(database_options_load(arena, configuration, true, &options));
    options.query_timeout_seconds = 0;
    options.name = NULL;
    struct database *database = database_new(&options);
    struct error *error = migrate_create_database(database, arena, configuration->database.name);
    database_free(&database);
    TRY(error);
    options.name = configuration->database.name;
    *database_out = database_new(&options);
    return NULL;
}

/* Checks that the database is empty, or holds what an interrupted restore of this very backup has left. */
static struct error *check_database(struct restore *restore)
{
    const char *marked = NULL;
    const char **names;
    size_t count;
    TRY(dump_tables(restore->database, restore->arena, &names, &count));
    TRY(dump_find_mark(restore->database, restore->arena, MARKER, &marked));
    restore->resumed = marked != NULL;
    if (count > 0 && !restore->resumed)
        return refuse(restore->arena, "The database %s has tables already. Restore into an empty one.",
                      restore->configuration->database.name);
    if (restore->resumed && strcmp(marked, restore->manifest.id) != 0)
        return refuse(restore->arena,
                      "The database %s holds part of another backup, whose restore was interrupted."
                      " Restore that one again, or empty database and files directory.",
                      restore->configuration->database.name);
    TRY(restore_check_store(restore));
    if (restore->resumed)
        return NULL;
    return dump_mark(restore->database, restore->arena, MARKER, restore->manifest.id);
}

static struct error *drop_tables(struct restore *restore)
{
    const char **names;
    size_t count;
    TRY(dump_tables(restore->database, restore->arena, &names, &count));
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], MARKER) != 0)
            TRY(dump_drop(restore->database, restore->arena, names[i]));
    return NULL;
}

static struct error *load_rows(struct restore *restore)
{
    uint64_t rows = 0;
    const char *path = arena_format(restore->arena, "%s/" BACKUP_ROWS, restore->result->path);
    TRY(drop_tables(restore));
    FILE *text = fopen(path, "re");
    if (text == NULL)
        return backup_failure(restore->arena, errno, "read", path);
    struct error *error = dump_load(restore->database, restore->arena, text, &rows);
    (void)fclose(text);
    TRY(error);
    restore->result->rows = (int64_t)rows;
    /* Workers may serve meanwhile: no session that was ended and no link that was revoked may be back. */
    TRY(session_end_everyones(restore->database, restore->arena));
    TRY(link_key_delete_all(restore->database, restore->arena));
    TRY(migrate(restore->database, restore->arena, restore->options->sql, NULL, NULL));
    TRY(known_device_forget_everyones(restore->database, restore->arena));
    TRY(file_link_delete_all(restore->database, restore->arena));
    return session_renew_stamps(restore->database, restore->arena);
}

/* ---- the frame ----------------------------------------------------------------------------------- */

static struct error *step(void *context, int64_t bytes)
{
    struct restore *restore = context;
    (void)bytes;
    progress_show(restore->options->progress, "files", restore->done, restore->manifest.files, restore->result->bytes);
    if (!progress_ends(restore->options->progress))
        return NULL;
    restore->result->interrupted = true;
    return refuse(restore->arena, "The restore was interrupted; run it again with the same backup to go on.");
}

static struct error *restore_all(struct restore *restore)
{
    TRY(check_database(restore));
    TRY(restore_files(restore));
    if (restore->result->lost > 0 && !restore->options->accept_loss)
        return refuse(restore->arena,
                      "The bytes of %lld files are lost. Repair the backup and run this again, or accept the"
                      " loss (--accept-loss).",
                      (long long)restore->result->lost);
    return load_rows(restore);
}

struct error *restore_run(struct arena *arena, struct arena *scratch, const struct configuration *configuration,
                          const struct restore_options *options, struct restore_result *result_out)
{
    *result_out = (struct restore_result){0};
    struct restore restore = {
        .arena = arena, .scratch = scratch, .configuration = configuration, .options = options, .result = result_out};
    restore.copy = (struct backup_copy){.digest = digest_open(arena),
                                        .block = arena_alloc(arena, BACKUP_BLOCK_BYTES),
                                        .names = backup_names_new(arena),
                                        .step = step,
                                        .context = &restore};
    TRY(check_backup(&restore));
    TRY(check_secret(&restore));
    TRY(blob_open_configured(arena, configuration, &restore.blobs));
    TRY(open_database(arena, configuration, &restore.database));
    struct error *error = restore_all(&restore);
    database_free(&restore.database);
    return error;
}

struct error *restore_finish(struct arena *arena, const struct configuration *configuration)
{
    struct database *database;
    TRY(open_database(arena, configuration, &database));
    struct error *error = dump_unmark(database, arena, MARKER);
    database_free(&database);
    if (error == NULL)
        return NULL;
    return error_message(error,
                         "All is restored, but nobody knows whether the table " MARKER " is gone. Run the command "
                         "again, if it is still there.");
}
