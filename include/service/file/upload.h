/* SPDX-License-Identifier: MIT */
/*
 * Receives files. The body is parsed as it comes: file bytes go through SHA-256 straight into the blob store, text
 * fields are validated after the last part. So the memory is the same for every size. Bytes are stored first and rows
 * second: a crash leaves at most bytes without a row, which nobody can see and fsck removes.
 */
#ifndef GATEHOUSE_SERVICE_FILE_UPLOAD_H
#define GATEHOUSE_SERVICE_FILE_UPLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "domain/file/file_kind.h"

struct arena;
struct caller;
struct error;
struct file_record;
struct request;
struct schema;
struct service;
struct validation;

/* The choices of bucket and type, for schemas. */
#define UPLOAD_BUCKET_CHOICES FILE_BUCKET_CHOICES
#define UPLOAD_TYPE_CHOICES FILE_TYPE_CHOICES

/* The form, for its reader and the OpenAPI document. */
extern const struct schema upload_form_schema;

/*
 * Makes a file's name from what a client sent: without paths and control characters, in the arena of `validation`.
 * NULL, with an entry at `path` (`format`, `length`), when it is not usable.
 */
const char *upload_validate_name(struct validation *validation, const char *path, const char *raw);

/*
 * Checks whether the body of an upload may come. `announced` is its length, -1 when the client did not say it.
 * TOO_LARGE when it is longer than the largest file and LIMIT_UPLOAD_FORM_BYTES for the rest. QUOTA_EXCEEDED when the
 * organisation certainly has no room for the files. DATABASE_UNAVAILABLE. upload_receive() knows the files and checks
 * again.
 */
struct error *upload_admit(struct service *service, struct arena *arena, const struct caller *caller,
                           int64_t announced);

/*
 * Receives, checks and stores all files of the request, or none. *records_out points to *count_out records, in the
 * order in which they were sent. REQUEST_MALFORMED, REQUEST_INVALID with every failing path, TOO_LARGE (path file[n]),
 * FILE_DUPLICATE (member id), QUOTA_EXCEEDED, STORAGE_FULL, STORAGE_UNAVAILABLE, DATABASE_UNAVAILABLE; TOKEN_REVOKED or
 * PERMISSION when the body took more than a second and the caller does not have `permission` any more. The bytes of a
 * refused upload are released before it returns.
 */
struct error *upload_receive(struct service *service, struct arena *arena, const struct caller *caller,
                             const char *permission, struct request *request, struct file_record **records_out,
                             size_t *count_out);

#endif
