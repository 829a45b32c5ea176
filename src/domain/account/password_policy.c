/* SPDX-License-Identifier: MIT */
/* Checks a password against the policy; loads the list of common passwords. */
#include "domain/account/password_policy.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "codec/address.h"
#include "domain/account/organisation.h"
#include "domain/account/user.h"

struct password_policy {
    const char *list; /* mapped, shared by all workers */
    size_t length;
    int64_t minimum;
};

static void unmap(void *argument)
{
    struct password_policy *policy = argument;
    (void)munmap((void *)(uintptr_t)policy->list, policy->length);
}

struct error *password_policy_open(struct arena *arena, const char *list, int64_t minimum_length,
                                   const struct password_policy **policy_out)
{
    struct password_policy *policy = arena_alloc(arena, sizeof *policy);
    int fd = open(list, O_RDONLY | O_CLOEXEC);
    struct stat status = {0};
    void *bytes = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (fd >= 0)
        (void)close(fd);
    if (bytes == MAP_FAILED)
        return error_message(error_new(arena, ERROR_INTERNAL, "%s cannot be mapped", list),
                             "The list of common passwords, %s, cannot be read or is empty.", list);
    policy->list = bytes;
    policy->length = (size_t)status.st_size;
    policy->minimum = minimum_length;
    arena_defer(arena, unmap, policy);
    *policy_out = policy;
    return NULL;
}

/* Compares `text` with the line at `line`, like memcmp(); a shorter text comes first. */
static int compare_line(const char *text, size_t length, const char *line, size_t line_length)
{
    int order = memcmp(text, line, length < line_length ? length : line_length);
    if (order != 0)
        return order;
    return (length > line_length) - (length < line_length);
}

/* A binary search over lines: the middle byte is moved to the start of its line. */
static bool is_common(const struct password_policy *policy, const char *text)
{
    size_t length = strlen(text);
    size_t low = 0;
    size_t high = policy->length;
    while (low < high) {
        size_t start = low + (high - low) / 2;
        while (start > low && policy->list[start - 1] != '\n')
            start--;
        const char *end = memchr(policy->list + start, '\n', policy->length - start);
        size_t line_length = (end == NULL ? policy->length : (size_t)(end - policy->list)) - start;
        int order = compare_line(text, length, policy->list + start, line_length);
        if (order == 0)
            return true;
        if (order < 0)
            high = start;
        else
            low = start + line_length + 1;
    }
    return false;
}

struct error *password_policy_owner(struct database *database, struct arena *arena, const struct user *user,
                                    struct password_owner *owner_out)
{
    static const struct id nobody;
    struct organisation *organisation = NULL;
    *owner_out = (struct password_owner){0};
    TRY(organisation_find(database, arena, user != NULL ? user->organisation_id : nobody, &organisation));
    if (user != NULL)
        *owner_out = (struct password_owner){user->email, user->first_name, user->last_name,
                                             organisation != NULL ? organisation->name : NULL};
    return NULL;
}

/* Compared like addresses: case, width and the form of accents do not matter. */
static const char *folded(struct arena *arena, const char *text)
{
    return text == NULL ? "" : address_fold(arena, text);
}

static bool is_personal(struct arena *arena, const char *password, const struct password_owner *owner)
{
    const char *first = folded(arena, owner->first_name);
    const char *last = folded(arena, owner->last_name);
    const char *email = folded(arena, owner->email);
    const char *const personal[] = {
        email,
        arena_copy(arena, email, strcspn(email, "@")),
        first,
        last,
        arena_format(arena, "%s%s", first, last),
        arena_format(arena, "%s %s", first, last),
        arena_format(arena, "%s%s", last, first),
        arena_format(arena, "%s %s", last, first),
        folded(arena, owner->organisation),
    };
    for (size_t i = 0; i < sizeof personal / sizeof *personal; i++)
        if (strcmp(password, personal[i]) == 0)
            return true;
    return false;
}

static struct error *refuse(struct arena *arena, const char *path, const char *code, const char *message)
{
    return error_entry(error_plain(arena, ERROR_PASSWORD_POLICY), path, code, message);
}

struct error *password_policy_check(const struct password_policy *policy, struct arena *arena, const char *path,
                                    struct secret password, const struct password_owner *owner)
{
    const char *text = secret_reveal(password);
    int64_t characters = (int64_t)utf8_count(text);
    if (characters < policy->minimum || characters > LIMIT_PASSWORD_CHARACTERS)
        return refuse(arena, path, "length",
                      arena_format(arena, "must have %lld to %d characters", (long long)policy->minimum,
                                   LIMIT_PASSWORD_CHARACTERS));
    if (is_common(policy, text_lowered(arena, text)))
        return refuse(arena, path, "common", "is one of the most common passwords");
    if (is_personal(arena, folded(arena, text), owner))
        return refuse(arena, path, "personal", "must not be the e-mail address, the name or the organisation's name");
    return NULL;
}

struct error *password_policy_refused(struct arena *arena, const char *path)
{
    return refuse(arena, path, "provider", "does not follow the identity provider's own rules");
}
