/* SPDX-License-Identifier: MIT */
/*
 * Sends a large blob in parts: begins an upload, sends its parts one after the other, each with its own SHA-256, and
 * completes it. Only then there is an object. Not every store knows a condition at the end, so the object is looked for
 * before. An upload that fails is given up at the store; one that nobody could give up is swept a day later.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "blob/blob.h"
#include "blob/s3/s3_int.h"
#include "codec/encoding.h"
#include "codec/xml.h"

#define S3_TAG_BYTES 256
#define MEBIBYTE (UINT64_C(1024) * 1024)

/* An upload in parts. */
struct upload {
    struct s3 *s3;
    struct arena *arena;
    const struct blob_final *final;
    const struct s3_pending *pending;
    const char *key;
    char id[S3_UPLOAD_ID_BYTES + 1];
    uint64_t part_bytes;
    struct buffer parts; /* the list that completes it */
    bool complete;       /* the answer to the last call says so */
};

/* ---- beginning and giving up ---------------------------------------------------------------------- */

static bool take_id(void *context, const struct xml_element *element)
{
    struct upload *upload = context;
    if (strcmp(element->path, "/InitiateMultipartUploadResult/UploadId") == 0 &&
        strlen(element->text) <= S3_UPLOAD_ID_BYTES)
        (void)snprintf(upload->id, sizeof upload->id, "%s", element->text);
    return true;
}

static struct error *begin(struct upload *upload)
{
    struct s3_reply reply;
    struct s3_call call = {.method = "POST", .key = upload->key, .body = ""};
    s3_add_query(&call, "uploads", "");
    s3_add_header(&call, "Content-Type", "application/octet-stream");
    s3_add_header(&call, S3_DIGEST_HEADER, hex_encode(upload->arena, upload->final->digest, DIGEST_BYTES));
    TRY(s3_send(upload->s3, upload->arena, &call, &reply));
    if (reply.answer.status == 200 && xml_read(reply.answer.body, reply.answer.length, take_id, upload) &&
        *upload->id != '\0')
        return NULL;
    return s3_refusal(upload->s3, upload->arena, &reply, "to begin an upload in parts");
}

static struct error *give_up(struct s3 *s3, struct arena *arena, const char *key, const char *id, bool is_last)
{
    struct s3_reply reply;
    struct s3_call call = {.method = "DELETE", .key = key, .is_last = is_last};
    s3_add_query(&call, "uploadId", id);
    TRY(s3_send(s3, arena, &call, &reply));
    if (reply.answer.status / 100 == 2 || reply.answer.status == 404)
        return NULL;
    return s3_refusal(s3, arena, &reply, "to give up an upload");
}

/* ---- parts ---------------------------------------------------------------------------------------- */

static struct error *take_part(struct upload *upload, struct arena *scratch, const struct s3_reply *reply,
                               unsigned number, const char *tag)
{
    if (reply->answer.status != 200 || tag == NULL || strpbrk(tag, "<>&") != NULL)
        return s3_refusal(upload->s3, scratch, reply, "to store a part of an object");
    buffer_add_format(&upload->parts, "<Part><PartNumber>%u</PartNumber><ETag>%s</ETag></Part>", number, tag);
    return NULL;
}

static void name_part(const struct upload *upload, struct arena *scratch, struct s3_call *call, unsigned number)
{
    s3_add_query(call, "partNumber", arena_format(scratch, "%u", number));
    s3_add_query(call, "uploadId", upload->id);
}

static struct error *send_part(struct upload *upload, struct arena *scratch, unsigned number, uint64_t first,
                               uint64_t length)
{
    struct s3_reply reply;
    const struct s3_pending *pending = upload->pending;
    struct s3_source source = {
        .s3 = upload->s3, .arena = scratch, .state = pending->spool, .first = first - pending->first};
    struct s3_call call = {.method = "PUT", .key = upload->key, .source = &source, .bytes = length};
    TRY(s3_digest_spool(upload->s3, scratch, pending->spool, source.first, length, &call.payload));
    name_part(upload, scratch, &call, number);
    TRY(s3_send(upload->s3, scratch, &call, &reply));
    return take_part(upload, scratch, &reply, number, http_client_answer_header(&reply.answer, "ETag"));
}

/* The tag of a copied part stands in the answer's body. */
static bool take_copied(void *context, const struct xml_element *element)
{
    char *tag = context;
    if (strcmp(element->path, "/CopyPartResult/ETag") == 0 && strlen(element->text) < S3_TAG_BYTES)
        (void)snprintf(tag, S3_TAG_BYTES, "%s", element->text);
    return true;
}

/* A part that the store has already, as an object of its own (partial.c). */
static struct error *copy_part(struct upload *upload, struct arena *scratch, unsigned number, uint64_t first,
                               uint64_t length)
{
    struct s3 *s3 = upload->s3;
    struct s3_reply reply;
    char tag[S3_TAG_BYTES] = "";
    struct s3_call call = {.method = "PUT", .key = upload->key, .body = "", .bytes = length};
    const char *from = s3_piece_key(s3, scratch, upload->pending->folder, first, first + length);
    name_part(upload, scratch, &call, number);
    s3_add_header(&call, "x-amz-copy-source", s3_path(s3, scratch, from));
    TRY(s3_send(s3, scratch, &call, &reply));
    if (reply.answer.status == 200)
        (void)xml_read(reply.answer.body, reply.answer.length, take_copied, tag);
    if (*tag == '\0')
        s3_read_refusal(&reply);
    return take_part(upload, scratch, &reply, number, *tag == '\0' ? NULL : tag);
}

static struct error *send_parts(struct upload *upload)
{
    unsigned number = 1;
    uint64_t size = upload->final->size;
    buffer_add_text(&upload->parts, "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
    for (uint64_t first = 0; first < size; first += upload->part_bytes) {
        uint64_t left = size - first;
        struct arena *scratch = arena_new();
        uint64_t length = left < upload->part_bytes ? left : upload->part_bytes;
        struct error *error = first < upload->pending->first ? copy_part(upload, scratch, number, first, length)
                                                             : send_part(upload, scratch, number, first, length);
        error = s3_keep_error(upload->arena, error);
        number++;
        arena_free(&scratch);
        TRY(error);
    }
    buffer_add_text(&upload->parts, "</CompleteMultipartUpload>");
    return NULL;
}

/* ---- completing ----------------------------------------------------------------------------------- */

static bool take_completion(void *context, const struct xml_element *element)
{
    struct upload *upload = context;
    upload->complete = upload->complete || strcmp(element->path, "/CompleteMultipartUploadResult") == 0;
    return true;
}

/* A store may begin its answer with 200 and then say in the body that it failed. */
static struct error *complete(struct upload *upload)
{
    struct s3 *s3 = upload->s3;
    struct s3_reply reply;
    enum s3_state state = S3_ABSENT;
    /* Some stores copy all parts now. */
    struct s3_call call = {
        .method = "POST", .key = upload->key, .body = upload->parts.bytes, .bytes = upload->final->size};
    s3_add_query(&call, "uploadId", upload->id);
    s3_add_header(&call, "Content-Type", "application/xml");
    if (!s3->unconditional)
        s3_add_header(&call, "If-None-Match", "*");
    struct error *error = s3_send(s3, upload->arena, &call, &reply);
    if (error == NULL && reply.answer.status == 200)
        (void)xml_read(reply.answer.body, reply.answer.length, take_completion, upload);
    if (error == NULL && !upload->complete) {
        s3_read_refusal(&reply);
        error = s3_refusal(s3, upload->arena, &reply, "to complete an upload");
    }
    /* Whatever it has answered, the object tells. */
    struct error *unknown = s3_compare(s3, upload->arena, upload->final, error != NULL, &state);
    if (unknown == NULL && state == S3_SAME)
        return NULL;
    if (error == NULL)
        error = unknown;
    return error != NULL ? error
                         : error_new(upload->arena, ERROR_STORAGE_UNAVAILABLE,
                                     "The store at %s has completed an upload, and the object is not what was sent.",
                                     reply.endpoint);
}

static struct error *send(struct upload *upload)
{
    TRY(begin(upload));
    TRY(send_parts(upload));
    return complete(upload);
}

static uint64_t part_size(const struct s3 *s3, uint64_t size)
{
    uint64_t least = (size + S3_PARTS_MAX - 1) / S3_PARTS_MAX;
    return least <= s3->part_bytes ? s3->part_bytes : (least + MEBIBYTE - 1) / MEBIBYTE * MEBIBYTE;
}

struct error *s3_commit_parts(struct s3 *s3, struct arena *arena, const struct s3_pending *pending,
                              const struct blob_final *final)
{
    struct arena *scratch = arena_new();
    enum s3_state before = S3_ABSENT;
    struct upload *upload = arena_alloc(scratch, sizeof *upload);
    *upload = (struct upload){.s3 = s3,
                              .arena = arena,
                              .final = final,
                              .pending = pending,
                              .key = s3_key(s3, arena, final->id),
                              .part_bytes = pending->first > 0 ? s3->part_bytes : part_size(s3, final->size)};
    buffer_init(&upload->parts, scratch);
    struct error *error = s3_compare(s3, arena, final, false, &before);
    if (error == NULL && before == S3_OTHER)
        error = error_new(arena, ERROR_INTERNAL, "blob store: there is a blob %s already", id_text(arena, final->id));
    if (error == NULL && before == S3_ABSENT)
        error = send(upload);
    if (error != NULL && *upload->id != '\0' && give_up(s3, arena, upload->key, upload->id, true) != NULL)
        LOG(WARN, BLOB, "an upload in parts could not be given up; it is swept in a day", LOG_TEXT("key", upload->key));
    arena_free(&scratch);
    return error;
}

/* ---- sweeping ------------------------------------------------------------------------------------- */

#define UPLOADS "/ListMultipartUploadsResult/"

/* A page of uploads under way. */
struct page {
    struct s3 *s3;
    struct arena *arena;
    int64_t before;
    char key[LIMIT_S3_KEY_BYTES + 1];
    char id[S3_UPLOAD_ID_BYTES + 1];
    int64_t begun;
    bool is_list;
    bool more;
    size_t count;
    size_t rows;
    struct error *error;
};

/* Whether s3_commit_parts() may have begun the upload. Other programs may use the same bucket and prefix. */
static bool is_ours(const struct page *page)
{
    struct id id;
    size_t prefix = strlen(page->s3->prefix);
    return strncmp(page->key, page->s3->prefix, prefix) == 0 && s3_is_blob(page->key + prefix, &id);
}

static void sweep_upload(struct page *page)
{
    int64_t begun = page->begun;
    page->begun = 0; /* an upload whose time is not told is young */
    page->rows++;
    if (begun == 0 || begun >= page->before || *page->id == '\0' || !is_ours(page))
        return;
    page->error = give_up(page->s3, page->arena, page->key, page->id, false);
    page->count += page->error == NULL;
}

/* The next page begins behind the last key and id, so none may be cut. */
static bool take_text(char *text_out, size_t size, const char *text)
{
    return (size_t)snprintf(text_out, size, "%s", text) < size;
}

static bool take_upload(void *context, const struct xml_element *element)
{
    struct page *page = context;
    const char *text = element->text;
    if (strcmp(element->path, UPLOADS "Upload/Key") == 0)
        return take_text(page->key, sizeof page->key, text);
    if (strcmp(element->path, UPLOADS "Upload/UploadId") == 0)
        return take_text(page->id, sizeof page->id, text);
    if (strcmp(element->path, UPLOADS "Upload/Initiated") == 0)
        (void)clock_parse(text, &page->begun);
    else if (strcmp(element->path, UPLOADS "IsTruncated") == 0)
        page->more = strcmp(text, "true") == 0;
    else if (strcmp(element->path, UPLOADS "Upload") == 0)
        sweep_upload(page);
    else if (strcmp(element->path, "/ListMultipartUploadsResult") == 0)
        page->is_list = true;
    return page->error == NULL;
}

static struct error *sweep_page(struct page *page)
{
    struct s3_reply reply;
    char key[LIMIT_S3_KEY_BYTES + 1], id[S3_UPLOAD_ID_BYTES + 1];
    struct s3_call call = {.method = "GET"};
    memcpy(key, page->key, sizeof key);
    memcpy(id, page->id, sizeof id);
    s3_add_query(&call, "uploads", "");
    s3_add_query(&call, "max-uploads", LIMIT_TEXT(LIMIT_S3_PAGE));
    s3_add_query(&call, "prefix", page->s3->prefix);
    if (*key != '\0') {
        s3_add_query(&call, "key-marker", key);
        s3_add_query(&call, "upload-id-marker", id);
    }
    page->is_list = false;
    page->more = false;
    page->rows = 0;
    TRY(s3_send(page->s3, page->arena, &call, &reply));
    bool read = reply.answer.status == 200 && xml_read(reply.answer.body, reply.answer.length, take_upload, page);
    TRY(page->error);
    page->more = page->more && page->rows > 0;
    return read && page->is_list ? NULL : s3_refusal(page->s3, page->arena, &reply, "to list uploads");
}

struct error *s3_sweep_uploads(struct s3 *s3, struct arena *arena, int64_t before, size_t *count_out)
{
    struct arena *scratch = arena_new();
    struct page *page = arena_alloc(scratch, sizeof *page);
    struct error *error;
    *page = (struct page){.s3 = s3, .arena = arena, .before = before};
    do
        error = sweep_page(page);
    while (error == NULL && page->more);
    *count_out += page->count;
    arena_free(&scratch);
    return error;
}
