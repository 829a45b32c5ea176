/* SPDX-License-Identifier: MIT */
/* What is loaded before the walls works behind them, and nothing else is loaded there. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/sandbox/sandbox.h"
#include "base/sandbox/support_walls.h"
#include "harness.h"

/* Modules of the name service that nothing here uses. */
#define WANTED "libnss_compat.so.2"
#define UNWANTED "libnss_hesiod.so.2"

static bool is_loaded(const char *library)
{
    return dlopen(library, RTLD_NOW | RTLD_NOLOAD) != NULL;
}

static bool can_be_loaded(const char *library)
{
    return dlopen(library, RTLD_NOW) != NULL;
}

static const char *nsswitch(struct arena *arena, const char *text)
{
    return harness_write(arena, harness_directory(arena), "nsswitch.conf", text, strlen(text));
}

enum answer { RIGHT, WRONG, NO_LIBRARIES };

/* In a child, since a library that is loaded stays. */
static enum answer answer_of(void (*ask)(void *context), void *context)
{
    int status = harness_fork(ask, context);
    return WIFEXITED(status) ? (enum answer)WEXITSTATUS(status) : WRONG;
}

static void ask_installed(void *context)
{
    (void)context;
    _exit(can_be_loaded(WANTED) && can_be_loaded(UNWANTED) ? RIGHT : NO_LIBRARIES);
}

struct question {
    const char *path;
    bool wanted;
};

static void ask_loaded(void *context)
{
    const struct question *question = context;
    sandbox_load_libraries(question->path);
    _exit(is_loaded(WANTED) == question->wanted && !is_loaded(UNWANTED) ? RIGHT : WRONG);
}

static void the_modules_that_look_up_hosts_are_loaded(void **state)
{
    static const struct {
        const char *text;
        bool wanted;
    } rows[] = {
        {"hosts: files compat dns\n", true},
        {"  hosts:compat", true},
        {"passwd: hesiod\nhosts: files [ !UNAVAIL = hesiod ] compat # hesiod\nservices: hesiod\n", true},
        {"hosts: files [NOTFOUND=return] ../../tmp/x [SUCCESS=merge]\tcompat\n", true},
        {"# hosts: compat\npasswd: compat\nhostsx: compat\nhosts: files [compat\n", false},
        {"", false},
    };
    struct arena *arena = harness_arena(state);
    if (answer_of(ask_installed, NULL) == NO_LIBRARIES)
        skip();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct question question = {nsswitch(arena, rows[i].text), rows[i].wanted};
        if (answer_of(ask_loaded, &question) != RIGHT)
            fail_msg("row %zu: %s", i, rows[i].text);
    }
    struct question missing = {"/nowhere/nsswitch.conf", false};
    assert_int_equal(answer_of(ask_loaded, &missing), RIGHT);
}

static void load_behind_the_walls(void *context)
{
    const char *path = context;
    sandbox_load_libraries(path);
    if (!walls_raise().calls)
        _exit(RIGHT);
    _exit(can_be_loaded(WANTED) && !can_be_loaded(UNWANTED) ? RIGHT : WRONG);
}

static void behind_the_walls_only_what_is_loaded_can_be_had(void **state)
{
    walls_set_up(harness_arena(state));
    if (answer_of(ask_installed, NULL) == NO_LIBRARIES)
        skip();
    const char *path = nsswitch(harness_arena(state), "hosts: files compat\n");
    assert_int_equal(answer_of(load_behind_the_walls, (void *)(uintptr_t)path), RIGHT);
}

static void *leave(void *context)
{
    *(bool *)context = true;
    pthread_exit(NULL);
}

static void *wait_for_ever(void *context)
{
    for (;;)
        (void)pause();
    return context;
}

static bool ends_threads(void)
{
    pthread_t leaving, waiting;
    bool ran = false;
    return pthread_create(&leaving, NULL, leave, &ran) == 0 && pthread_join(leaving, NULL) == 0 && ran &&
           pthread_create(&waiting, NULL, wait_for_ever, NULL) == 0 && pthread_cancel(waiting) == 0 &&
           pthread_join(waiting, NULL) == 0;
}

static void end_threads(void *context)
{
    (void)context;
    sandbox_load_libraries("/etc/nsswitch.conf");
    (void)walls_raise();
    _exit(ends_threads() ? RIGHT : WRONG);
}

/* A resolver of libcurl may do so. */
static void threads_leave_and_are_cancelled_behind_the_walls(void **state)
{
    walls_set_up(harness_arena(state));
    assert_int_equal(answer_of(end_threads, NULL), RIGHT);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(the_modules_that_look_up_hosts_are_loaded),
    HARNESS_TEST(behind_the_walls_only_what_is_loaded_can_be_had),
    HARNESS_TEST(threads_leave_and_are_cancelled_behind_the_walls),
};
HARNESS_MODULE(sandbox_libraries, cases)
