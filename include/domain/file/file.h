/* SPDX-License-Identifier: MIT */
/*
 * File records: what is known of each file. Its bytes lie in the blob store under its id. Every function
 * takes the organisation whose rows it may touch; file_find_any() alone does not, for staff. After it, the
 * organisation to bind is the one of the record found.
 */
#ifndef GATEHOUSE_DOMAIN_FILE_FILE_H
#define GATEHOUSE_DOMAIN_FILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/text.h"
#include "domain/file/file_kind.h"

#define FILE_HASH_BYTES 32

struct arena;
struct database;
struct error;

/* An unknown word in the row reads as ARCHIVED: deny. */
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
    bool damaged; /* its bytes were found to be others than its hash says, and must not be sent; not read by insert */
    struct text_list tags;  /* in the order given */
    const char *created_at; /* RFC 3339; not read by insert */
    const char *updated_at;
    const char *archived_at; /* NULL while active */
};

const char *file_status_text(enum file_status status);

/*
 * Adds the row and its tags; part of a transaction, once for each file of an upload. *duplicate_out tells
 * that the very file is there already, active (file_find_duplicate() names it): nothing was added, roll
 * back. Tags hold no line ends.
 */
struct error *file_insert(struct database *database, struct arena *arena, const struct file_record *record,
                          bool *duplicate_out);

/*
 * The active record with the organisation, user, bucket, type, name and hash of `record`, other than
 * record->id itself; *found_out is false when there is none.
 */
struct error *file_find_duplicate(struct database *database, struct arena *arena,
                                  const struct file_record *record, struct id *id_out, bool *found_out);

/*
 * A file of the organisation that has these very bytes, active or archived, whoever's it is and whatever it is called:
 * the newest, since it is the likeliest to take a further name (blob_link()). Files that are damaged are passed over.
 * *found_out is false when there is none.
 */
struct error *file_find_bytes(struct database *database, struct arena *arena, struct id organisation,
                              const uint8_t hash[FILE_HASH_BYTES], struct id *id_out, bool *found_out);

/* By id within one organisation, active or archived; *record_out is NULL when there is none there. */
struct error *file_find(struct database *database, struct arena *arena, struct id organisation, struct id id,
                        struct file_record **record_out);

/*
 * By id wherever it belongs: only for callers who hold `a` (principal_administers()); the crossing is to be
 * audited.
 */
struct error *file_find_any(struct database *database, struct arena *arena, struct id id,
                            struct file_record **record_out);

/*
 * Whether the row is there once no transaction that may have written it is under way any more: it waits for one that
 * is. For who does not know what became of a COMMIT. DATABASE_UNAVAILABLE also when the other one takes its time.
 */
struct error *file_find_settled(struct database *database, struct arena *arena, struct id organisation,
                                struct id id, bool *found_out);

/* What became of a change of state; of two callers at once exactly one gets FILE_CHANGED. */
enum file_outcome {
    FILE_CHANGED,
    FILE_UNCHANGED, /* it was in that state already (archive: archived; restore: active; patch: archived) */
    FILE_ABSENT,    /* no such file in the organisation */
    FILE_DUPLICATE  /* restore, patch: the very same file is active already, see file_find_duplicate() */
};

/* active -> archived. */
struct error *file_archive(struct database *database, struct arena *arena, struct id organisation,
                           struct id id, enum file_outcome *outcome_out);

/* archived -> active. */
struct error *file_restore(struct database *database, struct arena *arena, struct id organisation,
                           struct id id, enum file_outcome *outcome_out);

/* Replaces the name and the tags of an active file (NULL keeps either); part of a transaction. */
struct error *file_update(struct database *database, struct arena *arena, struct id organisation,
                          struct id id, const char *name, const struct text_list *tags,
                          enum file_outcome *outcome_out);

/* Which files to list; a NULL text, a false flag or an id of zeros asks for all. */
struct file_filter {
    struct id organisation_id; /* always bound */
    const char *bucket;
    const char *type;
    const char *tag;
    const char *name_prefix; /* exact to the byte; % and _ are plain characters */
    bool any_status;         /* true: `status` is not read */
    enum file_status status;
    struct id user_id;
    struct id before; /* the cursor: the last id of the page before */
    unsigned limit;   /* 1 to LIMIT_PAGE_MAX */
};

struct file_page {
    struct file_record *items;
    size_t count;
    bool more; /* whether a next page exists; its `before` is the last item's id */
};

/* Newest first, by id. */
struct error *file_list(struct database *database, struct arena *arena, const struct file_filter *filter,
                        struct file_page *page_out);

#endif
