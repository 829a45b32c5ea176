/* SPDX-License-Identifier: MIT */
/* The rules for passwords, as a table. */
#include "harness.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/account/password_policy.h"

static const char list[] = "123456789012\nbananabanana\npassword1234\nzzzzzzzzzzzz\n";

static const struct password_policy *open_policy(struct arena *arena, const char *content, int64_t minimum)
{
    const struct password_policy *policy = NULL;
    const char *path = harness_write(arena, harness_directory(arena), "list", content, strlen(content));
    assert_null(password_policy_open(arena, path, minimum, &policy));
    return policy;
}

static const char *verdict(struct arena *arena, const struct password_policy *policy, const char *password)
{
    struct password_owner owner = {"ann.smith-jones@example.org", "Annabella", "Smith-Jones", "Bücher & Söhne GmbH"};
    struct error *error = password_policy_check(policy, arena, "newPassword", secret_of(password), &owner);
    if (error == NULL)
        return "good";
    assert_int_equal(error->code, ERROR_PASSWORD_POLICY);
    assert_string_equal(error->entries->path, "newPassword");
    return error->entries->code;
}

static void table_of_verdicts(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct password_policy *policy = open_policy(arena, list, 12);
    char longest[129 + 1];
    memset(longest, 'q', sizeof longest);
    longest[128] = '\0';
    assert_string_equal(verdict(arena, policy, longest), "good");
    longest[128] = 'q';
    longest[129] = '\0';
    assert_string_equal(verdict(arena, policy, longest), "length");
    static const char *const table[][2] = {
        {"eleven-char", "length"},
        {"twelve-chars", "good"},
        {"correct horse battery", "good"},
        {"            ", "good"},
        {"\xe5\xaf\x86\xe7\xa0\x81\xe5\xaf\x86\xe7\xa0\x81", "length"},
        {"p\xc3\xa4ssw\xc3\xb6rter-\xe2\x98\x83", "good"},
        {"123456789012", "common"},
        {"BananaBanana", "common"},
        {"PASSWORD1234", "common"},
        {"zzzzzzzzzzzz", "common"},
        {"zzzzzzzzzzzzz", "good"},
        {"password123", "length"},
        {"password12345", "good"},
        {"Ann.Smith-Jones@Example.org", "personal"},
        {"ann.smith-jones", "personal"},
        {"ANNABELLASMITH-JONES", "personal"},
        {"annabella smith-jones", "personal"},
        {"smith-jonesannabella", "personal"},
        {"annabella and friends", "good"},
        {"bücher & söhne gmbh", "personal"},
        {"BÜCHER & SÖHNE GMBH", "personal"},
        {"bu\xcc\x88"
         "cher & so\xcc\x88hne gmbh",
         "personal"},
        {"bücher & söhne gmbh 1", "good"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(verdict(arena, policy, table[i][0]), table[i][1]) != 0)
            fail_msg("%s: %s", table[i][0], verdict(arena, policy, table[i][0]));
}

static void shipped_list_is_searched_whole(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *path = harness_source(arena, "share/common-passwords.txt");
    const struct password_policy *policy = NULL;
    assert_null(password_policy_open(arena, path, 8, &policy));
    char *lines = harness_read(arena, path, NULL);
    size_t count = 0;
    for (char *line = lines; *line != '\0'; count++) {
        size_t length = strcspn(line, "\n");
        line[length] = '\0';
        if (strcmp(verdict(arena, policy, line), "common") != 0)
            fail_msg("%s is on the list and not found", line);
        line += length + 1;
    }
    assert_true(count >= 10000);
}

static void list_that_is_not_there_stops_the_start(void **state)
{
    struct arena *arena = harness_arena(state);
    const struct password_policy *policy = NULL;
    assert_non_null(password_policy_open(arena, "/nonexistent/list", 12, &policy));
    const char *empty = harness_write(arena, harness_directory(arena), "empty", "", 0);
    assert_non_null(password_policy_open(arena, empty, 12, &policy));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(table_of_verdicts),
    HARNESS_TEST(shipped_list_is_searched_whole),
    HARNESS_TEST(list_that_is_not_there_stops_the_start),
};
HARNESS_MODULE(password_policy, cases)
