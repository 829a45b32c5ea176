/* SPDX-License-Identifier: MIT */
/* Mail into a directory. */
#include "harness.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "store/mail/mail.h"
#include "store/support.h"

static struct mail_message message_of(struct arena *arena, const char *text)
{
    struct mail mail = {.to = "zoe@example.org", .subject = "s", .text = text};
    struct mail_message message;
    help_none(mail_compose(arena, "a@example.org", &mail, 0, &message));
    return message;
}

static int list(const char *directory, struct dirent ***entries_out)
{
    int count = scandir(directory, entries_out, NULL, alphasort);
    assert_true(count >= 2);
    return count;
}

static void messages_are_whole_private_and_in_order(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = arena_format(arena, "%s/mail", harness_directory(arena));
    struct mail_transport *transport = mail_transport_file(arena, directory);
    const char *reason = "untouched";
    mode_t before = umask(0);
    for (int i = 0; i < 20; i++) {
        struct mail_message message = message_of(arena, arena_format(arena, "number %d\n", i));
        assert_int_equal(mail_send(transport, arena, &message, &reason), MAIL_SENT);
        assert_null(reason);
    }
    (void)umask(before);
    struct stat status;
    assert_int_equal(stat(directory, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    struct dirent **entries;
    int count = list(directory, &entries), found = 0;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            const char *path = arena_format(arena, "%s/%s", directory, name);
            size_t length;
            assert_string_equal(name + strlen(name) - 4, ".eml");
            assert_int_equal(stat(path, &status), 0);
            assert_int_equal(status.st_mode & 07777, 0600);
            const char *text = harness_read(arena, path, &length);
            assert_null(strchr(text, '\r'));
            assert_non_null(strstr(text, arena_format(arena, "\n\nnumber %d\n", found++)));
        }
        free(entries[i]);
    }
    free((void *)entries);
    assert_int_equal(found, 20);
}

static void what_cannot_be_written_is_for_later_and_leaves_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *place = harness_directory(arena);
    struct mail_message message = message_of(arena, "t\n");
    const char *reason = NULL;
    struct mail_transport *transport = mail_transport_file(arena, arena_format(arena, "%s/a/b", place));
    assert_int_equal(mail_send(transport, arena, &message, &reason), MAIL_LATER);
    assert_non_null(strstr(reason, "No such file"));
    const char *file = harness_write(arena, place, "file", "x", 1);
    transport = mail_transport_file(arena, file);
    assert_int_equal(mail_send(transport, arena, &message, &reason), MAIL_LATER);
    assert_non_null(strstr(reason, "Not a directory"));
    transport = mail_transport_file(arena, "/proc/self");
    assert_int_equal(mail_send(transport, arena, &message, &reason), MAIL_LATER);
    assert_non_null(reason);
}

static void a_full_disk_is_for_later_and_leaves_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = arena_format(arena, "%s/mail", harness_directory(arena));
    struct mail_transport *transport = mail_transport_file(arena, directory);
    struct mail_message message = message_of(arena, "t\n");
    const char *reason = NULL;
    /* As a full disk does, RLIMIT_FSIZE fails the write itself. */
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 16;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum mail_outcome outcome = mail_send(transport, arena, &message, &reason);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    assert_int_equal(outcome, MAIL_LATER);
    assert_non_null(strstr(reason, "cannot write"));
    struct dirent **entries;
    int count = list(directory, &entries);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free((void *)entries);
    assert_int_equal(count, 2);
}

static void the_configuration_chooses_the_transport(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    struct configuration configuration = {.mail = {.transport = "file", .smtp_tls = "required"}};
    struct mail_transport *transport;
    help_error(mail_transport_load(arena, &configuration, &transport), ERROR_INTERNAL);
    configuration.mail.directory = directory;
    help_none(mail_transport_load(arena, &configuration, &transport));
    struct mail_message message = message_of(arena, "t\n");
    const char *reason;
    assert_int_equal(mail_send(transport, arena, &message, &reason), MAIL_SENT);
    configuration.mail.transport = "smtp";
    configuration.mail.smtp_url = "smtp://mail.example:25";
    help_none(mail_transport_load(arena, &configuration, &transport));
    configuration.mail.smtp_tls = "none";
    help_error(mail_transport_load(arena, &configuration, &transport), ERROR_INTERNAL);
    configuration.mail.smtp_tls = "opportunistic";
    help_none(mail_transport_load(arena, &configuration, &transport));
    configuration.mail.smtp_user = "user";
    configuration.mail.smtp_password_file = "/nowhere/at/all";
    help_error(mail_transport_load(arena, &configuration, &transport), ERROR_INTERNAL);
    configuration.mail.smtp_password_file = harness_write(arena, directory, "password", "p\n", 2);
    help_error(mail_transport_load(arena, &configuration, &transport), ERROR_INTERNAL);
    configuration.mail.smtp_tls = "required";
    help_none(mail_transport_load(arena, &configuration, &transport));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(messages_are_whole_private_and_in_order),
    HARNESS_TEST(what_cannot_be_written_is_for_later_and_leaves_nothing),
    HARNESS_TEST(a_full_disk_is_for_later_and_leaves_nothing),
    HARNESS_TEST(the_configuration_chooses_the_transport),
};
HARNESS_MODULE(mail_file, cases)
