/* SPDX-License-Identifier: MIT */
/*
 * Stores the same bytes once: bytes that an organisation has already get a second name instead. Bytes of other
 * organisations never do, so that neither time nor answer tells what others have. Two uploads at the same moment may
 * both store their bytes; the next one takes the newest.
 *
 * The stored bytes are compared with the received ones, byte for byte, before the received ones are released: a disk
 * that has flipped a bit of the old ones must not spoil an upload that was to replace them.
 *
 * A store without second names keeps the bytes of each file by themselves.
 */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "blob/blob.h"
#include "service/file/upload_int.h"
#include "service/runtime/service.h"

/* Finds a file with the same hash, in this request or in the organisation. */
static struct error *find_bytes(const struct upload *upload, size_t index, struct id *id_out, bool *found_out)
{
    const struct file_record *record = &upload->files[index].record;
    for (size_t i = 0; i < index; i++)
        if (memcmp(upload->files[i].record.hash, record->hash, FILE_HASH_BYTES) == 0) {
            *id_out = upload->files[i].record.id;
            *found_out = true;
            return NULL;
        }
    return file_find_bytes(upload->service->database, upload->arena, record->organisation_id, record->hash, id_out,
                           found_out);
}

/* Whether the stored blob has exactly the bytes that the writer has taken. Bytes that cannot be read are others. */
static struct error *compare(struct blob_writer *writer, struct arena *arena, struct blob_reader *reader,
                             bool *same_out)
{
    unsigned char *received = arena_alloc(arena, LIMIT_BLOCK_BYTES);
    unsigned char *there = arena_alloc(arena, LIMIT_BLOCK_BYTES);
    uint64_t offset = 0;
    size_t length = 0;
    *same_out = false;
    do {
        size_t got = 0;
        TRY(blob_writer_read(writer, offset, received, LIMIT_BLOCK_BYTES, &length));
        if (blob_read(reader, offset, there, length, &got) != NULL || got < length)
            return NULL;
        if (memcmp(received, there, length) != 0)
            return NULL;
        offset += length;
    } while (length > 0);
    *same_out = true;
    return NULL;
}

/* Whether the stored bytes of the file `there` are those of `file`. Bytes that cannot be read are not. */
static struct error *compare_bytes(struct upload *upload, const struct upload_file *file, struct id there,
                                   bool *same_out)
{
    struct blob_reader *reader;
    *same_out = false;
    /* A purge has removed them, or they cannot be read: then the received bytes are stored. */
    if (blob_open(upload->service->blobs, upload->arena, there, &reader) != NULL)
        return NULL;
    struct error *error = NULL;
    if (blob_reader_size(reader) == (uint64_t)file->record.size)
        error = compare(file->writer, upload->arena, reader, same_out);
    blob_close(reader);
    if (error == NULL && !*same_out)
        LOG(ERROR, FILES, "the bytes of a file are not what its row says: see gatehousectl fsck",
            LOG_TEXT("file", id_text(upload->arena, there)));
    return error;
}

struct error *upload_deduplicate(struct upload *upload, size_t index)
{
    struct upload_file *file = &upload->files[index];
    struct id there;
    bool same = false;
    if (blob_has_links(upload->service->blobs))
        TRY(find_bytes(upload, index, &there, &same));
    if (same)
        TRY(compare_bytes(upload, file, there, &same));
    if (same)
        TRY(blob_link(upload->service->blobs, upload->arena, there, file->record.id, (uint64_t)file->record.size,
                      &file->stored));
    if (file->stored) {
        blob_abort(file->writer);
        return NULL;
    }
    TRY(blob_commit(file->writer, file->record.id));
    file->stored = true;
    return NULL;
}
