/* SPDX-License-Identifier: MIT */
/* What provisioning of all providers shares: what the operator is told, settings, secrets in files. */
#include "identity/provision_common_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/random.h"

void provision_tell(const struct provider_provision *provision, struct arena *arena, enum provision_result result,
                    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *sentence = arena_format_list(arena, format, arguments);
    va_end(arguments);
    provision->tell(provision->context, result, sentence);
}

struct error *provision_need(struct arena *arena, const char *what, const char *value)
{
    if (value != NULL)
        return NULL;
    return error_message(error_plain(arena, ERROR_INTERNAL), "%s is not set, and the set-up needs it.", what);
}

const char *shell_quote(struct arena *arena, const char *text)
{
    struct buffer buffer;
    buffer_init(&buffer, arena);
    buffer_add_char(&buffer, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            buffer_add_text(&buffer, "'\\''");
        else
            buffer_add_char(&buffer, *text);
    }
    buffer_add_char(&buffer, '\'');
    return buffer.bytes;
}

/* ---- secrets -------------------------------------------------------------------------------------- */

struct error *provision_read_secret(struct arena *arena, const char *path, struct secret *secret_out, bool *found_out)
{
    *found_out = path != NULL && access(path, F_OK) == 0;
    if (!*found_out)
        return NULL;
    struct error *error = secret_read(arena, path, secret_out);
    return error == NULL ? NULL : error_message(error, "The secret file %s cannot be read.", path);
}

static struct error *write_secret(struct arena *arena, const char *path, const char *secret)
{
    const char *temporary = arena_format(arena, "%s.%s", path, random_text(arena, 12));
    const char *text = arena_format(arena, "%s\n", secret);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fsync(fd) == 0;
    int failure = errno;
    if (fd >= 0)
        (void)close(fd);
    if (written && rename(temporary, path) == 0)
        return NULL;
    failure = written ? errno : failure;
    (void)unlink(temporary);
    return error_message(error_new(arena, ERROR_INTERNAL, "%s", strerror(failure)),
                         "The secret file %s cannot be written.", path);
}

struct error *provision_store_secret(const struct provider_provision *provision, struct arena *arena,
                                     const char *client, const char *path, const char *secret)
{
    struct secret old = {0};
    bool found = false;
    TRY(provision_read_secret(arena, path, &old, &found));
    if (found && secret_equal(old, secret_of(secret))) {
        provision_tell(provision, arena, PROVISION_UNCHANGED, "the file %s holds the secret of %s", path, client);
    } else {
        TRY(write_secret(arena, path, secret));
        provision_tell(provision, arena, found ? PROVISION_CHANGED : PROVISION_MADE,
                       "the file %s with the secret of %s", path, client);
    }
    return NULL;
}
