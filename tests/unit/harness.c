/* SPDX-License-Identifier: MIT */
/* What every unit test uses: running tests, arenas, folders, child processes. */
#include "harness.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"

static pid_t program; /* the process that runs the tests one after the other */

int harness_set_up(void **state)
{
    program = getpid();
    *state = arena_new();
    return 0;
}

int harness_tear_down(void **state)
{
    struct arena *arena = *state;
    /* A child in which an assertion failed: it must not go on with the tests that follow beside its parent. */
    if (getpid() != program)
        _exit(1);
    /* Lines of the next test must not name what lived in this one's arena. */
    log_context(NULL, NULL, NULL, NULL);
    arena_free(&arena);
    *state = NULL;
    return 0;
}

struct arena *harness_arena(void **state)
{
    return *state;
}

int harness_run(const char *group, const struct harness_module *modules, size_t module_count, int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    struct arena *arena = arena_new();
    size_t total = 0;
    for (size_t i = 0; i < module_count; i++) {
        size_t count;
        (void)modules[i].cases(&count);
        total += count;
    }
    struct CMUnitTest *all = arena_array(arena, total, sizeof *all);
    size_t chosen = 0;
    for (size_t i = 0; i < module_count; i++) {
        size_t count;
        const struct CMUnitTest *cases = modules[i].cases(&count);
        for (size_t j = 0; j < count; j++) {
            struct CMUnitTest one = cases[j];
            one.name = arena_format(arena, "%s: %s", modules[i].name, cases[j].name);
            if (strstr(one.name, wanted) != NULL)
                all[chosen++] = one;
        }
    }
    if (chosen == 0) {
        (void)fprintf(stderr, "%s: no test is named so\n", group);
        arena_free(&arena);
        return 2;
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    int failed = _cmocka_run_group_tests(group, all, chosen, NULL, NULL);
    arena_free(&arena);
    return failed == 0 ? 0 : 1;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_tree(void *path)
{
    (void)nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *make_directory(struct arena *arena, const char *base)
{
    char *path = arena_format(arena, "%s/gatehouse-test-XXXXXX", base);
    if (mkdtemp(path) == NULL)
        fail_msg("cannot make a directory like %s", path);
    arena_defer(arena, remove_tree, path);
    return path;
}

const char *harness_directory(struct arena *arena)
{
    const char *base = getenv("TMPDIR");
    return make_directory(arena, base != NULL && *base != '\0' ? base : "/tmp");
}

const char *harness_directory_for_all(struct arena *arena)
{
    const char *path = make_directory(arena, "/tmp");
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

const char *harness_write(struct arena *arena, const char *directory, const char *name, const void *bytes,
                          size_t length)
{
    const char *path = arena_format(arena, "%s/%s", directory, name);
    FILE *file = fopen(path, "we");
    if (file == NULL)
        fail_msg("cannot write %s", path);
    size_t written = fwrite(bytes, 1, length, file);
    int closed = fclose(file);
    if (written != length || closed != 0)
        fail_msg("cannot write %s", path);
    return path;
}

char *harness_read(struct arena *arena, const char *path, size_t *length_out)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        fail_msg("cannot read %s", path);
    size_t length = 0;
    size_t capacity = 4096;
    char *bytes = arena_alloc(arena, capacity + 1);
    for (size_t got; (got = fread(bytes + length, 1, capacity - length, file)) > 0;) {
        length += got;
        if (length < capacity)
            continue;
        char *larger = arena_alloc(arena, capacity * 2 + 1);
        memcpy(larger, bytes, length);
        bytes = larger;
        capacity *= 2;
    }
    (void)fclose(file);
    bytes[length] = '\0';
    if (length_out != NULL)
        *length_out = length;
    return bytes;
}

const char *harness_source(struct arena *arena, const char *path)
{
    const char *top = getenv("top_srcdir");
    return arena_format(arena, "%s/%s", top != NULL && *top != '\0' ? top : GATEHOUSE_TOP_SRCDIR, path);
}

struct variable {
    const char *name;
    const char *before;
};

static void restore_variable(void *argument)
{
    struct variable *variable = argument;
    if (variable->before != NULL)
        (void)setenv(variable->name, variable->before, 1);
    else
        (void)unsetenv(variable->name);
}

void harness_environment(struct arena *arena, const char *name, const char *value)
{
    struct variable *variable = arena_alloc(arena, sizeof *variable);
    variable->name = arena_text(arena, name);
    variable->before = arena_text(arena, getenv(name));
    arena_defer(arena, restore_variable, variable);
    if (value != NULL)
        (void)setenv(name, value, 1);
    else
        (void)unsetenv(name);
}

int harness_fork(void (*body)(void *context), void *context)
{
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null >= 0)
            (void)dup2(null, STDERR_FILENO);
        body(context);
        _exit(0);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child)
        fail_msg("cannot run a child process");
    return status;
}

/* SplitMix64 (Steele, Lea, Flood 2014): any seed is as good as another. */
uint32_t harness_random_next(struct harness_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = random->state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((mixed ^ (mixed >> 31)) >> 32);
}

uint32_t harness_random_below(struct harness_random *random, uint32_t bound)
{
    return (uint32_t)(((uint64_t)harness_random_next(random) * bound) >> 32);
}
