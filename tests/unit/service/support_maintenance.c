/* SPDX-License-Identifier: MIT */
/* What the tests of maintenance and integrity share. */
#include "service/support_maintenance.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "blob/directory.h"
#include "codec/digest.h"
#include "codec/random.h"
#include "domain/file/file_usage.h"
#include "harness.h"
#include "store/database/database.h"
#include "support_database.h"

static void release(void *argument)
{
    struct keep *keep = argument;
    database_free(&keep->service.database);
    arena_free(&keep->scratch);
}

struct keep *keep_new(struct arena *arena)
{
    struct keep *keep = arena_alloc(arena, sizeof *keep);
    support_database_clear();
    keep->arena = arena;
    keep->scratch = arena_new();
    keep->configuration.files.store = "directory";
    keep->configuration.files.directory = harness_directory(arena);
    keep->service.arena = arena;
    keep->service.configuration = &keep->configuration;
    struct database_options options = support_database_options();
    options.connect_timeout_seconds = KEEP_CONNECT_SECONDS;
    options.query_timeout_seconds = KEEP_QUERY_SECONDS;
    keep->service.database = database_new(&options);
    expect_ok(blob_directory_open(arena, keep->configuration.files.directory, NULL, &keep->service.blobs));
    arena_defer(arena, release, keep);
    keep->organisation = given_organisation(keep->service.database, arena);
    keep->user = given_user(keep->service.database, arena, keep->organisation, "owner", NULL)->id;
    return keep;
}

unsigned char *keep_bytes(struct arena *arena, size_t length, unsigned seed)
{
    struct harness_random random = {.state = seed + 1};
    unsigned char *bytes = arena_alloc(arena, length);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)harness_random_next(&random);
    return bytes;
}

static void store(struct keep *keep, struct id id, const void *bytes, size_t length)
{
    struct blob_writer *writer;
    expect_ok(blob_begin(keep->service.blobs, keep->arena, &writer));
    expect_ok(blob_write(writer, bytes, length));
    expect_ok(blob_commit(writer, id));
}

static void age_row(struct keep *keep, struct id id, int64_t seconds)
{
    sql(keep->service.database, keep->arena,
        "UPDATE file SET created_at = created_at - INTERVAL %lld SECOND WHERE id = %s", (long long)seconds,
        sql_id(keep->arena, id));
}

struct file_record keep_file(struct keep *keep, size_t length, unsigned seed, int64_t age)
{
    struct file_record record = a_file(keep->arena, keep->organisation, keep->user);
    const unsigned char *bytes = keep_bytes(keep->arena, length, seed);
    record.size = (int64_t)length;
    record.tags = TEXTS(keep->arena, "red", "green");
    digest_sha256(bytes, length, record.hash);
    store(keep, record.id, bytes, length);
    assert_false(insert_file(keep->service.database, keep->arena, &record));
    expect_ok(file_usage_recount(keep->service.database, keep->arena, keep->organisation, NULL));
    if (age > 0) {
        age_row(keep, record.id, age);
        keep_age_path(keep_path(keep, record.id), age);
    }
    return record;
}

struct id keep_orphan(struct keep *keep, int64_t age)
{
    struct id id = id_new();
    store(keep, id, "nobody's", 8);
    if (age > 0)
        keep_age_path(keep_path(keep, id), age);
    return id;
}

const char *keep_path(struct keep *keep, struct id id)
{
    return keep_below(keep, blob_path(keep->arena, id));
}

const char *keep_below(struct keep *keep, const char *path)
{
    return arena_format(keep->arena, "%s/%s", blob_root(keep->service.blobs), path);
}

void keep_age_path(const char *path, int64_t seconds)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

void keep_archive(struct keep *keep, struct id id, int64_t seconds)
{
    enum file_outcome outcome;
    expect_ok(file_archive(keep->service.database, keep->arena, keep->organisation, id, &outcome));
    assert_int_equal(outcome, FILE_CHANGED);
    sql(keep->service.database, keep->arena,
        "UPDATE file SET archived_at = archived_at - INTERVAL %lld SECOND WHERE id = %s", (long long)seconds,
        sql_id(keep->arena, id));
}

void keep_flip(struct keep *keep, struct id id, size_t bit)
{
    unsigned char byte = 0;
    int fd = open(keep_path(keep, id), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && pread(fd, &byte, 1, (off_t)(bit / 8)) == 1);
    byte ^= (unsigned char)(1u << bit % 8);
    assert_true(pwrite(fd, &byte, 1, (off_t)(bit / 8)) == 1);
    (void)close(fd);
}
