/* SPDX-License-Identifier: MIT */
/* Which files the log takes. */
#include "base/log.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "harness.h"

/* A file with a second name may be anybody's, in a folder that the workers may not write. */
static void a_file_with_two_names_is_no_log(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = arena_format(arena, "%s/log", harness_directory(arena));
    const char *other = arena_format(arena, "%s/other", harness_directory(arena));
    const char *second = arena_format(arena, "%s/second", harness_directory(arena));
    assert_true(log_open(LOG_TO_FILE, other, "test"));
    assert_true(log_open(LOG_TO_FILE, path, "test"));
    assert_int_equal(link(other, second), 0);
    assert_false(log_open(LOG_TO_FILE, second, "test"));
    LOG(INFO, HTTP, "still here");
    assert_true(log_open(LOG_TO_STDERR, NULL, "test"));
    assert_non_null(strstr(harness_read(arena, path, NULL), "\"still here\""));
    assert_string_equal(harness_read(arena, other, NULL), "");
}

static void what_is_no_log_is_named_with_the_way_out(void **state)
{
    static const struct {
        mode_t mode;
        nlink_t names;
        const char *said;
    } cases[] = {
        {S_IFLNK | 0777, 1,
         "is a symbolic link, which the log does not follow: name the file itself, or set "
         "destination = stderr"},
        {S_IFIFO | 0600, 1, "is not a file: set destination = stderr"},
        {S_IFCHR | 0620, 1, "is not a file: set destination = stderr"},
        {S_IFSOCK | 0600, 1, "is not a file: set destination = stderr"},
        {S_IFDIR | 0755, 2, "is a folder: name a file in it"},
        {S_IFREG | 0640, 2, "has another name (a hard link): name a file that has none"},
        {S_IFREG | 0640, 1, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct stat file = {.st_mode = cases[i].mode, .st_nlink = cases[i].names};
        const char *problem = log_file_problem(&file);
        if (cases[i].said == NULL)
            assert_null(problem);
        else
            assert_ptr_equal(strstr(problem, cases[i].said), problem);
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_file_with_two_names_is_no_log),
    HARNESS_TEST(what_is_no_log_is_named_with_the_way_out),
};
HARNESS_MODULE(log_file, cases)
