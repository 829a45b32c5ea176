/* SPDX-License-Identifier: MIT */
/* Opens the S3 store, checks its options, and holds its table of functions. */
#include "blob/s3/s3.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "blob/blob.h"
#include "blob/directory.h"
#include "blob/s3/s3_int.h"

#define BUCKET_LENGTH_MAX 255
#define PREFIX_LENGTH_MAX 512
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

/* ---- checking ------------------------------------------------------------------------------------- */

/*
 * A copy of the store with connections of its own, which end with `arena`: a check may run in a child process, which
 * must not use those of its parent.
 */
static struct error *apart(const struct s3 *s3, struct arena *arena, struct s3 *copy_out)
{
    *copy_out = *s3;
    return http_client_new(arena, s3->ca_file, &copy_out->client);
}

static struct error *s3_check(struct blob_store *store, struct arena *arena)
{
    struct s3 own;
    struct s3 *s3 = s3_of(store);
    struct error *full = blob_check(s3->spool, arena);
    if (full != NULL && full->code != ERROR_STORAGE_FULL)
        return full;
    TRY(apart(s3, arena, &own));
    TRY(s3_try_list(&own, arena));
    return full;
}

static struct error *s3_each_endpoint(struct blob_store *store, struct arena *arena,
                                      void (*visit)(void *context, const char *endpoint, struct error *error),
                                      void *context)
{
    const struct s3 *s3 = s3_of(store);
    for (size_t i = 0; i < s3->endpoints.count; i++) {
        struct s3 own;
        TRY(apart(s3, arena, &own));
        own.endpoints.items += i;
        own.endpoints.count = 1;
        own.current = 0;
        visit(context, s3->endpoints.items[i], s3_try_list(&own, arena));
    }
    return NULL;
}

static struct error *s3_space(struct blob_store *store, struct arena *arena, struct blob_space *space_out)
{
    return blob_space(s3_of(store)->spool, arena, space_out);
}

static struct error *s3_sweep(struct blob_store *store, struct arena *arena, int64_t before, size_t *count_out)
{
    TRY(blob_sweep(s3_of(store)->spool, arena, before, count_out));
    return s3_sweep_uploads(s3_of(store), arena, before, count_out);
}

static struct error *s3_renew(struct blob_store *store, struct arena *arena)
{
    struct s3 *s3 = s3_of(store);
    struct arena *own = arena_new();
    struct secret key;
    struct error *error = secret_read(own, s3->secret_key_file, &key);
    if (error != NULL) {
        error = error_message(error_new(arena, ERROR_INTERNAL, "%s", error->detail),
                              "The secret file %s cannot be read.", s3->secret_key_file);
        arena_free(&own);
        return error;
    }
    arena_free(&s3->secrets);
    s3->secrets = own;
    s3->key = key;
    return NULL;
}

/* ---- opening -------------------------------------------------------------------------------------- */

static const struct blob_functions functions = {
    .begin = s3_begin,
    .write = s3_write,
    .read = s3_read,
    .commit = s3_commit,
    .abort = s3_abort,
    .remove = s3_remove,
    .open = s3_open,
    .fetch = s3_fetch,
    .close = s3_close,
    .hand_over = s3_hand_over,
    .renew = s3_renew,
    .each_endpoint = s3_each_endpoint,
    .check = s3_check,
    .space = s3_space,
    .sweep = s3_sweep,
    .each = s3_each,
    .look = s3_look,
    .each_stray = s3_each_stray,
    .set_aside = s3_set_aside,
    .partial = &s3_partials,
};

static struct error *unusable(struct arena *arena, const char *sentence)
{
    return error_message(error_plain(arena, ERROR_INTERNAL), "%s", sentence);
}

static bool is_endpoint(const char *url)
{
    const char *host = strstr(url, "://");
    return http_client_url_usable(url) && host != NULL && strchr(host + 3, '/') == NULL;
}

static struct error *check_endpoints(struct arena *arena, const struct text_list *endpoints)
{
    if (endpoints->count == 0)
        return unusable(arena, "s3_endpoint in [files] must be set when store is s3.");
    for (size_t i = 0; i < endpoints->count; i++)
        if (!is_endpoint(endpoints->items[i]))
            return unusable(arena, arena_format(arena,
                                                "s3_endpoint in [files] must be https://host or https://host:port"
                                                " without a path (http:// for this machine only): %s",
                                                endpoints->items[i]));
    return NULL;
}

static bool is_name(const char *text, size_t least, size_t most, const char *letters)
{
    size_t length = text == NULL ? 0 : strlen(text);
    return text != NULL && length >= least && length <= most && strspn(text, letters) == length;
}

static struct error *check_options(struct arena *arena, const struct blob_s3_options *options)
{
    const char *prefix = options->prefix;
    TRY(check_endpoints(arena, &options->endpoints));
    if (!is_name(options->bucket, 3, BUCKET_LENGTH_MAX, LETTERS))
        return unusable(arena, "s3_bucket in [files] must be the name of a bucket, of letters, digits, . _ and -.");
    if (!is_name(prefix, 0, PREFIX_LENGTH_MAX, LETTERS "/") || *prefix == '/' || strstr(prefix, "//") != NULL ||
        strstr(prefix, "./") != NULL || (*prefix != '\0' && prefix[strlen(prefix) - 1] != '/'))
        return unusable(arena, "s3_prefix in [files] must be empty, or letters, digits, . _ - and / with a / at the"
                               " end and none at the beginning.");
    if (!is_name(options->region, 1, 64, LETTERS))
        return unusable(arena, "s3_region in [files] must be the name of a region, such as eu-central-1.");
    if (options->access_key == NULL)
        return unusable(arena, "s3_access_key in [files] must be set when store is s3.");
    if (options->secret_key_file == NULL)
        return unusable(arena, "s3_secret_key_file in [files] must be set when store is s3.");
    if (options->spool == NULL)
        return unusable(arena, "s3_spool in [files] must be set when store is s3.");
    return NULL;
}

static void release(void *argument)
{
    struct s3 *s3 = argument;
    arena_free(&s3->secrets);
}

struct error *blob_s3_open(struct arena *arena, const struct blob_s3_options *options, struct blob_store **store_out)
{
    TRY(check_options(arena, options));
    struct s3 *s3 = arena_alloc(arena, sizeof *s3);
    *s3 = (struct s3){
        .arena = arena,
        .endpoints = options->endpoints,
        .bucket = options->bucket,
        .region = options->region,
        .prefix = options->prefix,
        .access_key = options->access_key,
        .secret_key_file = options->secret_key_file,
        .ca_file = options->ca_file,
        .milliseconds = options->timeout_seconds * 1000,
        .multipart_bytes = options->multipart_bytes != 0 ? options->multipart_bytes : BLOB_S3_MULTIPART_BYTES,
        .part_bytes = options->part_bytes != 0 ? options->part_bytes : BLOB_S3_PART_BYTES,
    };
    struct error *error = blob_directory_open(arena, options->spool, NULL, &s3->spool);
    if (error != NULL)
        return error_message(error, "The spool %s of s3_spool in [files] cannot be opened.", options->spool);
    s3->spool->reads_back = true;
    TRY(http_client_new(arena, options->ca_file, &s3->client));
    struct blob_store *store = arena_alloc(arena, sizeof *store);
    store->functions = &functions;
    store->root = arena_format(arena, "%s/%s/%s", options->endpoints.items[0], options->bucket, options->prefix);
    store->context = s3;
    s3->watch = &store->watch;
    store->block = arena_alloc(arena, LIMIT_BLOB_BLOCK_BYTES);
    TRY(s3_renew(store, arena));
    arena_defer(arena, release, s3);
    *store_out = store;
    return NULL;
}
