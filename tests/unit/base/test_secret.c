/* SPDX-License-Identifier: MIT */
/* Secrets: read from files with narrow rights, compared and wiped. */
#include "base/secret.h"

#include <dirent.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "harness.h"

static void a_copy_keeps_every_byte_and_ends_with_nul(void **state)
{
    struct arena *arena = harness_arena(state);
    char text[] = "a\0b";
    struct secret secret = secret_copy(arena, text, 3);
    text[0] = 'x';
    assert_int_equal(secret.length, 3);
    assert_memory_equal(secret.bytes, "a\0b", 4);
    secret = secret_of("word");
    assert_int_equal(secret.length, 4);
    assert_string_equal(secret_reveal(secret), "word");
    secret = secret_of(NULL);
    assert_null(secret.bytes);
    assert_int_equal(secret.length, 0);
    assert_null(secret_reveal(secret));
}

static void equality_is_of_all_bytes(void **state)
{
    struct arena *arena = harness_arena(state);
    char text[40];
    memset(text, 'x', sizeof text);
    struct secret secret = secret_copy(arena, text, sizeof text);
    assert_true(secret_equal(secret, secret_copy(arena, text, sizeof text)));
    assert_false(secret_equal(secret, secret_copy(arena, text, sizeof text - 1)));
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = 'y';
        assert_false(secret_equal(secret, secret_copy(arena, text, sizeof text)));
        text[i] = 'x';
    }
    assert_true(secret_equal(secret_of(""), secret_of("")));
}

/* Two missing secrets are not a match: whoever has none is not let in. */
static void no_secret_equals_nothing(void **state)
{
    (void)state;
    struct secret none = {0};
    assert_false(secret_equal(none, none));
    assert_false(secret_equal(none, secret_of("")));
    assert_false(secret_equal(secret_of(""), none));
}

static struct error *read_back(struct arena *arena, const char *bytes, size_t length, struct secret *secret)
{
    const char *path = harness_write(arena, harness_directory(arena), "secret", bytes, length);
    return secret_read(arena, path, secret);
}

static void a_file_is_read_but_for_one_line_end(void **state)
{
    struct arena *arena = harness_arena(state);
    struct secret secret = {0};
    assert_null(read_back(arena, "pass word", 9, &secret));
    assert_string_equal(secret_reveal(secret), "pass word");
    assert_null(read_back(arena, "pass word\n", 10, &secret));
    assert_int_equal(secret.length, 9);
    assert_null(read_back(arena, " pass \n\n", 8, &secret));
    assert_string_equal(secret_reveal(secret), " pass \n");
    assert_null(read_back(arena, "a\0b\n", 4, &secret));
    assert_int_equal(secret.length, 3);
    assert_memory_equal(secret.bytes, "a\0b", 4);
}

static void a_file_of_4096_bytes_is_the_longest(void **state)
{
    struct arena *arena = harness_arena(state);
    char *bytes = arena_alloc(arena, 6000);
    memset(bytes, 'x', 6000);
    struct secret secret = {0};
    assert_null(read_back(arena, bytes, 4096, &secret));
    assert_int_equal(secret.length, 4096);
    static const size_t lengths[] = {4097, 4098, 5000, 6000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct error *error = read_back(arena, bytes, lengths[i], &secret);
        assert_non_null(error);
        assert_int_equal(error->code, ERROR_INTERNAL);
    }
    /* A line end where the reading stops must not pass for the file's own. */
    bytes[4095] = '\n';
    bytes[4096] = '\n';
    assert_non_null(read_back(arena, bytes, 5000, &secret));
    assert_non_null(read_back(arena, bytes, 4097, &secret));
    assert_null(read_back(arena, bytes, 4096, &secret));
    assert_int_equal(secret.length, 4095);
}

static void a_file_without_a_secret_is_refused(void **state)
{
    struct arena *arena = harness_arena(state);
    struct secret secret = {0};
    assert_non_null(read_back(arena, "", 0, &secret));
    assert_non_null(read_back(arena, "\n", 1, &secret));
    const char *directory = harness_directory(arena);
    struct error *error = secret_read(arena, arena_format(arena, "%s/absent", directory), &secret);
    assert_non_null(error);
    assert_non_null(strstr(error->detail, "absent"));
    assert_non_null(secret_read(arena, directory, &secret));
    assert_null(secret.bytes);
}

static void a_protected_process_leaves_no_core_and_shows_no_memory(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {1, 1};
        secret_protect_process();
        bool good = prctl(PR_GET_DUMPABLE) == 0 && getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur == 0 &&
                    limit.rlim_max == 0;
        _exit(good ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static size_t entries_of(const char *directory)
{
    DIR *stream = opendir(directory);
    size_t count = 0;
    assert_non_null(stream);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        count += entry->d_name[0] != '.';
    (void)closedir(stream);
    return count;
}

/* Nothing but the file is left in its folder. */
static void a_file_is_made_whole_and_one_that_is_there_stays(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *path = arena_format(arena, "%s/secret", directory);
    struct secret read = {0};
    struct stat status;
    assert_null(secret_create(arena, path, secret_of("first")));
    assert_null(secret_create(arena, path, secret_of("second")));
    assert_null(secret_read(arena, path, &read));
    assert_string_equal(secret_reveal(read), "first");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(status.st_size, sizeof "first");
    assert_int_equal(entries_of(directory), 1);
}

static void a_file_that_cannot_be_made_is_named(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = arena_format(arena, "%s/absent/secret", harness_directory(arena));
    struct error *error = secret_create(arena, path, secret_of("x"));
    assert_non_null(error);
    assert_string_equal(error->message, arena_format(arena, "The file %s cannot be made.", path));
    assert_string_equal(error->detail, "No such file or directory");
}

static void a_link_that_leads_nowhere_is_no_secret(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *path = arena_format(arena, "%s/secret", directory);
    assert_int_equal(symlink("absent", path), 0);
    struct error *error = secret_create(arena, path, secret_of("x"));
    assert_non_null(error);
    assert_string_equal(error->detail, "No such file or directory");
    assert_int_equal(entries_of(directory), 1);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_protected_process_leaves_no_core_and_shows_no_memory),
    HARNESS_TEST(a_copy_keeps_every_byte_and_ends_with_nul),
    HARNESS_TEST(equality_is_of_all_bytes),
    HARNESS_TEST(no_secret_equals_nothing),
    HARNESS_TEST(a_file_is_read_but_for_one_line_end),
    HARNESS_TEST(a_file_of_4096_bytes_is_the_longest),
    HARNESS_TEST(a_file_without_a_secret_is_refused),
    HARNESS_TEST(a_file_is_made_whole_and_one_that_is_there_stays),
    HARNESS_TEST(a_file_that_cannot_be_made_is_named),
    HARNESS_TEST(a_link_that_leads_nowhere_is_no_secret),
};
HARNESS_MODULE(secret, cases)
