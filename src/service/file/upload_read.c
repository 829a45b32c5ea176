/* SPDX-License-Identifier: MIT */
/* Receives the parts of an upload: files go into the blob store, text fields into memory. */
#include <string.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/limits.h"
#include "blob/blob.h"
#include "http/multipart.h"
#include "http/request.h"
#include "http/schema.h"
#include "service/file/upload_int.h"
#include "service/runtime/service.h"

static struct error *begin_file(struct upload *upload, const struct part_header *header)
{
    size_t index = upload->file_parts++;
    if (index >= LIMIT_FILES) {
        validation_add(&upload->validation, "count", "is one file too many", "file[%zu]", index);
        return NULL;
    }
    struct upload_file *file = &upload->files[upload->file_count++];
    file->raw_name = header->file_name;
    file->declared = header->content_type;
    file->head = arena_alloc(upload->arena, LIMIT_SNIFF_BYTES);
    upload->open_file = file;
    return blob_begin(upload->service->blobs, upload->arena, &file->writer);
}

static struct error *on_begin(void *context, const struct part_header *header)
{
    struct upload *upload = context;
    bool is_file = strcmp(header->name, upload_form_files()->name) == 0;
    upload->open_file = NULL;
    upload->open_field = NULL;
    if (header->transfer_encoding != NULL)
        validation_add(&upload->validation, "transferEncoding", "must not have a Content-Transfer-Encoding", "%s",
                       is_file ? arena_format(upload->arena, "file[%zu]", upload->file_parts) : header->name);
    if (is_file)
        return begin_file(upload, header);
    const struct schema_field *field = upload_form_text(header->name);
    if (field == NULL) {
        validation_add(&upload->validation, "unknown", "is not a part of this form", "%s", header->name);
        return NULL;
    }
    if (header->file_name != NULL)
        validation_add(&upload->validation, "type", "must be a text field, not a file", "%s", header->name);
    upload->open_field = field;
    upload->field_too_long = false;
    buffer_init(&upload->field, upload->arena);
    return NULL;
}

static struct error *add_to_file(struct upload *upload, const void *bytes, size_t length)
{
    struct upload_file *file = upload->open_file;
    uint64_t most = (uint64_t)upload->service->configuration->service.max_file_bytes;
    if (blob_writer_size(file->writer) + length > most) {
        struct error *error = error_message(error_plain(upload->arena, ERROR_TOO_LARGE),
                                            "A file may have %llu bytes at most.", (unsigned long long)most);
        return error_entry(error, arena_format(upload->arena, "file[%td]", file - upload->files), "tooLarge",
                           "is larger than allowed");
    }
    size_t free_bytes = LIMIT_SNIFF_BYTES - file->head_length;
    size_t copied = length < free_bytes ? length : free_bytes;
    memcpy(file->head + file->head_length, bytes, copied);
    file->head_length += copied;
    return blob_write(file->writer, bytes, length);
}

static struct error *on_data(void *context, const void *bytes, size_t length)
{
    struct upload *upload = context;
    if (upload->open_file != NULL)
        return add_to_file(upload, bytes, length);
    if (upload->open_field == NULL)
        return NULL;
    if (upload->field.length + length > LIMIT_FIELD_BYTES)
        upload->field_too_long = true;
    else
        buffer_add(&upload->field, bytes, length);
    return NULL;
}

static struct error *on_end(void *context)
{
    struct upload *upload = context;
    const struct schema_field *field = upload->open_field;
    /* Taking the digest ends the writing, and frees the block for the next file. */
    if (upload->open_file != NULL)
        blob_writer_digest(upload->open_file->writer, upload->open_file->record.hash);
    if (field == NULL)
        return NULL;
    bool is_text =
        strlen(upload->field.bytes) == upload->field.length && utf8_valid(upload->field.bytes, upload->field.length);
    if (!upload->field_too_long && is_text)
        upload->pairs[upload->pair_count++] = (struct schema_pair){field->name, upload->field.bytes};
    else if ((field->flags & SCHEMA_UNCHECKED) != 0)
        validation_add(&upload->validation, is_text ? "length" : "encoding",
                       "must be UTF-8 text of at most " LIMIT_TEXT(LIMIT_FIELD_BYTES) " bytes", "%s", field->name);
    else /* The form refuses an empty value, with the right path. */
        upload->pairs[upload->pair_count++] = (struct schema_pair){field->name, ""};
    return NULL;
}

/* How much to read next: within a file, what fills its block. */
static size_t appetite(const struct upload *upload)
{
    return upload->open_file == NULL ? LIMIT_BLOB_BLOCK_BYTES : blob_writer_room(upload->open_file->writer);
}

struct error *upload_read(struct upload *upload, struct request *request)
{
    static const struct multipart_handler handler = {on_begin, on_data, on_end};
    const char *boundary;
    size_t got;
    TRY(multipart_boundary(upload->arena, request_content_type(request), &boundary));
    struct multipart *multipart = multipart_new(upload->arena, boundary, &handler, upload);
    unsigned char *block = upload->service->block;
    do {
        TRY(request_read(request, block, appetite(upload), &got));
        if (got > 0)
            TRY(multipart_feed(multipart, block, got));
    } while (got > 0);
    return multipart_finish(multipart);
}
