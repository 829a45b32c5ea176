/* SPDX-License-Identifier: MIT */
/* Reads texts that are shipped with the program: SQL files and mail templates. */
#include "store/source_int.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

struct error *source_read(struct arena *arena, const char *path, char **text_out, size_t *length_out)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return error_new(arena, ERROR_INTERNAL, "cannot open %s: %s", path, strerror(errno));
    char *text = arena_alloc(arena, SOURCE_BYTES_MAX + 1);
    size_t length = fread(text, 1, SOURCE_BYTES_MAX + 1, file);
    bool failed = ferror(file) != 0;
    (void)fclose(file);
    if (failed)
        return error_new(arena, ERROR_INTERNAL, "cannot read %s", path);
    if (length > SOURCE_BYTES_MAX)
        return error_new(arena, ERROR_INTERNAL, "%s is longer than %d bytes", path, SOURCE_BYTES_MAX);
    if (memchr(text, '\0', length) != NULL || !utf8_valid(text, length))
        return error_new(arena, ERROR_INTERNAL, "%s is not UTF-8 text", path);
    *text_out = text;
    *length_out = length;
    return NULL;
}

bool source_exists(const char *path)
{
    /* access() would ignore the capabilities of a process that is not root. What may not be looked at is there. */
    struct stat status;
    return stat(path, &status) == 0 || errno != ENOENT;
}
