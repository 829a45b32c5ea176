/* SPDX-License-Identifier: MIT */
/*
 * A log line is one line of valid JSON whatever is logged. The tests read lines with the JSON library, which
 * would let some faults pass, and therefore look at the bytes as well.
 */
#include "base/log.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/text.h"
#include "harness.h"

static void close_log(void *context)
{
    (void)context;
    (void)log_open(LOG_TO_STDERR, NULL, "test");
    log_set_level(LOG_LEVEL_INFO);
    log_context(NULL, NULL, NULL, NULL);
}

static const char *open_log(struct arena *arena)
{
    const char *path = arena_format(arena, "%s/log", harness_directory(arena));
    assert_true(log_open(LOG_TO_FILE, path, "test"));
    arena_defer(arena, close_log, NULL);
    return path;
}

static void release_line(void *line)
{
    cJSON_Delete(line);
}

/* The log's only line. */
static const cJSON *only_line(struct arena *arena, const char *path)
{
    size_t length = 0;
    const char *text = harness_read(arena, path, &length);
    assert_true(length > 2 && length <= LIMIT_LOG_LINE_BYTES);
    assert_int_equal(strlen(text), length);
    assert_ptr_equal(strchr(text, '\n'), text + length - 1);
    assert_true(utf8_valid(text, length));
    for (size_t i = 0; i < length - 1; i++)
        assert_true((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
    cJSON *line = cJSON_ParseWithOpts(arena_copy(arena, text, length - 1), NULL, 1);
    if (line == NULL)
        fail_msg("no JSON: %s", text);
    arena_defer(arena, release_line, line);
    assert_int_equal(truncate(path, 0), 0);
    return line;
}

static const char *member(const cJSON *line, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(line, name);
    if (!cJSON_IsString(value))
        fail_msg("no text %s", name);
    return value->valuestring;
}

static void a_line_says_when_what_and_where(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    log_context("request-1", "user-1", "organisation-1", "getFile");
    LOG(WARN, FILES, "file missing", LOG_TEXT("fileId", "f"), LOG_INTEGER("size", -5), LOG_BOOLEAN("found", false),
        LOG_BOOLEAN("kept", true), LOG_REAL("durationMs", 1.25), LOG_TEXT("none", NULL));
    const cJSON *line = only_line(arena, path);
    static const char *const order[] = {
        "time",           "level",  "module", "pid",   "message", "requestId",  "operation", "userId",
        "organisationId", "fileId", "size",   "found", "kept",    "durationMs", "none"};
    const cJSON *item = line->child;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++, item = item->next)
        assert_string_equal(item->string, order[i]);
    assert_null(item);
    assert_string_equal(member(line, "level"), "warn");
    assert_string_equal(member(line, "module"), "files");
    assert_string_equal(member(line, "message"), "file missing");
    assert_string_equal(member(line, "requestId"), "request-1");
    assert_string_equal(member(line, "operation"), "getFile");
    assert_string_equal(member(line, "userId"), "user-1");
    assert_string_equal(member(line, "organisationId"), "organisation-1");
    assert_string_equal(member(line, "fileId"), "f");
    assert_int_equal(strlen(member(line, "time")), 24);
    assert_true(cJSON_GetObjectItem(line, "pid")->valuedouble == getpid());
    assert_true(cJSON_GetObjectItem(line, "size")->valuedouble == -5);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(line, "found")));
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(line, "kept")));
    assert_true(fabs(cJSON_GetObjectItem(line, "durationMs")->valuedouble - 1.25) < 1e-9);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(line, "none")));
    log_context(NULL, NULL, NULL, NULL);
    LOG(INFO, HTTP, "plain");
    line = only_line(arena, path);
    assert_int_equal(cJSON_GetArraySize(line), 5);
}

/* What people put into names to forge a second line or break the first. */
static void hostile_texts_stay_inside_their_line(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    static const char *const hostile[] = {
        "\"}\n{\"level\":\"info\"}",
        "\r\n",
        "\\",
        "\\\"",
        "\x1b[31mred\x1b[0m",
        "\x1b]0;title\x07",
        ("\xc2\x9b"
         "31m"),
        "\xff\xfe\xfd",
        "caf\xe9",
        "\xc3",
        "\xe2\x80\xa8line\xe2\x80\xa9paragraph",
        "\xe2\x80\xaertl",
        "\x7f\x01\x02\x1f",
        "</script><script>alert(1)</script>",
        "${jndi:ldap://x}",
        "%s%n%d",
        "\xf0\x9f\x98\x80",
        "",
    };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        log_context(hostile[i], hostile[i], NULL, hostile[i]);
        LOG(INFO, HTTP, hostile[i], LOG_TEXT("name", hostile[i]));
        const cJSON *line = only_line(arena, path);
        assert_string_equal(member(line, "module"), "http");
        assert_int_equal(cJSON_GetArraySize(line), 10);
        if (utf8_valid(hostile[i], strlen(hostile[i])))
            assert_string_equal(member(line, "name"), hostile[i]);
    }
}

static void random_bytes_stay_inside_their_line(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    struct harness_random random = {.state = 6};
    for (int round = 0; round < 1000; round++) {
        char bytes[120];
        size_t length = harness_random_below(&random, sizeof bytes - 1);
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)(1 + harness_random_below(&random, round % 2 == 0 ? 255 : 40));
        bytes[length] = '\0';
        log_context(bytes, round % 3 == 0 ? bytes : NULL, bytes, bytes);
        LOG(INFO, HTTP, bytes, LOG_TEXT("name", bytes), LOG_INTEGER("after", round));
        const cJSON *line = only_line(arena, path);
        assert_int_equal(cJSON_GetArraySize(line), 11);
        assert_true(cJSON_GetObjectItem(line, "after")->valuedouble == round);
    }
}

/* Lengths round the limit, of characters of one to six bytes once escaped. */
static void long_lines_are_cut_and_stay_valid(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    static const char *const characters[] = {"x", "\"", "\n", "\xc3\xa9", "\xf0\x9f\x98\x80", "\xff"};
    for (size_t kind = 0; kind < sizeof characters / sizeof *characters; kind++)
        for (size_t count = 900; count < 8300; count += count > 1200 && count < 7900 ? 97 : 3) {
            struct buffer text;
            buffer_init(&text, arena);
            for (size_t i = 0; i < count; i++)
                buffer_add_text(&text, characters[kind]);
            LOG(INFO, HTTP, "long", LOG_TEXT("name", text.bytes), LOG_INTEGER("after", 1), LOG_TEXT("last", "text"));
            const cJSON *line = only_line(arena, path);
            bool cut = cJSON_IsTrue(cJSON_GetObjectItem(line, "truncated"));
            bool whole = strlen(member(line, "name")) >=
                             count * (characters[kind][0] == '\xff' ? 3 : strlen(characters[kind])) &&
                         cJSON_GetObjectItem(line, "after") != NULL && cJSON_GetObjectItem(line, "last") != NULL;
            assert_true(cut != whole);
        }
}

/* Cut or whole, with nothing behind the text that could notice that it was cut. */
static void a_last_text_that_is_cut_says_so(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    bool seen[2] = {false, false};
    for (size_t length = 7900; length < 8200; length++) {
        char *text = arena_alloc(arena, length + 1);
        memset(text, 'x', length);
        LOG(INFO, HTTP, "last", LOG_TEXT("name", text));
        const cJSON *line = only_line(arena, path);
        bool cut = strlen(member(line, "name")) < length;
        assert_int_equal(cut, cJSON_GetObjectItem(line, "truncated") != NULL);
        seen[cut] = true;
    }
    assert_true(seen[false] && seen[true]);
}

static void a_megabyte_is_cut_to_a_line(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    char *text = arena_alloc(arena, (1 << 20) + 1);
    memset(text, '\x01', 1 << 20);
    log_context(text, text, text, text);
    LOG(ERROR, HTTP, text, LOG_TEXT("one", text), LOG_TEXT("two", text), LOG_REAL("three", 3),
        LOG_BOOLEAN("four", true));
    const cJSON *line = only_line(arena, path);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(line, "truncated")));
    assert_string_equal(member(line, "level"), "error");
}

static void many_members_are_left_out_not_overrun(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    enum { COUNT = 600 };
    struct log_field *fields = arena_array(arena, COUNT + 1, sizeof *fields);
    for (size_t i = 0; i < COUNT; i++)
        fields[i] = i % 2 == 0 ? LOG_INTEGER(arena_format(arena, "number%zu", i), INT64_MIN)
                               : LOG_TEXT(arena_format(arena, "text%zu", i), "0123456789");
    log_event(LOG_LEVEL_INFO, LOG_MODULE_HTTP, "many", fields);
    const cJSON *line = only_line(arena, path);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(line, "truncated")));
    assert_true(cJSON_GetArraySize(line) > 200);
}

static void numbers_of_any_size_are_json(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    static const double reals[] = {0,     -0.0, 0.0005, -1.5, 999999999999999.0, 1e15, 1e300, -1.7976931348623157e308,
                                   5e-324};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        LOG(INFO, HTTP, "real", LOG_REAL("value", reals[i]), LOG_INTEGER("least", INT64_MIN),
            LOG_INTEGER("most", INT64_MAX));
        const cJSON *value = cJSON_GetObjectItem(only_line(arena, path), "value");
        assert_true(cJSON_IsNumber(value));
        assert_true(fabs(value->valuedouble - reals[i]) <= 0.0005 + 1e-6 * fabs(reals[i]));
    }
    static const double none[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        LOG(INFO, HTTP, "real", LOG_REAL("value", none[i]));
        assert_true(cJSON_IsNull(cJSON_GetObjectItem(only_line(arena, path), "value")));
    }
}

static void levels_hold_for_all_modules_or_one(void **state)
{
    (void)state;
    log_set_level(LOG_LEVEL_WARN);
    log_set_module_level(LOG_MODULE_FILES, LOG_LEVEL_DEBUG);
    assert_true(log_wants(LOG_LEVEL_FATAL, LOG_MODULE_HTTP));
    assert_true(log_wants(LOG_LEVEL_WARN, LOG_MODULE_HTTP));
    assert_false(log_wants(LOG_LEVEL_INFO, LOG_MODULE_HTTP));
    assert_true(log_wants(LOG_LEVEL_DEBUG, LOG_MODULE_FILES));
    assert_false(log_wants(LOG_LEVEL_TRACE, LOG_MODULE_FILES));
    log_set_level(LOG_LEVEL_INFO);
    assert_false(log_wants(LOG_LEVEL_DEBUG, LOG_MODULE_FILES));
    assert_true(log_wants(LOG_LEVEL_INFO, LOG_MODULE_HTTP));
}

static void unwanted_lines_are_not_written(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    LOG(DEBUG, HTTP, "quiet");
    size_t length = 1;
    (void)harness_read(arena, path, &length);
    assert_int_equal(length, 0);
}

static void names_of_levels_and_modules_are_read_back(void **state)
{
    (void)state;
    for (int i = 0; i < LOG_LEVEL_COUNT; i++) {
        enum log_level level = LOG_LEVEL_COUNT;
        assert_true(log_level_parse(log_level_text((enum log_level)i), &level));
        assert_int_equal(level, i);
    }
    for (int i = 0; i < LOG_MODULE_COUNT; i++) {
        enum log_module module = LOG_MODULE_COUNT;
        assert_true(log_module_parse(log_module_text((enum log_module)i), &module));
        assert_int_equal(module, i);
    }
    enum log_level level;
    enum log_module module;
    assert_false(log_level_parse("warning", &level));
    assert_false(log_level_parse("INFO", &level));
    assert_false(log_level_parse("", &level));
    assert_false(log_module_parse("*", &module));
    assert_false(log_module_parse("Files", &module));
}

static void the_file_is_appended_to_and_not_for_others(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    LOG(INFO, HTTP, "one");
    assert_true(log_open(LOG_TO_FILE, path, "test"));
    LOG(INFO, HTTP, "two");
    const char *text = harness_read(arena, path, NULL);
    assert_true(strstr(text, "\"one\"") != NULL && strstr(text, "\"one\"") < strstr(text, "\"two\""));
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07, 0);
}

static void a_log_that_cannot_be_opened_changes_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    assert_false(log_open(LOG_TO_FILE, "/proc/no/such/log", "test"));
    /* What is no file: a link to one, a pipe that nobody reads, a device. */
    const char *link = arena_format(arena, "%s/link", harness_directory(arena));
    const char *pipe = arena_format(arena, "%s/pipe", harness_directory(arena));
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_false(log_open(LOG_TO_FILE, link, "test"));
    assert_false(log_open(LOG_TO_FILE, pipe, "test"));
    assert_false(log_open(LOG_TO_FILE, "/dev/null", "test"));
    LOG(INFO, HTTP, "still here");
    assert_string_equal(member(only_line(arena, path), "message"), "still here");
}

/* Whoever may write in the folder puts a link where the log was: nothing is written where it leads. */
static void a_link_in_the_place_of_the_log_is_not_followed(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    const char *elsewhere = arena_format(arena, "%s/elsewhere", harness_directory(arena));
    const char *renamed = arena_format(arena, "%s/renamed", harness_directory(arena));
    LOG(INFO, HTTP, "one");
    assert_int_equal(rename(path, renamed), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    (void)sleep(1);
    LOG(INFO, HTTP, "two");
    assert_int_equal(access(elsewhere, F_OK), -1);
    assert_non_null(strstr(harness_read(arena, renamed, NULL), "\"two\""));
}

/* Who reads the log must not have to tell an unknown user from a member that is not there. */
static void lines_of_a_request_have_every_member_of_the_context(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    static const char *const members[] = {"requestId", "operation", "userId", "organisationId"};
    log_context("request-1", NULL, NULL, NULL);
    LOG(INFO, HTTP, "nobody yet");
    const cJSON *line = only_line(arena, path);
    for (size_t i = 1; i < 4; i++)
        assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(line, members[i])));
    log_actor("user-1", "organisation-1");
    LOG(INFO, HTTP, "somebody");
    line = only_line(arena, path);
    assert_string_equal(member(line, "requestId"), "request-1");
    assert_string_equal(member(line, "userId"), "user-1");
    assert_string_equal(member(line, "organisationId"), "organisation-1");
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(line, "operation")));
    log_context(NULL, NULL, NULL, NULL);
    LOG(INFO, HTTP, "outside");
    line = only_line(arena, path);
    for (size_t i = 0; i < 4; i++)
        assert_null(cJSON_GetObjectItemCaseSensitive(line, members[i]));
}

static void write_numbered(int *number)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    LOG(INFO, HTTP, "numbered", LOG_INTEGER("number", (*number)++));
    (void)nanosleep(&pause, NULL);
}

/* Writes numbered lines, from *number on, until the path leads to a file with lines. */
static void write_until_there(const char *path, int *number)
{
    struct stat found;
    do
        write_numbered(number);
    while (stat(path, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size == 0);
}

/* The numbered lines of a file, one after the other from *number on. */
static void expect_numbers(struct arena *arena, const char *path, int *number)
{
    size_t length;
    const char *at = harness_read(arena, path, &length);
    assert_true(length > 0);
    for (const char *end = strchr(at, '\n'); end != NULL; at = end + 1, end = strchr(at, '\n')) {
        const char *wanted = arena_format(arena, "\"number\":%d}", (*number)++);
        const char *found = strstr(at, wanted);
        assert_true(found != NULL && found < end);
    }
    assert_int_equal(*at, '\0');
}

static void a_renamed_file_is_made_anew_without_losing_a_line(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    const char *first = arena_format(arena, "%s.1", path);
    const char *second = arena_format(arena, "%s.2", path);
    int written = 0, found = 0;
    LOG(INFO, HTTP, "numbered", LOG_INTEGER("number", written++));
    assert_int_equal(rename(path, first), 0);
    write_until_there(path, &written);
    /* Also when somebody has put a new file there already, and when it was removed. */
    assert_int_equal(rename(path, second), 0);
    (void)harness_write(arena, arena_copy(arena, path, strlen(path) - strlen("/log")), "log", "", 0);
    write_until_there(path, &written);
    expect_numbers(arena, first, &found);
    expect_numbers(arena, second, &found);
    expect_numbers(arena, path, &found);
    assert_int_equal(found, written);
    assert_int_equal(unlink(path), 0);
    write_until_there(path, &written);
}

static void a_path_that_cannot_be_opened_again_leaves_the_old_file_in_use(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    const char *old = arena_format(arena, "%s.1", path);
    int written = 0, found = 0;
    assert_int_equal(rename(path, old), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    for (int64_t end = clock_now() / 1000 + 2; clock_now() / 1000 < end;)
        write_numbered(&written);
    expect_numbers(arena, old, &found);
    assert_int_equal(found, written);
    assert_int_equal(rmdir(path), 0);
    write_until_there(path, &written);
}

static void a_child_names_itself(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = open_log(arena);
    LOG(INFO, HTTP, "parent");
    assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(only_line(arena, path), "pid")), getpid());
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        LOG(INFO, HTTP, "child");
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(only_line(arena, path), "pid")), child);
}

static void levels_of_a_filter_are_set_at_once(void **state)
{
    struct log_levels levels;
    (void)state;
    assert_int_equal(log_levels_read(LOG_LEVEL_ERROR, "files=trace", &levels), LOG_FILTER_GOOD);
    log_set_levels(&levels);
    assert_true(log_wants(LOG_LEVEL_TRACE, LOG_MODULE_FILES));
    assert_false(log_wants(LOG_LEVEL_WARN, LOG_MODULE_HTTP));
    log_set_level(LOG_LEVEL_INFO);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_line_says_when_what_and_where),
    HARNESS_TEST(hostile_texts_stay_inside_their_line),
    HARNESS_TEST(random_bytes_stay_inside_their_line),
    HARNESS_TEST(long_lines_are_cut_and_stay_valid),
    HARNESS_TEST(a_last_text_that_is_cut_says_so),
    HARNESS_TEST(a_megabyte_is_cut_to_a_line),
    HARNESS_TEST(many_members_are_left_out_not_overrun),
    HARNESS_TEST(numbers_of_any_size_are_json),
    HARNESS_TEST(levels_hold_for_all_modules_or_one),
    HARNESS_TEST(unwanted_lines_are_not_written),
    HARNESS_TEST(names_of_levels_and_modules_are_read_back),
    HARNESS_TEST(lines_of_a_request_have_every_member_of_the_context),
    HARNESS_TEST(levels_of_a_filter_are_set_at_once),
    HARNESS_TEST(a_renamed_file_is_made_anew_without_losing_a_line),
    HARNESS_TEST(a_child_names_itself),
    HARNESS_TEST(a_path_that_cannot_be_opened_again_leaves_the_old_file_in_use),
    HARNESS_TEST(the_file_is_appended_to_and_not_for_others),
    HARNESS_TEST(a_log_that_cannot_be_opened_changes_nothing),
    HARNESS_TEST(a_link_in_the_place_of_the_log_is_not_followed),
};
HARNESS_MODULE(log, cases)
