/* SPDX-License-Identifier: MIT */
/* What keeps a program from starting is told with the file that is to blame. */
#include "harness.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "service/runtime/startup.h"

#define BASE "[service]\nbase_url = https://gate.example\nweb_url = https://web.example\n"

static struct error *load(struct arena *arena, const char *option, const char *program)
{
    struct configuration *configuration = NULL;
    return startup_load(arena, option, program, &configuration);
}

static const char *configuration_with(struct arena *arena, const char *text)
{
    const char *whole = arena_format(arena, BASE "%s", text);
    return harness_write(arena, harness_directory(arena), "gatehouse.conf", whole, strlen(whole));
}

/* Both texts are in one sentence of the error's. */
static void expect_said(struct error *error, const char *first, const char *second)
{
    assert_non_null(error);
    bool said = strstr(error->message, first) != NULL && strstr(error->message, second) != NULL;
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next)
        said = said || (strstr(entry->message, first) != NULL && strstr(entry->message, second) != NULL);
    if (!said)
        fail_msg("%s and %s are not said", first, second);
}

static void a_configuration_that_somebody_named_must_be_there(void **state)
{
    struct arena *arena = harness_arena(state);
    harness_environment(arena, "GATEHOUSE_CONFIG", "/missing/by-variable.conf");
    expect_said(load(arena, "/missing/by-option.conf", "test"), "/missing/by-option.conf", "");
    expect_said(load(arena, NULL, "test"), "/missing/by-variable.conf", "");
    /* The option counts more. */
    assert_null(load(arena, configuration_with(arena, ""), NULL));
}

static void a_log_that_cannot_be_opened_ends_the_start(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory(arena);
    const char *link = arena_format(arena, "%s/link", folder);
    assert_int_equal(symlink("/etc/passwd", link), 0);
    const char *missing = arena_format(arena, "%s/missing/log", folder);
    const char *paths[] = {missing, folder, link};
    for (size_t i = 0; i < 3; i++) {
        const char *text = arena_format(arena, "[log]\ndestination = file\nfile = %s\n", paths[i]);
        expect_said(load(arena, configuration_with(arena, text), "test"), paths[i],
                    i == 0 ? "cannot be opened: No such file" : "of [log] file");
        /* A program that writes no log of its own starts. */
        assert_null(load(arena, configuration_with(arena, text), NULL));
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_configuration_that_somebody_named_must_be_there),
    HARNESS_TEST(a_log_that_cannot_be_opened_ends_the_start),
};
HARNESS_MODULE(startup, cases)
