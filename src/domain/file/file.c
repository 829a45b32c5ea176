/* SPDX-License-Identifier: MIT */
/* The statements on file records for callers of the interface. */
#include "domain/file/file.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "codec/digest.h"
#include "domain/columns_int.h"

static const char *const statuses[] = {"active", "archived", NULL};

const char *file_status_text(enum file_status status)
{
    return statuses[status];
}

/* The lines of a text, in the arena; none for "". */
static struct text_list read_tags(struct arena *arena, const char *text)
{
    struct text_list tags = {NULL, 0};
    if (text[0] == '\0')
        return tags;
    size_t count = 1;
    for (const char *at = text; *at != '\0'; at++)
        count += *at == '\n';
    tags.items = arena_array(arena, count, sizeof *tags.items);
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, "\n");
        tags.items[tags.count++] = arena_copy(arena, at, length);
        at += length;
        if (*at == '\0')
            return tags;
    }
}

void file_read_body(struct arena *arena, const struct rows *rows, size_t row, size_t first, struct id id,
                    struct id organisation, struct file_record *record_out)
{
    *record_out = (struct file_record){
        .id = id,
        .organisation_id = organisation,
        .user_id = rows_id(rows, row, first),
        .bucket = rows_text(rows, row, first + 1),
        .type = rows_text(rows, row, first + 2),
        .name = rows_text(rows, row, first + 3),
        .size = rows_integer(rows, row, first + 5),
        .content_type = rows_text(rows, row, first + 6),
        .status = strcmp(rows_text(rows, row, first + 7), "active") == 0 ? FILE_ACTIVE : FILE_ARCHIVED,
        .tags = read_tags(arena, rows_text(rows, row, first + 8)),
        .damaged = !rows_is_null(rows, row, first + 9),
    };
    size_t length;
    const void *hash = rows_bytes(rows, row, first + 4, &length);
    assert(length == FILE_HASH_BYTES);
    memcpy(record_out->hash, hash, FILE_HASH_BYTES);
}

void file_read(struct arena *arena, const struct rows *rows, size_t row, size_t first, struct file_record *record_out)
{
    file_read_body(arena, rows, row, first + 2, rows_id(rows, row, first), rows_id(rows, row, first + 1), record_out);
    record_out->created_at = rows_time(rows, row, first + 12);
    record_out->updated_at = rows_time(rows, row, first + 13);
    record_out->archived_at = rows_time(rows, row, first + 14);
    record_out->user_name = rows_text(rows, row, first + 15);
}

/* The first row of a SELECT of FILE_COLUMNS; NULL when there is none. */
static struct file_record *read_one(struct arena *arena, const struct rows *rows)
{
    if (rows->count == 0)
        return NULL;
    struct file_record *record = arena_alloc(arena, sizeof *record);
    file_read(arena, rows, 0, 0, record);
    return record;
}

static const struct statement insert_tag = {
    "INSERT INTO file_tag (file_id, organisation_id, tag)"
    " SELECT f.id, f.organisation_id, ? FROM file f WHERE f.id = ? AND f.organisation_id = ?"};

static struct error *insert_tags(struct database *database, struct arena *arena, struct id organisation, struct id id,
                                 const struct text_list *tags)
{
    for (size_t i = 0; i < tags->count; i++) {
        struct change change; /* a tag named twice is indexed once */
        TRY(database_change(database, arena, &insert_tag,
                            VALUES(database_text(tags->items[i]), database_id(id), database_id(organisation)),
                            &change));
    }
    return NULL;
}

static const struct statement insert_file = {
    "INSERT INTO file (id, organisation_id, user_id, bucket, type, name, hash, size, content_type, tags)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};

struct error *file_insert(struct database *database, struct arena *arena, const struct file_record *record,
                          bool *duplicate_out)
{
    assert(database_in_transaction(database));
    struct change change;
    TRY(database_change(database, arena, &insert_file,
                        VALUES(database_id(record->id), database_id(record->organisation_id),
                               database_id(record->user_id), database_text(record->bucket), database_text(record->type),
                               database_text(record->name), database_bytes(record->hash, FILE_HASH_BYTES),
                               database_integer(record->size), database_text(record->content_type),
                               database_text(text_list_join(arena, &record->tags, "\n"))),
                        &change));
    *duplicate_out = change.duplicate;
    if (change.duplicate && strcmp(change.duplicate_key, "file_active") != 0)
        return error_new(arena, ERROR_INTERNAL, "file: key %s was there already", change.duplicate_key);
    if (change.missing_reference)
        return error_new(arena, ERROR_INTERNAL, "file: there is no such organisation");
    if (change.duplicate)
        return NULL;
    return insert_tags(database, arena, record->organisation_id, record->id, &record->tags);
}

static const struct statement find_duplicate = {
    "SELECT f.id FROM file f WHERE f.active_key = ? AND f.organisation_id = ? AND f.id <> ?"};

struct error *file_find_duplicate(struct database *database, struct arena *arena, const struct file_record *record,
                                  struct id *id_out, bool *found_out)
{
    /* The generated column's own expression (sql/004-files.sql); a test holds the two together. */
    uint8_t key[DIGEST_BYTES];
    struct digest *digest = digest_open(arena);
    digest_update(digest, record->organisation_id.bytes, ID_BYTES);
    digest_update(digest, record->user_id.bytes, ID_BYTES);
    digest_update(digest, record->bucket, strlen(record->bucket));
    digest_update(digest, "/", 1);
    digest_update(digest, record->type, strlen(record->type));
    digest_update(digest, "/", 1);
    digest_update(digest, record->hash, FILE_HASH_BYTES);
    digest_update(digest, record->name, strlen(record->name));
    digest_final(digest, key);

    struct rows *rows;
    TRY(database_query(
        database, arena, &find_duplicate,
        VALUES(database_bytes(key, sizeof key), database_id(record->organisation_id), database_id(record->id)), &rows));
    *found_out = rows->count == 1;
    if (*found_out)
        *id_out = rows_id(rows, 0, 0);
    return NULL;
}

static const struct statement find_bytes = {"SELECT f.id FROM file f WHERE f.organisation_id = ? AND f.hash = ? AND "
                                            "f.damaged_at IS NULL ORDER BY f.id DESC LIMIT 1"};

struct error *file_find_bytes(struct database *database, struct arena *arena, struct id organisation,
                              const uint8_t hash[FILE_HASH_BYTES], struct id *id_out, bool *found_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_bytes,
                       VALUES(database_id(organisation), database_bytes(hash, FILE_HASH_BYTES)), &rows));
    *found_out = rows->count == 1;
    if (*found_out)
        *id_out = rows_id(rows, 0, 0);
    return NULL;
}

static const struct statement find_file = {"SELECT " FILE_COLUMNS
                                           " FROM file f WHERE f.id = ? AND f.organisation_id = ?"};

struct error *file_find(struct database *database, struct arena *arena, struct id organisation, struct id id,
                        struct file_record **record_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_file, VALUES(database_id(id), database_id(organisation)), &rows));
    *record_out = read_one(arena, rows);
    return NULL;
}

#define PARAMETERS_10 "?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
#define PARAMETERS_50 PARAMETERS_10 ", " PARAMETERS_10 ", " PARAMETERS_10 ", " PARAMETERS_10 ", " PARAMETERS_10
#define FEW_IDS 10
#define FROM_EACH " FROM file f WHERE f.organisation_id = COALESCE(?, f.organisation_id) AND f.id IN ("

static const struct statement find_few = {"SELECT " FILE_COLUMNS FROM_EACH PARAMETERS_10 ")"};
static const struct statement find_many = {"SELECT " FILE_COLUMNS FROM_EACH PARAMETERS_50 ", " PARAMETERS_50 ")"};

_Static_assert(LIMIT_FILES <= FEW_IDS && FILE_FIND_MAX == 100, "the statements have that many parameters");

struct error *file_find_each(struct database *database, struct arena *arena, struct id organisation,
                             const struct id *ids, size_t count, struct file_record **records_out)
{
    assert(count >= 1 && count <= FILE_FIND_MAX);
    struct database_value values[1 + FILE_FIND_MAX] = {database_id_or_null(organisation)};
    size_t parameters = count <= FEW_IDS ? FEW_IDS : FILE_FIND_MAX;
    struct rows *rows;
    for (size_t i = 0; i < parameters; i++)
        values[1 + i] = database_id(ids[i < count ? i : 0]);
    TRY(database_query(database, arena, count <= FEW_IDS ? &find_few : &find_many, values, 1 + parameters, &rows));
    memset(records_out, 0, count * sizeof(struct file_record *));
    for (size_t row = 0; row < rows->count; row++) {
        struct file_record *record = arena_alloc(arena, sizeof *record);
        file_read(arena, rows, row, 0, record);
        for (size_t i = 0; i < count; i++)
            if (id_equal(ids[i], record->id))
                records_out[i] = record;
    }
    return NULL;
}

static const struct statement find_committed = {
    "SELECT 1 FROM file f WHERE f.id = ? AND f.organisation_id = ? LOCK IN SHARE MODE"};

struct error *file_find_committed(struct database *database, struct arena *arena, struct id organisation, struct id id,
                                  bool *found_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_committed, VALUES(database_id(id), database_id(organisation)), &rows));
    *found_out = rows->count > 0;
    return NULL;
}

static const struct statement find_any = {"SELECT " FILE_COLUMNS " FROM file f WHERE f.id = ?"};

struct error *file_find_any(struct database *database, struct arena *arena, struct id id,
                            struct file_record **record_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_any, VALUES(database_id(id)), &rows));
    *record_out = read_one(arena, rows);
    return NULL;
}

static const struct statement find_status = {"SELECT 1 FROM file f WHERE f.id = ? AND f.organisation_id = ?"};

/* Why a change of state found no row: the file is in another state, or does not exist. */
static struct error *explain(struct database *database, struct arena *arena, struct id organisation, struct id id,
                             enum file_outcome *outcome_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &find_status, VALUES(database_id(id), database_id(organisation)), &rows));
    *outcome_out = rows->count == 0 ? FILE_ABSENT : FILE_UNCHANGED;
    return NULL;
}

static const struct statement archive_file = {
    "UPDATE file SET status = 'archived', archived_at = UTC_TIMESTAMP(3), updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND organisation_id = ? AND status = 'active'"};

struct error *file_archive(struct database *database, struct arena *arena, struct id organisation, struct id id,
                           enum file_outcome *outcome_out)
{
    struct change change;
    TRY(database_change(database, arena, &archive_file, VALUES(database_id(id), database_id(organisation)), &change));
    *outcome_out = FILE_CHANGED;
    return change.affected == 1 ? NULL : explain(database, arena, organisation, id, outcome_out);
}

static const struct statement restore_file = {
    "UPDATE file SET status = 'active', archived_at = NULL, updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND organisation_id = ? AND status = 'archived'"};

struct error *file_restore(struct database *database, struct arena *arena, struct id organisation, struct id id,
                           enum file_outcome *outcome_out)
{
    struct change change;
    TRY(database_change(database, arena, &restore_file, VALUES(database_id(id), database_id(organisation)), &change));
    *outcome_out = change.duplicate ? FILE_DUPLICATE : FILE_CHANGED;
    if (change.duplicate || change.affected == 1)
        return NULL;
    return explain(database, arena, organisation, id, outcome_out);
}

static const struct statement update_file = {
    "UPDATE file SET name = COALESCE(?, name), tags = COALESCE(?, tags), updated_at = UTC_TIMESTAMP(3)"
    " WHERE id = ? AND organisation_id = ? AND status = 'active'"};

static const struct statement delete_tags = {
    "DELETE t FROM file_tag t JOIN file f ON f.id = t.file_id WHERE f.id = ? AND f.organisation_id = ?"};

struct error *file_update(struct database *database, struct arena *arena, struct id organisation, struct id id,
                          const char *name, const struct text_list *tags, enum file_outcome *outcome_out)
{
    assert(database_in_transaction(database));
    const char *tag_lines = tags == NULL ? NULL : text_list_join(arena, tags, "\n");
    struct change change;
    TRY(database_change(
        database, arena, &update_file,
        VALUES(database_text(name), database_text(tag_lines), database_id(id), database_id(organisation)), &change));
    *outcome_out = change.duplicate ? FILE_DUPLICATE : FILE_CHANGED;
    if (change.duplicate)
        return NULL;
    if (change.affected == 0)
        return explain(database, arena, organisation, id, outcome_out);
    if (tags == NULL)
        return NULL;
    TRY(database_change(database, arena, &delete_tags, VALUES(database_id(id), database_id(organisation)), NULL));
    return insert_tags(database, arena, organisation, id, tags);
}
