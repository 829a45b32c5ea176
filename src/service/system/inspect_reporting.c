/* SPDX-License-Identifier: MIT */
/* Inspects security.txt, the file that tells where to report a vulnerability (RFC 9116). The web server sends it. */
#include "service/system/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/limits.h"

#define SOON_MILLISECONDS (INT64_C(30) * 24 * 3600 * 1000)

struct fields {
    unsigned contacts; /* with an address that one can write to, call or open */
    unsigned expiries;
    const char *expires;
};

/* The file as a text that ends at its first NUL. *failure_out is an errno, or EFBIG. */
static char *read_text(struct arena *arena, const char *path, int *failure_out)
{
    char *text = arena_alloc(arena, LIMIT_SECURITY_TXT_BYTES + 2);
    size_t length = 0;
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *failure_out = fd < 0 ? errno : 0;
    if (fd < 0)
        return text;
    while (length <= LIMIT_SECURITY_TXT_BYTES &&
           (got = read(fd, text + length, LIMIT_SECURITY_TXT_BYTES + 1 - length)) > 0)
        length += (size_t)got;
    *failure_out = got < 0 ? errno : length > LIMIT_SECURITY_TXT_BYTES ? EFBIG : 0;
    (void)close(fd);
    return text;
}

/* What stands behind the name of a field and its colon; NULL when the line is of another field. */
static const char *value_of(const char *line, const char *name)
{
    size_t length = strlen(name);
    return strncasecmp(line, name, length) != 0 || line[length] != ':'
               ? NULL
               : line + length + 1 + strspn(line + length + 1, " \t");
}

static bool is_address(const char *value)
{
    static const char *const schemes[] = {"mailto:", "https://", "tel:"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncasecmp(value, schemes[i], strlen(schemes[i])) == 0 && value[strlen(schemes[i])] != '\0')
            return true;
    return false;
}

/* A file may be signed: lines around the fields are passed over, as RFC 9116 has readers do. */
static struct fields read_fields(char *text)
{
    struct fields fields = {0};
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        line[strcspn(line, "\r")] = '\0';
        const char *contact = value_of(line, "Contact");
        const char *expires = value_of(line, "Expires");
        fields.contacts += contact != NULL && is_address(contact);
        fields.expiries += expires != NULL;
        if (expires != NULL)
            fields.expires = expires;
    }
    return fields;
}

/* What is wrong with the file, as a sentence; NULL: nothing. */
static const char *check_fields(struct arena *arena, const char *path, const struct fields *fields)
{
    int64_t until;
    if (fields->contacts == 0)
        return arena_format(arena, "%s has no line \"Contact: \" with a mailto:, https:// or tel: address.", path);
    if (fields->expiries != 1)
        return arena_format(arena, "%s must have one line \"Expires: \", and has %u.", path, fields->expiries);
    if (!clock_parse(fields->expires, &until))
        return arena_format(arena, "What %s says behind \"Expires: \" is no time such as 2030-12-31T23:00:00Z.", path);
    int64_t left = until - clock_now();
    if (left <= 0)
        return arena_format(arena, "%s has expired at %s, so nobody relies on it any more.", path, fields->expires);
    return left > SOON_MILLISECONDS ? NULL : arena_format(arena, "%s expires soon, at %s.", path, fields->expires);
}

struct error *inspect_security_txt(struct arena *arena, const struct configuration *configuration, bool *absent_out)
{
    const char *path = configuration->service.security_txt;
    int failure;
    char *text = read_text(arena, path, &failure);
    struct fields fields = read_fields(text);
    const char *fault;
    *absent_out = failure == ENOENT;
    if (*absent_out)
        fault = arena_format(arena, "%s is not there, so nobody learns where to report a vulnerability.", path);
    else if (failure == EFBIG)
        fault = arena_format(arena, "%s has more than %d bytes.", path, LIMIT_SECURITY_TXT_BYTES);
    else if (failure != 0)
        fault = arena_format(arena, "%s cannot be read: %s.", path, strerror(failure));
    else
        fault = check_fields(arena, path, &fields);
    return fault == NULL ? NULL : error_message(error_plain(arena, ERROR_INTERNAL), "%s", fault);
}
