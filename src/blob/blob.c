/* SPDX-License-Identifier: MIT */
/*
 * What all kinds of stores share: gathering bytes into blocks, the running digest, and the life of a writer. A writer
 * goes from open to finished (all bytes handed over) to closed (committed or aborted), and keeps its first error.
 */
#include "blob/blob.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "blob/reader_int.h"
#include "blob/writer_int.h"

struct blob_writer {
    struct blob_store *store;
    struct arena *arena;
    void *state; /* the kind's own */
    struct digest *digest;
    unsigned char *block;
    bool block_lent; /* the block is the store's spare one */
    bool finished;
    bool closed;
    size_t gathered; /* bytes in the block */
    uint64_t size;
    struct error *error;
    uint8_t sum[DIGEST_BYTES];
};

static void return_block(struct blob_writer *writer)
{
    if (writer->block_lent)
        writer->store->block = writer->block;
    writer->block_lent = false;
    writer->block = NULL;
}

static void close_writer(struct blob_writer *writer)
{
    writer->closed = true;
    return_block(writer);
}

void blob_abort(struct blob_writer *writer)
{
    if (writer->closed)
        return;
    writer->store->functions->abort(writer->store, writer->state);
    close_writer(writer);
}

static void abort_deferred(void *argument)
{
    blob_abort(argument);
}

static struct error *fail(struct blob_writer *writer, struct error *error)
{
    writer->error = error;
    blob_abort(writer);
    return error;
}

struct error *blob_begin(struct blob_store *store, struct arena *arena, struct blob_writer **writer_out)
{
    struct blob_writer *writer = arena_alloc(arena, sizeof *writer);
    writer->store = store;
    writer->arena = arena;
    writer->digest = digest_open(arena);
    TRY(store->functions->begin(store, arena, &writer->state));
    writer->block_lent = store->block != NULL;
    writer->block = writer->block_lent ? store->block : arena_alloc(arena, LIMIT_BLOB_BLOCK_BYTES);
    store->block = NULL;
    arena_defer(arena, abort_deferred, writer);
    *writer_out = writer;
    return NULL;
}

struct blob_writer *blob_writer_resume(struct blob_store *store, struct arena *arena, void *state, uint64_t size,
                                       const uint8_t digest[DIGEST_BYTES])
{
    struct blob_writer *writer = arena_alloc(arena, sizeof *writer);
    *writer = (struct blob_writer){.store = store, .arena = arena, .state = state, .finished = true, .size = size};
    memcpy(writer->sum, digest, DIGEST_BYTES);
    arena_defer(arena, abort_deferred, writer);
    return writer;
}

static struct error *put(struct blob_writer *writer, const void *bytes, size_t length)
{
    digest_update(writer->digest, bytes, length);
    struct blob_store *store = writer->store;
    struct error *error = store->functions->write(store, writer->arena, writer->state, bytes, length);
    return error == NULL ? NULL : fail(writer, error);
}

struct error *blob_write(struct blob_writer *writer, const void *bytes, size_t length)
{
    if (writer->error != NULL)
        return writer->error;
    if (writer->finished || writer->closed)
        return error_new(writer->arena, ERROR_INTERNAL, "a blob that has ended was written to");
    const unsigned char *from = bytes;
    writer->size += length;
    while (length > 0) {
        if (writer->gathered == 0 && length >= LIMIT_BLOB_BLOCK_BYTES) {
            TRY(put(writer, from, LIMIT_BLOB_BLOCK_BYTES));
            from += LIMIT_BLOB_BLOCK_BYTES;
            length -= LIMIT_BLOB_BLOCK_BYTES;
            continue;
        }
        size_t space = LIMIT_BLOB_BLOCK_BYTES - writer->gathered;
        size_t step = length < space ? length : space;
        memcpy(writer->block + writer->gathered, from, step);
        writer->gathered += step;
        from += step;
        length -= step;
        if (writer->gathered == LIMIT_BLOB_BLOCK_BYTES) {
            writer->gathered = 0;
            TRY(put(writer, writer->block, LIMIT_BLOB_BLOCK_BYTES));
        }
    }
    return NULL;
}

size_t blob_writer_room(const struct blob_writer *writer)
{
    return LIMIT_BLOB_BLOCK_BYTES - writer->gathered;
}

uint64_t blob_writer_size(const struct blob_writer *writer)
{
    return writer->size;
}

/* Hands over the gathered bytes. A failure is kept for the commit. */
static void finish(struct blob_writer *writer)
{
    if (writer->finished)
        return;
    writer->finished = true;
    if (writer->error == NULL && !writer->closed && writer->gathered > 0)
        (void)put(writer, writer->block, writer->gathered);
    digest_final(writer->digest, writer->sum);
    return_block(writer);
}

void blob_writer_digest(struct blob_writer *writer, uint8_t digest_out[DIGEST_BYTES])
{
    finish(writer);
    memcpy(digest_out, writer->sum, DIGEST_BYTES);
}

void blob_watch(struct blob_store *store, const struct blob_watch *watch)
{
    store->watch = watch == NULL ? (struct blob_watch){NULL, NULL} : *watch;
}

void blob_writer_tell(const struct blob_writer *writer)
{
    const struct blob_watch *watch = &writer->store->watch;
    if (watch->tell != NULL)
        watch->tell(watch->context);
}

struct error *blob_writer_read(struct blob_writer *writer, uint64_t offset, void *bytes, size_t length, size_t *got_out)
{
    *got_out = 0;
    if (writer->error != NULL)
        return writer->error;
    if (!writer->finished || writer->closed)
        return error_new(writer->arena, ERROR_INTERNAL, "a blob was read back that is still open, or has ended");
    blob_writer_tell(writer);
    return writer->store->functions->read(writer->store, writer->arena, writer->state, offset, bytes, length, got_out);
}

struct error *blob_commit(struct blob_writer *writer, struct id id)
{
    finish(writer);
    if (writer->error != NULL)
        return writer->error;
    if (writer->closed)
        return error_new(writer->arena, ERROR_INTERNAL, "a blob that has ended was committed");
    struct blob_store *store = writer->store;
    struct blob_final final = {.id = id, .size = writer->size};
    memcpy(final.digest, writer->sum, sizeof final.digest);
    struct error *error = store->functions->commit(store, writer->arena, writer->state, &final);
    if (error != NULL)
        return fail(writer, error_trace(error, __func__, __FILE__, __LINE__));
    close_writer(writer);
    return NULL;
}

struct error *blob_link(struct blob_store *store, struct arena *arena, struct id from, struct id to, uint64_t size,
                        bool *linked_out)
{
    *linked_out = false;
    if (store->functions->link == NULL)
        return NULL;
    return store->functions->link(store, arena, from, to, size, linked_out);
}

struct error *blob_remove(struct blob_store *store, struct arena *arena, struct id id)
{
    return store->functions->remove(store, arena, id);
}

bool blob_has_links(const struct blob_store *store)
{
    return store->functions->link != NULL;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

void blob_close(struct blob_reader *reader)
{
    if (reader == NULL || !reader->open)
        return;
    reader->open = false;
    reader->store->functions->close(reader);
}

static void close_deferred(void *argument)
{
    blob_close(argument);
}

struct error *blob_open(struct blob_store *store, struct arena *arena, struct id id, struct blob_reader **reader_out)
{
    struct blob_reader *reader = arena_alloc(arena, sizeof *reader);
    *reader = (struct blob_reader){.store = store, .arena = arena, .id = id, .file = -1};
    TRY(store->functions->open(store, arena, id, reader));
    reader->open = true;
    arena_defer(arena, close_deferred, reader);
    *reader_out = reader;
    return NULL;
}

struct error *blob_read(struct blob_reader *reader, uint64_t offset, void *bytes, size_t length, size_t *got_out)
{
    unsigned char *into = bytes;
    *got_out = 0;
    if (!reader->open)
        return error_new(reader->arena, ERROR_INTERNAL, "a blob was read that is closed");
    while (*got_out < length) {
        size_t step = 0;
        TRY(reader->store->functions->fetch(reader, offset + *got_out, into + *got_out, length - *got_out, &step));
        if (step == 0)
            break;
        *got_out += step;
    }
    return NULL;
}

uint64_t blob_reader_size(const struct blob_reader *reader)
{
    return reader->size;
}

int blob_reader_file(const struct blob_reader *reader)
{
    return reader->file;
}

/* ---- what only one kind of store has ---------------------------------------------------------------- */

bool blob_has_files(const struct blob_store *store)
{
    return store->has_files;
}

struct error *blob_hand_over(struct blob_store *store, struct arena *arena, struct id id, const char *method,
                             const struct blob_part *part, struct blob_handover *handover_out)
{
    *handover_out = (struct blob_handover){.path = blob_path(arena, id)};
    if (store->functions->hand_over == NULL)
        return NULL;
    return store->functions->hand_over(store, arena, id, method, part, handover_out);
}

struct error *blob_give(struct blob_store *store, struct arena *arena, struct id id)
{
    return store->functions->give == NULL ? NULL : store->functions->give(store, arena, id);
}

struct error *blob_renew(struct blob_store *store, struct arena *arena)
{
    return store->functions->renew == NULL ? NULL : store->functions->renew(store, arena);
}

struct error *blob_each_endpoint(struct blob_store *store, struct arena *arena,
                                 void (*visit)(void *context, const char *endpoint, struct error *error), void *context)
{
    return store->functions->each_endpoint == NULL ? NULL
                                                   : store->functions->each_endpoint(store, arena, visit, context);
}

/* ---- keeping house ---------------------------------------------------------------------------------- */

char *blob_path(struct arena *arena, struct id id)
{
    char hex[ID_HEX_BYTES];
    id_hex(id, hex);
    return arena_format(arena, "%s/%s", hex + ID_HEX_BYTES - 3, hex);
}

bool blob_id_of(const char *name, struct id *id_out)
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(name) != ID_HEX_BYTES - 1 || strspn(name, digits) != ID_HEX_BYTES - 1)
        return false;
    for (size_t i = 0; i < ID_BYTES; i++)
        id_out->bytes[i] =
            (uint8_t)((strchr(digits, name[2 * i]) - digits) * 16 + (strchr(digits, name[2 * i + 1]) - digits));
    return true;
}

const char *blob_root(const struct blob_store *store)
{
    return store->root;
}

struct error *blob_check(struct blob_store *store, struct arena *arena)
{
    return store->functions->check(store, arena);
}

struct error *blob_space(struct blob_store *store, struct arena *arena, struct blob_space *space_out)
{
    return store->functions->space(store, arena, space_out);
}

struct error *blob_sweep(struct blob_store *store, struct arena *arena, int64_t before, size_t *count_out)
{
    return store->functions->sweep(store, arena, before, count_out);
}

struct error *blob_each(struct blob_store *store, struct arena *arena,
                        struct error *(*visit)(void *context, const struct blob_found *found), void *context)
{
    return store->functions->each(store, arena, visit, context);
}

struct error *blob_look(struct blob_store *store, struct arena *arena, struct id id, struct blob_found *found_out,
                        bool *there_out)
{
    return store->functions->look(store, arena, id, found_out, there_out);
}

struct error *blob_each_stray(struct blob_store *store, struct arena *arena,
                              struct error *(*visit)(void *context, const struct blob_stray *stray), void *context)
{
    return store->functions->each_stray(store, arena, visit, context);
}

struct error *blob_set_aside(struct blob_store *store, struct arena *arena, struct id id, const char **where_out)
{
    char *path = blob_path(arena, id);
    char *slash = strchr(path, '/');
    *slash = '\0';
    return store->functions->set_aside(store, arena, path, slash + 1, where_out);
}

struct error *blob_set_stray_aside(struct blob_store *store, struct arena *arena, const char *folder, const char *name,
                                   const char **where_out)
{
    return store->functions->set_aside(store, arena, folder, name, where_out);
}
