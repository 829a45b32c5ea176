/* SPDX-License-Identifier: MIT */
/*
 * File records: what the service knows of each file. Its bytes lie in the blob store under its id. Every function takes
 * the organisation whose rows it may use. Only file_find_any() does not: it is for staff, and the organisation to bind
 * afterwards is that of the found record.
 */
#ifndef GATEHOUSE_DOMAIN_FILE_FILE_H
#define GATEHOUSE_DOMAIN_FILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"
#include "base/text.h"
#include "domain/file/file_kind.h"

#define FILE_HASH_BYTES 32

struct arena;
struct database;
struct error;

/* An unknown word in the row reads as ARCHIVED, which denies. */
enum file_status { FILE_ACTIVE, FILE_ARCHIVED };

struct file_record {
    struct id id;
    struct id organisation_id;
    struct id user_id;
    const char *bucket; /* a word of file_buckets */
    const char *type;   /* a word of file_types */
    const char *name;
    uint8_t hash[FILE_HASH_BYTES]; /* SHA-256 of the bytes */
    int64_t size;
    const char *content_type;
    enum file_status status;
    bool damaged;           /* its bytes do not match its hash and must not be sent; not read by insert */
    struct text_list tags;  /* in the order given */
    const char *created_at; /* RFC 3339; not read by insert */
    const char *updated_at;
    const char *archived_at; /* NULL while active */
    const char *user_name;   /* first and last name of the user; NULL: not known any more; not read by insert */
};

const char *file_status_text(enum file_status status);

/*
 * Adds the row and its tags; part of a transaction, once for each file of an upload. *duplicate_out says that the same
 * file exists already and is active (file_find_duplicate() names it): nothing was added, roll back. Tags hold no line
 * ends.
 */
struct error *file_insert(struct database *database, struct arena *arena, const struct file_record *record,
                          bool *duplicate_out);

/*
 * The active record with the organisation, user, bucket, type, name and hash of `record`, other than
 * record->id itself; *found_out is false when there is none.
 */
struct error *file_find_duplicate(struct database *database, struct arena *arena, const struct file_record *record,
                                  struct id *id_out, bool *found_out);

/*
 * A file of the organisation that has the same bytes, active or archived, of any user and under any name: the newest,
 * since it is the likeliest to accept a further name (blob_link()). Damaged files are skipped. *found_out is false when
 * there is none.
 */
struct error *file_find_bytes(struct database *database, struct arena *arena, struct id organisation,
                              const uint8_t hash[FILE_HASH_BYTES], struct id *id_out, bool *found_out);

/* By id within one organisation, active or archived; *record_out is NULL when there is none there. */
struct error *file_find(struct database *database, struct arena *arena, struct id organisation, struct id id,
                        struct file_record **record_out);

#define FILE_FIND_MAX LIMIT_BULK_FILES

/*
 * By ids, in one statement, at most FILE_FIND_MAX of them, active or archived. Record n belongs to id n and is NULL
 * when there is none. The none id as `organisation` means any: only for callers who hold `a`. They must audit the
 * crossing.
 */
struct error *file_find_each(struct database *database, struct arena *arena, struct id organisation,
                             const struct id *ids, size_t count, struct file_record **records_out);

/*
 * By id in any organisation: only for callers who hold `a` (principal_administers()). The caller must audit the
 * crossing.
 */
struct error *file_find_any(struct database *database, struct arena *arena, struct id id,
                            struct file_record **record_out);

/*
 * Whether the row exists, once no transaction that may have written it is still open: it waits for such a transaction.
 * For a caller that does not know the outcome of a COMMIT. DATABASE_UNAVAILABLE also when the other transaction takes
 * too long.
 */
struct error *file_find_committed(struct database *database, struct arena *arena, struct id organisation, struct id id,
                                  bool *found_out);

/* The result of a change of state. Of two simultaneous callers exactly one gets FILE_CHANGED. */
enum file_outcome {
    FILE_CHANGED,
    FILE_UNCHANGED, /* it was in that state already (archive: archived; restore: active; patch: archived) */
    FILE_ABSENT,    /* no such file in the organisation */
    FILE_DUPLICATE  /* restore, patch: the very same file is active already, see file_find_duplicate() */
};

/* active -> archived. */
struct error *file_archive(struct database *database, struct arena *arena, struct id organisation, struct id id,
                           enum file_outcome *outcome_out);

/* archived -> active. */
struct error *file_restore(struct database *database, struct arena *arena, struct id organisation, struct id id,
                           enum file_outcome *outcome_out);

/* Replaces the name and the tags of an active file (NULL keeps either); part of a transaction. */
struct error *file_update(struct database *database, struct arena *arena, struct id organisation, struct id id,
                          const char *name, const struct text_list *tags, enum file_outcome *outcome_out);

/*
 * The orders of a list. NEWEST is by id; within a period it is by the time the files were added, as OLDEST always is.
 * BY_NAME compares names byte by byte. Files that are alike in that follow their ids.
 */
enum file_sort { FILE_NEWEST, FILE_OLDEST, FILE_BY_NAME, FILE_LARGEST };

/* Which files to list; a NULL text, a false flag or an id of zeros asks for all. */
struct file_filter {
    struct id organisation_id; /* always bound */
    const char *bucket;
    const char *type;
    const char *tag;
    const char *name_prefix; /* compared byte by byte; % and _ have no special meaning */
    bool any_status;         /* true: `status` is not read */
    enum file_status status;
    struct id user_id;
    bool period;   /* false: since and until are not read */
    int64_t since; /* when the file was added, milliseconds since 1970; included */
    int64_t until; /* excluded */
    enum file_sort sort;
    struct id before;        /* the cursor: the last id of the page before, none for the first page */
    const char *before_name; /* and that file's name (BY_NAME) */
    int64_t before_number;   /* or its size (LARGEST), or when it was added (OLDEST, and NEWEST within a period) */
    unsigned limit;          /* 1 to LIMIT_PAGE_MAX */
};

#define FILE_TOTAL_UNKNOWN (-1)

struct file_page {
    struct file_record *items;
    size_t count;
    bool more;     /* whether a next page exists; its cursor is the last item */
    int64_t total; /* of all pages, where it is known without counting: all fit on the first, or no filter is set */
};

struct error *file_list(struct database *database, struct arena *arena, const struct file_filter *filter,
                        struct file_page *page_out);

#endif
