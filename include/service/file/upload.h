/* SPDX-License-Identifier: MIT */
/*
 * Receiving files: the body is parsed as it comes, file bytes go straight into the blob store through SHA-256, text
 * fields are judged after the last part. Memory is constant whatever the size. Bytes first, rows second: a crash leaves
 * at most bytes without a row, which nobody can see and fsck sweeps.
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

/* What bucket and type may be, as schema choices. */
#define UPLOAD_BUCKET_CHOICES FILE_BUCKET_CHOICES
#define UPLOAD_TYPE_CHOICES FILE_TYPE_CHOICES

/* The form's text fields, for the reader and the OpenAPI document. */
extern const struct schema upload_form_schema;

/*
 * The name that a file gets from what a client sent: cleaned of paths and control characters, in the arena of
 * `validation`. NULL and an entry at `path` (`format`, `length`) when it will not do.
 */
const char *upload_validate_name(struct validation *validation, const char *path, const char *raw);

/*
 * Judges an upload before its body is received. `announced` is the length of the body, -1 when the client has not said it.
 * TOO_LARGE when it is longer than the largest file and LIMIT_UPLOAD_FORM_BYTES for the rest, QUOTA_EXCEEDED when the
 * organisation certainly has no room for the files, DATABASE_UNAVAILABLE. What passes is judged again by
 * upload_receive(), which knows the files.
 */
struct error *upload_admit(struct service *service, struct arena *arena, const struct caller *caller, int64_t announced);

/*
 * Receives, checks and stores all files of the request, or none. *records_out points to *count_out records in the order
 * sent. REQUEST_MALFORMED, REQUEST_INVALID with every failing path, TOO_LARGE (path file[n]), FILE_DUPLICATE (member
 * id), STORAGE_FULL, STORAGE_UNAVAILABLE, DATABASE_UNAVAILABLE. The bytes of what is refused are released when it returns.
 */
struct error *upload_receive(struct service *service, struct arena *arena, const struct caller *caller,
                             struct request *request, struct file_record **records_out, size_t *count_out);

#endif
