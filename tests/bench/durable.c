/* SPDX-License-Identifier: MIT */
/*
 * What a durable small file costs: the bare steps that any program has to take (O_TMPFILE, write, fsync, linkat, fsync
 * of the folder), the same with the SHA-256 that every file gets, and the blob store's own way from blob_begin() to
 * blob_commit(). They take turns, file by file. durable DIRECTORY COUNT BYTES prints one line of JSON for each.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/id.h"
#include "base/text.h"
#include "blob/blob.h"
#include "blob/directory.h"
#include "codec/digest.h"

enum way { BARE, DIGESTED, STORE, WAYS };

static const char *const names[] = {"bare", "digested", "store"};

struct bench {
    struct arena *arena;
    struct blob_store *store;
    int folder;
    const void *bytes;
    size_t length;
};

static _Noreturn void end(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static void bare(const struct bench *bench, bool digested)
{
    char name[ID_HEX_BYTES], path[64];
    uint8_t sum[DIGEST_BYTES];
    id_hex(id_new(), name);
    int fd = openat(bench->folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0640);
    if (fd < 0)
        end("O_TMPFILE");
    if (digested) {
        struct digest *digest = digest_open(bench->arena);
        digest_update(digest, bench->bytes, bench->length);
        digest_final(digest, sum);
    }
    if (write(fd, bench->bytes, bench->length) != (ssize_t)bench->length || fsync(fd) != 0)
        end("write");
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, path, bench->folder, name, AT_SYMLINK_FOLLOW) != 0 || close(fd) != 0 ||
        fsync(bench->folder) != 0)
        end("linkat");
}

static void stored(const struct bench *bench)
{
    struct blob_writer *writer;
    uint8_t sum[DIGEST_BYTES];
    struct error *error = blob_begin(bench->store, bench->arena, &writer);
    if (error == NULL)
        error = blob_write(writer, bench->bytes, bench->length);
    if (error == NULL) {
        blob_writer_digest(writer, sum);
        struct id id = id_new();
        id.bytes[ID_BYTES - 1] = 0x42; /* one folder, as the bare ones have */
        error = blob_commit(writer, id);
    }
    if (error != NULL) {
        (void)fprintf(stderr, "%s\n", error->detail);
        exit(EXIT_FAILURE);
    }
}

static int64_t processor_time(void)
{
    struct rusage used;
    (void)getrusage(RUSAGE_SELF, &used);
    return (int64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
           used.ru_stime.tv_usec;
}

static int compare(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void report(enum way way, int64_t *times, size_t count, int64_t busy)
{
    int64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += times[i];
    qsort(times, count, sizeof *times, compare);
    (void)printf("{\"name\":\"%s\",\"requests\":%zu,\"microseconds\":%" PRId64 ",\"busy\":%" PRId64 ",\"latency\":{",
                 names[way], count, total, busy);
    static const double points[] = {1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        (void)printf("%s\"%g\":%" PRId64, i == 0 ? "" : ",", points[i],
                     times[(size_t)((double)(count - 1) * points[i] / 100)]);
    (void)printf("}}\n");
}

int main(int argc, char **argv)
{
    int64_t count, length;
    if (argc != 4 || !text_to_integer(argv[2], 1, 1000000, &count) || !text_to_integer(argv[3], 1, 1 << 24, &length)) {
        (void)fprintf(stderr, "usage: durable DIRECTORY COUNT BYTES\n");
        return 2;
    }
    struct arena *process = arena_new();
    struct bench bench = {
        .arena = arena_new(), .length = (size_t)length, .bytes = arena_alloc(process, (size_t)length)};
    bench.folder = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (bench.folder < 0 || blob_directory_open(process, argv[1], NULL, &bench.store) != NULL)
        end(argv[1]);
    int64_t *times[WAYS], busy[WAYS] = {0};
    for (int way = 0; way < WAYS; way++)
        times[way] = arena_array(process, (size_t)count, sizeof **times);
    for (int64_t i = 0; i < count; i++)
        for (int turn = 0; turn < WAYS; turn++) {
            int way = (int)((i + turn) % WAYS);
            int64_t worked = processor_time(), started = clock_monotonic();
            if (way == STORE)
                stored(&bench);
            else
                bare(&bench, way == DIGESTED);
            times[way][i] = clock_monotonic() - started;
            busy[way] += processor_time() - worked;
            arena_reset(bench.arena);
        }
    for (int way = 0; way < WAYS; way++)
        report((enum way)way, times[way], (size_t)count, busy[way]);
    arena_free(&bench.arena);
    arena_free(&process);
    return EXIT_SUCCESS;
}
