/* SPDX-License-Identifier: MIT */
/*
 * What `gatehousectl check` says of files and folders: which of them another user may read or change, and which the
 * service cannot use. Where the tests run as root they look as nobody, too, whom the kernel refuses something.
 */
#include "harness.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "service/system/inspect.h"

#define NOBODY 65534

static void become_root(void *context)
{
    (void)context;
    assert_int_equal(seteuid(0) | setegid(0), 0);
}

/* From here to the end of the test this process is nobody; false where it is not root and stays who it is. */
static bool become_nobody(struct arena *arena)
{
    if (geteuid() != 0)
        return false;
    arena_defer(arena, become_root, NULL);
    assert_int_equal(setegid(NOBODY) | seteuid(NOBODY), 0);
    return true;
}

static const char *file_of(struct arena *arena, const char *folder, const char *name, mode_t mode, uid_t owner)
{
    const char *path = harness_write(arena, folder, name, "x", 1);
    assert_int_equal(chmod(path, mode), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(path, owner, owner), 0);
    return path;
}

/* Whether the text is in what is said; NULL: nothing may be said. */
static void expect_said(struct error *error, const char *text)
{
    if (text == NULL && error != NULL)
        fail_msg("it says %s", error->message);
    if (text != NULL && error == NULL)
        fail_msg("nothing is said, and not: %s", text);
    if (text != NULL && strstr(error->message, text) == NULL)
        fail_msg("it says %s and not: %s", error->message, text);
}

static struct error *look_at_secret(struct arena *arena, const char *path)
{
    struct configuration configuration = {.service = {.secret_file = path}};
    return inspect_secret_files(arena, &configuration);
}

static void a_secret_that_is_none_is_told(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory_for_all(arena);
    expect_said(look_at_secret(arena, arena_format(arena, "%s/missing", folder)), "cannot be read: No such file");
    expect_said(look_at_secret(arena, folder), "is not a file");
    expect_said(look_at_secret(arena, file_of(arena, folder, "all", 0604, 0)), "Everybody on this machine");
    expect_said(look_at_secret(arena, file_of(arena, folder, "group", 0620, 0)), "A whole group may change");
    /* Root does not know the groups of the service's user. */
    expect_said(look_at_secret(arena, file_of(arena, folder, "good", 0640, geteuid() == 0 ? 7 : 0)), NULL);
}

static void a_secret_of_others_is_told_to_the_services_user(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory_for_all(arena);
    const char *of_group = file_of(arena, folder, "group", 0640, 7);
    const char *foreign = file_of(arena, folder, "foreign", 0600, 7);
    const char *roots = file_of(arena, folder, "root", 0600, 0);
    const char *own = file_of(arena, folder, "own", 0640, NOBODY);
    if (!become_nobody(arena))
        return;
    expect_said(look_at_secret(arena, of_group), "Another group than the service's may read");
    expect_said(look_at_secret(arena, foreign), "belongs to another user than the service's (7)");
    expect_said(look_at_secret(arena, roots), "cannot be read: Permission denied");
    expect_said(look_at_secret(arena, own), NULL);
    /* Another user runs the commands that this password is for. */
    struct configuration configuration = {.database = {.admin_password_file = roots}};
    expect_said(inspect_secret_files(arena, &configuration), NULL);
}

static struct error *look_at_log(struct arena *arena, const char *path)
{
    struct configuration configuration = {.log = {.destination = "file", .file = path}};
    return inspect_log(arena, &configuration);
}

static void a_log_that_cannot_be_written_is_told(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory_for_all(arena);
    const char *log = file_of(arena, folder, "log", 0600, 0);
    const char *link = arena_format(arena, "%s/link", folder);
    assert_int_equal(symlink(log, link), 0);
    expect_said(look_at_log(arena, log), NULL);
    expect_said(look_at_log(arena, arena_format(arena, "%s/file", log)), "is missing. Make the folder");
    expect_said(look_at_log(arena, link), link);
    expect_said(look_at_log(arena, folder), folder);
    if (!become_nobody(arena))
        return;
    expect_said(look_at_log(arena, log), "cannot be written: Permission denied");
    expect_said(look_at_log(arena, arena_format(arena, "%s/new", folder)), "takes no file: Permission denied");
    expect_said(look_at_log(arena, "/new"), "The folder / of [log] file takes no file");
}

static struct error *look_at_memory(struct arena *arena, const char *path)
{
    struct configuration configuration = {.metrics = {.file = path}};
    return inspect_metrics(arena, &configuration);
}

static void shared_memory_that_is_no_file_is_told(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory_for_all(arena);
    const char *file = file_of(arena, folder, "file", 0600, 0);
    const char *link = arena_format(arena, "%s/link", folder);
    assert_int_equal(symlink(file, link), 0);
    expect_said(look_at_memory(arena, file), NULL);
    expect_said(look_at_memory(arena, link), "cannot be written: it is not a file");
    expect_said(look_at_memory(arena, arena_format(arena, "%s/in/it", file)), "is missing");
}

static struct configuration store_in(const char *folder)
{
    return (struct configuration){.files = {.store = "directory", .directory = folder}};
}

static void a_folder_of_files_that_others_own_is_told(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory_for_all(arena);
    struct configuration configuration = store_in(folder);
    expect_said(inspect_files_owner(arena, &configuration), NULL);
    struct configuration missing = store_in(arena_format(arena, "%s/missing", folder));
    expect_said(inspect_files_owner(arena, &missing), "cannot be looked at: No such file");
    missing.files.store = "s3";
    expect_said(inspect_files_owner(arena, &missing), NULL);
    if (geteuid() != 0)
        return;
    const char *shard = arena_format(arena, "%s/a7", folder);
    assert_int_equal(mkdir(shard, 0700) | chown(shard, 7, 7), 0);
    expect_said(inspect_files_owner(arena, &configuration), "/a7 belongs to user 7 and not to the user who");
    assert_int_equal(rmdir(shard), 0);
    assert_true(become_nobody(arena));
    struct error *error = inspect_files_owner(arena, &configuration);
    expect_said(error, "belongs to user 0 and not to the user who writes files there, 65534");
    assert_int_equal(error->entry_count, 1);
    assert_non_null(strstr(error->entries->message, "takes no file: Permission denied"));
}

static void a_folder_of_files_into_which_others_may_put_some_is_told(void **state)
{
    static const struct {
        mode_t mode;
        const char *said;
    } rows[] = {{0700, NULL},
                {0755, NULL},
                {0770, "A whole group may put files into"},
                {0702, "Everybody on this machine may put files into"},
                {0777, "Everybody on this machine may put files into"}};
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory(arena);
    struct configuration configuration = store_in(folder);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(chmod(folder, rows[i].mode), 0);
        expect_said(inspect_files_mode(arena, &configuration), rows[i].said);
    }
    configuration.files.store = "s3";
    expect_said(inspect_files_mode(arena, &configuration), NULL);
    configuration = store_in("/missing");
    expect_said(inspect_files_mode(arena, &configuration), NULL);
}

static void a_folder_for_bodies_that_the_service_may_not_enter_is_told(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory(arena);
    struct configuration configuration = {.files = {.body_directory = folder}};
    assert_int_equal(chmod(folder, 0700), 0);
    expect_said(inspect_bodies(arena, &configuration), NULL);
    configuration.files.body_directory = NULL;
    expect_said(inspect_bodies(arena, &configuration), NULL);
}

static void a_sandbox_that_is_off_and_a_user_who_is_not_there_are_told(void **state)
{
    struct arena *arena = harness_arena(state);
    struct configuration configuration = {.service = {.sandbox = false}};
    expect_said(inspect_sandbox(arena, &configuration), "sandbox in [service] is false");
    const char *names[] = {"root", "nobody-of-this-name"};
    configuration.service.web_server_user = (struct text_list){names, 1};
    expect_said(inspect_users(arena, &configuration), NULL);
    configuration.service.web_server_user.count = 2;
    expect_said(inspect_users(arena, &configuration), "names nobody-of-this-name, and there is no such user");
}

static void mail_that_cannot_leave_is_told(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *folder = harness_directory(arena);
    struct configuration configuration = {
        .mail = {.transport = "file", .directory = folder, .from = "Gatehouse <no-reply@gatehouse.test>"}};
    expect_said(inspect_mail_sender(arena, &configuration), NULL);
    expect_said(inspect_mail_way(arena, &configuration, 1), NULL);
    configuration.mail.from = "Gatehouse";
    expect_said(inspect_mail_sender(arena, &configuration), "neither an address nor");
    configuration.mail.directory = harness_write(arena, folder, "file", "x", 1);
    expect_said(inspect_mail_way(arena, &configuration, 1), "No mail can leave by");
    configuration.mail.transport = "smtp";
    configuration.mail.smtp_url = "smtp://127.0.0.1:1";
    configuration.mail.smtp_tls = "none";
    expect_said(inspect_mail_way(arena, &configuration, 1), "No mail can leave by smtp://127.0.0.1:1");
    configuration.mail.smtp_user = "gatehouse";
    configuration.mail.smtp_password_file = "/missing";
    assert_non_null(inspect_mail_way(arena, &configuration, 1));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_secret_that_is_none_is_told),
    HARNESS_TEST(a_secret_of_others_is_told_to_the_services_user),
    HARNESS_TEST(a_log_that_cannot_be_written_is_told),
    HARNESS_TEST(shared_memory_that_is_no_file_is_told),
    HARNESS_TEST(a_folder_of_files_that_others_own_is_told),
    HARNESS_TEST(a_folder_of_files_into_which_others_may_put_some_is_told),
    HARNESS_TEST(a_folder_for_bodies_that_the_service_may_not_enter_is_told),
    HARNESS_TEST(a_sandbox_that_is_off_and_a_user_who_is_not_there_are_told),
    HARNESS_TEST(mail_that_cannot_leave_is_told),
};
HARNESS_MODULE(inspect_files, cases)
