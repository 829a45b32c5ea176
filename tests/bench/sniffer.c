/* SPDX-License-Identifier: MIT */
/*
 * What it costs to have files examined by another process: the same files in this process and in the other one, by
 * turns. sniffer [ROUNDS [MOST]] prints the medians and what is between them in microseconds. With MOST it fails where
 * more than so many are between them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/sandbox/sandbox.h"
#include "blob/sniff.h"
#include "blob/sniffer/sniffer.h"

#define ROUNDS_MAX 100000

static int compare(const void *a, const void *b)
{
    const int64_t *left = a;
    const int64_t *right = b;
    return (*left > *right) - (*left < *right);
}

static int64_t median(int64_t *times, size_t count)
{
    qsort(times, count, sizeof *times, compare);
    return times[count / 2];
}

/* A picture with noise behind its head, and a text. */
static void fill(unsigned char *bytes, bool picture)
{
    for (size_t i = 0; i < LIMIT_SNIFF_BYTES; i++)
        bytes[i] = picture ? (unsigned char)(random() & 0xff) : (unsigned char)('a' + random() % 26);
    if (picture)
        memcpy(bytes, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x20\0\0\0\x10\x08\x02\0\0\0", 29);
}

static int64_t compare_ways(struct sniff_process *process, struct sniffer *library, const unsigned char *bytes,
                            size_t rounds, const char *what)
{
    static int64_t here[ROUNDS_MAX], apart[ROUNDS_MAX];
    struct arena *arena = arena_new();
    for (size_t i = 0; i < rounds; i++) {
        struct sniffed sniffed;
        int64_t from = clock_monotonic();
        (void)sniff(library, arena, bytes, LIMIT_SNIFF_BYTES, NULL);
        int64_t between = clock_monotonic();
        if (sniff_process_examine(process, arena, bytes, LIMIT_SNIFF_BYTES, NULL, &sniffed) != NULL)
            exit(EXIT_FAILURE);
        apart[i] = clock_monotonic() - between;
        here[i] = between - from;
        arena_reset(arena);
    }
    int64_t in_process = median(here, rounds);
    int64_t in_other = median(apart, rounds);
    (void)printf("%s: %" PRId64 " here, %" PRId64 " apart, %" PRId64 " more\n", what, in_process, in_other,
                 in_other - in_process);
    arena_free(&arena);
    return in_other - in_process;
}

int main(int argc, char **argv)
{
    static unsigned char bytes[LIMIT_SNIFF_BYTES];
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
    int64_t most = argc > 2 ? strtoll(argv[2], NULL, 10) : INT64_MAX;
    struct arena *arena = arena_new();
    struct sniff_process *process;
    struct sniffer *library;
    struct sandbox_walls walls;
    if (rounds == 0 || rounds > ROUNDS_MAX || sniff_process_fork(arena, NULL, &process) != NULL ||
        sniff_process_start(process, arena, true, &walls) != NULL || sniffer_open(arena, &library) != NULL)
        return EXIT_FAILURE;
    fill(bytes, true);
    int64_t picture = compare_ways(process, library, bytes, rounds, "a picture of 16 KiB");
    fill(bytes, false);
    int64_t text = compare_ways(process, library, bytes, rounds, "a text of 16 KiB");
    arena_free(&arena);
    return picture <= most && text <= most ? EXIT_SUCCESS : EXIT_FAILURE;
}
