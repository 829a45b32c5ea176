/* SPDX-License-Identifier: MIT */
/* Writes and reads the manifest of a backup, and finds backups in their directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/secret.h"
#include "base/text.h"
#include "codec/document.h"
#include "codec/encoding.h"
#include "service/backup_int.h"

#define FORMAT 1
#define MANIFEST_BYTES 65536

struct error *backup_failure(struct arena *arena, int number, const char *what, const char *path)
{
    struct error *error = error_new(arena, number == ENOSPC || number == EDQUOT ? ERROR_STORAGE_FULL : ERROR_INTERNAL,
                                    "%s %s: %s", what, path, strerror(number));
    return error_message(error, "%s cannot be %s: %s.", path, what, strerror(number));
}

static struct error *not_understood(struct arena *arena, const char *path, const char *why)
{
    struct error *error = error_new(arena, ERROR_INTERNAL, "%s: %s", path, why);
    return error_message(error, "%s is not the manifest of a backup that this version understands: %s.", path, why);
}

int backup_write_all(int fd, const void *bytes, size_t length)
{
    const unsigned char *from = bytes;
    while (length > 0) {
        ssize_t written = write(fd, from, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        from += written;
        length -= (size_t)written;
    }
    return 0;
}

/* ---- writing ------------------------------------------------------------------------------------- */

static const char *manifest_text(struct arena *arena, const struct backup_manifest *manifest)
{
    struct buffer text;
    buffer_init(&text, arena);
    buffer_add_format(&text, "{\n  \"format\": %d,\n  \"id\": ", FORMAT);
    buffer_add_json_text(&text, manifest->id);
    buffer_add_text(&text, ",\n  \"createdAt\": ");
    buffer_add_json_text(&text, manifest->created_at);
    buffer_add_text(&text, ",\n  \"migration\": ");
    buffer_add_json_text(&text, manifest->migration);
    buffer_add_format(&text, ",\n  \"rows\": %" PRId64 ",\n  \"rowsHash\": ", manifest->rows);
    buffer_add_json_text(&text, manifest->rows_hash);
    buffer_add_format(
        &text, ",\n  \"files\": %" PRId64 ",\n  \"bytes\": %" PRId64 ",\n  \"lost\": %" PRId64 ",\n  \"filesHash\": ",
        manifest->files, manifest->bytes, manifest->lost);
    buffer_add_json_text(&text, manifest->list_hash);
    buffer_add_text(&text, ",\n  \"secretFingerprint\": ");
    buffer_add_json_text(&text, manifest->secret);
    buffer_add_format(&text, ",\n  \"secretIncluded\": %s\n}\n", manifest->secret_included ? "true" : "false");
    return text.bytes;
}

struct error *backup_manifest_write(struct arena *arena, const char *directory, const struct backup_manifest *manifest)
{
    const char *text = manifest_text(arena, manifest);
    const char *path = arena_format(arena, "%s/" BACKUP_MANIFEST, directory);
    const char *temporary = arena_format(arena, "%s.new", path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return backup_failure(arena, errno, "written", temporary);
    int number = backup_write_all(fd, text, strlen(text));
    if (number == 0 && fsync(fd) != 0)
        number = errno;
    (void)close(fd);
    if (number == 0 && rename(temporary, path) != 0)
        number = errno;
    return number == 0 ? NULL : backup_failure(arena, number, "written", path);
}

/* ---- reading ------------------------------------------------------------------------------------- */

static struct error *read_text(struct arena *arena, const char *path, char **text_out, size_t *length_out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return backup_failure(arena, errno, "read", path);
    *text_out = arena_alloc(arena, MANIFEST_BYTES);
    ssize_t got = read(fd, *text_out, MANIFEST_BYTES);
    int number = errno;
    (void)close(fd);
    if (got < 0)
        return backup_failure(arena, number, "read", path);
    *length_out = (size_t)got;
    return NULL;
}

static bool read_members(const struct document *document, struct backup_manifest *manifest)
{
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"id", &manifest->id},
                 {"createdAt", &manifest->created_at},
                 {"migration", &manifest->migration},
                 {"rowsHash", &manifest->rows_hash},
                 {"filesHash", &manifest->list_hash},
                 {"secretFingerprint", &manifest->secret}};
    const struct {
        const char *name;
        int64_t *number;
    } numbers[] = {
        {"rows", &manifest->rows}, {"files", &manifest->files}, {"bytes", &manifest->bytes}, {"lost", &manifest->lost}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if ((*texts[i].text = document_text(document_member(document, texts[i].name))) == NULL)
            return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!document_integer(document_member(document, numbers[i].name), numbers[i].number))
            return false;
    return document_boolean(document_member(document, "secretIncluded"), &manifest->secret_included);
}

struct error *backup_manifest_read(struct arena *arena, const char *directory, struct backup_manifest *manifest_out)
{
    char *text = NULL;
    size_t length = 0;
    int64_t format = 0;
    struct document *document;
    const char *path = arena_format(arena, "%s/" BACKUP_MANIFEST, directory);
    *manifest_out = (struct backup_manifest){0};
    TRY(read_text(arena, path, &text, &length));
    if (document_parse(arena, text, length, &document) != NULL)
        return not_understood(arena, path, "it is not JSON");
    if (!document_integer(document_member(document, "format"), &format) || format != FORMAT)
        return not_understood(arena, path, "its format is another one");
    return read_members(document, manifest_out) ? NULL : not_understood(arena, path, "members are missing");
}

static const char *fingerprint(struct arena *arena, const char *key)
{
    static const char label[] = "gatehouse backup fingerprint";
    uint8_t sum[DIGEST_BYTES];
    digest_hmac(secret_of(key), label, sizeof label - 1, sum);
    return hex_encode(arena, sum, sizeof sum);
}

struct error *backup_fingerprint(struct arena *arena, const char *secret_file, const char **fingerprint_out)
{
    struct secret text;
    TRY(secret_read(arena, secret_file, &text));
    struct text_list keys = text_words(arena, secret_reveal(text));
    *fingerprint_out = fingerprint(arena, keys.count > 0 ? keys.items[0] : "");
    return NULL;
}

struct error *backup_secret_has(struct arena *arena, const char *secret_file, const char *wanted, bool *has_out)
{
    struct secret text;
    *has_out = false;
    TRY(secret_read(arena, secret_file, &text));
    struct text_list keys = text_words(arena, secret_reveal(text));
    for (size_t i = 0; i < keys.count && !*has_out; i++)
        *has_out = strcmp(fingerprint(arena, keys.items[i]), wanted) == 0;
    return NULL;
}

struct error *backup_hash_file(struct arena *arena, const char *path, const char **hash_out)
{
    uint8_t sum[DIGEST_BYTES];
    struct digest *digest = digest_open(arena);
    unsigned char *block = arena_alloc(arena, BACKUP_BLOCK_BYTES);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return backup_failure(arena, errno, "read", path);
    ssize_t got;
    while ((got = read(fd, block, BACKUP_BLOCK_BYTES)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            digest_update(digest, block, (size_t)got);
    int number = errno;
    (void)close(fd);
    if (got < 0)
        return backup_failure(arena, number, "read", path);
    digest_final(digest, sum);
    *hash_out = hex_encode(arena, sum, sizeof sum);
    return NULL;
}

/* ---- names --------------------------------------------------------------------------------------- */

static bool ends_partial(const char *name)
{
    size_t length = strlen(name);
    size_t tail = sizeof BACKUP_PARTIAL - 1;
    return length > tail && strcmp(name + length - tail, BACKUP_PARTIAL) == 0;
}

/* The last name of backups in a directory. Names begin with the year, so it is the newest one. */
static struct error *last_name(struct arena *arena, const char *directory, bool partial, const char **name_out)
{
    *name_out = NULL;
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return backup_failure(arena, errno, "read", directory);
    int number;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(stream);
        number = errno;
        if (entry == NULL)
            break;
        const char *name = entry->d_name;
        if (!text_is_digit(name[0]) || ends_partial(name) != partial ||
            (*name_out != NULL && strcmp(name, *name_out) <= 0))
            continue;
        const char *manifest = arena_format(arena, "%s/%s/" BACKUP_MANIFEST, directory, name);
        if (partial || access(manifest, F_OK) == 0)
            *name_out = arena_text(arena, name);
    }
    (void)closedir(stream);
    return number == 0 ? NULL : backup_failure(arena, number, "read", directory);
}

struct error *backup_newest(struct arena *arena, const char *directory, const char **name_out)
{
    return last_name(arena, directory, false, name_out);
}

struct error *backup_find(struct arena *arena, const char *directory, const char **path_out)
{
    const char *name;
    *path_out = directory;
    if (access(arena_format(arena, "%s/" BACKUP_MANIFEST, directory), F_OK) == 0)
        return NULL;
    TRY(backup_newest(arena, directory, &name));
    if (name == NULL)
        return error_message(error_new(arena, ERROR_INTERNAL, "no backup"), "There is no complete backup in %s.",
                             directory);
    *path_out = arena_format(arena, "%s/%s", directory, name);
    return NULL;
}

struct error *backup_partial(struct arena *arena, const char *directory, const char **name_out)
{
    return last_name(arena, directory, true, name_out);
}
