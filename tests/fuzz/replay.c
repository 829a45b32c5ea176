/* SPDX-License-Identifier: MIT */
/*
 * Runs the fuzz targets on their corpora: each input as it is, and each beginning of it, since parsers fail where an
 * input ends early.
 *
 *     fuzz-replay [TARGET...]            runs them, all without a name; reports as TAP
 *     fuzz-replay --unpack TARGET DIR    writes the inputs of a corpus as files, for libFuzzer
 *     fuzz-replay --escape FILE...       prints files as lines of a corpus
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "corpus.h"
#include "fuzz.h"

/* So many beginnings of one input are tried; those of longer ones are spread evenly. */
#define BEGINNINGS_MAX 256
#define FILE_BYTES_MAX (1024 * 1024)

static const char *const names[] = {
#define ROW(function) FUZZ_NAME(function),
    FUZZ_TARGETS(ROW)
#undef ROW
};

/* The target sees a block of the very size, so that a sanitizer sees a read behind it. */
static void run_one(struct arena *arena, fuzz_target *run, const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size == 0 ? 1 : size);
    if (copy == NULL)
        abort();
    memcpy(copy, bytes, size);
    run(arena, copy, size);
    free(copy);
    arena_reset(arena);
}

static size_t replay(const char *name)
{
    struct arena *kept = arena_new();
    struct arena *arena = arena_new();
    struct corpus corpus = corpus_read(kept, name);
    fuzz_target *run = fuzz_find(name);
    for (size_t i = 0; i < corpus.count; i++) {
        const struct corpus_input *input = &corpus.inputs[i];
        size_t step = input->size / BEGINNINGS_MAX + 1;
        for (size_t size = 0; size < input->size; size += step)
            run_one(arena, run, input->bytes, size);
        run_one(arena, run, input->bytes, input->size);
    }
    size_t count = corpus.count;
    arena_free(&arena);
    arena_free(&kept);
    return count;
}

static int replay_all(const char *const *chosen, size_t count)
{
    bool failed = false;
    printf("1..%zu\n", count);
    for (size_t i = 0; i < count; i++) {
        size_t inputs = 0;
        if (fuzz_find(chosen[i]) == NULL)
            fprintf(stderr, "there is no target %s\n", chosen[i]);
        else
            inputs = replay(chosen[i]);
        failed = failed || inputs == 0;
        printf("%s %zu - fuzz: %s keeps its promises on %zu inputs\n", inputs > 0 ? "ok" : "not ok", i + 1, chosen[i],
               inputs);
        fflush(stdout);
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int unpack(const char *target, const char *directory)
{
    struct arena *arena = arena_new();
    struct corpus corpus = corpus_read(arena, target);
    for (size_t i = 0; i < corpus.count; i++) {
        FILE *file = fopen(arena_format(arena, "%s/line-%zu", directory, corpus.inputs[i].line), "we");
        if (file == NULL || fwrite(corpus.inputs[i].bytes, 1, corpus.inputs[i].size, file) != corpus.inputs[i].size ||
            fclose(file) != 0) {
            perror(directory);
            return EXIT_FAILURE;
        }
    }
    arena_free(&arena);
    return EXIT_SUCCESS;
}

static int escape(const char *path)
{
    static uint8_t bytes[FILE_BYTES_MAX];
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        perror(path);
        return EXIT_FAILURE;
    }
    corpus_write_line(stdout, bytes, fread(bytes, 1, sizeof bytes, file));
    fclose(file);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    log_set_level(LOG_LEVEL_FATAL);
    if (argc == 4 && strcmp(argv[1], "--unpack") == 0)
        return unpack(argv[2], argv[3]);
    if (argc > 2 && strcmp(argv[1], "--escape") == 0) {
        int status = EXIT_SUCCESS;
        for (int i = 2; i < argc && status == EXIT_SUCCESS; i++)
            status = escape(argv[i]);
        return status;
    }
    if (argc > 1)
        return replay_all((const char *const *)argv + 1, (size_t)argc - 1);
    return replay_all(names, sizeof names / sizeof *names);
}
