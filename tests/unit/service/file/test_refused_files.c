/* SPDX-License-Identifier: MIT */
/* Files: each statement of an upload and of a change is refused once; no half of it, no bytes without a row. */
#include "harness.h"

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/sandbox/sandbox.h"
#include "blob/blob.h"
#include "blob/directory.h"
#include "blob/sniffer/sniffer.h"
#include "blob/sniffer/support_warm_up.h"
#include "codec/digest.h"
#include "domain/file/file_upload.h"
#include "http/fake_source.h"
#include "service/file/file_bulk.h"
#include "service/file/file_update.h"
#include "service/file/resumable.h"
#include "service/file/upload.h"
#include "service/support_refused.h"

#define SERVICE(stage) (&(stage)->scene->service)
#define FILES 3
#define MOST 4096
#define LENGTH 10
#define PIECE "seven b"

/* What the flows are about, made anew by each prepare(). */
static struct {
    struct file_record files[FILES];
    struct id ids[FILES];
    struct id upload;
    int64_t received; /* bytes of it */
} shelf;

/* The stage gets a store of files, once. */
static void open_store(struct stage *stage)
{
    struct scene *scene = stage->scene;
    struct sandbox_walls walls;
    if (scene->service.blobs != NULL)
        return;
    expect_ok(blob_directory_open(scene->arena, harness_directory(scene->arena), NULL, &scene->service.blobs));
    scene->service.block = arena_alloc(scene->arena, LIMIT_BLOB_BLOCK_BYTES);
    scene->configuration.service.max_file_bytes = MOST;
    support_sniffer_warm_up();
    expect_ok(sniff_process_fork(scene->arena, NULL, &scene->service.sniffer));
    expect_ok(sniff_process_start(scene->service.sniffer, scene->arena, true, &walls));
}

static unsigned found;

static int count_file(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)path;
    (void)status;
    (void)place;
    found += kind == FTW_F;
    return 0;
}

/* Bytes that lie in the store: of files, and of uploads that are not finished. */
static unsigned on_disk(struct stage *stage)
{
    found = 0;
    assert_int_equal(nftw(blob_root(SERVICE(stage)->blobs), count_file, 8, FTW_PHYS), 0);
    return found;
}

static const char *id_of(struct stage *stage, size_t index)
{
    return sql_id(stage->scene->arena, shelf.ids[index]);
}

/* ---- changes -------------------------------------------------------------------------------------- */

static void prepare_files(struct stage *stage)
{
    open_store(stage);
    for (size_t i = 0; i < FILES; i++) {
        shelf.files[i] = given_file(stage->scene->database, stage->scene->arena, caller_home(stage->owner),
                                    caller_user(stage->owner));
        shelf.ids[i] = shelf.files[i].id;
    }
}

static void prepare_archived(struct stage *stage)
{
    prepare_files(stage);
    for (size_t i = 0; i < FILES; i++)
        sql(stage->scene->database, stage->scene->arena,
            "UPDATE file SET status = 'archived', archived_at = UTC_TIMESTAMP(3) WHERE id = %s", id_of(stage, i));
}

static struct error *archive(struct stage *stage, struct arena *arena)
{
    struct file_record *changed = NULL;
    return file_update_archive(SERVICE(stage), arena, stage->owner, &shelf.files[0], &changed);
}

static struct error *restore(struct stage *stage, struct arena *arena)
{
    struct file_record *changed = NULL;
    return file_update_restore(SERVICE(stage), arena, stage->owner, &shelf.files[0], &changed);
}

static struct error *rename_file(struct stage *stage, struct arena *arena)
{
    struct file_record *changed = NULL;
    struct text_list tags = TEXTS(arena, "red", "green");
    struct file_patch patch = {.name = "plan.pdf", .tags = &tags};
    return file_update_attributes(SERVICE(stage), arena, stage->owner, &shelf.files[0], &patch, &changed);
}

static struct error *change_all(struct stage *stage, struct arena *arena, const struct caller *caller,
                                enum file_bulk_change change)
{
    struct file_record **changed = NULL;
    struct id organisation = caller == stage->owner ? caller_home(caller) : (struct id){{0}};
    return file_bulk_change(SERVICE(stage), arena, caller, change, organisation, shelf.ids, FILES, &changed);
}

static struct error *archive_all(struct stage *stage, struct arena *arena)
{
    return change_all(stage, arena, stage->owner, FILE_BULK_ARCHIVE);
}

static struct error *restore_all(struct stage *stage, struct arena *arena)
{
    return change_all(stage, arena, stage->owner, FILE_BULK_RESTORE);
}

static struct error *archive_all_by_staff(struct stage *stage, struct arena *arena)
{
    return change_all(stage, arena, stage->staff, FILE_BULK_ARCHIVE);
}

/* All that are in the state, and the trail tells of each. */
static int64_t count_in(struct stage *stage, const char *status, const char *action)
{
    int64_t files = 0, told = 0;
    for (size_t i = 0; i < FILES; i++) {
        files += stage_rows(stage, "file WHERE id = %s AND status = '%s'", id_of(stage, i), status);
        told += stage_rows(stage, "audit WHERE action = '%s' AND target_id = '%s'", action,
                           id_text(stage->scene->arena, shelf.ids[i]));
    }
    assert_int_equal(files, told);
    return files;
}

static int64_t count_archived(struct stage *stage)
{
    return count_in(stage, "archived", "file.archive");
}

static int64_t count_restored(struct stage *stage)
{
    return count_in(stage, "active", "file.restore");
}

static int64_t count_renamed(struct stage *stage)
{
    int64_t renamed = stage_rows(stage, "file WHERE id = %s AND name = 'plan.pdf'", id_of(stage, 0));
    assert_int_equal(stage_rows(stage, "file_tag WHERE file_id = %s", id_of(stage, 0)), 2 * renamed);
    return renamed;
}

static void a_file_is_changed_wholly_or_not_at_all(void **state)
{
    static const struct flow flows[] = {
        FLOW("archiving a file", prepare_files, archive, count_archived),
        FLOW("restoring a file", prepare_archived, restore, count_restored),
        FLOW("name and tags", prepare_files, rename_file, count_renamed),
        FLOW("archiving several", prepare_files, archive_all, count_archived),
        FLOW("restoring several", prepare_archived, restore_all, count_restored),
        FLOW("archiving several of another organisation", prepare_files, archive_all_by_staff, count_archived),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- what is there already ------------------------------------------------------------------------ */

/* The second file is archived, and the third is like it: active, with the same bytes and name. */
static void prepare_twins(struct stage *stage)
{
    prepare_archived(stage);
    sql(stage->scene->database, stage->scene->arena, "DELETE FROM file WHERE id = %s", id_of(stage, 2));
    shelf.files[2] = shelf.files[0];
    shelf.files[2].id = id_new();
    assert_false(insert_file(stage->scene->database, stage->scene->arena, &shelf.files[2]));
}

/* Refused with the id of the other one is what is wanted of it. */
static struct error *expect_duplicate(struct stage *stage, struct error *error)
{
    if (error == NULL)
        fail_msg("two files are one");
    if (error->code != ERROR_FILE_DUPLICATE)
        return error;
    assert_non_null(error->members);
    assert_string_equal(error->members->value, id_text(stage->scene->arena, shelf.files[2].id));
    stage->before--;
    return NULL;
}

static struct error *restore_twin(struct stage *stage, struct arena *arena)
{
    return expect_duplicate(stage, restore(stage, arena));
}

static struct error *restore_twin_among_others(struct stage *stage, struct arena *arena)
{
    struct file_record **changed = NULL;
    return expect_duplicate(stage, file_bulk_change(SERVICE(stage), arena, stage->owner, FILE_BULK_RESTORE,
                                                    caller_home(stage->owner), shelf.ids, 2, &changed));
}

static int64_t count_back(struct stage *stage)
{
    return stage_rows(stage, "file WHERE id IN (%s, %s) AND status = 'active'", id_of(stage, 0), id_of(stage, 1));
}

static void a_second_file_of_the_same_name_and_bytes_is_named_and_nothing_changes(void **state)
{
    static const struct flow flows[] = {
        FLOW("restoring what is there", prepare_twins, restore_twin, count_back),
        FLOW("restoring what is there among others", prepare_twins, restore_twin_among_others, count_back),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- uploads -------------------------------------------------------------------------------------- */

static void request_of(struct arena *arena, struct fake_source *source, struct fake_parameter *parameters,
                       struct request *request)
{
    parameters[0] = (struct fake_parameter){"REQUEST_METHOD", "POST"};
    parameters[1] = (struct fake_parameter){"REQUEST_URI", "/system/files"};
    parameters[2] = (struct fake_parameter){"CONTENT_TYPE", "multipart/form-data; boundary=X"};
    parameters[3] = (struct fake_parameter){"CONTENT_LENGTH", arena_format(arena, "%zu", source->length)};
    parameters[4] = (struct fake_parameter){NULL, NULL};
    source->parameters = parameters;
    struct request_source from = fake_request_source(source);
    request_init(request, arena, &from, "");
}

/* No file of before is there, so that every byte on disk belongs to what comes. */
static void prepare_empty(struct stage *stage)
{
    open_store(stage);
    sql(stage->scene->database, stage->scene->arena, "DELETE FROM file_tag");
    sql(stage->scene->database, stage->scene->arena, "DELETE FROM file");
    struct blob_store *fresh;
    expect_ok(blob_directory_open(stage->scene->arena, harness_directory(stage->scene->arena), NULL, &fresh));
    stage->scene->service.blobs = fresh;
}

#define FIELD(name, value) "--X\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n" value "\r\n"
#define PART(name, bytes)                                                                                              \
    "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" name "\"\r\n\r\n" bytes "\r\n"
#define BODY                                                                                                           \
    FIELD("bucket", "files")                                                                                           \
    FIELD("type", "misc") FIELD("tags", "red") PART("a.txt", "a line of text") PART("b.txt", "another") "--X--\r\n"

static struct error *upload(struct stage *stage, struct arena *arena)
{
    struct fake_parameter parameters[5];
    struct fake_source source = {.body = BODY, .length = sizeof BODY - 1};
    struct request request;
    struct file_record *records = NULL;
    size_t count = 0;
    request_of(arena, &source, parameters, &request);
    TRY(upload_receive(SERVICE(stage), arena, stage->owner, "cus:file:w", &request, &records, &count));
    assert_int_equal(count, 2);
    return NULL;
}

static int64_t count_stored(struct stage *stage)
{
    int64_t files = stage_rows(stage, "file");
    assert_true(files == 0 || files == 2);
    assert_int_equal(on_disk(stage), files);
    return files;
}

static void prepare_stored(struct stage *stage)
{
    prepare_empty(stage);
    expect_ok(upload(stage, stage->scene->arena));
    shelf.files[2].id = (struct id){{0}};
}

static struct error *upload_again(struct stage *stage, struct arena *arena)
{
    struct error *error = upload(stage, arena);
    if (error == NULL)
        fail_msg("two files are one");
    if (error->code != ERROR_FILE_DUPLICATE)
        return error;
    assert_string_equal(error->members->name, "id");
    stage->before--;
    return NULL;
}

static void an_upload_that_was_refused_leaves_no_bytes(void **state)
{
    static const struct flow flows[] = {
        FLOW("an upload", prepare_empty, upload, count_stored),
        FLOW("an upload of what is there", prepare_stored, upload_again, count_stored),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

/* ---- uploads in pieces ---------------------------------------------------------------------------- */

static void prepare_no_upload(struct stage *stage)
{
    prepare_empty(stage);
    sql(stage->scene->database, stage->scene->arena, "DELETE FROM file_upload");
}

static struct error *create_of(struct stage *stage, struct arena *arena, int64_t length)
{
    struct file_upload *upload = NULL;
    struct resumable_order order = {length, "bucket ZmlsZXM=,type bWlzYw==,filename YS50eHQ=", NULL};
    TRY(resumable_create(SERVICE(stage), arena, stage->owner, &order, &upload));
    shelf.upload = upload->id;
    return NULL;
}

static struct error *create(struct stage *stage, struct arena *arena)
{
    return create_of(stage, arena, LENGTH);
}

/* Each upload has its bytes and its room, and there is nothing else. */
static int64_t count_uploads(struct stage *stage)
{
    int64_t uploads = stage_rows(stage, "file_upload");
    assert_int_equal(on_disk(stage), uploads);
    assert_int_equal(sql_integer(stage->scene->database, stage->scene->arena,
                                 "SELECT COALESCE(SUM(files), 0) FROM file_usage") >= uploads,
                     1);
    return uploads;
}

static void prepare_created(struct stage *stage)
{
    prepare_no_upload(stage);
    expect_ok(create(stage, stage->scene->arena));
    shelf.received = 0;
}

/* Room is reserved as its bytes come. */
static void prepare_unknown_length(struct stage *stage)
{
    prepare_no_upload(stage);
    expect_ok(create_of(stage, stage->scene->arena, FILE_UPLOAD_LENGTH_UNKNOWN));
    shelf.received = 0;
}

static struct error *terminate(struct stage *stage, struct arena *arena)
{
    return resumable_terminate(SERVICE(stage), arena, stage->owner, shelf.upload);
}

static int64_t count_ended(struct stage *stage)
{
    return -count_uploads(stage);
}

static void prepare_expired(struct stage *stage)
{
    prepare_created(stage);
    sql(stage->scene->database, stage->scene->arena,
        "UPDATE file_upload SET expires_at = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND");
}

static struct error *expire(struct stage *stage, struct arena *arena)
{
    uint64_t count = 0;
    return resumable_expire(SERVICE(stage), arena, 10, &count);
}

static int64_t count_received(struct stage *stage)
{
    return sql_integer(stage->scene->database, stage->scene->arena, "SELECT received FROM file_upload");
}

/* A client that goes on asks first how much is there. */
static void look_how_far(struct stage *stage)
{
    shelf.received = count_received(stage);
}

static struct error *send_piece(struct stage *stage, struct arena *arena)
{
    int64_t there = shelf.received;
    struct fake_parameter parameters[5];
    struct fake_source source = {.body = PIECE + there, .length = sizeof PIECE - 1 - (size_t)there};
    struct request request;
    struct file_upload *upload = NULL;
    struct file_record *record = NULL;
    request_of(arena, &source, parameters, &request);
    struct resumable_piece piece = {
        .request = &request, .permission = "cus:file:w", .offset = there, .length = FILE_UPLOAD_LENGTH_UNKNOWN};
    struct caller caller = *stage->owner;
    TRY(resumable_receive(SERVICE(stage), arena, &caller, shelf.upload, &piece, &upload, &record));
    assert_null(record);
    assert_int_equal(upload->received, sizeof PIECE - 1);
    return NULL;
}

static void an_upload_in_pieces_goes_on_where_it_was(void **state)
{
    static const struct flow flows[] = {
        FLOW("beginning an upload", prepare_no_upload, create, count_uploads, .apart = true),
        FLOW("a piece of an upload", prepare_created, send_piece, count_received, .again = look_how_far, .apart = true),
        FLOW("a piece of an upload of unknown length", prepare_unknown_length, send_piece, count_received,
             .again = look_how_far, .apart = true),
        FLOW("ending an upload", prepare_created, terminate, count_ended, .apart = true),
        FLOW("uploads whose time is over", prepare_expired, expire, count_ended, .apart = true),
    };
    stage_refuse_each(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

static void a_file_whose_commit_got_no_answer_is_looked_up(void **state)
{
    static const struct flow flows[] = {
        FLOW("an upload", prepare_empty, upload, count_stored, .finds = true),
        FLOW("beginning an upload", prepare_no_upload, create, count_uploads),
        FLOW("archiving a file", prepare_files, archive, count_archived),
    };
    stage_lose_each_commit(harness_arena(state), flows, sizeof flows / sizeof *flows);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_file_is_changed_wholly_or_not_at_all),
    HARNESS_TEST(a_second_file_of_the_same_name_and_bytes_is_named_and_nothing_changes),
    HARNESS_TEST(an_upload_that_was_refused_leaves_no_bytes),
    HARNESS_TEST(an_upload_in_pieces_goes_on_where_it_was),
    HARNESS_TEST(a_file_whose_commit_got_no_answer_is_looked_up),
};
HARNESS_MODULE(refused_files, cases)
