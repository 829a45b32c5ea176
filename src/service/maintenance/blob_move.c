/* SPDX-License-Identifier: MIT */
/* Copies files from one store to the other, in the order of their rows, and compares what is there already. */
#include "service/maintenance/blob_move.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/open.h"
#include "codec/digest.h"
#include "domain/file/file_admin.h"
#include "domain/lease.h"
#include "service/maintenance/lease_holder.h"
#include "service/maintenance/pace.h"
#include "service/runtime/service.h"

#define PAGE_ROWS 500
#define PATIENCE_SECONDS 60
#define BLOCK_BYTES ((size_t)256 * 1024)

struct move {
    struct service *service;
    struct arena *arena;
    struct arena *scratch;
    struct arena *file; /* reset for each file */
    const struct blob_move_options *options;
    struct blob_move_result *result;
    struct blob_store *from;
    struct blob_store *to;
    struct lease_holder lease;
    struct pace pace;
    struct digest *digest;
    unsigned char *block;
    int64_t total;
};

/* Between two blocks. False: the command is to end. */
static struct error *step(struct move *move, size_t bytes, bool *going_out)
{
    pace_spend(&move->pace, (int64_t)bytes);
    progress_show(move->options->progress, "files", move->result->files, move->total, move->result->bytes);
    *going_out = !progress_ends(move->options->progress);
    move->result->interrupted = move->result->interrupted || !*going_out;
    return lease_holder_renew(&move->lease, move->arena);
}

/* ---- comparing ------------------------------------------------------------------------------------- */

/* Reads the bytes of a store that keeps no digest beside them. */
static struct error *compare_bytes(struct move *move, struct blob_store *store, const struct file_admin_record *kept,
                                   bool *same_out)
{
    struct blob_reader *reader;
    uint8_t sum[DIGEST_BYTES];
    uint64_t at = 0;
    size_t got = 1;
    bool going = true;
    struct error *error = NULL;
    *same_out = false;
    TRY(blob_open(store, move->file, kept->id, &reader));
    while (error == NULL && going && got > 0) {
        error = blob_read(reader, at, move->block, BLOCK_BYTES, &got);
        digest_update(move->digest, move->block, error == NULL ? got : 0);
        at += got;
        if (error == NULL)
            error = step(move, got, &going);
    }
    blob_close(reader);
    digest_final(move->digest, sum);
    *same_out = going && at == (uint64_t)kept->size && digest_equal(sum, kept->hash);
    return error;
}

/* Whether the other store has the bytes of the row. Others that are in their place are moved aside. */
static struct error *find_there(struct move *move, const struct file_admin_record *kept, bool *there_out)
{
    struct blob_found found;
    const char *where;
    bool there = false;
    *there_out = false;
    TRY(blob_look(move->to, move->file, kept->id, &found, &there));
    if (!there)
        return NULL;
    if (found.size == (uint64_t)kept->size && found.has_digest)
        *there_out = digest_equal(found.digest, kept->hash);
    else if (found.size == (uint64_t)kept->size)
        TRY(compare_bytes(move, move->to, kept, there_out));
    return *there_out || move->result->interrupted ? NULL : blob_set_aside(move->to, move->file, kept->id, &where);
}

/* ---- copying --------------------------------------------------------------------------------------- */

/* NULL in *why_out: the bytes are in the other store. */
static struct error *copy_bytes(struct move *move, const struct file_admin_record *kept, struct blob_reader *reader,
                                const char **why_out)
{
    struct blob_writer *writer;
    uint8_t sum[DIGEST_BYTES];
    bool going = true;
    TRY(blob_begin(move->to, move->file, &writer));
    for (size_t got = 1; got > 0 && going;) {
        *why_out = "unreadable";
        if (blob_read(reader, blob_writer_size(writer), move->block, BLOCK_BYTES, &got) != NULL)
            break;
        *why_out = NULL;
        TRY(blob_write(writer, move->block, got));
        TRY(step(move, got, &going));
    }
    blob_writer_digest(writer, sum);
    bool good = blob_writer_size(writer) == (uint64_t)kept->size && digest_equal(sum, kept->hash);
    if (*why_out == NULL && going && !good)
        *why_out = "not what was uploaded";
    if (*why_out != NULL || !going) {
        blob_abort(writer);
        return NULL;
    }
    TRY(blob_commit(writer, kept->id));
    move->result->copied++;
    move->result->bytes += kept->size;
    return blob_give(move->to, move->file, kept->id);
}

static struct error *copy_file(struct move *move, const struct file_admin_record *kept, const char **why_out)
{
    struct blob_reader *reader;
    struct blob_found found;
    bool there = false;
    *why_out = NULL;
    TRY(blob_look(move->from, move->file, kept->id, &found, &there));
    if (!there) {
        *why_out = "not there";
        return NULL;
    }
    TRY(blob_open(move->from, move->file, kept->id, &reader));
    struct error *error = copy_bytes(move, kept, reader, why_out);
    blob_close(reader);
    return error;
}

/* A purge may have taken the row meanwhile. */
static struct error *lose(struct move *move, const struct file_admin_record *kept, const char *why)
{
    struct file_admin_record now;
    bool found = false;
    TRY(file_admin_find(move->service->database, move->file, kept->id, &now, &found));
    if (!found)
        return NULL;
    move->result->lost++;
    if (move->options->lost != NULL)
        move->options->lost(move->options->context, kept->id, why);
    return NULL;
}

static struct error *move_file(struct move *move, const struct file_admin_record *kept)
{
    const char *why = NULL;
    bool there = false;
    bool going = true;
    arena_reset(move->file);
    TRY(find_there(move, kept, &there));
    if (!there && !move->result->interrupted)
        TRY(copy_file(move, kept, &why));
    if (move->result->interrupted)
        return NULL;
    if (why != NULL)
        return lose(move, kept, why);
    move->result->files++;
    return step(move, 0, &going);
}

/* ---- all files ------------------------------------------------------------------------------------- */

static struct error *move_rows(struct move *move)
{
    struct file_admin_page page = {.count = PAGE_ROWS};
    struct id after = {{0}};
    /* Until a page is empty: files are uploaded meanwhile. */
    while (page.count > 0 && !move->result->interrupted) {
        arena_reset(move->scratch);
        TRY(file_admin_each(move->service->database, move->scratch, after, PAGE_ROWS, &page));
        for (size_t i = 0; i < page.count && !move->result->interrupted; i++) {
            TRY(move_file(move, &page.items[i]));
            after = page.items[i].id;
        }
    }
    return NULL;
}

struct error *blob_move_run(struct service *service, struct arena *arena, struct arena *scratch,
                            const struct blob_move_options *options, struct blob_move_result *result_out)
{
    const char *from = strcmp(options->to, BLOB_OPEN_S3) == 0 ? BLOB_OPEN_DIRECTORY : BLOB_OPEN_S3;
    *result_out = (struct blob_move_result){0};
    struct move move = {.service = service,
                        .arena = arena,
                        .scratch = scratch,
                        .options = options,
                        .result = result_out,
                        .pace = {.bytes_per_second = options->bytes_per_second},
                        .digest = digest_open(arena),
                        .block = arena_alloc(arena, BLOCK_BYTES)};
    TRY(blob_open_kind(arena, service->configuration, from, &move.from));
    TRY(blob_open_kind(arena, service->configuration, options->to, &move.to));
    TRY(blob_check(move.from, arena));
    TRY(blob_check(move.to, arena));
    TRY(file_admin_estimate(service->database, arena, &move.total));
    TRY(lease_holder_take(service, arena, LEASE_FILES, PATIENCE_SECONDS, &move.lease));
    move.file = arena_new();
    struct error *error = move_rows(&move);
    if (error != NULL)
        error = error_new(arena, error->code, "%s", error->detail != NULL ? error->detail : error->message);
    arena_free(&move.file);
    lease_holder_release(&move.lease, arena);
    return error;
}
