/* SPDX-License-Identifier: MIT */
/* An upload between its three steps: receiving the parts, judging them, storing. */
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
struct request;
struct service;

/* One file part. */
struct upload_file {
    struct blob_writer *writer;
    const char *raw_name; /* the client's file name, NULL when it gave none */
    const char *declared; /* the client's Content-Type, NULL when it gave none */
    unsigned char *head;  /* the first bytes, for the sniffer */
    size_t head_length;
    struct sniffed sniffed;
    bool stored; /* the blob is committed under record.id */
    struct file_record record;
};

/* The text fields, as upload_form_schema reads them. */
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
    size_t file_parts; /* those beyond LIMIT_FILES included */
    struct schema_pair pairs[LIMIT_PARTS + 1]; /* one more for the files together */
    size_t pair_count;
    const struct upload_form *form;
    /* The part that is open: a file, or a text field, or neither (its bytes are dropped). */
    struct upload_file *open_file;
    const struct schema_field *open_field;
    struct buffer field;
    bool field_too_long;
};

/* The form's field for files. */
const struct schema_field *upload_form_files(void);

/* The form's text field of that name; NULL where it has none. */
const struct schema_field *upload_form_text(const char *name);

/* Reads the whole body into *upload. Faults of single parts are collected, those of the framing end it. */
struct error *upload_read(struct upload *upload, struct request *request);

/*
 * Has the virus scanner look at files that are fine otherwise: REQUEST_INVALID with every infected one (code infected),
 * TOO_LARGE for one that it does not take, STORAGE_UNAVAILABLE when it has no clear verdict.
 */
struct error *upload_scan(struct upload *upload);

/* Makes the bytes of one file durable under its id: a second name for bytes that are there, else the bytes received. */
struct error *upload_deduplicate(struct upload *upload, size_t index);

/*
 * COMMIT was sent and its answer lost (`error`): asks for the first file's row until the database answers. NULL when it
 * is there, and so are all; `error` when it is not; another DATABASE_UNAVAILABLE, which says so, when nobody can tell.
 */
struct error *upload_resolve_commit(struct upload *upload, struct error *error);

#endif
