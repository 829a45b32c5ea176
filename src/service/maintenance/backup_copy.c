/* SPDX-License-Identifier: MIT */
/* Copies and compares bytes, and writes and reads the list of files: a block and a line at a time. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "blob/blob.h"
#include "codec/encoding.h"
#include "service/backup_int.h"

/* A line: 32 digits, a blank, 64 digits, a blank, a number of up to 19 digits after blanks, the end of the line. */
#define LINE_BYTES (32 + 1 + 64 + 1 + 19 + 1)

const char *backup_item_line(struct arena *arena, const struct backup_item *item)
{
    char hex[ID_HEX_BYTES];
    id_hex(item->id, hex);
    return arena_format(arena, "%s %s %19" PRId64 "\n", hex, hex_encode(arena, item->hash, sizeof item->hash),
                        item->size);
}

static bool read_bytes(struct arena *arena, const char *word, void *bytes_out, size_t length)
{
    unsigned char *bytes;
    size_t got;
    if (!hex_decode(arena, word, strlen(word), &bytes, &got) || got != length)
        return false;
    memcpy(bytes_out, bytes, length);
    return true;
}

struct error *backup_item_read(struct arena *arena, FILE *list, struct backup_item *item_out, bool *more_out)
{
    char line[LINE_BYTES + 1];
    *more_out = fgets(line, sizeof line, list) != NULL;
    if (!*more_out)
        return ferror(list) == 0 ? NULL : backup_failure(arena, errno, "read", BACKUP_LIST);
    struct text_list words = text_words(arena, line);
    if (strchr(line, '\n') != NULL && words.count == 3 &&
        read_bytes(arena, words.items[0], item_out->id.bytes, ID_BYTES) &&
        read_bytes(arena, words.items[1], item_out->hash, DIGEST_BYTES) &&
        text_to_integer(words.items[2], 0, INT64_MAX, &item_out->size))
        return NULL;
    return error_message(error_new(arena, ERROR_INTERNAL, "a line of " BACKUP_LIST " is malformed"),
                         "A line of " BACKUP_LIST " cannot be understood.");
}

struct error *backup_listed(struct arena *arena, int fd, struct id id, bool *listed_out)
{
    char hex[ID_HEX_BYTES];
    char line[LINE_BYTES];
    off_t low = 0;
    off_t high = lseek(fd, 0, SEEK_END) / LINE_BYTES;
    id_hex(id, hex);
    *listed_out = false;
    while (low < high && !*listed_out) {
        off_t middle = low + (high - low) / 2;
        if (pread(fd, line, sizeof line, middle * LINE_BYTES) != LINE_BYTES)
            return backup_failure(arena, errno, "read", BACKUP_LIST);
        int order = memcmp(hex, line, ID_HEX_BYTES - 1);
        *listed_out = order == 0;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Reads a block; -1 where that fails. */
static ssize_t read_block(const struct backup_copy *copy, struct backup_source from, int64_t offset)
{
    size_t got = 0;
    ssize_t step;
    if (from.blob != NULL)
        return blob_read(from.blob, (uint64_t)offset, copy->block, BACKUP_BLOCK_BYTES, &got) == NULL ? (ssize_t)got
                                                                                                     : -1;
    do
        step = pread(from.file, copy->block, BACKUP_BLOCK_BYTES, offset);
    while (step < 0 && errno == EINTR);
    return step;
}

struct error *backup_copy(struct backup_copy *copy, struct arena *arena, const struct backup_item *item,
                          struct backup_source from, int to, enum backup_bytes *bytes_out)
{
    uint8_t sum[DIGEST_BYTES];
    int64_t size = 0;
    ssize_t got;
    struct error *error = NULL;
    int file = from.blob != NULL ? blob_reader_file(from.blob) : from.file;
    if (file >= 0)
        (void)posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
    while ((got = read_block(copy, from, size)) > 0) {
        digest_update(copy->digest, copy->block, (size_t)got);
        size += got;
        int number = to < 0 ? 0 : backup_write_all(to, copy->block, (size_t)got);
        if (number != 0)
            error = backup_failure(arena, number, "written", "the backup");
        pace_spend(&copy->pace, got);
        if (error == NULL)
            error = copy->step(copy->context, got);
        if (error != NULL)
            break;
    }
    digest_final(copy->digest, sum);
    *bytes_out = got < 0 ? BACKUP_UNREADABLE : BACKUP_GOOD;
    if (got == 0 && (size != item->size || !digest_equal(sum, item->hash)))
        *bytes_out = BACKUP_DIFFERENT;
    return error;
}
