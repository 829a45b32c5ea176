/* SPDX-License-Identifier: MIT */
/* The rows of the route table for resumable uploads. */
#include "api/handlers_int.h"
#include "api/routes_int.h"

#define HOLDERS "Only the person who began an upload sees it."

#define UPLOAD_ERRORS                                                                                                  \
    ERROR_UPLOAD_VERSION, ERROR_UPLOAD_UNKNOWN, ERROR_UPLOAD_EXPIRED, ERROR_STORAGE_FULL, ERROR_STORAGE_UNAVAILABLE

static const struct route rows[] = {
    {
        .method = METHOD_OPTIONS,
        .path = "/system/uploads",
        .operation = "describeUploads",
        .tag = "Files",
        .summary = "Ask which resumable uploads are taken",
        .description = "The headers name the version of tus, its extensions and the largest file.",
        .access = ACCESS_PUBLIC,
        .offline = OFFLINE_ONLY,
        .reply_kind = REPLY_UPLOAD,
        .reply_headers = &uploads_options_answer_schema,
        .success = 204,
        .handler = uploads_options,
    },
    {
        .method = METHOD_POST,
        .path = "/system/uploads",
        .operation = "createUpload",
        .tag = "Files",
        .summary = "Begin a resumable upload",
        .description = "The protocol is tus 1.0.0. The answer's Location is the upload. Its bytes are reserved of the "
                       "organisation's quotas until it ends, after 24 hours at the latest. The first bytes, or all, "
                       "may come along.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:file:w",
        .body_kind = BODY_BYTES,
        .headers = &uploads_create_schema,
        .check = uploads_check_version,
        .admit = uploads_admit,
        .reply_kind = REPLY_UPLOAD,
        .reply_headers = &uploads_create_answer_schema,
        .success = 201,
        .reply = &files_record_schema,
        .errors = ERRORS(UPLOAD_ERRORS, ERROR_UPLOAD_LOCKED, ERROR_UPLOAD_CHECKSUM, ERROR_UPLOAD_OFFSET,
                         ERROR_FILE_DUPLICATE, ERROR_QUOTA_EXCEEDED, ERROR_RATE_LIMITED),
        .handler = uploads_create,
    },
    {
        .method = METHOD_HEAD,
        .path = "/system/uploads/{id}",
        .operation = "getUploadOffset",
        .tag = "Files",
        .summary = "Ask how far an upload has come",
        .description = "Upload-Offset is how many bytes are safe; the next piece begins there. Upload-File-Id is the "
                       "file, once it is whole. " HOLDERS,
        .access = ACCESS_PERMISSION,
        .permission = "cus:file:w",
        .headers = &uploads_head_schema,
        .check = uploads_check_version,
        .admit = uploads_admit,
        .reply_kind = REPLY_UPLOAD,
        .reply_headers = &uploads_head_answer_schema,
        .success = 200,
        .errors = ERRORS(UPLOAD_ERRORS),
        .handler = uploads_head,
    },
    {
        .method = METHOD_PATCH,
        .path = "/system/uploads/{id}",
        .operation = "continueUpload",
        .tag = "Files",
        .summary = "Send the next piece of an upload",
        .description = "With the last byte the file goes through every rule of an upload, and Upload-File-Id names it. "
                       "A file that "
                       "the rules refuse ends the upload. What has come before a connection breaks is kept. " HOLDERS,
        .access = ACCESS_PERMISSION,
        .permission = "cus:file:w",
        .body_kind = BODY_BYTES,
        .headers = &uploads_patch_schema,
        .check = uploads_check_version,
        .admit = uploads_admit,
        .reply_kind = REPLY_UPLOAD,
        .reply_headers = &uploads_patch_answer_schema,
        .success = 204,
        .reply = &files_record_schema,
        .errors = ERRORS(UPLOAD_ERRORS, ERROR_UPLOAD_LOCKED, ERROR_UPLOAD_CHECKSUM, ERROR_UPLOAD_OFFSET,
                         ERROR_FILE_DUPLICATE, ERROR_QUOTA_EXCEEDED, ERROR_RATE_LIMITED),
        .handler = uploads_patch,
    },
    {
        .method = METHOD_DELETE,
        .path = "/system/uploads/{id}",
        .operation = "terminateUpload",
        .tag = "Files",
        .summary = "End an upload",
        .description = "Its bytes go, and its reservation. " HOLDERS,
        .access = ACCESS_PERMISSION,
        .permission = "cus:file:w",
        .headers = &uploads_head_schema,
        .check = uploads_check_version,
        .admit = uploads_admit,
        .reply_kind = REPLY_UPLOAD,
        .reply_headers = &uploads_delete_answer_schema,
        .success = 204,
        .errors = ERRORS(UPLOAD_ERRORS, ERROR_UPLOAD_LOCKED),
        .handler = uploads_delete,
    },
};

const struct routes_group routes_uploads = {rows, sizeof rows / sizeof *rows};
