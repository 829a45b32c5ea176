/* SPDX-License-Identifier: MIT */
/* Errors: codes and statuses, traces, and the entries of a validation. */
#include "base/error.h"

#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "harness.h"

static void every_code_has_a_status_a_text_and_a_sentence(void **state)
{
    (void)state;
    for (int code = 0; code < ERROR_CODE_COUNT; code++) {
        int status = error_status((enum error_code)code);
        const char *text = error_code_text((enum error_code)code);
        const char *sentence = error_sentence((enum error_code)code);
        assert_true((status >= 400 && status <= 429) || status == 460 || status == 500);
        assert_non_null(strchr(text, '.') != NULL ? text : strstr("internal", text));
        assert_int_equal(strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ."), strlen(text));
        assert_int_equal(sentence[strlen(sentence) - 1], '.');
        for (int other = 0; other < code; other++)
            assert_string_not_equal(text, error_code_text((enum error_code)other));
    }
}

/* The table of docs/errors.md: a code that moved to another status breaks clients. */
static void codes_keep_their_statuses(void **state)
{
    (void)state;
    static const struct {
        enum error_code code;
        int status;
        const char *text;
    } rows[] = {
        {ERROR_REQUEST_MALFORMED, 400, "request.malformed"},
        {ERROR_REQUEST_INVALID, 400, "request.invalid"},
        {ERROR_FILE_UNKNOWN, 400, "file.unknown"},
        {ERROR_USER_UNKNOWN, 400, "user.unknown"},
        {ERROR_CODE_MISMATCH, 400, "code.mismatch"},
        {ERROR_NEW_PASSWORD_REQUIRED, 400, "auth.newPasswordRequired"},
        {ERROR_PASSWORD_POLICY, 400, "password.policy"},
        {ERROR_TOKEN_MISSING, 401, "auth.tokenMissing"},
        {ERROR_TOKEN_INVALID, 401, "auth.tokenInvalid"},
        {ERROR_TOKEN_EXPIRED, 401, "auth.tokenExpired"},
        {ERROR_TOKEN_REVOKED, 401, "auth.tokenRevoked"},
        {ERROR_CREDENTIALS, 401, "auth.credentials"},
        {ERROR_USER_DISABLED, 401, "auth.userDisabled"},
        {ERROR_USER_UNCONFIRMED, 401, "auth.userUnconfirmed"},
        {ERROR_PERMISSION, 403, "auth.permission"},
        {ERROR_ROLE_NOT_GRANTABLE, 403, "role.notGrantable"},
        {ERROR_LINK_INVALID, 403, "link.invalid"},
        {ERROR_USER_EXISTS, 409, "user.exists"},
        {ERROR_USER_ALREADY_CONFIRMED, 409, "user.alreadyConfirmed"},
        {ERROR_USER_STATE, 409, "user.state"},
        {ERROR_USER_SELF, 409, "user.self"},
        {ERROR_USER_LAST_OWNER, 409, "user.lastOwner"},
        {ERROR_FILE_DUPLICATE, 409, "file.duplicate"},
        {ERROR_FILE_ARCHIVED, 409, "file.archived"},
        {ERROR_FILE_ACTIVE, 409, "file.active"},
        {ERROR_QUOTA_EXCEEDED, 409, "quota.exceeded"},
        {ERROR_SETTINGS_STALE, 409, "settings.stale"},
        {ERROR_INTERNAL, 500, "internal"},
        {ERROR_DATABASE_UNAVAILABLE, 500, "database.unavailable"},
        {ERROR_IDENTITY_UNAVAILABLE, 500, "identityProvider.unavailable"},
        {ERROR_STORAGE_UNAVAILABLE, 500, "storage.unavailable"},
        {ERROR_STORAGE_FULL, 500, "storage.full"},
        {ERROR_ROUTE_UNKNOWN, 404, "route.unknown"},
        {ERROR_ROUTE_METHOD, 405, "route.method"},
        {ERROR_TOO_LARGE, 413, "request.tooLarge"},
        {ERROR_MEDIA_TYPE, 415, "request.mediaType"},
        {ERROR_RATE_LIMITED, 429, "rate.limited"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(error_status(rows[i].code), rows[i].status);
        assert_string_equal(error_code_text(rows[i].code), rows[i].text);
    }
}

static void the_detail_stays_apart_from_the_message(void **state)
{
    struct arena *arena = harness_arena(state);
    struct error *error = error_new(arena, ERROR_INTERNAL, "disk %d of %s", 3, "host");
    assert_string_equal(error->detail, "disk 3 of host");
    assert_string_equal(error->message, error_sentence(ERROR_INTERNAL));
    assert_ptr_equal(error_message(error, "Try disk %d.", 4), error);
    assert_string_equal(error->message, "Try disk 4.");
    assert_string_equal(error->detail, "disk 3 of host");
    assert_null(error_plain(arena, ERROR_INTERNAL)->detail);
}

static void parts_that_are_down_say_when_to_return(void **state)
{
    struct arena *arena = harness_arena(state);
    static const enum error_code down[] = {ERROR_DATABASE_UNAVAILABLE, ERROR_IDENTITY_UNAVAILABLE,
                                           ERROR_STORAGE_UNAVAILABLE, ERROR_STORAGE_FULL};
    for (size_t i = 0; i < sizeof down / sizeof *down; i++)
        assert_true(error_plain(arena, down[i])->retry_after > 0);
    assert_int_equal(error_plain(arena, ERROR_INTERNAL)->retry_after, 0);
    assert_int_equal(error_plain(arena, ERROR_REQUEST_INVALID)->retry_after, 0);
}

static struct error *innermost(struct arena *arena)
{
    return error_plain(arena, ERROR_FILE_UNKNOWN);
}

static struct error *middle(struct arena *arena)
{
    TRY(innermost(arena));
    fail();
    return NULL;
}

static struct error *outermost(struct arena *arena)
{
    TRY(middle(arena));
    fail();
    return NULL;
}

static void the_trace_names_every_function_innermost_first(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *stack = outermost(arena)->stack;
    const char *first = strstr(stack, "innermost (test_error.c:");
    const char *second = strstr(stack, "\nmiddle (test_error.c:");
    const char *third = strstr(stack, "\noutermost (test_error.c:");
    assert_ptr_equal(first, stack);
    assert_true(second != NULL && third != NULL && second < third);
    /* File names without the directories of whoever built it. */
    assert_null(strchr(stack, '/'));
}

static struct error *nothing_wrong(void)
{
    return NULL;
}

static struct error *passes(bool *reached)
{
    TRY(nothing_wrong());
    *reached = true;
    return NULL;
}

static void no_error_lets_the_function_go_on(void **state)
{
    (void)state;
    bool reached = false;
    assert_null(passes(&reached));
    assert_true(reached);
}

static void entries_and_members_keep_their_order_and_own_their_texts(void **state)
{
    struct arena *arena = harness_arena(state);
    char path[] = "roles[0]";
    struct error *error = error_plain(arena, ERROR_REQUEST_INVALID);
    for (int i = 0; i < 3; i++) {
        path[6] = (char)('0' + i);
        error_entry(error, path, "format", "is wrong");
        error_member(error, path, path);
    }
    const struct error_entry *entry = error->entries;
    const struct error_member *member = error->members;
    for (int i = 0; i < 3; i++, entry = entry->next, member = member->next) {
        path[6] = (char)('0' + i);
        assert_string_equal(entry->path, path);
        assert_string_equal(member->name, path);
    }
    assert_null(entry);
    assert_null(member);
    assert_int_equal(error->entry_count, 3);
}

static void entries_are_bounded(void **state)
{
    struct arena *arena = harness_arena(state);
    struct error *error = error_plain(arena, ERROR_REQUEST_INVALID);
    for (int i = 0; i < LIMIT_VALIDATION_ENTRIES + 50; i++)
        error_entry(error, "path", "code", "message");
    size_t count = 0;
    for (const struct error_entry *entry = error->entries; entry != NULL; entry = entry->next)
        count++;
    assert_int_equal(count, LIMIT_VALIDATION_ENTRIES);
    assert_int_equal(error->entry_count, LIMIT_VALIDATION_ENTRIES);
}

static void validation_is_an_error_only_when_something_failed(void **state)
{
    struct arena *arena = harness_arena(state);
    struct validation validation;
    validation_init(&validation, arena);
    assert_null(validation.error);
    validation_add(&validation, "format", "is not an id", "roles[%d]", 4);
    validation_add(&validation, "required", "is missing", "%s", "email");
    assert_non_null(validation.error);
    assert_int_equal(validation.error->code, ERROR_REQUEST_INVALID);
    assert_string_equal(validation.error->entries->path, "roles[4]");
    assert_string_equal(validation.error->entries->code, "format");
    assert_string_equal(validation.error->entries->next->path, "email");
}

static void recorded_paths_are_known(void **state)
{
    struct validation validation;
    validation_init(&validation, harness_arena(state));
    assert_false(validation_has(&validation, "email"));
    validation_add(&validation, "format", "is not an id", "roles[%d]", 4);
    validation_add(&validation, "required", "is missing", "%s", "email");
    assert_true(validation_has(&validation, "email") && validation_has(&validation, "roles[4]"));
    assert_false(validation_has(&validation, "roles") || validation_has(&validation, ""));
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(every_code_has_a_status_a_text_and_a_sentence),
    HARNESS_TEST(codes_keep_their_statuses),
    HARNESS_TEST(the_detail_stays_apart_from_the_message),
    HARNESS_TEST(parts_that_are_down_say_when_to_return),
    HARNESS_TEST(the_trace_names_every_function_innermost_first),
    HARNESS_TEST(no_error_lets_the_function_go_on),
    HARNESS_TEST(entries_and_members_keep_their_order_and_own_their_texts),
    HARNESS_TEST(entries_are_bounded),
    HARNESS_TEST(validation_is_an_error_only_when_something_failed),
    HARNESS_TEST(recorded_paths_are_known),
};
HARNESS_MODULE(error, cases)
