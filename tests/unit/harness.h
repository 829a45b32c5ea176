/* SPDX-License-Identifier: MIT */
/*
 * What every unit test program shares. A module's tests stand in tests/unit/<floor>/test_<module>.c, which
 * ends with
 *
 *     static const struct CMUnitTest cases[] = {HARNESS_TEST(arena_is_zeroed), ...};
 *     HARNESS_MODULE(arena, cases)
 *
 * and the program's main.c lists its modules:
 *
 *     #define MODULES(X) X(arena) X(text)
 *     HARNESS_MAIN("base", MODULES)
 *
 * All modules run as one cmocka group with TAP output. A test gets an arena in *state (see harness_arena()),
 * which is freed after it whether it passed or not.
 */
#ifndef GATEHOUSE_TESTS_HARNESS_H
#define GATEHOUSE_TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct arena;

struct harness_module {
    const char *name;
    const struct CMUnitTest *(*cases)(size_t *count_out);
};

/*
 * Runs every case whose "module: case" name holds the program's first argument (all without one). The exit
 * status.
 */
int harness_run(const char *group, const struct harness_module *modules, size_t module_count, int argc, char **argv);

int harness_set_up(void **state);
int harness_tear_down(void **state);

#define HARNESS_TEST(function) cmocka_unit_test_setup_teardown(function, harness_set_up, harness_tear_down)

#define HARNESS_MODULE(module, list)                                                                                   \
    const struct CMUnitTest *test_##module##_cases(size_t *count_out);                                                 \
    const struct CMUnitTest *test_##module##_cases(size_t *count_out)                                                  \
    {                                                                                                                  \
        *count_out = sizeof(list) / sizeof *(list);                                                                    \
        return (list);                                                                                                 \
    }

#define HARNESS_DECLARE_(module) const struct CMUnitTest *test_##module##_cases(size_t *count_out);
#define HARNESS_LIST_(module) {#module, test_##module##_cases},
#define HARNESS_MAIN(group, MODULES)                                                                                   \
    MODULES(HARNESS_DECLARE_)                                                                                          \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        static const struct harness_module modules[] = {MODULES(HARNESS_LIST_)};                                       \
        return harness_run(group, modules, sizeof modules / sizeof *modules, argc, argv);                              \
    }

/* The arena of the running test. */
struct arena *harness_arena(void **state);

/* A new empty directory, removed with what is in it when the arena goes. */
const char *harness_directory(struct arena *arena);

/* One that every user may enter, whoever owns $TMPDIR. */
const char *harness_directory_for_all(struct arena *arena);

/* Writes a file `name` into `directory`; its path. */
const char *harness_write(struct arena *arena, const char *directory, const char *name, const void *bytes,
                          size_t length);

/* The whole of a file, NUL-terminated in the arena; *length_out (may be NULL) without the NUL. */
char *harness_read(struct arena *arena, const char *path, size_t *length_out);

/* The path of a file of the source tree, given relative to its top. */
const char *harness_source(struct arena *arena, const char *path);

/* Sets or (value NULL) unsets an environment variable until the arena goes. */
void harness_environment(struct arena *arena, const char *name, const char *value);

/*
 * Runs body(context) in a child process and returns its wait status, for promises such as "ends the process".
 * The child's stderr is discarded.
 */
int harness_fork(void (*body)(void *context), void *context);

/* A pseudo-random stream that is the same in every run: tests with random input must be repeatable. */
struct harness_random {
    uint64_t state;
};
uint32_t harness_random_next(struct harness_random *random);
uint32_t harness_random_below(struct harness_random *random, uint32_t bound);

#endif
