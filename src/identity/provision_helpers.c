/* SPDX-License-Identifier: MIT */
/* What the set-ups of all providers share: JSON with some members changed, secrets in files, what the operator is told. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/random.h"
#include "identity/provider_provision_int.h"

void provision_tell(const struct provider_provision *provision, struct arena *arena, enum provision_result deed,
                    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *sentence = arena_format_list(arena, format, arguments);
    va_end(arguments);
    provision->tell(provision->context, deed, sentence);
}

struct error *provision_need(struct arena *arena, const char *what, const char *value)
{
    if (value != NULL)
        return NULL;
    return error_message(error_plain(arena, ERROR_INTERNAL), "%s is not set, and the set-up needs it.", what);
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

void merge_patch_add(struct merge_patch *merge_patch, const char *name, const char *json)
{
    if (merge_patch->count == MERGE_PATCH_MEMBERS)
        return;
    merge_patch->names[merge_patch->count] = name;
    merge_patch->values[merge_patch->count++] = json;
}

static bool is_wanted(const struct merge_patch *merge_patch, const char *name)
{
    for (size_t i = 0; i < merge_patch->count; i++)
        if (strcmp(merge_patch->names[i], name) == 0)
            return true;
    return false;
}

static bool is_kept(const char *const *kept, const char *name)
{
    for (; kept != NULL && *kept != NULL; kept++)
        if (strcmp(*kept, name) == 0)
            return true;
    return kept == NULL;
}

static void add_name(struct buffer *buffer, const char *name)
{
    buffer_add_char(buffer, buffer->length == 0 ? '{' : ',');
    buffer_add_json_text(buffer, name);
    buffer_add_char(buffer, ':');
}

const char *merge_patch_apply(struct arena *arena, const struct merge_patch *merge_patch, const struct document *object,
                              const char *const *kept)
{
    struct buffer buffer;
    buffer_init(&buffer, arena);
    for (const struct document *one = document_first(object); one != NULL; one = document_next(one)) {
        if (!is_kept(kept, document_name(one)) || is_wanted(merge_patch, document_name(one)) ||
            document_kind(one) == DOCUMENT_NULL)
            continue;
        add_name(&buffer, document_name(one));
        document_write(one, -1, &buffer);
    }
    for (size_t i = 0; i < merge_patch->count; i++) {
        if (merge_patch->values[i] == NULL)
            continue;
        add_name(&buffer, merge_patch->names[i]);
        buffer_add_text(&buffer, merge_patch->values[i]);
    }
    buffer_add_text(&buffer, buffer.length == 0 ? "{}" : "}");
    return buffer.bytes;
}

const char *merge_patch_names(struct arena *arena, const struct merge_patch *merge_patch)
{
    struct text_list list = {arena_array(arena, MERGE_PATCH_MEMBERS, sizeof *list.items), merge_patch->count};
    memcpy(list.items, merge_patch->names, merge_patch->count * sizeof *list.items);
    return text_list_join(arena, &list, ", ");
}

const char *json_pretty(struct arena *arena, const char *json)
{
    struct document *document = NULL;
    struct buffer buffer;
    buffer_init(&buffer, arena);
    if (document_parse(arena, json, strlen(json), &document) != NULL)
        return json;
    document_write(document, 0, &buffer);
    return buffer.bytes;
}

const char *json_boolean(bool flag)
{
    return flag ? "true" : "false";
}

bool json_is(const struct document *object, const char *name, bool flag)
{
    bool found = !flag;
    return document_boolean(document_member(object, name), &found) && found == flag;
}

bool json_array_has(const struct document *array, const char *text)
{
    for (const struct document *one = document_first(array); one != NULL; one = document_next(one))
        if (document_text(one) != NULL && strcmp(document_text(one), text) == 0)
            return true;
    return false;
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
