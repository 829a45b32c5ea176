/* SPDX-License-Identifier: MIT */
/* Opens the blob store that the configuration names. */
#ifndef GATEHOUSE_BLOB_OPEN_H
#define GATEHOUSE_BLOB_OPEN_H

struct arena;
struct blob_store;
struct configuration;
struct error;

#define BLOB_OPEN_DIRECTORY "directory"
#define BLOB_OPEN_S3 "s3"

/*
 * Opens the store of [files] store. It lives in `arena` (the process's, not a request's). INTERNAL or
 * STORAGE_UNAVAILABLE, with a sentence for the operator.
 */
struct error *blob_open_configured(struct arena *arena, const struct configuration *configuration,
                                   struct blob_store **store_out);

/* The same for the store of that kind, whatever [files] store says: to move blobs from one to the other. */
struct error *blob_open_kind(struct arena *arena, const struct configuration *configuration, const char *kind,
                             struct blob_store **store_out);

#endif
