/* SPDX-License-Identifier: MIT */
/* Checks the store of files: its space, each of its addresses, and whether it keeps what it is given. */
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "blob/blob.h"
#include "ctl/check/check_int.h"
#include "service/system/inspect.h"

/* What the store has said is for operators, and the detail holds it. */
static struct error *speak(const struct checks *checks, struct error *error)
{
    bool told = error != NULL && error->detail != NULL && !blob_has_files(checks->service.blobs);
    return told ? error_message(error, "%s", error->detail) : error;
}

static struct error *check_space(struct checks *checks)
{
    struct blob_space space;
    TRY(blob_check(checks->service.blobs, checks->arena));
    TRY(blob_space(checks->service.blobs, checks->arena, &space));
    if (space.free_bytes >= (uint64_t)checks->configuration->health.free_bytes_min)
        return NULL;
    return error_message(error_plain(checks->arena, ERROR_STORAGE_FULL), "Only %s are free where the files are.",
                         ctl_bytes(checks->arena, (int64_t)space.free_bytes));
}

static void tell_endpoint(void *context, const char *endpoint, struct error *error)
{
    struct checks *checks = context;
    (void)check_tell(checks, endpoint, CHECK_WARNING, speak(checks, error),
                     "The other addresses of s3_endpoint serve in its place.");
}

static struct error *read_back(struct checks *checks, struct id id, const char *text)
{
    char bytes[64];
    size_t got = 0;
    struct blob_reader *reader;
    TRY(blob_open(checks->service.blobs, checks->arena, id, &reader));
    struct error *error = blob_read(reader, 0, bytes, sizeof bytes, &got);
    blob_close(reader);
    TRY(error);
    if (got == strlen(text) && memcmp(bytes, text, got) == 0)
        return NULL;
    return error_new(checks->arena, ERROR_STORAGE_UNAVAILABLE, "The store gives other bytes back than it was given.");
}

/* Stores an object, reads it and removes it. */
static struct error *try_object(struct checks *checks)
{
    static const char text[] = "gatehousectl check";
    struct blob_writer *writer;
    const struct id id = id_new();
    TRY(blob_begin(checks->service.blobs, checks->arena, &writer));
    TRY(blob_write(writer, text, sizeof text - 1));
    TRY(blob_commit(writer, id));
    struct error *error = read_back(checks, id, text);
    struct error *left = blob_remove(checks->service.blobs, checks->arena, id);
    return error != NULL ? error : left;
}

void check_store(struct checks *checks)
{
    struct arena *arena = checks->arena;
    const struct configuration *configuration = checks->configuration;
    bool has_files = blob_has_files(checks->service.blobs);
    bool good = check_tell(checks, "files", CHECK_ERROR, speak(checks, check_space(checks)),
                           has_files ? "Check that [files] directory is there, belongs to the workers' user and has"
                                       " space left."
                                     : "Check the settings of the store in [files], and its spool.");
    (void)check_tell(checks, "files owner", CHECK_ERROR, inspect_files_owner(arena, configuration),
                     "Give the folder and all in it to the workers' user: chown -R gatehouse:gatehouse.");
    (void)check_tell(checks, "files mode", CHECK_WARNING, inspect_files_mode(arena, configuration),
                     "Files are the workers' user's alone to write: chmod 0750.");
    if (has_files)
        return;
    if (configuration->files.s3_endpoint.count > 1)
        (void)blob_each_endpoint(checks->service.blobs, arena, tell_endpoint, checks);
    if (good)
        (void)check_tell(checks, "store", CHECK_ERROR, speak(checks, try_object(checks)),
                         "Allow the key to write, read, list and remove objects in the bucket.");
}
