/* SPDX-License-Identifier: MIT */
/*
 * Looks at objects, reads and removes them, and signs what the web server fetches by itself. A reader fetches a window
 * of the object at a time. The window grows as long as the reading goes on from where it was, so that a look at the
 * first bytes is cheap and a whole file takes few calls.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "blob/blob.h"
#include "blob/reader_int.h"
#include "blob/s3/s3.h"
#include "blob/s3/s3_int.h"
#include "codec/encoding.h"

#define WINDOW_BYTES_MIN (64 * 1024)
#define WINDOW_BYTES_MAX (4 * 1024 * 1024)

/* ---- looking -------------------------------------------------------------------------------------- */

/* Reads what the headers say of an object. */
static bool read_headers(struct arena *arena, const struct http_client_answer *answer, struct blob_found *found)
{
    unsigned char *digest;
    size_t length;
    int64_t size = 0;
    struct tm time = {0};
    const char *size_text = http_client_answer_header(answer, "Content-Length");
    const char *digest_text = http_client_answer_header(answer, S3_DIGEST_HEADER);
    const char *modified = http_client_answer_header(answer, "Last-Modified");
    if (size_text == NULL || !text_to_integer(size_text, 0, INT64_MAX, &size))
        return false;
    found->size = (uint64_t)size;
    if (modified != NULL && strptime(modified, "%a, %d %b %Y %H:%M:%S GMT", &time) != NULL)
        found->modified = (int64_t)timegm(&time) * 1000;
    if (digest_text != NULL && hex_decode(arena, digest_text, strlen(digest_text), &digest, &length) &&
        length == DIGEST_BYTES) {
        memcpy(found->digest, digest, DIGEST_BYTES);
        found->has_digest = true;
    }
    return true;
}

struct error *s3_look_at(struct s3 *s3, struct arena *arena, const char *key, bool is_last,
                         struct blob_found *found_out, bool *there_out)
{
    struct s3_reply reply;
    struct s3_call call = {.method = "HEAD", .key = key, .is_last = is_last};
    *there_out = false;
    *found_out = (struct blob_found){.size = 0};
    TRY(s3_send(s3, arena, &call, &reply));
    if (reply.answer.status == 404)
        return NULL;
    if (reply.answer.status != 200 || !read_headers(arena, &reply.answer, found_out))
        return s3_refusal(s3, arena, &reply, "to look at an object");
    *there_out = true;
    return NULL;
}

struct error *s3_look(struct blob_store *store, struct arena *arena, struct id id, struct blob_found *found_out,
                      bool *there_out)
{
    struct s3 *s3 = s3_of(store);
    TRY(s3_look_at(s3, arena, s3_key(s3, arena, id), false, found_out, there_out));
    found_out->id = id;
    return NULL;
}

/* ---- reading -------------------------------------------------------------------------------------- */

struct window {
    struct arena *arena;
    unsigned char *bytes;
    size_t capacity;
    uint64_t first;
    size_t length;
};

struct error *s3_open(struct blob_store *store, struct arena *arena, struct id id, struct blob_reader *reader_out)
{
    struct blob_found found;
    bool there = false;
    TRY(s3_look(store, arena, id, &found, &there));
    if (!there)
        return error_new(arena, ERROR_STORAGE_UNAVAILABLE, "The store has no object for the blob %s.",
                         id_text(arena, id));
    struct arena *own = arena_new();
    struct window *window = arena_alloc(own, sizeof *window);
    window->arena = own;
    reader_out->size = found.size;
    reader_out->state = window;
    return NULL;
}

void s3_close(struct blob_reader *reader)
{
    struct window *window = reader->state;
    struct arena *own = window->arena;
    reader->state = NULL;
    arena_free(&own);
}

static size_t window_size(const struct window *window, uint64_t offset, size_t length)
{
    size_t size = WINDOW_BYTES_MIN;
    if (window->length > 0 && offset == window->first + window->length)
        size = 2 * window->length;
    while (size < length && size < WINDOW_BYTES_MAX)
        size *= 2;
    return size > WINDOW_BYTES_MAX ? WINDOW_BYTES_MAX : size;
}

/* Makes the window large enough. The former one is released with the arena, of which each size is used once. */
static void prepare(struct window *window, size_t size)
{
    if (size <= window->capacity)
        return;
    window->bytes = arena_alloc(window->arena, size);
    window->capacity = size;
}

struct error *s3_get(struct s3 *s3, struct arena *arena, const char *key, uint64_t offset, void *bytes, size_t length)
{
    struct s3_reply reply;
    struct s3_call call = {.method = "GET", .key = key, .into = bytes, .bytes = length};
    s3_add_header(
        &call, "Range",
        arena_format(arena, "bytes=%llu-%llu", (unsigned long long)offset, (unsigned long long)(offset + length - 1)));
    TRY(s3_send(s3, arena, &call, &reply));
    /* Who asks for the whole may be given it without a range. */
    if (reply.answer.status != 206 && !(offset == 0 && reply.answer.status == 200))
        return s3_refusal(s3, arena, &reply, "to read an object");
    if (reply.answer.length != length)
        return error_new(arena, ERROR_STORAGE_UNAVAILABLE,
                         "The store at %s has given %zu bytes of an object, and not %zu.", reply.endpoint,
                         reply.answer.length, length);
    return NULL;
}

static struct error *fill(struct blob_reader *reader, struct window *window, uint64_t offset, size_t length)
{
    struct s3 *s3 = s3_of(reader->store);
    struct arena *scratch = arena_new();
    size_t size = window_size(window, offset, length);
    if (reader->size - offset < size)
        size = (size_t)(reader->size - offset);
    prepare(window, size);
    window->length = 0;
    struct error *error = s3_get(s3, scratch, s3_key(s3, scratch, reader->id), offset, window->bytes, size);
    window->first = offset;
    window->length = error == NULL ? size : 0;
    error = s3_keep_error(reader->arena, error);
    arena_free(&scratch);
    return error;
}

struct error *s3_fetch(struct blob_reader *reader, uint64_t offset, void *bytes, size_t length, size_t *got_out)
{
    struct window *window = reader->state;
    if (offset >= reader->size || length == 0)
        return NULL;
    if (window->length == 0 || offset < window->first || offset >= window->first + window->length)
        TRY(fill(reader, window, offset, length));
    uint64_t left = window->first + window->length - offset;
    *got_out = left < length ? (size_t)left : length;
    memcpy(bytes, window->bytes + (offset - window->first), *got_out);
    return NULL;
}

/* ---- removing ------------------------------------------------------------------------------------- */

struct error *s3_remove_key(struct s3 *s3, struct arena *arena, const char *key)
{
    struct s3_reply reply;
    struct s3_call call = {.method = "DELETE", .key = key};
    TRY(s3_send(s3, arena, &call, &reply));
    if (reply.answer.status / 100 == 2 || (reply.answer.status == 404 && strcmp(reply.code, "NoSuchBucket") != 0))
        return NULL;
    return s3_refusal(s3, arena, &reply, "to remove an object");
}

struct error *s3_remove(struct blob_store *store, struct arena *arena, struct id id)
{
    struct s3 *s3 = s3_of(store);
    return s3_remove_key(s3, arena, s3_key(s3, arena, id));
}

/* ---- for the web server ---------------------------------------------------------------------------- */

static void add(struct blob_handover *handover, const char *name, const char *value)
{
    handover->headers[handover->header_count].name = name;
    handover->headers[handover->header_count++].value = value;
}

/* The range is not a part of what is signed: the web server sends it as it is given. */
struct error *s3_hand_over(struct blob_store *store, struct arena *arena, struct id id, const char *method,
                           const struct blob_part *part, struct blob_handover *handover_out)
{
    struct s3 *s3 = s3_of(store);
    char *now = arena_alloc(arena, SIGV4_TIME_BYTES);
    char payload[SIGV4_PAYLOAD_BYTES];
    const char *path = s3_path(s3, arena, s3_key(s3, arena, id));
    const char *host = s3_host(arena, s3->endpoints.items[s3->current]);
    sigv4_time(clock_now(), now);
    sigv4_payload(NULL, 0, payload);
    const struct sigv4_pair headers[] = {{"Host", host}, {"X-Amz-Content-Sha256", payload}, {"X-Amz-Date", now}};
    const struct sigv4_scope scope = {s3->region, "s3", s3->access_key, s3->key};
    const struct sigv4_request request = {.method = method,
                                          .path = path,
                                          .query = "",
                                          .headers = headers,
                                          .header_count = sizeof headers / sizeof *headers,
                                          .time = now,
                                          .payload = payload};
    handover_out->path = arena_format(arena, BLOB_S3_FOLDER "%s", path);
    add(handover_out, "X-Store-Host", host);
    add(handover_out, "X-Store-Date", now);
    add(handover_out, "X-Store-Authorization", sigv4_authorization(arena, &scope, &request));
    if (part != NULL)
        add(handover_out, "X-Store-Range",
            arena_format(arena, "bytes=%llu-%llu", (unsigned long long)part->first, (unsigned long long)part->last));
    return NULL;
}
