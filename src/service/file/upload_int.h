/* SPDX-License-Identifier: MIT */
/* An upload between its steps: receiving the parts, validating them, storing. */
#ifndef GATEHOUSE_SERVICE_FILE_UPLOAD_INT_H
#define GATEHOUSE_SERVICE_FILE_UPLOAD_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "blob/sniff.h"
#include "domain/file/file.h"
#include "http/schema.h"

struct blob_writer;
struct caller;
struct database;
struct request;
struct service;

/* One file part. */
struct upload_file {
    struct blob_writer *writer;
    const char *raw_name; /* the client's name for the file; NULL: none */
    const char *declared; /* the client's Content-Type; NULL: none */
    unsigned char *head;  /* the first bytes, for the sniffer */
    size_t head_length;
    struct sniffed sniffed;
    bool stored; /* the blob is committed under record.id */
    struct file_record record;
};

/* What upload_form_schema reads. */
struct upload_form {
    const char *bucket;
    const char *type;
    const char *name;
    struct text_list tags;
};

struct upload {
    struct service *service;
    struct arena *arena;
    const struct caller *caller;
    struct validation validation;
    struct upload_file files[LIMIT_FILES];
    size_t file_count;
    size_t file_parts;                         /* also those beyond LIMIT_FILES */
    struct schema_pair pairs[LIMIT_PARTS + 1]; /* one more, for all files */
    size_t pair_count;
    const struct upload_form *form;
    /* The part that is being read: a file, a text field, or neither when its bytes are dropped. */
    struct upload_file *open_file;
    const struct schema_field *open_field;
    struct buffer field;
    bool field_too_long;
    /*
     * Part of the transaction that adds the rows, before the usage is taken: gives back what was reserved for them. It
     * may run more than once. NULL: nothing was.
     */
    struct error *(*release_reserved)(struct database *database, struct arena *arena, void *context);
    void *release_context;
};

/* An upload without fields and files, in the arena. */
struct upload *upload_new(struct service *service, struct arena *arena, const struct caller *caller);

/* Validates the fields, and the name of the first file; the error names every failing path. */
struct error *upload_validate_form(struct upload *upload);

/*
 * Validates fields and files whose bytes are all there, has them scanned, and stores them. The bytes of a refused
 * upload are released. Errors as of upload_receive().
 */
struct error *upload_complete(struct upload *upload);

/* The form's field for files. */
const struct schema_field *upload_form_files(void);

/* The form's text field of that name; NULL where it has none. */
const struct schema_field *upload_form_text(const char *name);

/* Reads the whole body into *upload. Collects the faults of single parts; a fault of the framing ends it. */
struct error *upload_read(struct upload *upload, struct request *request);

/*
 * Has the virus scanner look at files that are good otherwise. REQUEST_INVALID with an entry for each infected file
 * (code infected), TOO_LARGE for a file that the scanner does not take, STORAGE_UNAVAILABLE when it gives no clear
 * verdict.
 */
struct error *upload_scan(struct upload *upload);

/* Makes the bytes of one file durable under its id: as a second name of stored bytes, or else as the bytes received. */
struct error *upload_deduplicate(struct upload *upload, size_t index);

/*
 * COMMIT was sent and its answer was lost, which is `error`. Asks for the row of the first file until the database
 * answers. NULL when the row is there, and then all are; `error` when it is not. When nobody can tell, a
 * DATABASE_UNAVAILABLE that says so.
 */
struct error *upload_resolve_commit(struct upload *upload, struct error *error);

#endif
