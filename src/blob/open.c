/* SPDX-License-Identifier: MIT */
/* Chooses the kind of the blob store by the configuration, and opens it. */
#include "blob/open.h"

#include <string.h>

#include "base/configuration.h"
#include "base/error.h"
#include "blob/directory.h"
#include "blob/s3/s3.h"

static struct error *open_directory(struct arena *arena, const struct configuration *configuration,
                                    struct blob_store **store_out)
{
    const char *root = configuration->files.directory;
    struct error *error = blob_directory_open(arena, root, NULL, store_out);
    return error == NULL ? NULL : error_message(error, "The files directory %s cannot be opened.", root);
}

static struct error *open_s3(struct arena *arena, const struct configuration *configuration,
                             struct blob_store **store_out)
{
    const struct blob_s3_options options = {
        .endpoints = configuration->files.s3_endpoint,
        .bucket = configuration->files.s3_bucket,
        .region = configuration->files.s3_region,
        .prefix = configuration->files.s3_prefix == NULL ? "" : configuration->files.s3_prefix,
        .access_key = configuration->files.s3_access_key,
        .secret_key_file = configuration->files.s3_secret_key_file,
        .ca_file = configuration->files.s3_ca_file,
        .spool = configuration->files.s3_spool,
        .timeout_seconds = configuration->files.s3_timeout_seconds,
    };
    return blob_s3_open(arena, &options, store_out);
}

struct error *blob_open_kind(struct arena *arena, const struct configuration *configuration, const char *kind,
                             struct blob_store **store_out)
{
    return strcmp(kind, BLOB_OPEN_S3) == 0 ? open_s3(arena, configuration, store_out)
                                           : open_directory(arena, configuration, store_out);
}

struct error *blob_open_configured(struct arena *arena, const struct configuration *configuration,
                                   struct blob_store **store_out)
{
    const char *kind = configuration->files.store;
    if (strcmp(kind, BLOB_OPEN_S3) == 0 && strcmp(configuration->files.delivery, "sendfile") == 0)
        return error_message(error_plain(arena, ERROR_INTERNAL),
                             "delivery in [files] must be accel or stream when store is s3.");
    return blob_open_kind(arena, configuration, kind, store_out);
}
